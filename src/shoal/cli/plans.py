"""`run`, `status`, `show` and `report`: plans and what came of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import ShoalError
from .options import AS_JSON, EXISTING, INTO, echo_json, echo_object

if TYPE_CHECKING:
    from ..records import Measures
    from ..runs.plan import Job
    from ..runs.store import RunStore


@click.command()
@click.argument("plan", type=EXISTING)
@INTO
@click.option(
    "--retry-errors", is_flag=True, help="Of finished jobs, ask again what the model failed to answer."
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Processes that work at a time; for trainings as many as there are cores is fastest.",
)
@AS_JSON
def run(plan: Path, into: Path, retry_errors: bool, workers: int, as_json: bool) -> None:
    """Run every job in PLAN that has no result yet, and show what the jobs say together.

    Safe to interrupt: the same command picks up where it stopped. Several processes may run one plan together.

    \b
    Examples:
      shoal run plan.toml --into runs
      shoal run plan.toml --workers 2
    """
    from ..runs.plan import check_plan, read_plan
    from ..runs.scoring import compare_jobs
    from ..runs.store import RunStore
    from ..runs.executors import run_jobs
    from ..show import print_comparisons
    from ..show.progress import progress_bar

    store, wanted = RunStore(into), read_plan(plan)
    jobs = check_plan(wanted)
    todo = {job.id for job in jobs if not store.is_done(job.id)}
    click.echo(f"{len(jobs)} jobs: {len(jobs) - len(todo)} done, {len(todo)} to run", err=as_json)
    failed = 0
    with progress_bar() as progress:
        for job, problem in run_jobs(jobs, store, progress, retry_errors=retry_errors, workers=workers):
            if problem or job.id in todo:
                click.echo(f"  {job.id}  {'failed: ' + problem if problem else 'done'}", err=as_json)
            failed += problem is not None
    found = compare_jobs(wanted, jobs, store)
    if as_json:
        echo_plan(jobs, found, store)
    else:
        print_comparisons(found)
    if failed:
        raise ShoalError(f"{failed} of {len(jobs)} jobs failed", fix=f"shoal run {plan}, once fixed")


@click.command()
@click.argument("plan", type=EXISTING)
@INTO
@click.option(
    "--matrix", is_flag=True, help="Also every functionality's pass rate in every row of Table 3 (Figure 1)."
)
@AS_JSON
def status(plan: Path, into: Path, matrix: bool, as_json: bool) -> None:
    """Show how far PLAN is: done, failed, begun, to do; and what the jobs that are done say together.

    \b
    Examples:
      shoal status plan.toml
      shoal status plan.toml --matrix
    """
    from ..runs.plan import check_plan, read_plan
    from ..runs.scoring import compare_jobs
    from ..runs.store import RunStore
    from ..show import print_comparisons
    from ..show.jobs import print_jobs

    store, wanted = RunStore(into), read_plan(plan)
    jobs = check_plan(wanted)
    found = compare_jobs(wanted, jobs, store)
    if as_json:
        echo_plan(jobs, found, store)
    else:
        print_jobs(jobs, store)
        print_comparisons(found)
        if matrix and "behaviour" in found:
            from ..show.learning import print_matrix

            print_matrix(found["behaviour"])


def echo_plan(jobs: "Sequence[Job]", found: "Mapping[str, Measures]", store: "RunStore") -> None:
    """Print a plan as the public JSON object: what its jobs say together, or, where they say nothing, one by one."""
    from ..runs.scoring import brief_result
    from ..show.jobs import state

    measures = [row for rows in found.values() for row in rows]
    alone = [job for job in jobs if job.protocol not in found and store.is_done(job.id)]
    for job in alone:
        more = {"job": job.id} if len(alone) > 1 else {}
        rows = brief_result(job, store).measures
        measures += [replace(row, groups={**row.groups, **more}) for row in rows]
    echo_object([job.as_json() | {"state": state(job, store)[0]} for job in jobs], measures)


@click.command()
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
    from ..runs.scoring import result_of, stored_job
    from ..runs.store import RunStore
    from ..show import print_result
    from ..show.jobs import as_csv, as_json_lines, print_failing

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


@click.command()
@click.argument("plan", type=EXISTING)
@INTO
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), default="report.html", show_default=True
)
def report(plan: Path, into: Path, out: Path) -> None:
    """Write the results of PLAN that are there as one HTML page, with the numbers as JSON beside it.

    CSV files come with it where the paper has such tables: results, results_fine and pvalues of a plan that trains on
    a suite, cells of a COOD plan, and what checkpoints of a bias plan say each and together.

    \b
    Example:
      shoal report plan.toml --out report.html
    """
    from ..report.html import write_report
    from ..runs.plan import check_plan, read_plan
    from ..runs.scoring import brief_result, compare_jobs, grouped, result_of
    from ..runs.store import RunStore
    from ..show import comparisons_as_html, tables_of

    store, wanted = RunStore(into), read_plan(plan)
    jobs = check_plan(wanted)
    done = [job for job in jobs if store.is_done(job.id)]
    if not done:
        raise ShoalError(f"{into}: no job of {plan} is done", fix=f"shoal run {plan}")
    found = compare_jobs(wanted, jobs, store)
    alone = [job for job in done if job.protocol == "behaviour" and job.protocol not in found]
    write_report([result_of(job, store) for job in alone], out, found, comparisons_as_html(found))
    results = [grouped(brief_result(job, store), wanted) for job in done]
    for name, text in tables_of(found, results).items():
        out.with_name(f"{out.stem}-{name}.csv").write_text(text, encoding="utf-8")
    click.echo(f"{out}: {len(done)} of {len(jobs)} jobs")
