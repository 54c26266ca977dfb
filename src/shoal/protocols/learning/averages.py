"""Averages of a table: of a row over scenarios and tasks (the paper's Avg), and of a configuration over methods.

`docs/method/beluga.md` 1.5, 1.9 and 1.15. With one or two seeds, the p of an average comes from the shuffles of its
scores, averaged shuffle by shuffle: scenarios of a task share the exchanges of i.i.d. cases, tasks share nothing. From
three seeds on it is Welch's t over the averages of each seed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np

from ...core.records import Measure
from ...stats.seeds import error_of_difference
from .against_iid import Contest, welch
from .table3 import ALL, COLUMNS, IID_COLUMN, TableRow, average_g, mean_gain
from .trainings import HOLD_OUTS, Floats, Row

AVERAGE, OVER_METHODS = "average G", "mean over methods"


def average_measures(
    tables: Sequence[Sequence[TableRow]], contests: Sequence[Sequence[Contest]], seed: int = 0
) -> Iterator[Measure]:
    """Yield Avg of every row that is complete in all tables, and its test against the iid row."""
    averages = average_g(tables)
    baseline = next((value for (config, _), value in averages.items() if config == "iid"), None)
    several = len(tables) > 1
    for row, value in averages.items():
        groups = {"config": row[0], "method": row[1], "hold out": ALL}
        yield Measure(AVERAGE, value, 0, groups, note=f"over {len(tables)} tasks" if several else "")
        if row[0] == "iid" or baseline is None:
            continue
        scored = groups | {"score": AVERAGE}
        tests = [_of_row(row, of_task) for of_task in contests]
        changes = [test.difference.value for of_task in tests for test in of_task]
        columns = [sum(name in HOLD_OUTS for name in table[0].cells) for table in tables]
        is_tested = list(map(len, tests)) == columns  # every score of the row, on seeds that both have
        observed = fmean(changes) if is_tested else value - baseline
        yield Measure("difference", observed, 0, scored, of=AVERAGE)
        p = _p(tests, observed, seed) if is_tested else None
        if p is not None:
            over_seeds = any(test.by_seed is not None for of_task in tests for test in of_task)
            test = "Welch's t over seeds" if over_seeds else "randomisation"
            over = "scenarios and tasks" if several else "scenarios"
            yield Measure("p value", p, 0, scored, note=f"{test}, averaged over {over}; not adjusted")


def _of_row(row: Row, contests: Sequence[Contest]) -> list[Contest]:
    """Return the tests of a row's G in each scenario."""
    which = ("G", *row)
    return [
        test for test in contests if tuple(test.groups[n] for n in ("score", "config", "method")) == which
    ]


def _p(contests: Sequence[Sequence[Contest]], observed: float, seed: int) -> float | None:
    """Return the p of an average; None where its scores were not all tested alike.

    By case: (shuffles whose average differs at least as much + 1) / (shuffles + 1).
    """
    every = [test for tests in contests for test in tests]
    by_seed = [test.by_seed for test in every if test.by_seed is not None]
    if by_seed:
        if len(by_seed) < len(every) or len({scores.shape for scores in by_seed}) != 1:
            return None
        mean: Floats = np.mean(by_seed, axis=0)
        error = error_of_difference(mean[1], mean[0])
        return welch(mean, error)[1] if error.error > 0 else None
    rng = np.random.default_rng(seed)
    shuffled: list[Floats] = []
    for tests in contests:
        known = [test.shuffled for test in tests if test.shuffled is not None]
        if not known:
            return None
        # One task's shuffles in another order: two tasks that began with the same seed are not exchanged alike.
        order = rng.permutation(len(known[0]))
        shuffled += [draws[order] for draws in known]
    if len({len(draws) for draws in shuffled}) != 1:
        return None
    average = np.mean(shuffled, axis=0)
    return float(((np.abs(average) >= abs(observed) - 1e-12).sum() + 1) / (len(average) + 1))


def means_over_methods(rows: Sequence[TableRow]) -> Iterator[Measure]:
    """Yield each column's mean over the methods of a configuration, and its difference from the iid row."""
    has_baseline = any(row.is_baseline for row in rows)
    for config in dict.fromkeys(row.config for row in rows if not row.is_baseline):
        members = [row for row in rows if row.config == config]
        for column in (name for name in COLUMNS if name in rows[0].cells):
            values = [row.cells[column].value for row in members]
            known = [value for value in values if value is not None]
            if not known or len(known) < len(values):
                continue
            groups = {"config": config, "column": COLUMNS[column]}
            mean = Measure(OVER_METHODS, fmean(known), len(known), groups)
            yield mean
            gain = mean_gain(rows, column, config) if has_baseline else None
            if gain is not None:
                score = "iid score" if column == IID_COLUMN else "G"
                change = replace(mean, name="difference", value=gain, of=score)
                yield replace(change, groups=groups | {"score": OVER_METHODS})
