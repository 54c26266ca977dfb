"""A suite laid out for the checks, and made-up answers to try on it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, product

import numpy as np

from ....core.errors import DataError
from ....core.records import Answers, Case, Label
from ..build import split_cases
from ..expect import Expect
from ..judge import judge
from ..rules import RIGHT_ANSWERS, is_number, label_index, labels_named, squad_normalise
from ..settings import Settings
from ..suite import Suite
from .findings import Counts

# What cases and rules ask for

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


# Made-up answers

LUKEWARM = 0.6
"""Confidence of a constant prediction. At 1, tests of confidence would not apply: it could not rise."""
AS_WRITTEN = Settings(edits="none")

Verdict = bool | None
Verdicts = dict[tuple[int, ...], Verdict]
"""By what is answered to each example, as positions in a list of answers."""

SMALL = 3
"""Examples of a case that are tried: every combination of predictions must be looked at."""
OTHER_ANSWER = "something else"


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer to one example, made up."""

    word: str
    labels: tuple[str, ...] = ()
    index: int = 0
    probabilities: tuple[float, ...] = ()

    @classmethod
    def label(cls, index: int, labels: tuple[str, ...], confidence: float) -> "Reply":
        """A label with this confidence, the rest shared evenly."""
        rest = (1 - confidence) / max(len(labels) - 1, 1)
        vector = tuple(confidence if other == index else rest for other in range(len(labels)))
        return cls(labels[index], labels, index, vector)

    @classmethod
    def text(cls, answer: str) -> "Reply":
        """An answer in words."""
        return cls(answer)


def answers_of(replies: Sequence[Reply], picked: Sequence[int]) -> Answers:
    """Made-up answers as a model's: to each example, the reply picked."""
    labels, picks = replies[0].labels, np.asarray(picked)
    return Answers(
        labels,
        np.array([reply.index for reply in replies])[picks],
        np.array([reply.probabilities for reply in replies])[picks] if labels else None,
        texts=() if labels else [replies[position].word for position in picked],
    )


def sayable(case: Case, labels: tuple[str, ...], confidences: Sequence[float]) -> list[Reply]:
    """Answers that a rule could tell apart: labels it may look at, or texts that are right, wrong or empty."""
    if case.meta.get("reading"):
        swaps = [swap for swap in case.meta.get("details") or () if isinstance(swap, list | tuple)]
        words = [*(case.labels or ()), *(word for swap in swaps for word in swap), "", OTHER_ANSWER]
        return [Reply.text(text) for text in dict.fromkeys(map(str, words))]
    near = told_apart([case], labels)
    return [Reply.label(index, labels, min(sure, 1.0)) for sure in confidences for index in near]


def told_apart(cases: Iterable[Case], labels: tuple[str, ...]) -> list[int]:
    """The labels that these cases ask for or their rules name, and the first few, which stand for all others."""
    spoken: set[str] = set()
    for case in cases:
        spoken |= {label for label in wanted(case, labels) if label} | set(spoken_labels(case.meta["expect"]))
    return [
        index
        for index, label in enumerate(labels)
        if index < SMALL or {label, str(index), f"not {label}"} & spoken
    ]


def judge_all(case: Case, palette: Sequence[Reply]) -> Verdicts:
    """How the case goes under every combination of answers."""
    combinations = list(product(range(len(palette)), repeat=len(case.examples)))
    answers = answers_of(palette, [position for picks in combinations for position in picks])
    outcomes = judge(AS_WRITTEN, [case] * len(combinations), answers)
    return {picks: outcome.passed for picks, outcome in zip(combinations, outcomes, strict=True)}


def only(case: Case, positions: Sequence[int]) -> Case:
    """The case with these of its examples."""
    details = case.meta.get("details")
    if isinstance(details, list) and len(details) == len(case.examples):
        details = [details[position] for position in positions]
    return replace(
        case,
        examples=tuple(case.examples[position] for position in positions),
        labels=case.labels and tuple(case.labels[position] for position in positions),
        meta={**case.meta, "details": details},
    )


def first(case: Case, n: int) -> Case:
    """The case with its first examples only."""
    return only(case, range(min(n, len(case.examples))))


# The suite

MANY = 100
"""Labels: to try each of more would take time by their square."""


@dataclass(frozen=True, slots=True)
class Constant:
    """How a functionality goes if every example is answered alike."""

    answer: str
    passes: int
    n: int

    @property
    def rate(self) -> float:
        """Pass rate of the applicable cases; -1 where there are none, below every rate."""
        return self.passes / self.n if self.n else -1.0


