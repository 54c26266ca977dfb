"""Every rule with a passing, a failing, a not-applicable and an on-threshold case, and how cases come of examples."""

import numpy as np
import pytest

from shoal.core.errors import DataError
from shoal.protocols.behaviour.judge import neutral_band
from shoal.protocols.behaviour.rules import (
    NO_LABEL,
    Block,
    Expect,
    aggregate,
    check_expect,
    directional_error,
    positive_shift,
    values_of,
)

SENTIMENT = ("negative", "neutral", "positive")
PASS, NA = 1.0, None
SLACK = 1e-9


def block(*examples, labels=SENTIMENT, expected=(), sizes=None) -> Block:
    """Examples as probability vectors (the largest is predicted), or as (prediction, vector or confidence)."""
    pairs = [e if isinstance(e, tuple) else (int(np.argmax(e)), e) for e in examples]
    sizes = sizes or [len(pairs)]
    given = [confidence for _, confidence in pairs]
    vectors = isinstance(given[0], list)
    return Block(
        labels,
        np.cumsum([0, *sizes[:-1]]),
        np.array([prediction for prediction, _ in pairs]),
        np.array(given, float) if vectors else None,
        None if vectors or given[0] is None else np.array(given, float),
        np.array(expected or [NO_LABEL] * len(pairs)),
    )


def values(made: Block, rule: str, tolerance=0.1, slack=SLACK, na_if="", parts=()) -> list[float | None]:
    found = values_of(made, Expect(rule, tolerance, "all", na_if, tuple(parts)), slack)
    return [None if np.isnan(value) else round(float(value), 6) for value in found]


# Equality


def test_equality_passes_the_label_and_measures_a_miss_by_what_the_label_lacks():
    made = block([0.1, 0.2, 0.7], [0.6, 0.3, 0.1], expected=[2, 2])
    assert values(made, "pred_equals_label") == [PASS, -0.9]


def test_equality_without_vectors_measures_a_miss_by_its_confidence():
    assert values(block((0, 0.8), (2, 0.8), expected=[2, 2]), "pred_equals_label") == [-1.8, PASS]
    assert values(block((0, None), expected=[2]), "pred_equals_label") == [-1.0]


def test_anything_but_a_label_fails_only_that_label():
    made = block([0.6, 0.3, 0.1], [0.1, 0.6, 0.3], [0.1, 0.2, 0.7], expected=[-1, -1, -1])
    assert values(made, "pred_equals_label") == [-0.6, PASS, PASS]
    assert values(made, "pred_not_0") == [-0.6, PASS, PASS]
    assert values(made, "pred_not_negative") == [-0.6, PASS, PASS]
    assert values(made, "pred_not_2") == values(made, "pred_not_positive") == [PASS, PASS, -0.7]
    lenient = block([0.6, 0.3, 0.1], [0.1, 0.6, 0.3], [0.1, 0.6, 0.3], expected=[1, 1, 0])
    assert values(lenient, "pred_equals_label_except_label1_means_not_0") == [-0.6, PASS, -0.9]


# Invariance and direction

SAME, LOWER, HIGHER = (
    "same_pred_or_conf_change_within_tol", "conf_of_original_pred_not_lower", "conf_of_original_pred_not_higher",
)  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "examples", "expected"),
    [
        (SAME, ([0.1, 0.0, 0.9], [0.4, 0.0, 0.6]), [PASS, PASS]),  # the same label, however far it moved
        (SAME, ([0.45, 0.0, 0.55], [0.55, 0.0, 0.45]), [PASS, PASS]),  # another label, on the line
        (SAME, ([0.45, 0.0, 0.55], [0.56, 0.0, 0.44]), [PASS, -0.11]),
        (SAME, ((0, 0.04), (1, 0.06), (1, 0.07)), [PASS, PASS, -0.11]),  # one confidence each: their sum
        (SAME, ((0, None), (0, None), (1, None)), [PASS, PASS, -1.0]),
        (
            LOWER,
            ([0.2, 0.1, 0.7], [0.3, 0.1, 0.6], [0.31, 0.1, 0.59], [0.1, 0.0, 0.9]),
            [PASS, PASS, -0.01, PASS],
        ),
        (LOWER, ((2, [0.5, 0.39, 0.11]), (2, [0.5, 0.5, 0.0])), [PASS, -0.01]),  # where it could fall
        (LOWER, ((2, 0.8), (2, 0.69), (0, 0.3)), [PASS, -0.01, -1.0]),
        (
            HIGHER,
            ([0.3, 0.1, 0.6], [0.2, 0.1, 0.7], [0.19, 0.1, 0.71], [0.8, 0.1, 0.1]),
            [PASS, PASS, -0.01, PASS],
        ),
        (HIGHER, ([0.11, 0.0, 0.89], [0.0, 0.0, 1.0]), [PASS, -0.01]),  # where it could rise
        (HIGHER, ((2, 0.8), (2, 0.69), (0, 0.3)), [PASS, PASS, PASS]),
        ("conf_of_negative_not_higher", ([0.2, 0.1, 0.7], [0.35, 0.1, 0.55]), [PASS, -0.05]),
        ("conf_of_2_not_lower", ([0.2, 0.1, 0.7], [0.35, 0.1, 0.55]), [PASS, -0.05]),
    ],
)
def test_movement_is_judged_by_the_tolerance(rule, examples, expected):
    assert values(block(*examples), rule) == expected


