"""The effect of training on one functionality on another (`docs/method/beyond.md` 7.10).

Negative transfer: training on a functionality's siblings makes it worse.
Δ_F = s_F(its siblings trained on) - s_F(its whole capability left out), case by case.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...core.claims import ALPHA
from ...core.records import Case, Finding, Measure
from ...stats.multiplicity import holm
from ...stats.paired import sign_flip_test, sign_test
from . import wording
from .against_iid import common_seeds
from .trainings import Floats, Row, Trainings

NEGATIVE_TRANSFER = "negative transfer"
WEIGHT = 5.0
LETTERS, READ = 5, 50
"""Length of the pieces that texts are compared by, and how many cases of a functionality are read."""


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
        _finding(trainings, replace(change, p=p))
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
        if not in_both or not _siblings(trainings, name):
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


def _siblings(trainings: Trainings, name: str) -> list[str]:
    capability = trainings.groups(name)["capability"]
    return [
        other
        for other in trainings.functionalities
        if other != name and trainings.groups(other)["capability"] == capability
    ]


def _finding(trainings: Trainings, change: Change) -> Finding:
    (config, method), name = change.row, change.functionality
    groups = {"config": config, "method": method, "functionality": name}
    facts = {"of": "pass rate", "adjusted p": change.p}
    measure = Measure("difference", change.points, change.n, groups, facts=facts)
    partner = contrastive_partner(trainings, name)
    capability = trainings.groups(name)["capability"]
    text = wording.negative_transfer(change.row, name, capability, change.points, change.runs, partner)
    return Finding(NEGATIVE_TRANSFER, text, (measure,), WEIGHT, groups, {"partner": partner})


# The sibling that it is confused with


def contrastive_partner(trainings: Trainings, name: str) -> str:
    """Return the sibling with the most similar texts and other right answers, or an empty name."""
    cases = {other: _cases(trainings, other) for other in (name, *_siblings(trainings, name))}
    pieces = {other: _pieces(members) for other, members in cases.items()}
    mine = _answers(cases[name])
    others = [other for other in cases if other != name and not mine & _answers(cases[other])]
    return max(others, key=lambda other: _alike(pieces[name], pieces[other]), default="")


def _cases(trainings: Trainings, name: str) -> list[Case]:
    places = trainings.functionalities[name][:READ]
    return [trainings.cases[position] for position in trainings.suite[places].tolist()]


def _answers(cases: Sequence[Case]) -> set[str]:
    """Return the right answers: labels, or the direction of confidence."""
    return {
        str(label)
        for case in cases
        for label in (case.labels or (case.meta.get("direction") or case.groups["test type"],))
    }


def _pieces(cases: Sequence[Case]) -> set[str]:
    texts = [" ".join(example).casefold() for case in cases for example in case.examples]
    return {text[start : start + LETTERS] for text in texts for start in range(len(text) - LETTERS + 1)}


def _alike(a: set[str], b: set[str]) -> float:
    return len(a & b) / max(1, len(a | b))
