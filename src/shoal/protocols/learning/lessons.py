"""Training examples of a suite: each functionality is an environment, each case an item with its target.

`docs/method/beluga.md` 1.2 and 1.4:

    MFT                     every example with its label; neutral and "anything but" are soft
    INV                     an original and its variants
    DIR with a direction    an original and its variants, and which way confidence may go
    DIR with a label        variants with the label they should have (duplicate questions)

In reading comprehension a label is an answer, and the target is its place in the context.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ...core.errors import DataError, PlanError, some
from ...core.files import stamp
from ...core.records import Case, Label
from ...data.grammar import Row
from ...models import load_model
from ...models.batching import is_reading
from ...models.labels import in_suite_order, suite_names
from ...training.environments import (
    Alike,
    Answered,
    Directed,
    Environment,
    Invariant,
    Item,
    Labelled,
    Several,
)
from ..behaviour import settings as behaviour
from ..behaviour.build import (
    REPAIRS,
    load_suite,
    mend_cases,
    split_file,
    split_identity,
    suite_cases,
    suite_digest,
)
from ..behaviour.rules import label_index
from ..behaviour.settings import SPLITS
from .iid import IID, IidData, load_iid, training_identity
from .settings import Settings

NOT_NEGATIVE = (1 / 3, 2 / 3)
"""The target of "anything but negative" where the model has no neutral."""
SYNONYMS = "(question, f(question)) where f(question) replaces synonyms?"
"""Judged as INV by the reference, trained as MFT (edit 5)."""

Target = tuple[float, ...]


def training_split(settings: Settings, part: str = "train") -> str:
    """Return the split that models are trained on or selected by: of the same file, where the split is from one."""
    split = settings.tested_split
    return part if split in SPLITS else f"{split_file(split)[0]}:{part}"


def training_cases(settings: Settings, part: str = "train") -> list[Case]:
    """Return the suite's cases to train on, or those of the validation split to select by; read once for all jobs."""
    return list(_cases(*_key(settings, part)))


def held_out(settings: Settings) -> frozenset[str]:
    """Return the functionalities that a job holds out, by the groups that they are scored in and trained as."""
    (scenario,) = settings.hold_out
    groups = _groups(*_key(settings, "train"))
    return frozenset(name for name, each in groups if each.get(scenario) == settings.fold)


@lru_cache(maxsize=4)
def _groups(settings: behaviour.Settings, stamps: object) -> list[tuple[str, dict[str, str]]]:
    """Return each functionality with its groups, once as it is scored and once as it is trained."""
    cases = _cases(settings, stamps)
    first = {(case.groups["functionality"], case.groups["test type"]): case for case in cases}
    trained = trained_as(first.values())
    return [(case.groups["functionality"], dict(case.groups)) for case in (*first.values(), *trained)]


def trained_as(cases: Iterable[Case]) -> list[Case]:
    """Return the cases as they are trained, which is not always how they are scored (edit 5)."""
    return list(mend_cases(list(cases), {SYNONYMS: REPAIRS[SYNONYMS]}))


def lessons_identity(settings: Settings, part: str = "train") -> dict[str, Any]:
    """Return what decides the examples of a split: suite and split by content, repairs by name."""
    names = ("edits", "duplicates", "split_by")
    return {
        "suite": suite_digest(settings.suite, stamp(settings.suite)),
        "split": split_identity(settings, training_split(settings, part)),
        **{name: settings.resolved(name) for name in names},
        "answers": "first match" if settings.profile == "reference" else "words",
    }


def suite_environments(
    settings: Settings, labels: tuple[str, ...], part: str = "train"
) -> tuple[Environment, ...]:
    """Return an environment of each functionality; the same objects for all folds and methods of a plan."""
    return _environments(labels, *_key(settings, part))


def _key(settings: Settings, part: str) -> tuple[behaviour.Settings, object]:
    split = training_split(settings, part)
    chosen = behaviour.Settings(
        suite=settings.suite,
        split=split,
        edits=settings.resolved("edits"),
        duplicates=settings.resolved("duplicates"),
        split_by=settings.resolved("split_by"),
        profile="reference" if settings.profile == "reference" else "recommended",
    )
    return chosen, (stamp(settings.suite), stamp(split.rpartition(":")[0]))


