"""Test cases whose texts the tested model was trained on: counted per fold, reported where they could decide."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from toy_suite import write_suite

from shoal import Case, Measures, Outcome, Result
from shoal.protocols.behaviour.build import suite_cases
from shoal.protocols.learning.comparison import compare_models
from shoal.protocols.learning.findings import shared_findings, shared_texts
from shoal.protocols.learning.settings import Settings, Train

SIZES = {"a": 40, "b": 40}
SHARED = 32
"""The first cases of b have the texts of those of a, one further on: else both sides of the split agree."""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    rows = [
        {
            "functionality": name, "capability": name, "type": "MFT", "case_id": at, "labels": 1,
            "examples": [{"text": f"text {at + (name == 'b')}" if at < SHARED else f"{name} {at}"}],
        }
        for name, size in SIZES.items()
        for at in range(size)
    ]  # fmt: skip
    path = write_suite(tmp_path / "toy.jsonl", rows)
    train = Train(on=("iid", "iid>suite"))
    return Settings(suite=str(path), train=train, hold_out=("functionality",), resamples=50, shuffles=200)


def results(settings: Settings, trained: set[str]) -> list[Result]:
    """After training, exactly those cases pass whose text another functionality was trained on."""
    cases = suite_cases(settings, "test")
    every = []
    for config, hold_out, fold in (
        ("iid", "none", ""), ("iid>suite", "seen", ""), ("iid>suite", "functionality", "a"),
        ("iid>suite", "functionality", "b"),
    ):  # fmt: skip
        passed = [config != "iid" and case.examples[0][0] in trained for case in cases]
        outcomes = [Outcome(case.id, value) for case, value in zip(cases, passed, strict=True)]
        job: dict[str, Any] = {"id": f"{config}{hold_out}{fold}", "model": "m"}
        train = {"on": (config,), "method": ("vanilla",)}
        job["settings"] = {"train": train, "hold_out": (hold_out,), "fold": fold, "seed": 0}
        every.append(Result(job, [*cases, *iid_rows()], [*outcomes, *iid_outcomes()], Measures([])))
    return every


def iid_rows() -> list[Case]:
    groups = {"functionality": "i.i.d.", "capability": "i.i.d.", "test type": "MFT"}
    return [Case(f"i.i.d./{n}", ((f"row {n}",),), ("x",), groups) for n in range(4)]


def iid_outcomes() -> list[Outcome]:
    return [Outcome(f"i.i.d./{n}", True) for n in range(4)]


def of_other(settings: Settings) -> dict[str, int]:
    """Count the test cases of each functionality whose text is in the training split of the other."""
    train, test = suite_cases(settings, "train"), suite_cases(settings, "test")
    texts = {
        name: {case.examples for case in train if case.groups["functionality"] != name} for name in SIZES
    }
    return {
        name: sum(case.examples in texts[name] for case in test if case.groups["functionality"] == name)
        for name in SIZES
    }


def test_shared_texts_are_counted_per_fold_and_a_gain_that_they_could_explain_is_reported(settings: Settings):
    settings = replace(settings, split_by="id")
    expected = of_other(settings)
    assert sum(expected.values()) > 5
    trained = {case.examples[0][0] for case in suite_cases(settings, "train")}
    (table,) = compare_models(settings, results(settings, trained))
    rows = shared_texts(table)
    folds = {row.groups["functionality"]: row for row in rows if "functionality" in row.groups}
    assert {name: row.facts["cases"] for name, row in folds.items()} == {
        name: count for name, count in expected.items() if count
    }
    (whole,) = [row for row in rows if row.groups == {"hold out": "functionality"}]
    assert whole.value == pytest.approx(sum(expected.values()) / whole.n) and whole.n == 20
    found = {finding.text.split("whole gain in ")[1][:6] for finding in shared_findings(table, rows)}
    assert "G_func" in found


def test_split_by_text_leaves_no_shared_text(settings: Settings):
    settings = replace(settings, split_by="text")
    assert of_other(settings) == dict.fromkeys(SIZES, 0)
    (table,) = compare_models(settings, results(settings, set()))
    assert not any(row.value for row in shared_texts(table))
