"""How far the answers of a prompted model depend on the wording of the prompt, the order of its labels, and the seed.

Jobs of one model on the same cases that differ only in these options are a family (`docs/method/prompted.md` 8.5).
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ...core.records import Measure, Result
from ...models import VARIED
from ...models.batching import is_reading
from ..variation import Levels, Variants, changed_answers, variants
from .text_rules import normalised

CHANCE = re.compile(r"^(?P<label>.+?)(?: (?:1\.00|\.\d\d)| \(.+ (?:1\.00|\.\d\d)\))$")


Given = Mapping[Levels, Sequence[tuple[str, ...]]]
"""The answers of each job to the examples of each case, without probabilities."""


def sensitivity(results: Sequence[Result]) -> list[Measure]:
    """Return for each family how its answers and scores vary, and its bias towards labels and positions."""
    measures: list[Measure] = []
    for family in variants(results):
        plain = normalised if is_reading(next(iter(family.results.values())).cases) else _label
        given: Given = {
            levels: [tuple(map(plain, answers)) for answers in result.columns["said"]]
            for levels, result in family.results.items()
        }
        measures += [*changed_answers(family, given, {}), *_spreads(family)]
        measures += [*_label_shares(family, given), *_position_shares(family, given)]
    return measures


def _spreads(family: Variants) -> Iterator[Measure]:
    """Yield the standard deviation of the suite score over the levels of each factor, averaged over the others."""
    rows = {levels: result.measures.where("suite score") for levels, result in family.results.items()}
    scores = {levels: row.value for levels, found in rows.items() for row in found if row.value is not None}
    for place, factor in enumerate(VARIED):
        by_level: dict[str, list[float]] = {}
        for levels in (levels for group in family.along(place) for levels in group if levels in scores):
            by_level.setdefault(levels[place], []).append(scores[levels])
        means = [float(np.mean(values)) for values in by_level.values()]
        if len(means) > 1:
            about = {"family": family.name, "factor": factor}
            facts = {"low": min(means), "high": max(means)}
            spread = float(np.std(means, ddof=1))
            yield Measure("sd over runs", spread, len(means), about, of="suite score", facts=facts)


def _label_shares(family: Variants, given: Given) -> Iterator[Measure]:
    """Yield the share of each label among the answers to labelled examples, and among the expected labels."""
    expected, chosen = Counter[str](), Counter[str]()
    for levels, result in family.results.items():
        for case, answers in zip(result.cases, given[levels], strict=True):
            names = case.meta.get("labels") or ()
            if case.groups["test type"] == "MFT" and case.labels and names:
                right = [names[label] if isinstance(label, int) else label for label in case.labels]
                pairs = [pair for pair in zip(right, answers, strict=True) if set(pair) <= set(names)]
                expected.update(label for label, _ in pairs)
                chosen.update(answer for _, answer in pairs)
    total = expected.total()
    for label in sorted(expected | chosen):
        about, facts = {"family": family.name, "label": label}, {"expected": expected[label] / total}
        yield Measure("label share", chosen[label] / total, total, about, facts=facts)


def _position_shares(family: Variants, given: Given) -> Iterator[Measure]:
    """Yield how often the label at each place was chosen, if every label was at every place equally often."""
    counts: Counter[int] = Counter()
    size = 0
    for group in family.along(VARIED.index("order")):
        listed = {levels: listed_labels(family.results[levels]) for levels in group}
        size = len(next(iter(listed.values())))
        if len({tuple(labels) for labels in listed.values()}) < size or len(group) != size:
            return
        for levels in group:
            places = {label: place for place, label in enumerate(listed[levels], start=1)}
            answers = (answer for said in given[levels] for answer in said)
            counts.update(places[answer] for answer in answers if answer in places)
    for place in range(1, size + 1 if counts else 1):
        about = {"family": family.name, "position": str(place)}
        yield Measure("position share", counts[place] / counts.total(), counts.total(), about)


def listed_labels(result: Result) -> list[str]:
    """Return the labels in the order in which the prompt lists them."""
    (whole,) = result.measures.where("suite score")
    return list(whole.facts.get("listed") or result.cases[0].meta.get("labels") or ())


def _label(answer: str) -> str:
    """Return an answer without its probability.

    >>> _label("positive .98"), _label("neutral (positive .45)"), _label("no answer")
    ('positive', 'neutral', 'no answer')
    """
    found = CHANCE.match(answer)
    return found["label"] if found else answer
