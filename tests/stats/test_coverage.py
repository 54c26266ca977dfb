"""What the intervals cover and the tests find, by simulation: 2,000 repetitions each.

The populations are those of benchmarks/coverage.py, which prints the table in the docs.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import studies

from shoal.stats.multiplicity import holm
from shoal.stats.paired import sign_flip_test, sign_test

pytestmark = pytest.mark.slow

REPETITIONS = 2000
ERRS_WIDE = {
    ("paired_difference", 20): ["paired_difference_interval"],
}
"""Documented to cover more than asked where there is little to go by."""


simulation = studies.load(Path(__file__).parents[2] / "benchmarks" / "coverage.py")


@pytest.mark.parametrize(
    "clusters",
    [pytest.param(n, marks=[pytest.mark.nightly] if n == 1000 else []) for n in simulation.CLUSTERS],
)
@pytest.mark.parametrize("population", simulation.POPULATIONS, ids=lambda p: str(p.__name__))
def test_intervals_cover_what_they_promise(population: Callable[..., Any], clusters: int) -> None:
    least, most = (0.90, 1.0) if clusters == 20 else (0.93, 0.97)
    found = simulation.measured_coverage(population, clusters, REPETITIONS)
    wide = ERRS_WIDE.get((population.__name__, clusters), [])
    for method, coverage in found.items():
        assert least <= coverage <= (1.0 if method in wide else most), (method, coverage)


def test_family_wise_error_of_clustered_tests_is_kept() -> None:
    """The same with 40 clusters of cases that resemble each other; the plain sign test would not hold."""
    rng = np.random.default_rng(0)
    wrong = plain_wrong = 0
    for _ in range(REPETITIONS):
        # All discordant cases of a cluster favour the same model.
        differences = rng.choice([-1, 1], size=(4, 40)) * rng.integers(0, 4, size=(4, 40))
        wrong += holm([sign_flip_test(row) for row in differences]).min() <= 0.05
        plain = [sign_test(int(row[row > 0].sum()), int(-row[row < 0].sum())) for row in differences]
        plain_wrong += holm(plain).min() <= 0.05
    assert wrong / REPETITIONS <= 0.06
    assert plain_wrong / REPETITIONS > 0.10


@pytest.mark.parametrize("group", simulation.SMALL, ids=lambda group: str(group.__name__))
def test_few_cases_runs_and_words_keep_what_they_promise(group: Callable[[], Any]) -> None:
    """Every third promise of `benchmarks/coverage.py --small`, with fewer repetitions."""
    repetitions = 200
    slack = 2 * math.sqrt(0.05 * 0.95 / repetitions)
    for promise in list(group())[::3]:
        rng = np.random.default_rng(0)
        held = sum(promise.holds(rng) for _ in range(repetitions)) / repetitions
        if promise.promised == simulation.ERRS:
            assert held <= 0.05 + slack, promise
        else:
            least = 0.95 - slack if promise.promised == simulation.COVERS else 0.75
            assert held >= least, (promise, held)
