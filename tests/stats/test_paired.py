"""Tests of two models: exact where they can be, the same whichever is called A, and 1 for a model against itself."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import Generator

from shoal.stats.multiplicity import max_t
from shoal.stats.paired import (
    exact_randomisation,
    generalization_score,
    randomisation_p,
    randomise_generalization,
    sign_flip_test,
    sign_test,
    smallest_sign_flip_p,
)

NA = float("nan")
hit = st.sampled_from([0.0, 1.0, NA])
small_suites = st.lists(st.lists(st.tuples(hit, hit), min_size=1, max_size=3), min_size=1, max_size=2)
iid_pairs = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=3)
Suite = list[list[tuple[float, float]]]


def generator() -> Generator:
    return np.random.default_rng(5)


def sides(suite: Suite) -> tuple[list[list[float]], list[list[float]]]:
    return [[old for old, _ in f] for f in suite], [[new for _, new in f] for f in suite]


def g_difference(old: list[list[float]], new: list[list[float]], iid: list[tuple[float, float]]) -> float:
    scores = []
    for side, suite in enumerate((old, new)):
        rates = [np.mean(defined) for f in suite if (defined := [x for x in f if not math.isnan(x)])]
        s_t = float(np.mean(rates)) if rates else NA
        s_iid = sum(pair[side] for pair in iid) / len(iid)
        scores.append(NA if math.isnan(s_t) else 2 * s_t * s_iid / (s_t + s_iid) if s_t + s_iid else 0.0)
    return scores[1] - scores[0]


def by_swapping(suite: Suite, iid: list[tuple[int, int]]) -> tuple[int, int]:
    """All exchanges of differing positions, one by one."""
    places = [(f, i) for f, pairs in enumerate(suite) for i, (x, y) in enumerate(pairs) if not same(x, y)]
    places += [(-1, i) for i, (x, y) in enumerate(iid) if x != y]
    observed = abs(g_difference(*sides(suite), [(float(x), float(y)) for x, y in iid]))
    reached = 0
    for pattern in itertools.product([False, True], repeat=len(places)):
        swapped = [list(pairs) for pairs in suite]
        swapped_iid = [(float(x), float(y)) for x, y in iid]
        for (f, i), swap in zip(places, pattern, strict=True):
            target = swapped_iid if f < 0 else swapped[f]
            target[i] = target[i][::-1] if swap else target[i]
        reached += not abs(g_difference(*sides(swapped), swapped_iid)) < observed - 1e-9
    return reached, 2 ** len(places)


def same(x: float, y: float) -> bool:
    return x == y or (math.isnan(x) and math.isnan(y))


@settings(deadline=None)
@given(st.integers(0, 400), st.integers(0, 400))
def test_sign_test_agrees_with_scipy_and_ignores_names(b: int, c: int) -> None:
    from scipy.stats import binomtest

    assert sign_test(b, c) == sign_test(c, b)
    if b + c:
        assert sign_test(b, c) == pytest.approx(binomtest(b, b + c, 0.5).pvalue, rel=1e-9)


@settings(deadline=None)
@given(st.lists(st.integers(-4, 4), max_size=9))
def test_sign_flips_of_whole_differences_are_exact(differences: list[int]) -> None:
    observed = abs(sum(differences))
    patterns = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True))) >= observed
        for signs in itertools.product([-1, 1], repeat=len(differences))
    ]
    assert sign_flip_test(differences) == pytest.approx(np.mean(patterns))


@settings(deadline=None)
@given(st.lists(st.floats(-3, 3).map(lambda x: round(x, 3)), max_size=8))
def test_sign_flips_of_real_differences_are_exact_when_few(differences: list[float]) -> None:
    observed = abs(math.fsum(differences))
    patterns = [
        abs(math.fsum(s * d for s, d in zip(signs, differences, strict=True))) >= observed - 1e-9
        for signs in itertools.product([-1, 1], repeat=len(differences))
    ]
    assert sign_flip_test(differences) == pytest.approx(np.mean(patterns), abs=1e-9)


@settings(deadline=None)
@given(st.integers(0, 60), st.integers(0, 60))
def test_one_case_per_cluster_is_the_sign_test(b: int, c: int) -> None:
    assert sign_flip_test([1] * b + [-1] * c + [0] * 5) == pytest.approx(sign_test(b, c))


def test_sampled_sign_flips_agree_with_exact_ones_and_ignore_order_and_names() -> None:
    differences = np.array([3, -1, 2, 2, 1, -2, 4, 1, 1, -3, 2, 1, 1, 2, -1, 1, 2])
    nearly = differences * 1.000001  # not whole any more, too many to enumerate
    p = sign_flip_test(nearly, generator(), shuffles=40_000)
    assert p == pytest.approx(sign_flip_test(differences), abs=0.01)
    assert p == sign_flip_test(-nearly[::-1], generator(), shuffles=40_000)


def test_sign_flips_of_nothing_are_one() -> None:
    assert sign_flip_test([]) == sign_flip_test([0, 0, NA]) == 1.0
    assert smallest_sign_flip_p(0) == 1.0


def test_many_real_differences_need_a_generator() -> None:
    with pytest.raises(ValueError, match="pass rng"):
        sign_flip_test(np.linspace(0.1, 0.9, 30))


@settings(deadline=None, max_examples=60)
@given(small_suites, iid_pairs)
def test_counting_kinds_agrees_with_swapping_positions(suite: Suite, iid: list[tuple[int, int]]) -> None:
    baseline, method = sides(suite)
    old_iid, new_iid = zip(*iid, strict=True)
    found = exact_randomisation(baseline, method, old_iid, new_iid)
    expected = by_swapping(suite, iid)
    if not math.isnan(g_difference(baseline, method, [(float(x), float(y)) for x, y in iid])):
        assert found == expected
    assert found == exact_randomisation(method, baseline, new_iid, old_iid)


def test_shuffles_have_the_distribution_of_position_by_position_swaps() -> None:
    rng = generator()
    baseline = [np.where(rng.random(n) < 0.15, np.nan, rng.integers(2, size=n)) for n in (12, 30, 7)]
    method = [np.where(rng.random(n) < 0.15, np.nan, rng.random(n) < 0.7) for n in (12, 30, 7)]
    old_iid, new_iid = rng.integers(2, size=40), (rng.random(40) < 0.8).astype(int)
    counted = randomise_generalization(baseline, [method], old_iid, new_iid, rng, shuffles=20_000).shuffled[
        :, 0
    ]
    swapped = []
    for _ in range(4000):
        exchanged = []
        for old, new in [*zip(baseline, method, strict=True), (old_iid, new_iid)]:
            swap = rng.random(len(old)) < 0.5
            exchanged.append((np.where(swap, new, old), np.where(swap, old, new)))
        suite = [np.nanmean([np.nanmean(pair[side]) for pair in exchanged[:-1]]) for side in (0, 1)]
        g = generalization_score(suite, [exchanged[-1][side].mean() for side in (0, 1)])
        swapped.append(g[1] - g[0])
    assert counted.std() == pytest.approx(np.std(swapped), rel=0.05)
    quantiles = np.linspace(0.05, 0.95, 7)
    assert np.quantile(counted, quantiles) == pytest.approx(np.quantile(swapped, quantiles), abs=0.01)


def test_scenarios_share_the_iid_swaps() -> None:
    suite = [[1, 0, 1, 1]]
    rng = generator()
    old_iid, new_iid = rng.integers(2, size=50), rng.integers(2, size=50)
    shuffled = randomise_generalization(suite, [suite, suite], old_iid, new_iid, rng, shuffles=200).shuffled
    assert np.array_equal(shuffled[:, 0], shuffled[:, 1]) and shuffled.std() > 0


def test_a_model_against_itself_has_p_one_everywhere() -> None:
    suite, iid = [[1.0, 0.0, NA], [1.0, 1.0]], [1, 0, 1]
    result = randomise_generalization(suite, [suite, suite], iid, iid, generator(), shuffles=50)
    assert result.observed.tolist() == [0, 0]
    assert result.p.tolist() == [1, 1] and result.p_of_average == 1.0
    assert max_t(result.observed, result.shuffled).tolist() == [1, 1]
    assert exact_randomisation(suite, suite, iid, iid) == (1, 1)


def test_swapping_baseline_and_method_flips_the_sign_and_no_p() -> None:
    rng = generator()
    a = [rng.integers(2, size=20).astype(float) for _ in range(4)]
    b = [(rng.random(20) < 0.8).astype(float) for _ in range(4)]
    a[0][:3] = NA
    iid_a, iid_b = rng.integers(2, size=30), rng.integers(2, size=30)
    there = randomise_generalization(a, [b], iid_a, iid_b, generator(), shuffles=500)
    back = randomise_generalization(b, [a], iid_b, iid_a, generator(), shuffles=500)
    assert there.observed == pytest.approx(-back.observed)
    assert there.p == back.p
    reordered = randomise_generalization(
        a[::-1], [b[::-1]], iid_a[::-1], iid_b[::-1], generator(), shuffles=500
    )
    assert np.array_equal(there.shuffled, reordered.shuffled)


def test_a_planted_difference_is_found_and_adjusted_p_is_no_smaller() -> None:
    rng = generator()
    baseline = [(rng.random(200) < 0.5).astype(float) for _ in range(5)]
    better = [(rng.random(200) < 0.7).astype(float) for _ in range(5)]
    alike = [(rng.random(200) < 0.5).astype(float) for _ in range(5)]
    iid = (rng.random(300) < 0.9).astype(float)
    result = randomise_generalization(baseline, [better, alike], iid, iid, rng, shuffles=2000)
    assert result.p[0] < 0.001 < 0.05 < result.p[1]
    assert result.p_of_average < 0.01
    assert (max_t(result.observed, result.shuffled) >= result.p - 1e-12).all()


def test_common_only_leaves_out_what_applies_to_one() -> None:
    suite = ([[1, NA, 0, 1]], [[1, 1, NA, 0]])
    assert exact_randomisation(*suite, [1], [1], common_only=True) == exact_randomisation(
        [[1, 1]], [[1, 0]], [1], [1]
    )


def test_undefined_scores_have_no_p_and_undefined_shuffles_are_no_evidence() -> None:
    assert np.isnan(randomisation_p([NA], [[1.0]])).all()
    assert randomisation_p([1.0], [[NA], [0.0], [0.0]]).tolist() == [0.5]
    assert math.isnan(float(generalization_score(NA, 0.5)))


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="hits are 1, 0 or NaN"):
        exact_randomisation([[2]], [[1]], [1], [1])
    with pytest.raises(ValueError, match="same cases"):
        exact_randomisation([[1, 0]], [[1]], [1], [1])
    with pytest.raises(ValueError, match="same functionalities; got 1 and 2"):
        exact_randomisation([[1]], [[1], [0]], [1], [1])
    with pytest.raises(ValueError, match="too many to enumerate"):
        exact_randomisation([[1] * 3000, [0] * 3000], [[0] * 3000, [1] * 3000], [1], [1])
    with pytest.raises(ValueError, match="not negative"):
        sign_test(-1, 3)
