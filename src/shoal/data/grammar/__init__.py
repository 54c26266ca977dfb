"""Data to train and test small models on, from our own grammar and word lists: i.i.d., any size, by seed.

Each module has `make(split, n, seed)`. The suites ask about other sentences than these, and about things
that never matter here (negation, time, roles, typos): a model can be nearly perfect on this data and still
fail them.

To add a task: write `grammar/<name>.py` with `make`, and add a line to GRAMMARS.
"""

from importlib import import_module

from ...core.errors import DataError, nearest
from .rows import SPLITS, Row

GRAMMARS: dict[str, dict[str, int]] = {
    "sentiment": {"train": 3000, "validation": 500, "test": 500},
    "paraphrase": {"train": 8000, "validation": 500, "test": 500},
    "reading": {"train": 2500, "validation": 500, "test": 500},
    "nli": {"train": 6000, "validation": 500, "test": 500},
    "opinions": {"train": 12000, "validation": 500, "test": 500},
}
"""Task to the usual size of each split; the module has the task's name."""
VERSION = 1
"""Increased when a grammar draws other rows. It is part of job names, so that old answers are not reused."""


def make_rows(task: str, split: str, n: int | None = None, seed: int = 0) -> list[Row]:
    """Return rows of a task, as many as usual by default; splits share no content, whatever their seeds."""
    if task not in GRAMMARS:
        raise DataError(
            f"no made data for task {task!r}",
            why=f"known: {', '.join(GRAMMARS)}",
            fix=nearest(task, GRAMMARS) or "one of those",
        )
    usual = GRAMMARS[task].get(split, 0)
    rows: list[Row] = import_module(f".{task}", __name__).make(split, usual if n is None else n, seed)
    return rows


__all__ = ["GRAMMARS", "SPLITS", "Row", "make_rows"]
