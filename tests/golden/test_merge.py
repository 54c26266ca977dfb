"""Groups of variants that others made, through the group path; the poster's own tables."""

import csv
import gzip

import pytest

from shoal.core.records import Answers, Measures
from shoal.protocols.merge import Settings, build
from shoal.protocols.merge.score import find_measure, score

pytestmark = pytest.mark.golden

NAMES = ("entailment", "neutral", "contradiction")


def always(label, built):
    import numpy as np

    rows = sum(len(case.examples) for case in built.cases)
    return {"": Answers(NAMES, np.full(rows, NAMES.index(label), np.int64))}


def test_counterfactually_revised_problems_are_groups_of_five(data):
    settings = Settings(data=str(data / "cad_nli" / "groups.tsv"), group="group", label_names=NAMES)
    built = build(settings)
    assert len(built.cases) == 400
    assert {len(case.examples) for case in built.cases} == {5}
    with (data / "cad_nli" / "groups.tsv").open() as stream:
        labels = [row["label"] for row in csv.DictReader(stream, delimiter="\t")]
    measures = Measures(score(settings, built, always("neutral", built)).measures)
    sample = find_measure(measures, "sample accuracy", {})
    assert sample is not None and sample.value == pytest.approx(labels.count("neutral") / 2000)
    # Each group holds all three labels: who always says the same solves none.
    assert find_measure(measures, "pattern accuracy", {"threshold": "1"}).value == 0.0  # type: ignore[union-attr]


def test_paraphrased_hypotheses_are_groups_of_two(data):
    path = data / "snli" / "semantic.tsv.gz"
    settings = Settings(data=str(path), paraphrase=("hypothesis_paraphrase",), label_names=NAMES)
    built = build(settings)
    with gzip.open(path, "rt") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    assert len(built.cases) == len(rows) == 4406
    assert {len(case.examples) for case in built.cases} == {2}
    measures = Measures(score(settings, built, always("entailment", built)).measures)
    share = sum(row["label"] == "0" for row in rows) / len(rows)
    for threshold in ("0.5", "1"):
        row = find_measure(measures, "pattern accuracy", {"threshold": threshold})
        assert row is not None and row.value == pytest.approx(share)
