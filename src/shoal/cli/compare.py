"""The verbs `compare`, `gate` and `reproduce`: each parses, calls one function of the Python API, and prints."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..core.errors import PlanError
from .options import (
    AS_JSON,
    INTO,
    OUT,
    echo_object,
    echo_table,
    one_form,
    refuse_dead,
    refuse_overwrite,
    say_alone,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core.records import Result

SETTINGS = click.option(
    "--set",
    "pairs",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting for models to query, such as suite=FILE; repeat for more.",
)
PROTOCOL = click.option(
    "--protocol",
    metavar="NAME",
    help="The protocol for models to query; by default the first of shoal list protocols.",
)
KEEP = click.option("--keep", is_flag=True, help="Store answers and trained models in --into.")
GATE_NOT_MET = 3


def first_protocol() -> str:
    """Return the default protocol."""
    from ..protocols import PROTOCOLS

    return next(iter(PROTOCOLS))


@click.command("compare")
@click.argument("names", nargs=-1, metavar="[A B]")
@click.option("--a", "seeds_a", multiple=True, metavar="A", help="A run of side A; repeat for more.")
@click.option("--b", "seeds_b", multiple=True, metavar="B", help="A run of side B; repeat for more.")
@SETTINGS
@INTO
@click.option(
    "--adjust",
    type=click.Choice(["holm", "none"]),
    default="holm",
    show_default=True,
    help="Adjust p within each level.",
)
@click.option(
    "--over",
    type=click.Choice(["cases", "templates"]),
    default="cases",
    show_default=True,
    help="Claim about new cases of the same templates, or about new templates.",
)
@click.option(
    "--margin",
    type=float,
    metavar="SHARE",
    help="Also test whether B is worse by less than this; 0.02 is two points.",
)
@click.option(
    "--matrix",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Measure the agreement of runs in a table run_id, item_id, outcome instead.",
)
@click.option("--changed", is_flag=True, help="List every case that changed, both ways.")
@click.option("--full", is_flag=True, help="Show every row, with adjusted p and detectable drop.")
@PROTOCOL
@KEEP
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print a Markdown table.")
@click.option("--csv", "as_csv", is_flag=True, help="Print every row as CSV.")
@click.option("--latex", "as_latex", is_flag=True, help="Print a LaTeX table (booktabs).")
@click.option(
    "--out",
    type=OUT,
    help="Also write the comparison as an HTML page, with the cases of both sides.",
)
def compare_command(
    names: tuple[str, ...],
    seeds_a: tuple[str, ...],
    seeds_b: tuple[str, ...],
    pairs: tuple[str, ...],
    into: Path,
    adjust: Any,
    over: Any,
    margin: float | None,
    matrix: Path | None,
    changed: bool,
    full: bool,
    protocol: str | None,
    keep: bool,
    as_json: bool,
    as_markdown: bool,
    as_csv: bool,
    as_latex: bool,
    out: Path | None,
) -> None:
    """Compare two models on the same cases.

    Every difference is B minus A.

    A and B are models to query (predictions:FILE with --set suite=...) or jobs of a store, of any protocol. A model
    whose settings ask for training is trained first. Repeat --a and --b for several runs of two recipes.

    \b
    Examples:
      shoal compare predictions:old.jsonl predictions:new.jsonl --set suite=suite.jsonl
      shoal compare 3f9c1a2b 91be77d0 --into runs --markdown
      shoal compare 3f9c1a2b 91be77d0 --into runs --margin 0.02 --out comparison.html
      shoal compare hf:base hf:debiased --protocol bias --set diagnostic=crows --set data=example
      shoal compare --a seed1 --a seed2 --b other1 --b other2 --into runs
      shoal compare --matrix runs_by_items.csv
    """
    form = one_form({"json": as_json, "markdown": as_markdown, "csv": as_csv, "latex": as_latex})
    if matrix and out:
        raise click.UsageError("--matrix and --out do not go together: a table of runs has no cases to show")
    if matrix:
        return _compare_runs(matrix, form)
    from ..comparing.pairs import Choices, compare

    if bool(names) == bool(seeds_a or seeds_b) or (names and len(names) != 2):
        raise click.UsageError("give two models, A and B; or seeds with --a A1 --a A2 --b B1 --b B2")
    side_a, side_b = ((names[0],), (names[1],)) if names else (seeds_a, seeds_b)
    if not side_a or not side_b:
        raise click.UsageError("--a and --b are given together")
    if out:
        refuse_overwrite(out, (*side_a, *side_b, *pairs))
    a, b = find_sides(side_a, side_b, protocol, pairs, into, keep=keep)
    choices = Choices(adjust=adjust, over=over, margin=margin)
    comparison = compare(a, b, choices)
    if out:
        _write_comparison(comparison, out)
    if form:
        _print_comparison(comparison, form, changed)
        return
    from ..comparing.view import comparison_sections
    from ..render.terminal import print_sections

    templates = compare(a, b, replace(choices, over="templates", power=False)) if full else None
    print_sections(
        comparison_sections(comparison, changed=changed, full=full, over_templates=templates), full=full
    )


def find_sides(
    side_a: "Sequence[str]",
    side_b: "Sequence[str]",
    protocol: str | None,
    pairs: "Sequence[str]",
    into: Path,
    *,
    keep: bool = False,
) -> "tuple[list[Result], list[Result]]":
    """Return the results of both sides, with outcomes; models are queried here."""
    from ..render.progress import progress_bar
    from ..runs.results import find_results, with_outcomes
    from ..runs.settings import parse_pairs

    specs = [*side_a, *side_b]
    with progress_bar() as progress:
        results = find_results(
            specs, protocol or first_protocol(), parse_pairs(pairs), into, progress, keep=keep
        )
    results = [with_outcomes(result, spec) for result, spec in zip(results, specs, strict=True)]
    refuse_dead(results)
    return results[: len(side_a)], results[len(side_a) :]


def _write_comparison(comparison: Any, out: Path) -> None:
    from ..render.page import comparison_page
    from ..render.writing import write_page

    write_page(comparison_page(comparison), out, [result.job for result in (*comparison.a, *comparison.b)])
    say_alone(out)


def _print_comparison(comparison: Any, form: str, changed: bool) -> None:
    from ..comparing.view import comparison_table, rows_for_csv

    if form == "json":
        from dataclasses import asdict

        jobs = [
            {**result.job, "side": side, "compare": asdict(comparison.choices)}
            for side, results in (("A", comparison.a), ("B", comparison.b))
            for result in results
        ]
        cases = [
            {"case_id": case.id, "change": "fail to pass" if up else "pass to fail"}
            for case, up in comparison.changed()
        ]
        echo_object(jobs, comparison.measures, comparison.findings, **({"changed": cases} if changed else {}))
    elif form == "csv":
        from ..render.csv_tables import rows_as_csv

        echo_table(rows_as_csv(rows_for_csv(comparison)))
    elif form == "markdown":
        from ..render.markdown import as_markdown

        click.echo(as_markdown([comparison_table(comparison)]), nl=False)
    else:
        from ..render.latex import as_latex

        click.echo(as_latex([comparison_table(comparison)]), nl=False)


def _compare_runs(matrix: Path, form: str) -> None:
    from ..data.matrix import read_matrix
    from ..render.terminal import print_sections
    from ..runs.reliability import reliability
    from .views import reliability_sections

    if form not in ("", "json"):
        raise click.UsageError(f"--matrix and --{form} do not go together; --json does")
    found = read_matrix(matrix)
    measures = reliability(found)
    if form == "json":
        echo_object([{"matrix": str(matrix), "runs": list(found.runs)}], measures, ())
    else:
        print_sections(reliability_sections(measures, len(found.runs)))


@click.command("gate")
@click.argument("result")
@click.option(
    "--rules",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    required=True,
    help="The file of rules.",
)
@click.option("--baseline", metavar="RESULT", help="The result that relative rules compare with.")
@click.option("--junit", type=OUT, help="Also write JUnit XML to this file.")
@SETTINGS
@INTO
@PROTOCOL
@KEEP
@AS_JSON
def gate_command(
    result: str,
    rules: Path,
    baseline: str | None,
    junit: Path | None,
    pairs: tuple[str, ...],
    into: Path,
    protocol: str | None,
    keep: bool,
    as_json: bool,
) -> None:
    """Judge a result by a file of rules.

    Exit codes: 0 every rule is met, 3 some rule is not, 1 problem with the input, 2 usage.

    RESULT is a file that `shoal try ... --json` wrote, a job of a store, or a model with --set suite=... A rule judges
    the observed rate unless it says judge = "lower bound" or "upper bound".

    \b
    Examples:
      shoal gate result.json --rules gate.toml
      shoal gate predictions:new.jsonl --set suite=suite.jsonl --rules gate.toml --baseline baseline.json
      shoal gate 3f9c1a2b --rules gate.toml --baseline 91be77d0 --junit shoal.xml
    """
    from ..comparing.gate import judge
    from ..comparing.junit import write_junit
    from ..comparing.rules import read_rules
    from ..comparing.view import verdict_as_json, verdict_sections
    from ..render.progress import progress_bar
    from ..runs.results import find_results
    from ..runs.settings import parse_pairs

    if junit:
        refuse_overwrite(junit, (result, str(rules), baseline or "", *pairs))
    checked = read_rules(rules)
    if baseline is None and any(rule.is_relative for rule in checked):
        raise PlanError(
            f"{rules}: a rule is relative to a baseline, and there is none", fix="--baseline RESULT"
        )
    with progress_bar() as progress:
        results = find_results(
            [result, *([baseline] if baseline else [])],
            protocol or first_protocol(),
            parse_pairs(pairs),
            into,
            progress,
            keep=keep,
        )
    refuse_dead(results[:1])
    try:
        verdicts = judge(checked, results[0], results[1] if baseline else None)
    except PlanError as problem:
        raise problem.at(str(rules)) from None
    if junit:
        write_junit(verdicts, results[0], junit)
    if as_json:
        rows = [verdict.measure for verdict in verdicts]
        told = [verdict_as_json(verdict) for verdict in verdicts]
        echo_object([judged.job for judged in results], rows, results[0].findings, verdicts=told)
    else:
        from ..render.terminal import print_sections

        print_sections(verdict_sections(verdicts, results[0]))
    if not all(verdict.is_met for verdict in verdicts):
        raise SystemExit(GATE_NOT_MET)


@click.command("reproduce")
@click.argument("name")
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    required=True,
    help="Folder of the published files.",
)
@AS_JSON
def reproduce_command(name: str, data: Path, as_json: bool) -> None:
    """Recompute a published table and list cells that differ.

    Exit codes: 0 every cell matches, 1 some cell differs.

    \b
    Examples:
      shoal reproduce hatecheck --data data
      shoal reproduce checklist-llm --data data --json
    """
    from ..render.progress import progress_bar
    from ..reproduce import reproduce

    with progress_bar() as progress:
        found = reproduce(name, data, progress)
    if as_json:
        mismatches = [cell.as_json() for cell in found.mismatches]
        matching = len(found.cells) - len(mismatches)
        echo_object(
            found.jobs, found.measures, (), cells=len(found.cells), matching=matching, mismatches=mismatches
        )
    else:
        from ..render.terminal import print_sections
        from .views import reproduction_sections

        print_sections(reproduction_sections(found))
    if found.mismatches:
        raise SystemExit(1)
