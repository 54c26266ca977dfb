"""What training on a suite does: G in every scenario against the model trained without it.

`docs/method/beluga.md` 1.5 and 1.9.

    jobs of a plan ──► trainings.py ──► scores with intervals, pass rates ──► Measures
                       folds joined     tests against the iid row             (Table 3, Figure 1)

The groups of a measure are `config`, `method` and `hold out`, with `model` where a plan has several. With `seed` it is
of one run; without, the mean over seeds. Intervals are for these functionalities and new cases
(`docs/method/beyond.md` 7.2). What compares with the iid row (`difference`, `p value`, `adjusted p value`,
`minimum detectable effect`) has the group `score`: "G" or "iid score".

Every interval and every test begins with the settings' seed. Pure: nothing here asks a model or reads a file.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.records import Measure, Result
from ...stats.generalization import (
    ESTIMABLE_SEEDS,
    METHOD,
    Draws,
    draw,
    estimate,
    pair,
    suite_score,
)
from ...stats.intervals import Interval, cluster_wilson, t_quantile
from ...stats.paired import generalization_score
from ...stats.resampling import cluster_table
from .against_iid import (
    Contest,
    common_seeds,
    contest_measures,
    g_test,
    iid_test,
    over_seeds,
    with_interval,
)
from .averages import average_measures, means_over_methods
from .settings import Settings
from .table3 import TableRow, rows_of_table3
from .trainings import HOLD_OUTS, Floats, Scenario, Trainings, read_trainings, undefined
from .wording import NO_ANSWER, NO_CASE, NO_FUNCTIONALITY, with_facts

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ModelTable:
    """One model's Table 3: the numbers, the same numbers as measures, and the tests and trainings behind them."""

    model: str | None
    """None where the plan has one model."""
    measures: list[Measure]
    """Scores, pass rates and tests of every row."""
    contests: list[Contest]
    trainings: Trainings
    rows: list[TableRow]

    @property
    def groups(self) -> dict[str, str]:
        """The model as a group, where there are several."""
        return {} if self.model is None else {"model": self.model}

    def all_measures(self) -> list[Measure]:
        """Return the measures with the averages over scenarios and over methods."""
        averages = average_measures(self.rows, self.contests, self.trainings.settings.seed)
        every = [*self.measures, *averages, *means_over_methods(self.rows)]
        return [replace(row, groups={**self.groups, **row.groups}) for row in every]


def compare_models(
    settings: Settings,
    results: Sequence[Result],
    planned: Mapping[str, Sequence[str]] | None = None,
) -> list[ModelTable]:
    """Return the table of each model; none while no job is done.

    `planned` names the folds of each hold-out; without it, one for each that the cases have.
    """
    jobs = read_trainings(results)
    models = sorted({job.model for job in jobs})
    tables = []
    for model in models:
        table = _Table(Trainings(settings, [job for job in jobs if job.model == model], planned))
        measures = list(table.measures())
        rows = rows_of_table3(measures)
        name = model if len(models) > 1 else None
        tables.append(ModelTable(name, measures, table.contests, table.trainings, rows))
    return tables


def compare_trainings(
    settings: Settings,
    results: Sequence[Result],
    planned: Mapping[str, Sequence[str]] | None = None,
) -> list[Measure]:
    """Return scores, pass rates, tests and averages of every row of a plan's table."""
    return [row for table in compare_models(settings, results, planned) for row in table.all_measures()]


