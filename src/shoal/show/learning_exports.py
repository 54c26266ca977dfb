"""Behavioural learning as three CSV files (`docs/method/beluga.md` 1.10): fractions, every digit, empty if undefined.

results_csv         a row per configuration and method: s_iid, suite scores, G, what was left out
results_fine_csv    a row per configuration, method and scenario, a column per functionality
pvalues_csv         a row per configuration and method: p and adjusted p of each score
"""

import json
from collections.abc import Sequence
from typing import Any

from ..protocols.behaviour.learning.table3 import COLUMNS, IID_COLUMN, TableRow, models_of, rows_of_table3
from ..protocols.behaviour.learning.trainings import HOLD_OUTS, STANDARD
from ..records import Measure, Result
from .exports import rows_as_csv

SHORT = {
    STANDARD: "standard",
    "seen": "seen",
    "functionality": "func",
    "capability": "class",
    "test type": "type",
}
"""The paper's names of the scenarios."""


def learning_tables(results: Sequence[Result], compared: Sequence[Measure]) -> dict[str, str]:
    """All three, of a plan that trains on a suite."""
    if not compared:
        return {}
    return {
        "results": results_csv(compared),
        "results_fine": results_fine_csv(compared),
        "pvalues": pvalues_csv(compared),
    }


def results_csv(measures: Sequence[Measure], task: str = "") -> str:
    """The scores of every row; `na_rates` is a JSON object of the functionalities with cases that do not apply."""
    rows = []
    for model in models_of(measures):
        own = _means(measures, model)
        compared = [row.value for row in own if row.name == "functionalities compared"]
        for row in rows_of_table3(measures, model):
            line = _about(task, model, row)
            line["s_iid"] = row.cells[IID_COLUMN].value if IID_COLUMN in row.cells else None
            for prefix in ("s", "G"):
                for hold_out in HOLD_OUTS:
                    line[f"{prefix}_{SHORT[hold_out]}"] = _score(row, hold_out, prefix)
            line["n_func_used"] = None if not compared or compared[0] is None else int(compared[0])
            line["na_rates"] = _na_rates(own, row)
            rows.append(line)
    return rows_as_csv(rows)


def results_fine_csv(measures: Sequence[Measure], task: str = "") -> str:
    """Every pass rate, mean over seeds: Figure 1 as numbers."""
    rates = [row for row in measures if row.name == "pass rate" and "seed" not in row.groups]
    names = dict.fromkeys(row.groups["functionality"] for row in rates)
    lines: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rates:
        groups = row.groups
        key = (groups.get("model", ""), groups["config"], groups["method"], groups["hold out"])
        if key not in lines:
            lines[key] = {
                "task": task,
                **({"model": key[0]} if key[0] else {}),
                "config": key[1],
                "method": key[2],
            }
            lines[key] |= {"scenario": SHORT[key[3]]} | dict.fromkeys(names)
        lines[key][groups["functionality"]] = row.value
    return rows_as_csv(list(lines.values()))


def pvalues_csv(measures: Sequence[Measure], task: str = "") -> str:
    """Raw and adjusted p of every score against the iid row."""
    rows = []
    for model in models_of(measures):
        for row in rows_of_table3(measures, model):
            if row.is_baseline:
                continue
            line = _about(task, model, row)
            for suffix, field in (("", "p"), (" adjusted", "adjusted")):
                for column, title in COLUMNS.items():
                    found = getattr(row.cells[column], field) if column in row.cells else None
                    line[title + suffix] = found.value if found else None
            rows.append(line)
    return rows_as_csv(rows)


def _about(task: str, model: str | None, row: TableRow) -> dict[str, Any]:
    named = {"model": model} if model is not None else {}
    return {"task": task, **named, "config": row.config, "method": row.method}


def _score(row: TableRow, hold_out: str, prefix: str) -> float | None:
    if hold_out not in row.cells:
        return None
    cell = row.cells[hold_out]
    return cell.value if prefix == "G" else cell.suite.value if cell.suite else None


def _means(measures: Sequence[Measure], model: str | None) -> list[Measure]:
    return [row for row in measures if row.groups.get("model") == model and "seed" not in row.groups]


def _na_rates(measures: Sequence[Measure], row: TableRow) -> str:
    """Of the model trained on everything; those without any are left out."""
    hold_out = STANDARD if row.is_baseline else "seen"
    own = [
        one
        for one in measures
        if one.name == "pass rate"
        and (one.groups["config"], one.groups["method"], one.groups["hold out"]) == (*row.name, hold_out)
    ]
    rates = {one.groups["functionality"]: one.na / (one.n + one.na) for one in own if one.na}
    return json.dumps(rates, ensure_ascii=False)
