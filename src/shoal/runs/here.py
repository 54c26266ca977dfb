"""Running the jobs of a plan on this machine; several processes may share a store."""

import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..errors import ShoalError
from ..files import sweep
from ..models import load_model
from ..models.ask import HasAnswered, batch_plan, distinct, questions_of
from ..protocols import find_protocol
from ..training.stage import Progress
from .auditing import ask_batches, checks_before, silent
from .plan import Job
from .scoring import built_cases, score_job
from .store import PartialAnswers, RunStore
from .training import Training, is_being_trained, shared_stages, threads, train_model, training_of


def run_here(
    jobs: Sequence[Job],
    store: RunStore,
    progress: Progress = silent,
    *,
    retry_errors: bool = False,
    shared: frozenset[str] | None = None,
) -> Iterator[tuple[Job, str | None]]:
    """Do every job that is not done, and say how each went: None, or what it failed with.

    A job that another process is at, or that waits for a stage another process trains, is looked at again later.
    `shared` names the stages worth keeping; by default those that several of these jobs go through.
    """
    kept = shared_stages(jobs) if shared is None else shared
    waiting = list(jobs)
    started = time.time()
    while waiting:
        busy = []
        for job in waiting:
            with store.lock(job.id, wait=False) as mine:
                if not mine or (not store.is_done(job.id) and is_being_trained(job, store, kept)):
                    busy.append(job)
                    continue
                if not store.is_done(job.id) and _failed_elsewhere(store, job, started):
                    yield job, store.error(job.id).strip().splitlines()[-1]
                    continue
                problem = _try(job, store, progress, retry_errors, kept)
            yield job, problem
        if len(busy) == len(waiting):
            time.sleep(0.2)
        waiting = busy


def _failed_elsewhere(store: RunStore, job: Job, since: float) -> bool:
    """Whether another process tried this job while we waited, and failed."""
    path = store.job_folder(job.id) / "error.txt"
    return path.exists() and path.stat().st_mtime > since


def _try(
    job: Job, store: RunStore, progress: Progress, retry_errors: bool, shared: frozenset[str]
) -> str | None:
    try:
        sweep(store.job_folder(job.id))
        if retry_errors and store.is_done(job.id):
            retry(job, store, progress, shared)
        if not store.is_done(job.id):
            run_job(job, store, progress, shared)
        score_job(job, store)
    except ShoalError as problem:
        store.write_error(job.id, f"{problem}\n")
        return str(problem)
    except Exception as problem:
        store.write_error(job.id, traceback.format_exc())
        return f"{type(problem).__name__}: {problem} (see error.txt)"
    (store.job_folder(job.id) / "error.txt").unlink(missing_ok=True)
    return None


def run_job(
    job: Job, store: RunStore, progress: Progress = silent, shared: frozenset[str] = frozenset()
) -> None:
    """Build the cases unless they are there, train if the job says so, ask, and keep the answers batch by batch."""
    module, built = find_protocol(job.protocol), built_cases(job, store)
    store.write_job(job)
    training = training_of(job)
    if training is not None:
        _train_and_ask(job, store, training, progress, shared)
        return
    model = load_model(job.model)
    if isinstance(model, HasAnswered):
        built = module.build(job.settings)  # with the whole that the cases were chosen from
    if not (store.job_folder(job.id) / "checks.json").exists():
        store.write_checks(job.id, checks_before(module, model, built))
    questions = questions_of(model, built.cases)
    sizes = [len(batch) for batch in batch_plan(model, questions)]
    with PartialAnswers(store.job_folder(job.id), sizes) as partial:
        for batch in ask_batches(module, job.settings, model, built, questions, partial.done, progress):
            partial.add(batch)
        partial.finish()


def _train_and_ask(
    job: Job, store: RunStore, training: Training, progress: Progress, shared: frozenset[str]
) -> None:
    """Train, and ask at every mark. After an interruption the training is repeated, what was asked is not."""
    module, built = find_protocol(job.protocol), built_cases(job, store)
    with threads(training.recipe.threads):
        model = training.recipe.base(training.seed)
        questions = questions_of(model, built.cases)
        sizes = [len(batch) for batch in batch_plan(model, questions)]
        with PartialAnswers(store.job_folder(job.id), sizes * len(training.marks)) as partial:

            def ask_now(mark: str) -> None:
                done = max(0, partial.done - training.marks.index(mark) * len(sizes))
                for batch in ask_batches(module, job.settings, model, built, questions, done, progress):
                    partial.add([replace(row, mark=mark) for row in batch])

            if partial.done < len(sizes) * len(training.marks):
                train_model(training, store, shared, model, questions.examples, progress, ask_now)
                if training.marks == ("",):
                    ask_now("")
            partial.finish()


def retry(
    job: Job, store: RunStore, progress: Progress = silent, shared: frozenset[str] = frozenset()
) -> None:
    """Ask again what the model failed to answer, and only that; a model that was trained for it is trained again."""
    rows = store.read_answers(job.id)
    failed = [at for at, row in enumerate(rows) if row.error]
    if failed and "training" in job.identity:
        store.forget_answers(job.id)
        run_job(job, store, progress, shared)
        return
    model = load_model(job.model)
    if not failed or isinstance(model, HasAnswered):
        return
    module, built = find_protocol(job.protocol), built_cases(job, store)
    questions = distinct(built.cases)
    example = dict(zip(questions.ids, questions.examples, strict=True))
    for count, at in enumerate(failed, start=1):
        identity = rows[at].example_id
        (rows[at],) = module.ask(job.settings, model, built, [example[identity]], [identity])
        progress("asking again", count, len(failed))
    store.replace_answers(job.id, rows)
