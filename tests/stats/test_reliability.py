"""Coefficients against naive sums, and limits where the answer is known."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from shoal.stats.reliability import (
    category_counts,
    disagreement,
    disagreement_histogram,
    fleiss_kappa,
    icc,
    krippendorff_alpha,
    pairwise_agreement,
    run_spread,
    runs_needed,
    variance_components,
)

NA = float("nan")
Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]
shapes = st.tuples(st.integers(2, 7), st.integers(2, 5))
binary = arrays(float, shapes, elements=st.sampled_from([0.0, 1.0]))
with_gaps = arrays(float, shapes, elements=st.sampled_from([0.0, 1.0, 3.0, NA]))
real = arrays(float, shapes, elements=st.floats(-5, 5).map(lambda x: round(x, 3)))


def naive_alpha(matrix: Matrix) -> float:
    """Observed and expected disagreement summed over pairs, as Krippendorff defines them."""

    def gap(x: float, y: float) -> float:
        return float(x != y)

    units = [[x for x in row if not math.isnan(x)] for row in matrix]
    units = [unit for unit in units if len(unit) > 1]
    values = [x for unit in units for x in unit]
    if not values:
        return NA
    observed = sum(sum(gap(*p) for p in itertools.permutations(u, 2)) / (len(u) - 1) for u in units) / len(
        values
    )
    expected = sum(gap(*p) for p in itertools.permutations(values, 2)) / (len(values) * (len(values) - 1))
    return 1 - observed / expected if expected else NA


@settings(deadline=None)
@given(with_gaps)
def test_alpha_is_what_the_pairs_say(matrix: Matrix) -> None:
    assert krippendorff_alpha(matrix) == pytest.approx(naive_alpha(matrix), abs=1e-9, nan_ok=True)


@settings(deadline=None)
@given(binary)
def test_kappa_is_below_alpha_by_the_sample_correction(matrix: Matrix) -> None:
    kappa, alpha = fleiss_kappa(category_counts(matrix)), krippendorff_alpha(matrix)
    if math.isnan(kappa):
        assert math.isnan(alpha)
    else:
        assert alpha == pytest.approx(kappa + (1 - kappa) / matrix.size, abs=1e-9)


def test_perfect_agreement_is_one_and_a_constant_is_undefined() -> None:
    matrix = [[1, 1, 1], [0, 0, 0]]
    assert (
        fleiss_kappa(category_counts(matrix)) == krippendorff_alpha(matrix) == pairwise_agreement(matrix) == 1
    )
    assert math.isnan(krippendorff_alpha([[1, 1]])) and math.isnan(fleiss_kappa([[2, 0]]))
    assert math.isnan(krippendorff_alpha([[NA, 1]])) and math.isnan(pairwise_agreement([[NA, 1]]))


@settings(deadline=None)
@given(binary)
def test_disagreement_counts_the_minority(matrix: Matrix) -> None:
    expected = [min(row.tolist().count(0.0), row.tolist().count(1.0)) for row in matrix]
    assert disagreement(matrix).tolist() == expected
    counts, undecided = disagreement_histogram(matrix)
    assert counts.sum() == len(matrix) and undecided == 0
    assert len(counts) == matrix.shape[1] // 2 + 1


def test_independent_flips_have_ratio_one_and_shifting_runs_more() -> None:
    rng = np.random.default_rng(0)
    chance = rng.uniform(0.2, 0.8, size=(2000, 1))
    steady = run_spread(rng.random((2000, 200)) < chance)
    assert steady.ratio == pytest.approx(1.0, abs=0.12)
    shifting = run_spread(rng.random((2000, 50)) < chance + rng.uniform(-0.2, 0.2, size=50))
    assert shifting.ratio > 5
    assert shifting.sd_interval[0] < shifting.sd < shifting.sd_interval[1]
    assert shifting.mean_interval[0] < shifting.mean < shifting.mean_interval[1]


def test_one_run_has_no_spread() -> None:
    spread = run_spread([[1], [0]])
    assert all(math.isnan(x) for x in (spread.sd, spread.floor_sd, spread.ratio, *spread.sd_interval))
    assert spread.mean == 0.5
    assert math.isnan(run_spread([[1, 1], [0, 0]]).ratio)


def spearman_brown(reliability: float, runs: int) -> float:
    """Reliability of the mean of several runs, from that of one (Brown 1910; Spearman 1910)."""
    return runs * reliability / (1 + (runs - 1) * reliability)


def test_variance_components_are_recovered() -> None:
    rng = np.random.default_rng(0)
    runs, items = rng.normal(scale=2, size=300), rng.normal(scale=3, size=(400, 1))
    found = variance_components(items + runs + rng.normal(size=(400, 300)))
    assert (found.run, found.item, found.residual) == pytest.approx((4, 9, 1), rel=0.2)
    assert sum(found.shares) == pytest.approx(1)


def test_nothing_varies() -> None:
    found = variance_components([[1, 1], [1, 1]])
    assert all(math.isnan(share) for share in found.shares)
    assert math.isnan(icc([[1, 1], [1, 1]]).agreement)


@settings(deadline=None)
@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_runs_needed_are_enough_and_no_more(reliability: float, target: float) -> None:
    runs = runs_needed(reliability, target)
    assert runs is not None
    assert spearman_brown(reliability, runs) >= target - 1e-6
    assert runs == 1 or spearman_brown(reliability, runs - 1) < target + 1e-6


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="items × runs"):
        pairwise_agreement([1, 0])
    with pytest.raises(ValueError, match="same number of runs"):
        fleiss_kappa([[1, 1], [2, 1]])
    with pytest.raises(ValueError, match="no missing value"):
        icc([[1.0, NA], [1.0, 2.0]])
    with pytest.raises(ValueError, match="1, 0 or NaN"):
        disagreement([[2, 1]])
    with pytest.raises(ValueError, match="every run needs an outcome"):
        run_spread([[1, NA]])
    with pytest.raises(ValueError, match="wished reliability"):
        runs_needed(0.5, 1.0)
