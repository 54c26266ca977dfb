"""Match the rows of a predictions file with the suite's examples, by id or order, and compare their texts.

A case's id is "group/id", and both parts may contain slashes. A file names a case by its whole id, in two columns, or
by the part after one of the slashes if that is unique. A row whose text is not its example's is an error: ids may be
shifted. A column holds the text if it has a usual name, or if most of its first rows are texts of the suite. A longer
text that contains the suite's is a prompt and agrees with it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from operator import eq
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from ...core.case_table import CaseTable, are_distinct
from ...core.errors import DataError
from ...core.records import Case, Example
from .columns import Columns, Key, shown

AMBIGUOUS = ""
MOST_SLASHES = 8
SINGLE = ("text", "sentence", "review", "tweet")
PAIRED = (
    *("premise", "hypothesis", "sentence1", "sentence2"),
    *("question1", "question2", "context", "question"),
)
"""Names of columns that hold the text. `content` and `comment` are missing: in predictions they often hold replies."""
SHOWN = 3


def match_rows(columns: Columns, cases: Sequence[Case], whole: Sequence[Case]) -> NDArray[np.int64]:
    """Return the row that answers each example of the cases; `whole` is their suite."""
    by_id = bool(columns.identities)
    match = _match_by_id if by_id else _match_by_order
    rows = match(columns, CaseTable.of(cases), CaseTable.of(whole))

    def place(row: int) -> str:
        return f"{columns.unit} {columns.lines[row]}" + (f" ({columns.key(row)})" if by_id else "")

    for name, texts in columns.texts.items():
        pairs = zip(rows.tolist(), chain.from_iterable(case.examples for case in cases), strict=True)
        refuse_other_texts(columns.path, name, ((place(row), texts[row], example) for row, example in pairs))
    return rows


class _Places:
    """The positions of a suite's examples."""

    def __init__(self, *suites: CaseTable) -> None:
        names = dict.fromkeys(chain.from_iterable(suite.ids for suite in suites))
        self.numbers = {name: number for number, name in enumerate(names)}
        self.sizes = np.zeros(len(self.numbers), np.int64)
        for suite in suites:
            self.sizes[self._numbers_of(suite)] = suite.sizes
        self.total = int(self.sizes.sum())
        self.starts = np.cumsum(self.sizes) - self.sizes

    def _numbers_of(self, cases: CaseTable) -> NDArray[np.int64]:
        return np.fromiter(map(self.numbers.__getitem__, cases.ids), np.int64, len(cases))

    def of_cases(self, cases: CaseTable) -> NDArray[np.int64]:
        """Return the positions of the cases' examples."""
        numbers = self._numbers_of(cases)
        firsts = self.starts[numbers] - (np.cumsum(cases.sizes) - cases.sizes)
        return np.repeat(firsts, cases.sizes) + np.arange(cases.sizes.sum())


def _match_by_order(columns: Columns, cases: CaseTable, whole: CaseTable) -> NDArray[np.int64]:
    """Match lines and examples of the whole suite in order, copies of cases included."""
    places, lines = _Places(whole), len(columns.lines)
    strangers = [name for name in cases.ids if name not in places.numbers]
    if lines == places.total and not strangers:
        return places.of_cases(cases)
    raise DataError(
        f"{columns.path}: {lines:,} lines for {places.total:,} examples",
        why=f"case {strangers[0]!r} is not in the suite"
        if strangers
        else "expected one line for each example of the whole suite, in its order",
        fix="predict the whole suite, or name the examples: JSON Lines or CSV with case_id",
    )


def _match_by_id(columns: Columns, cases: CaseTable, whole: CaseTable) -> NDArray[np.int64]:
    """Match rows by the case that each names."""
    if _is_in_order(columns, cases):
        return np.arange(len(cases))
    places = _Places(whole) if whole is cases else _Places(whole, cases)
    get = places.numbers.get
    numbers = np.fromiter((get(name, -1) for name in _names(columns)), np.int64, len(columns.identities))
    unknown = np.flatnonzero(numbers < 0).tolist()
    by_ending = _by_ending(places.numbers) if unknown else {}
    for row in unknown:
        numbers[row] = get(_full_id(columns, row, by_ending), -1)
    examples = np.array(columns.examples)
    known = np.flatnonzero((numbers >= 0) & (examples < places.sizes[numbers]))
    targets = places.starts[numbers[known]] + examples[known]
    _, firsts = np.unique(targets, return_index=True)
    if len(firsts) < len(known):
        again = np.setdiff1d(np.arange(len(known)), firsts)[0]
        row, first = int(known[again]), int(known[targets == targets[again]][0])
        raise DataError(
            f"{columns.where(row)}: {columns.key(row)} is predicted twice",
            why=f"first on {columns.unit} {columns.lines[first]}",
            fix="keep one of them",
        )
    row_at = np.full(places.total, -1)
    row_at[targets] = known
    if len(known) < len(numbers):
        raise _unknown(columns, np.setdiff1d(np.arange(len(numbers)), known).tolist(), places)
    rows = row_at[places.of_cases(cases)]
    if (rows < 0).any():
        raise _missing(columns, cases, rows, places)
    return rows


def _is_in_order(columns: Columns, cases: CaseTable) -> bool:
    """Return whether the rows are the cases, in their order, each with one example."""
    is_even = len(columns.identities) == len(cases) and (cases.sizes == 1).all() and not any(columns.examples)
    return is_even and all(map(eq, _names(columns), cases.ids)) and are_distinct(cases.ids)


def _names(columns: Columns) -> Iterator[str]:
    pairs = zip(columns.groups, columns.identities, strict=True)
    return (name if group is None else f"{group}/{name}" for group, name in pairs)


