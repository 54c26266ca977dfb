"""The suite, laid out for the checks."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from ....errors import DataError
from ....records import Case
from ..build import split_cases
from ..rules import is_number, label_index
from ..score import judge
from ..suite import Suite
from .asked import OTHER_LABEL, label_names, shape, spoken_labels, wanted
from .findings import Counts
from .made_up import AS_WRITTEN, LUKEWARM, Said, answers_of


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
            if is_number(word) and int(word) >= len(self.labels):
                raise DataError(f"label {word} is beyond the {len(self.labels)} labels of the suite")
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
            for case, n in shapes:
                if not case.meta.get("reading"):
                    for label in filter(None, wanted(case, self.labels)):
                        asked[label] += n
        own = [label for label in self.labels if label != OTHER_LABEL]
        return {label: asked[label] for label in (*own, *sorted(set(asked) - set(own)))} if asked else {}
