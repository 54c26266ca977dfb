"""Findings of a plan's trainings: the conclusion of each table, lost tasks, negative transfer.

A row whose i.i.d. score is significantly and 20 points below the iid row's lost the task, or never learnt it. Runs are
tested too: a mean hides one that lost everything.

Negative transfer (`docs/method/beyond.md` 7.10): training on a functionality's siblings makes it worse,
Δ_F = s_F(its siblings trained on) - s_F(its whole capability held out), case by case.

Shared texts (`docs/method/beluga.md` 1.2): test cases whose texts are all among the training data of the model that
they test. Other functionalities may have the same texts, and a split by id separates copies.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

import numpy as np

from ...core.claims import ALPHA
from ...core.records import Finding, Measure, Result
from ...stats.multiplicity import holm
from ..base import Compared
from ..behaviour.build import load_suite
from ..behaviour.wording import failed_checks
from . import wording
from .against_iid import change_test, common_rows, common_seeds
from .build import planned_folds, results_of, tasks_of
from .comparison import ModelTable, average_measures, compare_models
from .hyper import untuned
from .lessons import held_out, training_cases
from .scoring import FORGOTTEN, UNTRAINED
from .settings import Settings
from .table3 import IID_COLUMN, Cell, Name, TableRow, name_of
from .trainings import Flags, Row, Trainings, read_trainings

CONCLUSION, NEGATIVE_TRANSFER, SHARED_TEXTS = "conclusion", "negative transfer", "shared texts"
UNTUNED_NUMBERS = "untuned numbers"
MUCH = 0.2
"""Smallest loss of i.i.d. score that is reported as a lost task."""
CONCLUDED, LOST, SHARED, TRANSFER, OF_A_FOLD = 100.0, 20.0, 15.0, 5.0, 0.1
"""Weights of the kinds of findings, and the factor for a single fold."""
MOST = "largest effect"
"""The fact of the change of the suite score if every shared case passed for this reason alone."""


def compare_plan(settings: Settings, results: Sequence[Result]) -> Compared:
    """Return the measures of every table, their conclusions, and the findings about rows and trainings."""
    tables: list[ModelTable] = []
    of_trainings: list[Finding] = []
    for task in tasks_of(settings):
        own, about = results_of(task, results), {"task": task.task} if task.task else {}
        tables += compare_models(task, own, planned_folds(task))
        every = [*untuned_methods(task), *training_findings(own)]
        of_trainings += [replace(finding, groups={**about, **finding.groups}) for finding in every]
    findings = [*table_findings(tables), *of_trainings]
    measures = []
    for table in tables:
        shared = shared_texts(table)
        measures += [*table.all_measures(), *shared]
        findings += shared_findings(table, shared)
    measures += over_tasks(tables, settings) if settings.tasks else []
    rows = {name_of(table.groups): table.rows for table in tables}
    return Compared(measures, [*conclusions(rows), *findings])


def over_tasks(tables: Sequence[ModelTable], settings: Settings) -> list[Measure]:
    """Return Avg over all tasks, for each model with results of all tasks."""
    by_model: dict[str | None, list[ModelTable]] = {}
    for table in tables:
        by_model.setdefault(table.groups.get("model"), []).append(table)
    return [
        replace(row, groups=row.groups if model is None else {"model": model, **row.groups})
        for model, of_model in by_model.items()
        if len(of_model) == len(tasks_of(settings))
        if len({table.trainings.jobs[0].model for table in of_model if not table.settings.model}) <= 1
        for row in average_measures(of_model, settings.seed)
    ]


def untuned_methods(settings: Settings) -> list[Finding]:
    """Return a finding on every method that takes vanilla's numbers."""
    task = load_suite(settings.suite).task
    names = untuned(settings, task) if settings.trains else []
    return [Finding(UNTUNED_NUMBERS, wording.untuned(name, task), weight=LOST) for name in names]


