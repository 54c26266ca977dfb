"""A suite laid out for the checks, and the results of constant answers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np

from ...core.errors import DataError
from ...core.records import Answers, Case, Label
from .build import split_cases
from .expect import Expect
from .judge import judge
from .rules import RIGHT_ANSWERS, labels_named, squad_normalise
from .settings import Settings

# The labels that cases and rules expect

OTHER_LABEL = "any other label"
"""A second label for suites that name only one."""
MOST_LABELS = 1000
"""Unnamed labels with larger numbers are mistakes."""


def label_names(cases: Sequence[Case]) -> tuple[str, ...]:
    """Return the suite's labels, or as many numbers as its cases and rules use."""
    named = next((case.meta["labels"] for case in cases if case.meta.get("labels")), None)
    if named:
        return tuple(named)
    labels = (label for case in cases if not case.meta.get("reading") for label in case.labels or ())
    words = {str(label).removeprefix("not_") for label in labels}
    words.update(*map(labels_named, {case.meta["expect"] for case in cases}))
    if not all(word.isdecimal() for word in words):
        return (*sorted(words), OTHER_LABEL)[: max(len(words), 2)]
    return tuple(str(number) for number in range(min(max([1, *map(int, words)]), MOST_LABELS) + 1))


def expected_labels(case: Case, labels: tuple[str, ...]) -> list[str | None]:
    """Return the right label or answer of each example; None where the rule does not look at it."""
    rule = case.meta["expect"].rule
    expected: list[Label | None] = list(case.labels or [None] * len(case.examples))
    if rule in RIGHT_ANSWERS:
        return [None if label is None else squad_normalise(str(label)) for label in expected]
    if rule == "pred_equals_label_except_label1_means_not_0":
        expected = ["not_0" if label == 1 else label for label in expected]
    elif rule.startswith("pred_not_"):
        expected = ["not_" + rule.removeprefix("pred_not_")] * len(expected)
    elif rule.startswith("pred_equals_") and rule != "pred_equals_label":
        expected = [rule.removeprefix("pred_equals_")] * len(expected)
    elif rule != "pred_equals_label":
        expected = [None] * len(expected)
    if is_perturbation(case):
        expected[0] = None
    return [None if label is None else named(label, labels) for label in expected]


def named(label: Label, labels: tuple[str, ...]) -> str:
    """Return a label in words.

    >>> named(0, ("negative", "positive")), named("not_0", ("negative", "positive"))
    ('negative', 'not negative')
    """
    word = str(label)
    if word in labels:
        return word
    if word.startswith("not_"):
        return "not " + named(word.removeprefix("not_"), labels)
    return labels[int(word)] if word.isdecimal() and int(word) < len(labels) else word


def is_perturbation(case: Case) -> bool:
    """Return whether a case tests variants against an original."""
    expect: Expect = case.meta["expect"]
    return expect.aggregate == "all_except_first"


# Constant answers

LUKEWARM = 0.6
"""Confidence of a constant prediction. At 1, tests of confidence would not apply: it could not rise."""
AS_WRITTEN = Settings(edits="none")
OTHERS = 3
"""Labels that are tried besides those that cases or their rule name."""


def constant_answers(
    cases: Sequence[Case], labels: tuple[str, ...], count: int
) -> Iterator[tuple[str, Answers]]:
    """Yield constant answers to this many examples, in words: labels, or nothing and the commonest right answer."""
    picked = np.zeros(count, np.int64)
    if cases[0].meta.get("reading"):
        right = Counter(str(label) for case in cases for label in case.labels or ())
        commonest = max(right, key=lambda answer: (right[answer], answer), default="")
        for text in dict.fromkeys(["", commonest]):
            yield text, Answers((), picked, texts=[text] * count)
        return
    words = {label for case in cases for label in expected_labels(case, labels) if label}
    words |= set(labels_named(cases[0].meta["expect"]))
    used = {i for i, label in enumerate(labels) if {label, str(i), f"not {label}"} & words}
    others = [i for i in range(len(labels)) if i not in used][:OTHERS]
    for index in sorted([*used, *others]):
        row = np.full(len(labels), (1 - LUKEWARM) / max(len(labels) - 1, 1))
        row[index] = LUKEWARM
        yield labels[index], Answers(labels, picked + index, np.tile(row, (count, 1)))


# The suite


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts for one functionality."""

    functionality: str
    cases: int
    unique_cases: int
    test_cases: int
    """In the reference split by id."""
    test_cases_in_training: int
    """Those identical to a training case of the same functionality."""


@dataclass(frozen=True, slots=True)
class Constant:
    """The result of one answer to every example of a functionality."""

    answer: str
    passes: int
    n: int

    @property
    def rate(self) -> float:
        """Return the pass rate of the applicable cases; -1 if there are none."""
        return self.passes / self.n if self.n else -1.0


class Material:
    """A suite laid out for the checks, sorted, so that the order of its file cannot matter."""

    def __init__(self, cases: Iterable[Case]) -> None:
        # Shorter ids first: 2 before 10.
        self.cases = sorted(cases, key=lambda case: (case.groups["functionality"], len(case.id), case.id))
        self.by_name = {
            name: list(members)
            for name, members in groupby(self.cases, key=lambda case: case.groups["functionality"])
        }
        self.labels = label_names(self.cases)
        self.constants: dict[str, list[Constant]] = {}
        """The results of constant answers by functionality."""
        self.problems: dict[str, str] = {}
        """Why the rule of a functionality cannot judge its cases."""
        for name, members in self.by_name.items():
            try:
                self.constants[name] = list(self._constants(members))
            except DataError as problem:
                self.problems[name] = str(problem).splitlines()[0]

    def _constants(self, cases: Sequence[Case]) -> Iterator[Constant]:
        """Yield the result of each constant answer to these cases."""
        for word, answers in constant_answers(cases, self.labels, sum(len(case.examples) for case in cases)):
            outcomes = judge(AS_WRITTEN, cases, answers)
            applicable = [outcome.passed for outcome in outcomes if outcome.passed is not None]
            yield Constant(word, sum(applicable), len(applicable))

    def counts(self) -> Iterator[Counts]:
        """Yield the counts of every functionality."""
        for name, cases in self.by_name.items():
            tests, seen = self.test_cases[name]
            yield Counts(name, len(cases), self.unique_cases[name], tests, len(seen))

    @cached_property
    def unique_cases(self) -> dict[str, int]:
        """Return the number of distinct cases by functionality."""
        return {name: len({case.examples for case in cases}) for name, cases in self.by_name.items()}

    @cached_property
    def test_cases(self) -> dict[str, tuple[int, list[Case]]]:
        """Return the number of test cases in the reference split, and those also in training, by functionality."""
        part = split_cases(self.cases, "id")
        by_name = {}
        for name, cases in self.by_name.items():
            trained = {case.examples for case in cases if part[case.id] == "train"}
            tests = [case for case in cases if part[case.id] == "test"]
            by_name[name] = len(tests), [case for case in tests if case.examples in trained]
        return by_name

    @cached_property
    def label_counts(self) -> dict[str, int]:
        """Return the number of judged examples that expect each label, without reading comprehension."""
        expected: Counter[str] = Counter()
        for case in self.cases:
            if not case.meta.get("reading"):
                expected.update(filter(None, expected_labels(case, self.labels)))
        order = dict.fromkeys([*self.labels, *sorted(expected)])
        return {label: expected[label] for label in order if label != OTHER_LABEL} if expected else {}
