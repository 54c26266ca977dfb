"""The command line: each verb parses, calls one function of the Python API, and prints."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import __version__
from .errors import ShoalError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .records import Result

EXISTING = click.Path(exists=True, dir_okay=False, path_type=Path)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")


INTO = click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    default="runs",
    show_default=True,
    help="Folder that keeps the results.",
)


class Cli(click.Group):
    """A group that shows our own errors as one clean message and anything else as the bug it is."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb."""
        try:
            return super().invoke(ctx)
        except ShoalError as error:
            raise click.ClickException(str(error)) from None
        except KeyboardInterrupt:
            raise click.ClickException(
                "stopped; what was kept is kept, the same command goes on from there"
            ) from None
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


def echo_json(results: "Sequence[Result]") -> None:
    """Print the public JSON object."""
    from .records import as_json

    measures = [as_json(row) for result in results for row in result.measures]
    click.echo(json.dumps({"jobs": [dict(result.job) for result in results], "measures": measures}))


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
    from .show.progress import progress_bar

    values = [*pairs, *([f"limit={limit}"] if limit else [])]
    with progress_bar() as progress:
        result = audit_with(protocol, model, parse_pairs(values), "--set", progress)
    if as_json:
        echo_json([result])
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
    from .protocols.behaviour.hygiene import examine
    from .protocols.behaviour.suite import read_suite
    from .show.suites import describe_suite, print_findings, print_suite

    suite = read_suite(file)
    found, hygiene = describe_suite(suite), examine(suite)
    if as_json:
        click.echo(json.dumps(found | hygiene.as_json()))
    else:
        print_suite(found)
        print_findings(hygiene)


@main.command()
@click.argument("plan", type=EXISTING)
@INTO
@click.option(
    "--retry-errors", is_flag=True, help="Of finished jobs, ask again what the model failed to answer."
)
def run(plan: Path, into: Path, retry_errors: bool) -> None:
    """Run every job in PLAN that has no result yet.

    Safe to interrupt: the same command picks up where it stopped. Several processes may run one plan together.

    \b
    Example:
      shoal run plan.toml --into runs
    """
    from .runs.here import run_here
    from .runs.plan import check_plan, read_plan
    from .runs.store import RunStore
    from .show.progress import progress_bar

    store = RunStore(into)
    jobs = check_plan(read_plan(plan))
    todo = [job for job in jobs if not store.is_done(job.id)]
    click.echo(f"{len(jobs)} jobs: {len(jobs) - len(todo)} done, {len(todo)} to run")
    failed = 0
    with progress_bar() as progress:
        for job, problem in run_here(jobs, store, progress, retry_errors=retry_errors):
            if problem or job in todo:
                click.echo(f"  {job.id}  {'failed: ' + problem if problem else 'done'}")
            failed += problem is not None
    if failed:
        raise ShoalError(f"{failed} of {len(jobs)} jobs failed", fix=f"shoal run {plan}, once fixed")


@main.command()
@click.argument("plan", type=EXISTING)
@INTO
def status(plan: Path, into: Path) -> None:
    """Show how far PLAN is: done, failed, begun, to do.

    \b
    Example:
      shoal status plan.toml
    """
    from .runs.plan import check_plan, read_plan
    from .runs.store import RunStore
    from .show.jobs import print_jobs

    print_jobs(check_plan(read_plan(plan)), RunStore(into))


@main.command()
@click.argument("job")
@INTO
@click.option("--failing", is_flag=True, help="The cases that failed, worst first.")
@click.option("--csv", "form", flag_value="csv", help="Every case as a row of CSV, passes included.")
@click.option("--jsonl", "form", flag_value="jsonl", help="Every case as a line of JSON, passes included.")
@click.option("--json", "form", flag_value="json", help="The measures as one JSON object.")
def show(job: str, into: Path, failing: bool, form: str | None) -> None:
    """Show one JOB's measures, or its cases; any part of its name that no other has will do.

    \b
    Examples:
      shoal show 3f9c1a2b
      shoal show 3f9c1a2b --failing
      shoal show 3f9c1a2b --csv > cases.csv
    """
    from .runs.here import result_of, stored_job
    from .runs.store import RunStore
    from .show.behaviour import print_result
    from .show.jobs import as_csv, as_json_lines, print_failing

    store = RunStore(into)
    result = result_of(stored_job(store, job), store)
    if form in ("csv", "jsonl"):
        click.echo(as_csv(result) if form == "csv" else as_json_lines(result), nl=False)
    elif form == "json":
        echo_json([result])
    elif failing:
        print_failing(result)
    else:
        print_result(result)


@main.command()
@click.argument("plan", type=EXISTING)
@INTO
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), default="report.html", show_default=True
)
def report(plan: Path, into: Path, out: Path) -> None:
    """Write the results of PLAN that are there as one HTML page, with the numbers as JSON beside it.

    \b
    Example:
      shoal report plan.toml --out report.html
    """
    from .report.html import write_report
    from .runs.here import result_of
    from .runs.plan import check_plan, read_plan
    from .runs.store import RunStore

    store = RunStore(into)
    jobs = check_plan(read_plan(plan))
    done = [job for job in jobs if store.is_done(job.id)]
    if not done:
        raise ShoalError(f"{into}: no job of {plan} is done", fix=f"shoal run {plan}")
    write_report([result_of(job, store) for job in done], out)
    click.echo(f"{out}: {len(done)} of {len(jobs)} jobs")


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