def test_slack_absorbs_rounding_on_the_line():
    # 0.4 - 0.3 is a little more than 0.1 in binary; 0.6 to 0.5 a little less.
    made = block((0, [0.4, 0.3, 0.3]), (1, [0.3, 0.4, 0.3]))
    assert values(made, "same_pred_or_conf_change_within_tol", slack=0.0) == [PASS, -0.1]
    assert values(made, "same_pred_or_conf_change_within_tol", slack=SLACK) == [PASS, PASS]


@pytest.mark.parametrize(
    ("before", "after", "value"), [(0.70, 0.68, PASS), (0.68, 0.60, -0.38)], ids=["same label", "band jump"]
)
def test_invariance_through_the_neutral_band_as_worked(before, after, value):
    vectors, labels = neutral_band(np.array([before, after]))
    made = block(*[(int(label), vector.tolist()) for label, vector in zip(labels, vectors, strict=True)])
    assert values(made, "same_pred_or_conf_change_within_tol")[1] == pytest.approx(value)


def test_positive_shift_as_worked(worked):
    for example in worked["checklist.positive_shift"]["cases"]:
        vectors, _ = neutral_band(np.array([example["r0"], example["r1"]]))
        assert positive_shift(vectors, np.array([0, 0]))[1] == pytest.approx(example["shift"])
        made = block(*vectors.tolist())
        assert (values(made, "positive_shift >= -tol")[1] == PASS) is example["up"]
        assert (values(made, "positive_shift <= tol")[1] == PASS) is example["down"]


def test_directional_error_as_worked(worked):
    for example in worked["beluga.dir"]["cases"]:
        before, after = np.array([example["p0"]]), np.array([example["p1"]])
        (error,) = directional_error(example["direction"], before, after)
        assert error == pytest.approx(example["eps"])
        made = block(example["p0"], example["p1"], labels=("negative", "positive"))
        rule = f"direction {example['direction']}"
        assert (values(made, rule, tolerance=0.0)[1] == PASS) is example["strict"]
        assert (values(made, rule, tolerance=0.1)[1] == PASS) is example["tol_0_1"]


def test_neutral_names_the_middle_of_three_labels_only():
    three = block([0.1, 0.8, 0.1], labels=("bad", "so so", "good"))
    assert values(three, "pred_not_0", na_if="original pred is neutral") == [NA]
    with pytest.raises(DataError, match="label 'neutral' is not one of"):
        values(block([0.1, 0.9], labels=("bad", "good")), "pred_not_0", na_if="original pred is neutral")


# Slices


@pytest.mark.parametrize(
    ("condition", "taken_out"),
    [
        ("original pred is neutral", [False, True, False]),
        ("original pred is not positive", [True, True, False]),
        ("original conf >= 0.7", [False, False, True]),
        ("original conf <= 0.6", [True, True, False]),
        ("any pred is neutral", [True, True, False]),
        ("any later pred is neutral", [True, False, False]),
        ("any later pred differs", [True, True, False]),
        ("original pred is neutral; original conf >= 0.7", [False, True, True]),
    ],
)
def test_a_slice_takes_whole_cases_out(condition, taken_out):
    made = block(
        [0.6, 0.3, 0.1], [0.3, 0.6, 0.1],
        [0.3, 0.5, 0.2], [0.2, 0.1, 0.7],
        [0.1, 0.2, 0.7], [0.0, 0.0, 1.0],
        sizes=[2, 2, 2],
    )  # fmt: skip
    found = values(made, "pred_not_0", na_if=condition)
    assert [value is NA for value in found] == np.repeat(taken_out, 2).tolist()


# Implication


@pytest.mark.parametrize(
    ("predictions", "released", "repaired"),
    [
        ((1, 1, 1), True, True),
        ((1, 1, 0), False, False),
        ((0, 1, 0), False, True),
        ((0, 1, 1), False, False),
        ((1, 0, 0), None, True),
        ((1, 0, 1), None, False),
        ((0, 0, 0), None, None),
        ((0, 0, 1), None, None),
    ],
)
def test_implications_as_released_and_repaired(predictions, released, repaired):
    made = block(*[(p, None) for p in predictions], labels=("different", "duplicate"))
    for rule, expected in (("implication_triplet", released), ("implication", repaired)):
        found = values(made, rule)
        assert len(set(found)) == 1
        assert (None if found[0] is NA else found[0] > 0) is expected


