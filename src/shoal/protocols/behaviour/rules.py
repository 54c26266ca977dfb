"""Every expectation rule: from the predictions of a case's examples to pass, fail or not applicable.

CheckList's semantics (`docs/method/checklist.md` 2.3 and 2.4). A rule gets all cases of one functionality and returns
one value per example: above 0 is a pass, 0 or less a fail, the lower the worse; NaN does not apply. `aggregate` makes
one outcome per case. To add a rule: write the function and add a line to RULES.

Comparisons with a tolerance allow `slack` on top, so that rounding does not decide a case on the line; slack 0 gives
CheckList's own comparisons bit by bit.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core.errors import DataError, nearest, some
from ...core.records import Label
from .expect import DIRECTIONS, Aggregate, Expect, check_tolerance
from .perturb import change_word
from .text_rules import TEXT_RULES, f1_limit, normalised

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]
NO_LABEL = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True)
class Block:
    """The answers to all examples of one functionality, case after case."""

    labels: tuple[str, ...]
    starts: Integers  # (cases,) row of each case's first example
    predictions: Integers  # (examples,)
    probabilities: Floats | None  # (examples, labels)
    confidences: Floats | None  # (examples,) of the prediction, where there are no probabilities
    expected: Integers  # (examples,) label, -1 - label for "anything but", NO_LABEL where there is none
    texts: Sequence[str] = ()  # (examples,) answers to reading comprehension
    expected_texts: Sequence[str] = ()  # (examples,) right answers
    substitutions: Sequence[tuple[str, str] | None] = ()  # (examples,) old and new word

    @property
    def sizes(self) -> Integers:
        """Return the number of examples of each case."""
        return np.diff(self.starts, append=len(self.predictions))

    @property
    def original(self) -> Integers:
        """Return the row of the case's first example, for each example."""
        return np.repeat(self.starts, self.sizes)

    @property
    def confidence(self) -> Floats:
        """Return the confidence of each prediction, NaN if the model gave none."""
        if self.probabilities is not None:
            return self.probability_of(self.predictions)
        return np.full(len(self.predictions), np.nan) if self.confidences is None else self.confidences

    def probability_of(self, label: Integers | int) -> Floats:
        """Return the probability of a label in each example, 0 if the model does not know it."""
        assert self.probabilities is not None
        known = np.minimum(label, self.probabilities.shape[1] - 1)
        found = self.probabilities[np.arange(len(self.predictions)), known]
        return np.where(known == label, found, 0.0)


Rule = Callable[[Block, Expect, float], Floats]


# Equality (2.4 `eq`)


def equals(block: Block, expected: Integers) -> Floats:
    """Return a pass if the prediction is as expected, else minus the missing probability."""
    unlike = expected < 0  # "anything but" label -1 - expected
    label = np.where(unlike, -1 - expected, expected)
    right = (block.predictions == label) != unlike
    if block.probabilities is not None:
        probability = np.nan_to_num(block.probability_of(label), nan=0.0)
        badness = np.where(unlike, probability, 1 - probability)
    else:
        badness = 1 + np.nan_to_num(block.confidence, nan=0.0)
    return np.where(right, 1.0, -badness)


def pred_equals_label(block: Block, expect: Expect, slack: float) -> Floats:
    """The prediction is the example's label."""
    return equals(block, block.expected)


def label_1_means_not_0(block: Block, expect: Expect, slack: float) -> Floats:
    """As `pred_equals_label`, except that label 1 accepts anything but 0 (SENT "Q & A: no")."""
    return equals(block, np.where(block.expected == 1, -1, block.expected))


def pred_equals(block: Block, expect: Expect, slack: float) -> Floats:
    """The prediction is the label in the rule's name: pred_equals_0."""
    label = label_index(expect.rule.removeprefix("pred_equals_"), block.labels)
    return equals(block, np.full(len(block.predictions), label))


def pred_not(block: Block, expect: Expect, slack: float) -> Floats:
    """The prediction is anything but the label in the rule's name: pred_not_0."""
    label = label_index(expect.rule.removeprefix("pred_not_"), block.labels)
    return equals(block, np.full(len(block.predictions), -1 - label))


