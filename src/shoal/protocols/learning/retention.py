"""Rows that forgot the task, or never learnt it. No other column of such a row means anything.

starts from      compared with       more than five points below, significantly
i.i.d. model     the iid row         forgotten: by the data if vanilla forgets too, by the method if it keeps the task
base weights     vanilla's own row   not learnt (vanilla itself, and all rows without a vanilla: the iid row)

G uses the i.i.d. score of the model trained on the whole suite. The held-out models may have lost more: each is
compared with the same yardstick.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...core.claims import ALPHA
from ...core.records import Finding, Measure
from ...stats.multiplicity import holm
from ...stats.paired import sign_test
from . import wording
from .against_iid import Contest, common_seeds, iid_test
from .trainings import STANDARD, Floats, Row, Scenario, Trainings
from .wording import PLAIN

FORGOTTEN, UNTRAINED = "forgotten", "untrained"
POINTS, MUCH = 0.05, 0.2
"""Smallest loss of i.i.d. score that is reported as part of the task, and as the whole task."""
WEIGHT, WEIGHT_OF_FOLDS = 20.0, 15.0


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


@dataclass(frozen=True, slots=True)
class Fold:
    """A held-out model and its yardstick."""

    row: Row
    yardstick: Scenario
    hold_out: str
    without: str
    seed: int
    score: float
    before: float
    """The yardstick's score with the same seed on the same rows."""
    n: int
    p: float

    @property
    def name(self) -> str:
        """The fold, and its seed if there are several."""
        return f"{self.hold_out} {self.without}" + (
            f" (seed {self.seed})" if len(self.yardstick.seeds) > 1 else ""
        )


def lost_tasks(trainings: Trainings) -> list[Finding]:
    """Return the rows that lost the task, and those whose held-out models did; Holm over each kind."""
    return [*_lost_rows(trainings), *_lost_folds(trainings)]


def _lost_rows(trainings: Trainings) -> list[Finding]:
    losses = list(_losses(trainings))
    adjusted = holm([loss.contest.p for loss in losses]).tolist() if losses else []
    lost = {
        loss.row.row: (loss, p)
        for loss, p in zip(losses, adjusted, strict=True)
        if p <= ALPHA and loss.contest.difference.value < -POINTS
    }
    return [_finding(trainings, loss, p, (loss.row.row[0], PLAIN) in lost) for loss, p in lost.values()]


def _losses(trainings: Trainings) -> Iterator[Loss]:
    for row, yardstick in _measured(trainings):
        scenario = trainings.scenario(row, "seen")
        yield from (
            Loss(scenario, yardstick, contest)
            for contest in iid_test(trainings.settings, scenario, yardstick, these_runs=True)
        )


def _measured(trainings: Trainings) -> Iterator[tuple[Row, Scenario]]:
    """Yield each row with its yardstick, if there is one."""
    baseline = trainings.baseline
    for row in trainings.rows:
        by_iid = row[0].startswith("iid>") or row[1] == PLAIN
        plain = trainings.scenario((row[0], PLAIN), "seen")
        yardstick = plain if plain.seeds and not by_iid else baseline
        if yardstick is not None:
            yield row, yardstick


def _lost_folds(trainings: Trainings) -> Iterator[Finding]:
    folds = [
        fold
        for row, yardstick in _measured(trainings)
        for hold_out, without, seed, hits in trainings.models_without(row)
        for fold in _fold(row, yardstick, hold_out, without, seed, hits)
    ]
    adjusted = holm([fold.p for fold in folds]).tolist() if folds else []
    lost = [
        fold
        for fold, p in zip(folds, adjusted, strict=True)
        if p <= ALPHA and fold.score - fold.before < -POINTS
    ]
    for row in dict.fromkeys(fold.row for fold in lost):
        some = sorted((fold for fold in lost if fold.row == row), key=lambda fold: fold.score)
        yield _finding_of_folds(trainings, some, sum(fold.row == row for fold in folds))


def _fold(
    row: Row, yardstick: Scenario, hold_out: str, without: str, seed: int, hits: Floats
) -> Iterator[Fold]:
    """Yield a held-out model with the yardstick of its seed, on the rows that both answered."""
    if seed not in yardstick.seeds:
        return
    before = yardstick.iid[:, yardstick.seeds.index(seed)]
    known = ~np.isnan(hits - before)
    n, new, old = int(known.sum()), hits[known], before[known]
    if n:
        p = sign_test(int((new > old).sum()), int((new < old).sum()))
        yield Fold(row, yardstick, hold_out, without, seed, float(new.mean()), float(old.mean()), n, p)


def _finding_of_folds(trainings: Trainings, lost: list[Fold], models: int) -> Finding:
    """Return how many of a row's held-out models lost the task, with the worst of them."""
    worst, (config, method) = lost[0], lost[0].row
    groups, seed = {"config": config, "method": method}, {"seed": str(worst.seed)}
    which = {"hold out": worst.hold_out, "fold": worst.without}
    lowest = Measure("iid score", worst.score, worst.n, groups | which | seed)
    theirs = Measure("iid score", worst.before, worst.n, worst.yardstick.groups | seed)
    text = wording.lost_folds(
        worst.row, lost=len(lost), models=models, worst=worst.name, score=worst.score, before=worst.before,
        yardstick=_whose(worst.yardstick), full_iid=not trainings.iid_of_held_out,
    )  # fmt: skip
    kind = FORGOTTEN if config.startswith("iid>") else UNTRAINED
    facts = {"models": [fold.name for fold in lost], "of": models}
    return Finding(kind, text, (lowest, theirs), WEIGHT_OF_FOLDS, groups, facts)


def _finding(trainings: Trainings, loss: Loss, p: float, plain_too: bool) -> Finding:
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
    return Finding(
        FORGOTTEN if loss.starts_trained else UNTRAINED, text, (ours, theirs), WEIGHT, groups, facts
    )


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
