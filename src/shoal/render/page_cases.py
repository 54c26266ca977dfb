"""The cases of some results as the page holds them: failing ones first, as many as there is room for.

    {"jobs": [{"name", "words", "counts", "held"}], "groups": [{"name", "values"}],
     "cases": [{"id", "groups", "texts", "expected"}], "rows": [[job, case, verdict, said, error]]}

A case that several jobs were asked is there once. Texts are lists of pieces, every second of which an edit touched.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..core.measures import quantity
from ..core.records import Case, Example, Outcome, Result, values_of, verdicts_of
from ..core.text import printable
from ..core.views import expected_words
from .cases import Marked, marked_edits

ROOM = 3_000_000
"""Letters of text; a page with more opens slowly."""
A_ROW = 120
"""Letters that a case costs beside its texts."""
LONGEST = 20_000
"""Letters of one text that are shown; what is cut is said."""
FAIL, PASS, NOT_APPLICABLE, ERROR = range(4)
ORDER = (FAIL, ERROR, NOT_APPLICABLE, PASS)
"""Of each group so much is taken in turn: first of what fails."""
KINDS = "01-e"
"""The letters of their verdicts."""

PASS_OR_FAIL = ["fails", "passes"]

Place = tuple[int, int]
"""A job and the position of a case in its result."""


def verdict(outcome: Outcome) -> int:
    """How a case went, as a number."""
    return KINDS.index(verdicts_of([outcome]))


def shelf(results: Mapping[str, Result], room: int = ROOM) -> dict[str, Any]:
    """What the page knows of the cases; the same results give the same."""
    jobs = list(results.values())
    chosen = _chosen(jobs, room)
    values = _values([jobs[job].cases[place] for job, place in chosen])
    held = Counter((job, verdict(jobs[job].outcomes[place])) for job, place in chosen)
    answers = [
        _answers(result, [place for of, place in chosen if of == job]) for job, result in enumerate(jobs)
    ]
    cases: dict[tuple[str, Any], int] = {}
    written: list[dict[str, Any]] = []
    rows = []
    for job, place in chosen:
        case = jobs[job].cases[place]
        key = (case.id, case.examples)
        if key not in cases:
            cases[key] = len(written)
            written.append(_case(case, values))
        rows.append([job, cases[key], *_went(jobs[job].outcomes[place], answers[job].get(place, ()))])
    return {
        "jobs": [
            {
                "name": printable(name),
                "id": printable(str(result.job.get("id", ""))),
                "model": printable(str(result.job["model"])),
                "seed": str(result.job.get("settings", {}).get("seed", "")),
                "words": outcome_words(result),
                "counts": _counts(result),
                "held": [held[job, kind] for kind in range(4)],
            }
            for job, (name, result) in enumerate(results.items())
        ],
        "groups": [
            {"name": printable(name), "values": list(map(printable, known))} for name, known in values.items()
        ],
        "cases": written,
        "rows": rows,
    }


def is_whole(held: Mapping[str, Any]) -> bool:
    """Whether every case of every job is there."""
    return all(job["counts"] == job["held"] for job in held["jobs"])


def as_script(data: Any) -> str:
    """JSON that may stand inside a script element: no sign in it can end that, or begin another."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def outcome_words(result: Result) -> list[str]:
    """What it means that a case did not pass, and that it did: not every outcome is good or bad.

    A pair that counts for a stereotype score has not passed anything.
    """
    rates = [row for row in result.measures if "mean over" in row.facts]
    plain = [row for row in rates if "column" not in row.facts]
    if any(quantity(row).direction == "higher" for row in plain or rates):
        return PASS_OR_FAIL
    if any(row.name == "p value" for row in result.measures):
        return ["not significant", "significant"]
    names = list(dict.fromkeys(row.name for row in plain))
    return [f"does not count for the {names[0]}", f"counts for the {names[0]}"] if names else ["no", "yes"]


def is_pass_or_fail(held: Mapping[str, Any]) -> bool:
    """Whether every job's cases can fail."""
    return all(job["words"] == PASS_OR_FAIL for job in held["jobs"])


