"""Test cases whose texts are all among the training data of the model that they test (`docs/method/beluga.md` 1.2).

Other functionalities may have the same texts, and a split by id separates copies. `split_by = "text"` leaves none.
"""

from collections.abc import Iterator
from dataclasses import replace
from statistics import fmean
from typing import Any

from ...core.records import Finding, Measure
from . import wording
from .comparison import ModelTable
from .lessons import held_out, training_cases
from .trainings import Trainings

SHARED_TEXTS = "shared texts"
WEIGHT = 15.0
MOST = "largest effect"
"""The fact of the change of the suite score if every shared case passed for this reason alone."""


def shared_texts(table: ModelTable) -> list[Measure]:
    """Return the share of such cases in each scenario, and in each fold that has any; none where nothing is trained."""
    trainings = table.trainings
    if not trainings.settings.trains:
        return []
    trained: dict[Any, set[str]] = {}
    for case in training_cases(trainings.settings):
        for example in case.examples:
            trained.setdefault(example, set()).add(case.groups["functionality"])
    every = [row for hold_out in trainings.hold_outs for row in _measures(table, hold_out, trained)]
    return [replace(row, groups={**table.groups, **row.groups}) for row in every]


def _measures(table: ModelTable, hold_out: str, trained: dict[Any, set[str]]) -> Iterator[Measure]:
    flags = _flags(table.trainings, hold_out, trained)
    if not flags:
        return
    places = table.trainings.functionalities
    most = [fmean(flags[place] for place in places[name].tolist()) for name in table.compared]
    facts = {"cases": sum(flags), MOST: fmean(most) if most else 0.0}
    yield Measure(SHARED_TEXTS, fmean(flags), len(flags), {"hold out": hold_out}, facts=facts)
    folds: dict[str, list[bool]] = {}
    for name, members in places.items():
        fold = table.trainings.groups(name).get(hold_out, "")
        folds.setdefault(fold, []).extend(flags[place] for place in members.tolist())
    for fold, own in folds.items():
        if fold and any(own):
            about = {"hold out": hold_out, hold_out: fold}
            yield Measure(SHARED_TEXTS, fmean(own), len(own), about, facts={"cases": sum(own)})


def _flags(trainings: Trainings, hold_out: Any, trained: dict[Any, set[str]]) -> list[bool]:
    """Return for each test case whether another functionality, or a copy, has all its texts."""
    without: dict[str, frozenset[str]] = {"": frozenset()}
    flags = []
    for position in trainings.suite.tolist():
        case = trainings.cases[position]
        fold = case.groups.get(hold_out, "")
        if fold not in without:
            without[fold] = held_out(replace(trainings.settings, hold_out=(hold_out,), fold=fold))
        flags.append(all(trained.get(example, set()) - without[fold] for example in case.examples))
    return flags


def shared_findings(table: ModelTable, shared: list[Measure]) -> Iterator[Finding]:
    """Yield the rows whose gain could come from such cases alone."""
    scenarios = {row.groups["hold out"]: row for row in shared if MOST in row.facts}
    for row in table.rows[1:] if table.baseline else ():
        for hold_out, measure in scenarios.items():
            cell, before = (each.cells.get(hold_out) for each in (row, table.rows[0]))
            suites = [each.suite.value for each in (cell, before) if each and each.suite]
            known = [value for value in suites if value is not None]
            if row.verdict(hold_out) == "better" and len(known) == 2:
                gain = known[0] - known[1]
                if gain <= measure.facts[MOST]:
                    text = wording.shared_gain(row.name, hold_out, measure.facts["cases"], measure.n, gain)
                    groups = {**table.groups, "config": row.config, "method": row.method}
                    yield Finding(SHARED_TEXTS, text, (measure,), WEIGHT, groups)
