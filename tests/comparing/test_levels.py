"""Level and power of `compare` and `judge`: few repetitions, seeded, at the sizes people use.

`benchmarks/level_and_power.py` has the long version, docs/studies/level-and-power.md its tables.
"""

import numpy as np
import pytest
from outcomes import result as result_of

from shoal import Result
from shoal.comparing.gate import judge
from shoal.comparing.pairs import Choices, compare
from shoal.comparing.rules import Rule
from shoal.stats.power import sign_test_power

QUICK = Choices(shuffles=200, power=False)


def result(hits: np.ndarray, size: int, templates: int | None = None) -> Result:
    """Return a result with these functionalities and numbers of cases."""
    rows = hits.astype(int).reshape(-1, size).tolist()
    return result_of({f"f{number}": row for number, row in enumerate(rows)}, templates)


@pytest.mark.nightly
@pytest.mark.parametrize(("seeds", "spread"), [(2, 0.05), (3, 0.05), (5, 0.05), (3, 0.0)])
def test_equal_recipes_are_rarely_called_different(seeds, spread):
    rng, alarms = np.random.default_rng(seeds), 0
    difficulty = rng.normal(0, 0.1, 60)
    repetitions = 120
    for _ in range(repetitions):
        sides = [
            [result(rng.random(60) < 0.7 + difficulty + rng.normal(0, spread), 20) for _ in range(seeds)]
            for _ in range(2)
        ]
        p = compare(sides[0], sides[1], QUICK).headline.p
        alarms += p is not None and p <= 0.05
    assert alarms / repetitions <= 0.10  # 5 % and twice its Monte Carlo error


@pytest.mark.slow
def test_a_recipe_that_is_worse_is_found_and_covered():
    rng = np.random.default_rng(1)
    found = covered = 0
    for _ in range(80):
        a = [result(rng.random(120) < 0.8 + rng.normal(0, 0.02), 40) for _ in range(5)]
        b = [result(rng.random(120) < 0.65 + rng.normal(0, 0.02), 40) for _ in range(5)]
        row = compare(a, b, QUICK).headline
        assert row.p is not None and row.interval is not None
        found += row.p <= 0.05
        covered += row.interval[0] <= -0.15 <= row.interval[1]
    assert found >= 72 and covered >= 72


def test_a_planted_failure_among_thirty_is_found():
    rng = np.random.default_rng(0)
    hits = rng.random(30 * 60) < 0.95
    hits[:60] = rng.random(60) < 0.4
    rule = Rule({"functionality": "*"}, at_least=0.8, judge="upper bound")
    assert [verdict.name for verdict in judge([rule], result(hits, 60)) if not verdict.is_met] == ["f0"]


@pytest.mark.parametrize(("lost", "fixed"), [(0, 0), (8, 4), (12, 12), (30, 4)])
def test_a_drop_as_large_as_the_minimum_detectable_drop_is_found_in_8_of_10(lost, fixed):
    before, after = np.ones(81, bool), np.ones(81, bool)
    after[:lost], before[lost : lost + fixed] = False, False
    mde = compare([result(before, 81, 5)], [result(after, 81, 5)]).by("functionality")[0].mde
    assert mde is not None
    # A difference that the test rejects is a drop, not churn: only what changed against it, and as much with it, is.
    churn = (2 * fixed if lost == 30 else lost + fixed) / 81
    assert 0.79 <= sign_test_power(81, churn + mde, mde) <= 0.9
