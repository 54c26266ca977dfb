"""Coefficients against naive sums, and limits where the answer is known."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import chi2

from shoal.stats.reliability import (
    category_counts,
    coin_flip_histogram,
    correlation,
    disagreement,
    disagreement_histogram,
    fleiss_kappa,
    icc,
    krippendorff_alpha,
    pairwise_agreement,
    run_spread,
    runs_needed,
    sd_below,
    sign_flip_over_runs,
    tost_two_samples,
    variance_components,
)

NA = float("nan")
Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]
shapes = st.tuples(st.integers(2, 7), st.integers(2, 5))
binary = arrays(float, shapes, elements=st.sampled_from([0.0, 1.0]))
with_gaps = arrays(float, shapes, elements=st.sampled_from([0.0, 1.0, 3.0, NA]))
real = arrays(float, shapes, elements=st.floats(-5, 5).map(lambda x: round(x, 3)))


def naive_alpha(matrix: Matrix, interval: bool) -> float:
    """Observed and expected disagreement summed over pairs, as Krippendorff defines them."""

    def gap(x: float, y: float) -> float:
        return (x - y) ** 2 if interval else float(x != y)

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
    for metric in ("nominal", "interval"):
        found = krippendorff_alpha(matrix, metric)
        assert found == pytest.approx(naive_alpha(matrix, metric == "interval"), abs=1e-9, nan_ok=True)


@settings(deadline=None)
@given(with_gaps, st.randoms(use_true_random=False))
def test_order_of_items_and_runs_changes_no_coefficient(matrix: Matrix, random: "st.DataObject") -> None:
    rows, columns = list(range(len(matrix))), list(range(matrix.shape[1]))
    random.shuffle(rows)  # type: ignore[attr-defined]
    random.shuffle(columns)  # type: ignore[attr-defined]
    shuffled = matrix[np.ix_(rows, columns)]
    for coefficient in (krippendorff_alpha, pairwise_agreement):
        assert coefficient(shuffled) == pytest.approx(coefficient(matrix), nan_ok=True)


@settings(deadline=None)
@given(binary)
def test_agreement_is_the_share_of_agreeing_pairs(matrix: Matrix) -> None:
    pairs = list(itertools.combinations(range(matrix.shape[1]), 2))
    expected = np.mean([[row[i] == row[j] for i, j in pairs] for row in matrix])
    assert pairwise_agreement(matrix) == pytest.approx(expected)


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


def test_undecided_items_have_their_own_bin() -> None:
    counts, undecided = disagreement_histogram([[1.0, NA, 1.0], [1.0, 0.0, 1.0]])
    assert counts.tolist() == [0, 1] and undecided == 1


@pytest.mark.parametrize("runs", [1, 2, 5, 8])
def test_coin_flips_add_to_one(runs: int) -> None:
    assert coin_flip_histogram(runs).sum() == pytest.approx(1)


def test_independent_flips_have_ratio_one_and_shifting_runs_more() -> None:
    rng = np.random.default_rng(0)
    chance = rng.uniform(0.2, 0.8, size=(2000, 1))
    steady = run_spread(rng.random((2000, 200)) < chance)
    assert steady.ratio == pytest.approx(1.0, abs=0.12)
    shifting = run_spread(rng.random((2000, 50)) < chance + rng.uniform(-0.2, 0.2, size=50))
    assert shifting.ratio > 5
    assert shifting.sd_interval[0] < shifting.sd < shifting.sd_interval[1]
    assert shifting.mean_interval[0] < shifting.mean < shifting.mean_interval[1]


def test_missing_outcomes_keep_the_ratio_near_one() -> None:
    rng = np.random.default_rng(0)
    outcomes = (rng.random((3000, 150)) < rng.uniform(0.2, 0.8, size=(3000, 1))).astype(float)
    outcomes[rng.random(outcomes.shape) < 0.3] = NA
    assert run_spread(outcomes).ratio == pytest.approx(1.0, abs=0.15)


def test_one_run_has_no_spread() -> None:
    spread = run_spread([[1], [0]])
    assert all(math.isnan(x) for x in (spread.sd, spread.floor_sd, spread.ratio, *spread.sd_interval))
    assert spread.mean == 0.5
    assert math.isnan(run_spread([[1, 1], [0, 0]]).ratio)


def spearman_brown(reliability: float, runs: int) -> float:
    """Reliability of the mean of several runs, from that of one (Brown 1910; Spearman 1910)."""
    return runs * reliability / (1 + (runs - 1) * reliability)


@settings(deadline=None)
@given(real)
def test_intraclass_correlations_are_bounded_and_averaging_helps(matrix: Matrix) -> None:
    found = icc(matrix)
    assert not found.consistency > 1 + 1e-9
    if found.consistency > 1e-6:
        runs = matrix.shape[1]
        assert found.mean_consistency == pytest.approx(spearman_brown(found.consistency, runs))
        assert found.mean_consistency >= found.consistency - 1e-9


def test_a_shift_of_whole_runs_hurts_agreement_but_not_consistency() -> None:
    items = np.arange(10.0)[:, None] + np.array([0.0, 5.0, -5.0])
    assert icc(items).consistency == pytest.approx(1)
    assert icc(items).agreement < 0.5


def test_variance_components_are_recovered() -> None:
    rng = np.random.default_rng(0)
    runs, items = rng.normal(scale=2, size=300), rng.normal(scale=3, size=(400, 1))
    found = variance_components(items + runs + rng.normal(size=(400, 300)))
    assert (found.run, found.item, found.residual) == pytest.approx((4, 9, 1), rel=0.2)
    assert sum(found.shares) == pytest.approx(1) and sum(found.shares_of_mean) == pytest.approx(1)
    assert found.of_mean[0] == pytest.approx(found.run / 300)


def test_nothing_varies() -> None:
    found = variance_components([[1, 1], [1, 1]])
    assert all(math.isnan(share) for share in (*found.shares, *found.shares_of_mean))
    assert math.isnan(icc([[1, 1], [1, 1]]).consistency)


@settings(deadline=None)
@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_runs_needed_are_enough_and_no_more(reliability: float, target: float) -> None:
    runs = runs_needed(reliability, target)
    assert runs is not None
    assert spearman_brown(reliability, runs) >= target - 1e-6
    assert runs == 1 or spearman_brown(reliability, runs - 1) < target + 1e-6


def test_no_reliability_needs_no_number_of_runs() -> None:
    assert runs_needed(0.0, 0.8) is None and runs_needed(NA, 0.8) is None


VALUES = st.lists(st.floats(-2, 2).map(lambda x: round(x, 3)), min_size=2, max_size=12)


@settings(deadline=None)
@given(VALUES, VALUES, st.floats(0.1, 3))
def test_equivalence_is_the_interval_inside_the_margin(
    ours: list[float], theirs: list[float], margin: float
) -> None:
    found = tost_two_samples(ours, theirs, margin)
    inside = -margin < found.interval[0] and found.interval[1] < margin
    edge = min(abs(abs(end) - margin) for end in found.interval)
    assert found.equivalent == inside or edge < 1e-6
    mirrored = tost_two_samples(theirs, ours, margin)
    assert mirrored.p == pytest.approx(found.p) and mirrored.difference == pytest.approx(-found.difference)


def test_runs_are_alike_where_the_limit_of_their_spread_is_inside_the_margin() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        scores = rng.normal(0, rng.uniform(0.2, 2), size=int(rng.integers(2, 20)))
        found = sd_below(scores, 1.0)
        assert found.below == (found.limit < 1.0)
        assert found.p == pytest.approx(chi2.cdf((len(scores) - 1) * scores.var(ddof=1), len(scores) - 1))
    assert sd_below([1, 1, 1], 0.5).below


def test_welch_equivalence_agrees_with_scipy() -> None:
    from scipy.stats import ttest_ind

    rng = np.random.default_rng(0)
    a, b = rng.normal(0.1, 1, size=9), rng.normal(0, 2, size=14)
    found = tost_two_samples(a, b, margin=1.5)
    below = ttest_ind(a, b - 1.5, equal_var=False, alternative="greater").pvalue
    above = ttest_ind(a, b + 1.5, equal_var=False, alternative="less").pvalue
    assert found.p == pytest.approx(max(below, above))
    assert tost_two_samples([1, 1], [1, 1], margin=0.5).equivalent


def test_sign_flips_over_runs() -> None:
    p, smallest = sign_flip_over_runs([0.3, -0.3, NA])
    assert p == 1.0 and smallest == 0.5


def test_correlations_of_equal_scores_are_undefined() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=20_000)
    x, y = (truth + rng.normal(size=20_000) for _ in range(2))
    assert correlation(x, -y)[0] == pytest.approx(-0.5, abs=0.03)
    assert math.isnan(correlation([1, 1], [1, 2])[0])


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="items × runs"):
        pairwise_agreement([1, 0])
    with pytest.raises(ValueError, match="same number of runs"):
        fleiss_kappa([[1, 1], [2, 1]])
    with pytest.raises(ValueError, match="nominal"):
        krippendorff_alpha([[1, 0]], "ordinal")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no missing value"):
        icc([[1.0, NA], [1.0, 2.0]])
    with pytest.raises(ValueError, match="1, 0 or NaN"):
        disagreement([[2, 1]])
    with pytest.raises(ValueError, match="every run needs an outcome"):
        run_spread([[1, NA]])
    with pytest.raises(ValueError, match="margin is positive"):
        tost_two_samples([1, 2], [1, 2], margin=0)
    with pytest.raises(ValueError, match="margin is positive"):
        sd_below([1, 2], margin=0)
    with pytest.raises(ValueError, match="at least two runs"):
        sd_below([1], margin=1)
    with pytest.raises(ValueError, match="got 1 and 2"):
        tost_two_samples([1], [1, 2], margin=1)
    with pytest.raises(ValueError, match="wished reliability"):
        runs_needed(0.5, 1.0)
    with pytest.raises(ValueError, match="same runs"):
        correlation([1, 2], [1])
