"""Compare the scenarios of a plan: G of every row against the model trained without the suite.

`docs/method/beluga.md` 1.5, 1.9 and 1.15. The groups of a measure are `config`, `method` and `hold out`, and `model` if
a plan has several. A measure with `seed` describes a single run, one without `seed` the mean over runs. Comparisons
with the iid row (`difference`, `p value`, `adjusted p value`) have the group `score`: "G" or "iid score".

Every interval and every test starts from the settings' seed.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np

from ...core.claims import reach_so_far
from ...core.records import Measure, Result
from ...stats.generalization import ESTIMABLE_SEEDS, METHOD, Draws, draw, estimate, pair, suite_score
from ...stats.intervals import cluster_wilson, t_quantile
from ...stats.paired import generalization_score
from ...stats.resampling import cluster_table
from ...stats.seeds import error_of_difference
from ..behaviour.wording import NO_CASE_ANSWERED, NO_CASE_APPLIES
from . import wording
from .against_iid import (
    Contest,
    common_seeds,
    contest_measures,
    g_test,
    iid_test,
    over_seeds,
    welch,
    with_interval,
)
from .settings import Settings
from .table3 import ALL, COLUMNS, IID_COLUMN, Cell, TableRow, average_g, rows_of_table3
from .trainings import HOLD_OUTS, Flags, Floats, Scenario, Trainings, read_trainings, undefined
from .wording import NO_FUNCTIONALITY

AVERAGE, OVER_METHODS = "average G", "mean over methods"


def compare_models(
    settings: Settings, results: Sequence[Result], planned: Mapping[str, Sequence[str]] | None = None
) -> "list[ModelTable]":
    """Return the table of each model; none while no job is done.

    `planned` names the folds of each hold-out; without it, one for each that the cases have.
    """
    jobs = read_trainings(results)
    models = sorted({job.model for job in jobs})
    of_task = {"task": settings.task} if settings.task else {}
    return [
        ModelTable(
            Trainings(settings, [job for job in jobs if job.model == model], planned),
            {"model": model, **of_task} if len(models) > 1 else of_task,
        )
        for model in models
    ]


def compare_trainings(
    settings: Settings, results: Sequence[Result], planned: Mapping[str, Sequence[str]] | None = None
) -> list[Measure]:
    """Return scores, pass rates, tests and averages of every row of a plan's table."""
    return [row for table in compare_models(settings, results, planned) for row in table.all_measures()]


