"""Suite hygiene: what is wrong with a suite before any model is asked (`docs/method/beyond.md` 7.13).

    error     a pass rate that is wrong or says nothing, whatever the model
    warning   a pass rate that misleads who does not know
    note      worth knowing

A check looks at the suite and gives findings. To add one: write the function and add a line to CHECKS.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import groupby, islice, product
from typing import Any, Literal

import numpy as np

from ...errors import DataError, some
from ...measures import FEW_CASES
from ...records import Answers, Case, Example, Label
from ...stats.intervals import wilson
from .build import content, half_half, split_cases
from .rules import RIGHT_ANSWERS, Expect, label_index, labels_named, squad_normalise
from .score import judge
from .settings import SPLITS, Settings
from .suite import Suite

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")

EXAMPLES = 5
"""How many case ids a finding names."""
MUCH = 0.05
"""Share of a functionality from which copies are a warning, no longer a note."""
NEARLY_ALL = 0.95
"""Pass rate of a constant prediction from which a functionality hardly tests anything by itself."""
LOPSIDED = 0.8
"""Share of one label from which the suite as a whole is lopsided."""
SPLITTABLE = 4
"""Fewer cases than this can leave a part of the double split empty (`docs/method/beluga.md` 1.12)."""
LONG = 2000
"""Characters; beyond it most encoders cut the text off."""


FIXES = {
    "rule cannot judge": "mend the cases or expect another rule; shoal list rules shows all",
    "rule never passes": "mend its filter, tolerance or parts: as it is, every model fails",
    "rule never fails": "mend its filter, tolerance or parts: as it is, every model passes",
    "rule never applies": "mend its filter: as it is, there is no pass rate",
    "unreachable branch": "let the last prediction decide, or let the case not apply",
    "nothing to compare with": "give each original a variant, or, where a label is known, make it a minimum "
    "functionality test (MFT)",
    "cases that cannot be passed": "leave those variants out: to pass, a model would have to contradict itself",
    "nothing changed": "leave those variants out: nothing is tested by them",
    "label conflict": "decide which label is right: no model can pass both",
    "test cases seen in training": "split by content (split_by=content, profile recommended): by id, as BELUGA does, "
    "a model that trained on the suite is tested on what it has seen",
    "repeated cases": "keep each once, as profile recommended does (edits=repaired): copies weight a few cases heavily "
    "and make intervals too narrow",
    "nearly repeated cases": "keep one of each, unless case and spacing are what is tested",
    "cases in two functionalities": "keep them in one, or the two pass rates rise and fall together",
    "labels never asked for": "add cases of that label, or take it out of label_names: a model that never gives it "
    "loses nothing",
    "one label dominates": "add cases of the other labels, or read pass rates beside those of a model that always "
    "says this",
    "one answer passes": "pair it with a contrast: cases alike in form that ask for another label",
    "any constant passes": "read them beside tests whose label must change (sensitivity), never alone",
    "too few cases": f"write more, {FEW_CASES} at least; some 100 for an interval of ± 10 points",
    "empty texts": "fill them or take the cases out: a model has nothing to go by",
    "control characters": "mend the encoding: tokenizers drop or split such characters, each in its own way",
    "white space at the edges": "strip it, unless white space is what is tested: some tokenizers see it, some do not",
    "very long texts": "shorten them: most encoders cut them off, and what decides the case may be in the rest",
}
"""Every kind of finding, and what to do about it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, where, and what to do about it."""

    kind: str
    severity: Severity
    where: tuple[str, ...]
    """Functionalities; none where it is about the suite as a whole."""
    what: str
    fix: str
    cases: tuple[str, ...] = ()
    """Ids of a few of them."""
    count: int = 0
    share: float | None = None
    """Of the cases there are, between 0 and 1."""


@dataclass(frozen=True, slots=True)
class Counts:
    """One functionality in numbers."""

    functionality: str
    cases: int
    unique_cases: int
    test_cases: int
    """Under the reference split, by id."""
    test_cases_in_training: int
    """Of those, letter by letter the same as a training case of the same functionality."""
    best_constant: str
    """The one prediction that passes most if a model always gives it."""
    constant_pass_rate: float | None
    """Of the best constant; None where no case applies to a constant."""


@dataclass(frozen=True, slots=True)
class Hygiene:
    """The findings on a suite, most important first, and the numbers behind them."""

    findings: tuple[Finding, ...]
    functionalities: tuple[Counts, ...]
    labels: Mapping[str, int]
    """How many judged examples ask for each label."""

    @property
    def cases(self) -> int:
        """How many there are."""
        return sum(row.cases for row in self.functionalities)

    @property
    def unique_cases(self) -> int:
        """How many differ from every other of their functionality."""
        return sum(row.unique_cases for row in self.functionalities)

    @property
    def test_cases(self) -> int:
        """How many the reference split keeps for testing."""
        return sum(row.test_cases for row in self.functionalities)

    @property
    def test_cases_in_training(self) -> int:
        """How many of those stand in the training part as well."""
        return sum(row.test_cases_in_training for row in self.functionalities)

    def of(self, severity: Severity) -> list[Finding]:
        """The findings of one severity."""
        return [finding for finding in self.findings if finding.severity == severity]

    def as_json(self) -> dict[str, Any]:
        """What `shoal check --json` adds to the description."""
        names = ("cases", "unique_cases", "test_cases", "test_cases_in_training")
        return {
            "findings": [_listed(asdict(finding)) for finding in self.findings],
            "hygiene": {
                **{name: getattr(self, name) for name in names},
                "labels": dict(self.labels),
                "functionalities": [asdict(row) for row in self.functionalities],
            },
        }


def _listed(row: dict[str, Any]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in row.items()}


def examine(suite: Suite | Iterable[Case]) -> Hygiene:
    """Everything the checks find, errors first; the order of the cases does not matter."""
    material = Material(suite)
    findings = [finding for check in CHECKS.values() for finding in check(material)]
    findings.sort(key=lambda row: SEVERITIES.index(row.severity))  # stable: then as CHECKS has them
    return Hygiene(tuple(findings), tuple(material.counts()), material.label_counts)


# The suite, laid out


@dataclass(frozen=True, slots=True)
class Constant:
    """How a functionality goes if every example is answered alike."""

    said: str
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
            unique = len({case.examples for case in cases})
            tested, seen = self.test_cases[name]
            best = self.best_constant(name)
            said, rate = (best.said, best.rate) if best else ("", None)
            yield Counts(name, len(cases), unique, tested, len(seen), said, rate)

    @cached_property
    def test_cases(self) -> dict[str, tuple[int, list[Case]]]:
        """By functionality: how many test cases the reference split has, and which of them are in training too."""
        part = split_cases(self.cases, by_content=False)
        found = {}
        for name, cases in self.by_name.items():
            trained = {case.examples for case in cases if part[case.id] == "train"}
            tests = [case for case in cases if part[case.id] == "test"]
            found[name] = len(tests), [case for case in tests if case.examples in trained]
        return found

    @cached_property
    def shapes(self) -> dict[str, list[tuple[Case, int]]]:
        """By functionality: a case of every shape, and how many have it."""
        found = {}
        for name, cases in self.by_name.items():
            tally: dict[object, list[Case]] = defaultdict(list)
            for case in cases:
                tally[shape(case)].append(case)
            found[name] = [(members[0], len(members)) for members in tally.values()]
        return found

    def _try_constants(self) -> dict[str, list[Constant]]:
        found = {}
        for name, shapes in self.shapes.items():
            try:
                found[name] = [self._constant(shapes, answer) for answer in self._sayable(name)]
            except DataError as problem:
                self.problems[name] = str(problem).splitlines()[0]
        return found

    def _constant(self, shapes: list[tuple[Case, int]], answer: "Said") -> Constant:
        cases = [case for case, _ in shapes]
        outcomes = judge(
            AS_WRITTEN, cases, answers_of([answer], [0] * sum(len(case.examples) for case in cases))
        )
        applied = [(outcome.passed, n) for outcome, (_, n) in zip(outcomes, shapes, strict=True)]
        passes = sum(n for passed, n in applied if passed)
        return Constant(answer.word, passes, sum(n for passed, n in applied if passed is not None))

    def _sayable(self, name: str) -> list["Said"]:
        """The constants to try on a functionality: each label, or no answer and the answer most often right."""
        cases = self.by_name[name]
        if not cases[0].meta.get("reading"):
            self._check_labels(name)
            return [Said.label(at, self.labels, LUKEWARM) for at in range(len(self.labels))]
        answers = Counter(str(label) for case in cases for label in case.labels or ())
        most = max(answers, key=lambda answer: (answers[answer], answer), default="")
        return [Said.text(answer) for answer in dict.fromkeys(["", most])]

    def _check_labels(self, name: str) -> None:
        expect = self.by_name[name][0].meta["expect"]
        own = {
            str(label).removeprefix("not_") for case, _ in self.shapes[name] for label in case.labels or ()
        }
        for word in sorted({*own, *spoken_labels(expect)} - set(self.labels)):
            if label_index(word, self.labels) >= len(self.labels):
                raise DataError(f"label {word} is beyond the {len(self.labels)} labels of the suite")

    def best_constant(self, name: str) -> Constant | None:
        """The constant prediction that passes most of a functionality, if any applies."""
        known = [constant for constant in self.constants.get(name, ()) if constant.n]
        return max(known, key=lambda constant: constant.rate, default=None)

    @cached_property
    def label_counts(self) -> dict[str, int]:
        """How many judged examples ask for each label, reading comprehension left out."""
        asked: Counter[str] = Counter()
        for shapes in self.shapes.values():
            for case, n in shapes:
                if not case.meta.get("reading"):
                    for label in filter(None, wanted(case, self.labels)):
                        asked[label] += n
        own = [label for label in self.labels if label != OTHER_LABEL]
        return {label: asked[label] for label in (*own, *sorted(set(asked) - set(own)))} if asked else {}


@dataclass(frozen=True, slots=True)
class Said:
    """One answer to one example, made up."""

    word: str
    labels: tuple[str, ...] = ()
    index: int = 0
    probabilities: tuple[float, ...] = ()

    @classmethod
    def label(cls, index: int, labels: tuple[str, ...], confidence: float) -> "Said":
        """A label with this confidence, the rest shared evenly."""
        rest = (1 - confidence) / max(len(labels) - 1, 1)
        vector = tuple(confidence if at == index else rest for at in range(len(labels)))
        return cls(labels[index], labels, index, vector)

    @classmethod
    def text(cls, answer: str) -> "Said":
        """An answer in words."""
        return cls(answer)


OTHER_LABEL = "any other label"
"""Beside the only label that a suite names: a model has at least two."""
MOST_LABELS = 1000
"""A number beyond it, where labels have no names, is no label but a mistake."""
LUKEWARM = 0.6
"""Confidence of a constant prediction. At 1, tests of confidence would not apply: it could not rise."""
AS_WRITTEN = Settings(edits="none")


def answers_of(said: Sequence[Said], picked: Sequence[int]) -> Answers:
    """Made-up answers as a model's: to each example, the one picked."""
    labels, picks = said[0].labels, np.asarray(picked)
    return Answers(
        labels,
        np.array([row.index for row in said])[picks],
        np.array([row.probabilities for row in said])[picks] if labels else None,
        texts=() if labels else [said[at].word for at in picked],
    )


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
    return tuple(str(at) for at in range(min(max([1, *map(int, words)]), MOST_LABELS) + 1))