@lru_cache(maxsize=4)
def _cases(settings: behaviour.Settings, _stamps: object) -> tuple[Case, ...]:
    return tuple(suite_cases(settings, settings.split))


@lru_cache(maxsize=4)
def _environments(
    labels: tuple[str, ...], settings: behaviour.Settings, stamps: object
) -> tuple[Environment, ...]:
    cases = _cases(settings, stamps)
    reading, as_coded = is_reading(cases), settings.profile == "reference"
    suite_labels = load_suite(settings.suite).labels or labels
    lessons: dict[str, list[Item]] = {}
    kinds: dict[str, Any] = {}
    for case in trained_as(cases):
        name = case.groups["functionality"]
        items = questions_of(case, as_coded) if reading else items_of(case, suite_labels, labels)
        lessons.setdefault(name, []).extend(items)
        kinds[name] = case.groups["test type"]
    return tuple(Environment(name, kinds[name], tuple(items)) for name, items in lessons.items() if items)


@lru_cache(maxsize=2)
def iid_environment(data: IidData, labels: tuple[str, ...]) -> Environment:
    """Return the i.i.d. training rows as an environment, for a model with these labels."""
    if data.is_reading:
        return Environment(IID, "iid", tuple(Answered(row.texts, _places(row)) for row in data.train))
    targets = {label: target_of(label, labels, labels) for label in data.labels}
    return Environment(IID, "iid", tuple(Labelled(row.texts, targets[row.label]) for row in data.train))


def head_labels(settings: Settings, model: str) -> tuple[str, ...]:
    """Return the labels of the head; none for answers in a context."""
    data = load_iid(settings)
    if data.is_reading or settings.train.from_ == "base":
        return data.labels
    labels = _labels_of(model, tuple(load_suite(settings.suite).labels or data.labels))
    unknown = [label for label in data.labels if label not in labels]
    if unknown:
        raise PlanError(
            f"{model} has no label for {some(unknown)} of the i.i.d. data",
            why=f"its labels are {some(labels)}",
            fix="i.i.d. data with the model's labels",
        )
    return labels


@lru_cache(maxsize=4)
def _labels_of(model: str, suite: tuple[str, ...]) -> tuple[str, ...]:
    """Return a model's labels by the suite's names, in the suite's order."""
    return tuple(in_suite_order(suite_names(load_model(model).own_labels, suite, model), suite))


@dataclass(frozen=True, slots=True)
class Lessons:
    """The examples of a stage, made when they are needed."""

    settings: Settings
    model: str
    with_suite: bool
    with_iid: bool
    without: frozenset[str] = frozenset()
    """Functionalities that are held out."""

    def environments(self) -> list[Environment]:
        """Return an environment of each functionality that is trained on, i.i.d. data last."""
        labels = head_labels(self.settings, self.model)
        suite = suite_environments(self.settings, labels) if self.with_suite else ()
        kept = [one for one in suite if one.name not in self.without]
        return [*kept, *([iid_environment(load_iid(self.settings), labels)] if self.with_iid else [])]

    def identity(self) -> dict[str, Any]:
        """Return what decides the examples, but for what is held out."""
        suite = {"suite": lessons_identity(self.settings)} if self.with_suite else {}
        return suite | ({"iid": training_identity(self.settings)} if self.with_iid else {})


def items_of(case: Case, suite: Sequence[str], labels: Sequence[str]) -> list[Item]:
    """Return the training items of one case for a model with these labels; none without a variant to compare with."""
    original, *variants = case.examples
    rule, direction = case.meta["expect"].rule, case.meta.get("direction")
    if case.groups["test type"] == "MFT":
        targets = [target_of(label, suite, labels) for label in _taught(case, rule)]
        return [Labelled(*pair) for pair in zip(case.examples, targets, strict=True)]
    if case.groups["test type"] == "INV":
        return [Invariant(original, tuple(variants))] if variants else []
    if direction and direction != "label":
        return [Directed(original, tuple(variants), direction)] if variants else []
    taught = [target_of(label, suite, labels) for label in _taught(case, rule)]
    if case.labels is not None or case.meta["expect"].aggregate == "all":
        return [Several(case.examples, tuple(taught), keep_first=True)]
    return [Several(tuple(variants), tuple(taught[1:]), keep_first=False)] if variants else []


