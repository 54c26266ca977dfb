"""The files of `docs/method/beluga.md` 1.10: fractions, every digit, empty where undefined.

results        a row per configuration and method: s_iid, suite scores, G, what was left out
results_fine   a row per configuration, method and scenario, a column per functionality
pvalues        a row per configuration and method: p and adjusted p of each score
"""

import json
from collections.abc import Sequence

from ...core.records import Measure
from ...core.views import Cell, Column, Number, Row, Table
from .table3 import COLUMNS, IID_COLUMN, TableRow, means_of, models_of, rows_of_table3
from .table3 import Cell as Score
from .trainings import HOLD_OUTS, STANDARD

SHORT = {
    STANDARD: "standard",
    "seen": "seen",
    "functionality": "func",
    "capability": "class",
    "test type": "type",
}
"""The paper's names of the scenarios."""


def file_tables(measures: Sequence[Measure], task: str) -> list[Table]:
    """Return all three tables."""
    return [_results(measures, task), _results_fine(measures, task), _p_values(measures, task)]


def _results(measures: Sequence[Measure], task: str) -> Table:
    """The scores of every row; `na_rates` is a JSON object of the functionalities with cases that do not apply."""
    rows = []
    for model in models_of(measures):
        means = means_of(measures, model)
        compared = next((row for row in means if row.name == "functionalities compared"), None)
        for row in rows_of_table3(measures, model):
            iid, *cells = (row.cells.get(name, Score()) for name in (IID_COLUMN, *HOLD_OUTS))
            scores = [iid.score, *(cell.suite for cell in cells), *(cell.score for cell in cells), compared]
            rows.append(Row([*_about(task, model, row), *map(Number, scores), _na_rates(means, row)]))
    titles = ["s_iid", *(f"{prefix}_{SHORT[name]}" for prefix in "sG" for name in HOLD_OUTS)]
    return _table("results", measures, [*titles, "n_func_used", "na_rates"], rows)


def _results_fine(measures: Sequence[Measure], task: str) -> Table:
    """Every pass rate, mean over seeds: Figure 1 as numbers."""
    rates = [row for row in measures if row.name == "pass rate" and "seed" not in row.groups]
    names = list(dict.fromkeys(row.groups["functionality"] for row in rates))
    lines: dict[tuple[str, ...], dict[str, Measure]] = {}
    for row in rates:
        which = [row.groups[name] for name in ("config", "method")]
        named = [row.groups["model"]] if "model" in row.groups else []
        line = lines.setdefault((task, *named, *which, SHORT[row.groups["hold out"]]), {})
        line[row.groups["functionality"]] = row
    rows = [Row([*which, *(Number(line.get(name)) for name in names)]) for which, line in lines.items()]
    return _table("results_fine", measures, ["scenario", *names], rows)


def _p_values(measures: Sequence[Measure], task: str) -> Table:
    """Raw and adjusted p of every score against the iid row."""
    rows = []
    for model in models_of(measures):
        for row in rows_of_table3(measures, model):
            cells = [row.cells.get(column, Score()) for column in COLUMNS]
            tests = [*(cell.p for cell in cells), *(cell.adjusted for cell in cells)]
            if not row.is_baseline:
                rows.append(Row([*_about(task, model, row), *map(Number, tests)]))
    titles = [*COLUMNS.values(), *(f"{title} adjusted" for title in COLUMNS.values())]
    return _table("pvalues", measures, titles, rows)


def _table(name: str, measures: Sequence[Measure], titles: Sequence[str], rows: Sequence[Row]) -> Table:
    """A table whose first columns say which row it is."""
    named = ["model"] if any("model" in row.groups for row in measures) else []
    heads = ["task", *named, "config", "method"]
    return Table([*(Column(head, "left") for head in heads), *map(Column, titles)], rows, name)


def _about(task: str, model: str | None, row: TableRow) -> list[Cell]:
    return [task, *([model] if model is not None else []), row.config, row.method]


def _na_rates(means: Sequence[Measure], row: TableRow) -> str:
    """Return the share of inapplicable cases by functionality of the full model, as JSON."""
    hold_out = STANDARD if row.is_baseline else "seen"
    rates = [
        rate
        for rate in means
        if rate.name == "pass rate"
        and (rate.groups["config"], rate.groups["method"], rate.groups["hold out"]) == (*row.name, hold_out)
    ]
    shares = {rate.groups["functionality"]: rate.na / (rate.n + rate.na) for rate in rates if rate.na}
    return json.dumps(shares, ensure_ascii=False)