class ModelTable:
    """One model's Table 3: rows compared on the same functionalities, with the measures and tests behind them."""

    def __init__(self, trainings: Trainings, groups: Mapping[str, str]) -> None:
        self.trainings, self.settings = trainings, trainings.settings
        self.groups = groups
        """The model, where the plan has several."""
        self.baseline = trainings.baseline
        self.scenarios = {
            (row, hold_out): trainings.scenario(row, hold_out)
            for row in trainings.rows
            for hold_out in trainings.hold_outs
        }
        every = [*([self.baseline] if self.baseline else []), *self.scenarios.values()]
        self.left_out = list(undefined(trainings, every))
        self.compared = [name for name in trainings.functionalities if name not in self.left_out]
        self.contests: list[Contest] = []
        self.measures = list(self._measures())
        self.rows = rows_of_table3(self.measures)

    def all_measures(self) -> list[Measure]:
        """Return the measures with the averages over scenarios and over methods."""
        averages = average_measures([self], self.settings.seed)
        every = [*self.measures, *averages, *means_over_methods(self.rows)]
        return [replace(row, groups={**self.groups, **row.groups}) for row in every]

    def _measures(self) -> Iterator[Measure]:
        """Yield row by row, the baseline first; what compares with it last."""
        total, note = len(self.trainings.functionalities), wording.left_out(self.left_out)
        yield Measure("functionalities compared", float(len(self.compared)), total, note=note)
        if self.baseline:
            yield from self._iid(self.baseline)
            yield from self._scenario(self.baseline)
            yield from self._on_what_was_left_out(self.baseline)
        for row in self.trainings.rows:
            # If a plan has one fold, the first scenario is that fold.
            yield from self._iid(self.scenarios[row, self.trainings.hold_outs[0]])
            for hold_out in self.trainings.hold_outs:
                yield from self._scenario(self.scenarios[row, hold_out])
        yield from contest_measures(self.contests, self.settings)

    def _iid(self, scenario: Scenario) -> Iterator[Measure]:
        """Yield the scores on i.i.d. data; keep their test."""
        yield from self._iid_rates(scenario)
        mean = _mean([self.trainings.f1(scenario, column) for column in range(len(scenario.seeds))])
        if mean is not None:
            yield self._scoped(Measure("iid F1", mean, _applies(scenario.iid), scenario.groups), scenario)
        if self.baseline and not scenario.is_baseline:
            contest = iid_test(self.settings, scenario, self.baseline)
            self.contests += [contest] if contest else []

    def _on_what_was_left_out(self, baseline: Scenario) -> Iterator[Measure]:
        """Yield the baseline's scores on the functionalities of a column, where those were drawn."""
        for hold_out in self.trainings.hold_outs:
            scenarios = [self.scenarios[row, hold_out] for row in self.trainings.rows]
            asked = next((scenario.functionalities for scenario in scenarios if scenario.seeds), ())
            names = [name for name in self.compared if name in asked]
            if baseline.seeds and 0 < len(names) < len(self.compared):
                yield from self._scores(replace(baseline, hold_out=hold_out), names)

    def _scenario(self, scenario: Scenario) -> Iterator[Measure]:
        """Yield scores and pass rates of a row with one thing held out, or its progress."""
        names = [name for name in self.compared if name in scenario.functionalities]
        if not names:
            reason = NO_FUNCTIONALITY if scenario.seeds else wording.progress(*scenario.folds)
            for name in ("suite score", "G"):
                yield _undefined(name, scenario.groups, reason)
            return
        left_out = scenario.hold_out in HOLD_OUTS[1:] and scenario.hold_out != self.trainings.hold_outs[0]
        if left_out and not scenario.is_baseline and self.trainings.iid_of_held_out:
            yield from self._iid_rates(scenario)
        yield from self._scores(scenario, names)
        for name in scenario.functionalities:
            places = self.trainings.functionalities[name]
            about = self.trainings.groups(name)
            hits, failed = scenario.suite[places], scenario.failed[places]
            yield from self._rates("pass rate", scenario, hits, failed, about)

    def _scores(self, scenario: Scenario, names: Sequence[str]) -> Iterator[Measure]:
        """Yield suite score and G; the test of G is kept for the end."""
        base = None if scenario.is_baseline else self.baseline
        ours = common_seeds(scenario, base)[0] if base else []
        against = self._draws(scenario, base, names) if base and ours else None
        is_whole = len(ours) == len(scenario.seeds)
        draws = against if against and is_whole else self._draws(scenario, scenario, names)
        is_sampled = scenario.hold_out == "functionality" and self.settings.hold_out_sample > 0
        population = len(self.compared) if is_sampled and len(names) < len(self.compared) else 0
        sample = wording.drawn(len(names), population) if population else ""
        places = np.concatenate([self.trainings.functionalities[name] for name in names])
        for name, score in (("suite score", suite_score), ("G", generalization_score)):
            mean = estimate(draws, score, METHOD, population=population)
            row = Measure(name, mean.value, 0, scenario.groups)
            row = _counted(row, scenario.suite[places], scenario.failed[places])
            if name == "G":
                row = replace(row, n=row.n + _applies(scenario.iid))
            facts = {"drawn": len(names), "drawn from": population} if population else {}
            whole = self._scoped(replace(row, note=sample, facts=facts), scenario)
            yield with_interval(whole, mean, len(scenario.seeds))
            for column, seed in enumerate(scenario.seeds):
                alone = len(scenario.seeds) == 1
                single = mean if alone else estimate(draws, score, METHOD, seed=column, population=population)
                groups = {**row.groups, "seed": str(seed)}
                yield with_interval(replace(row, value=single.value, groups=groups), single, 1)
        if base and against:
            self.contests.append(g_test(self.settings, scenario, base, against))

    def _draws(self, scenario: Scenario, base: Scenario, names: Sequence[str]) -> Draws:
        """Return resamples of a row and another, on the functionalities named and the seeds that both have."""
        places = [self.trainings.functionalities[name] for name in names]
        ours, theirs = common_seeds(scenario, base)
        both = pair(
            [base.suite[place][:, theirs] for place in places],
            [scenario.suite[place][:, ours] for place in places],
            base.iid[:, theirs],
            scenario.iid[:, ours],
        )
        return draw(both, self.settings.resamples, np.random.default_rng(self.settings.seed))

    def _scoped(self, row: Measure, scenario: Scenario) -> Measure:
        """Return a mean over seeds with its scope (`docs/method/beyond.md` 7.3)."""
        parts = list(reach_so_far(len(scenario.seeds), len(self.trainings.seeds)))
        if scenario.hold_out in HOLD_OUTS[1:]:
            if self.settings.fold:
                parts.insert(0, f"only {'on' if scenario.is_baseline else 'without'} {self.settings.fold}")
            if self.trainings.iid_of_held_out and not scenario.is_baseline:
                parts.append("i.i.d. score: mean over the held-out models")
        return row.with_note("; ".join(parts))

    # Rates

    def _iid_rates(self, scenario: Scenario) -> Iterator[Measure]:
        return self._rates("iid score", scenario, scenario.iid, np.isnan(scenario.iid), {})

    def _rates(
        self, name: str, scenario: Scenario, hits: Floats, failed: Flags, groups: Mapping[str, str]
    ) -> Iterator[Measure]:
        """Yield a rate: its mean over seeds, and that of each."""
        groups = {**scenario.groups, **groups}
        if not scenario.seeds:
            yield _undefined(name, groups, wording.progress(*scenario.folds))
            return
        yield self._scoped(_rate(name, hits, failed, groups), scenario)
        for column, seed in enumerate(scenario.seeds):
            yield _rate(name, hits[:, [column]], failed[:, [column]], {**groups, "seed": str(seed)})


