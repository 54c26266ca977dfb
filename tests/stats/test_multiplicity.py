"""Adjusted p values only grow, keep their order, and let a missing test be missing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.stats.multiplicity import holm, holm_level

NA = float("nan")
p_values = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@settings(deadline=None)
@given(p_values)
def test_adjusted_p_is_at_least_raw_p_and_ordered_by_severity(p: list[float]) -> None:
    family = holm(p)
    assert (family >= np.array(p) - 1e-12).all()
    assert family.max() <= 1
    assert (family <= np.minimum(1, np.array(p) * len(p)) + 1e-12).all()  # never beyond Bonferroni


def test_a_test_that_could_not_be_made_does_not_count() -> None:
    adjusted = holm([0.01, NA, 0.03])
    assert np.isnan(adjusted[1]) and adjusted[[0, 2]] == pytest.approx(holm([0.01, 0.03]))
    assert len(holm([])) == 0


def test_the_level_of_holm_is_the_one_at_which_the_next_test_would_be_rejected() -> None:
    p = np.array([0.001, 0.002, 0.3, 0.9, NA])
    level = holm_level(p)
    assert level == 0.05 / 2
    for raw, rejected in ((level * 0.99, True), (level * 1.01, False)):
        assert (holm([0.001, 0.002, raw, 0.9])[2] <= 0.05) == rejected
    assert holm_level([0.001]) == 0.05
