"""Intervals hold their point, stay in range and say so when there is nothing to say."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.stats.intervals import (
    cluster_wilson,
    macro_wilson,
    mean_t_interval,
    paired_difference_interval,
    percentile_interval,
    sd_interval,
    wilson,
)
from shoal.stats.resampling import (
    cluster_table,
    difference,
    paired_table,
    rate,
)

NA = float("nan")
outcomes = st.lists(st.sampled_from([0.0, 1.0, NA]), min_size=1, max_size=40)


@settings(deadline=None)
@given(st.integers(0, 300), st.integers(1, 300), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_intervals_of_a_proportion_hold_it(passes: int, n: int, level: float) -> None:
    passes = min(passes, n)
    low, high = wilson(passes, n, level)
    assert 0 <= low <= passes / n <= high <= 1
    assert high > low


@settings(deadline=None)
@given(st.integers(0, 60), st.integers(1, 60))
def test_passes_and_fails_mirror_each_other(passes: int, n: int) -> None:
    passes = min(passes, n)
    low, high = wilson(passes, n)
    assert wilson(n - passes, n) == pytest.approx((1 - high, 1 - low), abs=1e-9)


def test_a_whole_proportion_is_exactly_one() -> None:
    assert wilson(20, 20)[1] == 1.0
    assert wilson(0, 20)[0] == 0.0


@settings(deadline=None)
@given(outcomes)
def test_without_clusters_the_clustered_interval_is_wilsons(values: list[float]) -> None:
    table = cluster_table(values)
    passes, n = table.totals
    assert cluster_wilson(table) == pytest.approx(wilson(passes, n), nan_ok=True)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 8), st.sampled_from([0.0, 1.0, NA])), min_size=1, max_size=60))
def test_clustered_intervals_hold_the_rate(cases: list[tuple[int, float]]) -> None:
    clusters, values = zip(*cases, strict=True)
    table = cluster_table(values, clusters)
    low, high = cluster_wilson(table)
    if math.isnan(rate(table)):
        assert math.isnan(low) and math.isnan(high)
    else:
        assert 0 <= low <= rate(table) <= high <= 1 and high > low


def test_clusters_that_agree_within_widen_the_interval() -> None:
    values = [1] * 15 + [0] * 5
    low, high = cluster_wilson(cluster_table(values, [i // 5 for i in range(20)]))
    assert high - low > 1.5 * (wilson(15, 20)[1] - wilson(15, 20)[0])


def test_all_passing_clusters_count_as_clusters_not_cases() -> None:
    table = cluster_table([1] * 100, [i // 5 for i in range(100)])
    assert cluster_wilson(table) == wilson(20, 20)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 8), st.booleans(), st.booleans()), min_size=2, max_size=60))
def test_paired_interval_holds_the_difference_and_mirrors(cases: list[tuple[int, bool, bool]]) -> None:
    clusters, a, b = zip(*cases, strict=True)
    table = paired_table(a, b, clusters)
    low, high = paired_difference_interval(table)
    assert -1 <= low <= difference(table) + 1e-9 and difference(table) - 1e-9 <= high <= 1
    assert low < high
    mirrored = paired_difference_interval(paired_table(b, a, clusters))
    assert mirrored == pytest.approx((-high, -low))


def test_a_model_against_itself_is_centred_on_zero_and_not_a_point() -> None:
    low, high = paired_difference_interval(paired_table([1, 0] * 10, [1, 0] * 10))
    assert low == pytest.approx(-high) and 0.05 < high < 0.2


def test_undefined_is_nan_not_zero() -> None:
    nothing = cluster_table([NA, NA])
    for interval in (
        wilson(0, 0),
        cluster_wilson(nothing),
        paired_difference_interval(paired_table([NA], [1])),
        mean_t_interval([1.0]),
        sd_interval(1.0, 1),
        percentile_interval([NA, NA]),
        percentile_interval([1.0, 2.0], degrees=0),
    ):
        assert all(math.isnan(end) for end in interval)


@settings(deadline=None)
@given(st.lists(st.floats(-10, 10), min_size=2, max_size=30))
def test_t_interval_holds_the_mean(values: list[float]) -> None:
    low, high = mean_t_interval(values)
    assert low <= np.mean(values) + 1e-9 and np.mean(values) - 1e-9 <= high


@settings(deadline=None)
@given(st.floats(0, 100), st.integers(2, 200))
def test_sd_interval_holds_the_sd(sd: float, runs: int) -> None:
    low, high = sd_interval(sd, runs)
    assert low <= sd <= high


def test_percentiles_leave_nan_replicates_out() -> None:
    assert percentile_interval([NA, 0.0, 1.0, NA], 0.5) == (0.25, 0.75)


def test_few_degrees_of_freedom_widen() -> None:
    replicates = np.random.default_rng(0).normal(size=5000)
    plain, expanded = percentile_interval(replicates), percentile_interval(replicates, degrees=4)
    assert expanded[0] < plain[0] and plain[1] < expanded[1]
    # The ends are then about where t intervals have them.
    assert expanded[1] == pytest.approx(2.776, abs=0.3)


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match=r"between 0 and 1, such as .* got 95"):
        wilson(1, 2, 95)
    with pytest.raises(ValueError, match="got 3 of 2"):
        wilson(3, 2)
    with pytest.raises(ValueError, match="not negative"):
        sd_interval(-1, 5)


def test_combined_wilson_is_wilson_for_one_rate_and_never_collapses():
    one = cluster_table([1.0] * 9 + [0.0])
    assert macro_wilson([one]) == pytest.approx(wilson(9, 10))
    low, high = macro_wilson([cluster_table([1.0] * 20)] * 3)
    assert low < 0.95 and high == pytest.approx(1.0)


@given(st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=30), min_size=1, max_size=6), st.randoms())
def test_combined_wilson_holds_the_mean_and_knows_no_order(outcomes, random):
    tables = [cluster_table(np.array(row, float)) for row in outcomes]
    low, high = macro_wilson(tables)
    middle = np.mean([np.mean(row) for row in outcomes])
    assert 0 <= low <= middle + 1e-12 and middle <= high + 1e-12 and high <= 1 + 1e-12
    random.shuffle(tables)
    assert macro_wilson(tables) == (low, high)
