"""Hygiene on the three released suites finds what is known to be there; ours have no error."""

import csv
from pathlib import Path

import pytest

from shoal import read_suite
from shoal.protocols.behaviour.build import load_suite
from shoal.protocols.behaviour.hygiene import Finding, Hygiene, examine
from shoal.protocols.behaviour.suites import SUITES

pytestmark = pytest.mark.golden

FILES = {"SENT": "sentiment", "PARA": "qqp", "READ": "squad"}
IN_TRAINING = {"SENT": 0.041, "PARA": 0.236, "READ": 0.008}


@pytest.fixture(scope="module")
def looked(data: Path) -> dict[str, Hygiene]:
    return {
        task: examine(read_suite(data / "checklist" / f"{name}.jsonl.gz")) for task, name in FILES.items()
    }


def published(tables: Path, task: str) -> dict[str, dict[str, str]]:
    with (tables / "suite_functionalities.csv").open(newline="") as stream:
        return {row["functionality"]: row for row in csv.DictReader(stream) if row["task"] == task}


def named(hygiene: Hygiene, kind: str) -> dict[tuple[str, ...], Finding]:
    return {finding.where: finding for finding in hygiene.findings if finding.kind == kind}


@pytest.mark.parametrize("task", FILES)
def test_copies_are_as_published_for_every_functionality(task, looked, tables):
    rows = published(tables, task)
    ours = {
        row.functionality: (row.cases, row.unique_cases, row.test_cases, row.test_cases_in_training)
        for row in looked[task].functionalities
    }
    columns = ("n_cases", "n_unique_cases", "n_test_cases", "n_test_cases_identical_to_a_train_case")
    assert ours == {name: tuple(int(row[column]) for column in columns) for name, row in rows.items()}


@pytest.mark.parametrize("task", FILES)
def test_the_share_of_test_cases_seen_in_training_is_as_published(task, looked, tables):
    findings = named(looked[task], "test cases seen in training")
    whole = findings.pop(())
    assert whole.share is not None and round(whole.share, 3) == IN_TRAINING[task]
    assert "split by content" in whole.fix
    known = {
        (name,): int(row["n_test_cases_identical_to_a_train_case"])
        for name, row in published(tables, task).items()
    }
    assert {where: finding.count for where, finding in findings.items()} == {
        where: n for where, n in known.items() if n
    }


def test_the_synonym_functionality_that_every_model_passes_is_named(looked):
    (finding,) = named(looked["PARA"], "nothing to compare with").values()
    assert finding.where == ("(question, f(question)) where f(question) replaces synonyms?",)
    assert (finding.severity, finding.count) == ("error", 326)


def test_the_unreachable_branch_of_testing_implications_is_named(looked):
    (finding,) = named(looked["PARA"], "unreachable branch").values()
    assert (finding.severity, finding.where) == ("error", ("Testing implications",))
    assert finding.what.endswith(
        "always fails with (different, duplicate, any) and never applies with (duplicate, different, any)"
    )
    for task in ("SENT", "READ"):
        assert not looked[task].of("error")


def test_variants_of_paraphrase_that_nobody_changed_are_counted(looked):
    """Not in the papers: the original again, which must be a duplicate first and different then."""
    counts = {where[0]: f.count for where, f in named(looked["PARA"], "nothing changed").items()}
    assert (
        counts.items()
        >= {
            "Change first name in one of the questions": 12,
            "Change first and last name in one of the questions": 3,
            "Change location in one of the questions": 20,
            "Change numbers in one of the questions": 51,
        }.items()
    )


@pytest.mark.parametrize("name", SUITES)
def test_the_suites_that_ship_have_no_error(name):
    hygiene = examine(load_suite(name))
    assert hygiene.of("error") == []
    assert hygiene.total("unique_cases") == hygiene.total("cases")
