"""Level and power of the marks of Table 3, on made-up results: up to two seeds by case, from three on by seed.

Every draw goes through the table as a plan's results do, and through the same test by hand.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from shoal import Case, Measures, Outcome, Result
from shoal.protocols.learning.comparison import compare_trainings
from shoal.protocols.learning.iid import IID
from shoal.protocols.learning.settings import Settings, Train
from shoal.protocols.learning.table3 import rows_of_table3

Hits = NDArray[np.float64]
SIZES, IID_ROWS = (20, 40, 60, 25), 100
"""Cases of each functionality, and i.i.d. rows."""
METHODS = ("vanilla", "l2", "irm")
SHUFFLES = 400
ALPHA = 0.05


def cases() -> list[Case]:
    names = [(f"f{at}", size) for at, size in enumerate(SIZES)] + [(IID, IID_ROWS)]
    return [
        Case(
            f"{name}/{at}",
            ((f"text {at}",),),
            None,
            {"functionality": name, "capability": name, "test type": "MFT"},
        )
        for name, size in names
        for at in range(size)
    ]


CASES = cases()
FOLDS = [
    np.array([case.groups["functionality"] == name for case in CASES]) for name in ("f0", "f1", "f2", "f3")
]
OF_IID = np.array([case.groups["functionality"] == IID for case in CASES])


def trained(row: tuple[str, str], seed: int, hits: Hits) -> Result:
    config, method = row
    settings = {
        "train": {"on": [config], "method": [method]},
        "hold_out": ["none" if config == "iid" else "seen"],
        "fold": "",
        "seed": seed,
    }
    outcomes = [Outcome(case.id, bool(hit), None, "") for case, hit in zip(CASES, hits, strict=True)]
    return Result(
        {"id": f"{config}-{method}-{seed}", "model": "m", "settings": settings}, CASES, outcomes, Measures([])
    )


def draw(rng: np.random.Generator, seeds: int, gain: float, spread: float) -> dict[tuple[str, str], Hits]:
    """Outcomes (cases, seeds) of the iid row and three rows; the first gains on the suite, the others are equal.

    Cases differ in difficulty, seeds of a recipe by a shift of this standard deviation.
    """
    ease = np.where(OF_IID, 0.9, rng.beta(4, 3, len(CASES)))
    drawn = {}
    for row in [("iid", "vanilla"), *(("iid>suite", method) for method in METHODS)]:
        plus = np.where(OF_IID, 0.0, gain if row == ("iid>suite", "vanilla") else 0.0)
        shift = rng.normal(0, spread, seeds) if seeds > 1 else np.zeros(1)
        chance = np.clip(ease + plus, 0, 1)[:, None] + shift
        drawn[row] = (rng.random((len(CASES), seeds)) < chance).astype(float)
    return drawn


def marks(drawn: dict[tuple[str, str], Hits], profile: Any = "recommended") -> list[str]:
    """The verdicts of the table in the column G_seen."""
    table = Settings(
        train=Train(on=("iid", "iid>suite"), method=METHODS), shuffles=SHUFFLES, resamples=50, profile=profile
    )
    results = [
        trained(row, seed, hits[:, seed]) for row, hits in drawn.items() for seed in range(hits.shape[1])
    ]
    return [row.cells["seen"].verdict for row in rows_of_table3(compare_trainings(table, results))[1:]]


def g(hits: Hits) -> Hits:
    """G of outcomes whose first axis is the cases, by hand."""
    suite = np.mean([hits[fold].mean(axis=0) for fold in FOLDS], axis=0)
    iid = hits[OF_IID].mean(axis=0)
    return np.asarray(2 * suite * iid / (suite + iid))


def holm_by_hand(ps: Sequence[float]) -> list[bool]:
    """Which are rejected: the smallest first, as long as each stays below its share of the level."""
    rejected, order = [False] * len(ps), np.argsort(ps)
    for rank, at in enumerate(order):
        if ps[at] > ALPHA / (len(ps) - rank):
            break
        rejected[at] = True
    return rejected


def exchange_p(old: Hits, new: Hits, rng: np.random.Generator) -> float:
    """Approximate randomisation by hand (Yeh 2000), cases one by one, each with the outcomes of all its runs."""
    swapped = (rng.random((len(old), SHUFFLES)) < 0.5)[:, None]
    a, b = (np.where(swapped, side[..., None], other[..., None]) for side, other in ((new, old), (old, new)))
    reached = np.abs((g(b) - g(a)).mean(axis=0)) >= abs(float((g(new) - g(old)).mean())) - 1e-12
    return float((reached.sum() + 1) / (SHUFFLES + 1))


def by_hand(drawn: dict[tuple[str, str], Hits], rng: np.random.Generator) -> list[bool]:
    base, *rows = drawn.values()
    if base.shape[1] < 3:
        return holm_by_hand([exchange_p(base, row, rng) for row in rows])
    return holm_by_hand([stats.ttest_ind(g(row), g(base), equal_var=False).pvalue for row in rows])


# Over many draws

DRAWS = 300
WORLDS = [(1, 0.0, 0.12), (2, 0.0, 0.1), (3, 0.0, 0.15), (3, 0.05, 0.25), (5, 0.02, 0.15)]
"""Seeds, standard deviation of their shifts, and a gain of the suite score that is often detected."""


def simulated(seeds: int, spread: float, gain: float, draws: int) -> dict[str, float]:
    """Return shares of tables: one of the equal rows is marked; the gain is marked by the table, and by hand."""
    rng = np.random.default_rng([seeds, round(1000 * spread), round(1000 * gain)])
    alarms, found, expected = 0, 0, 0
    for _ in range(draws):
        drawn = draw(rng, seeds, gain, spread)
        verdicts, rejected = marks(drawn), by_hand(drawn, rng)
        alarms += any(verdicts[1:] if gain else verdicts)
        found += verdicts[0] == "better"
        expected += rejected[0]
    return {"alarms": alarms / draws, "power": found / draws, "by hand": expected / draws}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seeds", "spread", "gain", "draws"),
    [(3, 0.05, 0.25, 40), *(pytest.param(*world, DRAWS, marks=pytest.mark.nightly) for world in WORLDS)],
)
def test_equal_models_are_seldom_marked_and_a_gain_as_often_as_by_hand(seeds, spread, gain, draws):
    """Seeds that differ no more than chance makes them, and seeds that differ by several points."""
    most = ALPHA + 2 * np.sqrt(ALPHA * (1 - ALPHA) / draws)
    assert simulated(seeds, spread, 0.0, draws)["alarms"] <= most
    shares = simulated(seeds, spread, gain, draws)
    assert abs(shares["power"] - shares["by hand"]) <= 0.05 and shares["alarms"] <= most