# Invariance (2.4 `inv`)


def same_prediction(block: Block, expect: Expect, slack: float) -> Floats:
    """Same prediction as the original, or its probability moved by at most the tolerance.

    BELUGA's eq. 1 asks for the same prediction; its code, through CheckList, adds the tolerance, and the printed
    numbers include it. We follow the code; tolerance 0 gives eq. 1.
    """
    original = block.original
    same = block.predictions == block.predictions[original]
    if block.probabilities is not None:
        before = block.predictions[original]
        change = np.abs(block.probability_of(before) - block.probabilities[original, before])
    else:
        change = block.confidence + block.confidence[original]
    change = np.nan_to_num(change, nan=1.0)  # no confidence given: only the prediction can speak
    return np.where(same | (change <= expect.tolerance + slack), 1.0, -change)


# Direction (2.4 `monotonic`, and sentiment's positive shift)


def inside(room: Floats, slack: float) -> Floats:
    """Return a pass where the room up to the tolerance is not negative, else the room."""
    return np.where(room >= -slack, 1.0, room)


def confidence_change(block: Block, word: str) -> tuple[Floats, Floats]:
    """Return the confidence in a label (or in the original prediction) before, and its change."""
    original = block.original
    if block.probabilities is not None:
        label = block.predictions[original] if word == "original_pred" else label_index(word, block.labels)
        after, before = block.probability_of(label), block.probability_of(label)[original]
        return before, after - before
    before = block.confidence[original] if word == "original_pred" else np.full(len(original), np.nan)
    same = block.predictions == block.predictions[original]
    return before, np.where(same, block.confidence - before, -(block.confidence + before))


def confidence_not_lower(block: Block, expect: Expect, slack: float) -> Floats:
    """Confidence does not fall by more than the tolerance; not applicable where it could not."""
    word = expect.rule.removeprefix("conf_of_").removesuffix("_not_lower")
    before, change = confidence_change(block, word)
    return np.where(before <= expect.tolerance + slack, np.nan, inside(change + expect.tolerance, slack))


def confidence_not_higher(block: Block, expect: Expect, slack: float) -> Floats:
    """Confidence does not rise by more than the tolerance; not applicable where it could not."""
    word = expect.rule.removeprefix("conf_of_").removesuffix("_not_higher")
    before, change = confidence_change(block, word)
    return np.where(before >= 1 - expect.tolerance - slack, np.nan, inside(expect.tolerance - change, slack))


def positive_shift(probabilities: Floats | None, original: Integers) -> Floats:
    """Return how far probability moved from the first label (negative) to the last (positive); NaN without any.

    >>> p = np.array([[0.3, 0.0, 0.7], [0.0, 0.76, 0.24]])
    >>> positive_shift(p, np.array([0, 0])).round(2).tolist()
    [0.0, -0.16]
    """
    if probabilities is None:
        return np.full(len(original), np.nan)
    before = probabilities[original]
    return (before[:, 0] - probabilities[:, 0]) + (probabilities[:, -1] - before[:, -1])


def shift_not_down(block: Block, expect: Expect, slack: float) -> Floats:
    """The positive shift is at least minus the tolerance ("goes up")."""
    return inside(positive_shift(block.probabilities, block.original) + expect.tolerance, slack)


def shift_not_up(block: Block, expect: Expect, slack: float) -> Floats:
    """The positive shift is at most the tolerance ("goes down")."""
    return inside(expect.tolerance - positive_shift(block.probabilities, block.original), slack)


def directional_error(direction: str, before: Floats, after: Floats) -> Floats:
    """Return how far each prediction moved the wrong way, from 0 to 1 (BELUGA, eq. 6).

    >>> directional_error("not_more_conf", np.array([[0.3, 0.7]]), np.array([[0.1, 0.9]])).round(2).tolist()
    [0.2]
    """
    rows = np.arange(len(before))
    top = before.argmax(axis=1)
    wrong_way = {
        "not_less_2": after[:, 0] - before[:, 0],
        "not_less_0": after[:, -1] - before[:, -1],
        "not_more_conf": after[rows, top] - before[rows, top],
        "not_less_conf": before[rows, top] - after[rows, top],
    }
    error: Floats = np.maximum(0.0, wrong_way[direction])
    return error