class Material:
    """A suite laid out for the checks, sorted, so that the order of its file cannot matter."""

    def __init__(self, suite: Suite | Iterable[Case]) -> None:
        cases = suite.cases if isinstance(suite, Suite) else suite
        # Shorter ids first: 2 before 10.
        self.cases = sorted(cases, key=lambda case: (case.groups["functionality"], len(case.id), case.id))
        self.by_name = {
            name: list(members)
            for name, members in groupby(self.cases, key=lambda case: case.groups["functionality"])
        }
        self.labels = label_names(self.cases)
        self.problems: dict[str, str] = {}
        """By functionality, why its rule cannot judge its cases."""
        self.constants = self._try_constants()
        """By functionality, how each constant prediction does under its own rule."""

    def counts(self) -> Iterator[Counts]:
        """Every functionality in numbers."""
        for name, cases in self.by_name.items():
            tested, seen = self.test_cases[name]
            best = self.best_constant(name)
            answer, rate = (best.answer, best.rate) if best else ("", None)
            yield Counts(name, len(cases), self.unique_cases[name], tested, len(seen), answer, rate)

    @cached_property
    def unique_cases(self) -> dict[str, int]:
        """By functionality: how many of its cases differ from each other."""
        return {name: len({case.examples for case in cases}) for name, cases in self.by_name.items()}

    @cached_property
    def test_cases(self) -> dict[str, tuple[int, list[Case]]]:
        """By functionality: how many test cases the reference split has, and which of them are in training too."""
        part = split_cases(self.cases, by_content=False)
        by_name = {}
        for name, cases in self.by_name.items():
            trained = {case.examples for case in cases if part[case.id] == "train"}
            tests = [case for case in cases if part[case.id] == "test"]
            by_name[name] = len(tests), [case for case in tests if case.examples in trained]
        return by_name

    @cached_property
    def shapes(self) -> dict[str, dict[object, list[Case]]]:
        """By functionality: its cases by their shape."""
        by_name = {}
        for name, cases in self.by_name.items():
            by_shape: dict[object, list[Case]] = defaultdict(list)
            for case in cases:
                by_shape[shape(case)].append(case)
            by_name[name] = dict(by_shape)
        return by_name

    def _try_constants(self) -> dict[str, list[Constant]]:
        constants = {}
        known: dict[tuple[object, ...], list[Verdict]] = {}
        for name, shapes in self.shapes.items():
            try:
                constants[name] = [_constant(shapes, reply, known) for reply in self._sayable(name)]
            except DataError as problem:
                self.problems[name] = str(problem).splitlines()[0]
        return constants

    def _sayable(self, name: str) -> list[Reply]:
        """The constants to try on a functionality: each label, or no answer and the answer most often right."""
        cases = self.by_name[name]
        if not cases[0].meta.get("reading"):
            self._check_labels(name)
            return [Reply.label(index, self.labels, LUKEWARM) for index in self._tried]
        answers = Counter(str(label) for case in cases for label in case.labels or ())
        most = max(answers, key=lambda answer: (answers[answer], answer), default="")
        return [Reply.text(answer) for answer in dict.fromkeys(["", most])]

    @cached_property
    def _tried(self) -> Sequence[int]:
        """The labels that are tried as constants; of very many, those that some case can tell from the others."""
        if len(self.labels) <= MANY:
            return range(len(self.labels))
        cases = (alike[0] for shapes in self.shapes.values() for alike in shapes.values())
        return told_apart((case for case in cases if not case.meta.get("reading")), self.labels)

    def _check_labels(self, name: str) -> None:
        expect = self.by_name[name][0].meta["expect"]
        words = {
            str(label).removeprefix("not_")
            for case, *_ in self.shapes[name].values()
            for label in case.labels or ()
        }
        for word in sorted({*words, *spoken_labels(expect)} - set(self.labels)):
            if is_number(word) and int(word) >= len(self.labels):
                raise DataError(
                    f"label {word} is beyond the {len(self.labels)} labels of the suite",
                    fix="name every label in label_names, or mend the label",
                )
            label_index(word, self.labels)

    def best_constant(self, name: str) -> Constant | None:
        """The constant prediction that passes most of a functionality, if any applies."""
        known = [constant for constant in self.constants.get(name, ()) if constant.n]
        return max(known, key=lambda constant: constant.rate, default=None)

    @cached_property
    def label_counts(self) -> dict[str, int]:
        """How many judged examples ask for each label, reading comprehension left out."""
        asked: Counter[str] = Counter()
        for shapes in self.shapes.values():
            for alike in shapes.values():
                if not alike[0].meta.get("reading"):
                    for label in filter(None, wanted(alike[0], self.labels)):
                        asked[label] += len(alike)
        names = [label for label in self.labels if label != OTHER_LABEL]
        return {label: asked[label] for label in (*names, *sorted(set(asked) - set(names)))} if asked else {}


def _constant(
    shapes: Mapping[object, Sequence[Case]], reply: Reply, known: dict[tuple[object, ...], list[Verdict]]
) -> Constant:
    """How a functionality goes under one reply; `known` for those of the same shapes, of which there may be many."""
    key = reply, *shapes
    if key not in known:
        cases = [alike[0] for alike in shapes.values()]
        picked = [0] * sum(len(case.examples) for case in cases)
        known[key] = [outcome.passed for outcome in judge(AS_WRITTEN, cases, answers_of([reply], picked))]
    counts = [(passed, len(alike)) for passed, alike in zip(known[key], shapes.values(), strict=True)]
    passes = sum(n for passed, n in counts if passed)
    return Constant(reply.word, passes, sum(n for passed, n in counts if passed is not None))
