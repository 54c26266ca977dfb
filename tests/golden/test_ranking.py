"""Few-shot ranking against its paper's tables, and eight real models on ANLI from the files as they are."""

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from shoal.core.records import Measures
from shoal.protocols import ranking
from shoal.runs.results import audit_all
from shoal.stats.ranking import decided_pairs, guess

pytestmark = pytest.mark.golden

MODELS = (
    "roberta-from-r2", "roberta-from-r3", "bert-r1", "anli-roberta-large", "anli-bart-large", "anli-xlnet-large",
    "anli-electra-large", "anli-albert-xxlarge",
)  # fmt: skip


def rows(tables: Path, name: str) -> list[dict[str, str]]:
    with (tables / name).open() as stream:
        return list(csv.DictReader(stream))


def from_accuracies(percent: list[float], size: int = 10) -> tuple[float, float]:
    """What ACC comes to with independent draws, ties one half and ties as failures, in per cent."""
    truth = np.array(percent) / 100
    better, worse = decided_pairs(truth)
    chances, others = (binom.pmf(np.arange(size + 1), size, truth[side][:, None]) for side in (better, worse))
    fewer = np.cumsum(others, axis=1) - others
    above, equal = (chances * fewer).sum(axis=1), (chances * others).sum(axis=1)
    return round(100 * float((above + equal / 2).mean()), 1), round(100 * float(above.mean()), 1)


def inoculated(tables: Path, dataset: str, column: str, model: str) -> list[float]:
    found = rows(tables, "fewshot_table6_models.csv")
    return [
        float(row[column]) for row in found if row["dataset"] == dataset and row["model"].startswith(model)
    ]


@pytest.mark.parametrize(
    ("feature", "half", "fail"), [("MORPH", 91.0, 87.2), ("VERB", 95.6, None), ("ADJECT", 92.1, None)]
)
def test_acc_on_msgs_follows_from_the_accuracies_alone(tables, feature, half, fail):
    percent = [float(row[feature]) for row in rows(tables, "fewshot_table5_msgs_models.csv")]
    assert len(percent) == 6
    computed = from_accuracies(percent)
    assert computed[0] == half and fail in (None, computed[1])


@pytest.mark.parametrize(
    ("dataset", "column", "model", "half", "fail"),
    [
        ("PAWS", "ood_accuracy", "roberta-base", 87.9, 83.1),
        ("HANS", "ood_accuracy_hans_con", "roberta-large", 81.4, 74.9),
        ("HANS", "ood_accuracy", "roberta-large", 82.3, None),
    ],
)
def test_acc_on_inoculated_models_follows_from_the_accuracies_alone(
    tables, dataset, column, model, half, fail
):
    computed = from_accuracies(inoculated(tables, dataset, column, model))
    assert computed[0] == half and fail in (None, computed[1])


def test_guessing_as_printed(tables):
    printed = {row["method"]: float(row["pooled_accuracy"]) for row in
               rows(tables, "fewshot_table3_architectures_pooled.csv")}  # fmt: skip
    assert 100 * guess([69.0, 80.5, 71.8]) == pytest.approx(72.2, abs=0.05)
    assert abs(100 * guess([69.0, 80.5, 71.8]) - printed["GUESS"]) < 0.25


@pytest.fixture(scope="module")
def anli(data):
    """Eight models on a round of ANLI."""

    def compared(number: int):
        path = data / "anli_dev_8models" / f"ANLI_analysis_r{number}_dev.csv.gz"
        specs = [
            f"predictions:{path}?id=uid&label=preds-{name}PredLabel&probabilities=preds-{name}&labels=e,n,c"
            for name in MODELS
        ]
        settings = {
            "data": (str(path),), "text": ("context", "statement"), "label": "gold_label",
            "labels": ("e", "n", "c"),
        }  # fmt: skip
        results = audit_all(specs, "ranking", settings)
        return Measures(ranking.compare(results[0].settings, results).measures)

    return compared


def few_shot(measures: Measures, factor: str, size: str = "10") -> float:
    (row,) = measures.where("few-shot accuracy", factor=factor, probe_size=size)
    assert row.value is not None
    return 100 * row.value


def test_eight_models_on_round_two_of_anli(anli):
    measures = anli(2)
    accuracies = {row.groups["model"]: round(100 * (row.value or 0), 1) for row in measures.where("accuracy")}
    assert accuracies == {
        "anli-albert-xxlarge": 57.0, "anli-electra-large": 53.7, "anli-xlnet-large": 52.1, "anli-bart-large": 51.8,
        "anli-roberta-large": 50.6, "roberta-from-r3": 44.8, "bert-r1": 28.2, "roberta-from-r2": 18.5,
    }  # fmt: skip
    assert list(accuracies) == sorted(accuracies, key=lambda name: -accuracies[name])
    assert [few_shot(measures, "ACC", size) for size in ("5", "10", "20")] == pytest.approx(
        [69.0, 74.8, 78.5], abs=1.0
    )
    assert few_shot(measures, "CONF") == pytest.approx(52.4, abs=1.5)
    assert few_shot(measures, "CONF-GT") == pytest.approx(76.4, abs=1.0)
    pair = measures.where("probability better", model="anli-albert-xxlarge", than="anli-electra-large")[0]
    assert (pair.facts["only first"], pair.facts["only second"]) == (178, 145)
    assert pair.verdict == "probable"


def test_the_adversary_of_round_one_comes_last(anli):
    measures = anli(1)
    last = measures.where("accuracy")[-1]
    assert (last.groups["model"], last.value) == ("bert-r1", 0.0)
    assert measures.where("probability better", than="bert-r1")[0].verdict == "decided"
