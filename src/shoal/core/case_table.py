"""Cases as columns, from the file to the verdict; a case becomes an object when someone asks for it.

A million cases take 250 MB as columns and 800 MB as objects. Suites, stores and scoring work on the columns, everything
else sees a sequence of cases.
"""

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from operator import eq
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from .records import Case, Example, Label, Lazy

Integers = NDArray[np.int64]
AT_ONCE = 10_000
"""Names of examples made at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class Heading:
    """The groups and the meta that cases share."""

    groups: Mapping[str, str]
    meta: Mapping[str, Any]


class Examples(Sequence[tuple[Example, ...]]):
    """The examples of each case, kept as one list of texts; every example has the same number of texts."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.width = 1
        """Texts per example."""
        self._starts = array("q", [0])

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[at] for at in range(len(self))[place]]
        at = range(len(self))[place]
        texts = self.texts[self._starts[at] * self.width : self._starts[at + 1] * self.width]
        return tuple(zip(*[iter(texts)] * self.width, strict=True))

    def __iter__(self) -> Iterator[tuple[Example, ...]]:
        pairs = zip(*[iter(self.texts)] * self.width, strict=True)
        if (self.sizes == 1).all():
            return zip(pairs, strict=True)
        return (tuple([next(pairs) for _ in range(size)]) for size in self.sizes.tolist())

    @property
    def sizes(self) -> Integers:
        """Return the number of examples of each case."""
        return np.diff(np.array(self._starts))

    def extend(self, texts: Iterable[str], sizes: Iterable[int], width: int) -> None:
        """Append cases: their texts end to end, and how many examples each has."""
        self.width = width
        self.texts.extend(texts)
        self._starts.extend(accumulate(sizes, initial=self._starts.pop()))