def paper_direction(block: Block, expect: Expect, slack: float) -> Floats:
    """BELUGA's own DIR test: the directional error of the model's raw probabilities is at most the tolerance."""
    if block.probabilities is None:
        return np.full(len(block.predictions), np.nan)
    direction = expect.rule.removeprefix("direction ")
    error = directional_error(direction, block.probabilities[block.original], block.probabilities)
    return np.where(error <= expect.tolerance + slack, 1.0, -error)


# Implication (PARA "Testing implications")


def implication(block: Block, expect: Expect, slack: float) -> Floats:
    """With a=b and a=c, b=c; with just one of them, not b=c; else nothing follows (repaired, 2.10)."""
    first, second, third = _triplets(block)
    follows = np.where(first & second, third, ~third)
    return np.repeat(np.where(first | second, np.where(follows, 1.0, -1.0), np.nan), 3)


def implication_as_released(block: Block, expect: Expect, slack: float) -> Floats:
    """The released rule with its error: (0,1) always fails and (1,0) never applies."""
    first, second, third = _triplets(block)
    return np.repeat(np.where(second, np.where(first & third, 1.0, -1.0), np.nan), 3)


def _triplets(block: Block) -> tuple[Bools, Bools, Bools]:
    if len(block.sizes) and set(block.sizes.tolist()) != {3}:
        raise DataError(
            "an implication case needs three examples: (a, b), (a, c), (b, c)",
            fix="case(a_and_b, a_and_c, b_and_c)",
        )
    duplicate = block.predictions.reshape(-1, 3) == 1
    return duplicate[:, 0], duplicate[:, 1], duplicate[:, 2]


# Reading comprehension (2.4, SQuAD string rules): predictions are texts


def exact_answer(block: Block, expect: Expect, slack: float) -> Floats:
    """The answer is the right one, letter by letter."""
    return _agreement(block.texts, block.expected_texts)


def stripped_answer(block: Block, expect: Expect, slack: float) -> Floats:
    """Equal after CheckList's edge strip, which also eats letters: "teacher" becomes "cher"."""
    return _agreement(map(edge_strip, block.texts), map(edge_strip, block.expected_texts))


def normalised_answer(block: Block, expect: Expect, slack: float) -> Floats:
    """Equal after SQuAD's own normalisation (the repair of the edge strip, 2.10)."""
    return _agreement(map(squad_normalise, block.texts), map(squad_normalise, block.expected_texts))


def same_answer(block: Block, expect: Expect, slack: float) -> Floats:
    """The same answer as to the original, letter by letter."""
    return _agreement(block.texts, [block.texts[row] for row in block.original])


def same_answer_substituted(block: Block, expect: Expect, slack: float) -> Floats:
    """The original's answer after the substitution that made the variant."""
    first = (block.texts[row] for row in block.original)
    wanted = [
        change_word(answer, *swap) if swap else answer
        for answer, swap in zip(first, block.substitutions, strict=True)
    ]
    return _agreement(block.texts, wanted)


# Free answers (2.8)


def text_rule(block: Block, expect: Expect, slack: float) -> Floats:
    """The answer passes a test of its text; without an argument, the test is about the case's label."""
    make = TEXT_RULES[expect.rule]
    if expect.argument:
        test = make(expect.value)
        return _passes(test(text) for text in block.texts)
    tests = {label: make(label) for label in set(block.expected_texts)}
    return _passes(tests[label](text) for label, text in zip(block.expected_texts, block.texts, strict=True))


def same_text(block: Block, expect: Expect, slack: float) -> Floats:
    """The same normalised answer as to the original."""
    texts = list(map(normalised, block.texts))
    return _agreement(texts, [texts[row] for row in block.original])


