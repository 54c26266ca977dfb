"""Across the jobs of a plan: models side by side, and against each other by problem (`docs/method/merge.md` 4.8)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.claims import ALPHA, ONE_CHECKPOINT
from ...core.measures import quantity, shown
from ...core.records import Finding, Measure, Result
from ...stats.intervals import in_agreement, paired_difference_interval
from ...stats.multiplicity import holm
from ...stats.paired import sign_flip_test
from ...stats.resampling import difference, paired_table
from ..base import Compared
from .score import WITHOUT
from .settings import Settings

Floats = NDArray[np.float64]

SIDE_BY_SIDE = ("seed accuracy", "sample accuracy", "pattern accuracy", WITHOUT,
                "independence reference", "intra-problem correlation", "drop from seeds")  # fmt: skip
SHUFFLES = 10_000


def compare(settings: Settings, results: Sequence[Result]) -> Compared:
    """Every model's measures under its name, and differences of models that were asked the same problems."""
    if len(results) < 2:
        return Compared()
    rows = [
        replace(row, groups={**row.groups, "model": str(result.job["model"])}, facts=_plain(row))
        for result in results
        for row in result.measures
        if row.name in SIDE_BY_SIDE
    ]
    differences = list(_differences(settings, results))
    return Compared([*rows, *differences], list(_findings(differences)))


def _plain(row: Measure) -> dict[str, Any]:
    """What is said of draws; how a measure rests on cases is of one result only."""
    return {key: value for key, value in row.facts.items() if key in ("draws", "sd over draws", "variants")}


def _differences(settings: Settings, results: Sequence[Result]) -> Iterator[Measure]:
    """Paired by problem, sign flips over premises, Holm over thresholds and pairs."""
    made: list[tuple[Measure, float]] = []
    for first, second in combinations(results, 2):
        if [case.id for case in first.cases] != [case.id for case in second.cases]:
            continue
        for row in first.measures:
            if (
                row.name in ("sample accuracy", "pattern accuracy")
                and "column" in row.facts
                and row.facts.get("whole")
            ):
                made.append(_difference(settings, first, second, row))
    adjusted = holm([p for _, p in made]) if made else ()
    for (row, p), over_all in zip(made, adjusted, strict=True):
        facts = {**row.facts, "adjusted p": float(over_all)}
        yield replace(row, facts=facts)
        yield Measure("p value", p, row.n, row.groups, facts={"of": row.facts["of"]})
        note = f"Holm over {len(made)} comparisons"
        yield Measure(
            "adjusted p value", float(over_all), row.n, row.groups, note=note, facts={"of": row.facts["of"]}
        )


def _difference(settings: Settings, first: Result, second: Result, row: Measure) -> tuple[Measure, float]:
    column, only = str(row.facts["column"]), row.facts.get("only", {})
    chosen = [
        number
        for number, case in enumerate(first.cases)
        if all(case.groups.get(key, value) == value for key, value in only.items())
    ]
    a, b = (_values(result, column)[chosen] for result in (first, second))
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
    return Measure(
        "difference", difference(table), int(known.sum()), groups, interval, _method(row),
        note=ONE_CHECKPOINT, facts={"of": row.name},
    ), p  # fmt: skip


def _method(row: Measure) -> str:
    """Over what the two are paired: what the interval of each is over."""
    return f"paired t over {row.interval_method.rpartition(' ')[2]}"


def _values(result: Result, column: str) -> Floats:
    values = result.columns.get(column) or [None] * len(result.cases)
    return np.array([np.nan if value is None else float(value) for value in values])


def _findings(rows: Sequence[Measure]) -> Iterator[Finding]:
    for row in rows:
        if row.name == "difference" and row.facts["adjusted p"] <= ALPHA and row.value is not None:
            what = str(row.facts["of"]) + (
                f" at {row.groups['threshold']}" if "threshold" in row.groups else ""
            )
            more = "more" if row.value > 0 else "less"
            points = shown(abs(row.value), quantity(row), signed=False)
            text = f"{row.groups['model']} has {points} points {more} of {what} than {row.groups['against']}"
            yield Finding("difference", text, (row,), abs(row.value), dict(row.groups))