def spoken_labels(expect: Expect) -> list[str]:
    """The labels that a rule, its parts and their filters name."""
    return [*labels_named(expect), *(word for part in expect.parts for word in spoken_labels(part))]


def wanted(case: Case, labels: tuple[str, ...]) -> list[str | None]:
    """For each example, the label or answer that would be right; None where the rule does not look at it."""
    rule = case.meta["expect"].rule
    own: list[Label | None] = list(case.labels or [None] * len(case.examples))
    if rule in RIGHT_ANSWERS:
        return [None if label is None else squad_normalise(str(label)) for label in own]
    if rule == "pred_equals_label_except_label1_means_not_0":
        own = ["not_0" if label == 1 else label for label in own]
    elif rule.startswith("pred_not_"):
        own = ["not_" + rule.removeprefix("pred_not_")] * len(own)
    elif rule.startswith("pred_equals_") and rule != "pred_equals_label":
        own = [rule.removeprefix("pred_equals_")] * len(own)
    elif rule != "pred_equals_label":
        own = [None] * len(own)
    if is_perturbation(case):
        own[0] = None
    return [None if label is None else named(label, labels) for label in own]


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


def tell(n: int, total: int, one: str, several: str, noun: str = "cases") -> str:
    """A count as a share of what there is, with its verb.

    >>> tell(30, 120, "is lost", "are lost"), tell(1, 8000, "is lost", ""), tell(7, 7, "", "are lost")
    ('30 of 120 cases (25.0 %) are lost', '1 of 8,000 cases (under 0.1 %) is lost', 'all 7 cases are lost')
    """
    share = f"{100 * n / total:.1f} %" if n / total >= 0.0005 else "under 0.1 %"
    count = f"all {total:,} {noun}" if n == total > 1 else f"{n:,} of {total:,} {noun} ({share})"
    return f"{count} {one if n == 1 else several}"


