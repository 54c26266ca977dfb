"""Findings of a plan's trainings: the conclusion of each table, lost tasks, negative transfer, doubtful gains.

A row that lost the task, or never learnt it, means nothing in its other columns:

starts from      compared with       more than five points below, significantly
i.i.d. model     the iid row         forgotten: by the data if vanilla forgets too, by the method if it keeps the task
base weights     vanilla's own row   not learnt (vanilla itself, and all rows without a vanilla: the iid row)

Negative transfer (`docs/method/beyond.md` 7.10): training on a functionality's siblings makes it worse,
Δ_F = s_F(its siblings trained on) - s_F(its whole capability held out), case by case.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...core.claims import ALPHA
from ...core.records import Finding, Measure, Result
from ...stats.multiplicity import holm
from ...stats.paired import sign_flip_test, sign_test
from ..base import Compared
from ..degeneracy import DEGENERATE
from . import wording
from .against_iid import Contest, common_seeds, iid_test
from .comparison import ModelTable, compare_models
from .degeneracy import FORGOTTEN, IID_ROWS, UNTRAINED
from .folds import planned_folds
from .settings import Settings
from .table3 import TableRow
from .trainings import STANDARD, Floats, Row, Scenario, Trainings, asks_part, read_trainings
from .wording import PLAIN

OF_PART = "of a part"
"""A fact of findings about a model that was tested on a part of the suite."""
CONCLUSION, NEGATIVE_TRANSFER = "conclusion", "negative transfer"
POINTS, MUCH = 0.05, 0.2
"""Smallest loss of i.i.d. score that is reported as part of the task, and as the whole task."""
ARTEFACT, LOST, CONCLUDED, TRANSFER, OF_A_FOLD = 25.0, 20.0, 10.0, 5.0, 0.1
"""Weights of the kinds of findings, and the factor for a single fold."""


def compare_plan(settings: Settings, results: Sequence[Result]) -> Compared:
    """Return the measures of every table, their conclusions, and the findings about rows and trainings."""
    tables = compare_models(settings, results, planned_folds(settings))
    findings = [*table_findings(tables), *training_findings(results)]
    measures = [row for table in tables for row in table.all_measures()]
    return Compared(
        measures, [*conclusions({table.model: table.rows for table in tables}, findings), *findings]
    )


def conclusions(
    tables: Mapping[str | None, Sequence[TableRow]], findings: Sequence[Finding] = ()
) -> list[Finding]:
    """Return the headline of each model's table, and the gains that one answer to everything may explain."""
    concluded = []
    for model, rows in tables.items():
        if rows:
            words = wording.headline(rows, lost_rows(findings, model))
            text = "".join(word.text for word in words).replace("\n", " ")
            cells = [cell for row in rows for cell in row.cells.values()]
            rests_on = tuple(cell.difference for cell in cells if cell.difference)
            groups = {} if model is None else {"model": model}
            concluded.append(Finding(CONCLUSION, text, rests_on, CONCLUDED, groups))
            concluded += artefacts(rows, findings, model)
    return concluded


def training_findings(results: Sequence[Result]) -> list[Finding]:
    """Return the findings about single trainings, with the training as their groups."""
    trainings = read_trainings(results)
    several = len({training.model for training in trainings}) > 1
    findings = []
    known: set[Any] = set()
    for training in trainings:
        name = training.result.job.get("id")
        if name in known:  # the untrained model, which stands for every seed
            continue
        known |= {name} if name else set()
        groups = {"config": training.row[0], "method": training.row[1], "hold out": training.hold_out}
        groups |= {"fold": training.fold, "seed": str(training.seed)}
        groups |= {"model": training.model} if several else {}
        every = [*training.result.findings, *_failed_checks(training.result)]
        if asks_part(training.result):
            every = [replace(finding, facts={**finding.facts, OF_PART: True}) for finding in every]
        part = OF_A_FOLD if training.fold else 1.0
        findings += [replace(finding, groups=groups, weight=part * finding.weight) for finding in every]
    return findings


def _failed_checks(result: Result) -> list[Finding]:
    failed = [check for check in result.job.get("checks", ()) if check["ok"] is False]
    return [Finding("training", str(check["detail"]), weight=1.0) for check in failed]


