"""Ranking by attributions, from the file to the order of models."""

import numpy as np
import pytest
import torch
from by_hand import by_hand

from shoal import audit, load_model
from shoal.core.records import Answers, Case
from shoal.explaining import EXPLAINERS, explain
from shoal.explaining.attributions import ExplainConfig
from shoal.protocols import ranking
from shoal.protocols.ranking.factors import FACTORS, FEATURE
from shoal.runs.results import audit_all

from .conftest import write_csv

SENTENCES = ["not good film", "good plot", "film not good .", "plot good unseen", "good"]


# Planted models


def planted(word, weight):
    """A model that goes by one word, whichever else there are."""
    return by_hand({word: [1.0]}, lambda given: weight * given.sum(dim=(1, 2)) - 1.0)


def mean(name, model, cases, method):
    explained = explain(
        model, [case.examples[0] for case in cases], method, ExplainConfig(samples=200, specials=True)
    )
    answers = Answers(("no", "yes"), np.zeros(len(cases), np.int64))
    return np.mean([n for n in FACTORS[name].values(cases, answers, explained) if n is not None])


@pytest.mark.parametrize("method", EXPLAINERS)
def test_a_model_with_a_shortcut_is_ranked_below_an_honest_one_by_the_window(method):
    """The honest model goes by the feature word, the other by a mark that happens to go with it in training."""
    cases = [Case(text, ((text,),), ("yes",), {}, "", {FEATURE: "good"}) for text in SENTENCES]
    honest, shortcut = planted("good", 4.0), planted(".", 4.0)
    assert mean("ADJ", honest, cases, method) < mean("ADJ", shortcut, cases, method) - 0.1


# Through the protocol


@pytest.fixture
def sentences(tmp_path):
    adjectives = [("great", "positive"), ("awful", "negative"), ("good", "positive"), ("bad", "negative")]
    rows = [
        {"text": f"The {thing} was {word}.", "label": label, "feature": word}
        for thing in ("food", "film", "staff")
        for word, label in adjectives
    ]
    rows[0]["feature"] = ""
    write_csv(tmp_path / "new.csv", rows)
    return tmp_path / "new.csv"


def test_every_example_has_a_column_of_values_by_factor_and_explainer(sentences):
    result = audit(
        "ranking", "tiny:sentiment", data=(str(sentences),), factors=("ACC", "ADJ"),
        explainers=("shapley", "gradients"), samples={"shapley": 40, "gradients": 40},
    )  # fmt: skip
    assert list(result.columns) == ["prediction", "ACC", "ADJ (shapley)", "ADJ (gradients)"]
    values = result.columns["ADJ (shapley)"]
    assert values[0] is None and all(number is not None for number in values[1:])
    rows = {row.groups.get("factor"): row for row in result.measures}
    assert rows["ADJ (gradients)"].n == len(result.cases) - 1 == rows["ACC"].n - 1
    worst = rows["ADJ (shapley)"].value
    assert worst is not None and worst < 0


@pytest.mark.slow
def test_values_that_do_not_add_up_are_a_warning_and_pairs_name_the_explainer(sentences, tmp_path):
    model = load_model("tiny:sentiment")
    for name, factor in (("a", 1.0), ("b", -1.0)):  # the second takes everything for its opposite
        network = model.network("classify")
        with torch.no_grad():
            network.classifier.weight *= factor
        network.save_pretrained(tmp_path / name)
        model.tokenizer.save_pretrained(tmp_path / name)
    results = audit_all(
        [f"hf:{tmp_path / name}" for name in "ab"], "ranking",
        {"data": (str(sentences),), "factors": ("ACC", "ADJ"), "explainers": ("shapley", "gradients"),
         "samples": {"gradients": 1}, "probe_sizes": (5,), "probe_sets": 20},
    )  # fmt: skip
    compared = ranking.compare(results[0].settings, results)
    (warning,) = [finding.text for finding in compared.findings if finding.kind == "incomplete"]
    assert "the attributions of gradients miss" in warning and "for 2 of 2 models" in warning
    gaps = {
        (row.groups["model"], row.groups["explainer"]): row.value
        for row in compared.measures
        if row.name == "completeness gap"
    }
    assert gaps.keys() == {(model, one) for model in "ab" for one in ("shapley", "gradients")}
    assert all(gaps[name, "gradients"] > 0.05 and gaps[name, "shapley"] < 1e-9 for name in "ab")
    (file,) = ranking.view(results[0].settings, results, compared.measures, [])[-1].blocks
    assert {tuple(row.cells[1:3]) for row in file.rows} == {
        ("", "ACC"), ("shapley", "ADJ"), ("gradients", "ADJ"),
    }  # fmt: skip


def test_an_example_that_a_model_cuts_is_an_error_and_takes_no_other_with_it(tmp_path):
    texts = ["The food was great. " * 30, "The food was awful.", "The film was good."]
    labels = ["positive", "negative", "positive"]
    write_csv(tmp_path / "long.csv", [{"text": a, "label": b} for a, b in zip(texts, labels, strict=True)])
    result = audit(
        "ranking", "tiny:sentiment", data=(str(tmp_path / "long.csv"),), explainers=("gradients",),
        samples={"gradients": 5}, factors=("ACC", "CONF"),
    )  # fmt: skip
    errors = [outcome.error for outcome in result.outcomes]
    assert "longer than the model's limit" in errors[0] and errors[1:] == ["", ""]
    assert result.columns["CONF"][0] is None