def ids(cases: Iterable[Case]) -> tuple[str, ...]:
    """The first few."""
    return tuple(case.id for case in islice(cases, EXAMPLES))


def finding(kind: str, name: str, bad: Sequence[Case], of: int, what: str, severity: str = "") -> Finding:
    """Something about some of a functionality's cases: a warning where they are many, unless said otherwise."""
    share = len(bad) / of
    how: Any = severity or ("warning" if share >= MUCH else "note")
    return Finding(kind, how, (name,), what, FIXES[kind], ids(bad), len(bad), share)


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """By severity, then the largest share first."""
    return sorted(
        findings, key=lambda f: (SEVERITIES.index(f.severity), -(f.share or 0), -f.count, f.where, f.kind)
    )


# Duplicates


def check_duplicates(material: Material) -> list[Finding]:
    """Cases that are there again: inside a functionality, but for case and spacing, in two functionalities."""
    found = []
    for name, cases in material.by_name.items():
        seen: set[object] = set()
        read: set[object] = set()
        again, alike = [], []
        for case in cases:
            plain = content(case)
            if case.examples in seen:
                again.append(case)
            elif plain in read:
                alike.append(case)
            seen.add(case.examples)
            read.add(plain)
        if again:
            what = tell(len(again), len(cases), "repeats another", "repeat another")
            what += f", leaving {len(cases) - len(again):,}"
            found.append(finding("repeated cases", name, again, len(cases), what))
        if alike:
            what = tell(len(alike), len(cases), "differs", "differ")
            what += " from another in letter case or spacing only"
            found.append(finding("nearly repeated cases", name, alike, len(cases), what, "note"))
    return worst_first(found) + worst_first(_shared(material))


