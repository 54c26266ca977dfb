"""A behavioural suite: functionalities, each a set of cases under one expectation.

Written in Python with the decorators below, or read from a file by `suite_files`. Every case carries its groups
(functionality, capability, test type) and its expectation, and is checked when it is added.
"""

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from shlex import quote
from typing import Any

from ...core.case_table import CaseTable, Examples, Heading, by_group
from ...core.errors import DataError, errors_at, nearest, some
from ...core.records import Case, Example, Label, TestType
from ...data.cells import is_missing
from ...data.templates import templates
from .expect import DIRECTIONS, Expect, Given
from .rules import check_expect, check_label, is_number, judges_text, needs_labels, rule_on_original

DEFAULTS = {
    "MFT": Expect("pred_equals_label", aggregate="all"),
    "INV": Expect("same_pred_or_conf_change_within_tol", tolerance=0.1, aggregate="all_except_first"),
}
"""The default expectation of a test type; DIR has none."""

MOST_LABELS = 10_000
"""More distinct values are not labels."""
NO_LABEL = "no label"
GIVE_LABEL = "give the label"
YIELD = 'yield case("a text", label="positive"); case("an original", "its variant")'


def case(*examples: str | Example, label: Label | Sequence[Label] | None = None, **about: Any) -> Case:
    """Return a case of a functionality: its examples in order, the original first; a pair of texts is a tuple.

    The suite adds id and groups. `cluster` names the unit that was drawn independently, such as a template.

    >>> case("The film was not great.", label="negative").labels
    ('negative',)
    """
    texts = tuple([_texts(example) for example in examples])
    cluster = str(about.pop("cluster", ""))
    return Case("", texts, labels_of(label, len(texts)), cluster=cluster, meta=about)


def _texts(example: Any) -> Example:
    """Return the texts of an example written in Python."""
    texts = (example,) if isinstance(example, str) else example
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise DataError(
            f"an example is a text or a pair of texts, found {example!r}",
            fix='case("a text"), or case(("a premise", "a hypothesis"))',
        )
    try:
        "".join(texts).encode()
    except UnicodeEncodeError as problem:
        half = ascii(problem.object[problem.start])[1:-1]
        raise DataError(
            f"{half} in an example is half of a character", fix="write the whole character"
        ) from None
    return tuple(texts)


def labels_of(labels: Any, examples: int) -> tuple[Label, ...] | None:
    """Return one label per example."""
    if labels is None:
        return None
    return tuple(labels) if isinstance(labels, list | tuple) else (labels,) * examples


