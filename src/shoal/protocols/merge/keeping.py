"""Pools on disk while they are found: a search for variants that was stopped goes on where it was.

One line per problem, in order. The first line says under which settings and of which problems they are; lines of
another search, and half a line at the end, are not taken for this one's.
"""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..base import identity
from .filters import Candidate, Filtered
from .pools import Pool
from .problems import Problem
from .settings import Settings
from .suggest import Suggestion
from .targets import Target


class KeptPools:
    """The pools of a search, kept in a file as they are found."""

    def __init__(self, path: Path, settings: Settings, problems: Sequence[Problem]) -> None:
        self.path, self.problems = path, problems
        self._head = json.dumps({"pools of": _digest(settings, problems)}) + "\n"
        self._whole = self._cut()

    def read(self) -> Iterator[Pool]:
        """The pools that were there already, in order."""
        with self.path.open(encoding="utf-8") as stream:
            next(stream)
            for problem, line in zip(self.problems[: self._whole], stream, strict=True):
                yield _pool(problem, json.loads(line))

    @property
    def done(self) -> int:
        """How many were there already."""
        return self._whole

    def add(self, pools: Sequence[Pool]) -> None:
        """Keep the pools of a block; a crash leaves at most a part of it at the very end."""
        with self.path.open("a", encoding="utf-8") as stream:
            stream.writelines(json.dumps(_row(pool), ensure_ascii=False) + "\n" for pool in pools)
            stream.flush()
            os.fsync(stream.fileno())

    def _cut(self) -> int:
        """Leave whole lines of this very search only; gives their number."""
        content = self.path.read_bytes() if self.path.exists() else b""
        if not content.startswith(self._head.encode()):
            self.path.write_text(self._head, encoding="utf-8")
            return 0
        end = content.rfind(b"\n") + 1
        os.truncate(self.path, end)
        return content[:end].count(b"\n") - 1


def _digest(settings: Settings, problems: Sequence[Problem]) -> str:
    decisive = [identity(settings, "cases"), [asdict(problem) for problem in problems]]
    return hashlib.sha256(json.dumps(decisive, sort_keys=True, default=str).encode()).hexdigest()[:16]


def _row(pool: Pool) -> dict[str, Any]:
    return {"words": [asdict(word) for word in pool.words], "left out": dict(pool.left_out)}


def _pool(problem: Problem, row: dict[str, Any]) -> Pool:
    return Pool(problem, [_filtered(word) for word in row["words"]], Counter(row["left out"]))


def _filtered(row: dict[str, Any]) -> Filtered:
    target = {**row["target"], "tags": tuple(row["target"]["tags"])}
    target["occurrences"] = tuple(tuple(place) for place in target["occurrences"])
    return Filtered(Target(**target), [_candidate(each) for each in row["candidates"]], row["counts"])


def _suggestion(row: dict[str, Any]) -> Suggestion:
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in row.items()
    }
    return Suggestion(**values)


def _candidate(row: dict[str, Any]) -> Candidate:
    suggestions = tuple(map(_suggestion, row["suggestions"]))
    return Candidate(row["word"], suggestions, row["agrees"], tuple(row["likelier"]))
