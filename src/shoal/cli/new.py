"""The verb `new`: files to start from."""

import shlex
from pathlib import Path

import click

from ..core.errors import DataError
from .options import EXISTING


@click.command("new")
@click.argument("what", type=click.Choice(["suite"]))
@click.argument("name")
@click.option(
    "--from", "source", type=EXISTING, help="Propose functionalities from this table of labelled texts."
)
@click.option(
    "--text", "texts", multiple=True, metavar="COLUMN", help="--from: column of the text; two for pairs."
)
@click.option("--label", default="", metavar="COLUMN", help="--from: column of the label.")
@click.option(
    "--by", default="", metavar="COLUMN", help="--from: a functionality per value; by default per word."
)
def new_command(
    what: str, name: str, source: Path | None, texts: tuple[str, ...], label: str, by: str
) -> None:
    """Write a suite file to start from.

    The file NAME.yaml is a commented example, or a proposal from your own labelled texts. Edit it, then check it.

    \b
    Examples:
      shoal new suite hotels
      shoal new suite hotels --from reviews.csv --by topic
    """
    from ..core.files import writing
    from ..core.text import printable
    from ..data.labelled import read_labelled
    from ..data.tables import open_rows, require_columns
    from ..protocols.behaviour.starter import proposed, starter

    out = Path(name if name.endswith((".yaml", ".yml")) else f"{name}.yaml")
    if (texts or label or by) and not source:
        raise click.UsageError("--text, --label and --by describe a table: give --from FILE")
    if out.exists():
        raise DataError(f"{out}: the file exists", fix="another name, or delete it first")
    if not out.parent.is_dir():
        raise DataError(f"{out.parent}: no such folder", fix=f"mkdir {out.parent}")
    content = starter(out.stem)
    if source:
        require_columns(source, open_rows(source).columns, [by] if by else [])
        table = read_labelled(source, texts, label, more=[by] if by else [])
        content = proposed(out.stem, table, by)
    with writing(out) as stream:
        stream.write(content)
    click.echo(printable(f"{out}: a suite to edit.\nNext: shoal check {shlex.quote(str(out))} --cases 3"))
