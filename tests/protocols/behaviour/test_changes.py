"""How far a failing answer moved: both values and the limit."""

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shoal.core.records import Answers, Case
from shoal.protocols.behaviour.expect import Expect
from shoal.protocols.behaviour.judge import change_words, changes, judge, with_neutral_band
from shoal.protocols.behaviour.settings import Settings

LABELS = ("negative", "neutral", "positive")
BEFORE = (0.1, 0.3, 0.6)


def moved(rule: str, *after: tuple[float, ...], tolerance: float = 0.1, settings: Settings | None = None):
    """Return the change in words of a case whose original has the probabilities `BEFORE`."""
    groups = {"functionality": "f", "capability": "c", "test type": "DIR"}
    meta = {"expect": Expect(rule, tolerance, "all_except_first"), "direction": "not_less_2"}
    texts = tuple((str(number),) for number in range(len(after) + 1))
    case = Case("f/0", texts, None, groups, "", meta)
    table = np.array([BEFORE, *after])
    answers = Answers(LABELS, table.argmax(axis=1), table)
    settings = settings or Settings(suite="s")
    outcomes = judge(settings, [case], answers)
    (change,) = changes(settings, [case], answers, answers, outcomes)
    return change


@pytest.mark.parametrize(
    ("rule", "after", "words"),
    [
        ("same_pred_or_conf_change_within_tol", (0.6, 0.3, 0.1), "P(positive) .60 → .10 (limit ±.10)"),
        ("conf_of_original_pred_not_lower", (0.3, 0.3, 0.4), "P(positive) .60 → .40 (limit −.10)"),
        ("conf_of_0_not_higher", (0.3, 0.2, 0.5), "P(negative) .10 → .30 (limit +.10)"),
        ("positive_shift >= -tol", (0.4, 0.3, 0.3), "P(positive) − P(negative) .50 → −.10 (limit −.10)"),
        ("positive_shift <= tol", (0.0, 0.2, 0.8), "P(positive) − P(negative) .50 → .80 (limit +.10)"),
        ("direction not_less_2", (0.4, 0.3, 0.3), "P(negative) .10 → .40 (limit +.10)"),
        ("direction not_more_conf", (0.0, 0.2, 0.8), "P(positive) .60 → .80 (limit +.10)"),
    ],
)
def test_a_change_names_both_values_and_the_limit(rule, after, words):
    assert moved(rule, after) == words


def test_the_worst_example_is_shown():
    rule = "conf_of_original_pred_not_lower"
    assert (
        moved(rule, (0.2, 0.3, 0.5), (0.5, 0.3, 0.2), (0.3, 0.3, 0.4)) == "P(positive) .60 → .20 (limit −.10)"
    )


def test_a_change_behind_the_neutral_band_names_the_labels():
    groups = {"functionality": "f", "capability": "c", "test type": "INV"}
    expect = Expect("same_pred_or_conf_change_within_tol", 0.1, "all_except_first")
    case = Case("f/0", (("a",), ("b",)), None, groups, "", {"expect": expect, "labels": LABELS})
    answers = Answers(("negative", "positive"), np.array([0, 0]), np.array([[0.52, 0.48], [0.68, 0.32]]))
    settings = Settings(suite="s")
    shown = with_neutral_band(answers, [case], "inclusive")
    outcomes = judge(settings, [case], answers)
    expected = "as 3 labels: P(neutral) .94 → .00 (limit ±.10)"
    assert changes(settings, [case], answers, shown, outcomes) == [expected]


def test_cases_that_pass_and_rules_about_labels_have_no_change():
    assert moved("conf_of_original_pred_not_lower", BEFORE) is None
    assert moved("pred_equals_0", (0.1, 0.3, 0.6)) is None


@example(0.6, 0.7004, 0.1)
@example(0.7, 0.8004, 0.1)
@given(st.floats(0, 1), st.floats(0, 1), st.sampled_from([0.0, 0.05, 0.1]))
def test_the_values_as_printed_exceed_the_limit(before, after, tolerance):
    if abs(after - before) <= tolerance + 2e-4:
        return
    words = change_words(before, after, tolerance, "±")
    low, high = map(float, re.findall(r"(\d?\.\d+)", words)[:2])
    assert round(abs(high - low), 6) > tolerance
