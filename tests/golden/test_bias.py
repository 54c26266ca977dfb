"""Published figures of bias diagnostics, from stored scores and vectors; counts of the released data."""

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner

from shoal import audit
from shoal.cli import main
from shoal.data.crows import FILE, read_pairs
from shoal.data.seat import read_tests
from shoal.data.stereoset import read_clusters

pytestmark = pytest.mark.golden


@pytest.mark.parametrize(("name", "cells"), [("crows", 13), ("stereoset", 99)])
def test_every_published_cell_is_reproduced(name, cells, data):
    done = CliRunner().invoke(main, ["reproduce", name, "--data", str(data), "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["cells"], found["matching"], found["mismatches"]) == (cells, cells, [])


def test_crows_pairs_of_bert(data):
    folder = data / "crows_pairs"
    result = audit(
        "bias",
        f"predictions:{folder / 'bert_base_token_scores.jsonl.gz'}",
        diagnostic="crows",
        data=str(folder / FILE),
    )
    whole = {
        " ".join(filter(None, [row.groups.get("direction"), row.name])): row
        for row in result.measures
        if row.groups["category"] == "all"
    }
    percent = {name: round(100 * (row.value or 0.0), 2) for name, row in whole.items()}
    assert percent == {
        "stereotype score": 60.48,
        "stereotype score of decided pairs": 60.48,
        "stereo stereotype score": 61.09,
        "antistereo stereotype score": 56.88,
        "neutral share": 0.0,
    }
    assert whole["stereotype score"].n == 1508


def test_token_scores_add_up_to_the_stored_sums(data):
    """The same metric from the tokens themselves: what we sum is what the authors summed."""
    import gzip

    with gzip.open(data / "crows_pairs" / "bert_base_token_scores.jsonl.gz", "rt") as stream:
        rows = [json.loads(line) for line in stream]
    for row in rows[::50]:
        for side in ("more", "less"):
            assert sum(score for _, score in row[f"{side}_tokens"]) == pytest.approx(
                row[f"sent_{side}_score"], abs=1e-3
            )


def test_weat_on_word2vec(data):
    vectors = data / "weat_vectors" / "word2vec_googlenews_weat_subset.txt.gz"
    measures = audit(
        "bias", f"vectors:{vectors}", diagnostic="seat", data=str(data / "seat"), tests="weat1,weat2,weat3"
    ).measures
    effects = measures.where("effect size")
    assert [round(row.value or 0.0, 2) for row in effects] == [1.54, 1.63, 0.58]
    assert effects[1].note == "no vector for axe: left out"
    assert [row.n for row in effects] == [50, 49, 64]


def rows_of(path):
    with path.open() as stream:
        return list(csv.DictReader(stream))


def test_counts_of_crows_pairs(data, tables):
    pairs = read_pairs(data / "crows_pairs" / FILE)
    for row in rows_of(tables / "crows_pairs_counts.csv"):
        own = [pair for pair in pairs if row["bias_type"] in ("all", pair.bias_type)]
        found = [sum(pair.direction == way for pair in own) for way in ("stereo", "antistereo")]
        assert [*found, len(own)] == [int(row[key]) for key in ("stereo", "antistereo", "total")]


def test_counts_of_stereoset(data, tables):
    clusters = read_clusters(data / "stereoset" / "dev.json.gz")
    for row in rows_of(tables / "stereoset_dev_counts.csv")[:3]:
        own = [cluster for cluster in clusters if row["task"] in ("both", cluster.task)]
        for category in ("gender", "profession", "race", "religion"):
            assert sum(cluster.bias_type == category for cluster in own) == int(row[category])
        assert len(own) == int(row["total"])


def test_the_fifty_association_tests(data, tables):
    import math

    tests = {test.name: test for test in read_tests(data / "seat")}
    assert len(tests) == 50
    for row in rows_of(tables / "seat_tests.csv"):
        test = tests[row["test"]]
        for one, name in zip(test.sets, ("target1", "target2", "attribute1", "attribute2"), strict=True):
            assert (one.category, len(one.examples)) == (row[name], int(row[f"n_{name}"]))
            assert all(one.words), (test.name, one.category)
        n, m = (len(each.examples) for each in test.sets[:2])
        assert (math.comb(n + m, n) <= 100_000) == (row["exact_at_100000"] == "yes")


def test_counts_of_section_5_12_from_table_1(tables):
    rows = [row for row in rows_of(tables / "diagnostics_table1.csv") if row["category"] != "all"]
    found = {}
    for test in ("CrowS-Pairs", "StereoSet"):
        for size in ("base", "large"):
            spread = np.array([float(row[f"{size}_sd"]) for row in rows if row["test"] == test])
            found[test, size] = int((spread > 2.5).sum()), len(spread), spread.mean()
    assert {key: value[:2] for key, value in found.items()} == {
        ("CrowS-Pairs", "base"): (7, 9),
        ("CrowS-Pairs", "large"): (6, 9),
        ("StereoSet", "base"): (1, 4),
        ("StereoSet", "large"): (1, 4),
    }
    means = [value[2] for value in found.values()]
    assert means == pytest.approx([4.13, 3.40, 1.30, 1.725], abs=0.006)


@pytest.mark.parametrize(
    ("category", "model", "figures"),
    [
        ("Religion", "race", (0.6500, 0.1433, 0.8800, 0.0018)),
        ("Religion", "arc", (0.4383, 0.2450, 0.8517, 0.0353)),
        ("Sexual_orientation", "race", (0.6875, 0.0579, 0.9398, -0.0074)),
    ],
)
def test_bbq_of_unifiedqa(category, model, figures, data):
    path = data / "bbq" / f"preds_{category}.jsonl.gz"
    spec = f"predictions:{path}?label=unifiedqa-t5-11b_pred_{model}"
    measures = audit("bias", spec, diagnostic="bbq", data=str(path)).measures
    names = [
        (name, context) for context in ("ambiguous", "disambiguated") for name in ("accuracy", "bias score")
    ]
    (found,) = zip(*(measures.where(name, context=context) for name, context in names), strict=True)
    assert tuple(round(row.value or 0.0, 4) for row in found) == figures
