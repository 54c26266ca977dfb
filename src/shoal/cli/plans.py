"""`run`, `status`, `show` and `report`: plans and what came of them."""

from pathlib import Path

import click

from ..errors import ShoalError
from .options import EXISTING, INTO, echo_json


@click.command()
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
    from ..runs.here import run_here
    from ..runs.plan import check_plan, read_plan
    from ..runs.store import RunStore
    from ..show.progress import progress_bar

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


@click.command()
@click.argument("plan", type=EXISTING)
@INTO
def status(plan: Path, into: Path) -> None:
    """Show how far PLAN is: done, failed, begun, to do.

    \b
    Example:
      shoal status plan.toml
    """
    from ..runs.plan import check_plan, read_plan
    from ..runs.store import RunStore
    from ..show.jobs import print_jobs

    print_jobs(check_plan(read_plan(plan)), RunStore(into))


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
    from ..runs.here import result_of, stored_job
    from ..runs.store import RunStore
    from ..show.behaviour import print_result
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

    \b
    Example:
      shoal report plan.toml --out report.html
    """
    from ..report.html import write_report
    from ..runs.here import result_of
    from ..runs.plan import check_plan, read_plan
    from ..runs.store import RunStore

    store = RunStore(into)
    jobs = check_plan(read_plan(plan))
    done = [job for job in jobs if store.is_done(job.id)]
    if not done:
        raise ShoalError(f"{into}: no job of {plan} is done", fix=f"shoal run {plan}")
    write_report([result_of(job, store) for job in done], out)
    click.echo(f"{out}: {len(done)} of {len(jobs)} jobs")