class CaseTable(Sequence[Case]):
    """Cases as columns."""

    def __init__(
        self,
        ids: Iterable[str] = (),
        examples: "list[tuple[Example, ...]] | Examples | None" = None,
        labels: Iterable[tuple[Label, ...] | None] = (),
        headings: Iterable[Heading] = (),
        clusters: Iterable[str] = (),
    ) -> None:
        self.ids = ids if isinstance(ids, list) else list(ids)
        self.examples = [] if examples is None else examples
        self.labels, self.headings, self.clusters = list(labels), list(headings), list(clusters)

    @classmethod
    def of(cls, cases: Sequence[Case]) -> "CaseTable":
        """Return cases as a table; a table is returned as it is."""
        cases = unwrapped(cases)
        if isinstance(cases, CaseTable):
            return cases
        rows = list(cases)
        keys = [(id(case.groups), id(case.meta)) for case in rows]
        known = {key: Heading(case.groups, case.meta) for key, case in zip(keys, rows, strict=True)}
        return cls(
            [case.id for case in rows],
            [case.examples for case in rows],
            [case.labels for case in rows],
            [known[key] for key in keys],
            [case.cluster for case in rows],
        )

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, place: int) -> Case: ...
    @overload
    def __getitem__(self, place: slice) -> "CaseTable": ...
    def __getitem__(self, place: int | slice) -> "Case | CaseTable":
        if isinstance(place, slice):
            return self.take(range(len(self))[place])
        heading = self.headings[place]
        return Case(
            self.ids[place],
            self.examples[place],
            self.labels[place],
            heading.groups,
            self.clusters[place],
            heading.meta,
        )

    def __iter__(self) -> Iterator[Case]:
        columns = zip(self.ids, self.examples, self.labels, self.headings, self.clusters, strict=True)
        for identity, examples, labels, heading, cluster in columns:
            yield Case(identity, examples, labels, heading.groups, cluster, heading.meta)

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Sequence):
            return self is other
        return len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def append(
        self,
        identity: str,
        examples: tuple[Example, ...],
        labels: tuple[Label, ...] | None,
        heading: Heading,
        cluster: str,
    ) -> None:
        self.ids.append(identity)
        self.examples.append(examples)  # type: ignore[union-attr]  # a table of our own, not a suite's
        self.labels.append(labels)
        self.headings.append(heading)
        self.clusters.append(cluster)

    def take(self, places: Iterable[int]) -> "CaseTable":
        """Return some of the cases."""
        at = list(places)
        if len(at) == len(self) and at == list(range(len(self))):
            return self
        return CaseTable(
            [self.ids[place] for place in at],
            [self.examples[place] for place in at],
            [self.labels[place] for place in at],
            [self.headings[place] for place in at],
            [self.clusters[place] for place in at],
        )

    def with_meta(self, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> "CaseTable":
        """Return the cases with another meta; the function is called once for each that differs."""
        headings = list(dict.fromkeys(self.headings))
        metas = {id(heading.meta): heading.meta for heading in headings}
        changed = {key: change(meta) for key, meta in metas.items()}
        if all(changed[key] is meta for key, meta in metas.items()):
            return self
        new = {old: Heading(old.groups, changed[id(old.meta)]) for old in headings}
        others = map(new.__getitem__, self.headings)
        return CaseTable(self.ids, self.examples, self.labels, others, self.clusters)

    @property
    def sizes(self) -> Integers:
        """Return the number of examples of each case."""
        if isinstance(self.examples, Examples):
            return self.examples.sizes
        return np.fromiter(map(len, self.examples), np.int64, len(self))

    @cached_property
    def example_names(self) -> Sequence[str]:
        """Return the name of each example, its case and position; no case may be added afterwards."""
        return ExampleNames(self.ids, self.sizes)

    def distinct_headings(self) -> tuple[list[Heading], Integers]:
        """Return the headings in order of first appearance, and the number of each case's."""
        headings = list(dict.fromkeys(self.headings))
        numbers = {heading: number for number, heading in enumerate(headings)}
        return headings, np.fromiter(map(numbers.__getitem__, self.headings), np.int64, len(self))

    def group_values(self, name: str) -> list[str | None]:
        """Return the value of a group of each case."""
        values = {heading: heading.groups.get(name) for heading in set(self.headings)}
        return list(map(values.__getitem__, self.headings))

    def cluster_codes(self) -> Integers:
        """Return the clusters as numbers; a case without one is its own cluster."""
        names = [cluster or at for at, cluster in enumerate(self.clusters)]
        codes = {name: code for code, name in enumerate(dict.fromkeys(names))}
        return np.fromiter(map(codes.__getitem__, names), np.int64, len(self))


def are_distinct(values: Iterable[Hashable]) -> bool:
    """Return whether all values have different hashes, which needs a tenth of the memory of the values."""
    hashes = np.sort(np.fromiter(map(hash, values), np.int64))
    return bool((hashes[1:] != hashes[:-1]).all())


def unwrapped(cases: Sequence[Case]) -> Sequence[Case]:
    """Return cases that are read at the first access as what they are."""
    return cases.rows if isinstance(cases, Lazy) else cases


def by_group(cases: Sequence[Case], name: str) -> dict[str, Integers]:
    """Return the positions of the cases with each value of a group, in order of first appearance."""
    headings, codes = CaseTable.of(cases).distinct_headings()
    numbers: dict[str, int] = {}
    own = np.array([numbers.setdefault(heading.groups[name], len(numbers)) for heading in headings], np.int64)
    values = own[codes] if len(codes) else codes
    order = np.argsort(values, kind="stable")
    pieces = np.split(order, np.cumsum(np.bincount(values, minlength=len(numbers)))[:-1]) if numbers else []
    return dict(zip(numbers, pieces, strict=True))


class ExampleNames(Sequence[str]):
    """The names of examples, made on demand: a million of them would take 80 MB.

    >>> names = ExampleNames(["a", "b", "c"], np.array([2, 0, 1]))
    >>> list(names), names[-1], names[1:]
    (['a#0', 'a#1', 'c#0'], 'c#0', ['a#1', 'c#0'])
    """

    def __init__(self, ids: Sequence[str], sizes: Integers) -> None:
        self._ids, self._ends = ids, np.cumsum(sizes)
        self._starts = self._ends - sizes

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, int):
            row = range(len(self))[place]
            return self[row : row + 1][0]
        rows = np.arange(*place.indices(len(self)))
        cases = np.searchsorted(self._ends, rows, side="right")
        numbers = rows - self._starts[cases]
        return [f"{self._ids[case]}#{n}" for case, n in zip(cases.tolist(), numbers.tolist(), strict=True)]

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), AT_ONCE):
            yield from self[start : start + AT_ONCE]