def conclusions(tables: Mapping[Name, Sequence[TableRow]]) -> list[Finding]:
    """Return the headline of each table."""
    concluded = []
    for name, rows in tables.items():
        if rows:
            text = "".join(word.text for word in wording.headline(rows)).replace("\n", " ")
            cells = [cell for row in rows for cell in row.cells.values()]
            rests_on = tuple(cell.difference for cell in cells if cell.difference)
            groups = {key: value for key, value in zip(("model", "task"), name, strict=True) if value}
            concluded.append(Finding(CONCLUSION, text, rests_on, CONCLUDED, groups))
    return concluded


def training_findings(results: Sequence[Result]) -> list[Finding]:
    """Return the findings about single trainings, with the training as their groups."""
    trainings = read_trainings(results)
    several = len({training.model for training in trainings}) > 1
    findings = []
    # The untrained model stands for every seed: its findings are those of the first.
    first = {id(training.result): training for training in reversed(trainings)}
    for training in reversed(first.values()):
        groups = {"config": training.row[0], "method": training.row[1], "hold out": training.hold_out}
        groups |= {"fold": training.fold, "seed": str(training.seed)}
        groups |= {"model": training.model} if several else {}
        checks = [Finding("training", detail, weight=1.0) for _, detail in failed_checks(training.result)]
        part = OF_A_FOLD if training.fold else 1.0
        findings += [
            replace(finding, groups=groups, weight=part * finding.weight)
            for finding in (*training.result.findings, *checks)
        ]
    return findings


def table_findings(tables: Sequence[ModelTable]) -> list[Finding]:
    """Return what several trainings show together: lost tasks and negative transfer."""
    findings = [
        replace(finding, groups={**table.groups, **finding.groups})
        for table in tables
        for finding in (*lost_tasks(table), *negative_transfer(table.trainings))
    ]
    return sorted(findings, key=lambda finding: -finding.weight)


# Lost tasks


def lost_tasks(table: ModelTable) -> Iterator[Finding]:
    """Yield a finding for each row of Table 3 whose model forgot or never learnt its task in at least one run."""
    for row in table.rows:
        cell = row.cells.get(IID_COLUMN, Cell())
        scores, count = _lost_runs(table, row)
        if count or (row.verdict(IID_COLUMN) == "worse" and cell.change <= -MUCH):
            kind = FORGOTTEN if wording.starts_trained(row.name) else UNTRAINED
            rests_on = tuple(measure for measure in (cell.score, cell.difference) if measure)
            groups = {"config": row.config, "method": row.method}
            yield Finding(kind, wording.lost_task(row, scores, count), rests_on, LOST, groups)


def _lost_runs(table: ModelTable, row: TableRow) -> tuple[list[float], int]:
    """Return the i.i.d. score of each run, and how many runs lost the task (Bonferroni over the runs of all rows)."""
    base = table.baseline
    if base is None or row.is_baseline:
        return [], 0
    scenario = table.scenarios[row.name, table.trainings.hold_outs[0]]
    new, old = common_rows(scenario, base)
    if not new.size:
        return [], 0
    seeds = new.shape[1]
    level = ALPHA / (seeds * len(table.trainings.rows))
    runs = np.hsplit(new - old, seeds)
    lost = [run.mean() <= -MUCH and change_test(table.settings, run)[0] <= level for run in runs]
    return new.mean(axis=0).tolist(), sum(lost)


# Negative transfer


def negative_transfer(trainings: Trainings) -> list[Finding]:
    """Return the functionalities that their siblings harm; Holm over all."""
    changes = [change for row in trainings.rows for change in _changes(trainings, row)]
    adjusted = holm([p for _, p, _ in changes]).tolist() if changes else []
    harms = []
    for (change, _, runs), p in zip(changes, adjusted, strict=True):
        if change.value is not None and change.value < 0 and p <= ALPHA:
            capability = trainings.groups(change.groups["functionality"])["capability"]
            text = wording.negative_transfer(change.groups, capability, change.value, runs)
            measure = replace(change, facts={"adjusted p": p})
            harms.append(Finding(NEGATIVE_TRANSFER, text, (measure,), TRANSFER, change.groups))
    return harms


