"""Tables of clusters: nothing but the outcomes decides what they hold and what is computed from them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.stats.resampling import (
    cluster_table,
    sampling_variance,
    sharing,
)

NA = float("nan")
Cases = list[tuple[int, float, float]]
outcome = st.sampled_from([0.0, 1.0, NA])
cases = st.lists(st.tuples(st.integers(0, 6), outcome, outcome), min_size=1, max_size=30)


def columns(rows: Cases) -> tuple[list[int], list[float], list[float]]:
    clusters, a, b = zip(*rows, strict=True)
    return list(clusters), list(a), list(b)


# Functionalities that share clusters


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(cases, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_sharing_depends_on_no_order_and_is_1_without_any(groups, random):
    clusters = [[row[0] for row in rows] for rows in groups]
    values = [[row[1] for row in rows] for rows in groups]
    shuffled = [random.sample(rows, len(rows)) for rows in groups]
    again = sharing(
        [[row[0] for row in rows] for rows in shuffled], [[row[1] for row in rows] for rows in shuffled]
    )
    assert sharing(clusters, values) == pytest.approx(again)
    own = [[(number, name) for name in names] for number, names in enumerate(clusters)]
    assert sharing([[str(name) for name in names] for names in own], values) == 1.0
    assert 1 <= again <= len(groups) + 1e-9


def test_the_variance_of_a_mean_of_functionalities_that_share_clusters_is_found():
    # Twelve templates pull four functionalities alike: the mean varies as one functionality does, not as four.
    rng = np.random.default_rng(0)
    found, means = [], []
    for _ in range(300):
        pulls = rng.normal(0, 1, 12)
        values = [pulls + rng.normal(0, 0.3, 12) for _ in range(4)]
        tables = [cluster_table(column, np.arange(12)) for column in values]
        alone = sum(sampling_variance(table) for table in tables) / 16
        found.append(sharing([np.arange(12)] * 4, values) * alone)
        means.append(float(np.mean(values)))
    assert np.mean(found) == pytest.approx(np.var(means), rel=0.15)