def _shared(material: Material) -> Iterator[Finding]:
    """Contents that stand in two functionalities."""
    homes: dict[object, dict[str, Case]] = defaultdict(dict)
    for case in material.cases:
        homes[case.examples].setdefault(case.groups["functionality"], case)
    pairs: dict[tuple[str, str], list[Case]] = defaultdict(list)
    for owners in homes.values():
        names = list(owners)
        for at, name in enumerate(names):
            for other in names[at + 1 :]:
                pairs[name, other].append(owners[name])
    for pair, cases in pairs.items():
        smaller = min(len({case.examples for case in material.by_name[name]}) for name in pair)
        kind = "cases in two functionalities"
        what = f"{len(cases):,} different cases stand in both, of {smaller:,} in the smaller"
        share = len(cases) / smaller
        yield Finding(kind, "note", pair, what, FIXES[kind], ids(cases), len(cases), share)


# The split


def check_split(material: Material) -> list[Finding]:
    """Test cases that are letter by letter in the training part of a split by id (`docs/method/beluga.md` 1.2)."""
    kind = "test cases seen in training"
    copies = ("is a copy of a training case", "are copies of a training case", "test cases")
    found = worst_first(
        finding(kind, name, seen, tested, tell(len(seen), tested, *copies))
        for name, (tested, seen) in material.test_cases.items()
        if seen
    )
    if not found:
        return []
    tested = sum(n for n, _ in material.test_cases.values())
    seen = [case for _, cases in material.test_cases.values() for case in cases]
    what, share = tell(len(seen), tested, *copies), len(seen) / tested
    entirely = sum(row.share == 1 for row in found)
    what += f"; in {entirely} functionalities all are" if entirely > 1 else ""
    return [Finding(kind, found[0].severity, (), what, FIXES[kind], ids(seen), len(seen), share), *found]


# Labels


