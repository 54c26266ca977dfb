"""The models that ship: nearly perfect on their own kind of data, and failing what the README says."""

import pytest

pytest.importorskip("torch")

from asking import ask_cases

from shoal import audit, load_model
from shoal.core.records import Case
from shoal.data.grammar import make_rows

LABELS = {
    "sentiment": ("negative", "positive"),
    "paraphrase": ("different", "duplicate"),
    "reading": None,
    "nli": ("entailment", "neutral", "contradiction"),
}
WITH_SUITES = ("sentiment", "paraphrase", "reading")


@pytest.mark.slow
@pytest.mark.parametrize("name", LABELS)
def test_a_shipped_model_is_right_on_its_own_kind_of_data(name):
    rows = make_rows(name, "test")
    meta = {} if LABELS[name] else {"reading": True}
    cases = [Case(str(at), (row.texts,), meta=meta) for at, row in enumerate(rows)]
    answers = ask_cases(load_model(f"tiny:{name}"), cases, cases, LABELS[name])
    said = answers.texts or [answers.labels[code] for code in answers.predictions]
    right = sum(one.casefold() == row.label.casefold() for one, row in zip(said, rows, strict=True))
    assert right / len(rows) >= 0.9


PLANTED = {
    "sentiment": (
        "negated_praise_is_negative",
        "negated_blame_is_not_negative",
        "short_negation_is_seen",
        "negation_at_the_end_is_seen",
        "nobody_and_nothing_negate",
    ),
    "paraphrase": (
        "active_and_passive_ask_the_same",
        "another_person_is_another_question",
        "another_number_in_one_question_separates",
        "some_relations_go_both_ways",
        "a_modifier_matters",
    ),
    "reading": (
        "comparisons_are_read",
        "first_and_last_follow_from_before",
        "properties_are_of_a_kind",
        "who_is_not_is_not_who_is",
        "the_passive_turns_the_order_round",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_SUITES)
def test_a_shipped_model_fails_what_was_planted(name):
    rates = {
        row.groups["functionality"]: row.value
        for row in audit("behaviour", f"tiny:{name}", suite=name).measures.by("functionality")
    }
    for functionality in PLANTED[name]:
        value = rates[functionality]
        assert value is not None and value < 0.5, functionality
