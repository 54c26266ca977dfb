"""The verbs `new` and `suggest`: a suite file to start from, and words and cases of a model for the user to accept."""

import shlex
from pathlib import Path

import click

from ..core.errors import DataError
from ..core.text import printable
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
    "--by",
    default="",
    metavar="COLUMN",
    help="--from: propose one functionality per value of this column; default: one per word.",
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


@click.command("suggest")
@click.argument("suite", type=EXISTING)
@click.option("--slot", default="", metavar="NAME", help="Suggest words for this slot of the templates.")
@click.option(
    "--cases", default="", metavar="NAME", help="Suggest cases for this functionality (openai: only)."
)
@click.option("--model", required=True, metavar="SPEC", help="A masked or causal hf: model, or openai:MODEL.")
@click.option(
    "--count",
    type=click.IntRange(1, 200),
    default=20,
    show_default=True,
    help="Largest number of suggestions.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Seed for drawing the sentences in which the model fills the slot.",
)
@click.option(
    "--pos",
    type=click.Choice(["NOUN", "ADJ", "VERB", "NAME"]),
    help="Word class of the suggestions, such as ADJ; default: that of the slot's words.",
)
def suggest_command(
    suite: Path, slot: str, cases: str, model: str, count: int, seed: int, pos: str | None
) -> None:
    """Use a model to suggest words or cases for a suite.

    The command prints suggestions, best first, and writes them to the suite file under the key `suggested`. They do
    not count until you move them to `words` or `cases`.

    \b
    Examples:
      shoal suggest hotels.yaml --slot thing --model hf:bert-base-uncased
      shoal suggest hotels.yaml --slot praise --model hf:gpt2 --pos ADJ
      shoal suggest hotels.yaml --cases irony_is_seen --model "openai:gpt-4o-mini"
    """
    from ..protocols.behaviour import suggesting

    if bool(slot) == bool(cases):
        raise click.UsageError("give --slot NAME or --cases NAME")
    if slot:
        slot, home = slot.strip("{}"), "words"
        words = suggesting.suggest_words(suite, slot, model, count, seed, pos or "")
        suggesting.write_suggested(suite, {slot: words})
        title = f"{len(words)} word{'s' * (len(words) != 1)} for {{{slot}}}, best first:"
        lines = [", ".join(words)]
    else:
        from ..protocols.behaviour.build import load_suite

        home = "cases"
        written = suggesting.suggest_cases(suite, load_suite(str(suite)), cases, model, count, seed)
        suggesting.write_suggested(suite, {"cases": {cases: written}})
        title = f"{len(written)} case{'s' * (len(written) != 1)} for {cases}:"
        lines = [f"{case['label']}: {case['text']}" for case in written]
    click.echo(printable(f"{title}\n"))
    for line in lines:
        click.echo(click.wrap_text(printable(line), 80, "  ", "  "))
    click.echo(printable(f"\nWritten to {suite} under `suggested`. Move those you accept to `{home}`."))
