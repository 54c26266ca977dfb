"""Minimum detectable effects shrink with the cases, and are none where nothing could be found."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.stats.power import (
    mde_one_proportion,
    mde_paired,
)


@settings(deadline=None)
@given(st.integers(30, 10_000), st.floats(0.01, 0.9))
def test_more_cases_find_smaller_differences(n: int, discordance: float) -> None:
    few, many = mde_paired(n, discordance), mde_paired(4 * n, discordance)
    if few is not None:
        assert many is not None and many < few <= discordance


def test_what_cannot_be_found_is_none() -> None:
    assert mde_paired(20, 0.05) is None
    assert mde_paired(500, 0.0) is None
    assert mde_paired(0, 0.5) is None
    assert mde_one_proportion(2) is None


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="discordance lies between 0 and 1"):
        mde_paired(10, 1.5)
    with pytest.raises(ValueError, match="power between"):
        mde_paired(10, 0.5, power=1.0)