def _undefined(name: str, groups: Mapping[str, str], reason: str) -> Measure:
    return Measure(name, None, 0, groups, note=reason, reason=reason)


def _applies(hits: Floats) -> int:
    """Return the number of cases with an outcome in some run."""
    return int((~np.isnan(hits)).any(axis=1).sum())


def _counted(row: Measure, hits: Floats, failed: Flags) -> Measure:
    """Return a measure with its cases: with an outcome in some run, without an answer in some run, without either."""
    neither = np.isnan(hits).all(axis=1) & ~failed.any(axis=1)
    return replace(row, n=_applies(hits), na=int(neither.sum()), errors=int(failed.any(axis=1).sum()))


def _rate(name: str, hits: Floats, failed: Flags, groups: Mapping[str, str]) -> Measure:
    """Return the mean over seeds of passes over applicable cases."""
    row = _counted(Measure(name, None, 0, groups), hits, failed)
    applicable = (~np.isnan(hits)).sum(axis=0)
    if not applicable.all():
        reason = NO_CASE_APPLIES if row.na else NO_CASE_ANSWERED
        return replace(row, n=0, note=reason, reason=reason)
    cases, seeds = hits.shape
    values = np.nansum(hits, axis=0) / applicable
    mean = math.fsum(values) / seeds
    low, high = cluster_wilson(cluster_table(hits.ravel(), np.repeat(np.arange(cases), seeds)))
    if seeds >= ESTIMABLE_SEEDS:
        # Wilson's over cases, each with its outcomes in all runs, and Student's over runs: their squares add.
        reach = t_quantile(0.95, seeds - 1) * float(values.std(ddof=1)) / math.sqrt(seeds)
        below, above = math.hypot(max(0.0, mean - low), reach), math.hypot(max(0.0, high - mean), reach)
        low, high = max(0.0, mean - below), min(1.0, mean + above)
    method = "wilson" if seeds == 1 else "cluster wilson" + over_seeds(seeds)
    return replace(row, value=mean, interval=(low, high), interval_method=method)


