"""The verbs `compare`, `gate`, `rank`, `plan-size` and `reproduce`."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..core.errors import PlanError
from ..render.progress import progress_bar
from . import options

if TYPE_CHECKING:
    from ..core.records import Result

GATE_NOT_MET = 3
RANKING = "ranking"
"""The protocol whose verb is `rank`."""


@click.command("compare")
@click.argument("names", nargs=-1, metavar="[A B]")
@click.option("--a", "seeds_a", multiple=True, metavar="A", help="A run of side A; repeat for more.")
@click.option("--b", "seeds_b", multiple=True, metavar="B", help="A run of side B; repeat for more.")
@options.query
@options.OVER
@click.option("--changed", is_flag=True, help="List every case that changed, both ways.")
@click.option("--full", is_flag=True, help="Show every row, with adjusted p and minimum detectable drop.")
@options.KEEP
@options.form("json", "Print one JSON object.")
@options.form("csv", "Print every row as CSV.")
@options.form("latex", "Print a LaTeX table (booktabs).")
@click.option("--out", type=options.OUT, help="Also write an HTML page with the cases of both sides.")
def compare_command(
    names: tuple[str, ...],
    seeds_a: tuple[str, ...],
    seeds_b: tuple[str, ...],
    changed: bool,
    full: bool,
    form: str | None,
    out: Path | None,
    over: Any,
    **query: Any,
) -> None:
    """Compare two models on the same cases.

    Every difference is B minus A.

    \b
    A and B are each one of these:
      a model to query, such as predictions:FILE with --suite ...
      scores:FILE, results that another tool graded
      a job of a store, of any protocol
      last, the result of the latest `shoal try`
      a file that `shoal try ... --json` wrote: rates only, unpaired

    If a model's settings ask for training, shoal trains it first. Repeat --a and --b for several runs of two ways of
    training.

    \b
    Examples:
      shoal compare predictions:old.jsonl predictions:new.jsonl \\
          --suite suite.jsonl
      shoal compare scores:old.eval scores:new.eval
      shoal compare last predictions:new.jsonl --suite suite.jsonl
      shoal compare 3f9c1a2b 91be77d0 --into runs --out comparison.html
      shoal compare --a seed1 --a seed2 --b other1 --b other2 --into runs
    """
    from ..comparing.pairs import Choices, compare

    sides = _sides(names, seeds_a, seeds_b)
    options.refuse_overwrite(out, (*sides[0], *sides[1], *query["pairs"]))
    options.check_page(out)
    a, b = find_sides(*sides, by_case=changed, **query)
    comparison = compare(a, b, Choices(over=over))
    if out:
        from ..render.page import comparison_page
        from ..render.writing import write_page

        write_page(comparison_page(comparison), out, [result.job for result in (*a, *b)])
    if form:
        return _print_comparison(comparison, form, changed)
    from ..comparing.view import comparison_sections
    from ..render.terminal import print_sections

    print_sections(comparison_sections(comparison, changed=changed, full=full), full=full)


def _sides(
    names: Sequence[str], seeds_a: Sequence[str], seeds_b: Sequence[str]
) -> tuple[Sequence[str], Sequence[str]]:
    if bool(names) == bool(seeds_a or seeds_b) or (names and len(names) != 2):
        raise click.UsageError("name two models, shoal compare A B; or runs: --a A1 --a A2 --b B1 --b B2")
    if not names and not (seeds_a and seeds_b):
        raise click.UsageError("--a and --b are given together")
    return (names[:1], names[1:]) if names else (seeds_a, seeds_b)


def find_sides(
    side_a: Sequence[str],
    side_b: Sequence[str],
    by_case: bool = True,
    **query: Any,
) -> "tuple[list[Result], list[Result]]":
    """Return the results of both sides; models are queried here. `by_case` refuses results without outcomes."""
    from ..protocols.scores import each_run
    from ..runs.results import with_outcomes

    specs = [*side_a, *side_b]
    results = options.find_results(specs, **query)
    if by_case:
        results = [with_outcomes(result, spec) for result, spec in zip(results, specs, strict=True)]
    options.refuse_dead(results)
    sides = results[: len(side_a)], results[len(side_a) :]
    a, b = ([run for result in side for run in each_run(result)] for side in sides)
    return a, b


def _print_comparison(comparison: Any, form: str, changed: bool) -> None:
    from ..comparing.view import comparison_table, rows_for_csv
    from ..render.latex import as_latex
    from ..render.tables import rows_as_csv

    if form == "json":
        jobs = [
            {**result.job, "side": side, "compare": asdict(comparison.choices)}
            for side, results in (("A", comparison.a), ("B", comparison.b))
            for result in results
        ]
        words = {True: "fail to pass", False: "pass to fail"}
        cases = [{"case_id": case.id, "change": words[up]} for case, up in comparison.changed()]
        more = {"changed": cases} if changed else {}
        options.echo_object(jobs, comparison.measures, comparison.findings, **more)
    elif form == "csv":
        options.echo_table(rows_as_csv(rows_for_csv(comparison)))
    else:
        click.echo(as_latex([comparison_table(comparison)]), nl=False)


@click.command("gate")
@click.argument("names", metavar="RESULT...", nargs=-1, required=True)
@click.option("--rules", type=options.EXISTING, required=True, help="The file of rules.")
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    metavar="RESULT",
    help="The result that rules on a difference compare with; repeat for several prompts.",
)
@click.option("--full", is_flag=True, help="Show every row, also those that passed.")
@click.option("--junit", type=options.OUT, help="Also write JUnit XML to this file.")
@options.query
@options.KEEP
@options.AS_JSON
def gate_command(
    names: tuple[str, ...],
    rules: Path,
    baselines: tuple[str, ...],
    full: bool,
    junit: Path | None,
    as_json: bool,
    **query: Any,
) -> None:
    """Judge a result by a file of rules.

    Exit codes: 0 every rule is met, 3 a rule is not met, 1 wrong input, 2 wrong usage.

    RESULT is last (the latest `shoal try`), a file that `shoal try ... --json` wrote, a job of a store, or a model with
    --suite ... A rule judges the observed rate unless it says judge = "lower bound" or "upper bound".

    Several RESULTs are one model under several prompts: every rule must be met under each, against the baseline with
    the same prompt.

    \b
    Examples:
      shoal gate last --rules gate.toml
      shoal gate result.json --rules gate.toml
      shoal gate predictions:new.jsonl --suite suite.jsonl --rules gate.toml \\
          --baseline baseline.json
      shoal gate 3f9c1a2b --rules gate.toml --baseline 91be77d0 --junit shoal.xml
    """
    from ..comparing.gate import judge_by_prompt
    from ..comparing.junit import write_junit
    from ..comparing.rules import read_rules
    from ..comparing.view import verdict_as_json, verdict_sections
    from ..render.terminal import print_sections

    options.refuse_overwrite(junit, (*names, *baselines, str(rules), *query["pairs"]))
    checked = read_rules(rules)
    if not baselines and any(rule.is_relative for rule in checked):
        raise PlanError(f"{rules}: a relative rule needs a baseline", fix="--baseline RESULT")
    results = options.find_results([*names, *baselines], **query)
    judged, earlier = results[: len(names)], results[len(names) :]
    options.refuse_dead(judged)
    try:
        verdicts = judge_by_prompt(checked, judged, earlier)
    except PlanError as problem:
        raise problem.at(str(rules)) from None
    if junit:
        write_junit(verdicts, junit)
    if as_json:
        rows = [verdict.measure for verdict in verdicts]
        more = [verdict_as_json(verdict) for verdict in verdicts]
        findings = [finding for result in judged for finding in result.findings]
        options.echo_object([row.job for row in results], rows, findings, verdicts=more)
    else:
        print_sections(verdict_sections(verdicts, judged[0], every=full, code=True), full=full)
    if not all(verdict.is_met for verdict in verdicts):
        raise SystemExit(GATE_NOT_MET)


@click.command("rank")
@click.argument("models", nargs=-1, metavar="MODEL MODEL ...")
@click.option(
    "--data", multiple=True, metavar="FILE", help="Labelled examples of the new domain; repeat for more."
)
@click.option("--pool", default="", metavar="FILE", help="Unlabelled examples to choose from.")
@click.option(
    "--out", type=options.OUT, help="Write the examples to label next to this file (.csv or .jsonl)."
)
@options.SETTINGS
@options.INTO
@options.KEEP
@options.AS_JSON
def rank_command(
    models: tuple[str, ...],
    data: tuple[str, ...],
    pool: str,
    out: Path | None,
    pairs: tuple[str, ...],
    into: Path,
    keep: bool,
    as_json: bool,
) -> None:
    """Rank models for a new domain from few labelled examples.

    Prints the probability that each model is better than the next. With --pool it also names the examples to label
    next and when to stop. Label those, add them with another --data, and repeat as often as you like. In
    predictions:FILE?label=COLUMN, a * in COLUMN matches several columns, one model each.

    \b
    Examples:
      shoal rank hf:runs/a hf:runs/b hf:runs/c --data ten_examples.csv
      shoal rank hf:runs/a hf:runs/b --data ten_examples.csv \\
          --pool unlabelled.csv --out to_label.csv
      shoal rank predictions:a.csv predictions:b.csv --data nli.csv \\
          --set text=premise,hypothesis
      shoal rank "predictions:answers.csv?label=pred_*" --data examples.csv
      shoal rank scores:a.jsonl scores:b.jsonl scores:c.jsonl
    """
    from ..models.stored import every_model
    from ..protocols import find_protocol
    from ..protocols.ranking.labelling import export
    from ..protocols.scores import graded_results, is_graded, ranked
    from ..render.terminal import print_sections
    from ..runs.results import audit_all
    from ..runs.settings import parse_pairs
    from ..runs.store import RunStore

    specs = every_model(models)
    _check_rank(specs, data, pool, out)
    options.refuse_overwrite(out, (*models, *data, pool))
    given = {"data": list(data), "pool": pool, "probe_sizes": [], **parse_pairs(pairs)}
    store = RunStore(into) if keep else None
    if all(map(is_graded, specs)):
        results = ranked(graded_results(specs))
    else:
        with progress_bar() as progress:
            results = audit_all(specs, RANKING, given, progress, store)
    options.refuse_dead(results)
    protocol, settings = find_protocol(RANKING), results[0].settings
    compared = protocol.compare(settings, results)
    if out:
        number = export(compared.findings, results[0].job["about"]["columns"], out)
        click.echo(
            f"{out}: {number:,} examples to label. Then run `shoal rank` again with --data {out}", err=as_json
        )
    if as_json:
        options.echo_object([result.job for result in results], compared.measures, compared.findings)
    else:
        print_sections(protocol.view(settings, results, compared.measures, compared.findings))


def _check_rank(models: Sequence[str], data: tuple[str, ...], pool: str, out: Path | None) -> None:
    if not models:
        raise click.UsageError("name two models or more")
    if len(models) < 2:
        raise PlanError("one model only", why="a ranking needs two", fix=f"shoal rank {models[0]} MODEL …")
    twice = next((model for model in models if models.count(model) > 1), None)
    if twice:
        raise PlanError(f"model {twice!r} is given twice", fix="name it once")
    graded = [model for model in models if model.startswith("scores:")]
    if graded and (len(graded) < len(models) or data or pool):
        raise PlanError(
            f"{graded[0]}: scores: cannot be combined with other models, --data or --pool",
            why="graded samples and these examples cannot be matched",
            fix=f"shoal rank {' '.join(graded)}",
        )
    if not data and not pool and not graded:
        raise click.UsageError("give labelled examples with --data, or examples without labels with --pool")
    if out and not pool:
        raise click.UsageError("--out writes the examples to label next, and needs --pool")


@click.command("plan-size")
@click.argument("names", nargs=-1, metavar="A [B]", required=True)
@click.option(
    "--difference",
    "drop",
    type=float,
    required=True,
    metavar="SHARE",
    help="The drop to detect; 0.05 is five points.",
)
@click.option("--differing", type=float, help="Share of cases on which the models differ.")
@click.option(
    "--row",
    default="",
    metavar="NAME",
    help="A row of the table that `shoal compare` prints; default: the main one, such as suite score.",
)
@options.query
@options.AS_JSON
def plan_size_command(
    names: tuple[str, ...], drop: float, differing: float | None, row: str, as_json: bool, **query: Any
) -> None:
    """Estimate the sample size for a comparison.

    Give two models or jobs as the pilot, or one of them with --differing.

    \b
    Examples:
      shoal plan-size predictions:old.jsonl predictions:new.jsonl \\
          --suite suite.jsonl --difference 0.03
      shoal plan-size 3f9c1a2b --into runs --difference 0.05 --differing 0.1
    """
    from ..comparing.power import plan_sections, plan_size
    from ..render.terminal import print_sections

    if len(names) > 2:
        raise click.UsageError("give a model A, or two, A and B")
    (a,), b = find_sides(names[:1], names[1:], **query)
    plan = plan_size(a, b[0] if b else None, drop=drop, differing=differing, row=row)
    if as_json:
        options.echo_object([result.job for result in (a, *b)], plan.measures, ())
    else:
        print_sections(plan_sections(plan))


@click.command("reproduce")
@click.argument("name")
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    required=True,
    help="Folder of the published files.",
)
@options.AS_JSON
def reproduce_command(name: str, data: Path, as_json: bool) -> None:
    """Recompute a published table and list cells that differ.

    Exit codes: 0 every cell matches, 1 a cell differs.

    \b
    Examples:
      shoal reproduce hatecheck --data data
      shoal reproduce checklist-llm --data data --json
    """
    from ..render.terminal import print_sections
    from ..reproduce import reproduce
    from .views import reproduction_sections

    with progress_bar() as progress:
        made = reproduce(name, data, progress)
    if as_json:
        names = ("row", "column", "published", "found")
        wrong = [{name: getattr(cell, name) for name in names} for cell in made.mismatches]
        counts = {"cells": len(made.cells), "matching": len(made.cells) - len(wrong)}
        options.echo_object(made.jobs, made.measures, (), **counts, mismatches=wrong)
    else:
        print_sections(reproduction_sections(made))
    if made.mismatches:
        raise SystemExit(1)
