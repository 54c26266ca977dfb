"""One job, from its cases to its answers: the one path of everything that asks a model.

    build ──► train ──► ask ──► score
    kept      shared    kept    kept
              stages    batch
              kept      by batch

`run` comes here through an executor; `try`, `compare`, `gate`, the pytest plugin and the Python API come with a store
that is thrown away. What is kept already is not done again.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any, Protocol

from ..core.records import Answer, Result
from ..models import load_model
from ..models.answer_rows import AnswerRows
from ..models.asking import ask_batches
from ..models.batching import Questions, batch_plan, distinct, make_questions
from ..models.interface import RemoteModel, StoredAnswers
from ..models.selfcheck import Check, answers_match, self_check
from ..protocols import find_protocol
from ..protocols.base import Built
from ..training.stage import IN_NUMBERS, Fact, Progress, silent
from .plan import Job
from .remote import ask_remote, is_retryable
from .scoring import score_job
from .store import PartialAnswers, RunStore, ThrownAway
from .training import Training, forget_midway, threads, train_model, training_of


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
    else:
        store.mend_job(job)
    return score_job(job, store, progress)


class Spread(Protocol):
    """Asks batches of one job in several places at once, and gives their answers in order."""

    def __call__(
        self, job: Job, here: Iterator[Sequence[Answer]], plan: Sequence[Sequence[int]]
    ) -> Iterator[Sequence[Answer]]:
        """The answers to the batches of `plan`; `here` would ask them one after the other, where they are too few."""
        ...


class Copy:
    """Another copy of the model of a job that is too large for one: it asks blocks of the batch plan."""

    def __init__(self, job: Job, store: RunStore) -> None:
        self.model, built = model_of(job, store), store.built(job, silent)
        self._ask, self._labels = _asker(job, self.model, built), built.asks == "labels"
        self._questions = make_questions(self.model, built.cases)

    def ask(self, block: Sequence[Sequence[int]]) -> list[Sequence[Answer]]:
        """The answers to some batches."""
        return list(ask_batches(self._ask, self.model, self._questions, block, labels=self._labels))


def model_of(job: Job, store: RunStore) -> Any:
    """The model that a job asks as it is; what it converts for an engine is kept with the store."""
    model = load_model(job.model) if job.given is None else job.given
    if hasattr(model, "engines") and not isinstance(store, ThrownAway):
        model.engines = store.folder / "engines"
    return model


def _ask(job: Job, store: RunStore, built: Built, progress: Progress) -> None:
    """Ask a model as it is, after a look at whether its answers can be trusted."""
    model = model_of(job, store)
    if isinstance(model, RemoteModel):
        store.keep_spending(job.id, model.spending)
    ask, memory = _asker(job, model, built), store.memory
    if memory is not None and not isinstance(model, RemoteModel):
        ask = memory.asker(job, model, built, ask)
    if not store.has_checks(job.id):
        checks = (
            _checks(model, built)
            if memory is None
            else memory.checks(job, built, lambda: _checks(model, built))
        )
        store.write_checks(job.id, checks)
    questions = make_questions(model, built.cases)
    if isinstance(model, RemoteModel):
        known = None if memory is None else memory.known(job, built)
        return ask_remote(job, store, model, _asker_of_any(job, built), questions, progress, known)
    plan = batch_plan(model, questions)
    sizes = [len(batch) for batch in plan]
    with store.partial(job.id, sizes) as partial:
        if partial.done:
            _refuse_mixture(model, built, questions, partial, progress)
        kept = sum(sizes[: partial.done])
        left = plan[partial.done :]
        answers = ask_batches(ask, model, questions, left, labels=built.asks == "labels")
        if store.spread is not None and memory is None:
            answers = store.spread(job, answers, left)
        for rows in answers:
            partial.add(rows)
            kept += len(rows)
            progress("asking", kept, len(questions.ids))
        partial.finish()
    if left and isinstance(rows, AnswerRows):
        store.at_hand(job.id, rows)


def _refuse_mixture(
    model: object, built: Built, questions: Questions, partial: PartialAnswers, progress: Progress
) -> None:
    """One result comes from one model: where it answers otherwise than it did, everything is asked again."""
    if built.asks not in ("labels", "spans"):
        return
    if answers_match(model, partial.read(), _by_id(questions), built.labels).ok is False:
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
    """Train, and ask at every mark. What was asked before an interruption is not asked again.

    A training that was interrupted goes on from where it was kept last, or begins again if it was not.
    """
    with threads(training.recipe.threads):
        model = training.recipe.base(training.seed)
        questions = make_questions(model, built.cases)
        plan = batch_plan(model, questions)
        sizes = [len(batch) for batch in plan]
        with store.partial(job.id, sizes * len(training.marks)) as partial:

            def ask_now(mark: str) -> None:
                done = max(0, partial.done - training.marks.index(mark) * len(sizes))
                kept = sum(sizes[:done])
                for rows in ask_batches(_asker(job, model, built), model, questions, plan[done:]):
                    partial.add([replace(row, mark=mark) for row in rows])
                    kept += len(rows)
                    progress("asking", kept, len(questions.ids))

            if partial.done < len(sizes) * len(training.marks):
                whole = frozenset(training.marks[: partial.done // len(sizes)])
                notes = train_model(
                    training, store, shared, model, questions.examples, progress, ask_now, whole
                )
                if notes:
                    store.write_checks(job.id, [asdict(noted(note)) for note in notes])
                if training.marks == ("",):
                    ask_now("")
            forget_midway(store, training.names)
            partial.finish()


def noted(note: str) -> Check:
    """What a training noted: where it failed, or what it was like."""
    is_fact = isinstance(note, Fact)
    return Check(IN_NUMBERS, None, str(note)) if is_fact else Check("training", False, note)


def _asker(job: Job, model: Any, built: Built) -> Callable[..., Any]:
    ask = _asker_of_any(job, built)
    return lambda examples: ask(model, examples)


def _asker_of_any(job: Job, built: Built) -> Callable[..., Any]:
    """Return a function that asks any model, its first argument, for the job's answers to some examples."""
    module = find_protocol(job.protocol)
    return lambda model, examples: module.ask(job.settings, model, built, examples)


def _checks(model: object, built: Built) -> list[dict[str, Any]]:
    """Whether a model's answers can be trusted, as far as a few questions tell."""
    if isinstance(model, StoredAnswers) or built.asks not in ("labels", "spans"):
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
    model = model_of(job, store)
    if not failed or isinstance(model, StoredAnswers):
        return
    if isinstance(model, RemoteModel):
        if any(map(is_retryable, rows)):
            store.reopen(job.id, [row for row in rows if not is_retryable(row)])
            do(job, store, progress, shared)
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
