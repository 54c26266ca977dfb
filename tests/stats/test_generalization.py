"""G over seeds: the test agrees with swapping by hand, the intervals cover, and order and names say nothing."""

# Made-up inputs here are looser than the types they are made up for.
# mypy: disable-error-code="arg-type, list-item, comparison-overlap"

import itertools
import math

import numpy as np
import pytest
from numpy.random import Generator

from shoal.stats.generalization import (
    DIFFERENCE,
    Pair,
    draw,
    estimate,
    exchange_test,
    pair,
    suite_score,
)
from shoal.stats.intervals import mean_t_interval, wilson
from shoal.stats.paired import generalization_score

NA = float("nan")


def rng(seed: int = 0) -> Generator:
    return np.random.default_rng(seed)


def columns(vectors: list[list[float]]) -> list[np.ndarray]:
    return [np.array(vector, dtype=float)[:, None] for vector in vectors]


def random_sides(
    seed: int, seeds: int = 2, cases: int = 25, rates: tuple[float, float] = (0.6, 0.75)
) -> tuple[list[list[np.ndarray]], list[np.ndarray]]:
    draws = rng(seed)
    sides = [[(draws.random((cases, seeds)) < rate).astype(float) for _ in range(4)] for rate in rates]
    return sides, [(draws.random((40, seeds)) < rate).astype(float) for rate in (0.9, 0.88)]


def test_exchanging_cases_with_all_their_runs_agrees_with_every_pattern():
    """Two functionalities of two cases and three i.i.d. ones, in two runs; one outcome does not apply."""

    def both(sides: np.ndarray) -> Pair:
        suites = [[side[:2], side[2:4]] for side in sides]
        return pair(suites[0], suites[1], sides[0, 4:], sides[1, 4:])

    for seed in range(10):
        sides = rng(seed).integers(0, 2, (2, 7, 2)).astype(float)
        sides[0, 0, 0] = NA
        differences = [
            both(np.where(np.array(pattern)[:, None], sides[::-1], sides)).value(
                generalization_score, DIFFERENCE
            )
            for pattern in itertools.product([False, True], repeat=7)
        ]
        sizes = np.abs(np.mean(differences, axis=1))
        exact = np.mean(sizes >= sizes[0] - 1e-9)
        assert exchange_test(both(sides), 4000, rng()).p == pytest.approx(exact, abs=0.04)


def test_exchanging_the_names_of_both_sides_changes_no_p():
    (old, new), (old_iid, new_iid) = random_sides(4)
    old[1][3] = NA
    one = exchange_test(pair(old, new, old_iid, new_iid), 2000, rng())
    other = exchange_test(pair(new, old, new_iid, old_iid), 2000, rng())
    assert one.p == other.p < 1


def test_functionalities_that_pass_everything_keep_their_doubt():
    ones, iid = [np.ones((20, 1))] * 4, np.ones((50, 1))
    draws = draw(pair(ones, ones, iid, iid), 200, rng())
    found = estimate(draws, suite_score)
    low, _ = wilson(20, 20)
    assert found.interval == (pytest.approx(1 - (1 - low) / 2), 1.0)  # four Wilson distances: √4 / 4
    g = estimate(draws, generalization_score)
    assert g.interval is not None and 0.9 < g.interval[0] < 1.0 == g.interval[1]


def test_seeds_that_differ_widen_the_interval_by_students_reach():
    # Every case goes the same way in a run: all doubt is between runs.
    runs = np.array([0.2, 0.4, 0.6, 0.8, 0.5])
    suite = [np.tile((np.arange(10)[:, None] < 10 * runs).astype(float), (40, 1))]
    iid = np.ones((4000, 5))
    found = estimate(draw(pair(suite, suite, iid, iid), 300, rng()), suite_score)
    low, high = mean_t_interval(runs)
    assert found.value == pytest.approx(0.5)
    assert found.interval == pytest.approx((low, high), abs=0.02)


def test_the_interval_of_a_sample_keeps_its_level_where_effects_differ_by_functionality():
    """Four of 36, effects of mean 0 over all: the noise of cases is part of the spread of what was drawn."""
    draws, missed, repetitions = rng(13), 0, 300
    for _ in range(repetitions):
        effects = draws.normal(0, 0.2, 36)
        chosen = draws.choice(36, 4, replace=False)
        rates = [(0.5, np.clip(0.5 + effects[at] - effects.mean(), 0, 1)) for at in chosen]
        sides = [[(draws.random((25, 1)) < rate[side]).astype(float) for rate in rates] for side in (0, 1)]
        iid = np.ones((50, 1))
        found = estimate(
            draw(pair(sides[0], sides[1], iid, iid), 200, draws), suite_score, DIFFERENCE, population=36
        )
        missed += not covers(found.interval, 0.0)
    assert missed <= 0.075 * repetitions


def test_a_sample_covers_a_difference_of_g_that_is_due_to_the_iid_scores():
    """The same passes, another i.i.d. score: which functionalities were drawn moves the difference of G as well."""
    draws, hits, rates = rng(14), 0, rng(15).uniform(0.05, 0.95, 36)
    truth = float(generalization_score(rates.mean(), 0.55) - generalization_score(rates.mean(), 0.98))
    for _ in range(150):
        chosen = draws.choice(36, 4, replace=False)
        suite = [(draws.random((80, 1)) < rate).astype(float) for rate in rates[chosen]]
        iid = [(draws.random((400, 1)) < rate).astype(float) for rate in (0.98, 0.55)]
        both = pair(suite, suite, iid[0], iid[1])
        found = estimate(draw(both, 200, draws), generalization_score, DIFFERENCE, population=36)
        hits += covers(found.interval, truth)
    assert hits >= 0.87 * 150


# Coverage, small: what 95 % intervals of 300 repetitions should not miss by much


def covers(interval: tuple[float, float] | None, truth: float) -> bool:
    return interval is not None and interval[0] <= truth <= interval[1]


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [1, 4])
def test_intervals_of_g_cover_new_cases_and_new_seeds(seeds: int):
    rates, s_iid, spread = np.array([0.3, 0.6, 0.8, 0.9, 0.97]), 0.9, 0.03 if seeds > 1 else 0.0
    truth = float(generalization_score(rates.mean(), s_iid))
    draws, hits = rng(11), 0
    for _ in range(300):
        shifts = draws.normal(0, spread, seeds)
        ability = [draws.random((30, 1)) for _ in rates]  # a hard case is hard in every run
        suite = [
            (0.5 * a + 0.5 * draws.random((30, seeds)) < _threshold(rate)).astype(float)
            for a, rate in zip(ability, rates, strict=True)
        ]
        iid = (draws.random((200, seeds)) < np.clip(s_iid + shifts, 0, 1)).astype(float)
        found = estimate(draw(pair(suite, suite, iid, iid), 300, draws), generalization_score)
        hits += covers(found.interval, truth)
    assert hits >= 0.92 * 300


def _threshold(rate: float) -> float:
    """Where the mean of two uniform numbers falls below with this chance."""
    return math.sqrt(rate / 2) if rate < 0.5 else 1 - math.sqrt((1 - rate) / 2)
