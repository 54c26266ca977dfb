"""The command line: each verb parses, calls one function of the Python API, and prints."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from . import __version__
from .errors import ShoalError

EXISTING = click.Path(exists=True, dir_okay=False, path_type=Path)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")


class Cli(click.Group):
    """A group that shows our own errors as one clean message and anything else as the bug it is."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb."""
        try:
            return super().invoke(ctx)
        except ShoalError as error:
            raise click.ClickException(str(error)) from None
        except BrokenPipeError:
            sys.stderr.close()  # the reader has gone, as `shoal … | head` does: nothing is left to say
            raise SystemExit(0) from None


@click.group(cls=Cli, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="shoal")
def main() -> None:
    """How does a language model behave off its training distribution, and how far can the diagnosis be trusted?

    \b
    Start here:
      shoal try behaviour predictions:example --set suite=sentiment
      shoal list
    """


@main.command("list")
@click.argument(
    "what", type=click.Choice(["protocols", "suites", "rules", "formats", "profiles"]), required=False
)
def list_command(what: str | None) -> None:
    """Show what there is, one line each.

    \b
    Example:
      shoal list suites
    """
    from .show.catalogue import catalogue

    click.echo(catalogue(what))


@main.command("try")
@click.argument("protocol")
@click.argument("model")
@click.option(
    "--set",
    "pairs",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of the protocol; repeat for more.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Only a random sample of this many cases.")
@AS_JSON
def try_command(protocol: str, model: str, pairs: tuple[str, ...], limit: int | None, as_json: bool) -> None:
    """Audit MODEL by PROTOCOL, here and now; nothing is kept.

    MODEL is predictions:FILE for answers that were computed elsewhere.

    \b
    Examples:
      shoal try behaviour predictions:example --set suite=sentiment
      shoal try behaviour predictions:answers.jsonl --set suite=suite.jsonl --set split=test --json
      shoal try behaviour "predictions:answers.csv?label=pred_a" --set suite=hatecheck.csv
    """
    from .runs.here import audit_with
    from .runs.settings import parse_pairs

    settings: dict[str, Any] = dict(parse_pairs(pairs))
    if limit:
        settings["limit"] = limit
    result = audit_with(protocol, model, settings, where="--set")
    if as_json:
        from .records import as_json as shown

        click.echo(json.dumps({"jobs": [result.job], "measures": [shown(row) for row in result.measures]}))
    else:
        from .show.behaviour import print_result

        print_result(result)


@main.command("check")
@click.argument("file", type=EXISTING)
@AS_JSON
def check_command(file: Path, as_json: bool) -> None:
    """Read FILE, say what it holds, and what is wrong with it; run nothing.

    \b
    Example:
      shoal check suite.jsonl
    """
    from .show.suites import describe_suite, print_suite

    found = describe_suite(file)
    if as_json:
        click.echo(json.dumps(found))
    else:
        print_suite(found)


@main.command("import")
@click.argument("file", type=EXISTING)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="The suite file to write.",
)
@click.option(
    "--text", "texts", multiple=True, metavar="COLUMN", help="Column of the text; give two for pairs."
)
@click.option("--label", metavar="COLUMN", help="Column of the label.")
@click.option("--functionality", metavar="COLUMN", help="Column of the functionality's name.")
@click.option("--capability", metavar="COLUMN", help="Column of the capability's name.")
@click.option("--id", "identity", metavar="COLUMN", help="Column of the case's id.")
@click.option(
    "--cluster", metavar="COLUMN", help="Column of what was drawn independently, such as a template."
)
def import_command(
    file: Path,
    out: Path,
    texts: tuple[str, ...],
    label: str | None,
    functionality: str | None,
    capability: str | None,
    identity: str | None,
    cluster: str | None,
) -> None:
    """Turn FILE into a suite file.

    HateCheck, Multilingual HateCheck, AdaTest and released CheckList suites are known by their looks. For any other
    CSV, TSV or JSON Lines file, name its columns.

    \b
    Examples:
      shoal import test_suite_cases.csv --out hatecheck.jsonl
      shoal import reviews.tsv --out reviews.jsonl --text sentence --label label --functionality topic
    """
    from .data.columns import Named
    from .protocols.behaviour.suite import import_suite
    from .show.suites import print_import

    named = Named(texts, label or "", functionality or "", capability or "", identity or "", cluster or "")
    print_import(*import_suite(file, out, named), out)
