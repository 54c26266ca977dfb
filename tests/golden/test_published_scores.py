"""Scores that others computed, recomputed here from stored predictions."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from shoal import Answers, read_suite
from shoal.protocols.behaviour.judge import judge, neutral_band
from shoal.protocols.behaviour.settings import Settings

pytestmark = pytest.mark.golden


def test_soft_outcomes_agree_in_all_783_cases(data: Path):
    with gzip.open(data / "checklist" / "sentiment_soft_outcomes.jsonl.gz", "rt") as stream:
        rows = [json.loads(line) for line in stream]
    assert len(rows) == 783
    suite = read_suite(data / "checklist" / "sentiment.jsonl.gz")
    by_id = {case.id: case for case in suite.cases}
    cases = [by_id[f"{row['functionality']}/{row['case_id']}"] for row in rows]
    assert suite.labels
    positive = np.array([r for row in rows for r in row["positive"]])
    two_class = Answers(
        ("negative", "positive"), (positive > 0.5).astype(int), np.stack([1 - positive, positive], 1)
    )
    outcomes = judge(Settings(profile="reference"), cases, two_class)
    words = {True: "pass", False: "fail", None: "not applicable"}
    assert [words[outcome.passed] for outcome in outcomes] == [row["outcome"] for row in rows]

    vectors, labels = neutral_band(positive, "strict")
    assert labels.tolist() == [label for row in rows for label in row["pred"]]
    assert vectors == pytest.approx(np.array([v for row in rows for v in row["conf"]]), abs=1e-15)


@pytest.mark.parametrize(
    ("language", "cases", "functionalities"), [("german", 3645, 27), ("mandarin", 3378, 25)]
)
def test_multilingual_hatecheck_is_read(data: Path, language: str, cases: int, functionalities: int):
    suite = read_suite(data / "multihatecheck" / f"hatecheck_cases_final_{language}.csv")
    assert len(suite.cases) == cases
    assert len(suite.functionalities) == functionalities
    assert suite.cases[0].id == f"derog_neg_emote_h/{language}-1"
    assert suite.cases[0].cluster == "1"
