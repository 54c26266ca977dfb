"""Checkpoints by a pattern: `ckpt/seed-*/step-*`, with the seed and the step of each read from its path."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.errors import PlanError, some
from ..models import parse_spec

WILDCARD = "*"
AXES = {"seeds": ("seed", "run"), "steps": ("step", "checkpoint")}
"""Axis of a group to the words before a number in a path."""
NUMBER = re.compile(r"(\d+)([km]?)", re.IGNORECASE)
FACTORS = {"": 1, "k": 1_000, "m": 1_000_000}


def is_pattern(spec: Any) -> bool:
    """Return whether a value of a plan is a pattern of checkpoints."""
    return isinstance(spec, str) and WILDCARD in spec.partition("?")[0]


def checkpoints(spec: str, where: str) -> dict[str, list[Any]]:
    """Return the models that a pattern matches, with their seeds and steps, as a group of a plan has them."""
    parsed, options = parse_spec(spec), spec.partition("?")[1:]
    pattern = Path(parsed.name)
    root = Path(pattern.anchor)
    folders = [path.parent for path in root.glob(str((pattern / "config.json").relative_to(root)))]
    if not folders:
        raise PlanError(
            f"{where}: no checkpoint matches {parsed.name}",
            why="expected folders with a config.json",
            fix="the path of the folders, with * for the numbers",
        )
    numbers = {path: _numbers(path, pattern, where) for path in folders}
    ordered = sorted(folders, key=lambda path: (sorted(numbers[path].items()), str(path)))
    group: dict[str, list[Any]] = {"models": [f"hf:{path}{''.join(options)}" for path in ordered]}
    group |= {axis: [numbers[path][axis] for path in ordered] for axis in numbers[ordered[0]]}
    return group if "steps" not in group else {"seeds": [0] * len(ordered), **group}


def _numbers(path: Path, pattern: Path, where: str) -> Mapping[str, int]:
    """Return the number of each axis in a path: the last number of the folder whose pattern names the axis."""
    found: dict[str, int] = {}
    for part, named in zip(path.parts, pattern.parts, strict=True):
        axis = next((axis for axis, words in AXES.items() if _names(named, words)), "")
        if axis and WILDCARD in named:
            matches = NUMBER.findall(part)
            if not matches:
                raise PlanError(
                    f"{where}: {path} has no number of {axis} in {part!r}",
                    why=f"{named} names {axis}",
                    fix=f"a number there, as in {some([named.replace(WILDCARD, '0')])}",
                )
            digits, unit = matches[-1]
            found[axis] = int(digits) * FACTORS[unit.lower()]
    return found


def _names(part: str, words: Sequence[str]) -> bool:
    return any(word in part.lower() for word in words)
