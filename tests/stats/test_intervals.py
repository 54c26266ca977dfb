"""Intervals hold their point, stay in range and say so when there is nothing to say."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.stats.intervals import (
    cluster_wilson,
    macro_difference_interval,
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
@given(st.lists(st.tuples(st.integers(0, 8), st.sampled_from([0.0, 1.0, NA])), min_size=1, max_size=60))
def test_clustered_intervals_hold_the_rate(cases: list[tuple[int, float]]) -> None:
    clusters, values = zip(*cases, strict=True)
    table = cluster_table(values, clusters)
    low, high = cluster_wilson(table)
    if math.isnan(rate(table)):
        assert math.isnan(low) and math.isnan(high)
    else:
        assert 0 <= low <= rate(table) <= high <= 1 and high > low


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


def test_one_failure_in_many_templates_is_no_sign_of_independent_cases() -> None:
    one_fails = np.r_[0.0, np.ones(399)]
    together, apart = cluster_table(one_fails, np.arange(20).repeat(20)), cluster_table(one_fails)
    assert cluster_wilson(together)[0] < 0.9 < 0.98 < cluster_wilson(apart)[0]


def test_functionalities_that_pass_everything_or_nothing_bring_their_own_intervals() -> None:
    passes, fails = cluster_table([1.0] * 80), cluster_table([0.0] * 80)
    low, high = macro_wilson([passes, fails, fails, fails])
    reach = wilson(0, 80)[1]
    assert low == pytest.approx(0.25 - reach / 4)
    assert high == pytest.approx(0.25 + reach * math.sqrt(3) / 4)


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.booleans()), min_size=1, max_size=12),
        min_size=1,
        max_size=4,
    ),
    st.randoms(),
)
def test_means_of_differences_mirror_and_know_no_order(parts, random) -> None:
    tables, turned = [], []
    for part in parts:
        names, a, b = zip(*part, strict=True)
        tables.append(paired_table(a, b, names))
        turned.append(paired_table(b, a, names))
    low, high = macro_difference_interval(tables)
    assert -1 <= low < high <= 1
    assert low - 1e-9 <= np.mean([difference(table) for table in tables]) <= high + 1e-9
    random.shuffle(turned)
    assert macro_difference_interval(turned) == pytest.approx((-high, -low))
