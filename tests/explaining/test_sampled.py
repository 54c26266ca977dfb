"""LIME and Shapley values against games whose values are known."""

import numpy as np
import pytest
from games import Game, random_worth, shapley_by_definition

from shoal import ShoalError
from shoal.explaining import lime, shapley
from shoal.explaining.attributions import Attribution, ExplainConfig, completeness_gap

SEEDS = 200


def attribute(method, size, worth, how, seed=0) -> Attribution:
    explained: list[Attribution] = method.attribute(Game(size, worth), how, [np.random.default_rng(seed)])
    return explained[0]


@pytest.mark.parametrize("size", range(1, 9))
def test_with_every_copy_asked_the_values_are_the_shapley_values(size):
    worth = random_worth(size, seed=size)
    explained = attribute(shapley, size, worth, ExplainConfig(label="yes"))
    assert explained.facts["exact"]
    np.testing.assert_allclose(explained.values, shapley_by_definition(size, worth), atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "samples"), [(5, 14), (7, 30), (8, 40), (8, 100)])
def test_sampled_values_are_unbiased_and_within_four_standard_errors(size, samples):
    worth = random_worth(size, seed=size)
    right = shapley_by_definition(size, worth)
    how = ExplainConfig(samples=samples, label="yes")
    values = np.array([attribute(shapley, size, worth, how, seed).values for seed in range(SEEDS)])
    errors = values.std(axis=0, ddof=1)
    assert not attribute(shapley, size, worth, how).facts["exact"] and errors.min() > 0
    assert (np.abs(values - right) <= 4 * errors).all()
    assert (np.abs(values.mean(axis=0) - right) <= 4 * errors / np.sqrt(SEEDS)).all()


@pytest.mark.parametrize("samples", [16, 60, None])
def test_values_add_up_to_the_difference_whatever_the_number_of_samples(samples):
    explained = attribute(shapley, 8, random_worth(8, seed=3), ExplainConfig(samples=samples))
    gap = completeness_gap(explained)
    assert gap is not None and gap < 1e-10


def test_too_few_samples_are_refused():
    with pytest.raises(ShoalError, match="7 samples for 5 words[\\s\\S]*samples = 10 or more"):
        attribute(shapley, 5, random_worth(5, 0), ExplainConfig(samples=7))


def test_lime_recovers_the_weights_of_a_linear_model():
    weights = np.array([0.05, -0.08, 0.2, 0.11, -0.15, 0.07, 0.03, 0.12])
    explained = attribute(lime, 8, lambda present: 0.4 + present @ weights, ExplainConfig(label="yes"))
    np.testing.assert_allclose(explained.values, weights, rtol=0.02)
    assert completeness_gap(explained) is None


def test_lime_is_weighted_ridge_regression_with_an_intercept():
    linear_model = pytest.importorskip("sklearn.linear_model")
    present = np.random.default_rng(0).random((60, 5)) < 0.5
    outputs = np.random.default_rng(1).random(60)
    peer = linear_model.Ridge(alpha=1.0).fit(present, outputs, sample_weight=lime.proximity(present))
    np.testing.assert_allclose(lime.fit(present, outputs, (0, 1), ExplainConfig()), peer.coef_, atol=1e-10)


@pytest.mark.parametrize("method", [lime, shapley])
def test_the_predicted_label_is_explained_unless_another_is_named(method):
    def worth(present):
        return 0.9 - 0.5 * present[:, 0]

    predicted, other = (attribute(method, 2, worth, ExplainConfig(label=label)) for label in ("", "yes"))
    assert predicted.label == "no" and predicted.output == pytest.approx(0.6)
    np.testing.assert_allclose(predicted.values, -other.values, atol=1e-12)


def test_labels_that_count_as_one_are_summed_and_predicted_first():
    class Three(Game):
        labels = ("entailment", "neutral", "contradiction")  # type: ignore[assignment]

        def ask(self, present):
            last = 0.3 + 0.05 * present[0][:, 0]
            return [np.stack([np.full(len(last), 0.4), last, 0.6 - last], axis=1)]

    merged = {"neutral": "no", "contradiction": "no"}
    (explained,) = shapley.attribute(
        Three(2, lambda present: present), ExplainConfig(merged=merged), [np.random.default_rng()]
    )
    assert explained.label == "entailment" and explained.output == pytest.approx(0.4)
    named = ExplainConfig(merged=merged, label="no")
    (explained,) = shapley.attribute(Three(2, lambda present: present), named, [np.random.default_rng()])
    assert explained.output == pytest.approx(0.6) and explained.values == pytest.approx([0, 0])
