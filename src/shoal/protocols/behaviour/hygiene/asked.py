"""What cases and rules ask for: labels, answers, and the shape that a rule sees of a case."""

from collections.abc import Sequence

from ....core.records import Case, Label
from ..rules import RIGHT_ANSWERS, Expect, labels_named, squad_normalise

OTHER_LABEL = "any other label"
"""Beside the only label that a suite names: a model has at least two."""
MOST_LABELS = 1000
"""A number beyond it, where labels have no names, is no label but a mistake."""


def label_names(cases: Sequence[Case]) -> tuple[str, ...]:
    """The suite's labels, or as many numbers as its cases and rules speak of."""
    named = next((case.meta["labels"] for case in cases if case.meta.get("labels")), None)
    if named:
        return tuple(named)
    words = {
        str(label).removeprefix("not_")
        for case in cases
        if not case.meta.get("reading")
        for label in case.labels or ()
    }
    for expect in {case.meta["expect"] for case in cases}:
        words |= set(spoken_labels(expect))
    if not all(word.isdecimal() for word in words):
        return (*sorted(words), OTHER_LABEL)[: max(len(words), 2)]
    return tuple(str(number) for number in range(min(max([1, *map(int, words)]), MOST_LABELS) + 1))


def spoken_labels(expect: Expect) -> list[str]:
    """The labels that a rule, its parts and their filters name."""
    return [*labels_named(expect), *(word for part in expect.parts for word in spoken_labels(part))]


def wanted(case: Case, labels: tuple[str, ...]) -> list[str | None]:
    """For each example, the label or answer that would be right; None where the rule does not look at it."""
    rule = case.meta["expect"].rule
    asked: list[Label | None] = list(case.labels or [None] * len(case.examples))
    if rule in RIGHT_ANSWERS:
        return [None if label is None else squad_normalise(str(label)) for label in asked]
    if rule == "pred_equals_label_except_label1_means_not_0":
        asked = ["not_0" if label == 1 else label for label in asked]
    elif rule.startswith("pred_not_"):
        asked = ["not_" + rule.removeprefix("pred_not_")] * len(asked)
    elif rule.startswith("pred_equals_") and rule != "pred_equals_label":
        asked = [rule.removeprefix("pred_equals_")] * len(asked)
    elif rule != "pred_equals_label":
        asked = [None] * len(asked)
    if is_perturbation(case):
        asked[0] = None
    return [None if label is None else named(label, labels) for label in asked]


def named(label: Label, labels: tuple[str, ...]) -> str:
    """A label in words.

    >>> named(0, ("negative", "positive")), named("not_0", ("negative", "positive"))
    ('negative', 'not negative')
    """
    word = str(label)
    if word in labels:
        return word
    if word.startswith("not_"):
        return "not " + named(word.removeprefix("not_"), labels)
    return labels[int(word)] if word.isdecimal() and int(word) < len(labels) else word


def shape(case: Case) -> object:
    """All that a rule can see of a case: never its texts, but labels, and in reading comprehension substitutions."""
    swaps = repr(case.meta.get("details")) if case.meta.get("reading") else ""
    return case.meta["expect"], len(case.examples), case.labels, swaps


def is_perturbation(case: Case) -> bool:
    """Whether a case is about its variants, the original being only what they are compared with."""
    expect: Expect = case.meta["expect"]
    return expect.aggregate == "all_except_first"


def is_vacuous(cases: Sequence[Case]) -> bool:
    """Whether a functionality is about variants and has none: `check_vacuous` says so, other checks need not."""
    return is_perturbation(cases[0]) and all(len(case.examples) == 1 for case in cases)
