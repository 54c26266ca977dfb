"""Effects within problems: what was planted is found, what was not is covered, nothing is compared across them."""

import math

import numpy as np
from scipy.special import expit

from shoal.stats.within import within_effects


def test_an_effect_within_problems_is_found_whatever_lies_between_them():
    """Verbs cost .2, but stand in easy problems only: between problems they look better."""
    rng = np.random.default_rng(0)
    problems = np.repeat(np.arange(400), 10)
    easy = problems < 200
    verb = np.where(easy, rng.random(len(problems)) < 0.8, rng.random(len(problems)) < 0.2).astype(float)
    right = rng.random(len(problems)) < np.where(easy, 0.95, 0.3) - 0.2 * verb
    assert right[verb == 1].mean() > right[verb == 0].mean()
    (effect,) = within_effects(right, verb[:, None], problems, problems, np.arange(len(problems)))
    assert effect.interval[0] < -0.2 < effect.interval[1] < -0.1


def test_a_factor_that_no_problem_varies_in_or_that_another_says_has_no_effect():
    right, verb = [1, 0, 1, 0], [[1, 1], [1, 1], [0, 0], [0, 0]]
    assert all(
        math.isnan(each.value) for each in within_effects(right, verb, [0, 0, 1, 1], range(4), range(4))
    )
    for wrong in (0, 1):  # always right, or always wrong where the factor is: no interval that claims to know
        rows = [[1], [0]] * 20
        (effect,) = within_effects([1 - wrong, 1] * 20, rows, np.repeat(range(20), 2), range(40), range(40))
        assert effect.value == -wrong and math.isnan(effect.interval[0])
    twice = [[1, 2], [0, 0], [1, 2], [0, 0]]
    first, second = within_effects(right, twice, [0, 0, 1, 1], range(4), range(4))
    assert first.value == 1.0 and math.isnan(second.value)


def test_intervals_hold_their_level_where_problems_and_replacements_cross():
    """60 problems in pairs on a premise, 12 variants each of 150 replacements, half of them verbs; no effect."""
    rng, hits, times = np.random.default_rng(3), 0, 250
    problems = np.repeat(np.arange(60), 12)
    for _ in range(times):
        replaced = rng.integers(0, 150, len(problems))
        chance = expit(0.8 + rng.normal(0, 1.5, 60)[problems] + rng.normal(0, 1, 150)[replaced])
        right, verb = rng.random(len(problems)) < chance, (replaced < 75).astype(float)
        (effect,) = within_effects(right, verb[:, None], problems, problems // 2, replaced)
        hits += effect.interval[0] <= 0 <= effect.interval[1]
    assert 0.91 <= hits / times <= 0.985, hits / times
