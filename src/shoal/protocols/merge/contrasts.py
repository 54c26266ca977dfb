"""Classes of words, sources and filter conditions against each other, within one model (`docs/method/merge.md` 4.8).

Filters and sources are compared on the same problems; classes are of different ones, some in common. Intervals are of
single differences.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

from ...core.records import Measure
from ...stats.patterns import Split, split_difference
from .sheet import Counted, Sheet

BY = ("word class", "source", "filter")
"""What variants are split by."""


def contrast_measures(sheet: Sheet, counted: Sequence[Counted]) -> Iterator[Measure]:
    """Differences of sample accuracy, and of pattern accuracy at the thresholds that are shown."""
    for key in BY:
        for first, second in _pairs(sheet, [part for part in counted if _is_split(sheet, part, key)], key):
            names = {key: first.condition.groups[key], "against": second.condition.groups[key]}
            yield _difference(sheet, names, first, second, None)
            for threshold in sheet.headline:
                yield _difference(sheet, names, first, second, threshold)


def _is_split(sheet: Sheet, counted: Counted, key: str) -> bool:
    """Whether these are the patterns of one class or source under the first filter, or of one filter over all."""
    groups = counted.condition.groups
    return key in groups and all(
        sheet.base.get(other) == value for other, value in groups.items() if other != key
    )


def _pairs(sheet: Sheet, parts: Sequence[Counted], key: str) -> Iterator[tuple[Counted, Counted]]:
    """Every two; of filters each against the first."""
    for first, second in combinations(parts, 2):
        if key != "filter" or first is parts[0]:
            yield (second, first) if key == "filter" else (first, second)


def _difference(
    sheet: Sheet, names: dict[str, str], first: Counted, second: Counted, threshold: float | None
) -> Measure:
    value, interval = split_difference(_split(first, threshold), _split(second, threshold))
    groups = names if threshold is None else {**names, "threshold": f"{threshold:g}"}
    what = "sample accuracy" if threshold is None else "pattern accuracy"
    return Measure(
        "difference between splits", value, first.problems + second.problems, groups, interval,
        f"t over {sheet.over}", facts={"of": what},
    )  # fmt: skip


def _split(counted: Counted, threshold: float | None) -> Split:
    if threshold is None:
        return Split(counted.right.mean(axis=1), counted.n.mean(axis=1), counted.clusters)
    solved = counted.solved([threshold])[:, 0]
    return Split(solved, [1.0] * len(solved), counted.clusters)
