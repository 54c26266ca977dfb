"""The nine cells, named by the class of the text and the class in the template (COOD, Table 2 and Figure 1)."""

from typing import Literal

Kind = Literal["ID", "COOD", "OOD"]

ROLES = ("fst", "sec", "neu")
"""The paper's names of the three classes. The word of the last is never trained on."""

CELLS: dict[str, Kind] = {
    "fst/fst": "ID", "sec/sec": "ID", "neu/fst": "ID", "neu/sec": "ID",
    "fst/sec": "COOD", "sec/fst": "COOD",
    "fst/neu": "OOD", "sec/neu": "OOD", "neu/neu": "OOD",
}  # fmt: skip
"""Cell to kind, in the order of the paper's table; training uses the ID cells."""

KINDS: tuple[Kind, ...] = ("ID", "COOD", "OOD")
CONSISTENT, INCONSISTENT = LABELS = ("consistent", "inconsistent")
"""The new labels: whether text and template agree."""


def cells_of(kind: Kind) -> list[str]:
    return [cell for cell, cell_kind in CELLS.items() if cell_kind == kind]


def target(cell: str) -> str:
    """Return the correct answer of a cell.

    >>> target("fst/fst"), target("fst/sec"), target("neu/neu")
    ('consistent', 'inconsistent', 'consistent')
    """
    text, _, template = cell.partition("/")
    return CONSISTENT if text == template else INCONSISTENT
