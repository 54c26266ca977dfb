"""Weighted sums over groups that share their clusters: what is fixed is no variance, and agreement is no proof."""

import numpy as np
import pytest

from shoal.stats.intervals import paired_difference_interval, sum_t
from shoal.stats.resampling import paired_table


def test_what_groups_differ_in_is_no_variance():
    """One group changes everywhere, the other nowhere: the sum is as sure as each of them."""
    clusters = [np.arange(40), np.arange(40, 80)]
    alike = sum_t([np.ones(40), np.ones(40)], clusters, [0.5, 0.5])
    apart = sum_t([np.ones(40), np.zeros(40)], clusters, [0.5, 0.5])
    assert (alike.middle, apart.middle) == (1, 0.5) and alike.error == pytest.approx(apart.error)


def test_groups_of_the_same_clusters_add_up_before_they_vary():
    values = np.tile([1.0, -1.0], 500)
    clusters = np.arange(1000)
    together, against = (sum_t([values, values], [clusters, clusters], [0.5, w]).error for w in (0.5, -0.5))
    apart = sum_t([values, values], [clusters, clusters + 1000], [0.5, 0.5]).error
    assert together == pytest.approx(np.sqrt(2) * apart, rel=0.01)
    assert against < 0.1 * apart, "what a cluster adds to one it takes from the other"


@pytest.mark.parametrize("n", [5, 20, 80])
def test_no_difference_at_all_is_no_certainty(n):
    low, high = sum_t([np.zeros(n)], [np.arange(n)], [1.0]).interval()
    usual = paired_difference_interval(paired_table(np.ones(n), np.ones(n)))
    assert high == -low == pytest.approx(usual[1], rel=0.25)
