"""Models that know nothing, put through the suite: what a row of the table has to be better than.

`docs/method/beyond.md` 7.9.

    always X        one label, or one answer, to everything: it passes every test of invariance
    by chance       labels drawn as often as they are right in the i.i.d. rows
    first word      of questions about a text: how the context begins
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from ...core.records import Answers, Case, Measure
from ...stats.paired import generalization_score
from ..behaviour.hygiene.material import LUKEWARM, Reply, answers_of
from ..behaviour.rules import squad_normalise
from ..behaviour.score import by_functionality, judge
from ..behaviour.settings import Settings
from .trainings import Scenario, Trainings

NULL, CORRECTED = "null score", "chance-corrected suite score"
OF = ("suite score", "iid score", "G")
BY_CHANCE = "by chance"
DRAWS = 5


@dataclass(frozen=True, slots=True)
class Null:
    """A model that knows nothing, and how it does."""

    name: str
    rates: Mapping[str, float]
    """Its pass rate in each functionality of which a case applies to it."""
    iid: float

    def suite(self, names: Sequence[str]) -> float:
        """Its suite score over these functionalities."""
        return fmean([self.rates[name] for name in names if name in self.rates] or [0.0])


def nulls_of(trainings: Trainings) -> list[Null]:
    """Every such model on the cases of a table; none where there are no i.i.d. rows, or nothing says what is right."""
    suite = [trainings.cases[position] for position in trainings.suite.tolist()]
    iid = [trainings.cases[position] for position in trainings.iid.tolist()]
    if not suite or not iid or not all("expect" in case.meta for case in suite):
        return []
    if suite[0].meta.get("reading"):
        return [_null(trainings.settings, name, suite, iid, words) for name, words in _words(suite).items()]
    labels = tuple(map(str, suite[0].meta.get("labels") or ())) or _labels(iid)
    found = [
        _constant(trainings.settings, label, position, labels, suite, iid)
        for position, label in enumerate(labels)
    ]
    return [*found, _by_chance(trainings.settings, labels, suite, iid)]


def null_measures(trainings: Trainings, compared: Sequence[str]) -> Iterator[Measure]:
    """How each does on the functionalities of the table, and every row beside the best of them.

    (s - s_null) / (1 - s_null): 0 is knowing nothing, 1 everything.
    """
    nulls = nulls_of(trainings)
    if not nulls or not compared:
        return
    for null in nulls:
        asked = [name for name in compared if name in null.rates]
        n = sum(len(trainings.functionalities[name]) for name in asked)
        # Not under "of": that fact names the quantity which a measure is a difference or spread of.
        applying = {"functionalities": len(asked), "compared": len(compared)}
        part = applying if len(asked) < len(compared) else {}
        suite = null.suite(compared)
        values = dict(zip(OF, (suite, null.iid, float(generalization_score(suite, null.iid))), strict=True))
        for of, value in values.items():
            groups = {"null": null.name, "of": of}
            is_iid = of == "iid score"
            yield Measure(
                NULL, value, len(trainings.iid) if is_iid else n, groups, facts={} if is_iid else part
            )
    scenarios = [trainings.scenario(row, column) for row in trainings.rows for column in trainings.hold_outs]
    for scenario in [*([trainings.baseline] if trainings.baseline else []), *scenarios]:
        yield from _corrected(trainings, scenario, nulls, compared)


def _corrected(
    trainings: Trainings, scenario: Scenario, nulls: Sequence[Null], compared: Sequence[str]
) -> Iterator[Measure]:
    """Beside the best of those that know nothing, on the functionalities that this cell of the table and it have."""
    asked = [name for name in compared if name in scenario.functionalities]
    best = max(nulls, key=lambda null: null.suite(asked))
    names, least = [name for name in asked if name in best.rates], best.suite(asked)
    if not names or not scenario.seeds or least >= 1:
        return
    places = [trainings.functionalities[name] for name in names]
    ours = fmean(float(np.nanmean(scenario.suite[place], axis=0).mean()) for place in places)
    groups = {"config": scenario.row[0], "method": scenario.row[1], "hold out": scenario.hold_out}
    facts = {"null": best.name, "null suite score": least, "suite score": ours}
    yield Measure(CORRECTED, (ours - least) / (1 - least), sum(map(len, places)), groups, facts=facts)


# Answers that are made up


def _constant(
    settings: Settings,
    label: str,
    position: int,
    labels: tuple[str, ...],
    suite: Sequence[Case],
    iid: Sequence[Case],
) -> Null:
    """Not quite sure of it: where a rule asks for more than that, no case would apply."""
    reply = Reply.label(position, labels, LUKEWARM)
    answers = answers_of([reply], [0] * sum(len(case.examples) for case in suite))
    right = fmean(str((case.labels or ("",))[0]) == label for case in iid)
    return Null(f"always {label}", _rates(settings, suite, answers), right)


def _by_chance(
    settings: Settings, labels: tuple[str, ...], suite: Sequence[Case], iid: Sequence[Case]
) -> Null:
    """Each example a label of its own, by the shares of the i.i.d. rows; the mean of a few draws."""
    counts = Counter(str((case.labels or ("",))[0]) for case in iid)
    shares = np.array([counts[label] for label in labels], np.float64)
    shares /= shares.sum()
    replies = [Reply.label(position, labels, LUKEWARM) for position in range(len(labels))]
    rng = np.random.default_rng(settings.seed)
    examples = sum(len(case.examples) for case in suite)
    rates: dict[str, list[float]] = {}
    for _ in range(DRAWS):
        drawn = answers_of(replies, rng.choice(len(labels), examples, p=shares).tolist())
        for name, rate in _rates(settings, suite, drawn).items():
            rates.setdefault(name, []).append(rate)
    return Null(BY_CHANCE, {name: fmean(known) for name, known in rates.items()}, float((shares**2).sum()))


def _words(suite: Sequence[Case]) -> dict[str, str | None]:
    """Answers to questions about a text, by name; None stands for how the context begins."""
    right = Counter(
        str(label) for case in suite for label in case.labels or () if case.groups["test type"] == "MFT"
    )
    usual = right.most_common(1)[0][0] if right else ""
    return {"nothing": "", f"always {usual!r}": usual, "the first word of the context": None}


def _null(
    settings: Settings, name: str, suite: Sequence[Case], iid: Sequence[Case], words: str | None
) -> Null:
    texts = [
        _first_word(example[0]) if words is None else words for case in suite for example in case.examples
    ]
    answers = Answers((), np.zeros(len(texts), np.int64), texts=texts)
    right = fmean(
        squad_normalise(_first_word(case.examples[0][0]) if words is None else words)
        in map(squad_normalise, case.meta["answers"])
        for case in iid
    )
    return Null(name, _rates(settings, suite, answers), right)


def _first_word(context: str) -> str:
    return next(iter(context.split()), "")


def _rates(settings: Settings, suite: Sequence[Case], answers: Answers) -> dict[str, float]:
    """The pass rate of each functionality with a case that applies."""
    outcomes = judge(settings, suite, answers)
    rates = {}
    for name, members in by_functionality(suite).items():
        known = [passed for at in members.tolist() if (passed := outcomes[at].passed) is not None]
        if known:
            rates[name] = fmean(known)
    return rates


def _labels(iid: Sequence[Case]) -> tuple[str, ...]:
    return tuple(sorted({str((case.labels or ("",))[0]) for case in iid}))