def _counts(result: Result) -> list[int]:
    verdicts = verdicts_of(result.outcomes)
    return [verdicts.count(letter) for letter in KINDS]


def _values(cases: Sequence[Case]) -> dict[str, dict[str, int]]:
    """Every group of the cases, and the number of each of its values."""
    values: dict[str, dict[str, int]] = {}
    for case in cases:
        for name, value in case.groups.items():
            known = values.setdefault(name, {})
            known.setdefault(value, len(known))
    return values


def _chosen(results: Sequence[Result], room: int) -> list[Place]:
    """The places of the cases there is room for: every group in turn, the worst of each first."""
    chosen: list[Place] = []
    known: set[tuple[str, Any]] = set()
    for kind in ORDER:
        waiting = [
            (job, queue) for job, result in enumerate(results) for queue in _queues(result, KINDS[kind])
        ]
        for job, position in _in_turn(waiting):
            case = results[job].cases[position]
            room -= A_ROW
            if (case.id, case.examples) not in known:
                known.add((case.id, case.examples))
                room -= sum(min(len(text), LONGEST) for example in case.examples for text in example)
            if room < 0:
                return sorted(chosen, key=lambda place: _rank(results, place))
            chosen.append((job, position))
    return sorted(chosen, key=lambda place: _rank(results, place))


def _queues(result: Result, letter: str) -> Iterator[list[int]]:
    """The places of the cases with this verdict, group by group in the order they come, the worst of each first."""
    verdicts, values = verdicts_of(result.outcomes), values_of(result.outcomes)
    groups: dict[str, list[int]] = {}
    place = verdicts.find(letter)
    while place >= 0:
        groups.setdefault(next(iter(result.cases[place].groups.values()), ""), []).append(place)
        place = verdicts.find(letter, place + 1)
    for places in groups.values():
        yield sorted(places, key=lambda place: 0.0 if values[place] != values[place] else values[place])


def _in_turn(queues: Sequence[tuple[int, Sequence[int]]]) -> Iterator[Place]:
    """The first of each, then the second of each, and so on."""
    for turn in range(max((len(queue) for _, queue in queues), default=0)):
        yield from ((job, queue[turn]) for job, queue in queues if turn < len(queue))


def _rank(results: Sequence[Result], place: Place) -> tuple[int, float, int, int]:
    """Failing first, worst first."""
    outcome = results[place[0]].outcomes[place[1]]
    kind = verdict(outcome)
    return ORDER.index(kind), (outcome.value or 0.0) if kind == FAIL else 0.0, *place


def _case(case: Case, values: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    short = tuple(tuple(_cut(text) for text in example) for example in case.examples)
    return {
        "id": printable(case.id),
        "groups": [known.get(case.groups.get(name, ""), -1) for name, known in values.items()],
        "texts": [[_pieces(text) for text in texts] for texts in _edits(short)],
        "expected": printable(expected_words(case)),
    }


def _edits(examples: Sequence[Example]) -> list[list[Marked]]:
    """Each example's texts with what an edit changed; nothing is marked where of the first no word was left."""
    edits = marked_edits(examples)
    if edits and not any(text.strip() and not touched for marked in edits[0] for text, touched in marked):
        return [[[(text, False)] for text in example] for example in examples]
    return edits


def _cut(text: str) -> str:
    left = len(text) - LONGEST
    return text if left <= 0 else f"{text[:LONGEST]} … ({left:,} more letters)"


def _pieces(marked: Sequence[tuple[str, bool]]) -> list[str]:
    """Texts in turn untouched and touched; the first may be empty."""
    pieces = [""]
    for text, touched in marked:
        if touched != (len(pieces) % 2 == 0):
            pieces.append("")
        pieces[-1] += printable(text)
    return pieces


def _answers(result: Result, places: Sequence[int]) -> dict[int, Sequence[str]]:
    """What the model said at these places, read in their order: a column that lies in a file is read once."""
    column = result.columns.get("said")
    return {} if column is None else {place: column[place] for place in sorted(places)}


def _went(outcome: Outcome, answers: Sequence[str]) -> list[Any]:
    return [verdict(outcome), [printable(str(answer)) for answer in answers], printable(outcome.error)]
