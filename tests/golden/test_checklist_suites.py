"""The three released suites: counts, classes and splits as published."""

import csv
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from shoal import Suite, read_suite
from shoal.protocols.behaviour.build import EDITS, read_split, split_cases, without_duplicates

pytestmark = pytest.mark.golden

FILES = {"SENT": "sentiment", "PARA": "qqp", "READ": "squad"}
TYPES = {
    "SENT": {"MFT": 68_912, "DIR": 9_368, "INV": 8_140},
    "PARA": {"MFT": 46_443, "DIR": 13_096, "INV": 3_677},
    "READ": {"MFT": 10_811, "INV": 2_500},
}
EXAMPLES = {
    "SENT": {"train": 89_288, "validation": 44_659, "test": 44_631},
    "PARA": {"train": 103_931, "validation": 51_648, "test": 51_722},
    "READ": {"train": 35_610, "validation": 17_824, "test": 17_859},
}


@pytest.fixture(scope="module", params=FILES)
def task(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def suite(task: str, data: Path) -> Suite:
    return read_suite(data / "checklist" / f"{FILES[task]}.jsonl.gz")


@pytest.fixture(scope="module")
def published(task: str, tables: Path) -> list[dict[str, str]]:
    with (tables / "suite_functionalities.csv").open(newline="") as stream:
        return [row for row in csv.DictReader(stream) if row["task"] == task]


def test_cases_by_type_are_as_published(task, suite):
    assert Counter(case.groups["test type"] for case in suite.cases) == TYPES[task]


def test_every_functionality_is_as_published(suite, published):
    found = defaultdict(list)
    for case in suite.cases:
        found[case.groups["functionality"]].append(case)
    assert suite.functionalities == [row["functionality"] for row in published]
    for row in published:
        cases = found[row["functionality"]]
        expect = cases[0].meta["expect"]
        assert cases[0].groups["capability"] == row["class"]
        assert cases[0].groups["test type"] == row["type"]
        assert len(cases) == int(row["n_cases"])
        assert sum(len(case.examples) for case in cases) == int(row["n_examples"])
        assert len({case.examples for case in cases}) == int(row["n_unique_cases"])
        assert expect.aggregate == row["case_aggregation"]
        assert expect.rule == row["pass_rule"].removesuffix(" (all examples incl. first)")
        if row["tolerance"]:
            assert expect.tolerance == float(row["tolerance"])
        trained_as = row["beluga_direction"].replace("label", "")
        assert cases[0].meta.get("direction", "") == trained_as


def test_the_reference_split_is_bit_exact(task, suite, data):
    published = read_split(data / "llm_generations" / f"{FILES[task]}_split.tsv.gz")
    assert split_cases(suite.cases, "id") == published


def test_examples_per_split_are_as_published(task, suite):
    part = split_cases(suite.cases, "id")
    counts: Counter[str] = Counter()
    for case in suite.cases:
        counts[part[case.id]] += len(case.examples)
    assert counts == EXAMPLES[task]


def test_copies_across_the_split_are_as_published_by_id_and_none_by_content(suite, published):
    for by in ("id", "content"):
        part = split_cases(suite.cases, by)
        trained = {(c.groups["functionality"], c.examples) for c in suite.cases if part[c.id] == "train"}
        copies = Counter(
            case.groups["functionality"]
            for case in suite.cases
            if part[case.id] == "test" and (case.groups["functionality"], case.examples) in trained
        )
        expected = {
            row["functionality"]: int(row["n_test_cases_identical_to_a_train_case"])
            for row in published
            if row["n_test_cases_identical_to_a_train_case"] != "0"
        }
        assert copies == (expected if by == "id" else {})


@pytest.mark.parametrize(("by", "expected"), [("content", {"SENT": 560, "PARA": 86}), ("text", {})])
def test_cases_whose_texts_are_all_trained_on(task, suite, by, expected):
    cases = EDITS["repaired"](suite.cases)
    part = split_cases(cases, by)
    trained = {example for case in cases if part[case.id] == "train" for example in case.examples}
    shared = sum(part[case.id] == "test" and trained.issuperset(case.examples) for case in cases)
    assert shared == expected.get(task, 1 if by == "content" else 0)
    sizes = Counter(part.values())
    assert sizes["train"] / len(cases) == pytest.approx(0.5, abs=0.02)


def test_repairs_keep_every_case_and_dropping_duplicates_leaves_each_once(suite, published):
    repaired = EDITS["repaired"](suite.cases)
    assert [case.id for case in repaired] == [case.id for case in suite.cases]
    cases = without_duplicates(repaired)
    counts = Counter(case.groups["functionality"] for case in cases)
    conflicts = {"Testing implications"}  # labels differ between cases that read the same
    assert {name: n for name, n in counts.items() if name not in conflicts} == {
        row["functionality"]: int(row["n_unique_cases"])
        for row in published
        if row["functionality"] not in conflicts
    }
