"""Recompute published tables from stored predictions, and compare every cell.

`shoal reproduce NAME` calls the function of that name in `behaviour.py` or `bias.py`, which reads the published files
from a local folder.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import DataError, PlanError, nearest, some

if TYPE_CHECKING:
    from ..core.records import Measure
    from ..training.stage import Progress

REPRODUCTIONS: dict[str, str] = {
    "hatecheck": "HateCheck (Röttger et al. 2021): accuracy of two systems in 29 functionalities",
    "checklist-llm": "BELUGA's SENT suite: pass rates of 16 runs of four language models in 38 functionalities",
    "crows": "CrowS-Pairs (Nangia et al. 2020): BERT-base, the whole and nine categories",
    "stereoset": "StereoSet (Nadeem et al. 2021): three models, three scores by task and domain",
}
"""Name to description."""
MODULES = {"hatecheck": "behaviour", "checklist-llm": "behaviour", "crows": "bias", "stereoset": "bias"}
CELLS = {"hatecheck": 29 * 2, "checklist-llm": 38 * 16, "crows": 13, "stereoset": 3 * 11 * 3}
"""Number of cells of each published table, so that an incomplete file does not count as a match."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of a published table, as printed and as recomputed; as text, to compare printed digits."""

    row: str
    column: str
    published: str
    found: str
    matches: bool

    def as_json(self) -> dict[str, Any]:
        """Return the cell for the `--json` output."""
        return {"row": self.row, "column": self.column, "published": self.published, "found": self.found}


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A recomputed table."""

    title: str
    cells: Sequence[Cell]
    jobs: Sequence[Mapping[str, Any]]
    measures: Sequence["Measure"]

    @property
    def mismatches(self) -> list[Cell]:
        """The cells that differ."""
        return [cell for cell in self.cells if not cell.matches]


def reproduce(name: str, data: Path, progress: "Progress | None" = None) -> Reproduction:
    """Recompute a published table from the files in a folder."""
    if name not in REPRODUCTIONS:
        raise PlanError(
            f"unknown reproduction {name!r}",
            why=f"known: {', '.join(REPRODUCTIONS)}",
            fix=nearest(name, REPRODUCTIONS) or "one of those",
        )
    run = getattr(import_module(f".{MODULES[name]}", __name__), name.replace("-", "_"))
    table: Reproduction = run(data, progress or (lambda step, done, total: None))
    cells = len({(cell.row, cell.column) for cell in table.cells})
    if cells != CELLS[name] or len(table.cells) != cells:
        raise DataError(
            f"{name}: {len(table.cells):,} cells, {cells:,} of them different; the published table has {CELLS[name]:,}",
            why="the file of published numbers is incomplete or changed",
            fix=f"download the data again into {data}",
        )
    return table


def find_folder(data: Path, name: str, files: Sequence[str]) -> Path:
    """Return the folder with these files: DIR/NAME, or DIR itself."""
    tried = [data / name, data]
    missing: list[str] = []
    for folder in tried:
        missing = [file for file in files if not (folder / file).is_file()]
        if not missing:
            return folder
        if folder.is_dir() and len(missing) < len(files):
            break
    raise DataError(
        f"{folder}: no {some(missing)}",
        why=f"looked for {some(files)} in {' and in '.join(map(str, tried))}",
        fix=f"--data with the folder that holds {name}/",
    )


def read_published(path: Path, take: Callable[[Any], Any]) -> Any:
    """Return the published numbers that `take` finds in a JSON file."""
    try:
        return take(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise DataError(
            f"{path}: not the published table", why=repr(problem), fix="download the data again"
        ) from None


def as_printed(row: "Measure | None", digits: int) -> str:
    """Return a measure in per cent as papers print it."""
    return "absent" if row is None else "undefined" if row.value is None else f"{100 * row.value:.{digits}f}"


def agree(published: float | None, found: float | None, tolerance: float) -> bool:
    """Return whether two numbers are both undefined, or equal up to the tolerance."""
    if published is None or found is None:
        return published is found
    return abs(published - found) <= tolerance
