"""Values by case that scoring keeps beside the measures: written in blocks, read when they are asked for.

A line per block, column after column. Who wants the measures of a large job reads none of it; who wants to show
three of its cases reads the blocks that these are in.
"""

import json
import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ..core.errors import StoreError
from ..core.files import writing

BLOCK = 10_000
"""Cases."""
VALUES = "values"


def write_columns(columns: Mapping[str, Sequence[Any]], path: Path) -> None:
    """Write columns of one length."""
    with writing(path) as stream:
        for column in columns.values():
            for start in range(0, len(column), BLOCK):
                rows = list(column[start : start + BLOCK])
                stream.write(json.dumps(rows, ensure_ascii=False) + "\n")


class KeptColumns:
    """The file that `write_columns` wrote."""

    def __init__(self, path: Path, names: Sequence[str], length: int) -> None:
        self.names = names
        self.length = length
        self._path = path
        self._stamp = self._now()
        self._last: tuple[int, list[Any]] = (-1, [])

    def _now(self) -> tuple[int, int]:
        state = self._path.stat()
        return state.st_mtime_ns, state.st_ino

    @cached_property
    def _starts(self) -> array:  # type: ignore[type-arg]
        """Where each line begins."""
        starts, position = array("q"), 0
        with self._path.open("rb") as stream:
            for raw in stream:
                starts.append(position)
                position += len(raw)
        return starts

    def block(self, name: str, number: int) -> list[Any]:
        """A block of a column; the last one is remembered."""
        blocks = math.ceil(self.length / BLOCK)
        line = self.names.index(name) * blocks + number
        if line != self._last[0]:
            self._last = line, self._read(line)
        return self._last[1]

    def _read(self, line: int) -> list[Any]:
        if self._now() != self._stamp:
            raise StoreError(f"{self._path}: scored again while it was read", fix="the same command again")
        with self._path.open("rb") as stream:
            stream.seek(self._starts[line])
            rows: list[Any] = json.loads(stream.readline())
        return rows

    @cached_property
    def values(self) -> array:  # type: ignore[type-arg]
        """Every outcome's value; NaN where it has none."""
        values = array("d")
        for number in range(math.ceil(self.length / BLOCK)):
            values.extend(math.nan if value is None else value for value in self.block(VALUES, number))
        return values


class KeptColumn(Sequence[Any]):
    """One of them as a sequence."""

    def __init__(self, kept: KeptColumns, name: str) -> None:
        self._kept = kept
        self._name = name

    def __len__(self) -> int:
        return self._kept.length

    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return [self[position] for position in range(len(self))[place]]
        position = range(len(self))[place]
        return self._kept.block(self._name, position // BLOCK)[position % BLOCK]

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, len(self), BLOCK):
            yield from self._kept.block(self._name, start // BLOCK)


class KeptValues(Sequence[float]):
    """The values of kept outcomes, read when the first is looked at."""

    def __init__(self, kept: KeptColumns) -> None:
        self._kept = kept

    def __len__(self) -> int:
        return self._kept.length

    def __getitem__(self, place: int | slice) -> Any:
        return self._kept.values[place]

    def __iter__(self) -> Iterator[float]:
        return iter(self._kept.values)
