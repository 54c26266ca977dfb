"""Answer sources: where the answers of a job come from.

    DirectAnswers        a model in this process, batch by batch
    DistributedAnswers   the same batches, answered by copies of the model on several workers
    RemoteAnswers        an endpoint, several requests in flight, in the order of arrival

`execute` stores each block of answers before it takes the next. A crash therefore costs a batch, or the requests that
were in flight.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from itertools import repeat
from typing import Any

from ..core.records import Answer, Example
from ..models.answer_rows import NO_ANSWER
from ..models.asking import ask_batches
from ..models.batching import batch_plan, make_questions
from ..models.interface import RemoteModel, StoredAnswers
from ..models.selfcheck import Check, answers_match, self_check
from ..protocols import find_protocol
from ..protocols.base import CLASSIFIES, Built
from ..stats.intervals import wilson
from ..training.stage import Progress
from .plan import Job
from .store_files import PartialAnswers

Batches = Sequence[Sequence[int]]
SECOND = "again"
"""The mark of a second answer to the same example; it is compared with the first and then dropped."""

Ask = Callable[[Batches], Iterator[Sequence[Answer]]]
BatchDistributor = Callable[[Ask, Batches], Iterator[Sequence[Answer]]]
"""Yields the answers to batches in order, from several workers; its first argument answers a few batches here."""


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
    """Answers from a model in this process, in the order of the batch plan."""

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
        is_checked = self.built.asks in CLASSIFIES
        if stored.done and is_checked and not self._agrees(stored.read()):
            progress("the model has changed: starting again", 0, self.total)
            stored.restart()
        return self._answer_all(self.batches[stored.done :])

    def _answer_all(self, batches: Batches) -> Iterator[Sequence[Answer]]:
        return self.answer(batches)

    def conclude(self, stored: PartialAnswers) -> list[Check]:
        """Return no checks: the answers are in order."""
        return []

    def _agrees(self, rows: Sequence[Answer]) -> bool:
        return answers_match(self.model, rows, self._examples, self.built.labels).ok is not False


class DistributedAnswers(DirectAnswers):
    """Answers to the same batches from copies of the model on several workers."""

    def __init__(self, job: Job, model: Any, built: Built, distribute: BatchDistributor) -> None:
        super().__init__(job, model, built)
        self._distribute = distribute

    def _answer_all(self, batches: Batches) -> Iterator[Sequence[Answer]]:
        return self._distribute(self.answer, batches)


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
        pending = self._pending()
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
        """Put the first answers into the order of the questions; return whether the second ones agree."""
        rows = list(self._stored.values())
        stored.arrange(_first_label_map([self._stored[identity, ""] for identity in self.questions.ids]))
        return [repeatability(rows), *_server_checks(self.model, rows)]

    def _pending(self) -> list[tuple[int, str]]:
        """Return the questions without an answer, and some a second time, half a list behind the first."""
        ids, total, twice = self.questions.ids, self.total, min(self.model.again, self.total)
        chosen = [number * total // twice for number in range(twice)]
        places = [(float(number), number, "") for number in range(total)]
        places += [((number + total // 2) % total + 0.5, number, SECOND) for number in chosen]
        return [
            (number, mark) for _, number, mark in sorted(places) if (ids[number], mark) not in self._stored
        ]


AnswerSource = DirectAnswers | DistributedAnswers | RemoteAnswers
"""`missing` yields the answers that are not stored yet, in blocks of `sizes`; `conclude` brings them into order."""


def find_source(
    job: Job, model: Any, built: Built, distribute: BatchDistributor | None = None
) -> AnswerSource:
    """Return the answer source for a model."""
    if isinstance(model, RemoteModel):
        return RemoteAnswers(job, model, built)
    if distribute is not None:
        return DistributedAnswers(job, model, built, distribute)
    return DirectAnswers(job, model, built)


# Remote answers


def is_retryable(row: Answer) -> bool:
    """Return whether all attempts failed; a response that holds no answer is final."""
    return bool(row.error) and not (isinstance(row.data, dict) and NO_ANSWER in row.data)


def _first_label_map(rows: Sequence[Answer]) -> list[Answer]:
    """Keep the map of label names on the first answer only, as batches do."""
    first = next((row.example_id for row in rows if not row.error), "")
    return [
        row
        if row.error or row.example_id == first or not isinstance(row.data, dict)
        else replace(row, data={name: value for name, value in row.data.items() if name != "taken"})
        for row in rows
    ]


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


def _server_checks(model: RemoteModel, rows: Sequence[Answer]) -> list[Check]:
    """Return the model names that the server returned, and how many of its token counts were invalid."""
    names = {row.data["model"]: None for row in rows if isinstance(row.data, dict) and "model" in row.data}
    checks = [Check("model name returned", None, ", ".join(names))] if names else []
    estimated, requests = model.spending.estimated, model.spending.requests
    if estimated:
        detail = f"missing or invalid in {estimated:,} of {requests:,} responses; shoal estimated them"
        checks.append(Check("token counts of the server", None, detail))
    return checks