class _Table:
    """One model's rows, all compared on the same functionalities."""

    def __init__(self, trainings: Trainings) -> None:
        self.trainings, self.settings = trainings, trainings.settings
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

    def measures(self) -> Iterator[Measure]:
        """Row by row, the baseline first; what compares with it last."""
        count = Measure(
            "functionalities compared", float(len(self.compared)), len(self.trainings.functionalities)
        )
        yield with_facts(count, {"left out": self.left_out} if self.left_out else {})
        if self.baseline:
            yield from self._rates("iid score", self.baseline, _Slice(self.baseline.iid))
            yield from self._f1(self.baseline)
            yield from self._scenario(self.baseline)
            yield from self._on_what_was_left_out(self.baseline)
        for row in self.trainings.rows:
            full = self.scenarios[row, self.trainings.hold_outs[0]]  # or what there is in its place
            yield from self._rates("iid score", full, _Slice(full.iid))
            yield from self._f1(full)
            if self.baseline:
                self.contests += iid_test(self.settings, full, self.baseline)
            for hold_out in self.trainings.hold_outs:
                yield from self._scenario(self.scenarios[row, hold_out])
        yield from contest_measures(self.contests, self.settings)

    def _on_what_was_left_out(self, baseline: Scenario) -> Iterator[Measure]:
        """The baseline's scores in columns that left out a part of the suite only: each is of the same in every row."""
        for hold_out in self.trainings.hold_outs:
            scenarios = [self.scenarios[row, hold_out] for row in self.trainings.rows]
            asked = next((scenario.functionalities for scenario in scenarios if scenario.seeds), ())
            names = [name for name in self.compared if name in asked]
            if baseline.seeds and 0 < len(names) < len(self.compared):
                yield from self._scores(replace(baseline, hold_out=hold_out), names)

    def _scenario(self, scenario: Scenario) -> Iterator[Measure]:
        """Scores and pass rates of a row with one thing held out, or how far they are."""
        groups = scenario.groups
        for seed, waiting in scenario.waiting.items():
            for name in ("suite score", "G"):
                yield with_facts(Measure(name, None, 0, {**groups, "seed": str(seed)}), waiting.facts)
        names = [name for name in self.compared if name in scenario.functionalities]
        if not names:
            facts, reason = ({}, NO_FUNCTIONALITY) if scenario.seeds else (scenario.whole.facts, "")
            for name in ("suite score", "G"):
                yield with_facts(Measure(name, None, 0, groups), facts, reason=reason)
            return
        if self._has_own_iid(scenario) and scenario.hold_out != self.trainings.hold_outs[0]:
            yield from self._rates("iid score", scenario, _Slice(scenario.iid))
        yield from self._scores(scenario, names)
        for name in scenario.functionalities:
            yield from self._rates("pass rate", scenario, self._slice(scenario, name))

    def _scores(self, scenario: Scenario, names: Sequence[str]) -> Iterator[Measure]:
        """Yield suite score and G; the test of G is kept for the end."""
        base = None if scenario.is_baseline else self.baseline
        ours = common_seeds(scenario, base)[0] if base else []
        against = self._draws(scenario, base, names) if base and ours else None
        draws = (
            against
            if against and len(ours) == len(scenario.seeds)
            else self._draws(scenario, scenario, names)
        )
        is_sampled = scenario.hold_out == "functionality" and self.settings.hold_out_sample > 0
        population = len(self.compared) if is_sampled and len(names) < len(self.compared) else 0
        drawn = {"drawn": len(names), "drawn from": population} if population else {}
        about = {**drawn, **self._about(scenario)}
        places = np.concatenate([self.trainings.functionalities[name] for name in names])
        counts = _Slice(scenario.suite[places], scenario.failed[places])
        for name, score in (("suite score", suite_score), ("G", generalization_score)):
            n = counts.n + (_Slice(scenario.iid).n if name == "G" else 0)
            mean = estimate(draws, score, METHOD, population=population)
            row = Measure(name, mean.value, n, scenario.groups, None, "", counts.na, counts.errors)
            yield with_interval(with_facts(row, about), mean, len(scenario.seeds))
            for column, seed in enumerate(scenario.seeds):
                alone = len(scenario.seeds) == 1
                single = mean if alone else estimate(draws, score, METHOD, seed=column, population=population)
                groups = {**row.groups, "seed": str(seed)}
                yield with_interval(replace(row, value=single.value, groups=groups), single, 1)
        if base and against:
            self.contests += g_test(self.settings, scenario, base, against)

    def _draws(self, scenario: Scenario, base: Scenario, names: Sequence[str]) -> Draws:
        """A row beside another, on the functionalities named and the seeds that both have."""
        places = [self.trainings.functionalities[name] for name in names]
        ours, theirs = common_seeds(scenario, base)
        both = pair(
            [base.suite[place][:, theirs] for place in places],
            [scenario.suite[place][:, ours] for place in places],
            base.iid[:, theirs],
            scenario.iid[:, ours],
        )
        return draw(both, self.settings.resamples, np.random.default_rng(self.settings.seed))

    def _about(self, scenario: Scenario) -> dict[str, Any]:
        """Return facts about a mean over seeds (`docs/method/beyond.md` 7.3)."""
        facts: dict[str, Any] = {"seeds": len(scenario.seeds), "seeds known": len(self.trainings.seeds)}
        if self.settings.fold and scenario.hold_out in HOLD_OUTS[1:]:
            facts["asked fold" if scenario.is_baseline else "fold"] = self.settings.fold
        if self._has_own_iid(scenario):
            facts["iid of held-out models"] = True
        return facts

    def _has_own_iid(self, scenario: Scenario) -> bool:
        left_out = scenario.hold_out in HOLD_OUTS[1:] and not scenario.is_baseline
        return left_out and self.trainings.iid_of_held_out

    # Rates

    def _f1(self, scenario: Scenario) -> Iterator[Measure]:
        """Yield F1: of the last label in tasks that look for it, of the words where answers are words.

        `docs/method/beluga.md` 1.5.
        """
        if not scenario.seeds:
            return
        wanted = self.trainings.told_by_f1
        scores: Sequence[float | None]
        if wanted is None:
            scores = [self.trainings.word_f1(scenario, seed) for seed in scenario.seeds]
        else:
            scores = [f1_of(wanted, scenario.iid[:, column]) for column in range(len(scenario.seeds))]
        known = [value for value in scores if value is not None]
        if len(known) == len(scores):
            n = int(_in_some_run(~np.isnan(scenario.iid)).sum())
            row = Measure("iid F1", math.fsum(known) / len(known), n, scenario.groups)
            yield with_facts(row, self._about(scenario))

    def _slice(self, scenario: Scenario, functionality: str) -> "_Slice":
        place = self.trainings.functionalities[functionality]
        about = self.trainings.groups(functionality)
        return _Slice(scenario.suite[place], scenario.failed[place], about)

    def _rates(self, name: str, scenario: Scenario, cases: "_Slice") -> Iterator[Measure]:
        """One rate: its mean over seeds, and that of each."""
        groups = {**scenario.groups, **cases.groups}
        if not scenario.seeds:
            yield with_facts(Measure(name, None, 0, groups), scenario.whole.facts)
            return
        whole = cases.rate(name, groups)
        yield with_facts(whole, self._about(scenario))
        for column, seed in enumerate(scenario.seeds):
            of_seed = {**groups, "seed": str(seed)}
            alone = len(scenario.seeds) == 1
            yield replace(whole, groups=of_seed) if alone else cases.of_seed(column).rate(name, of_seed)


