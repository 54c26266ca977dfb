"""Whether a row still does the task: forgotten on the way, or never learnt. Nothing else of such a row means anything.

starts from      beside              more than five points below, not by chance
i.i.d. model     the iid row         forgotten: by the data if vanilla forgets as much, else by the method
base weights     vanilla's own row   not learnt (vanilla itself beside the iid row)
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ....claims import ALPHA
from ....measures import MEASURES, shown
from ....records import Finding, Measure
from ....stats.multiplicity import holm
from .against_iid import Contest, iid_test
from .trainings import STANDARD, Row, Scenario, Trainings

FORGOTTEN, UNTRAINED = "forgotten", "untrained"
POINTS = 0.05
"""What a method may cost of the i.i.d. score."""
WEIGHT = 20.0
PLAIN = "vanilla"


@dataclass(frozen=True, slots=True)
class Loss:
    """A row beside the one that it is measured by."""

    row: Scenario
    yardstick: Scenario
    contest: Contest

    @property
    def starts_trained(self) -> bool:
        """Whether the task was known before the suite came."""
        return self.row.row[0].startswith("iid>")


def lost_tasks(trainings: Trainings) -> list[Finding]:
    """The rows that no longer do the task, after adjustment over all."""
    losses = list(_losses(trainings))
    adjusted = holm([loss.contest.p for loss in losses]).tolist() if losses else []
    return [
        _finding(trainings, loss, p)
        for loss, p in zip(losses, adjusted, strict=True)
        if p <= ALPHA and loss.contest.difference.value < -POINTS
    ]


def _losses(trainings: Trainings) -> Iterator[Loss]:
    baseline = trainings.baseline
    for row in trainings.rows:
        yardstick = baseline if _is_measured_by_iid(row) else trainings.scenario((row[0], PLAIN), "seen")
        scenario = trainings.scenario(row, "seen")
        if yardstick is not None:
            yield from (
                Loss(scenario, yardstick, contest)
                for contest in iid_test(trainings.settings, scenario, yardstick)
            )


def _is_measured_by_iid(row: Row) -> bool:
    config, method = row
    return config.startswith("iid>") or method == PLAIN


def _finding(trainings: Trainings, loss: Loss, p: float) -> Finding:
    config, method = loss.row.row
    ours, theirs = _score(loss.row), _score(loss.yardstick)
    figures = f"{_shown(ours)} % of {ours.n:,} i.i.d. rows are right"
    if loss.starts_trained:
        kind, text = FORGOTTEN, f"has forgotten the task: {figures}, {_shown(theirs)} % before"
        text += _whose_doing(trainings, loss)
    else:
        other = "the iid row" if loss.yardstick.hold_out == STANDARD else PLAIN
        kind, text = UNTRAINED, f"did not learn the task: {figures}, of {other} {_shown(theirs)} %"
    groups = {"config": config, "method": method}
    facts = {"difference": loss.contest.difference.value, "adjusted p": p}
    text = f"{config} {method} {text}; its other columns say nothing about generalisation"
    return Finding(kind, text, (ours, theirs), WEIGHT, groups, facts)


def _whose_doing(trainings: Trainings, loss: Loss) -> str:
    """Whether plain training on the same data forgets as much."""
    config, method = loss.row.row
    plain = trainings.scenario((config, PLAIN), "seen")
    if method == PLAIN or not plain.seeds:
        return ""
    kept, left = _score(plain), _score(loss.row)
    assert kept.value is not None and left.value is not None
    if kept.value - left.value > POINTS:
        return f"; {PLAIN} on the same data keeps {_shown(kept)} %, so it is the method's doing"
    return f"; so does {PLAIN}, with {_shown(kept)} %: it is the data's doing, not the method's"


def _score(scenario: Scenario) -> Measure:
    groups: Mapping[str, str] = {
        "config": scenario.row[0],
        "method": scenario.row[1],
        "hold out": scenario.hold_out,
    }
    return Measure("iid score", float(scenario.iid.mean()), len(scenario.iid), groups)


def _shown(score: Measure) -> str:
    return shown(score.value, MEASURES["iid score"])