def check_conflicts(material: Material) -> list[Finding]:
    """The same example, asked to be answered in two ways that no model can satisfy at once."""
    asked: dict[Example, dict[tuple[str, str], Case]] = defaultdict(dict)
    """By example: each label and functionality that ask for it, with the first case."""
    for case in material.cases:
        for example, label in zip(case.examples, wanted(case, material.labels), strict=True):
            if label is not None:
                asked[example].setdefault((label, case.groups["functionality"]), case)
    pairs: dict[tuple[str, ...], dict[Example, tuple[str, Case, str, Case]]] = defaultdict(dict)
    for example, askers in asked.items():
        for pair, conflict in _conflicts(askers):
            pairs[pair].setdefault(example, conflict)
    return worst_first(_conflict(pair, conflicts) for pair, conflicts in pairs.items())


def _conflicts(
    asked: Mapping[tuple[str, str], Case],
) -> Iterator[tuple[tuple[str, ...], tuple[str, Case, str, Case]]]:
    rows = sorted(asked.items(), key=lambda row: (row[0][1], row[0][0]))
    for at, ((label, name), case) in enumerate(rows):
        for (other, there), second in rows[at + 1 :]:
            if not compatible(label, other):
                yield tuple(dict.fromkeys([name, there])), (label, case, other, second)


def compatible(label: str, other: str) -> bool:
    """Whether one answer can be right for both.

    >>> [compatible(label, "not negative") for label in ("positive", "negative", "not positive")]
    [True, False, True]
    >>> compatible("not negative", "negative"), compatible("negative", "negative")
    (False, True)
    """
    unlike = [word.removeprefix("not ") for word in (label, other) if word.startswith("not ")]
    if not unlike:
        return label == other
    return len(unlike) == 2 or unlike[0] not in (label, other)


def _conflict(where: tuple[str, ...], conflicts: Mapping[Example, tuple[str, Case, str, Case]]) -> Finding:
    example, (label, case, other, second) = min(
        conflicts.items(), key=lambda row: (len(row[1][1].id), row[1][1].id, row[0])
    )
    several = f"{len(conflicts):,} examples are" if len(conflicts) > 1 else "1 example is"
    kind = "label conflict"
    what = f"{several} to be answered in two ways: {quoted(example)} is {label!r} and {other!r}"
    return Finding(
        kind, "error", where, what, FIXES[kind], tuple(dict.fromkeys([case.id, second.id])), len(conflicts)
    )


def quoted(example: Example, length: int = 60) -> str:
    """An example's texts for a message, the middle left out where they are long."""
    text = " ".join(" ¦ ".join(example).split())
    half = length // 2
    return f'"{text if len(text) <= length else f"{text[:half]} … {text[-half:]}"}"'


def check_labels(material: Material) -> list[Finding]:
    """Labels that nothing asks for, and one label that nearly everything asks for."""
    asked = material.label_counts
    if not asked:
        return []
    found = []
    mentioned = {label.removeprefix("not ") for label, n in asked.items() if n}
    for expect in {case.meta["expect"] for case, *_ in material.by_name.values()}:
        mentioned |= {named(word, material.labels) for word in spoken_labels(expect)}
    unused = [label for label in material.labels if label not in {*mentioned, OTHER_LABEL}]
    if unused:
        kind = "labels never asked for"
        what = f"no case asks for {', '.join(map(repr, unused))}, of {len(material.labels)} labels"
        found.append(Finding(kind, "warning", (), what, FIXES[kind], count=len(unused)))
    label, most = max(asked.items(), key=lambda row: (row[1], row[0]))
    total = sum(asked.values())
    if most / total >= LOPSIDED:
        kind = "one label dominates"
        what = f"{most:,} of {total:,} labelled examples ({100 * most / total:.1f} %) ask for {label!r}"
        found.append(Finding(kind, "note", (), what, FIXES[kind], count=most, share=most / total))
    return found


# Cases and functionalities that test nothing


def check_vacuous(material: Material) -> list[Finding]:
    """Perturbation cases without a variant, and variants in which nothing was changed."""
    found = []
    for name, cases in material.by_name.items():
        if not is_perturbation(cases[0]):
            continue
        alone = [case for case in cases if len(case.examples) == 1]
        if alone:
            severity = "error" if len(alone) == len(cases) else "warning"
            what = tell(len(alone), len(cases), "has", "have") + " one example only: every model passes"
            found.append(finding("nothing to compare with", name, alone, len(cases), what, severity))
        found += _unchanged(name, cases, material.labels)
    return worst_first(found)