class Suite:
    """Behavioural tests for one task."""

    def __init__(
        self, name: str, labels: Sequence[str] | None = None, *, task: str = "", version: str = ""
    ) -> None:
        self.name = name
        self.labels = None if labels is None else label_names(labels, "labels")
        self.in_order = True
        """Whether the order of the labels was given, so that a model may number them."""
        self.task = task
        self.version = version
        self._examples = Examples()
        self.cases = CaseTable(examples=self._examples)
        self.descriptions: dict[str, str] = {}
        self.headings: dict[str, Heading] = {}
        self._known_labels: set[Label] = set()
        self._shared: dict[tuple[Label, ...] | None, tuple[Label, ...] | None] = {}
        """Equal labels are one object, for memory."""
        self._checked: set[tuple[Heading, tuple[Label, ...] | None, int]] = set()
        """Headings, labels and numbers of examples that occur together in valid cases."""

    def __repr__(self) -> str:
        return (
            f"Suite({self.name!r}, {len(self.cases):,} cases in {len(self.functionalities)} functionalities)"
        )

    def save(self, path: Path | str) -> None:
        """Write the suite to a file for `read_suite`."""
        from .suite_files import write_suite

        write_suite(self, path)

    @property
    def functionalities(self) -> list[str]:
        """Return their names, in order."""
        return list(self.headings)

    # Writing a suite in Python

    def minimum(self, *, capability: str, expect: Given = "pred_equals_label") -> "Definition":
        """Decorate a function that yields labelled cases: each prediction must equal its label (MFT).

        For free answers, `expect` has rules with arguments: `{"contains": "Paris", "max_words": 20}`.
        """
        return self._definition(capability, "MFT", Expect.of(expect, DEFAULTS["MFT"]))

    def invariance(self, *, capability: str, expect: Given = "", tolerance: float = 0.1) -> "Definition":
        """Decorate a function that yields originals with variants: the prediction must not change (INV).

        For free answers, `expect` is "same_text" or `{"token_f1": 0.8}`.
        """
        default = replace(DEFAULTS["INV"], tolerance=tolerance)
        return self._definition(capability, "INV", Expect.of(expect or default.rule, default))

    def directional(
        self, *, capability: str, expect: Given, tolerance: float = 0.1, na_if: str = ""
    ) -> "Definition":
        """Decorate a function that yields originals with variants: confidence may only move one way (DIR).

        `expect` is one of "not more confident", "not less confident", "not more positive", "not more negative", or a
        rule. `na_if` is the filter of cases that do not apply, such as "original pred is neutral".
        """
        base = Expect("", tolerance, "all_except_first", na_if)
        return self._definition(capability, "DIR", Expect.of(expect, base))

    def _definition(self, capability: str, test_type: TestType, expect: Expect) -> "Definition":
        def define(function: Callable[[], Iterable[Case]]) -> Callable[[], Iterable[Case]]:
            name = function.__name__
            if name in self.headings:
                raise DataError(
                    f"{self.name}: functionality {name!r} is defined twice",
                    fix="give each functionality a name of its own",
                )
            self.descriptions[name] = " ".join((function.__doc__ or "").split())
            with errors_at(name):
                self.add_functionality(name, capability, test_type, expect)
                cases = list(function() or ())
                if not cases:
                    raise DataError("no cases", fix=YIELD)
            for number, made in enumerate(cases, start=1):
                with errors_at(f"{name}, case {number}"):
                    if not isinstance(made, Case):
                        raise DataError(f"a {type(made).__name__}, not a case: {made!r:.80}", fix=YIELD)
                    self.add_case(name, str(number), made)
            return function

        return define

    # Adding cases, from Python or from a file

    def add_functionality(
        self, name: str, capability: str, test_type: TestType, expect: Expect, direction: str | None = None
    ) -> None:
        """Open a functionality; its cases share these groups and this expectation."""
        check_expect(expect, self.labels)
        self._check_kind(expect)
        if test_type == "MFT" and (rule := rule_on_original(expect)):
            raise DataError(
                f"rule {rule!r} in an MFT",
                why="it compares an answer with the answer to the original, so that every case would pass",
                fix="type: INV with variants, or one_of with the right answers",
            )
        direction = direction or next((d for r, d in DIRECTIONS.values() if r == expect.rule), None)
        meta: dict[str, Any] = {"expect": expect}
        meta |= {"labels": self.labels} if self.labels else {}
        meta |= {"direction": direction} if direction else {}
        meta |= {"reading": True} if judges_text(expect) else {}
        groups = {"functionality": name, "capability": capability, "test type": test_type}
        self.headings[name] = Heading(groups, meta)

    def _check_kind(self, expect: Expect) -> None:
        """Raise if one functionality is about labels and another about texts: a model gives one or the other."""
        kinds = {judges_text(expect), *("reading" in heading.meta for heading in self.headings.values())}
        kinds |= {False} if self.labels else set()
        if len(kinds) > 1:
            raise DataError(
                f"rule {expect.rule!r} in a suite whose other tests expect "
                f"{'labels' if judges_text(expect) else 'texts'}",
                why="a model gives labels or texts, not both",
                fix="two suites; one of texts has no labels, and its INV tests expect same_text or token_f1",
            )

    def add_case(self, functionality: str, case_id: str, made: Case) -> None:
        """Add a case to its functionality, checked against the suite's labels and the rule's needs."""
        identity = f"{functionality}/{case_id}"
        if identity in self._ids:
            raise DataError(
                f"case {case_id!r} of {functionality!r} occurs twice", fix="give each case its own id"
            )
        heading = self.headings[functionality]
        width = self._check_texts(made)
        self._check_labels(made.labels, len(made.examples), heading.meta["expect"])
        self._ids.add(identity)
        self._known_labels.update(made.labels or ())
        if made.meta:
            heading = Heading(heading.groups, {**heading.meta, **made.meta})
        self._examples.extend(chain.from_iterable(made.examples), [len(made.examples)], width)
        self.cases.ids.append(identity)
        self.cases.labels.append(self._shared.setdefault(made.labels, made.labels))
        self.cases.headings.append(heading)
        self.cases.clusters.append(sys.intern(made.cluster))

    def add_table(self, new: CaseTable, examples: Examples) -> bool:
        """Add cases that have examples; return False, and add none, if one of them is not valid."""
        if self.cases and examples.width != self._examples.width:
            return False
        sizes = examples.sizes.tolist()
        try:
            kinds = set(zip(new.headings, new.labels, sizes, strict=True))
            for heading, labels, size in kinds - self._checked:
                self._check_labels(labels, size, heading.meta["expect"])
        except DataError:
            return False
        ids = set(new.ids)
        if len(ids) < len(new) or not ids.isdisjoint(self._ids):
            return False
        self._ids |= ids
        self._checked |= kinds
        self._known_labels.update(*filter(None, set(new.labels)))
        self._examples.extend(examples.texts, sizes, examples.width)
        self.cases.ids.extend(new.ids)
        self.cases.labels.extend(map(self._shared.setdefault, new.labels, new.labels))
        self.cases.headings.extend(new.headings)
        self.cases.clusters.extend(map(sys.intern, new.clusters))
        return True

    @cached_property
    def _ids(self) -> set[str]:
        return set(self.cases.ids)

    def close(self) -> None:
        """Free what only adding cases needs."""
        self.__dict__.pop("_ids", None)

    def infer_labels(self) -> None:
        """Name the labels after the cases if they have names."""
        labels = self._known_labels
        if not labels or any(case.meta.get("reading") for case in self.cases):
            return
        if len(labels) > MOST_LABELS:
            raise DataError(
                f"{len(labels):,} different labels: {some(sorted(map(str, labels)), 3)}",
                fix="check that the column of labels is the one you meant",
            )
        names = tuple(sorted({str(label).removeprefix("not_") for label in labels}))
        if problem := self.spelling_problem():
            raise problem
        if not all(isinstance(label, str) and not label.isdecimal() for label in labels):
            return
        if len(names) < 2:
            raise DataError(
                f"one label only: {names[0]!r}",
                why="a suite names every label that a model may give",
                fix='a first line {"label_names": ["negative", "positive"]}, the column labels, or --labels',
            )
        self.labels, self.in_order = names, False
        # Every heading of a case: those of cases with a meta of their own are copies.
        for heading in {id(heading): heading for heading in self.cases.headings}.values():
            heading.meta["labels"], heading.meta["labels in order"] = names, False  # type: ignore[index]

    def spelling_problem(self) -> DataError | None:
        """Return an error if labels differ only in case or spaces: they are probably one label."""
        names = sorted({str(label).removeprefix("not_") for label in self._known_labels})
        spellings: dict[str, list[str]] = {}
        for name in names:
            spellings.setdefault("".join(name.casefold().split()), []).append(name)
        if len(spellings) == len(names):
            return None
        every = (label for labels in self.cases.labels for label in labels or ())
        counts = Counter(str(label).removeprefix("not_") for label in every)
        groups, merged = list[str](), dict[str, str]()
        for alike in spellings.values():
            best = max(alike, key=lambda name: (counts[name], name.islower()))
            merged |= dict.fromkeys(alike, best)
            groups += [", ".join(f"{name!r} ({counts[name]:,})" for name in alike)] if len(alike) > 1 else []
        options = " ".join(f"--labels {quote(f'{name}={merged[name]}')}" for name in names)
        return DataError(
            f"labels that differ only in case or spaces: {'; '.join(groups)}",
            why="each spelling would be a label of its own",
            fix=f"write one spelling, or import with {options}, in the order of the model's outputs",
        )

    def infer_clusters(self) -> None:
        """Infer the template of each case without a cluster from its original text."""
        cases = self.cases
        for places in by_group(cases, "functionality").values():
            members = [place for place in places.tolist() if not cases.clusters[place]]
            numbers = templates([" | ".join(cases.examples[place][0]) for place in members])
            for place, number in zip(members, numbers, strict=True):
                cases.clusters[place] = f"like {cases.ids[members[number]]}"  # the first of its template

    def _check_texts(self, made: Case) -> int:
        """Return the number of texts of each example, the same in every case."""
        if not made.examples:
            raise DataError("no examples", fix='case("a text", label="positive")')
        width = self._examples.width if self.cases else len(made.examples[0])
        for example in made.examples:
            if len(example) not in (1, 2):
                raise DataError(
                    f"an example of {len(example)} texts",
                    why="an example is one text, or a pair of texts",
                    fix="join them, or make several examples of them",
                )
            if len(example) != width:
                raise DataError(
                    f"an example of {len(example)} texts, where those before it have {width}",
                    fix="two suites: a model gets single texts or pairs, not both",
                )
        return width

    def _check_labels(self, labels: tuple[Label, ...] | None, examples: int, expect: Expect) -> None:
        if labels is None and needs_labels(expect):
            raise DataError(NO_LABEL, why=f"rule {expect.rule!r} needs one", fix=GIVE_LABEL)
        if labels is None:
            return
        if len(labels) != examples:
            raise DataError(
                f"{len(labels)} labels for {examples} examples",
                fix="one label for all examples, or one for each",
            )
        for label in labels:
            if isinstance(label, float) and math.isnan(label):
                raise DataError(NO_LABEL, fix=GIVE_LABEL)
            if isinstance(label, bool) or not isinstance(label, int | str):
                raise DataError(
                    f"a label is a text or a whole number, found {label!r}",
                    fix="a text or a whole number; for a table, name its values with --labels",
                )
            # In reading comprehension a label is any answer.
            if judges_text(expect):
                check_label(expect, label)
            elif label not in self._known_labels:
                self._check_label(label)

    def _check_label(self, label: Label) -> None:
        word, names = str(label).removeprefix("not_"), self.labels
        if is_missing(word) and word not in (names or ()):
            raise DataError(NO_LABEL, fix=GIVE_LABEL)
        if word != word.strip():
            raise DataError(f"label {label!r} has white space around it", fix=f"{word.strip()!r}")
        if isinstance(label, int) and label < 0:
            raise DataError(f"label {label!r} is below 0", fix="number the labels from 0, or name them")
        if names and word not in names and not (is_number(word) and int(word) < len(names)):
            raise DataError(
                f"label {label!r:.80} is not one of {some(names, 12)}",
                fix=nearest(word, names[:100]) or "give case(..., label=...) one of those labels",
            )


Definition = Callable[[Callable[[], Iterable[Case]]], Callable[[], Iterable[Case]]]


def label_names(names: Any, what: str) -> tuple[str, ...]:
    """Return names of labels, checked: two or more, all different."""
    words = [name for name in names if isinstance(name, str)] if isinstance(names, list | tuple) else []
    words = list(dict.fromkeys(word for word in words if word and word == word.strip()))
    if not 2 <= len(words) <= MOST_LABELS or len(words) < len(names):
        raise DataError(
            f"{what} must be a list of two or more names, found {names!r:.80}",
            why=f"names are different texts without white space around them, at most {MOST_LABELS:,}",
            fix=f'{what} = ["negative", "positive"]',
        )
    return tuple(words)
