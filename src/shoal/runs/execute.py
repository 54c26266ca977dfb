"""Execute one job: the only path by which a model is queried.

    build ──► train ──► query ──► score
    stored    shared    stored    stored
              stages    batch
              stored    by batch

`run` gets here through an executor. `try`, `compare`, `gate`, the pytest plugin and the Python API use a store in
memory. Steps whose result is stored are skipped. Each block of answers is stored before the next is taken, so that a
crash costs a batch, or the requests that were in flight.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from itertools import repeat
from typing import Any

from ..core.records import Answer, Example, Result
from ..models.answer_rows import NO_ANSWER, AnswerRows
from ..models.asking import ask_batches
from ..models.batching import batch_plan, make_questions
from ..models.interface import RemoteModel, StoredAnswers
from ..models.selfcheck import Check, answers_match, self_check
from ..protocols import find_protocol
from ..protocols.base import CLASSIFIES, Built
from ..stats.intervals import wilson
from ..training.stage import Progress, silent
from .plan import Job
from .scoring import brief_result, load_for
from .store import RunStore
from .store_files import PartialAnswers
from .training import Trainer, Training, remove_midway, threads, training_of

BETWEEN_REPORTS = 0.1
"""Seconds between two progress reports."""
Batches = Sequence[Sequence[int]]
SECOND = "again"
"""The mark of a second answer to the same example; it is compared with the first and then dropped."""

Ask = Callable[[Batches], Iterator[Sequence[Answer]]]
BatchDistributor = Callable[[Ask, Batches], Iterator[Sequence[Answer]]]
"""Yields the answers to batches in order, from several workers; its first argument answers a few batches here."""


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
    return brief_result(job, store, progress, keep=True)


def _query(
    job: Job, store: RunStore, built: Built, progress: Progress, distribute: BatchDistributor | None
) -> None:
    model = load_for(job)
    source: DirectAnswers | RemoteAnswers
    if isinstance(model, RemoteModel):
        store.keep_spending(job.id, model.spending)
        source = RemoteAnswers(job, model, built)
    else:
        source = DirectAnswers(job, model, built, distribute)
    if not store.has_checks(job.id):
        store.write_checks(job.id, source.self_check())
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
                trainer = Trainer(training, store, shared, model, progress, source.questions.examples)
                notes = trainer.train(len(training.recipe.stages) - 1, query, complete)
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
        (store.job_folder(job.id) / "answers.jsonl").unlink(missing_ok=True)
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


# Where answers come from


class _Source:
    def __init__(self, job: Job, model: Any, built: Built) -> None:
        self.model, self.built = model, built
        self.questions = make_questions(model, built.cases)
        self.total = len(self.questions.ids)
        self._job = job

    def self_check(self) -> list[dict[str, Any]]:
        """Return the self-checks of the model; none for stored predictions, which cannot be queried."""
        if isinstance(self.model, StoredAnswers) or self.built.asks not in CLASSIFIES:
            return []
        return [asdict(row) for row in self_check(self.model, self.built.cases, self.built.labels)]

    def _ask(self, examples: Sequence[Example], model: Any = None) -> Sequence[Answer]:
        ask = find_protocol(self._job.protocol).ask
        return ask(self._job.settings, self.model if model is None else model, self.built, examples)


class DirectAnswers(_Source):
    """Answers from a model in this process, or from copies of it on several workers, in the order of the batch plan."""

    def __init__(
        self, job: Job, model: Any, built: Built, distribute: BatchDistributor | None = None
    ) -> None:
        super().__init__(job, model, built)
        self._distribute = distribute

    @cached_property
    def batches(self) -> Batches:
        return batch_plan(self.model, self.questions)

    @cached_property
    def _examples(self) -> dict[str, Example]:
        return dict(zip(self.questions.ids, self.questions.examples, strict=True))

    @property
    def sizes(self) -> list[int]:
        return [len(batch) for batch in self.batches]

    def answer(self, batches: Batches, *, in_parallel: bool = True) -> Iterator[Sequence[Answer]]:
        """Yield the answers to these batches; `in_parallel` lets models that can answer several at a time."""
        labels = in_parallel and self.built.asks in ("labels", "options")
        return ask_batches(self._ask, self.model, self.questions, batches, labels=labels)

    def answer_one(self, identity: str) -> Answer:
        (row,) = self._ask([self._examples[identity]])
        return replace(row, example_id=identity)

    def missing(self, stored: PartialAnswers, progress: Progress) -> Iterator[Sequence[Answer]]:
        """Yield the answers to the batches that are not stored yet.

        A result comes from one model: if the model now answers otherwise, all batches are answered again.
        """
        is_checked = stored.done and self.built.asks in CLASSIFIES
        if (
            is_checked
            and answers_match(self.model, stored.read(), self._examples, self.built.labels).ok is False
        ):
            progress("the model has changed: starting again", 0, self.total)
            stored.restart()
        batches = self.batches[stored.done :]
        return self._distribute(self.answer, batches) if self._distribute else self.answer(batches)

    def conclude(self, stored: PartialAnswers) -> list[Check]:
        """Return no checks: the answers are in order."""
        return []


class RemoteAnswers(_Source):
    """Answers from an endpoint, in the order of arrival; failed requests are repeated on resume."""

    sizes = repeat(1)

    def __init__(self, job: Job, model: RemoteModel, built: Built) -> None:
        super().__init__(job, model, built)
        self._stored: dict[tuple[str, str], Answer] = {}

    def missing(self, stored: PartialAnswers, progress: Progress) -> Iterator[Sequence[Answer]]:
        """Yield answers as they arrive; some questions are sent twice."""
        ids, examples = self.questions.ids, self.questions.examples
        self._stored = {(row.example_id, row.mark): row for row in stored.read() if not is_retryable(row)}
        contents = [row.data for row in self._stored.values() if isinstance(row.data, dict)]
        if modes := {data["mode"] for data in contents if "mode" in data}:
            self.model.resume(modes.pop())  # keep the prompting mode of the stored answers
        total, twice = self.total, min(self.model.again, self.total)
        questions = [(number, "") for number in range(total)]
        questions += [(number * total // twice, SECOND) for number in range(twice)]
        pending = [(number, mark) for number, mark in questions if (ids[number], mark) not in self._stored]
        self._ask([])  # raises before the first request if the model cannot answer this job
        for arrived in self.model.stream([examples[number] for number, _ in pending]):
            rows = []
            for position, replied in arrived:
                number, mark = pending[position]
                (row,) = self._ask([examples[number]], replied)
                rows.append(replace(row, example_id=ids[number], mark=mark))
            self._stored.update({(row.example_id, row.mark): row for row in rows})
            yield rows

    def conclude(self, stored: PartialAnswers) -> list[Check]:
        """Put the first answers into the order of the questions, the map of label names on the first of them only.

        Return whether the second ones agree, which models the server named, and how many token counts were invalid.
        """
        rows, spending = list(self._stored.values()), self.model.spending
        answers = [self._stored[identity, ""] for identity in self.questions.ids]
        first = next((row for row in answers if not row.error), None)
        for number, row in enumerate(answers):
            if row is not first and not row.error and isinstance(row.data, dict):  # as in batches
                data = {name: value for name, value in row.data.items() if name != "taken"}
                answers[number] = replace(row, data=data)
        stored.arrange(answers)
        checks = [repeatability(rows)]
        contents = [row.data for row in rows if isinstance(row.data, dict)]
        names = dict.fromkeys(data["model"] for data in contents if "model" in data)
        if names:
            checks.append(Check("model name returned", None, ", ".join(names)))
        if spending.estimated:
            counts = f"{spending.estimated:,} of {spending.requests:,}"
            detail = f"missing or invalid in {counts} responses; shoal estimated them"
            checks.append(Check("token counts of the server", None, detail))
        return checks


def is_retryable(row: Answer) -> bool:
    """Return whether all attempts failed; a response that holds no answer is final."""
    return bool(row.error) and not (isinstance(row.data, dict) and NO_ANSWER in row.data)


def repeatability(rows: Sequence[Answer]) -> Check:
    """Return how many examples got another answer the second time."""
    title = "same answer when asked again"
    first = {row.example_id: row for row in rows if not row.mark}
    pairs = [(first[row.example_id], row) for row in rows if row.mark == SECOND and row.example_id in first]
    answered = [(row, other) for row, other in pairs if not (row.error and other.error)]
    if not answered:
        return Check(title, None, "not tested: no question was sent twice")
    flips, n = sum(_content(row) != _content(other) for row, other in answered), len(answered)
    low, high = wilson(flips, n)
    return Check(title, flips == 0, f"{flips} of {n} changed ({low:.1%} to {high:.1%})")


def _content(row: Answer) -> Any:
    if row.error:
        return None
    return row.data.get("label", row.data.get("text")) if isinstance(row.data, dict) else row.data
