"""The same concept by two diagnostics: how far apart they are, and whether they rise and fall together (5.7)."""

from collections.abc import Iterator

import numpy as np

from ...core.records import Measure
from ...stats.intervals import mean_t_interval
from ...stats.reliability import correlation
from .build import module_of
from .family import Family, several, sound

SCORE = "stereotype score"


def between_diagnostics(ours: Family, theirs: Family) -> Iterator[Measure]:
    """For every concept that both have a category for, over the checkpoints that both were asked."""
    categories = [module_of(family.diagnostic).CONCEPTS for family in (ours, theirs)]
    shared = [concept for concept in categories[0] if concept in categories[1]]
    if ours.diagnostic == theirs.diagnostic:
        return
    for concept in shared:
        scores = [
            _scores(family, names[concept]) for family, names in zip((ours, theirs), categories, strict=True)
        ]
        common = [name for name in scores[0] if name in scores[1]]
        pairs = np.array([[side[name] for side in scores] for name in common], dtype=np.float64)
        if len(pairs):
            groups = {
                "recipe": ours.recipe,
                "diagnostic": f"{ours.diagnostic} and {theirs.diagnostic}",
                "category": concept,
            }
            yield from _compared(pairs, (ours.diagnostic, theirs.diagnostic), groups)


def _scores(family: Family, category: str) -> dict[str, float]:
    """Each checkpoint's score of a category, over all tasks where there are several."""
    slices = [slice_ for slice_, _ in family.final_slices(SCORE) if slice_["category"] == category]
    whole = [slice_ for slice_ in slices if slice_.get("task", "all") == "all"]
    if not slices:
        return {}
    values = family.values(SCORE, (whole or slices)[0])
    return {name: value for name, value in zip(family.names, values, strict=True) if value is not None}


def _compared(
    pairs: "np.typing.NDArray[np.float64]", diagnostics: tuple[str, str], groups: dict[str, str]
) -> Iterator[Measure]:
    apart = pairs[:, 0] - pairs[:, 1]
    means = {name: float(side.mean()) for name, side in zip(diagnostics, pairs.T, strict=True)}
    words = ", ".join(f"{name} {mean:.3f}" for name, mean in means.items())
    interval = sound(mean_t_interval(apart)) if len(apart) > 1 else None
    yield Measure(
        "difference between diagnostics", float(apart.mean()), len(pairs), groups, interval,
        "t over checkpoints" if interval else "", note=f"{words}; {several(len(pairs))}", facts={"means": means},
    )  # fmt: skip
    if len(pairs) > 2:
        together, ends = correlation(pairs[:, 0], pairs[:, 1])
        yield Measure(
            "correlation between diagnostics", None if np.isnan(together) else together, len(pairs), groups,
            sound(ends), "Fisher" if sound(ends) else "",
            note=f"over {several(len(pairs))}: do the two rise and fall together",
        )  # fmt: skip