# Combining


def test_and_takes_the_least_or_the_greatest_and_what_does_not_apply_is_left_out():
    made = block([0.2, 0.1, 0.7], [0.6, 0.2, 0.2], expected=[2, 0])
    up, label = Expect("positive_shift >= -tol", 0.1), Expect("pred_equals_label")
    never = Expect("pred_equals_label", na_if="original pred is positive")
    assert values(made, "and", parts=[up, label]) == [PASS, -0.8]
    assert values(made, "or", parts=[up, label]) == [PASS, PASS]
    assert values(made, "and", parts=[never, label]) == [PASS, PASS]
    assert values(made, "or", parts=[never, never]) == [NA, NA]


# Reading comprehension


def reading(texts, expected=(), swaps=()) -> Block:
    empty = np.zeros(len(texts), int)
    return Block((), np.array([0]), empty, None, None, empty, texts, expected, swaps)


@pytest.mark.parametrize(
    ("rule", "answer", "right", "passes"),
    [
        ("exact_string_equal", "Anna", "Anna", True),
        ("exact_string_equal", "anna", "Anna", False),
        ("string_equal_after_edge_strip", "a nurse.", "nurse", True),
        ("string_equal_after_edge_strip", "the teacher", "cher", True),
        ("string_equal_after_edge_strip", "Nurse", "nurse", False),
        ("squad_normalise", "The Nurse.", "nurse", True),
        ("squad_normalise", "the teacher", "cher", False),
    ],
)
def test_right_answers_by_each_string_rule(rule, answer, right, passes):
    assert (values(reading([answer], [right]), rule)[0] == PASS) is passes


def test_the_same_answer_is_wanted_after_the_same_substitution():
    texts = ["Luther's wife", "Luther's wife", "James's wife", "Lutheran"]
    swaps = [None, ("Luther", "James"), ("Luther", "James"), None]
    made = reading(texts, swaps=swaps)
    rule = "answer_equals_original_answer_after_same_substitution"
    assert values(made, rule) == [PASS, -1.0, PASS, -1.0]
    assert values(made, "exact_string_equal_to_original_answer") == [PASS, PASS, -1.0, -1.0]


# From examples to cases


def test_aggregation_as_worked(worked):
    for example in worked["checklist.aggregate"]["cases"]:
        row = np.array([np.nan if value is None else value for value in example["values"]], float)
        for how in ("all", "all_except_first"):
            (passed,), (applies,), _ = aggregate(row, np.array([0]), how)
            assert (bool(passed) if applies else None) is example[how]


# The band and G


def test_the_neutral_band_as_worked(worked):
    cases = worked["beluga.neutral_band"]["cases"]
    for edges in ("inclusive", "strict"):
        vectors, labels = neutral_band(np.array([case["r"] for case in cases]), edges)
        assert vectors == pytest.approx(np.array([case["vector"] for case in cases]))
        assert labels.tolist() == [case["label"] for case in cases]


def test_the_edges_of_the_band_in_each_profile(worked):
    boundary = worked["beluga.neutral_band"]["boundary"]
    for edges, profile in (("inclusive", "recommended"), ("strict", "reference")):
        vectors, labels = neutral_band(np.array([2 / 3]), edges)
        assert vectors[0] == pytest.approx(boundary[profile]["vector"])
        assert labels[0] == boundary[profile]["label"]
    assert neutral_band(np.array([1 / 3]), "inclusive")[1][0] == 1
    assert neutral_band(np.array([1 / 3]), "strict")[1][0] == 0
    inside, outside = np.nextafter(1 / 3, 1), np.nextafter(2 / 3, 1)
    assert neutral_band(np.array([inside, outside]), "strict")[1].tolist() == [1, 2]


# Tables


@pytest.mark.parametrize(
    ("expect", "message"),
    [
        (Expect("same_prediction"), "rule 'same_prediction' is not known"),
        (Expect("pred_equals_neutrl"), "label 'neutrl' is not one of negative, neutral, positive"),
        (Expect("pred_equals_3"), "label '3' is beyond the suite's 3"),
        (Expect("pred_not_0", na_if="when it rains"), "filter 'when it rains' is not understood"),
        (Expect("pred_not_0", na_if="original pred is nutral"), "label 'nutral' is not one of"),
        (Expect("and"), "needs two or more rules"),
        (Expect("and", parts=(Expect("pred_not_0"), Expect("nope"))), "rule 'nope' is not known"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(expect, message):
    with pytest.raises(DataError, match=message):
        check_expect(expect, SENTIMENT)
