"""How far an explanation can be believed, on models where that is known."""

import numpy as np
import pytest
from by_hand import by_hand

from shoal import Measure, ShoalError, load_model
from shoal.explaining import explain
from shoal.explaining.attributions import How, completeness_gap
from shoal.explaining.quality import findings, quality, spearman
from shoal.models.fresh import untrained
from shoal.models.python import wrap


def by_words(texts):
    """One word decides; another helps a little."""
    yes = [0.1 + 0.7 * ("good" in text.split()) + 0.1 * ("film" in text.split()) for text in texts]
    return [{"no": 1 - p, "yes": p} for p in yes]


def measured(model, method="shapley", text="a good film of old", how=None, **more):
    _, measures = quality(model, [(text,)], method, how or How(), **more)
    return {row.name: row for row in measures}


def test_deletion_and_insertion_are_the_areas_under_known_curves():
    rows = measured(wrap(by_words))
    # Five words; the deciding one goes first, then the helping one: .9, .2, .1 …
    gone = np.interp(np.linspace(0, 1, 11), np.linspace(0, 1, 6), [0.9, 0.2, 0.1, 0.1, 0.1, 0.1])
    come = np.interp(np.linspace(0, 1, 11), np.linspace(0, 1, 6), [0.1, 0.8, 0.9, 0.9, 0.9, 0.9])
    assert rows["deletion area"].facts["curve"] == pytest.approx(gone.tolist())
    assert rows["deletion area"].value == pytest.approx(np.trapezoid(gone, dx=0.1))
    assert rows["insertion area"].value == pytest.approx(np.trapezoid(come, dx=0.1))
    assert rows["deletion area"].value < rows["deletion at random area"].value
    assert rows["insertion area"].value > rows["insertion at random area"].value


def test_exact_values_need_no_seeds_and_models_without_weights_cannot_be_randomised():
    rows = measured(wrap(by_words))
    assert (rows["seed correlation"].value, rows["seed correlation"].na) == (None, 1)
    assert rows["completeness gap"].value == pytest.approx(0)
    assert rows["correlation with random weights"].value is None


def test_more_samples_make_other_draws_agree():
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]

    def uneven(texts):
        yes = [sum(0.009 * (n + 1) for n, word in enumerate(words) if word in text) ** 2 for text in texts]
        return [{"no": 1 - p, "yes": p} for p in yes]

    few, many = (
        measured(wrap(uneven), "lime", " ".join(words), How(samples=samples))["seed correlation"].value
        for samples in (15, 800)
    )
    assert few is not None and many is not None and few < 0.9 < many
    assert measured(wrap(uneven), "lime", " ".join(words), How(samples=15))["completeness gap"].value is None


def test_gradients_leave_nothing_to_chance_and_differ_from_those_of_random_weights():
    rows = measured(
        load_model("tiny:sentiment"), "gradients", "The food was great but I hated it.", How(samples=50)
    )
    assert rows["seed correlation"].value is None
    correlation = rows["correlation with random weights"]
    assert (
        correlation.value is not None and abs(correlation.value) < 0.6 and correlation.facts["networks"] == 3
    )


def test_an_untrained_twin_has_the_shape_of_the_model_and_no_weight_of_it():
    model = load_model("tiny:sentiment")
    twin, same, other = (untrained(model, seed) for seed in (0, 0, 1))
    weights = [dict(each.network("classify").named_parameters()) for each in (model, twin, same, other)]
    for name, drawn in weights[1].items():
        assert drawn.shape == weights[0][name].shape
        assert (drawn == weights[2][name]).all()
        if drawn.ndim > 1:
            assert not (drawn == weights[0][name]).all() and not (drawn == weights[3][name]).all()


def test_what_a_reader_must_know_is_said():
    bad = [Measure("completeness gap", 0.2, 1), Measure("seed correlation", 0.3, 1)]
    good = [
        Measure("completeness gap", 0.04, 1),
        Measure("seed correlation", 1.0, 1),
        Measure("deletion area", 0.9, 1),
    ]
    assert [finding.kind for finding in findings(bad)] == ["incomplete", "unstable"]
    assert findings(good) == [] and findings([Measure("seed correlation", None, 0)]) == []
    (alike,) = findings([Measure("correlation with random weights", 0.8, 1)])
    assert "learnt nothing" in alike.text


def test_a_coarse_integral_is_warned_of():
    def steep(given):
        return 30 * given.sum(dim=(1, 2)) - 10

    model = by_hand({"good": [1.0]}, steep)
    gaps = [
        completeness_gap(explain(model, [("good film",)], "gradients", How(samples=steps))[0])
        for steps in (1, 300)
    ]
    kinds = [[finding.kind for finding in findings([Measure("completeness gap", gap, 1)])] for gap in gaps]
    assert kinds == [["incomplete"], []]


def test_rank_correlation_knows_ties_and_lists_without_order():
    assert spearman(np.array([1.0, 1.0]), np.array([1.0, 2.0])) is None
    assert spearman(np.array([1.0, 2.0, 3.0]), np.array([3.0, 2.0, 1.0])) == pytest.approx(-1)
    with pytest.raises(ShoalError, match="correlations need 3"):
        quality(wrap(by_words), [("good",)], "lime", How(), seeds=2)
