"""BELUGA's Table 3 as typed rows and cells (`docs/method/beluga.md` 1.10).

rows_of_table3(measures) ──► a row per configuration and method, the iid row first
                             a cell per column: i.i.d., G_seen, G_func, G_class, G_type
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from ...core.claims import ALPHA
from ...core.records import Measure
from .trainings import HOLD_OUTS, STANDARD, Row

IID_COLUMN = "iid score"
COLUMNS = {
    IID_COLUMN: "i.i.d.",
    "seen": "G_seen",
    "functionality": "G_func",
    "capability": "G_class",
    "test type": "G_type",
}
"""The paper's names of the i.i.d. score and of G by hold-out."""
ALL = "all"
"""The hold-out of an average over them."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One score, and how it compares with the iid row."""

    score: Measure | None = None
    """The i.i.d. score or G: mean over seeds, these functionalities."""
    suite: Measure | None = None
    """The suite score inside G."""
    difference: Measure | None = None
    p: Measure | None = None
    adjusted: Measure | None = None

    @property
    def value(self) -> float | None:
        """The score; None while folds are missing, or where it is undefined."""
        return self.score.value if self.score else None

    @property
    def verdict(self) -> str:
        """Return "better" or "worse" than the iid row where the test says so, else nothing."""
        if self.adjusted is None or self.adjusted.value is None or self.adjusted.value > ALPHA:
            return ""
        return "better" if self.change >= 0 else "worse"

    @property
    def change(self) -> float:
        """Return the difference from the iid row; 0 where it is unknown."""
        return (self.difference.value if self.difference else None) or 0.0

    @property
    def before(self) -> float | None:
        """Return the iid row's score on the seeds and functionalities that this cell was compared on."""
        if self.value is None or self.difference is None or self.difference.value is None:
            return None
        return self.value - self.difference.value


@dataclass(frozen=True, slots=True)
class TableRow:
    """One configuration and method."""

    config: str
    method: str
    cells: dict[str, Cell]
    """By column; only those that were or are to be."""

    @property
    def name(self) -> Row:
        return self.config, self.method

    @property
    def is_baseline(self) -> bool:
        return self.config == "iid"

    def verdict(self, column: str) -> str:
        """Return "better" or "worse" than the iid row where the test of a column says so, else nothing."""
        return self.cells.get(column, Cell()).verdict

    def is_tested(self, column: str) -> bool:
        """Return whether a column has a score and its test against the iid row."""
        cell = self.cells.get(column, Cell())
        return cell.adjusted is not None and cell.value is not None


def rows_of_table3(
    measures: Iterable[Measure], model: str | None = None, task: str | None = None
) -> list[TableRow]:
    """Return one table's rows in the paper's order: the iid row first, with its one G in every column."""
    of_rows: dict[Row, list[Measure]] = {}
    for mean in means_of(measures, model, task):
        if "method" in mean.groups and "functionality" not in mean.groups:
            of_rows.setdefault(row_name(mean), []).append(mean)
    laid_out = {name: _cells(means) for name, means in of_rows.items()}
    known = {column for cells in laid_out.values() for column in cells}
    columns = [name for name in COLUMNS if name in known]
    for (config, _), cells in laid_out.items():
        if config == "iid":
            standard = cells.pop(STANDARD, Cell())
            cells |= {column: cells.get(column, standard) for column in columns if column in HOLD_OUTS}
    return [
        TableRow(*name, {column: cells.get(column, Cell()) for column in columns})
        for name, cells in laid_out.items()
    ]


Name = tuple[str | None, str | None]
"""The model and the task of a table; None where the plan has one."""


def name_of(groups: Mapping[str, str]) -> Name:
    """Return the table that groups belong to."""
    return groups.get("model"), groups.get("task")


def row_name(measure: Measure) -> Row:
    """Return the row that a measure belongs to."""
    return measure.groups["config"], measure.groups["method"]


def means_of(measures: Iterable[Measure], model: str | None, task: str | None = None) -> list[Measure]:
    """Return the measures of one table over all its seeds."""
    return [row for row in measures if name_of(row.groups) == (model, task) and "seed" not in row.groups]


def tables_by_name(measures: Sequence[Measure]) -> dict[Name, list[TableRow]]:
    """Return the rows of every table of a plan."""
    names = dict.fromkeys(name_of(row.groups) for row in measures if row.groups.get("hold out") != ALL)
    return {name: rows_of_table3(measures, *name) for name in names}


FIELDS = {
    "iid score": "score",
    "G": "score",
    "suite score": "suite",
    "difference": "difference",
    "p value": "p",
    "adjusted p value": "adjusted",
}
"""The field of a cell, by measure."""


def _cells(measures: Sequence[Measure]) -> dict[str, Cell]:
    """Return the cells of one row; its i.i.d. score is that of the model trained on most."""
    scored = {row.groups["hold out"] for row in measures if _is_iid(row)}
    full = next((name for name in (STANDARD, *HOLD_OUTS) if name in scored), STANDARD)
    cells: dict[str, Cell] = {}
    for row in measures:
        hold_out, name = row.groups["hold out"], FIELDS.get(row.name, "")
        if name and not (_is_iid(row) and hold_out != full):
            column, value = IID_COLUMN if _is_iid(row) else hold_out, {name: row}
            cells[column] = replace(cells.get(column, Cell()), **value)
    return cells


def _is_iid(row: Measure) -> bool:
    return "iid score" in (row.name, row.groups.get("score"))


def average_g(tables: Iterable[Sequence[TableRow]]) -> dict[Row, float]:
    """Return `Avg`: the mean of a row's G over scenarios and tasks, for rows that are complete in every table."""
    values: dict[Row, list[float | None]] = {}
    for table in tables:
        for row in table:
            values.setdefault(row.name, []).extend(row.cells[c].value for c in row.cells if c in HOLD_OUTS)
    full = max(map(len, values.values()), default=0)
    return {
        name: fmean(value for value in scores if value is not None)
        for name, scores in values.items()
        if scores and len(scores) == full and None not in scores
    }
