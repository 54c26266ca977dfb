"""Two clusters against two labels: `docs/method/bias.md` 5.6, and permutations beside the formula for chance."""

import numpy as np
import pytest

from shoal.protocols.bias.clusters import chance_accuracy, cluster_accuracy, two_means


@pytest.mark.parametrize("seed", range(2))
def test_chance_is_what_permuted_labels_give(seed):
    rng = np.random.default_rng(seed)
    labels, clusters = np.repeat([0, 1], [13, 8]), rng.integers(0, 2, 21)
    drawn = np.array([cluster_accuracy(rng.permutation(labels), clusters) for _ in range(20_000)])
    found = chance_accuracy(labels, clusters)
    assert found[0] == pytest.approx(drawn.mean(), abs=0.003)
    assert found[1] == pytest.approx((drawn >= cluster_accuracy(labels, clusters) - 1e-9).mean(), abs=0.02)


def test_everything_in_one_cluster_is_chance_itself():
    assert chance_accuracy([0] * 30 + [1] * 10, [0] * 40) == (0.75, 1.0)


def test_two_means_finds_two_heaps_and_the_tightest_of_its_starts():
    rng = np.random.default_rng(0)
    heaps = np.concatenate([rng.normal(size=(20, 3)), rng.normal(size=(15, 3)) + 6])
    labels = np.repeat([0, 1], [20, 15])
    clusters = two_means(heaps, rng)
    assert cluster_accuracy(labels, clusters) == 1.0
