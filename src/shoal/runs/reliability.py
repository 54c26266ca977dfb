"""Agreement between the runs of one recipe, from an item-by-run matrix (`docs/method/beyond.md` 7.6)."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..core.records import Measure
from ..data.matrix import RunMatrix
from ..stats import reliability as r

Floats = NDArray[np.float64]

TARGET = 0.9
"""The reliability of the mean over runs for which `runs needed` is computed."""


def reliability(matrix: RunMatrix, target: float = TARGET) -> list[Measure]:
    """Return measures for all items, and for each group of items if there are several."""
    measures = list(_measures(matrix.outcomes, matrix.scores, {}, target))
    names = sorted(set(matrix.groups))
    for name in names if len(names) > 1 else ():
        members = np.array([group == name for group in matrix.groups])
        scores = None if matrix.scores is None else matrix.scores[members]
        measures += _measures(matrix.outcomes[members], scores, {"group": name}, target)
    return measures


def _measures(
    outcomes: Floats, scores: Floats | None, groups: dict[str, str], target: float
) -> Iterator[Measure]:
    items, runs = outcomes.shape
    undecided = int(np.isnan(outcomes).sum())

    def measure(
        name: str,
        value: float | None,
        interval: tuple[float, float] | None = None,
        how: str = "",
        note: str = "",
        **more: str,
    ) -> Measure:
        known = None if value is None or np.isnan(value) else float(value)
        sound = interval if interval and not np.isnan(interval[0]) else None
        further = {key.replace("_", " "): word for key, word in more.items()}
        return Measure(
            name, known, items, {**groups, **further}, sound, how if sound else "", undecided, note=note
        )

    spread = r.run_spread(outcomes)
    alone = "one run: this checkpoint only" if runs == 1 else ""
    yield measure("mean over runs", spread.mean, spread.mean_interval, "t over runs", alone)
    yield measure("sd over runs", spread.sd, spread.sd_interval, "chi-square", alone)
    yield measure(
        "over-dispersion ratio",
        spread.ratio,
        note="near 1: items flip independently; above 1: whole runs shift",
    )
    if runs < 2:
        return
    yield measure("pairwise agreement", r.pairwise_agreement(outcomes))
    decided = outcomes[~np.isnan(outcomes).any(axis=1)]
    kappa = r.fleiss_kappa(r.category_counts(decided)) if len(decided) else None
    partly = f"on the {len(decided)} items that every run decided" if len(decided) < items else ""
    yield measure("Fleiss kappa", kappa, note=partly)
    yield measure("Krippendorff alpha", r.krippendorff_alpha(outcomes))
    counts, odd = r.disagreement_histogram(outcomes)
    chance = r.coin_flip_histogram(runs)
    for against, count in enumerate(counts.tolist()):
        note = f"{100 * chance[against]:.1f} % if every outcome were a coin toss" + (
            f"; {odd} undecided" if odd else ""
        )
        yield measure("share of items", count / items, note=note, runs_against_the_majority=str(against))
    complete = decided if scores is None else scores[~np.isnan(scores).any(axis=1)]
    if len(complete) < 2:
        return
    icc = r.icc(complete)
    yield measure("ICC(2,1)", icc.agreement, note="agreement of two runs on an item")
    yield measure("ICC(2,k)", icc.mean_agreement, note=f"agreement of means over {runs} runs")
    needed = r.runs_needed(icc.agreement, target) if 0 < icc.agreement < 1 else None
    yield measure(
        "runs needed", needed, note=f"for a reliability of {target:g}" if needed else "undefined for one run"
    )
    shares = r.variance_components(complete).shares
    for name, share in zip(("seeds", "items", "residual"), shares, strict=True):
        yield measure("variance share", share, source=name)
