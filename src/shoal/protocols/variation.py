"""Jobs of one model that differ only in prompt, order or seed, and how often their answers differ.

`docs/method/prompted.md` 8.5 defines the measure; `behaviour` and `bias` report it.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from ..core.measures import SHARE, shown
from ..core.records import Measure, Result
from ..models import VARIED, parse_spec, variant_of
from ..stats.intervals import wilson

BECAUSE = {"prompt": "the wording", "order": "the order of the labels", "seed": "the seed"}

Levels = tuple[str, ...]
"""The values of the varied options."""


@dataclass(frozen=True)
class Variants:
    """The results of one model on the same cases under several prompts, orders or seeds."""

    name: str
    results: Mapping[Levels, Result]

    @property
    def factors(self) -> list[str]:
        """Return the options that differ."""
        values = zip(*self.results, strict=True)
        return [factor for factor, levels in zip(VARIED, values, strict=True) if len(set(levels)) > 1]

    def along(self, factor: int) -> list[list[Levels]]:
        """Return the jobs that differ in one factor only, those with two or more levels of it."""

        def rest(levels: Levels) -> Levels:
            return levels[:factor] + levels[factor + 1 :]

        groups = [list(group) for _, group in groupby(sorted(self.results, key=rest), key=rest)]
        return [group for group in groups if len(group) > 1]


def variants(results: Sequence[Result]) -> list[Variants]:
    """Return the models with two or more such jobs, by the shortest name that no other of them has."""
    found: dict[tuple[str, str], dict[Levels, Result]] = {}
    for result in results:
        levels = variant_of(str(result.job["model"]))
        if levels and result.columns.get("said"):
            spec = parse_spec(str(result.job["model"]))
            others = [f"{name}={value}" for name, value in spec.options.items() if name not in VARIED]
            name = "?".join(filter(None, [spec.who, "&".join(others)]))
            found.setdefault((name, str(result.job["cases"])), {})[levels] = result
    several = [(name, own) for (name, _), own in found.items() if len(own) > 1]
    heads = Counter(name.partition("?")[0] for name in {name for name, _ in several})
    return [
        Variants(head if heads[head := name.partition("?")[0]] == 1 else name, own) for name, own in several
    ]


def changed_answers(
    group: Variants, answers: Mapping[Levels, Sequence[Hashable]], groups: Mapping[str, str]
) -> Iterator[Measure]:
    """Yield for each factor the share of cases in which not all of its levels give the same answers."""
    for place, factor in enumerate(VARIED):
        if not (jobs := group.along(place)):
            continue
        rows = [zip(*(answers[levels] for levels in alike), strict=True) for alike in jobs]
        changed = [[len(set(row)) > 1 for row in same_case] for same_case in rows]
        share, n = float(np.mean(changed)), len(changed[0])
        about = {**groups, "family": group.name, "factor": factor}
        facts = {"levels": max(map(len, jobs))}
        yield Measure("changed answers", share, n, about, wilson(share * n, n), "wilson", facts=facts)


def answers_change(rows: Sequence[Measure], cases: str = "cases") -> str:
    """Return how often answers change with each factor; `cases` is the noun, with or without a count."""
    parts = [
        f"on {BECAUSE[row.groups['factor']]} in {shown(row.value, SHARE)} % {f'of {cases} ' * (not place)}"
        f"({row.facts['levels']} {row.groups['factor']}s)"
        for place, row in enumerate(rows)
    ]
    return f"the answer depends {' and '.join(parts)}"
