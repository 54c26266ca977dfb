"""The verbs `compare`, `gate` and `reproduce`: each parses, calls one function of the Python API, and prints."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import PlanError
from .options import AS_JSON, INTO, echo_object

if TYPE_CHECKING:
    pass

SETTINGS = click.option(
    "--set",
    "pairs",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting for models that are scored here, such as suite=FILE; repeat for more.",
)
GATE_NOT_MET = 3


@click.command("compare")
@click.argument("names", nargs=-1, metavar="[A B]")
@click.option("--a", "seeds_a", multiple=True, metavar="A", help="A seed of side A; repeat for more.")
@click.option("--b", "seeds_b", multiple=True, metavar="B", help="A seed of side B; repeat for more.")
@SETTINGS
@INTO
@click.option(
    "--adjust",
    type=click.Choice(["holm", "bh", "max-t", "none"]),
    default="holm",
    show_default=True,
    help="How p is adjusted over all rows.",
)
@click.option(
    "--matrix",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Instead of two models: a table run_id, item_id, outcome; how far its runs agree.",
)
@click.option("--paired-seeds", is_flag=True, help="Seed k of A and of B began from one checkpoint.")
@click.option(
    "--resamples",
    type=click.IntRange(min=100),
    default=10_000,
    show_default=True,
    help="Draws behind the intervals.",
)
@click.option("--changed", is_flag=True, help="List every case that changed, both ways.")
@click.option("--json", "form", flag_value="json", help="Print one JSON object.")
@click.option("--markdown", "form", flag_value="markdown", help="Print a Markdown table.")
@click.option("--csv", "form", flag_value="csv", help="Print every row as CSV.")
@click.option("--latex", "form", flag_value="latex", help="Print a LaTeX table (booktabs).")
def compare_command(
    names: tuple[str, ...],
    seeds_a: tuple[str, ...],
    seeds_b: tuple[str, ...],
    pairs: tuple[str, ...],
    into: Path,
    adjust: Any,
    matrix: Path | None,
    paired_seeds: bool,
    resamples: int,
    changed: bool,
    form: str | None,
) -> None:
    """Compare model B with model A on the same cases; every difference is B minus A.

    A and B are models scored here (predictions:FILE with --set suite=...) or jobs of a store. Several seeds of one
    recipe are given with --a and --b, as often as there are seeds.

    \b
    Examples:
      shoal compare predictions:old.jsonl predictions:new.jsonl --set suite=suite.jsonl
      shoal compare 3f9c1a2b 91be77d0 --into runs --markdown
      shoal compare --a seed1 --a seed2 --b other1 --b other2 --into runs
      shoal compare --matrix runs_by_items.csv
    """
    if matrix:
        return _compare_runs(matrix, form)
    from ..protocols.behaviour.pairs import Choices, compare
    from ..runs.results import find_results, with_outcomes
    from ..runs.settings import parse_pairs
    from ..show.progress import progress_bar

    if bool(names) == bool(seeds_a or seeds_b) or (names and len(names) != 2):
        raise click.UsageError("give two models, A and B; or seeds with --a A1 --a A2 --b B1 --b B2")
    side_a, side_b = ((names[0],), (names[1],)) if names else (seeds_a, seeds_b)
    if not side_a or not side_b:
        raise click.UsageError("--a and --b are given together")
    given = [*side_a, *side_b]
    with progress_bar() as progress:
        results = find_results(given, parse_pairs(pairs), into, progress)
    results = [with_outcomes(result, name) for result, name in zip(results, given, strict=True)]
    choices = Choices(adjust=adjust, paired_seeds=paired_seeds, resamples=resamples)
    found = compare(results[: len(side_a)], results[len(side_a) :], choices)
    if form == "json":
        from dataclasses import asdict

        jobs = [
            {**result.job, "side": side, "compare": asdict(choices)}
            for side, one_side in (("A", found.a), ("B", found.b))
            for result in one_side
        ]
        cases = [
            {"case_id": case.id, "change": "fail to pass" if up else "pass to fail"}
            for case, up in found.changed()
        ]
        echo_object(jobs, found.measures, **({"changed": cases} if changed else {}))
    elif form:
        from ..show import exports

        write = {"markdown": exports.as_markdown, "csv": exports.as_csv, "latex": exports.as_latex}[form]
        click.echo(write(found), nl=False)
    else:
        from ..show.compare import print_comparison

        print_comparison(found, changed=changed)


def _compare_runs(matrix: Path, form: str | None) -> None:
    from ..data.matrix import read_matrix
    from ..runs.reliability import reliability
    from ..show.reliability import print_reliability

    if form not in (None, "json"):
        raise click.UsageError(f"--matrix and --{form} do not go together; --json does")
    found = read_matrix(matrix)
    measures = reliability(found)
    if form == "json":
        echo_object([{"matrix": str(matrix), "runs": list(found.runs)}], measures)
    else:
        print_reliability(measures, len(found.runs))


@click.command("gate")
@click.argument("result")
@click.option(
    "--rules",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    required=True,
    help="The file of rules.",
)
@click.option("--baseline", metavar="RESULT", help="What relative rules compare with.")
@click.option("--junit", type=click.Path(dir_okay=False, path_type=Path), help="Write JUnit XML there.")
@SETTINGS
@INTO
@AS_JSON
def gate_command(
    result: str,
    rules: Path,
    baseline: str | None,
    junit: Path | None,
    pairs: tuple[str, ...],
    into: Path,
    as_json: bool,
) -> None:
    """Judge RESULT by a file of rules: exit code 0 if all are met, 3 if not.

    RESULT is a file that `shoal try ... --json` wrote, a job of a store, or a model with --set suite=... Rules are
    judged on a bound of the 95 % interval.

    \b
    Examples:
      shoal gate result.json --rules gate.toml
      shoal gate predictions:new.jsonl --set suite=suite.jsonl --rules gate.toml --baseline baseline.json
      shoal gate 3f9c1a2b --rules gate.toml --baseline 91be77d0 --junit shoal.xml
    """
    from ..gates.judge import judge
    from ..gates.junit import write_junit
    from ..gates.rules import read_rules
    from ..runs.results import find_results
    from ..runs.settings import parse_pairs
    from ..show.progress import progress_bar

    checked = read_rules(rules)
    if baseline is None and any(rule.is_relative for rule in checked):
        raise PlanError(
            f"{rules}: a rule is relative to a baseline, and there is none", fix="--baseline RESULT"
        )
    with progress_bar() as progress:
        found = find_results([result, *([baseline] if baseline else [])], parse_pairs(pairs), into, progress)
    try:
        verdicts = judge(checked, *found)
    except PlanError as problem:
        raise problem.at(str(rules)) from None
    if junit:
        write_junit(verdicts, found[0], junit)
    if as_json:
        from ..show.gates import verdict_as_json

        rows = [verdict.measure for verdict in verdicts]
        echo_object(
            [one.job for one in found], rows, verdicts=[verdict_as_json(verdict) for verdict in verdicts]
        )
    else:
        from ..show.gates import print_verdicts

        print_verdicts(verdicts)
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
    """Recompute the published table NAME from stored predictions, and say which cells match.

    \b
    Examples:
      shoal reproduce hatecheck --data data
      shoal reproduce checklist-llm --data data --json
    """
    from ..reproduce import reproduce
    from ..show.progress import progress_bar

    with progress_bar() as progress:
        found = reproduce(name, data, progress)
    if as_json:
        mismatches = [cell.as_json() for cell in found.mismatches]
        matching = len(found.cells) - len(mismatches)
        echo_object(
            found.jobs, found.measures, cells=len(found.cells), matching=matching, mismatches=mismatches
        )
    else:
        from ..show.reproduce import print_reproduction

        print_reproduction(found)
    if found.mismatches:
        raise SystemExit(1)
