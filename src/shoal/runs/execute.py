"""Execute one job: the only path by which a model is queried.

    build ──► train ──► query ──► score
    stored    shared    stored    stored
              stages    batch
              stored    by batch

`run` gets here through an executor. `try`, `compare`, `gate`, the pytest plugin and the Python API use a store in
memory. Steps whose result is stored are skipped.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, replace

from ..core.records import Answer, Result
from ..models.answer_rows import AnswerRows
from ..models.interface import RemoteModel, StoredAnswers
from ..models.selfcheck import Check
from ..protocols.base import Built
from ..training.stage import Progress, silent
from .answer_sources import BatchDistributor, DirectAnswers, find_source, is_retryable
from .plan import Job
from .scoring import load_for, score_job
from .store import RunStore
from .training import Training, remove_midway, threads, train_model, training_of

BETWEEN_REPORTS = 0.1
"""Seconds between two progress reports."""


def execute(
    job: Job,
    store: RunStore,
    progress: Progress = silent,
    *,
    shared: frozenset[str] = frozenset(),
    distribute: BatchDistributor | None = None,
) -> Result:
    """Build, train, query and score a job, as far as the store does not have the result.

    `shared` names the stages of training that other jobs have in common; their weights are stored.
    """
    if store.is_done(job.id):
        store.repair_job(job)
    else:
        built = store.built(job, progress)
        store.write_job(job)
        training = training_of(job)
        if training is None:
            _query(job, store, built, progress, distribute)
        else:
            _train_and_query(job, store, built, training, progress, shared)
    return score_job(job, store, progress)


def _query(
    job: Job, store: RunStore, built: Built, progress: Progress, distribute: BatchDistributor | None
) -> None:
    model = load_for(job)
    if isinstance(model, RemoteModel):
        store.keep_spending(job.id, model.spending)
    source = find_source(job, model, built, distribute)
    if not store.has_checks(job.id):
        store.write_checks(job.id, source.self_check())
    rows: Sequence[Answer] = ()
    with store.partial(job.id, source.sizes) as stored:
        missing = source.missing(stored, progress)
        done, reported = sum(not row.mark for row in stored.read() if not is_retryable(row)), 0.0
        for rows in missing:
            stored.add(rows)
            done += len(rows) if isinstance(rows, AnswerRows) else sum(not row.mark for row in rows)
            if done == source.total or time.monotonic() - reported > BETWEEN_REPORTS:
                progress("asking", done, source.total)
                reported = time.monotonic()
        for check in source.conclude(stored):
            store.add_check(job.id, asdict(check))
        stored.finish()
    if isinstance(rows, AnswerRows):  # stored predictions: all answers in one block, as columns
        store.remember(job.id, rows)


def _train_and_query(
    job: Job,
    store: RunStore,
    built: Built,
    training: Training,
    progress: Progress,
    shared: frozenset[str],
) -> None:
    """Train, and query the model at every mark; an interrupted training resumes from its last checkpoint."""
    with threads(training.recipe.threads):
        model = training.recipe.base(training.seed)
        source = DirectAnswers(job, model, built)
        sizes = source.sizes
        with store.partial(job.id, sizes * len(training.marks)) as stored:

            def query(mark: str) -> None:
                before = max(0, stored.done - training.marks.index(mark) * len(sizes))
                done = sum(sizes[:before])
                for rows in source.answer(source.batches[before:], in_parallel=False):
                    stored.add([replace(row, mark=mark) for row in rows])
                    done += len(rows)
                    progress("asking", done, source.total)

            if stored.done < len(sizes) * len(training.marks):
                complete = frozenset(training.marks[: stored.done // len(sizes)])
                examples = source.questions.examples
                notes = train_model(training, store, shared, model, examples, progress, query, complete)
                if notes:
                    store.write_checks(job.id, [asdict(Check("training", False, note)) for note in notes])
                if training.marks == ("",):
                    query("")
            remove_midway(store, training.names)
            stored.finish()


def retry_errors(
    job: Job, store: RunStore, progress: Progress = silent, *, shared: frozenset[str] = frozenset()
) -> None:
    """Query the model again where its answer is an error; a model that the job trains is trained again."""
    rows = list(store.answers(job.id))
    failed = [position for position, row in enumerate(rows) if row.error]
    if failed and "training" in job.identity:
        store.remove_answers(job.id)
        execute(job, store, progress, shared=shared)
        return
    model = load_for(job)
    if not failed or isinstance(model, StoredAnswers):
        return
    if isinstance(model, RemoteModel):
        if any(map(is_retryable, rows)):
            store.reopen(job.id, [row for row in rows if not is_retryable(row)])
            execute(job, store, progress, shared=shared)
        return
    source = DirectAnswers(job, model, store.built(job, progress))
    for count, position in enumerate(failed, start=1):
        rows[position] = source.answer_one(rows[position].example_id)
        progress("asking again", count, len(failed))
    store.replace_answers(job.id, rows)
