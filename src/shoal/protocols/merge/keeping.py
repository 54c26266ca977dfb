"""What was found of each problem, on disk while the search goes on: one that was stopped goes on where it was.

One line per problem, in order. The first line says under which settings and of which problems they are; lines of
another search, and half a line at the end, are not taken for this one's. Only what was drawn is kept, not every
suggestion: the file stays as small as the cases that it becomes.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...core.errors import StoreError
from ...core.files import settle
from ..base import identity
from .draws import Drawn
from .pools import Pool
from .problems import Problem
from .settings import Settings, WordClass


@dataclass(frozen=True, slots=True)
class Found:
    """What became of one problem, in plain values."""

    words: Sequence[tuple[str, WordClass, Mapping[str, int]]]
    """Those with suggestions, their class, and how many suggestions were left after each filter."""
    left_out: Mapping[str, int]
    """Words that are not replaced, or have no suggestions of a model, by why."""
    drawn: Sequence[Mapping[str, Any]]
    """Of each condition its variants and the patterns they make; empty where they are too few."""

    def as_json(self) -> dict[str, Any]:
        """As a line holds it."""
        return {"words": self.words, "left_out": self.left_out, "drawn": self.drawn}


def found_of(pool: Pool, drawn: Sequence[Drawn]) -> Found:
    """The plain values of what was found."""
    return Found(
        [(word.target.word, word.target.word_class, word.counts) for word in pool.words],
        dict(pool.left_out),
        [
            {
                "condition": each.condition,
                "texts": [list(variant.texts) for variant in each.variants],
                "patterns": each.patterns,
                "made": [variant.provenance() for variant in each.variants],
            }
            for each in drawn
        ],
    )


class SoFar:
    """What was found so far, in a file."""

    def __init__(self, path: Path, settings: Settings, problems: Sequence[Problem]) -> None:
        self.path = path
        head = {"variants of": _digest(settings, problems)}
        self._head = json.dumps(head).encode() + b"\n"
        self.done = self._cut()
        """Of how many problems it was there already."""

    def read(self) -> Iterator[Found]:
        """What was there already, in order."""
        with self.path.open(encoding="utf-8") as stream:
            next(stream)
            for _, line in zip(range(self.done), stream, strict=False):
                yield Found(**json.loads(line))

    def add(self, found: Sequence[Found]) -> None:
        """Keep what was found in a block of problems; a crash leaves at most a part of it at the very end."""
        try:
            with self.path.open("a", encoding="utf-8") as stream:
                stream.writelines(json.dumps(each.as_json(), ensure_ascii=False) + "\n" for each in found)
                settle(stream)
        except OSError as problem:
            raise StoreError(
                f"{self.path}: cannot be written",
                why=problem.strerror or str(problem),
                fix="free some space; the same command then goes on from here",
            ) from None

    def _cut(self) -> int:
        """Leave whole lines of this very search only; gives their number."""
        done = end = 0
        if self.path.exists():
            with self.path.open("rb") as stream:
                if stream.readline() == self._head:
                    end = stream.tell()
                    for line in stream:
                        if not _is_whole(line):
                            break
                        done, end = done + 1, end + len(line)
        if not end:
            self.path.write_bytes(self._head)
        else:
            os.truncate(self.path, end)
        return done


def _is_whole(line: bytes) -> bool:
    """Whether this is a line as it was kept; where a crash or a disk left another, the search goes on from there."""
    try:
        return line.endswith(b"\n") and Found(**json.loads(line)) is not None
    except (ValueError, TypeError):
        return False


def _digest(settings: Settings, problems: Sequence[Problem]) -> str:
    decisive = [settings.VERSION, identity(settings, "cases"), [asdict(problem) for problem in problems]]
    return hashlib.sha256(json.dumps(decisive, sort_keys=True, default=str).encode()).hexdigest()[:16]
