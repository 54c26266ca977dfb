"""Multinomial counts draw what index arrays draw, and nothing but the outcomes decides what is drawn."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import Generator
from numpy.typing import NDArray

from shoal.stats.resampling import (
    ClusterTable,
    cluster_table,
    degrees_of_freedom,
    difference,
    macro_difference_replicates,
    macro_mean,
    macro_mean_replicates,
    multi_bootstrap_difference,
    paired_table,
    rate,
    sampling_variance,
)

NA = float("nan")
Cases = list[tuple[int, float, float]]
outcome = st.sampled_from([0.0, 1.0, NA])
cases = st.lists(st.tuples(st.integers(0, 6), outcome, outcome), min_size=1, max_size=30)


def generator() -> Generator:
    return np.random.default_rng(7)


def columns(rows: Cases) -> tuple[list[int], list[float], list[float]]:
    clusters, a, b = zip(*rows, strict=True)
    return list(clusters), list(a), list(b)


def by_indices(
    values: NDArray[np.float64], clusters: NDArray[np.int64], drawn: int, resamples: int
) -> NDArray[np.float64]:
    """The bootstrap as one would first write it: draw clusters, collect their cases, take the mean."""
    rng = np.random.default_rng(11)
    names = np.unique(clusters)
    found = []
    for _ in range(resamples):
        picked = rng.choice(names, size=drawn)
        found.append(np.nanmean(np.concatenate([values[clusters == name] for name in picked])))
    return np.array(found)


def test_counts_have_the_mean_and_variance_of_index_arrays() -> None:
    rng = generator()
    clusters = rng.integers(12, size=60)
    values = (rng.random(60) < 0.3 + 0.05 * clusters).astype(float)
    values[:5] = NA
    found = macro_mean_replicates([cluster_table(values, clusters)], 20_000, rng)
    naive = by_indices(values, clusters, 11, 4000)
    assert found.mean() == pytest.approx(naive.mean(), abs=0.004)
    assert found.std() == pytest.approx(naive.std(), rel=0.05)
    assert np.quantile(found, [0.025, 0.975]) == pytest.approx(np.quantile(naive, [0.025, 0.975]), abs=0.02)


def test_one_fewer_draw_gives_the_unbiased_variance() -> None:
    table = cluster_table([1, 1, 1, 0])
    replicates = macro_mean_replicates([table], 40_000, generator())
    assert replicates.var() == pytest.approx(sampling_variance(table), rel=0.03)


@settings(deadline=None)
@given(cases, st.randoms(use_true_random=False))
def test_order_and_names_of_cases_change_nothing(rows: Cases, random: "st.DataObject") -> None:
    clusters, a, b = columns(rows)
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    renamed, a_too, b_too = columns(shuffled)
    names = [f"cluster {9 - name}" for name in renamed]
    ones, others = cluster_table(a, clusters), cluster_table(a_too, names)
    pair, same_pair = paired_table(a, b, clusters), paired_table(a_too, b_too, names)
    if ones.totals[-1]:
        first, again = (macro_mean_replicates([table], 20, generator()) for table in (ones, others))
        assert np.array_equal(first, again)
    if pair.totals[-1]:
        first, again = (macro_difference_replicates([table], 20, generator()) for table in (pair, same_pair))
        assert np.array_equal(first, again)


@settings(deadline=None)
@given(cases)
def test_exchanging_the_models_changes_only_the_sign(rows: Cases) -> None:
    clusters, a, b = columns(rows)
    ab, ba = paired_table(a, b, clusters), paired_table(b, a, clusters)
    assert difference(ab) == pytest.approx(-difference(ba), nan_ok=True)
    if not ab.totals[-1]:
        return
    first = macro_difference_replicates([ab], 31, generator())
    second = -macro_difference_replicates([ba], 31, generator())
    # Sorted, because models that tie case for case get the same replicates under either name.
    assert np.array_equal(np.sort(first), np.sort(second))


@settings(deadline=None)
@given(cases)
def test_a_model_against_itself_differs_by_nothing(rows: Cases) -> None:
    clusters, a, _ = columns(rows)
    table = paired_table(a, a, clusters)
    if table.totals[-1]:
        assert (macro_difference_replicates([table], 30, generator()) == 0).all()


def test_models_that_tie_have_an_interval_as_wide_above_as_below() -> None:
    table = paired_table([1, 0, 1, 0, 1, 1], [0, 1, 0, 1, 1, 1])
    replicates = macro_difference_replicates([table], 1000, generator())
    assert np.array_equal(np.sort(replicates), np.sort(-replicates))
    assert replicates.var() == pytest.approx(sampling_variance(table), rel=0.1)


@settings(deadline=None)
@given(cases)
def test_duplicating_every_case_leaves_rate_and_replicates(rows: Cases) -> None:
    clusters, a, _ = columns(rows)
    once, twice = cluster_table(a, clusters), cluster_table(a * 2, clusters * 2)
    assert rate(twice) == pytest.approx(rate(once), nan_ok=True)
    if once.totals[-1]:
        replicates = macro_mean_replicates([twice], 20, generator())
        assert np.allclose(replicates, macro_mean_replicates([once], 20, generator()))


@settings(deadline=None)
@given(cases)
def test_a_pair_counts_common_applicable_cases_only(rows: Cases) -> None:
    _, a, b = columns(rows)
    common = [(x, y) for x, y in zip(a, b, strict=True) if not math.isnan(x + y)]
    expected = sum(x - y for x, y in common) / len(common) if common else NA
    assert difference(paired_table(a, b)) == pytest.approx(expected, nan_ok=True)


def test_paired_replicates_vary_as_the_differences_do() -> None:
    rng = generator()
    a = (rng.random(300) < 0.8).astype(float)
    b = np.where(rng.random(300) < 0.1, 1 - a, a)
    replicates = macro_difference_replicates([paired_table(a, b)], 20_000, rng)
    assert replicates.std() == pytest.approx((a - b).std(ddof=1) / math.sqrt(300), rel=0.03)


def test_a_macro_mean_weighs_functionalities_alike() -> None:
    tables = [cluster_table([1] * 99 + [0]), cluster_table([0, 1])]
    assert macro_mean(tables) == pytest.approx((0.99 + 0.5) / 2)
    replicates = macro_mean_replicates(tables, 20_000, generator())
    assert replicates.mean() == pytest.approx(macro_mean(tables), abs=0.01)
    variance = sum(sampling_variance(table) for table in tables) / 4
    assert replicates.var() == pytest.approx(variance, rel=0.04)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=6), min_size=1, max_size=5))
def test_the_order_of_functionalities_changes_nothing(groups: list[list[float]]) -> None:
    tables = [cluster_table(group) for group in groups]
    there, back = (macro_mean_replicates(some, 20, generator()) for some in (tables, tables[::-1]))
    assert np.array_equal(there, back)
    assert macro_mean(tables) == macro_mean(tables[::-1])


def test_macro_differences_mirror() -> None:
    rng = generator()
    groups = [(rng.integers(2, size=9), rng.integers(2, size=9)) for _ in range(4)]
    ab, ba = [paired_table(a, b) for a, b in groups], [paired_table(b, a) for a, b in groups]
    first, second = (macro_difference_replicates(some, 500, generator()) for some in (ab, ba))
    assert np.array_equal(first, -second)
    assert first.mean() == pytest.approx(np.mean([difference(table) for table in ab]), abs=0.05)


def test_a_functionality_seldom_applicable_is_drawn_until_it_is() -> None:
    tables = [cluster_table([1.0, NA, NA, NA, NA]), cluster_table([0, 0, 1])]
    assert not np.isnan(macro_mean_replicates(tables, 500, generator())).any()


def test_a_functionality_never_applicable_is_an_error() -> None:
    with pytest.raises(ValueError, match="1 of 2 functionalities have no applicable case"):
        macro_mean_replicates([cluster_table([NA]), cluster_table([1])], 10, generator())


def test_blocks_do_not_change_what_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    table = cluster_table(generator().random(50))
    whole = macro_mean_replicates([table], 100, generator())
    monkeypatch.setattr("shoal.stats.resampling.DRAWS_AT_ONCE", 300)
    assert np.array_equal(whole, macro_mean_replicates([table], 100, generator()))


def test_distinct_rows_are_those_of_numpy() -> None:
    rng = generator()
    values, clusters = rng.integers(2, size=500).astype(float), rng.integers(100, size=500)
    table = cluster_table(values, clusters)
    index = np.unique(clusters, return_inverse=True)[1]
    naive = np.column_stack([np.bincount(index, weights=values), np.bincount(index)])
    rows, counts = np.unique(naive, axis=0, return_counts=True)
    assert np.array_equal(table.rows, rows) and np.array_equal(table.counts, counts)
    assert table.clusters == len(np.unique(clusters))


def test_degrees_of_freedom() -> None:
    ten, certain = cluster_table([0, 1] * 5), cluster_table([1] * 30)
    assert degrees_of_freedom([ten]) == pytest.approx(9)
    assert degrees_of_freedom([ten, ten]) == pytest.approx(18)
    assert degrees_of_freedom([ten, certain]) == pytest.approx(9)
    assert degrees_of_freedom([certain]) == 29
    assert math.isnan(degrees_of_freedom([cluster_table([1])]))


def test_runs_and_items_vary_together() -> None:
    rng = generator()
    chance = 0.6 + rng.uniform(-0.2, 0.2, size=(400, 1)) + rng.uniform(-0.1, 0.1, size=6)
    outcomes = (rng.random((400, 6)) < chance).astype(float)
    replicates = multi_bootstrap_difference([outcomes], [np.zeros((400, 6))], 20_000, rng, paired_runs=True)
    assert replicates.mean() == pytest.approx(outcomes.mean(), abs=0.003)
    naive = []
    for _ in range(3000):
        picked = np.ix_(rng.integers(400, size=399), rng.integers(6, size=5))
        naive.append(outcomes[picked].mean())
    assert replicates.std() == pytest.approx(np.std(naive), rel=0.06)


def test_paired_runs_cancel_and_unpaired_do_not() -> None:
    rng = generator()
    shift = np.array([-0.3, -0.15, 0.0, 0.15, 0.3])
    item = rng.random((300, 1))
    a, b = (item < 0.5 + shift).astype(float), (item < 0.45 + shift).astype(float)
    paired = multi_bootstrap_difference([a], [b], 4000, rng, paired_runs=True)
    unpaired = multi_bootstrap_difference([a], [b], 4000, rng, paired_runs=False)
    assert paired.mean() == pytest.approx((a - b).mean(), abs=0.01)
    assert unpaired.std() > 4 * paired.std()


@pytest.mark.parametrize("paired_runs", [True, False])
def test_exchanging_recipes_changes_only_the_sign(paired_runs: bool) -> None:
    rng = generator()
    a = [rng.integers(2, size=(30, 3)), rng.integers(2, size=(10, 3))]
    b = [rng.integers(2, size=(30, 3)), rng.integers(2, size=(10, 3))]
    clusters = [np.arange(30) // 3, np.arange(10)]
    there, back = (
        multi_bootstrap_difference(*pair, 200, generator(), paired_runs=paired_runs, clusters=clusters)
        for pair in ((a, b), (b, a))
    )
    assert np.array_equal(there, -back)
    same = multi_bootstrap_difference(a, a, 51, generator(), paired_runs=True)
    assert (same == 0).all()


def test_order_of_items_and_functionalities_changes_nothing_for_runs() -> None:
    rng = generator()
    first, second = rng.integers(2, size=(30, 3)), rng.integers(2, size=(10, 3))
    others = [np.zeros((30, 3)), np.zeros((10, 3))]
    there = multi_bootstrap_difference([first, second], others, 100, generator(), paired_runs=True)
    back = multi_bootstrap_difference(
        [second[::-1], first[::-1]], others[::-1], 100, generator(), paired_runs=True
    )
    assert np.array_equal(there, back)


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="no case"):
        cluster_table([])
    with pytest.raises(ValueError, match="one cluster per case"):
        cluster_table([1, 0], ["a"])
    with pytest.raises(ValueError, match="got 2 and 1"):
        paired_table([1, 0], [1])
    with pytest.raises(ValueError, match=r"shape \(1, 1\)"):
        cluster_table([[1]])
    with pytest.raises(ValueError, match="at least one resample"):
        macro_mean_replicates([cluster_table([1])], 0, generator())
    with pytest.raises(ValueError, match="no functionality"):
        macro_mean([])
    with pytest.raises(ValueError, match="same runs"):
        multi_bootstrap_difference([[[1, 0]], [[1]]], [[[1, 0]], [[1]]], 10, generator(), paired_runs=True)
    with pytest.raises(ValueError, match="same items"):
        multi_bootstrap_difference([[[1, 0]]], [[[1, 0], [1, 1]]], 10, generator(), paired_runs=True)
    with pytest.raises(ValueError, match="got 2 and 1"):
        multi_bootstrap_difference([[[1, 0]]], [[[1]]], 10, generator(), paired_runs=True)


def test_a_lone_cluster_stays_as_it_is() -> None:
    table = ClusterTable(np.array([[1.0, 2.0]]), np.array([1]))
    assert set(macro_mean_replicates([table], 10, generator())) == {0.5}
    assert math.isnan(sampling_variance(table))