def _unchanged(name: str, cases: list[Case], labels: tuple[str, ...]) -> Iterator[Finding]:
    """Variants that are their original again: they test nothing, or cannot be passed."""
    known: dict[object, bool] = {}
    harmless: list[Case] = []
    hopeless: list[Case] = []
    for case in cases:
        if case.examples[0] in case.examples[1:]:
            again = case.examples.index(case.examples[0], 1)
            # The same text gets the same answer: where the rule asks for another, no model can pass.
            alike = can_be_answered_alike(only(case, [0, again]), labels, known)
            (harmless if alike else hopeless).append(case)
    if hopeless:
        what = tell(len(hopeless), len(cases), "has", "have") + " a variant that is the original again"
        what += ", to be answered in another way"
        yield finding("cases that cannot be passed", name, hopeless, len(cases), what, "error")
    if harmless:
        copies = sum(case.examples.count(case.examples[0]) - 1 for case in harmless)
        variants = sum(len(case.examples) - 1 for case in harmless)
        what = tell(len(harmless), len(cases), "has", "have") + " a variant that is the original again"
        what += f" ({copies:,} of their {variants:,})"
        yield finding("nothing changed", name, harmless, len(cases), what)


def can_be_answered_alike(pair: Case, labels: tuple[str, ...], known: dict[object, bool]) -> bool:
    """Whether an original and a copy of it, with one answer for both, can pass; true where the rule cannot say."""
    key = shape(pair)
    if key not in known:
        try:
            verdicts = judge_all(pair, sayable(pair, labels, (LUKEWARM,)))
        except DataError:
            verdicts = {}
        alike = {verdict for said, verdict in verdicts.items() if said[0] == said[1]}
        known[key] = True in alike or False not in alike
    return known[key]


def check_constants(material: Material) -> list[Finding]:
    """Functionalities that a model passes by always giving the same answer (`docs/method/beyond.md` 7.9)."""
    by_nature, one_answer = [], []
    for name, cases in material.by_name.items():
        best = material.best_constant(name)
        if best is None or best.rate < NEARLY_ALL or is_vacuous(cases):
            continue
        if compares_with_original(cases[0].meta["expect"]):
            by_nature.append(name)
        else:
            one_answer.append(_one_answer(material, name, best))
    return worst_first(one_answer) + ([_by_nature(material, by_nature)] if by_nature else [])


def compares_with_original(expect: Expect) -> bool:
    """Whether a rule looks only at how a prediction moved, never at which it is."""
    if expect.parts:
        return all(map(compares_with_original, expect.parts))
    return expect.rule.startswith(MOVES)


MOVES = (
    "same_pred",
    "conf_of_",
    "positive_shift",
    "direction ",
    "exact_string_equal_to_original",
    "answer_equals_original",
)


def _one_answer(material: Material, name: str, best: Constant) -> Finding:
    capability = material.by_name[name][0].groups["capability"]
    siblings = [
        other
        for other, cases in material.by_name.items()
        if cases[0].groups["capability"] == capability and other != name
    ]
    paired = any(
        constant.said == best.said and constant.n and constant.rate <= 1 - NEARLY_ALL
        for other in siblings
        for constant in material.constants.get(other, ())
    )
    said = repr(best.said) if best.said else "nothing"
    kind, what = "one answer passes", f"a model that always says {said} passes "
    what += tell(best.passes, best.n, "", "").strip()
    if not paired:
        return Finding(kind, "warning", (name,), what, FIXES[kind], (), best.passes, best.rate)
    what += f"; capability {capability!r} has tests that this fails"
    fix = "read it beside the tests of its capability that ask for another label"
    return Finding(kind, "note", (name,), what, fix, (), best.passes, best.rate)


def _by_nature(material: Material, names: list[str]) -> Finding:
    types = Counter(material.by_name[name][0].groups["test type"] for name in names)
    kinds = " and ".join(f"{n} {kind}" for kind, n in sorted(types.items(), reverse=True))
    total = len(material.by_name)
    what = f"{kinds} functionalities of {total} ask only that predictions do not move: "
    what += "a model that never changes its mind passes them all"
    kind = "any constant passes"
    return Finding(kind, "note", tuple(names), what, FIXES[kind], (), len(names), len(names) / total)


# Rules

Verdict = bool | None
Verdicts = dict[tuple[int, ...], Verdict]
"""By what is answered to each example, as positions in a list of answers."""

SHAPES = 12
"""Cases of a functionality that are tried, each of another shape."""
SMALL = 3
"""Examples of a case that are tried: every combination of predictions must be looked at."""
OTHER_ANSWER = "something else"


