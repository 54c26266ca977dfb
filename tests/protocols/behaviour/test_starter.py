"""`shoal new suite`: a starter that is sound, proposals from labelled texts, and files that stay as they are."""

import csv

import pytest
from click.testing import CliRunner

from shoal import read_suite
from shoal.cli import main
from shoal.protocols.behaviour.hygiene import examine

ROWS = [
    ["text", "label", "topic"],
    *([f"The breakfast on day {day}: {day % 2}.", "good" if day % 2 else "bad", "Food & drink"] for day in range(9)),
    *([f"The pool on day {day}, #{day}.", "bad" if day % 3 else "good", "food-drink"] for day in range(9)),
    *([f"The shower on day {day}.", "good", "rare"] for day in range(3)),
]  # fmt: skip


@pytest.fixture
def reviews(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with (tmp_path / "reviews.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows(ROWS)
    return "reviews.csv"


def new(*words: str) -> str:
    done = CliRunner(env={"COLUMNS": "80"}).invoke(main, ["new", "suite", *words])
    return done.output


@pytest.mark.parametrize("name", ["hotels", "my hotels", "#1", "yes"])
def test_the_starter_has_no_defects(reviews, name):
    assert "Next: shoal check" in new(name)
    suite = read_suite(f"{name}.yaml")
    assert suite.name == name and len(suite.functionalities) == 7
    assert {finding.severity for finding in examine(suite).findings} <= {"note", "warning"}
    assert "the file exists" in new(name)


def test_functionalities_are_proposed_by_column_and_by_word(reviews):
    new("topics", "--from", reviews, "--by", "topic")
    suite = read_suite("topics.yaml")
    assert suite.labels == ("bad", "good")
    assert suite.functionalities == ["food_drink", "food_drink_1"] and len(suite.cases) == 18
    new("words", "--from", reviews)
    assert {"mentions_breakfast", "mentions_pool"} <= set(read_suite("words.yaml").functionalities)


@pytest.mark.parametrize(("words", "problem"), [
    (["x", "--by", "topic"], "give --from FILE"),
    (["x", "--from", "reviews.csv", "--by", "subject"], "no column 'subject'"),
    (["x", "--from", "reviews.csv", "--text", "txt"], "no column 'txt'"),
    (["x", "--from", "reviews.csv", "--label", "text"], "one column is named twice"),
    (["x", "--from", "reviews.csv", "--by", "text"], "no value of column 'text' has 5 texts"),
    (["no/x"], "no such folder"),
])  # fmt: skip
def test_a_wrong_command_writes_nothing(reviews, tmp_path, words, problem):
    assert problem in new(*words)
    assert not list(tmp_path.rglob("*.yaml"))
