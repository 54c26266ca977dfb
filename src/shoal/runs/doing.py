"""One job, from its cases to its answers: the one path of everything that asks a model.

    build ──► train ──► ask ──► score
    kept      shared    kept    kept
              stages    batch
              kept      by batch

`run` comes here through an executor; `try`, `compare`, `gate`, the pytest plugin and the Python API come with a store
that is thrown away. What is kept already is not done again.
"""

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from ..models import load_model
from ..models.ask import HasAnswered, Questions, ask_batches, batch_plan, distinct, questions_of
from ..models.selfcheck import Check, self_check, still_says
from ..protocols import find_protocol
from ..protocols.base import Built
from ..records import Result
from ..training.stage import Progress, silent
from .plan import Job
from .scoring import score_job
from .store import PartialAnswers, RunStore
from .training import Training, threads, train_model, training_of


def do(
    job: Job, store: RunStore, progress: Progress = silent, shared: frozenset[str] = frozenset()
) -> Result:
    """Build, train, ask and score: whatever of it is not kept yet.

    `shared` names the stages of training that other jobs go through too: their weights are kept.
    """
    if not store.is_done(job.id):
        built = store.built(job, progress)
        store.write_job(job)
        training = training_of(job)
        if training is None:
            _ask(job, store, built, progress)
        else:
            _train_and_ask(job, store, built, training, progress, shared)
    return score_job(job, store, progress)


def model_of(job: Job) -> Any:
    """The model that a job asks as it is."""
    return load_model(job.model) if job.given is None else job.given


def _ask(job: Job, store: RunStore, built: Built, progress: Progress) -> None:
    """Ask a model as it is, after a look at whether its answers can be trusted."""
    model = model_of(job)
    ask, memory = _asker(job, model, built), store.memory
    if memory is not None:
        ask = memory.asker(job, model, built, ask)
    if not store.has_checks(job.id):
        checks = (
            _checks(model, built)
            if memory is None
            else memory.checks(job, built, lambda: _checks(model, built))
        )
        store.write_checks(job.id, checks)
    questions = questions_of(model, built.cases)
    sizes = [len(batch) for batch in batch_plan(model, questions)]
    with store.partial(job.id, sizes) as partial:
        if partial.done:
            _refuse_mixture(model, built, questions, partial, progress)
        kept = sum(sizes[: partial.done])
        for rows in ask_batches(ask, model, questions, partial.done):
            partial.add(rows)
            kept += len(rows)
            progress("asking", kept, len(questions.ids))
        partial.finish()


def _refuse_mixture(
    model: object, built: Built, questions: Questions, partial: PartialAnswers, progress: Progress
) -> None:
    """One result comes from one model: where it answers otherwise than it did, everything is asked again."""
    if built.asks not in ("labels", "spans"):
        return
    if still_says(model, partial.read(), _by_id(questions), built.labels).ok is False:
        progress("the model has changed: asking from the start", 0, len(questions.ids))
        partial.begin_again()


def _train_and_ask(
    job: Job,
    store: RunStore,
    built: Built,
    training: Training,
    progress: Progress,
    shared: frozenset[str],
) -> None:
    """Train, and ask at every mark. After an interruption the training is repeated, what was asked is not."""
    with threads(training.recipe.threads):
        model = training.recipe.base(training.seed)
        questions = questions_of(model, built.cases)
        sizes = [len(batch) for batch in batch_plan(model, questions)]
        with store.partial(job.id, sizes * len(training.marks)) as partial:

            def ask_now(mark: str) -> None:
                done = max(0, partial.done - training.marks.index(mark) * len(sizes))
                kept = sum(sizes[:done])
                for rows in ask_batches(_asker(job, model, built), model, questions, done):
                    partial.add([replace(row, mark=mark) for row in rows])
                    kept += len(rows)
                    progress("asking", kept, len(questions.ids))

            if partial.done < len(sizes) * len(training.marks):
                notes = train_model(training, store, shared, model, questions.examples, progress, ask_now)
                if notes:
                    store.write_checks(job.id, [asdict(Check("training", False, note)) for note in notes])
                if training.marks == ("",):
                    ask_now("")
            partial.finish()


def _asker(job: Job, model: Any, built: Built) -> Callable[..., Any]:
    module = find_protocol(job.protocol)
    return lambda examples: module.ask(job.settings, model, built, examples)


def _checks(model: object, built: Built) -> list[dict[str, Any]]:
    """Whether a model's answers can be trusted, as far as a few questions tell."""
    if isinstance(model, HasAnswered) or built.asks not in ("labels", "spans"):
        return []
    return [asdict(check) for check in self_check(model, built.cases, built.labels)]


def ask_again(
    job: Job, store: RunStore, progress: Progress = silent, shared: frozenset[str] = frozenset()
) -> None:
    """Ask what the model failed to answer, and only that; a model that was trained for it is trained again."""
    rows = store.read_answers(job.id)
    failed = [position for position, row in enumerate(rows) if row.error]
    if failed and "training" in job.identity:
        store.forget_answers(job.id)
        do(job, store, progress, shared)
        return
    model = model_of(job)
    if not failed or isinstance(model, HasAnswered):
        return
    built = store.built(job, progress)
    examples = _by_id(distinct(built.cases))
    ask = _asker(job, model, built)
    for count, position in enumerate(failed, start=1):
        example_id = rows[position].example_id
        (row,) = ask([examples[example_id]])
        rows[position] = replace(row, example_id=example_id)
        progress("asking again", count, len(failed))
    store.replace_answers(job.id, rows)


def _by_id(questions: Questions) -> dict[str, Any]:
    return dict(zip(questions.ids, questions.examples, strict=True))
