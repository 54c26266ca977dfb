"""Scores that others computed, recomputed here from stored predictions."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from shoal import Answers, audit, read_suite
from shoal.protocols.behaviour.judge import judge, neutral_band
from shoal.protocols.behaviour.settings import Settings

pytestmark = pytest.mark.golden


MODELS = ("flan-t5-small", "flan-t5-base", "flan-t5-large", "chatGPT")
SCENARIOS = ("baseline_zero", "seen", "funcOut", "classOut")
RUNS = [f"{model}.{scenario}" for model in MODELS for scenario in SCENARIOS]
NIGHTLY = set(RUNS) - {
    "flan-t5-small.baseline_zero",
    "chatGPT.seen",
}  # `reproduce` tests the cells of all runs


@pytest.mark.parametrize(
    "run", [pytest.param(run, marks=pytest.mark.nightly) if run in NIGHTLY else run for run in RUNS]
)
def test_sixteen_llm_runs_agree_in_every_functionality(run: str, data: Path):
    model, scenario = run.split(".")
    published = json.loads((data / "llm_generations" / "reference_pass_rates.json").read_text())
    (expected,) = [row for row in published if (row["model"], row["scenario"]) == (model, scenario)]
    measures = audit(
        "behaviour",
        f"predictions:{data / 'llm_generations' / 'sentiment' / f'{run}.jsonl.gz'}",
        suite=str(data / "checklist" / "sentiment.jsonl.gz"),
        split="test",
        profile="reference",
        resamples=10,
    ).measures
    found = {row.groups["functionality"]: row for row in measures.by("functionality")}
    assert found.keys() == expected["pass_rates"].keys()
    for name, percent in expected["pass_rates"].items():
        assert found[name].n == expected["n"][name]
        if percent is None:
            assert found[name].value is None and found[name].na > 0
        else:
            assert found[name].value == pytest.approx(percent / 100, abs=1e-11)
    (score,) = measures.where("suite score")
    assert score.value == pytest.approx(expected["avg"] / 100, abs=1e-11)


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


def test_all_58_hatecheck_cells_agree_to_the_printed_digit(data: Path):
    folder = data / "hatecheck"
    published = json.loads((folder / "published_accuracy_by_functionality.json").read_text())
    cells = 0
    for system in ("BERT_davidson2017_weighted", "siftninja"):
        measures = audit(
            "behaviour",
            f"predictions:{folder / 'predictions_2_systems.csv'}?label=pred_{system}",
            suite=str(folder / "test_suite_cases.csv"),
        ).measures
        for row in measures.by("functionality"):
            assert row.value is not None
            assert f"{100 * row.value:.1f}" == f"{published[row.groups['functionality']][system]:.1f}"
            cells += 1
    assert cells == 58


@pytest.mark.parametrize(
    ("language", "cases", "functionalities"), [("german", 3645, 27), ("mandarin", 3378, 25)]
)
def test_multilingual_hatecheck_is_read(data: Path, language: str, cases: int, functionalities: int):
    suite = read_suite(data / "multihatecheck" / f"hatecheck_cases_final_{language}.csv")
    assert len(suite.cases) == cases
    assert len(suite.functionalities) == functionalities
    assert suite.cases[0].id == f"derog_neg_emote_h/{language}-1"
    assert suite.cases[0].cluster == "1"
