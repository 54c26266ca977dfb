"""`check` and `import`: files looked at and turned into suites."""

import json
from dataclasses import asdict
from pathlib import Path

import click

from .options import AS_JSON, EXISTING


@click.command("check")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@AS_JSON
def check_command(file: Path, as_json: bool) -> None:
    """Read FILE, say what it holds, and what is wrong with it; run nothing.

    A plan (.toml) is shown as the jobs it means; any other file, or a suite that ships with shoal, as a suite.

    \b
    Examples:
      shoal check suite.jsonl
      shoal check plan.toml
    """
    if file.suffix == ".toml":
        return _check_plan(file, as_json)
    from ..protocols.behaviour.build import load_suite
    from ..protocols.behaviour.hygiene import examine
    from ..show.suites import describe_suite, print_findings, print_suite

    suite = load_suite(str(file))
    found, hygiene = describe_suite(suite), examine(suite)
    if as_json:
        click.echo(json.dumps(found | hygiene.as_json()))
    else:
        print_suite(found)
        print_findings(hygiene)


def _check_plan(file: Path, as_json: bool) -> None:
    from ..runs.estimate import estimate
    from ..runs.plan import check_plan, read_plan
    from ..show.jobs import print_estimate, print_jobs

    jobs = check_plan(read_plan(file))
    found = estimate(jobs)
    if as_json:
        more = {"estimate": asdict(found)} if found else {}
        click.echo(json.dumps({"jobs": [job.as_json() for job in jobs], "measures": [], **more}))
        return
    print_jobs(jobs)
    if found:
        print_estimate(found)


@click.command("import")
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
    from ..data.columns import Named
    from ..protocols.behaviour.suite import import_suite
    from ..show.suites import print_import

    named = Named(texts, label or "", functionality or "", capability or "", identity or "", cluster or "")
    print_import(*import_suite(file, out, named), out)