def table_findings(tables: Sequence[ModelTable]) -> list[Finding]:
    """Return what several trainings show together: lost tasks and negative transfer."""
    findings = []
    for table in tables:
        every = [*lost_tasks(table.trainings), *negative_transfer(table.trainings)]
        findings += [replace(finding, groups=table.groups | dict(finding.groups)) for finding in every]
    return sorted(findings, key=lambda finding: -finding.weight)


def artefacts(rows: Sequence[TableRow], findings: Sequence[Finding], model: str | None) -> list[Finding]:
    """Return the marked gains behind which models give one answer to nearly everything.

    A model that was tested on a part of the suite counts by its i.i.d. rows only: one label may be right for a part.
    """
    constant = {
        tuple(finding.groups[name] for name in ("config", "method", "hold out", "fold", "seed"))
        for finding in findings
        if finding.kind == DEGENERATE
        and finding.groups.get("model") == model
        and "seed" in finding.groups
        and (OF_PART not in finding.facts or finding.facts.get("slice") == IID_ROWS)
    }
    doubtful = []
    for row in rows:
        for column, cell in row.cells.items():
            models = sum(place[:3] == (*row.name, column) for place in constant)
            if cell.verdict == "better" and models:
                groups = {"config": row.config, "method": row.method, "hold out": column}
                groups |= {} if model is None else {"model": model}
                rests_on = (cell.difference,) if cell.difference else ()
                text = wording.artefact(row.name, column, models)
                doubtful.append(Finding(DEGENERATE, text, rests_on, ARTEFACT, groups))
    return doubtful


def lost_rows(findings: Sequence[Finding], model: str | None) -> Collection[Row]:
    """Return the rows whose full model lost the task, or never learnt it, in some runs."""
    return {
        (finding.groups["config"], finding.groups["method"])
        for finding in findings
        if finding.kind in (FORGOTTEN, UNTRAINED)
        and finding.groups.get("model") == model
        and not {"seed", "fold"} & finding.groups.keys()
    }


# Lost tasks


@dataclass(frozen=True, slots=True)
class Loss:
    """A row and its yardstick."""

    row: Scenario
    yardstick: Scenario
    contest: Contest

    @property
    def starts_trained(self) -> bool:
        """Whether the model knew the task before the suite stage."""
        return self.row.row[0].startswith("iid>")


def lost_tasks(trainings: Trainings) -> list[Finding]:
    """Return the rows that lost the task; Holm over all."""
    losses = list(_losses(trainings))
    adjusted = holm([loss.contest.p for loss in losses]).tolist() if losses else []
    lost = {
        loss.row.row: (loss, p)
        for loss, p in zip(losses, adjusted, strict=True)
        if p <= ALPHA and loss.contest.difference.value < -POINTS
    }
    return [_lost(trainings, loss, p, (loss.row.row[0], PLAIN) in lost) for loss, p in lost.values()]


def _losses(trainings: Trainings) -> Iterator[Loss]:
    for row, yardstick in _yardsticks(trainings):
        scenario = trainings.scenario(row, "seen")
        yield from (
            Loss(scenario, yardstick, contest)
            for contest in iid_test(trainings.settings, scenario, yardstick, these_runs=True)
        )


def _yardsticks(trainings: Trainings) -> Iterator[tuple[Row, Scenario]]:
    """Yield each row with its yardstick, if there is one."""
    baseline = trainings.baseline
    for row in trainings.rows:
        by_iid = row[0].startswith("iid>") or row[1] == PLAIN
        plain = trainings.scenario((row[0], PLAIN), "seen")
        yardstick = plain if plain.seeds and not by_iid else baseline
        if yardstick is not None:
            yield row, yardstick


def _lost(trainings: Trainings, loss: Loss, p: float, plain_too: bool) -> Finding:
    config, method = loss.row.row
    ours, theirs = _scores(loss.row, loss.yardstick)
    is_all = loss.contest.difference.value <= -MUCH
    text = wording.lost_task(
        loss.row.row, starts_trained=loss.starts_trained, is_all=is_all, score=ours.value, before=theirs.value,
        runs=_in_how_many(loss, MUCH if is_all else POINTS), yardstick=_whose(loss.yardstick),
    )  # fmt: skip
    text += _cause(trainings, loss, plain_too) if loss.starts_trained else ""
    text += " Ignore its other columns." if is_all else ""
    groups = {"config": config, "method": method}
    facts = {"difference": loss.contest.difference.value, "adjusted p": p}
    return Finding(FORGOTTEN if loss.starts_trained else UNTRAINED, text, (ours, theirs), LOST, groups, facts)