def check_rules(material: Material) -> list[Finding]:
    """Each rule on every combination of predictions for a small case: can it pass, fail and apply at all?"""
    found = []
    tried: dict[object, tuple[set[Verdict], Settled | None]] = {}
    for name, shapes in material.shapes.items():
        if name in material.problems:
            cases, problem = material.by_name[name], material.problems[name]
            what = f"no answer to its {len(cases):,} cases can be judged: {problem}"
            found.append(finding("rule cannot judge", name, cases, len(cases), what, "error"))
        elif not is_vacuous(material.by_name[name]):
            results = [_try_rule(first(case, SMALL), material.labels, tried) for case, _ in shapes[:SHAPES]]
            rule = material.by_name[name][0].meta["expect"].rule
            found += _one_sided(name, rule, set().union(*(verdicts for verdicts, _ in results)))
            found += [_unreachable(name, rule, settled) for _, settled in results if settled][:1]
    return worst_first(found)


@dataclass(frozen=True, slots=True)
class Settled:
    """Predictions that decide a case before its last example is looked at, though only that could."""

    passes: tuple[str, ...]
    fails: tuple[str, ...]
    never_apply: tuple[str, ...]


def _try_rule(
    case: Case, labels: tuple[str, ...], tried: dict[object, tuple[set[Verdict], Settled | None]]
) -> tuple[set[Verdict], Settled | None]:
    key = shape(case)
    if key not in tried:
        verdicts = set(judge_all(case, sayable(case, labels, (1.0, 0.75, 1 / len(labels) + 0.05))).values())
        tried[key] = verdicts, settled_early(case, sayable(case, labels, (1.0,)))
    return tried[key]


def only(case: Case, positions: Sequence[int]) -> Case:
    """The case with these of its examples."""
    details = case.meta.get("details")
    if isinstance(details, list) and len(details) == len(case.examples):
        details = [details[at] for at in positions]
    return replace(
        case,
        examples=tuple(case.examples[at] for at in positions),
        labels=case.labels and tuple(case.labels[at] for at in positions),
        meta={**case.meta, "details": details},
    )


def first(case: Case, n: int) -> Case:
    """The case with its first examples only."""
    return only(case, range(min(n, len(case.examples))))


def sayable(case: Case, labels: tuple[str, ...], confidences: Sequence[float]) -> list[Said]:
    """Answers that a rule could tell apart: labels it may look at, or texts that are right, wrong or empty."""
    if case.meta.get("reading"):
        swaps = [swap for swap in case.meta.get("details") or () if isinstance(swap, list | tuple)]
        words = [*(case.labels or ()), *(word for swap in swaps for word in swap), "", OTHER_ANSWER]
        return [Said.text(text) for text in dict.fromkeys(map(str, words))]
    spoken = {label for label in wanted(case, labels) if label} | set(spoken_labels(case.meta["expect"]))
    near = {at for at, label in enumerate(labels) if at < SMALL or {label, str(at), f"not {label}"} & spoken}
    return [Said.label(at, labels, min(sure, 1.0)) for sure in confidences for at in sorted(near)]


def judge_all(case: Case, palette: Sequence[Said]) -> Verdicts:
    """How the case goes under every combination of answers."""
    combinations = list(product(range(len(palette)), repeat=len(case.examples)))
    answers = answers_of(palette, [at for combination in combinations for at in combination])
    outcomes = judge(AS_WRITTEN, [case] * len(combinations), answers)
    return {said: outcome.passed for said, outcome in zip(combinations, outcomes, strict=True)}


def settled_early(case: Case, palette: Sequence[Said]) -> Settled | None:
    """Predictions for all but the last example that pass, or fail, whatever the last is.

    That is in order where the case without its last example goes the same way: an earlier variant has changed. It
    is a slip in a rule that is about the last example, and lets it decide under other predictions.
    """
    if len(case.examples) < 2:
        return None
    ends: dict[tuple[int, ...], set[Verdict]] = defaultdict(set)
    for said, verdict in judge_all(case, palette).items():
        ends[said[:-1]].add(verdict)
    if not any({True, False} <= verdicts for verdicts in ends.values()):
        return None
    try:
        before = judge_all(first(case, len(case.examples) - 1), palette)
    except DataError:
        before = {}  # the rule needs every example

    def those(verdict: Verdict) -> tuple[str, ...]:
        known = [said for said, verdicts in ends.items() if verdicts == {verdict}]
        early = [said for said in known if verdict is None or before.get(said) != verdict]
        return tuple(f"({', '.join(palette[at].word for at in said)}, any)" for said in early)

    settled = Settled(those(True), those(False), those(None))
    return settled if settled.passes or settled.fails else None