def similar_text(block: Block, expect: Expect, slack: float) -> Floats:
    """The token F1 with the answer to the original is at least the argument."""
    pairs = ((text, block.texts[row]) for text, row in zip(block.texts, block.original, strict=True))
    above = np.array([token_f1(*pair) for pair in pairs]) - f1_limit(expect.value)
    return np.where(above >= -slack, 1.0, above)


def _passes(tests: Iterable[bool]) -> Floats:
    return np.array([1.0 if passed else -1.0 for passed in tests])


def _agreement(given: Iterable[str], wanted: Iterable[str]) -> Floats:
    return _passes(a == b for a, b in zip(given, wanted, strict=True))


def edge_strip(answer: str) -> str:
    """Return an answer without leading articles and a final full stop, as CheckList does it.

    >>> edge_strip("the teacher."), edge_strip("Anna")
    ('cher', 'Anna')
    """
    return answer.lstrip(EDGE).rstrip(".")


def squad_normalise(answer: str) -> str:
    """Return an answer in lower case, without punctuation and articles, with single spaces.

    >>> squad_normalise("The  teacher, Anna.")
    'teacher anna'
    """
    plain = "".join(letter for letter in answer.lower() if letter not in string.punctuation)
    return " ".join(word for word in plain.split() if word not in ("a", "an", "the"))


def token_f1(answer: str, right: str) -> float:
    """Return 2PR / (P + R) over the words of two answers, after SQuAD's normalisation.

    >>> token_f1("The Eiffel Tower.", "Eiffel tower"), token_f1("in Paris France", "Paris")
    (1.0, 0.5)
    """
    ours, theirs = (Counter(squad_normalise(text).split()) for text in (answer, right))
    if not ours or not theirs:
        return float(ours == theirs)
    return 2 * (ours & theirs).total() / (ours.total() + theirs.total())


EDGE = "[]a,then i "
"""Characters that the edge strip removes, in any order."""


# Combining


def both(block: Block, expect: Expect, slack: float) -> Floats:
    """Every part holds; the value is the smallest of the applicable parts."""
    least: Floats = np.fmin.reduce([values_of(block, part, slack) for part in expect.parts])
    return least


def either(block: Block, expect: Expect, slack: float) -> Floats:
    """At least one part holds; the value is the largest of the applicable parts."""
    greatest: Floats = np.fmax.reduce([values_of(block, part, slack) for part in expect.parts])
    return greatest


# Tables

RULES: dict[str, Rule] = {
    "pred_equals_label": pred_equals_label,
    "pred_equals_label_except_label1_means_not_0": label_1_means_not_0,
    "same_pred_or_conf_change_within_tol": same_prediction,
    "positive_shift >= -tol": shift_not_down,
    "positive_shift <= tol": shift_not_up,
    "implication_triplet": implication_as_released,
    "implication": implication,
    "exact_string_equal": exact_answer,
    "string_equal_after_edge_strip": stripped_answer,
    "squad_normalise": normalised_answer,
    "exact_string_equal_to_original_answer": same_answer,
    "answer_equals_original_answer_after_same_substitution": same_answer_substituted,
    "same_text": same_text,
    "token_f1": similar_text,
    **dict.fromkeys(TEXT_RULES, text_rule),
    "and": both,
    "or": either,
}

PATTERNS: dict[str, Rule] = {
    r"pred_equals_(?P<label>.+)": pred_equals,
    r"pred_not_(?P<label>.+)": pred_not,
    r"conf_of_(?P<label>.+)_not_lower": confidence_not_lower,
    r"conf_of_(?P<label>.+)_not_higher": confidence_not_higher,
    r"direction (not_less_0|not_less_2|not_less_conf|not_more_conf)": paper_direction,
}
"""Rules whose name contains a label, by name or number, or a direction."""

