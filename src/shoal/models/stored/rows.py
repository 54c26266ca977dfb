"""Which row of a predictions file answers which example.

A case is called "group/id", and an id may hold a slash as a group may. A file names a case whole, in two columns, or
by what stands behind one of the slashes, where that names one case only.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ...core.errors import DataError, nearest
from ...core.records import Case
from .columns import Columns, Key, shown

AMBIGUOUS = ""
MOST_SLASHES = 8


def rows_of(columns: Columns, cases: Sequence[Case], whole: Sequence[Case]) -> NDArray[np.int64]:
    """The row that answers each example of the cases; `whole` is the suite that they were chosen from."""
    return rows_by_id(columns, cases, whole) if columns.keys else rows_by_order(columns, cases, whole)


class Places:
    """A suite's examples, one after the other."""

    def __init__(self, *suites: Sequence[Case]) -> None:
        self.numbers: dict[str, int] = {}
        counts = array("q")
        for case in chain(*suites):
            number = self.numbers.setdefault(case.id, len(counts))
            if number == len(counts):
                counts.append(0)
            counts[number] = len(case.examples)
        self.sizes = counts
        self.starts = array("q", [0]) + array("q", np.cumsum(counts))
        self.total = self.starts.pop()

    def of(self, cases: Sequence[Case]) -> NDArray[np.int64]:
        """The places of the cases' examples."""
        numbers = np.fromiter((self.numbers[case.id] for case in cases), np.int64, len(cases))
        sizes = np.fromiter((len(case.examples) for case in cases), np.int64, len(cases))
        return np.repeat(np.array(self.starts)[numbers] - (np.cumsum(sizes) - sizes), sizes) + np.arange(
            sizes.sum()
        )


def rows_by_order(columns: Columns, cases: Sequence[Case], whole: Sequence[Case]) -> NDArray[np.int64]:
    """The file has one line per example of the whole suite, in its order, copies of cases included."""
    places, lines = Places(whole), len(columns.lines)
    strangers = [case.id for case in cases if case.id not in places.numbers]
    if lines == places.total and not strangers:
        return places.of(cases)
    wanted = sum(len(case.examples) for case in cases)
    why = f"one line for each of the {places.total:,} examples of the whole suite is expected, in its order"
    if strangers:
        why = f"{len(strangers):,} of the cases asked for are not in the suite, such as {strangers[0]!r}"
    elif lines == wanted:
        why += f"; {wanted:,} were chosen from it, and which lines those are cannot be told"
    raise DataError(
        f"{columns.path}: {lines:,} lines for {places.total:,} examples",
        why=why,
        fix="predict the whole suite, or name the examples: JSON Lines or CSV with case_id",
    )


def rows_by_id(columns: Columns, cases: Sequence[Case], whole: Sequence[Case]) -> NDArray[np.int64]:
    """The file names the case of each row."""
    places = Places(whole) if whole is cases else Places(whole, cases)
    full_id = _FullIds(columns, places.numbers)
    row_at = array("q", [-1]) * places.total
    sizes, starts = places.sizes, places.starts
    strangers: list[int] = []
    for row, key in enumerate(columns.keys):
        identity = full_id(key, row)
        number = -1 if identity is None else places.numbers[identity]
        if number < 0 or key.example >= sizes[number]:
            strangers.append(row)
            continue
        place = starts[number] + key.example
        if row_at[place] >= 0:
            raise DataError(
                f"{columns.where(row)}: {_named(key)} is predicted twice",
                why=f"first on {columns.unit} {columns.lines[row_at[place]]}",
                fix="keep one of them",
            )
        row_at[place] = row
    if strangers:
        raise _strangers(columns, strangers, places.numbers)
    rows = np.array(row_at, np.int64)[places.of(cases)]
    if (rows < 0).any():
        raise _missing(columns, cases, rows)
    return rows


class _FullIds:
    """What the file calls a case, to the case's whole id."""

    def __init__(self, columns: Columns, known: Mapping[str, int]) -> None:
        self.columns = columns
        self.known = known
        self._by_ending: dict[str, str] | None = None

    def __call__(self, key: Key, row: int) -> str | None:
        whole = key.identity if key.group is None else f"{key.group}/{key.identity}"
        if whole in self.known:
            return whole
        if key.group is not None:
            names_group_too = key.identity.startswith(f"{key.group}/") and key.identity in self.known
            return key.identity if names_group_too else self._stripped(key, row)
        identity = self._endings().get(key.identity)
        if identity == AMBIGUOUS:
            raise DataError(
                f"{self.columns.where(row)}: case id {shown(key.identity)} stands in several groups of the suite",
                fix='ids such as "group/id" (in a suite: "functionality/case_id"), or a column functionality',
            )
        return identity or self._stripped(key, row)

    def _stripped(self, key: Key, row: int) -> str | None:
        bare = Key(None if key.group is None else key.group.strip(), key.identity.strip(), key.example)
        return None if bare == key else self(bare, row)

    def _endings(self) -> dict[str, str]:
        """What stands behind a slash of an id, to the id, where it is one's only."""
        if self._by_ending is None:
            self._by_ending = {}
            for identity in self.known:
                ending = identity
                for _ in range(min(identity.count("/"), MOST_SLASHES)):
                    ending = ending.partition("/")[2]
                    if self._by_ending.setdefault(ending, identity) != identity:
                        self._by_ending[ending] = AMBIGUOUS
        return self._by_ending


def _strangers(columns: Columns, rows: Sequence[int], known: Iterable[str]) -> DataError:
    first = columns.keys[rows[0]]
    groups = {identity.rpartition("/")[0] for identity in known}
    group = first.group or first.identity.rpartition("/")[0]
    similar = "" if group in groups else nearest(group, groups)
    return DataError(
        f"{columns.where(rows[0])}: {_named(first)} is not in the suite",
        why=f"{len(rows):,} of {len(columns.keys):,} predictions belong to no example of it",
        fix=similar or "take them out, or name the suite that the file was made for",
    )


def _missing(columns: Columns, cases: Sequence[Case], rows: NDArray[np.int64]) -> DataError:
    names = [Key(None, case.id, number) for case in cases for number in range(len(case.examples))]
    absent = [_named(names[position]) for position in np.flatnonzero(rows < 0)[:4]]
    count = int((rows < 0).sum())
    return DataError(
        f"{columns.path}: no prediction for {count:,} of {len(rows):,} examples",
        why=f"missing: {', '.join(absent[:3])}" + (f" and {count - 3:,} more" if count > 3 else ""),
        fix="predict the whole suite, or choose what was predicted with --set split=..., --set profile=...",
    )


def _named(key: Key) -> str:
    name = str(key)
    return name if len(name) <= 80 else name[:77] + "…"
