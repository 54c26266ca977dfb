"""Intervals hold their point, stay in range and say so when there is nothing to say."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.stats.intervals import (
    anytime_interval,
    anytime_p,
    bca_interval,
    clopper_pearson,
    cluster_wilson,
    delta_g_variance,
    design_effect,
    macro_wilson,
    mean_t_interval,
    paired_difference_interval,
    percentile_interval,
    sd_interval,
    sign_e_value,
    wilson,
)
from shoal.stats.resampling import (
    acceleration,
    cluster_table,
    difference,
    paired_table,
    rate,
    resample_rates,
)

NA = float("nan")
outcomes = st.lists(st.sampled_from([0.0, 1.0, NA]), min_size=1, max_size=40)


@settings(deadline=None)
@given(st.integers(0, 300), st.integers(1, 300), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_intervals_of_a_proportion_hold_it(passes: int, n: int, level: float) -> None:
    passes = min(passes, n)
    for interval in (wilson, clopper_pearson, anytime_interval):
        low, high = interval(passes, n, level)
        assert 0 <= low <= passes / n <= high <= 1
        assert high > low


@settings(deadline=None)
@given(st.integers(0, 60), st.integers(1, 60))
def test_passes_and_fails_mirror_each_other(passes: int, n: int) -> None:
    passes = min(passes, n)
    for interval in (wilson, clopper_pearson, anytime_interval):
        low, high = interval(passes, n)
        mirrored = interval(n - passes, n)
        assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-9)


def test_looking_all_the_time_costs_width() -> None:
    low, high = anytime_interval(18, 20)
    exact_low, exact_high = clopper_pearson(18, 20)
    assert low < exact_low < exact_high < high


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
        clopper_pearson(0, 0),
        cluster_wilson(nothing),
        paired_difference_interval(paired_table([NA], [1])),
        mean_t_interval([1.0]),
        sd_interval(1.0, 1),
        percentile_interval([NA, NA]),
        percentile_interval([1.0, 2.0], degrees=0),
        bca_interval(NA, [1.0, 2.0], 0.0),
        bca_interval(1.0, [NA], 0.0),
    ):
        assert all(math.isnan(end) for end in interval)
    assert anytime_interval(0, 0) == (0.0, 1.0)
    assert math.isnan(delta_g_variance(0, 0, 1, 1))


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


def test_bca_without_bias_and_acceleration_is_the_percentile_interval() -> None:
    replicates = np.random.default_rng(0).normal(size=4001)
    middle = float(np.median(replicates))
    assert bca_interval(middle, replicates, 0.0) == pytest.approx(percentile_interval(replicates), abs=2e-3)


def test_bca_agrees_with_scipy() -> None:
    from scipy.stats import bootstrap

    values = np.random.default_rng(1).exponential(size=40)
    table = cluster_table(values)
    replicates = resample_rates(table, 20_000, np.random.default_rng(2), draw_all=True)
    ours = bca_interval(rate(table), replicates, acceleration([table]))
    theirs = bootstrap(
        (values,), np.mean, n_resamples=20_000, random_state=3, method="BCa"
    ).confidence_interval
    assert ours == pytest.approx((theirs.low, theirs.high), rel=0.02)


@settings(deadline=None)
@given(outcomes, st.integers(0, 2**32))
def test_bca_stays_among_the_replicates(values: list[float], seed: int) -> None:
    table = cluster_table(values)
    replicates = resample_rates(table, 50, np.random.default_rng(seed))
    low, high = bca_interval(rate(table), replicates, acceleration([table]))
    if not math.isnan(low):
        assert np.nanmin(replicates) <= low <= high <= np.nanmax(replicates)


def test_bca_far_in_the_tail_takes_the_last_replicate() -> None:
    replicates = np.arange(101.0)
    assert bca_interval(99.0, replicates, 0.9)[1] == 100.0
    assert bca_interval(1.0, replicates, -0.9)[0] == 0.0
    assert bca_interval(99.0, replicates, 5.0) == (100.0, 100.0)


def test_ties_with_the_estimate_do_not_pass_for_bias() -> None:
    replicates = [0.0] * 10 + [1.0] * 80 + [2.0] * 10
    assert bca_interval(1.0, replicates, 0.0) == percentile_interval(replicates) == (0.0, 2.0)


def test_evidence_grows_and_looking_never_takes_it_back() -> None:
    looks = [sign_e_value(wins, 1) for wins in range(12)]
    assert looks[0] <= 1 and looks[-1] > 20
    assert anytime_p(looks) == anytime_p(looks[::-1]) == 1 / max(looks)
    assert anytime_p([]) == 1.0
    assert sign_e_value(5000, 0) == math.inf and anytime_p([math.inf]) == 0.0


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match=r"between 0 and 1, such as .* got 95"):
        wilson(1, 2, 95)
    with pytest.raises(ValueError, match="got 3 of 2"):
        clopper_pearson(3, 2)
    with pytest.raises(ValueError, match="not negative"):
        sd_interval(-1, 5)
    with pytest.raises(ValueError, match="at least one case"):
        design_effect(0, 0.1)
    with pytest.raises(ValueError, match="not negative"):
        sign_e_value(-1, 0)


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
