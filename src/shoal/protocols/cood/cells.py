"""The nine cells: the class of the text, then the class that the template names (COOD, Table 2 and Figure 1)."""

from collections.abc import Mapping
from typing import Literal

Kind = Literal["ID", "COOD", "OOD"]

ROLES = ("fst", "sec", "neu")
"""First, second and neutral: what the paper calls the three classes. The word for the last is never trained on."""

CELLS: dict[str, Kind] = {
    "fst/fst": "ID", "sec/sec": "ID", "neu/fst": "ID", "neu/sec": "ID",
    "fst/sec": "COOD", "sec/fst": "COOD",
    "fst/neu": "OOD", "sec/neu": "OOD", "neu/neu": "OOD",
}  # fmt: skip
"""Cell to kind, in the order of the paper's table; the ID cells are those that are trained on."""

KINDS: tuple[Kind, ...] = ("ID", "COOD", "OOD")
CONSISTENT, INCONSISTENT = LABELS = ("consistent", "inconsistent")
"""The new targets: 0 where text and template say the same, 1 where they do not."""


def cells_of(kind: Kind) -> list[str]:
    """The cells of one kind."""
    return [cell for cell, cell_kind in CELLS.items() if cell_kind == kind]


def target(cell: str) -> str:
    """What the right answer is.

    >>> target("fst/fst"), target("fst/sec"), target("neu/neu")
    ('consistent', 'inconsistent', 'consistent')
    """
    text, _, template = cell.partition("/")
    return CONSISTENT if text == template else INCONSISTENT


def kind_means(accuracies: Mapping[str, float]) -> dict[Kind, float]:
    """The mean of each kind's cells, every cell weighing the same whatever its size.

    >>> shortcut = {cell: float(kind == "ID") for cell, kind in CELLS.items()}
    >>> kind_means(shortcut)
    {'ID': 1.0, 'COOD': 0.0, 'OOD': 0.0}
    """
    return {kind: sum(accuracies[cell] for cell in cells_of(kind)) / len(cells_of(kind)) for kind in KINDS}
