"""Two COOD results on the same texts, through the comparison that serves every protocol."""

import pytest

from shoal.comparing.pairs import Choices, compare
from shoal.core.records import Result
from shoal.protocols.cood.grid import CELLS, KINDS, cells_of

CHOICES = Choices(shuffles=500)


def rates_by_hand(result: Result) -> dict[str, float]:
    """Of each cell the share that was right, among test texts."""
    right: dict[str, list[bool]] = {cell: [] for cell in CELLS}
    for case, outcome in zip(result.cases, result.outcomes, strict=True):
        if case.groups["split"] == "test":
            right[case.groups["cell"]].append(bool(outcome.passed))
    assert all(len(answers) == 30 for answers in right.values())
    return {cell: sum(answers) / 30 for cell, answers in right.items()}


def mean(rates: dict[str, float], cells: list[str]) -> float:
    return sum(rates[cell] for cell in cells) / len(cells)


def by_hand(result: Result) -> dict[tuple[str, str], float]:
    """Name and cell or kind to its value."""
    rates = rates_by_hand(result)
    means = {kind: mean(rates, cells_of(kind)) for kind in KINDS}
    return {
        **{("accuracy", cell): rate for cell, rate in rates.items()},
        **{("accuracy", kind): value for kind, value in means.items()},
        ("gap", "gap"): means["ID"] - means["COOD"],
        ("beyond the shortcut", "beyond the shortcut"): means["COOD"]
        - (1 - mean(rates, ["fst/fst", "sec/sec"])),
    }


def test_every_cell_and_kind_differs_by_what_is_computed_by_hand(made):
    a = made({"ID": 0.9, "COOD": 0.3, "OOD": 0.5}, noise=1, test_per_label=30)
    b = made({"ID": 0.8, "COOD": 0.7, "OOD": 0.4}, noise=2, test_per_label=30)
    comparison = compare([a], [b], CHOICES)
    before, after = by_hand(a), by_hand(b)
    rows = {(row.measure, row.name): row for row in comparison.rows}
    assert rows.keys() == before.keys()
    for key, row in rows.items():
        assert row.difference == pytest.approx(after[key] - before[key]), key
        assert row.rates == pytest.approx((before[key], after[key])), key
        assert row.interval[0] < row.difference < row.interval[1]  # type: ignore[index, operator]
    assert comparison.headline == rows["accuracy", "COOD"]
    assert rows["accuracy", "COOD"].n == 60 and rows["accuracy", "fst/sec"].n == 30