def questions_of(case: Case, first_match: bool = False) -> list[Item]:
    """Return the training items of one case of reading comprehension; none if it has no variant to compare with.

    `first_match` follows the reference code: the first match, even inside another word.
    """
    original, *variants = case.examples
    if case.groups["test type"] == "INV":
        return [Alike(original, tuple(variants))] if variants else []
    if case.labels is None or case.groups["test type"] != "MFT":
        raise DataError(
            f"functionality {case.groups['functionality']!r} cannot be trained on",
            why="a question needs its answer",
            fix="MFT cases with answers, INV cases with variants",
        )
    items: list[Item] = []
    for example, label in zip(case.examples, case.labels, strict=True):
        answer = str(label)
        places = occurrences(example[0], answer, case.id)
        start = example[0].find(answer)
        items.append(Answered(example, ((start, start + len(answer)),) if first_match else places))
    return items


def _places(row: Row) -> tuple[tuple[int, int], ...]:
    """Return the place that the data give, or else every match."""
    if row.start is None:
        return occurrences(row.texts[0], row.label, "i.i.d. data")
    return ((row.start, row.start + len(row.label)),)


def occurrences(context: str, answer: str, where: str = "") -> tuple[tuple[int, int], ...]:
    """Return every place of an answer in a context as whole words; as parts of words if there are none.

    >>> occurrences("Daniel met Danielle, not Daniel.", "Daniel")
    ((0, 6), (25, 31))
    """
    found = [match.start() for match in re.finditer(f"(?={re.escape(answer)})", context)] if answer else []
    if not found:
        raise DataError(
            f"{where}: the answer {answer[:60]!r} is not in its context",
            why=f"{context[:120]!r}",
            fix="an answer that is an exact piece of the context",
        )
    edges = [(start, start + len(answer)) for start in found]
    whole = [
        (low, high)
        for low, high in edges
        if not (context[max(0, low - 1) : low].isalnum() and answer[0].isalnum())
        and not (context[high : high + 1].isalnum() and answer[-1].isalnum())
    ]
    return tuple(whole or edges)


def _taught(case: Case, rule: str) -> Sequence[Label]:
    """Return the label of each example: its own, or the one that the functionality's rule names."""
    if named := re.fullmatch(r"pred_(equals|not)_(?!label)(.+)", rule):
        word = named[2] if named[1] == "equals" else f"not_{named[2]}"
        return [word] * len(case.examples)
    if case.labels is not None:
        return case.labels
    raise DataError(
        f"functionality {case.groups['functionality']!r} cannot be trained on",
        why=f"rule {rule!r} has neither a label nor a direction",
        fix='"direction" in the suite: not_more_conf, not_less_conf, not_less_0 or not_less_2',
    )


def target_of(label: Label, suite: Sequence[str], labels: Sequence[str]) -> Target:
    """Return a label of the suite as probabilities of the model's labels.

    A model of two labels beside a suite of three has none for the middle one: half and half.

    >>> target_of("neutral", ("negative", "neutral", "positive"), ("negative", "positive"))
    (0.5, 0.5)
    """
    word = str(label)
    banded = len(suite) == 3 and len(labels) == 2
    if word.startswith("not_") and word not in suite:
        code = label_index(word.removeprefix("not_"), suite)
        if banded:
            return {0: NOT_NEGATIVE, 1: (0.5, 0.5), 2: NOT_NEGATIVE[::-1]}[code]
        others = [float(name != suite[code]) for name in labels]
        return tuple(share / sum(others) for share in others)
    code = label_index(word, suite)
    if banded:
        return ((1.0, 0.0), (0.5, 0.5), (0.0, 1.0))[code]
    return tuple(float(name == suite[code]) for name in labels)
