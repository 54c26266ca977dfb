"""How far the answers of a prompted model depend on the wording of the prompt, the order of its labels, and the seed.

Jobs of one model on the same cases that differ only in these options are a family (`docs/method/prompted.md` 8.5).
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np

from ...core.records import Measure, Result
from ...models import VARIED, parse_spec, variant_of
from ...models.batching import is_reading
from ...stats.intervals import wilson
from .text_rules import normalised

CHANCE = re.compile(r"^(?P<label>.+?)(?: (?:1\.00|\.\d\d)| \(.+ (?:1\.00|\.\d\d)\))$")

Levels = tuple[str, ...]
"""The values of the varied options."""


@dataclass(frozen=True)
class Family:
    """The results of one model under several prompts, orders or seeds."""

    name: str
    results: Mapping[Levels, Result]

    @cached_property
    def answers(self) -> dict[Levels, list[tuple[str, ...]]]:
        """The answers to the examples of each case, without probabilities."""
        return {
            levels: [
                tuple(map(normalised if is_reading(result.cases) else _label, answers))
                for answers in result.columns["said"]
            ]
            for levels, result in self.results.items()
        }

    @property
    def scores(self) -> dict[Levels, float]:
        """The suite score of each job that has one."""
        rows = {levels: result.measures.where("suite score") for levels, result in self.results.items()}
        return {
            levels: found[0].value for levels, found in rows.items() if found and found[0].value is not None
        }

    def along(self, factor: int) -> list[list[Levels]]:
        """Return the jobs that differ in one factor only, those with two or more levels of it."""

        def rest(levels: Levels) -> Levels:
            return levels[:factor] + levels[factor + 1 :]

        groups = [list(group) for _, group in groupby(sorted(self.results, key=rest), key=rest)]
        return [group for group in groups if len(group) > 1]


def families(results: Sequence[Result]) -> list[Family]:
    """Return the families of two or more jobs."""
    found: dict[tuple[str, str], dict[Levels, Result]] = {}
    for result in results:
        levels = variant_of(str(result.job["model"]))
        if levels and result.columns.get("said"):
            spec = parse_spec(str(result.job["model"]))
            others = [f"{name}={value}" for name, value in spec.options.items() if name not in VARIED]
            name = "?".join(filter(None, [spec.who, "&".join(others)]))
            found.setdefault((name, str(result.job["cases"])), {})[levels] = result
    chosen = {key: own for key, own in found.items() if len(own) > 1}
    heads = Counter(name.partition("?")[0] for name, _ in chosen)
    return [
        Family(head if heads[head := name.partition("?")[0]] == 1 else name, own)
        for (name, _), own in chosen.items()
    ]


def sensitivity(results: Sequence[Result]) -> list[Measure]:
    """Return for each family how its answers and scores vary, and its bias towards labels and positions."""
    return [row for family in families(results) for row in _of_family(family)]


def _of_family(family: Family) -> Iterator[Measure]:
    for place, factor in enumerate(VARIED):
        groups = family.along(place)
        if groups:
            about = {"family": family.name, "factor": factor}
            yield _changed_answers(family, groups, about)
            yield from _spread(family, groups, place, about)
    yield from _label_shares(family)
    yield from _position_shares(family)


def _changed_answers(family: Family, groups: Sequence[Sequence[Levels]], about: Mapping[str, str]) -> Measure:
    """Return the share of cases in which not all levels of a factor give the same answers."""
    changed = [
        [len(set(answers)) > 1 for answers in zip(*(family.answers[levels] for levels in group), strict=True)]
        for group in groups
    ]
    share, n = float(np.mean(changed)), len(changed[0])
    facts = {"levels": max(map(len, groups))}
    return Measure("changed answers", share, n, about, wilson(share * n, n), "wilson", facts=facts)


def _spread(
    family: Family, groups: Sequence[Sequence[Levels]], place: int, about: Mapping[str, str]
) -> Iterator[Measure]:
    """Yield the standard deviation of the suite score over the levels of a factor, averaged over the others."""
    by_level: dict[str, list[float]] = {}
    for levels in (levels for group in groups for levels in group if levels in family.scores):
        by_level.setdefault(levels[place], []).append(family.scores[levels])
    means = [float(np.mean(scores)) for scores in by_level.values()]
    if len(means) > 1:
        facts = {"low": min(means), "high": max(means)}
        spread = float(np.std(means, ddof=1))
        yield Measure("sd over runs", spread, len(means), about, of="suite score", facts=facts)


def _label_shares(family: Family) -> Iterator[Measure]:
    """Yield the share of each label among the answers to labelled examples, and among the expected labels."""
    expected: Counter[str] = Counter()
    given: Counter[str] = Counter()
    for levels, result in family.results.items():
        for case, answers in zip(result.cases, family.answers[levels], strict=True):
            names = case.meta.get("labels") or ()
            if case.groups["test type"] == "MFT" and case.labels and names:
                right = [names[label] if isinstance(label, int) else label for label in case.labels]
                pairs = [pair for pair in zip(right, answers, strict=True) if set(pair) <= set(names)]
                expected.update(label for label, _ in pairs)
                given.update(answer for _, answer in pairs)
    total = expected.total()
    for label in sorted(expected | given):
        facts = {"expected": expected[label] / total}
        yield Measure(
            "label share", given[label] / total, total, {"family": family.name, "label": label}, facts=facts
        )


def _position_shares(family: Family) -> Iterator[Measure]:
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
            counts.update(
                places[answer] for said in family.answers[levels] for answer in said if answer in places
            )
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
