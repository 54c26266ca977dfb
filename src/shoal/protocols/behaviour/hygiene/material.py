"""The suite, laid out for the checks."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from ....core.errors import DataError
from ....core.records import Case
from ..build import split_cases
from ..rules import is_number, label_index
from ..score import judge
from ..suite import Suite
from .asked import OTHER_LABEL, label_names, shape, spoken_labels, wanted
from .findings import Counts
from .made_up import AS_WRITTEN, LUKEWARM, Reply, Verdict, answers_of, told_apart

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
