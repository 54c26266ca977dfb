"""Asking a model over a network: several questions under way at once, each answer kept the moment it comes.

    questions ──► under way ──► answers.partial.jsonl ──► answers.jsonl
    some twice    at most so    as they come              by example
                  many

A question is sent only when the answer before it, in its place, is on disk: whatever ends the process costs no more
than what was under way. A job that goes on asks again what failed on the way.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, replace
from itertools import islice, repeat
from typing import Any

from ..models.ask import NO_ANSWER, FarAway, Questions
from ..models.selfcheck import Check
from ..records import Answer, Example
from ..stats.intervals import wilson
from ..training.stage import Progress
from .plan import Job
from .store import RunStore

Ask = Callable[[Sequence[Example]], Sequence[Answer]]

TWICE = "again"
"""The mark of an answer to a question that was asked a second time; it is compared, and not kept in the end."""


def ask_far_away(
    job: Job, store: RunStore, model: FarAway, ask: Ask, questions: Questions, progress: Progress
) -> None:
    """Ask what has no answer yet, and put the answers in order."""
    total = len(questions.ids)
    with store.partial(job.id, repeat(1)) as partial:
        kept = {(row.example_id, row.mark): row for row in partial.read() if not worth_asking_again(row)}
        modes = {
            row.data["mode"] for row in kept.values() if isinstance(row.data, dict) and "mode" in row.data
        }
        if modes:
            model.resume(modes.pop())
        to_ask = [
            (number, mark)
            for number, mark in _order(total, min(model.again, total))
            if (questions.ids[number], mark) not in kept
        ]

        def one(number: int, mark: str) -> Answer:
            (row,) = ask([questions.examples[number]])
            return replace(row, example_id=questions.ids[number], mark=mark)

        for row in _as_they_come(one, to_ask, model):
            partial.add([row])
            kept[row.example_id, row.mark] = row
            progress("asking", sum(not mark for _, mark in kept), total)
        partial.arrange(_taken_once([kept[identity, ""] for identity in questions.ids]))
        store.add_check(job.id, asdict(same_again(list(kept.values()))))
        partial.finish()


def _taken_once(rows: Sequence[Answer]) -> list[Answer]:
    """What labels were taken for stands on the first answer, as where many are asked together."""
    first = next((row.example_id for row in rows if not row.error), "")
    return [
        row
        if row.error or row.example_id == first or not isinstance(row.data, dict)
        else replace(row, data={name: value for name, value in row.data.items() if name != "taken"})
        for row in rows
    ]


def worth_asking_again(row: Answer) -> bool:
    """Whether an answer is missing because it could not be asked for; what a model says for an answer stays."""
    return bool(row.error) and not (isinstance(row.data, dict) and NO_ANSWER in row.data)


def _order(total: int, twice: int) -> list[tuple[int, str]]:
    """Every question, and some a second time among the others, half a list behind the first."""
    chosen = [number * total // twice for number in range(twice)]
    places = [(float(number), number, "") for number in range(total)]
    places += [((number + total // 2) % total + 0.5, number, TWICE) for number in chosen]
    return [(number, mark) for _, number, mark in sorted(places)]


def _as_they_come(
    one: Callable[[int, str], Answer], to_ask: Sequence[tuple[int, str]], model: FarAway
) -> Iterator[Answer]:
    """The answers in the order of their arrival; after a failure, those that were under way and then the failure."""
    waiting = iter(to_ask)
    problem: BaseException | None = None
    with ThreadPoolExecutor(model.at_once, "asking") as pool:
        under_way: set[Future[Answer]] = {pool.submit(one, *what) for what in islice(waiting, model.at_once)}
        try:
            while under_way:
                ended, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                for future in ended:
                    problem = problem or future.exception()
                    if problem is not None:
                        model.halt()
                    if future.exception() is None:
                        yield future.result()
                    if problem is None:
                        under_way |= {pool.submit(one, *what) for what in islice(waiting, 1)}
        except BaseException:
            model.halt()
            raise
    if problem is not None:
        raise problem


def same_again(rows: Sequence[Answer]) -> Check:
    """How many of the questions that were asked twice got another answer the second time."""
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
