"""The models that ship: nearly perfect on their own kind of data, and failing what the README says."""

import re
from pathlib import Path

import pytest

pytest.importorskip("torch")

from asking import ask_cases

from shoal import audit, load_model
from shoal.core.errors import ModelError
from shoal.core.records import Case
from shoal.data.grammar import make_rows

ROOT = Path(__file__).parents[2]
LABELS = {
    "sentiment": ("negative", "positive"),
    "paraphrase": ("different", "duplicate"),
    "reading": None,
    "nli": ("entailment", "neutral", "contradiction"),
}
WITH_SUITES = ("sentiment", "paraphrase", "reading")


@pytest.mark.parametrize("name", LABELS)
def test_a_shipped_model_is_right_on_its_own_kind_of_data(name):
    rows = make_rows(name, "test")
    meta = {} if LABELS[name] else {"reading": True}
    cases = [Case(str(at), (row.texts,), meta=meta) for at, row in enumerate(rows)]
    answers = ask_cases(load_model(f"tiny:{name}"), cases, cases, LABELS[name])
    said = answers.texts or [answers.labels[code] for code in answers.predictions]
    right = sum(one.casefold() == row.label.casefold() for one, row in zip(said, rows, strict=True))
    assert right / len(rows) >= 0.9


@pytest.mark.parametrize("name", WITH_SUITES)
def test_a_shipped_model_fails_what_the_readme_says(name):
    (line,) = re.findall(rf"\| `tiny:{name}` \|(.*)\|", (ROOT / "README.md").read_text())
    named = re.findall(r"`(\w+)`", line)
    assert len(named) >= 5
    rates = {
        row.groups["functionality"]: row.value
        for row in audit("behaviour", f"tiny:{name}", suite=name).measures.by("functionality")
    }
    for functionality in named:
        value = rates[functionality]
        assert value is not None and value < 0.5, functionality


def test_a_model_that_does_not_ship_is_named():
    with pytest.raises(ModelError, match=r"no such model[\s\S]*try: \"sentiment\""):
        load_model("tiny:sentimant")