def _by_ending(known: Iterable[str]) -> dict[str, str]:
    """Return the ids by themselves and by the parts after their slashes, if a part is unique."""
    by_ending = {identity: identity for identity in known}
    for identity in known:
        ending = identity
        for _ in range(min(identity.count("/"), MOST_SLASHES)):
            ending = ending.partition("/")[2]
            if by_ending.setdefault(ending, identity) != identity:
                by_ending[ending] = AMBIGUOUS
    return by_ending


def _full_id(columns: Columns, row: int, by_ending: Mapping[str, str]) -> str:
    """Return the whole id of the case that a row names; it may not exist."""
    key = columns.key(row)
    name = key.identity.strip()
    if key.group is not None:
        group = key.group.strip()
        return name if name.startswith(f"{group}/") else f"{group}/{name}"
    if by_ending.get(name) == AMBIGUOUS:
        raise DataError(
            f"{columns.where(row)}: case id {shown(key.identity)} occurs in several groups of the suite",
            fix='ids such as "group/id" (in a suite: "functionality/case_id"), or a column functionality',
        )
    return by_ending.get(name, name)


def _unknown(columns: Columns, rows: Sequence[int], places: _Places) -> DataError:
    first = columns.key(rows[0])
    theirs = _listed([columns.key(row) for row in rows[:SHOWN]], len(rows))
    return DataError(
        f"{columns.where(rows[0])}: no case has the id {first}",
        why=f"{len(rows):,} of {len(columns.identities):,} ids are unknown: {theirs}; {_ids(places)}",
        fix="`shoal export SUITE --out cases.csv`, which writes the ids of a suite",
    )


def _missing(columns: Columns, cases: Sequence[Case], rows: NDArray[np.int64], places: _Places) -> DataError:
    names = [Key(None, case.id, number) for case in cases for number in range(len(case.examples))]
    absent = [names[position] for position in np.flatnonzero(rows < 0)[:SHOWN]]
    count = int((rows < 0).sum())
    count_of_theirs = len(columns.identities)
    theirs = _listed([columns.key(row) for row in range(min(SHOWN, count_of_theirs))], count_of_theirs)
    return DataError(
        f"{columns.path}: no prediction for {count:,} of {len(rows):,} examples",
        why=f"missing: {_listed(absent, count)}; the file has {theirs}; {_ids(places)}",
        fix="predict the whole suite, or select the predicted cases with --set split=... or --set profile=...",
    )


def _listed(keys: Sequence[Key], count: int) -> str:
    more = count - len(keys)
    return ", ".join(map(str, keys)) + (f" and {more:,} more" if more > 0 else "")


def _ids(places: _Places) -> str:
    """Return the suite's first ids, and how ids are built."""
    names = [Key(None, name, 0) for name in islice(places.numbers, SHOWN)]
    return f"the ids of the cases are {_listed(names, len(places.numbers))}. An id is functionality/case_id"


# Texts


def text_columns(cases: Sequence[Case], names: Iterable[str], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the columns that hold texts of the cases, by their names and the first rows of the file."""
    examples = next((case.examples for case in cases if case.examples), ())
    if not examples:
        return []
    usual = SINGLE if len(examples[0]) == 1 else PAIRED
    values = {name: [text for row in rows if (text := text_in(row, name))] for name in names}
    chosen = {name for name in values if name.lower() in usual or is_nested(rows[0].get(name))}
    others = {name: texts for name, texts in values.items() if name not in chosen and texts}
    if others:
        known = {normalised(text) for case in cases for example in case.examples for text in example}
        chosen |= {
            name
            for name, texts in others.items()
            if 2 * sum(normalised(t) in known for t in texts) > len(rows)
        }
    return [name for name in values if name in chosen]


def is_nested(value: object) -> bool:
    """Return whether a field has objects with texts, such as `"examples": [{"text": "…"}]`."""
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and any(str(name).lower() in (*SINGLE, *PAIRED) for name in first)


def text_in(row: Mapping[str, Any], name: str) -> str | None:
    """Return the text in a field of a row; of several examples the one that `example_idx` names."""
    value = row.get(name)
    if isinstance(value, list):
        place = row.get("example_idx", 0)
        value = value[place] if type(place) is int and 0 <= place < len(value) else None
    if isinstance(value, dict):
        named = (part for field, part in value.items() if str(field).lower() in (*SINGLE, *PAIRED))
        return " ".join(part for part in named if isinstance(part, str)) or None
    return value if isinstance(value, str) else None


def refuse_other_texts(path: Path, column: str, rows: Iterable[tuple[str, object, Example]]) -> None:
    """Raise if texts of a file differ from the suite's; a row is its place, its text and the example."""
    compared, different = 0, []
    for place, text, example in rows:
        if isinstance(text, str) and text.strip():
            compared += 1
            if not agrees(text, example):
                different.append((place, text, example))
    if different:
        shown_rows = [
            f"{place}: {shown(text)}, expected {' / '.join(map(shown, example))}"
            for place, text, example in different[:SHOWN]
        ]
        raise DataError(
            f"{path}: {len(different):,} of {compared:,} texts in column {column!r} differ from the texts of their ids",
            why="; ".join(shown_rows),
            fix=f"check whether the ids are shifted; if {column!r} does not hold the text, rename the column",
        )


def agrees(text: str, example: Example) -> bool:
    """Return whether a text is one of an example's, or a prompt that contains all of them."""
    if text in example:
        return True
    words, expected = normalised(text), [normalised(part) for part in example]
    return words in expected or all(part in words for part in expected)


def normalised(text: str) -> str:
    """Return a text in NFC with single spaces."""
    return " ".join(normalize("NFC", text).split())