TEXT_PAIRS = ("same_text", "token_f1")
"""Rules that compare a text with the answer to the original."""
RIGHT_ANSWERS = {"exact_string_equal", "string_equal_after_edge_strip", "squad_normalise"}
SPAN_RULES = RIGHT_ANSWERS | {
    "exact_string_equal_to_original_answer",
    "answer_equals_original_answer_after_same_substitution",
    *TEXT_PAIRS,
    *TEXT_RULES,
}
NEED_LABELS = RIGHT_ANSWERS | {"pred_equals_label", "pred_equals_label_except_label1_means_not_0"}


def find_rule(name: str) -> Rule | None:
    """Return the rule of this name, if there is one."""
    if name in RULES:
        return RULES[name]
    return next((rule for pattern, rule in PATTERNS.items() if re.fullmatch(pattern, name)), None)


def values_of(block: Block, expect: Expect, slack: float) -> Floats:
    """Return the rule's value of each example; NaN for cases that the filter takes out."""
    rule = find_rule(expect.rule)
    assert rule is not None, expect.rule
    values = rule(block, expect, slack)
    for condition in conditions(expect):
        outside = np.repeat(not_applicable(block, condition, slack), block.sizes)
        values = np.where(outside, np.nan, values)
    return values


# Filters (2.4): when a whole case does not apply

CONDITION = re.compile(
    r"(?P<which>original|any|any later) (?:pred differs|conf (?P<sign><=|>=) (?P<level>\d*\.?\d+)|"
    r"pred (?:is (?P<negation>not )?|(?=neutral$))(?P<label>.+))"
)


def not_applicable(block: Block, condition: str, slack: float) -> Bools:
    """Return the cases that a condition takes out, such as "original pred is neutral" or "any later pred differs"."""
    if not len(block.starts):
        return np.zeros(0, dtype=bool)
    found = CONDITION.fullmatch(condition)
    assert found is not None, condition
    if found["label"]:
        met = (block.predictions == label_index(found["label"], block.labels)) != bool(found["negation"])
    elif found["level"]:
        sign = 1 if found["sign"] == ">=" else -1
        met = sign * block.confidence >= sign * float(found["level"]) - slack
    else:
        met = block.predictions != block.predictions[block.original]
    first = np.arange(len(met)) == block.original
    looked_at = {"original": first, "any": np.full(len(met), True), "any later": ~first}[found["which"]]
    return np.logical_or.reduceat(met & looked_at, block.starts)


def label_index(word: str, labels: Sequence[str]) -> int:
    """Return a label's position by its name, or by its number unless the names are numbers."""
    if word in labels:
        return list(labels).index(word)
    if word == "neutral" and len(labels) == 3:
        return 1
    if not is_number(word) or (labels and all(map(is_number, labels))):
        raise DataError(
            f"label {word!r} is not one of {some(labels, 12)}",
            fix=nearest(word, labels) or "a model that can give every label of the suite",
        )
    return int(word)


def is_number(word: str) -> bool:
    """Return whether a label is a number of reasonable size."""
    return word.isdecimal() and len(word) < 10


def check_expect(expect: Expect, labels: Sequence[str] | None) -> None:
    """Raise if a rule, label or condition is not known."""
    if find_rule(expect.rule) is None:
        known = [*DIRECTIONS, *RULES, *(rule for rule, _ in DIRECTIONS.values())]
        fix = nearest(expect.rule, known) or "shoal list rules"
        raise DataError(f"rule {expect.rule!r} is not known", fix=fix)
    check_tolerance(expect.tolerance)
    _check_argument(expect)
    if expect.rule in ("and", "or") and len(expect.parts) < 2:
        raise DataError(
            f'rule {expect.rule!r} needs two or more rules under "rules"',
            fix='"rules": [{"rule": "pred_not_0"}, {"rule": "pred_not_1"}]',
        )
    if len(set(map(judges_text, expect.parts))) > 1:
        raise DataError(
            "expect: rules on labels and on texts together", fix="a model gives labels or texts, not both"
        )
    for condition in conditions(expect):
        if not CONDITION.fullmatch(condition):
            raise DataError(
                f"filter {condition!r} is not understood",
                fix='such as "original pred is neutral", "original conf >= 0.9", "any later pred differs"',
            )
    for word in labels_named(expect) if labels else ():
        if labels and label_index(word, labels) >= len(labels):
            raise DataError(
                f"label {word!r} is beyond the suite's {len(labels)}: {some(labels, 12)}",
                fix="number the labels from 0, or name them",
            )
    for part in expect.parts:
        check_expect(part, labels)


