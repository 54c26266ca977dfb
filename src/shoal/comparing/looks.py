"""How often a gate has looked at models beside one baseline: a small file that is committed with it.

    {"baseline": "5f0c…", "looks": ["91be…", "77d0…"]}

A gate that fails on ordinary evidence and runs at every commit fails sooner or later, however good the models. Rules
with `judge = "anytime"` ask more of each look than of the one before, so the file keeps count: each result that was
looked at by what it answered, so that a gate run twice on one commit is one look. Another baseline begins anew.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from ..errors import DataError
from ..files import read_json, writing
from ..records import Result


@dataclass(frozen=True, slots=True)
class Looks:
    """The looks so far at one baseline, or at one suite where there is no baseline."""

    baseline: str
    results: tuple[str, ...] = ()

    @property
    def number(self) -> int:
        """How many they are."""
        return len(self.results)


def look(path: Path, result: Result, baseline: Result | None) -> tuple[int, Looks]:
    """The number of this look, and all looks with it; nothing is written."""
    beside, seen = fingerprint(baseline or result, answers=baseline is not None), fingerprint(result)
    earlier = _read(path)
    results = earlier.results if earlier and earlier.baseline == beside else ()
    if seen in results:
        return results.index(seen) + 1, Looks(beside, results)
    return len(results) + 1, Looks(beside, (*results, seen))


def write_looks(path: Path, looks: Looks) -> None:
    """Keep them, one to a line: two branches that both looked can be merged by keeping both lines."""
    content = {"baseline": looks.baseline, "looks": list(looks.results)}
    with writing(path) as stream:
        stream.write(json.dumps(content, indent=1) + "\n")


def fingerprint(result: Result, *, answers: bool = True) -> str:
    """What a result says of its cases, whatever their order; without answers, which cases they are."""
    if not result.outcomes:
        raise DataError(
            "a result without outcomes cannot be looked at again and again",
            why="how each case went is not in it",
            fix="the predictions or the job of the result, and of its baseline, instead of a result file",
        )
    lines = [
        f"{outcome.case_id}\t{outcome.passed if answers else ''}\t{outcome.value if answers else ''}"
        for outcome in result.outcomes
    ]
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:16]


def _read(path: Path) -> Looks | None:
    if not path.exists():
        return None
    content = read_json(path)
    if (
        not isinstance(content, dict)
        or not isinstance(content.get("baseline"), str)
        or not isinstance(content.get("looks"), list)
        or not all(isinstance(seen, str) for seen in content["looks"])
    ):
        raise DataError(
            f"{path}: not a file of looks",
            why='it holds {"baseline": "…", "looks": ["…"]}',
            fix="name another file, or take this one away to begin anew",
        )
    return Looks(content["baseline"], tuple(dict.fromkeys(content["looks"])))