def _changes(trainings: Trainings, row: Row) -> Iterator[tuple[Measure, float, int]]:
    """Yield the effect on each functionality with siblings, on the cases that apply in both, its p and the runs."""
    if not {"functionality", "capability"} <= set(trainings.hold_outs):
        return
    near, far = (trainings.scenario(row, name) for name in ("functionality", "capability"))
    ours, theirs = common_seeds(near, far)
    siblings = Counter(trainings.groups(name)["capability"] for name in trainings.functionalities)
    for name, places in trainings.functionalities.items() if ours else ():
        in_both = name in near.functionalities and name in far.functionalities
        if not in_both or siblings[trainings.groups(name)["capability"]] == 1:
            continue
        change = near.suite[places][:, ours] - far.suite[places][:, theirs]
        change = change[~np.isnan(change).any(axis=1)]
        if len(change):
            groups = {"config": row[0], "method": row[1], "functionality": name}
            measure = Measure("difference", float(change.mean()), len(change), groups, of="pass rate")
            yield measure, change_test(trainings.settings, change)[0], len(ours)


# Shared texts


def shared_texts(table: ModelTable) -> list[Measure]:
    """Return the share of such cases in each scenario, and in each fold that has any; none where nothing is trained."""
    trainings = table.trainings
    if not trainings.settings.trains:
        return []
    trained: dict[Any, set[str]] = {}
    for case in training_cases(trainings.settings):
        for example in case.examples:
            trained.setdefault(example, set()).add(case.groups["functionality"])
    measures = []
    for hold_out in trainings.hold_outs:
        flags = _flags(trainings, hold_out, trained)
        if flags.size:
            most = [flags[trainings.functionalities[name]].mean() for name in table.compared]
            facts = {"cases": int(flags.sum()), MOST: fmean(most) if most else 0.0}
            groups = {**table.groups, "hold out": hold_out}
            measures.append(Measure(SHARED_TEXTS, float(flags.mean()), len(flags), groups, facts=facts))
            folds: dict[str, list[Flags]] = {}
            for name, members in trainings.functionalities.items():
                folds.setdefault(trainings.groups(name).get(hold_out, ""), []).append(flags[members])
            for fold, parts in folds.items():
                own = np.concatenate(parts)
                if fold and own.any():
                    facts = {"cases": int(own.sum())}
                    of_fold = {**groups, hold_out: fold}
                    measures.append(Measure(SHARED_TEXTS, float(own.mean()), len(own), of_fold, facts=facts))
    return measures


def _flags(trainings: Trainings, hold_out: Any, trained: dict[Any, set[str]]) -> Flags:
    """Return for each test case whether another functionality, or a copy, has all its texts."""
    without: dict[str, frozenset[str]] = {"": frozenset()}
    flags = []
    for position in trainings.suite.tolist():
        case = trainings.cases[position]
        fold = case.groups.get(hold_out, "")
        if fold not in without:
            without[fold] = held_out(replace(trainings.settings, hold_out=(hold_out,), fold=fold))
        flags.append(all(trained.get(example, set()) - without[fold] for example in case.examples))
    return np.array(flags, np.bool_)


def shared_findings(table: ModelTable, shared: list[Measure]) -> Iterator[Finding]:
    """Yield the rows whose gain could come from such cases alone."""
    for row in table.rows[1:] if table.baseline else ():
        for measure in (scenario for scenario in shared if MOST in scenario.facts):
            hold_out = measure.groups["hold out"]
            suites = [each.cells.get(hold_out, Cell()).suite for each in (row, table.rows[0])]
            after, before = (suite.value if suite else None for suite in suites)
            if row.verdict(hold_out) != "better" or after is None or before is None:
                continue
            if after - before <= measure.facts[MOST]:
                count, gain = measure.facts["cases"], after - before
                text = wording.shared_gain(row.name, hold_out, count, measure.n, gain)
                groups = {**table.groups, "config": row.config, "method": row.method}
                yield Finding(SHARED_TEXTS, text, (measure,), SHARED, groups)
