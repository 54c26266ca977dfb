"""Cases and attributions as text, and the cases of a page as JSON: failing ones first, as many as fit.

    {"jobs": [{"name", "words", "counts", "held"}], "groups": [{"name", "values"}],
     "cases": [{"id", "groups", "texts", "expected"}], "rows": [[job, case, verdict, said, error]]}

Jobs with the same case share its entry. Texts are lists of pieces; every second piece is an edit.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import groupby, takewhile
from operator import itemgetter
from typing import Any

import numpy as np

from ..core.measures import quantity
from ..core.records import Case, Example, Measure, Result, values_of, verdicts_of
from ..core.text import printable
from ..core.views import WEAK, ShownCase, Weighed, expected_words
from .tables import plain, value_text

Marked = list[tuple[str, bool]]
"""A text in pieces, each with whether the edit touched it."""

SMALL = 1_000_000
"""Pairs of words; for longer texts, everything between the first and the last change counts as changed."""


def outcome_words(shown: ShownCase, answers: Sequence[str] = ()) -> list[str]:
    """Return the expectation, the answers and how far they moved, in words."""
    expected = f"expected {shown.expected}" if shown.expected else ""
    return list(filter(None, [expected, *(f"got {answer}" for answer in answers), shown.change]))


def weighed_text(example: Weighed) -> list[str]:
    """Return the lines of an attribution as plain text: each word that counts is followed by its value."""
    lines = [plain(example.about)]
    for text in example.texts:
        words = [
            word if value is None or abs(example.share(value)) < WEAK else f"{word} ({attribution(value)})"
            for word, value in text
        ]
        lines.append("".join(words).strip())
    return [line for line in [*lines, plain(example.answer)] if line]


WEIGHED = "In brackets: attribution of the preceding word, + for and − against the answer."


def attribution(value: float) -> str:
    """Return an attribution with its sign."""
    return value_text(Measure("attribution", value, 1))


def marked_edits(examples: Sequence[Example]) -> list[list[Marked]]:
    """Return each example's texts in pieces, marked where a variant differs from the first example."""
    if not examples:
        return []
    original, *variants = examples
    touched: list[set[int]] = [set() for _ in original]
    marked: list[list[Marked]] = []
    for variant in variants:
        texts = []
        for position, text in enumerate(variant):
            before = original[position] if position < len(original) else ""
            old, new = _words(before), _words(text)
            removed, added = _changed(old, new)
            if position < len(original):
                touched[position] |= removed
            texts.append(_pieces(new, added))
        marked.append(texts)
    first = [_pieces(_words(text), touched[position]) for position, text in enumerate(original)]
    return [first, *marked]


def _words(text: str) -> list[str]:
    """Split a text into words, symbols and white space, without loss."""
    return re.findall(r"\w+|\s+|[^\w\s]", text)


def _changed(old: Sequence[str], new: Sequence[str]) -> tuple[set[int], set[int]]:
    """Return the positions of words removed from the old text and added in the new one."""
    start = _shared(old, new)
    end = _shared(old[start:][::-1], new[start:][::-1])
    middles = [range(start, len(text) - end) for text in (old, new)]
    if len(middles[0]) * len(middles[1]) > SMALL:
        return set(middles[0]), set(middles[1])
    removed: set[int] = set()
    added: set[int] = set()
    before, after = ([text[i] for i in middle] for text, middle in zip((old, new), middles, strict=True))
    for kind, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            removed |= set(middles[0][i:j])
            added |= set(middles[1][k:m])
    return removed, added


