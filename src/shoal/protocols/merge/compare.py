"""Models side by side, and against each other by problem (`docs/method/merge.md` 4.8)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from ...core.claims import ALPHA, ONE_CHECKPOINT
from ...core.records import Finding, Measure, Result
from ...stats.intervals import in_agreement, paired_difference_interval
from ...stats.multiplicity import holm
from ...stats.paired import sign_flip_test
from ...stats.resampling import difference, paired_table
from ..base import Compared
from . import wording
from .score import Floats
from .settings import Settings

SIDE_BY_SIDE = ("seed accuracy", "sample accuracy", "pattern accuracy", "independence reference",
                "drop from seeds")  # fmt: skip
SHUFFLES = 10_000


def compare(settings: Settings, results: Sequence[Result]) -> Compared:
    """Return every model's measures under its name, and differences between models with the same problems."""
    if len(results) < 2:
        return Compared()
    rows = [
        replace(row, groups={**row.groups, "model": str(result.job["model"])})
        for result in results
        for row in result.measures
        if row.name in SIDE_BY_SIDE
    ]
    tested = [
        _difference(settings, first, second, row)
        for first, second in combinations(results, 2)
        if [case.id for case in first.cases] == [case.id for case in second.cases]
        for row in _compared_measures(first)
    ]
    adjusted = holm([p for _, p in tested]).tolist() if tested else []
    findings = []
    for (row, p), adjusted_p in zip(tested, adjusted, strict=True):
        note = f"Holm over {len(tested)} comparisons"
        rows += [
            row,
            Measure("p value", p, row.n, row.groups, of=row.of),
            Measure("adjusted p value", adjusted_p, row.n, row.groups, note=note, of=row.of),
        ]
        if adjusted_p <= ALPHA and row.value is not None:
            text = wording.model_difference(row)
            findings.append(Finding("difference", text, (row,), abs(row.value), dict(row.groups)))
    return Compared(rows, findings)


def _compared_measures(result: Result) -> Iterator[Measure]:
    """Yield sample accuracy, and pattern accuracy at the shown thresholds, over all classes of the first filter."""
    base = next((row.groups for row in result.measures if row.name == "sample accuracy"), {})
    for row in result.measures:
        groups = {key: value for key, value in row.groups.items() if key != "threshold"}
        if row.name in ("sample accuracy", "pattern accuracy") and row.basis.column and groups == base:
            yield row


def _difference(settings: Settings, first: Result, second: Result, row: Measure) -> tuple[Measure, float]:
    """Return a difference paired by problem, with an interval and sign flips over premises."""
    chosen = [
        number
        for number, case in enumerate(first.cases)
        if all(case.groups.get(key, value) == value for key, value in row.basis.only.items())
    ]
    a, b = (_values(result, row.basis.column)[chosen] for result in (first, second))
    names: dict[str, int] = {}
    clusters = np.array(
        [names.setdefault(first.cases[n].cluster or first.cases[n].id, len(names)) for n in chosen]
    )
    table = paired_table(b, a, clusters)
    known = ~np.isnan(a + b)
    by_cluster = np.bincount(clusters[known], weights=(b - a)[known]) if known.any() else np.zeros(0)
    p = sign_flip_test(by_cluster, np.random.default_rng(settings.seed), SHUFFLES)
    groups = {**row.groups, "model": str(second.job["model"]), "against": str(first.job["model"])}
    interval = in_agreement(paired_difference_interval(table), p)
    method = f"paired t over {row.interval_method.rpartition(' ')[2]}"
    return Measure(
        "difference", difference(table), int(known.sum()), groups, interval, method, note=ONE_CHECKPOINT, of=row.name
    ), p  # fmt: skip


def _values(result: Result, column: str) -> Floats:
    values = result.columns.get(column) or [None] * len(result.cases)
    return np.array([np.nan if value is None else float(value) for value in values])