def _unreachable(name: str, rule: str, settled: Settled) -> Finding:
    always = [
        *(f"always passes with {pattern}" for pattern in settled.passes),
        *(f"always fails with {pattern}" for pattern in settled.fails),
    ]
    never = [f"never applies with {some(settled.never_apply, PATTERNS)}"] if settled.never_apply else []
    kind, better = "unreachable branch", BETTER_RULES.get(rule)
    fix = f'expect rule "{better}", as profile recommended does (edits=repaired)' if better else FIXES[kind]
    what = f"rule {rule!r} is about the last prediction, but some others decide without it: "
    what += "; ".join([*always[:PATTERNS], *never])
    return Finding(kind, "error", (name,), what, fix, count=len(settled.passes) + len(settled.fails))


PATTERNS = 4
"""Combinations of predictions that a finding spells out."""
BETTER_RULES = {"implication_triplet": "implication"}


def _one_sided(name: str, rule: str, verdicts: set[Verdict]) -> list[Finding]:
    """A rule that cannot go more than one way."""
    if {True, False} <= verdicts:
        return []
    how = "fails" if True in verdicts else "passes" if False in verdicts else "applies"
    kind, what = f"rule never {how}", f"whatever is predicted for a case of up to {SMALL} examples"
    return [Finding(kind, "error", (name,), f"rule {rule!r} never {how}, {what}", FIXES[kind])]


# Sizes and texts


def check_size(material: Material) -> list[Finding]:
    """Functionalities with so few different cases that their pass rate says little."""
    found = []
    for name, cases in material.by_name.items():
        n = len({case.examples for case in cases})
        if n >= FEW_CASES:
            continue
        low, high = (100 * end for end in wilson(n / 2, n))
        different = "different " if n < len(cases) else ""
        plural = "s" if n > 1 else ""
        parts = Counter(half_half(n))
        split = ", ".join(f"{parts[part]} {part}" for part in SPLITS)
        small = f"; a split gives {split}" if n < SPLITTABLE else ""
        kind, severity = "too few cases", SEVERITIES[1 if n < SPLITTABLE else 2]
        what = f"{n} {different}case{plural}: a pass rate of 50 % would mean {low:.0f} to {high:.0f} % (95 % Wilson)"
        found.append(Finding(kind, severity, (name,), what + small, FIXES[kind], count=n))
    return sorted(found, key=lambda row: (row.count, row.where))


CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd\ud800-\udfff]")


TEXT_DEFECTS: dict[str, tuple[Severity, str, Callable[[str], object]]] = {
    "empty texts": ("warning", "a text with nothing in it", lambda text: not text.strip()),
    "control characters": (
        "warning",
        "a control character or one that was damaged on the way",
        lambda text: CONTROL.search(text),
    ),
    "white space at the edges": (
        "note",
        "a text that begins or ends in white space",
        lambda text: text != text.strip() != "",
    ),
    "very long texts": (
        "note",
        f"a text of more than {LONG:,} characters",
        lambda text: len(text) > LONG,
    ),
}
"""By kind: how bad it is, in words, and which texts have it."""


def check_texts(material: Material) -> list[Finding]:
    """Texts that are empty, damaged, padded or too long."""
    found = []
    for kind, (severity, words, has) in TEXT_DEFECTS.items():
        own = []
        for name, cases in material.by_name.items():
            bad = [case for case in cases if any(has(text) for texts in case.examples for text in texts)]
            if bad:
                what = tell(len(bad), len(cases), "holds", "hold") + f" {words}"
                own.append(finding(kind, name, bad, len(cases), what, severity))
        found += worst_first(own)
    return found


CHECKS: dict[str, Callable[[Material], list[Finding]]] = {
    "rules": check_rules,
    "vacuous": check_vacuous,
    "conflicts": check_conflicts,
    "split": check_split,
    "duplicates": check_duplicates,
    "labels": check_labels,
    "constants": check_constants,
    "size": check_size,
    "texts": check_texts,
}
"""Every check by name, the most important first."""