def _check_argument(expect: Expect) -> None:
    """Raise if the argument of a rule does not fit it."""
    if expect.rule == "token_f1":
        f1_limit(expect.value)
    elif expect.argument and expect.rule in TEXT_RULES:
        TEXT_RULES[expect.rule](expect.value)
    elif expect.argument:
        raise DataError(f"rule {expect.rule!r} takes no argument", fix=f"expect: {expect.rule}")


def labels_named(expect: Expect) -> list[str]:
    """Return the labels that a rule, its conditions and its parts name."""
    in_rule = [re.fullmatch(pattern, expect.rule) for pattern in PATTERNS if expect.rule not in RULES]
    words = [found["label"] for found in in_rule if found and "label" in found.groupdict()]
    in_filter = [CONDITION.fullmatch(condition) for condition in conditions(expect)]
    words += [found["label"] for found in in_filter if found and found["label"]]
    words += [word for part in expect.parts for word in labels_named(part)]
    return [word for word in words if word != "original_pred"]


def needs_labels(expect: Expect) -> bool:
    """Return whether the rule needs labels."""
    about_label = expect.rule in TEXT_RULES and not expect.argument
    return about_label or expect.rule in NEED_LABELS or any(map(needs_labels, expect.parts))


def judges_text(expect: Expect) -> bool:
    """Return whether the rule is about answers in words."""
    return expect.rule in SPAN_RULES or any(map(judges_text, expect.parts))


def rule_on_original(expect: Expect) -> str:
    """Return the rule, or part of it, that compares a text with the answer to the original; empty if none does."""
    rules = (expect.rule, *map(rule_on_original, expect.parts))
    return next((rule for rule in rules if rule in TEXT_PAIRS), "")


def judges_free_text(expect: Expect) -> bool:
    """Return whether the rule is about free answers: an answer to a question about a passage is not free."""
    free = {*TEXT_PAIRS, *TEXT_RULES}
    return expect.rule in free or any(map(judges_free_text, expect.parts))


def check_label(expect: Expect, label: Label) -> None:
    """Raise if a label cannot be the argument of the rules that take it."""
    for part in expect.parts:
        check_label(part, label)
    if expect.rule in TEXT_RULES and not expect.argument:
        TEXT_RULES[expect.rule](label)


def conditions(expect: Expect) -> list[str]:
    """Return the separate conditions under which a case does not apply."""
    return [condition for condition in map(str.strip, expect.na_if.split(";")) if condition]


# From examples to cases (2.3)


def aggregate(values: Floats, starts: Integers, how: Aggregate) -> tuple[Bools, Bools, Floats]:
    """Return which cases pass, which apply, and each case's worst value (NaN if nothing was left to judge).

    Values that do not apply are dropped first, and only then the first of the rest under "all_except_first".
    Nothing left after that is a pass: a case of one example cannot change (CheckList's vacuous truth).

    >>> passed, applies, _ = aggregate(np.array([-0.2, 1, 1, np.nan, np.nan]), np.array([0, 3]), "all_except_first")
    >>> passed.tolist(), applies.tolist()
    ([True, True], [True, False])
    """
    if not len(starts):
        return np.zeros(0, dtype=bool), np.zeros(0, dtype=bool), np.zeros(0)
    judged = ~np.isnan(values)
    applies = np.logical_or.reduceat(judged, starts)
    if how == "all_except_first":
        so_far = np.cumsum(judged)
        before = so_far[starts] - judged[starts]
        rank = so_far - np.repeat(before, np.diff(starts, append=len(values)))
        judged &= rank > 1
    failed = np.logical_or.reduceat(judged & (values <= 0), starts)
    worst = np.fmin.reduceat(np.where(judged, values, np.nan), starts)
    return ~failed, applies, worst