@dataclass(frozen=True, slots=True)
class _Slice:
    """The outcomes of some cases, a column per seed."""

    hits: Floats
    failed: Flags | None = None
    """No answer; for i.i.d. cases whatever has no outcome."""
    groups: Mapping[str, str] = field(default_factory=dict)

    @property
    def applies(self) -> Flags:
        return _in_some_run(~np.isnan(self.hits))

    @property
    def unanswered(self) -> Flags:
        return _in_some_run(np.isnan(self.hits) if self.failed is None else self.failed)

    @property
    def n(self) -> int:
        """Cases with an outcome in some run."""
        return int(self.applies.sum())

    @property
    def errors(self) -> int:
        """Cases without an answer in some run."""
        return int(self.unanswered.sum())

    @property
    def na(self) -> int:
        """Cases that were answered and apply in no run."""
        return int((~self.applies & ~self.unanswered).sum())

    def of_seed(self, column: int) -> "_Slice":
        """The outcomes of one seed."""
        failed = None if self.failed is None else self.failed[:, [column]]
        return _Slice(self.hits[:, [column]], failed, self.groups)

    def rate(self, name: str, groups: Mapping[str, str]) -> Measure:
        """The mean over seeds of passes over applicable cases."""
        applicable = (~np.isnan(self.hits)).sum(axis=0)
        if not applicable.all():
            undefined = Measure(name, None, 0, groups, na=self.na, errors=self.errors)
            return with_facts(undefined, {}, reason=NO_CASE if self.na else NO_ANSWER)
        values = np.nansum(self.hits, axis=0) / applicable
        interval, method = self._interval(values)
        value = math.fsum(values) / len(values)
        return Measure(name, value, self.n, groups, interval, method, self.na, self.errors)

    def _interval(self, values: Floats) -> tuple[Interval, str]:
        """Wilson's over cases, each with its outcomes in all runs, and Student's over runs: their squares add."""
        cases, seeds = self.hits.shape
        low, high = cluster_wilson(cluster_table(self.hits.ravel(), np.repeat(np.arange(cases), seeds)))
        if seeds == 1:
            return (low, high), "wilson"
        if seeds < ESTIMABLE_SEEDS:
            return (low, high), "cluster wilson" + over_seeds(seeds)
        middle = math.fsum(values) / seeds
        reach = t_quantile(0.95, seeds - 1) * float(values.std(ddof=1)) / math.sqrt(seeds)
        below, above = math.hypot(max(0.0, middle - low), reach), math.hypot(max(0.0, high - middle), reach)
        return (max(0.0, middle - below), min(1.0, middle + above)), "cluster wilson" + over_seeds(seeds)


def f1_of(wanted: Flags, hits: Floats) -> float | None:
    """F1 of one of two labels from which rows have it and which are right; a mean over models counts in parts.

    >>> f1_of(np.array([True, True, False, False]), np.array([1.0, 0.0, 1.0, 0.0]))
    0.5
    """
    known = ~np.isnan(hits)
    right, missed = hits[known & wanted].sum(), (1 - hits[known & wanted]).sum()
    alarms = (1 - hits[known & ~wanted]).sum()
    total = 2 * right + missed + alarms
    return float(2 * right / total) if total else None


def _in_some_run(flags: Flags) -> Flags:
    some: Flags = np.logical_or.reduce(flags, axis=1)
    return some
