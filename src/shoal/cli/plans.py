"""The verbs `run`, `status`, `show` and `report`: plans and results."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..core.errors import ModelError, PlanError, ShoalError, some
from ..core.files import is_file, read_toml, stands_alone
from ..core.text import printable, texts_in
from ..render.progress import progress_bar
from . import options

if TYPE_CHECKING:
    from ..core.records import Result
    from ..protocols.base import Compared
    from ..render.page import Page
    from ..runs.plan import Job
    from ..runs.store import RunStore


EXPLAIN = click.option(
    "--explain", metavar="METHOD", help="Show which words decide the worst cases: shapley, lime, gradients."
)


@click.command()
@click.argument("plan", type=options.EXISTING)
@options.INTO
@click.option("--retry-errors", is_flag=True, help="Query unanswered examples of finished jobs again.")
@click.option("--again", is_flag=True, help="Query the models of finished jobs again.")
@click.option(
    "--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Number of processes."
)
@click.option("--on", default="", metavar="EXECUTOR", help="Where to run: see `shoal list executors`.")
@options.AS_JSON
def run(plan: Path, into: Path, again: bool, as_json: bool, **how: Any) -> None:
    """Run the jobs of a plan and show their results.

    Jobs with a result are skipped. Safe to interrupt: the same command resumes. Several processes may share one plan.
    With --again, old results stay until the new ones of the whole plan are complete.

    \b
    Examples:
      shoal run plan.toml --into runs
      shoal run plan.toml --again
      shoal run plan.toml --workers 2
      shoal run plan.toml --on ray
    """
    from ..render.terminal import print_sections
    from ..runs.again import finish_replacing, replace_results, store_for_again
    from ..runs.executors import run_jobs
    from ..runs.plan import check_plan, read_plan
    from ..runs.scoring import compare_results, results_by_protocol
    from ..runs.store import RunStore
    from ..runs.viewing import plan_sections
    from .views import finished_words, next_commands, spending_words, with_short_names

    store, wanted = RunStore(into), read_plan(plan)
    jobs = check_plan(wanted)
    finish_replacing(store)
    working = store_for_again(jobs, store) if again else store
    todo = {job.id for job in jobs if not working.is_done(job.id)}
    noun = "job" if len(jobs) == 1 else "jobs"
    click.echo(f"{len(jobs)} {noun}: {len(jobs) - len(todo)} done, {len(todo)} to run", err=as_json)
    if not todo and not again and not how["retry_errors"]:
        click.echo(finished_words(jobs, store, plan), err=as_json)
    failed = 0
    with progress_bar() as progress:
        for job, problem in run_jobs(jobs, working, progress, resources=wanted.resources, **how):
            if problem or job.id in todo:
                ending = "failed: " + printable(problem) if problem else "done"
                click.echo(f"  {job.id}  {ending}", err=as_json)
            failed += problem is not None
    if again and not failed:
        options.refuse_dead(replace_results(jobs, store, working))
    results = results_by_protocol(wanted, jobs, store)
    compared = compare_results(wanted, results, store, keep=True)
    if as_json:
        echo_plan(jobs, results, compared, store)
    else:
        answer = with_short_names(plan_sections(wanted, results, compared), jobs)
        print_sections(answer, more=f"shoal status {plan} --full")
    if failed:
        kept = "the old results stay until every job has new ones" if again else ""
        same = f"shoal run {plan}{' --again' if again else ''}"
        raise ShoalError(f"{failed} of {len(jobs)} jobs failed", why=kept, fix=f"{same}, once fixed")
    options.refuse_dead([row for rows in results.values() for row in rows if row.job["id"] in todo])
    if not as_json:
        is_queried = todo or again or how["retry_errors"]
        if is_queried and (words := spending_words((job.model, store.spent(job.id)) for job in jobs)):
            click.echo(f"\nSpent: {words}")
        click.echo(next_commands(results, plan, into))


@click.command()
@click.argument("plan", type=options.EXISTING)
@options.INTO
@click.option("--full", is_flag=True, help="Show every table and every job.")
@options.AS_JSON
def status(plan: Path, into: Path, full: bool, as_json: bool) -> None:
    """Show a plan's progress and the results so far.

    \b
    Examples:
      shoal status plan.toml
      shoal status plan.toml --full
    """
    from ..render.terminal import print_sections
    from ..runs.plan import reachable, read_plan
    from ..runs.scoring import compare_results, results_by_protocol
    from ..runs.store import RunStore
    from ..runs.viewing import plan_sections
    from .views import into_words, job_sections, with_short_names

    store = RunStore(into)
    wanted, jobs, problems = reachable(read_plan(plan))
    results = results_by_protocol(wanted, jobs, store)
    compared = compare_results(wanted, results, store)
    if as_json:
        echo_plan(jobs, results, compared, store, problems)
    else:
        states = job_sections(jobs, store, full=full)
        answer = with_short_names(plan_sections(wanted, results, compared), jobs)
        is_done = all(store.is_done(job.id) for job in jobs)
        print_sections([*answer, *states] if is_done else [*states, *answer], full=full)
        verb = "report" if is_done else "run"
        click.echo(printable(f"\nNext: shoal {verb} {shlex.quote(str(plan))}{into_words(into)}"))
    refuse_absent(problems)


def refuse_absent(problems: "Mapping[str, str]") -> None:
    """Raise an error if models of a plan are missing, after the rest was shown."""
    if problems:
        raise ModelError(
            f"{len(problems)} of the plan's models cannot be found; the results of the others are shown",
            why=some([problem.splitlines()[0] for problem in problems.values()], 3),
            fix="the folder in which the plan's paths and modules are, or take these models out of the plan",
        )


def echo_plan(
    jobs: "Sequence[Job]",
    results: "Mapping[str, Sequence[Result]]",
    compared: "Mapping[str, Compared]",
    store: "RunStore",
    problems: "Mapping[str, str] | None" = None,
) -> None:
    """Print a plan as the public JSON object: the joint results, or those of each job if there are none."""
    from ..runs.viewing import plan_findings, plan_measures
    from .views import state

    options.echo_object(
        [job.as_json() | {"state": state(job, store)[0]} for job in jobs],
        plan_measures(results, compared),
        plan_findings(results, compared),
        **({"not found": dict(problems)} if problems else {}),
    )


@click.command()
@click.argument("name", metavar="RESULT")
@click.option("--failing", is_flag=True, help="Show the failing cases, worst functionality first.")
@click.option(
    "--all", "every", is_flag=True, help="Show every failing case, not only 20 of each functionality."
)
@click.option(
    "--only", multiple=True, metavar="NAME", help="Show only these cases: neg* or capability=negation."
)
@options.form("csv", "Print every case as CSV, failing ones first.")
@options.form("jsonl", "Print every case as JSON Lines, failing ones first.")
@options.form("json", "Print the measures as one JSON object.")
@EXPLAIN
@options.query
def show(
    name: str,
    failing: bool,
    every: bool,
    only: tuple[str, ...],
    form: str | None,
    explain: str | None,
    **query: Any,
) -> None:
    """Show the measures or the failing cases of a result.

    RESULT is last (the latest `shoal try`), a job of a store, a model with --suite ..., or a file that `shoal try ...
    --json` wrote, which has no cases. Any unique part of a job's name works.

    \b
    Examples:
      shoal show last --failing
      shoal show 3f9c1a2b --failing --only "functionality=neg*"
      shoal show 3f9c1a2b --explain shapley
      shoal show predictions:answers.jsonl --suite suite.jsonl --csv > cases.csv
    """
    from ..core.text import json_line
    from ..render.tables import rows_as_csv
    from ..render.terminal import print_sections
    from ..runs.results import viewable, with_outcomes
    from ..runs.viewing import case_rows, explained_sections, failing_sections, result_sections

    if (only or failing) and form == "json":
        raise click.UsageError("--json shows the measures; --failing and --only choose cases: --jsonl")
    if only and not (failing or form or explain):
        raise click.UsageError("--only chooses cases: give --failing, --explain, --csv or --jsonl with it")
    if explain and form:
        raise click.UsageError(f"--explain colours words, and --{form} has none: leave one of them out")
    (result,) = options.find_results([name], **query)
    if failing or explain or form in ("csv", "jsonl"):
        result = with_outcomes(result, name)
    if form == "json":
        options.echo_json(result)
    elif form:
        rows = case_rows(result, only, failing=failing)
        options.echo_table(rows_as_csv(rows) if form == "csv" else "".join(map(json_line, rows)))
    elif failing or explain:
        sections = failing_sections(result, only, every=every) if failing else []
        sections += explained_sections(result, explain, only) if explain else []
        print_sections(sections)
    else:
        print_sections(result_sections(viewable(result, name)))


@click.command()
@click.argument("plan", metavar="PLAN_OR_RESULT")
@click.option("--out", type=options.OUT, help="The file to write.  [default: report with a suffix]")
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "latex"]),
    default="html",
    show_default=True,
    help="Write a page, or its tables as LaTeX.",
)
@click.option(
    "--figures",
    type=click.Path(file_okay=False, path_type=Path),
    help="Also write every figure as PDF and SVG to this folder (needs matplotlib).",
)
@EXPLAIN
@click.option("--rules", type=options.EXISTING, help="Start the page with the verdict of this gate.")
@options.query
def report(
    plan: str,
    out: Path | None,
    form: str,
    figures: Path | None,
    explain: str | None,
    rules: Path | None,
    **query: Any,
) -> None:
    """Write a plan or result as an HTML page.

    PLAN_OR_RESULT is a plan that was run, last (the latest `shoal try`), a job of a store, or a model with --suite ...
    The numbers are written as JSON next to the page, named tables and figures as CSV.

    \b
    Examples:
      shoal report last
      shoal report plan.toml --out report.html
      shoal report 3f9c1a2b --into runs
      shoal report plan.toml --format latex --figures figures
      shoal report plan.toml --explain shapley
    """
    from ..render.page import with_explanations
    from ..render.writing import SUFFIXES, write_figures, write_forms

    is_plan = plan.endswith(".toml") and is_file(Path(plan))
    named = texts_in(read_toml(Path(plan), "a plan")) if is_plan else ()  # some of them name files
    options.refuse_overwrite(out, (plan, *named, *query["pairs"]), Path(plan).parent)
    path = out or Path(f"report{SUFFIXES[form]}")
    options.check_page(path if form == "html" else None)
    page, jobs, count, problems = _page_of(plan, **query)
    page = with_explanations(page, explain) if explain else page
    page = _with_gate(page, rules) if rules else page
    write_forms(page, jobs, path, form)
    alone = stands_alone(path)  # a pipe gets the page alone
    if figures:
        click.echo(f"{figures}: {write_figures(page, figures)} figures", err=alone)
    click.echo(f"Wrote {path}: {count}.", err=alone)
    refuse_absent(problems)


def _with_gate(page: "Page", path: Path) -> "Page":
    """Return the page with the verdict of a gate: of its only model, or of the second against the first."""
    from ..comparing.gate import judge
    from ..comparing.rules import read_rules
    from ..comparing.view import gate_verdict, verdict_sections
    from ..render.page import with_gate

    rules, results = read_rules(path), list(page.results.values())
    if len(results) > 2:
        raise click.UsageError("--rules judges a page of one or two models")
    if len(results) == 1 and any(rule.is_relative for rule in rules):
        raise PlanError(f"{path}: a relative rule needs a baseline", fix="a plan with two models")
    verdicts = judge(rules, results[-1], results[0] if len(results) == 2 else None)
    words, is_met = gate_verdict(verdicts)
    return with_gate(page, verdict_sections(verdicts, results[-1], every=True), words, is_met=is_met)


def _page_of(name: str, into: Path, **query: Any) -> "tuple[Page, list[dict[str, Any]], str, dict[str, str]]":
    """Return the page of a plan or result, its finished jobs, their count in words, and missing models."""
    from ..render.page import plan_page, results_page
    from ..runs.plan import reachable, read_plan
    from ..runs.results import LAST, last_store, viewable
    from ..runs.store import RunStore

    path, store = Path(name), RunStore(into)
    if path.suffix != ".toml":
        (result,) = options.find_results([name], into=into, **query)
        result, identity = viewable(result, name), str(result.job.get("id", ""))
        day = (last_store() if name == LAST else store).answered_on(identity)
        return results_page([result], {identity: day}), [dict(result.job)], "1 job", {}
    if any(query.values()):
        raise click.UsageError(
            "--suite, --data, --labels, --protocol and --set are for a model, not for a plan"
        )
    if not is_file(path):
        raise ShoalError(f"{path}: no such file", fix="the plan that was run, or the name of a job")
    wanted, jobs, problems = reachable(read_plan(path))
    done = [job for job in jobs if store.is_done(job.id)]
    if not done:
        raise ShoalError(f"{into}: no job of {path} is done", fix=f"shoal run {path}")
    page = plan_page(wanted, jobs, store, path.read_text(encoding="utf-8-sig"))
    return page, [job.as_json() for job in done], f"{len(done)} of {len(jobs)} jobs", problems
