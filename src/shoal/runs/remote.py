"""Ask a model over a network: several requests in flight, each answer stored on arrival.

    examples ──► in flight ──► answers.partial.jsonl ──► answers.jsonl
    some twice   at most       in order of arrival       in order of examples
                 `concurrency`

A request starts only when the answer that its slot waited for is on disk: a crash costs no more than the requests in
flight. A job that resumes asks again for what failed.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from itertools import repeat
from typing import Any

from ..core.records import Answer, Example
from ..models.answer_rows import NO_ANSWER
from ..models.batching import Questions
from ..models.interface import RemoteModel
from ..models.selfcheck import Check
from ..stats.intervals import wilson
from ..training.stage import Progress
from .plan import Job
from .store import RunStore

AskModel = Callable[[Any, Sequence[Example]], Sequence[Answer]]
"""Asks a model, the first argument."""

TWICE = "again"
"""The mark of a second answer to the same example; it is compared, and not stored in the end."""
BETWEEN_REPORTS = 0.1
"""Seconds between two reports of progress."""


def ask_remote(
    job: Job,
    store: RunStore,
    model: RemoteModel,
    ask: AskModel,
    questions: Questions,
    progress: Progress,
    known: dict[Example, Answer] | None = None,
) -> None:
    """Ask for all answers that are not stored, and put the answers in order.

    `known` has answers of this process to examples that need no request; new ones are added to it.
    """
    known = {} if known is None else known
    total = len(questions.ids)
    with store.partial(job.id, repeat(1)) as partial:
        kept = {(row.example_id, row.mark): row for row in partial.read() if not is_retryable(row)}
        modes = {
            row.data["mode"] for row in kept.values() if isinstance(row.data, dict) and "mode" in row.data
        }
        if modes:
            model.resume(modes.pop())

        def keep(rows: Sequence[Answer]) -> None:
            partial.add(rows)
            kept.update({(row.example_id, row.mark): row for row in rows})

        to_ask = [
            (number, mark)
            for number, mark in _order(total, min(model.again, total))
            if (questions.ids[number], mark) not in kept
        ]
        old = [number for number, mark in to_ask if not mark and questions.examples[number] in known]
        keep([replace(known[questions.examples[number]], example_id=questions.ids[number]) for number in old])
        to_ask = [(number, mark) for number, mark in to_ask if (questions.ids[number], mark) not in kept]
        ask(model, [])  # a model that cannot answer such questions raises before any request
        done, reported = sum(not mark for _, mark in kept), 0.0
        for arrived in model.stream([questions.examples[number] for number, _ in to_ask]):
            rows = []
            for position, replied in arrived:
                number, mark = to_ask[position]
                (row,) = ask(replied, [questions.examples[number]])
                rows.append(replace(row, example_id=questions.ids[number], mark=mark))
                if not mark and not row.error:
                    known[questions.examples[number]] = row
            keep(rows)
            done += sum(not row.mark for row in rows)
            if done == total or time.monotonic() - reported > BETWEEN_REPORTS:
                progress("asking", done, total)
                reported = time.monotonic()
        partial.arrange(_taken_once([kept[identity, ""] for identity in questions.ids]))
        for check in (same_again(list(kept.values())), *_from_the_server(model, list(kept.values()))):
            store.add_check(job.id, asdict(check))
        partial.finish()


def _from_the_server(model: RemoteModel, rows: Sequence[Answer]) -> list[Check]:
    """Return the model names that the server returned, and how often its token counts were no use."""
    names = {row.data["model"]: None for row in rows if isinstance(row.data, dict) and "model" in row.data}
    checks = [Check("model name returned", None, ", ".join(names))] if names else []
    estimated, requests = model.spending.estimated, model.spending.requests
    if estimated:
        detail = f"missing or invalid in {estimated:,} of {requests:,} responses; shoal estimated them"
        checks.append(Check("token counts of the server", None, detail))
    return checks


def _taken_once(rows: Sequence[Answer]) -> list[Answer]:
    """Keep the label names that were matched on the first answer only, as batches do."""
    first = next((row.example_id for row in rows if not row.error), "")
    return [
        row
        if row.error or row.example_id == first or not isinstance(row.data, dict)
        else replace(row, data={name: value for name, value in row.data.items() if name != "taken"})
        for row in rows
    ]


def is_retryable(row: Answer) -> bool:
    """Return whether all tries failed; a response that holds no answer is kept as it is."""
    return bool(row.error) and not (isinstance(row.data, dict) and NO_ANSWER in row.data)


def _order(total: int, twice: int) -> list[tuple[int, str]]:
    """Return every example, and some a second time among the others, half a list behind the first."""
    chosen = [number * total // twice for number in range(twice)]
    places = [(float(number), number, "") for number in range(total)]
    places += [((number + total // 2) % total + 0.5, number, TWICE) for number in chosen]
    return [(number, mark) for _, number, mark in sorted(places)]


def same_again(rows: Sequence[Answer]) -> Check:
    """Return how many examples got another answer the second time."""
    title = "same answer when asked again"
    first = {row.example_id: row for row in rows if not row.mark}
    pairs = [(first[row.example_id], row) for row in rows if row.mark == TWICE and row.example_id in first]
    answered = [(one, other) for one, other in pairs if not (one.error and other.error)]
    if not answered:
        return Check(title, None, "cannot be told: nothing was asked twice")
    flips, n = sum(_word(one) != _word(other) for one, other in answered), len(answered)
    low, high = wilson(flips, n)
    return Check(title, flips == 0, f"{flips} of {n} changed ({low:.1%} to {high:.1%})")


def _word(row: Answer) -> Any:
    if row.error:
        return None
    return row.data.get("label", row.data.get("text")) if isinstance(row.data, dict) else row.data
