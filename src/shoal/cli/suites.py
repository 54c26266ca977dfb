"""The verbs `check` and `import`."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import AS_JSON, OUT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..protocols.behaviour.suite import Suite


@click.command("check")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--prompts",
    type=click.IntRange(min=0),
    default=0,
    help="Show this many prompts of each job of a plan.",
)
@AS_JSON
def check_command(file: Path, prompts: int, as_json: bool) -> None:
    """Check a suite or plan file without running it.

    A plan (.toml) is shown as its jobs; any other file, or a suite that ships with shoal, as a suite.

    \b
    Examples:
      shoal check suite.jsonl
      shoal check plan.toml
      shoal check plan.toml --prompts 3
    """
    if file.suffix == ".toml":
        return _check_plan(file, prompts, as_json)
    if prompts:
        raise click.UsageError("--prompts shows what a plan would ask: give a plan (.toml)")
    from ..protocols.behaviour.build import load_suite
    from ..protocols.behaviour.hygiene import examine
    from ..render.terminal import print_sections
    from .suite_view import describe_suite, suite_sections

    suite = load_suite(str(file))
    found, hygiene = describe_suite(suite), examine(suite)
    if as_json:
        click.echo(json.dumps(found | hygiene.as_json()))
    else:
        print_sections(suite_sections(found, hygiene))


def _check_plan(file: Path, prompts: int, as_json: bool) -> None:
    from ..core.text import printable
    from ..render.terminal import print_sections
    from ..runs.plan import check_plan, read_plan
    from ..runs.results import bill, prompts_shown
    from .views import bill_section, job_sections

    jobs = check_plan(read_plan(file))
    cost = bill(jobs)
    shown = {job.id: prompts_shown(job, prompts) for job in jobs} if prompts else {}
    if as_json:
        more = {"bill": asdict(cost)} if cost else {}
        more |= {"prompts": shown} if shown else {}
        click.echo(json.dumps({"jobs": [job.as_json() for job in jobs], "measures": [], **more}))
        return
    print_sections([*job_sections(jobs), *([bill_section(cost)] if cost else [])])
    for job_id, texts in shown.items():
        for number, prompt in enumerate(texts, start=1):
            click.echo(f"\n{job_id}, prompt {number}\n{printable(prompt)}")


@click.command("import")
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--out",
    type=OUT,
    required=True,
    help="The suite file to write.",
)
@click.option(
    "--text", "texts", multiple=True, metavar="COLUMN", help="Column of the text; give two for pairs."
)
@click.option("--label", metavar="COLUMN", help="Column of the label.")
@click.option(
    "--labels",
    "names",
    multiple=True,
    metavar="VALUE=NAME",
    help="Name of a label value; repeat for each, in the order of the model's outputs.",
)
@click.option("--original", metavar="COLUMN", help="Column of the original text, for INV and DIR.")
@click.option(
    "--variant",
    "variants",
    multiple=True,
    metavar="COLUMN",
    help="Column of a changed text; repeat for more.",
)
@click.option(
    "--type",
    "test_type",
    type=click.Choice(["MFT", "INV", "DIR"]),
    default="MFT",
    show_default=True,
    help="Expectation: the label, the same prediction, or confidence that moves one way.",
)
@click.option("--expect", metavar="RULE", help="The rule of the cases; see: shoal list rules.")
@click.option("--functionality", metavar="COLUMN", help="Column of the functionality's name.")
@click.option("--capability", metavar="COLUMN", help="Column of the capability's name.")
@click.option("--id", "identity", metavar="COLUMN", help="Column of the case's id.")
@click.option("--cluster", metavar="COLUMN", help="Column of the sampling unit, such as a template.")
@click.option(
    "--templates",
    "by_template",
    is_flag=True,
    help="Infer templates: cases that differ in one place share one.",
)
def import_command(
    file: Path,
    out: Path,
    texts: tuple[str, ...],
    label: str | None,
    names: tuple[str, ...],
    original: str | None,
    variants: tuple[str, ...],
    test_type: str,
    expect: str | None,
    functionality: str | None,
    capability: str | None,
    identity: str | None,
    cluster: str | None,
    by_template: bool,
) -> None:
    """Convert a file to a suite file.

    HateCheck, Multilingual HateCheck, AdaTest and released CheckList suites are recognised by their content, a suite in
    Python by its suffix. For any other table (CSV, TSV, JSON, Parquet, Arrow, xlsx, a saved Hugging Face dataset), name
    the columns.

    \b
    Examples:
      shoal import test_suite_cases.csv --out hatecheck.jsonl
      shoal import reviews.tsv --out reviews.jsonl --text sentence --label label --functionality topic
      shoal import sst.csv --out sst.jsonl --text text --label y --labels 0=negative --labels 1=positive
      shoal import suite.jsonl --out suite-with-templates.jsonl --templates
      shoal import typos.csv --out typos.jsonl --type INV --original before --variant after
      shoal import weaker.csv --out weaker.jsonl --type DIR --expect "not more confident" \\
        --original now --variant then
    """
    from ..core.text import printable
    from ..data.columns import Named
    from ..protocols.behaviour.suite_files import import_suite
    from ..render.terminal import print_sections
    from .suite_view import import_sections

    named = Named(
        texts=texts,
        label=label or "",
        functionality=functionality or "",
        capability=capability or "",
        id=identity or "",
        cluster=cluster or "",
        original=original or "",
        variants=variants,
        test_type=test_type,
        expect=expect or "",
    )
    if (test_type != "MFT" or expect) and not named.all():
        raise click.UsageError("--type and --expect are for tables whose columns are named")
    suite, lost = import_suite(file, out, named, parse_names(names), by_template=by_template)
    print_sections(import_sections(suite, lost, out))
    numbers = bare_numbers(suite)
    if numbers:
        click.echo(
            printable(
                f"  labels: the bare numbers {', '.join(numbers)}; --labels {numbers[0]}=NAME says what they are"
            )
        )


def parse_names(pairs: "Sequence[str]") -> dict[str, str]:
    """Return the label names of repeated `--labels value=name`.

    >>> parse_names(["0=negative", "1=positive"])
    {'0': 'negative', '1': 'positive'}
    """
    from ..core.errors import DataError

    names: dict[str, str] = {}
    for pair in pairs:
        value, equals, name = (part.strip() for part in pair.rpartition("="))
        if not equals or not value or not name:
            raise DataError(
                f"--labels {pair}: not of the form value=name", fix="--labels 0=negative --labels 1=positive"
            )
        if value in names:
            raise DataError(
                f"--labels {value}: given twice, as {names[value]!r} and {name!r}",
                fix="give each value one name",
            )
        names[value] = name
    return names


def bare_numbers(suite: "Suite") -> list[str]:
    """Return the labels of a suite that are numbers without names."""
    if suite.labels is not None or any(case.meta.get("reading") for case in suite.cases[:1]):
        return []
    return sorted({str(label) for case in suite.cases for label in case.labels or ()})[:5]