def _shared(old: Sequence[str], new: Sequence[str]) -> int:
    """Return the number of first words that are the same."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _pieces(words: Sequence[str], touched: set[int]) -> Marked:
    """Join neighbouring words with the same mark; white space at the ends of an edit is not marked."""
    marks = [
        place in touched and (not word.isspace() or {place - 1, place + 1} <= touched)
        for place, word in enumerate(words)
    ]
    runs = groupby(zip(words, marks, strict=True), key=itemgetter(1))
    return [("".join(word for word, _ in run), is_touched) for is_touched, run in runs]


# Cases of a page


ROOM = 3_000_000
"""Characters of text; a larger page opens slowly."""
A_ROW = 120
"""Characters of a case besides its texts."""
LONGEST = 20_000
"""Characters of a text that are shown."""
FAIL, PASS, NOT_APPLICABLE, ERROR = range(4)
ORDER = (FAIL, ERROR, NOT_APPLICABLE, PASS)
"""Failing cases first."""
KINDS = "01-e"
"""The letters of these outcomes."""

PASS_OR_FAIL = ["fails", "passes"]


def shelf(results: Mapping[str, Result], room: int = ROOM) -> dict[str, Any]:
    """Return the cases of a page; equal results give equal data."""
    jobs = list(results.values())
    chosen = _chosen(jobs, room)
    values = _values([jobs[job].cases[place] for _, _, job, place in chosen])
    held = Counter((job, ORDER[rank]) for rank, _, job, place in chosen)
    # In order, because the column of answers may be a file.
    places = sorted((job, place) for _, _, job, place in chosen if "said" in jobs[job].columns)
    answers = {(job, place): jobs[job].columns["said"][place] for job, place in places}
    numbers: dict[tuple[str, Any], int] = {}
    cases: list[dict[str, Any]] = []
    rows = []
    for rank, _, job, place in chosen:
        case, outcome = jobs[job].cases[place], jobs[job].outcomes[place]
        number = numbers.setdefault((case.id, case.examples), len(numbers))
        if number == len(cases):
            cases.append(_case(case, values))
        said = [printable(str(answer)) for answer in answers.get((job, place), ())]
        rows.append([job, number, ORDER[rank], said, printable(outcome.error)])
    groups = [{"name": printable(name), "values": [*map(printable, known)]} for name, known in values.items()]
    about = [
        _job(name, result, [held[job, kind] for kind in range(4)])
        for job, (name, result) in enumerate(results.items())
    ]
    return {"jobs": about, "groups": groups, "cases": cases, "rows": rows}


def _job(name: str, result: Result, held: Sequence[int]) -> dict[str, Any]:
    verdicts = verdicts_of(result.outcomes)
    return {
        "name": printable(name),
        "id": printable(str(result.job.get("id", ""))),
        "model": printable(str(result.job["model"])),
        "seed": str(result.job.get("settings", {}).get("seed", "")),
        "words": verdict_words(result),
        "counts": [verdicts.count(letter) for letter in KINDS],
        "held": held,
    }


def is_whole(held: Mapping[str, Any]) -> bool:
    """Return whether the page has every case of every job."""
    return all(job["counts"] == job["held"] for job in held["jobs"])


def as_script(data: Any) -> str:
    """Return JSON for a script element, without characters that could end it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def verdict_words(result: Result) -> list[str]:
    """Return the words for a case that did not pass and one that did: a pair of a bias test cannot fail."""
    rates = [row for row in result.measures if row.basis.mean_over]
    plain = [row for row in rates if not row.basis.column]
    if any(quantity(row).direction == "higher" for row in plain or rates):
        return PASS_OR_FAIL
    if any(row.name == "p value" for row in result.measures):
        return ["not significant", "significant"]
    names = list(dict.fromkeys(row.name for row in plain))
    return [f"does not count for the {names[0]}", f"counts for the {names[0]}"] if names else ["no", "yes"]


def is_pass_or_fail(held: Mapping[str, Any]) -> bool:
    """Return whether the cases of every job can fail."""
    return all(job["words"] == PASS_OR_FAIL for job in held["jobs"])


def _values(cases: Sequence[Case]) -> dict[str, dict[str, int]]:
    """Return the groups of the cases, with a number for each value."""
    values: dict[str, dict[str, int]] = {}
    for case in cases:
        for name, value in case.groups.items():
            known = values.setdefault(name, {})
            known.setdefault(value, len(known))
    return values


def _chosen(results: Sequence[Result], room: int) -> list[tuple[int, float, int, int]]:
    """Return rank, value, job and place of the cases that fit: each group in turn, its worst case first.

    Failing cases come first in the list, the worst of them before the others.
    """
    queue: list[tuple[int, int, int, int]] = []
    every = [np.nan_to_num(values_of(result.outcomes)) for result in results]
    for job, result in enumerate(results):
        verdicts = verdicts_of(result.outcomes)
        turns: Counter[tuple[int, str]] = Counter()
        for place in np.argsort(every[job], kind="stable").tolist():
            rank = ORDER.index(KINDS.index(verdicts[place]))
            group = next(iter(result.cases[place].groups.values()), "")
            queue.append((rank, turns[rank, group], job, place))
            turns[rank, group] += 1
    chosen: list[tuple[int, float, int, int]] = []
    known: set[tuple[str, Any]] = set()
    for rank, _, job, place in sorted(queue):
        case = results[job].cases[place]
        room -= A_ROW
        if (case.id, case.examples) not in known:
            known.add((case.id, case.examples))
            room -= sum(min(len(text), LONGEST) for example in case.examples for text in example)
        if room < 0:
            break
        chosen.append((rank, 0.0 if rank else float(every[job][place]), job, place))
    return sorted(chosen)


def _case(case: Case, values: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    short = tuple(tuple(_cut(text) for text in example) for example in case.examples)
    return {
        "id": printable(case.id),
        "groups": [known.get(case.groups.get(name, ""), -1) for name, known in values.items()],
        "texts": [[_alternating(text) for text in texts] for texts in _edits(short)],
        "expected": printable(expected_words(case)),
    }


def _edits(examples: Sequence[Example]) -> list[list[Marked]]:
    """Return each example's texts with edits marked, unless the edit replaced every word."""
    edits = marked_edits(examples)
    if edits and not any(text.strip() and not touched for marked in edits[0] for text, touched in marked):
        return [[[(text, False)] for text in example] for example in examples]
    return edits


def _cut(text: str) -> str:
    left = len(text) - LONGEST
    return text if left <= 0 else f"{text[:LONGEST]} … ({left:,} more characters)"


def _alternating(marked: Marked) -> list[str]:
    """Return pieces that alternate between unchanged and changed; the first may be empty."""
    start = [""] if not marked or marked[0][1] else []
    return [*start, *(printable(text) for text, _ in marked)]