# Averages: the paper's Avg of a row over scenarios and tasks, and of a configuration over methods


def average_measures(of_tasks: Sequence[ModelTable], seed: int) -> Iterator[Measure]:
    """Yield the paper's Avg of every row that is complete in all tasks, and its test against the iid row."""
    tables = [table.rows for table in of_tasks]
    over = "scenarios and tasks" if len(tables) > 1 else "scenarios"
    averages = average_g(tables)
    baseline = next((value for (config, _), value in averages.items() if config == "iid"), None)
    for (config, method), value in averages.items():
        groups = {"config": config, "method": method, "hold out": ALL}
        yield Measure(AVERAGE, value, 0, groups, note=f"over {len(tables)} tasks" if tables[1:] else "")
        if config == "iid" or baseline is None:
            continue
        scored = groups | {"score": AVERAGE}
        which = {"score": "G", "config": config, "method": method}.items()
        tests = [[test for test in table.contests if which <= test.groups.items()] for table in of_tasks]
        changes = [test.difference.value for of_task in tests for test in of_task]
        columns = [sum(name in HOLD_OUTS for name in table[0].cells) for table in tables]
        is_tested = list(map(len, tests)) == columns  # every score of the row, on seeds that both have
        observed = fmean(changes) if is_tested else value - baseline
        yield Measure("difference", observed, 0, scored, of=AVERAGE)
        p = _p(tests, observed, seed) if is_tested else None
        if p is not None:
            over_seeds = any(test.by_seed is not None for of_task in tests for test in of_task)
            test = "Welch's t over seeds" if over_seeds else "randomisation"
            yield Measure("p value", p, 0, scored, note=f"{test}, averaged over {over}; not adjusted")


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
        # One task's shuffles in another order: two tasks that began with the same seed are not exchanged alike.
        order = rng.permutation(len(known[0])) if known else ()
        shuffled += [draws[order] for draws in known]
    if len({len(draws) for draws in shuffled}) != 1:
        return None
    average = np.mean(shuffled, axis=0)
    return float(((np.abs(average) >= abs(observed) - 1e-12).sum() + 1) / (len(average) + 1))


def means_over_methods(rows: Sequence[TableRow]) -> Iterator[Measure]:
    """Yield each column's mean over the methods of a configuration, and its difference from the iid row."""
    baseline = next((row for row in rows if row.is_baseline), None)
    for config in dict.fromkeys(row.config for row in rows if not row.is_baseline):
        for column in rows[0].cells:
            cells = [row.cells[column] for row in rows if row.config == config]
            mean = _mean([cell.value for cell in cells])
            if mean is None:
                continue
            groups = {"config": config, "column": COLUMNS[column]}
            yield Measure(OVER_METHODS, mean, len(cells), groups)
            before = baseline.cells[column].value if baseline else None
            gain = _mean([_gain(cell, before) for cell in cells])
            if gain is not None:
                score = "iid score" if column == IID_COLUMN else "G"
                scored = groups | {"score": OVER_METHODS}
                yield Measure("difference", gain, len(cells), scored, of=score)


def _gain(cell: Cell, before: float | None) -> float | None:
    """Return the tested difference; without a test that from the iid row's score."""
    if cell.difference:
        return cell.difference.value
    return None if before is None or cell.value is None else cell.value - before


def _mean(values: Sequence[float | None]) -> float | None:
    """Return the mean; None if some value is not known."""
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None