def _whose(yardstick: Scenario) -> str:
    return "the iid row" if yardstick.hold_out == STANDARD else PLAIN


def _in_how_many(loss: Loss, least: float) -> str:
    """Return in how many of several runs so much was lost: a mean hides one run that lost everything."""
    ours, theirs = common_seeds(loss.row, loss.yardstick)
    if len(ours) < 2:
        return ""
    changes = np.nanmean(loss.row.iid[:, ours] - loss.yardstick.iid[:, theirs], axis=0)
    return f" in {int((changes <= -least).sum())} of {len(ours)} runs"


def _cause(trainings: Trainings, loss: Loss, plain_too: bool) -> str:
    """Return whether plain training on the same data loses the task as well."""
    config, method = loss.row.row
    if method == PLAIN:
        return ""
    kept, left = _scores(trainings.scenario((config, PLAIN), "seen"), loss.row)
    if kept.value is None or left.value is None:
        return ""
    by_method = kept.value - left.value > POINTS
    return wording.cause_of_loss(kept.value, by_method=by_method, plain_too=plain_too)


def _scores(ours: Scenario, theirs: Scenario) -> tuple[Measure, Measure]:
    """Return both scores on the seeds and rows that both have; None if there are none."""
    first, second = common_seeds(ours, theirs)
    new, old = ours.iid[:, first], theirs.iid[:, second]
    known = ~np.isnan(new - old).any(axis=1) if first else np.zeros(len(new), dtype=bool)
    n = int(known.sum())
    one, other = (
        Measure("iid score", float(hits[known].mean()) if n else None, n, scenario.groups)
        for scenario, hits in ((ours, new), (theirs, old))
    )
    return one, other


# Negative transfer


@dataclass(frozen=True, slots=True)
class Change:
    """The effect of its siblings on a functionality in one row."""

    row: Row
    functionality: str
    points: float
    n: int
    p: float
    runs: int


def negative_transfer(trainings: Trainings) -> list[Finding]:
    """Return the functionalities that their siblings harm; Holm over all."""
    changes = [change for row in trainings.rows for change in _changes(trainings, row)]
    adjusted = holm([change.p for change in changes]).tolist() if changes else []
    return [
        _harm(trainings, replace(change, p=p))
        for change, p in zip(changes, adjusted, strict=True)
        if change.points < 0 and p <= ALPHA
    ]


def _changes(trainings: Trainings, row: Row) -> Iterator[Change]:
    """Yield the effect on each functionality with siblings, on the cases that apply in both."""
    if not {"functionality", "capability"} <= set(trainings.hold_outs):
        return
    near, far = (trainings.scenario(row, name) for name in ("functionality", "capability"))
    ours, theirs = common_seeds(near, far)
    for name, places in trainings.functionalities.items() if ours else ():
        in_both = name in near.functionalities and name in far.functionalities
        if not in_both or not _has_siblings(trainings, name):
            continue
        change = near.suite[places][:, ours] - far.suite[places][:, theirs]
        known = ~np.isnan(change).any(axis=1)
        if known.any():
            sums = change[known].sum(axis=1)
            p = _p(trainings, sums, len(ours))
            yield Change(row, name, float(change[known].mean()), int(known.sum()), p, len(ours))


def _p(trainings: Trainings, sums: Floats, seeds: int) -> float:
    if seeds == 1:
        return sign_test(int((sums > 0).sum()), int((sums < 0).sum()))
    rng = np.random.default_rng(trainings.settings.seed)
    return sign_flip_test(sums, rng, trainings.settings.shuffles)


def _has_siblings(trainings: Trainings, name: str) -> bool:
    capability = trainings.groups(name)["capability"]
    return sum(trainings.groups(other)["capability"] == capability for other in trainings.functionalities) > 1


def _harm(trainings: Trainings, change: Change) -> Finding:
    (config, method), name = change.row, change.functionality
    groups = {"config": config, "method": method, "functionality": name}
    facts = {"adjusted p": change.p}
    measure = Measure("difference", change.points, change.n, groups, of="pass rate", facts=facts)
    capability = trainings.groups(name)["capability"]
    text = wording.negative_transfer(change.row, name, capability, change.points, change.runs)
    return Finding(NEGATIVE_TRANSFER, text, (measure,), TRANSFER, groups)
