"""The i.i.d. data of a plan: rows to train on and rows to test on.

shoal's own rows come from `data/grammar`, others from a file to train on and a file to test on. With a suite of labels
rows have labels; with one of reading comprehension they have answers, which are pieces of their context.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...core.errors import PlanError, nearest, some
from ...core.files import digest, is_data, split_name, stamp
from ...core.records import Case
from ...data import grammar
from ...data.grammar import GRAMMARS, Row
from ...data.labelled import read_labelled
from ...data.squad import is_squad, read_squad
from ...models import digest_file
from ...models.batching import is_reading
from ...models.labels import Spellings, in_suite_order, suggested_names
from ..behaviour.build import load_suite
from ..behaviour.expect import Expect
from ..behaviour.suite import DEFAULTS

if TYPE_CHECKING:
    from .settings import Settings

IID = "i.i.d."
"""Capability of i.i.d. rows among the cases."""
OVERLAP = "i.i.d. rows that are trained on too"
"""The fact of a job that counts test rows which also occur in the training data."""
EXACT_MATCH = Expect("squad_normalise")


@dataclass(frozen=True, slots=True, eq=False)
class IidData:
    """Rows under the suite's label names. Loaded once, so it is compared by identity."""

    train: tuple[Row, ...]
    test: tuple[Row, ...]
    labels: tuple[str, ...]
    """In the order of the suite's."""
    answers: tuple[tuple[str, ...], ...] = ()
    """In reading comprehension, the right answers of each test row."""

    @property
    def is_reading(self) -> bool:
        """Whether rows have answers instead of labels."""
        return bool(self.answers)


def is_iid(case: Case) -> bool:
    """Return whether a case is an i.i.d. row."""
    return case.groups["capability"] == IID


# Identity


def iid_identity(settings: "Settings") -> dict[str, Any]:
    """Return what decides the rows to train on: a grammar by its version, a file by its content."""
    if settings.iid in GRAMMARS:
        return {"grammar": settings.iid, "version": grammar.VERSION, "rows": GRAMMARS[settings.iid]}
    _need_files(settings)
    return {"content": _file_digest(settings.iid, stamp(settings.iid))} if settings.iid else {}


def training_identity(settings: "Settings") -> dict[str, Any]:
    """Return what decides the i.i.d. examples that a model is trained on."""
    chosen = {name: getattr(settings, name) for name in ("iid_limit", "iid_labels", "text", "label")}
    return {**iid_identity(settings), **chosen}


def test_identity(settings: "Settings") -> str:
    """Return a digest of the file to test on; nothing for shoal's own data."""
    name = settings.iid_test
    return _file_digest(name, stamp(name)) if name and is_data(name) else ""


@lru_cache(maxsize=8)
def _file_digest(name: str, _stamp: tuple[int, int]) -> str:
    path, split = split_name(name)
    return f"{digest(path)}-{split}" if path.is_dir() else digest_file(path)


# Loading


@dataclass(frozen=True, slots=True)
class _Source:
    """Settings as a key of the cache: equal if they name the same rows."""

    decisive: tuple[Any, ...]
    settings: "Settings" = field(compare=False)


def load_iid(settings: "Settings") -> IidData:
    """Return the rows, with labels, or with answers if the suite is of reading comprehension."""
    if settings.iid not in GRAMMARS:
        _need_files(settings)
    names = ("suite", "iid", "iid_test", "text", "label", "iid_labels", "iid_limit", "iid_halves")
    values = [getattr(settings, name) for name in names]
    uses = _has_own_labels(settings), trains_on_iid(settings)
    return _load(_Source((*values, *uses, *map(stamp, values[:3])), settings))


def _has_own_labels(settings: "Settings") -> bool:
    """Return whether the model has labels before it is trained."""
    return not settings.trains or settings.train.from_ == "model"


def trains_on_iid(settings: "Settings") -> bool:
    """Return whether some stage trains on i.i.d. rows; from a trained model only a mixed stage does."""
    if not settings.trains:
        return False
    return settings.train.from_ != "model" or any("iid+suite" in on for on in settings.train.on)


Tested = tuple[Row, tuple[str, ...]]
"""A row with its right answers."""


@lru_cache(maxsize=4)
def _load(source: _Source) -> IidData:
    settings = source.settings
    suite = load_suite(settings.suite)
    reading = is_reading(suite.cases)
    if reading and settings.iid in GRAMMARS and settings.iid != "reading":
        raise PlanError(
            f"iid = {settings.iid!r} has labels, but the suite expects answers in words",
            fix='iid = "reading", or SQuAD 1.1: iid = "train-v1.1.json", iid_test = "dev-v1.1.json"',
        )
    train = _sample([row for row, _ in _rows(settings, "train", reading)], settings.iid_limit)
    tested = _rows(settings, "test", reading)
    test = [row for row, _ in tested]
    renamed: dict[str, str] = {}
    if not reading:
        known = tuple(suite.labels or ())
        renamed = label_names(sorted({row.label for row in (*train, *test)}), settings.iid_labels, known)
        from_train = bool(train) and not _has_own_labels(settings)
        learnable = {renamed[row.label] for row in (train if from_train else (*train, *test))}
        _refuse_unlearnable(settings, learnable, {renamed[row.label] for row in test}, known)
    _refuse_overlap(settings, train, test)
    if settings.iid_halves:  # as Hugging Face's datasets halve with seed 42 (`docs/method/beluga.md` 1.2)
        order = np.random.default_rng(42).permutation(len(tested))
        tested = [tested[at] for at in order[: math.ceil(len(tested) / 2)]]
    return IidData(
        _with_labels(train, renamed),
        _with_labels([row for row, _ in tested], renamed),
        tuple(in_suite_order(sorted({*renamed.values()}), suite.labels)),
        tuple(answers for _, answers in tested) if reading else (),
    )


def _rows(settings: "Settings", part: Literal["train", "test"], reading: bool) -> list[Tested]:
    """Return shoal's own rows, or those of a file: labelled texts, SQuAD's JSON or a table of questions."""
    if settings.iid in GRAMMARS:
        return [(row, (row.label,)) for row in grammar.make_rows(settings.iid, part)]
    file = settings.iid if part == "train" else settings.iid_test
    if not file:
        return []
    if reading and is_squad(Path(file)):
        return [(question.row, question.answers) for question in read_squad(Path(file))]
    text, label = settings.text, settings.label
    if reading:
        text, label = text or ("context", "question"), label or "answer"
    return [(row, (row.label,)) for row in read_labelled(Path(file), text, label).rows]


def _sample(rows: list[Row], limit: int) -> list[Row]:
    """Return a random sample of this many rows in their order; all if the limit is 0."""
    if not limit or limit >= len(rows):
        return rows
    chosen = np.sort(np.random.default_rng(0).choice(len(rows), limit, replace=False))
    return [rows[at] for at in chosen]


def _with_labels(rows: Sequence[Row], renamed: Mapping[str, str]) -> tuple[Row, ...]:
    """Return rows under the suite's labels; answers have no other names."""
    return tuple(Row(row.texts, renamed.get(row.label, row.label), row.start) for row in rows)


# Checks


def _need_files(settings: "Settings") -> None:
    for name, setting in ((settings.iid, "iid"), (settings.iid_test, "iid_test")):
        if setting == "iid" and not name and settings.iid_test:
            continue  # nothing is trained on
        if not name or not is_data(name):
            raise PlanError(
                f"{setting} = {name!r} is not a file" if name else f"{setting} is missing",
                why=f"a file is needed, or for iid one of shoal's own: {', '.join(GRAMMARS)}",
                fix=nearest(name, GRAMMARS) or 'iid = "train.tsv", iid_test = "test.tsv"',
            )


def _refuse_overlap(settings: "Settings", train: Sequence[Row], test: Sequence[Row]) -> None:
    """Stop if every test row is a training row."""
    if trains_on_iid(settings) and test and {row.texts for row in test} <= {row.texts for row in train}:
        raise PlanError(
            f"iid_test: all {len(test):,} rows of {settings.iid_test} occur in the training data",
            why="the i.i.d. score inside G needs rows that the model was not trained on",
            fix="a file of other rows",
        )


def overlap(settings: "Settings", data: IidData) -> dict[str, Any]:
    """Return how many test rows also occur in the training data; empty if none do."""
    trained = {row.texts for row in data.train} if trains_on_iid(settings) else set()
    count = sum(row.texts in trained for row in data.test)
    return {OVERLAP: count} if count else {}


def _refuse_unlearnable(
    settings: "Settings", learnable: Collection[str], tested: Collection[str], suite: Sequence[str]
) -> None:
    """Stop if a model trained on this data could never predict a label that it is tested on.

    Of a suite's three labels the middle one may be missing: two-class sentiment, read through the neutral band.
    """
    expected = [name for name in suite if len(suite) != 3 or name != suite[1]]
    missing = [name for name in dict.fromkeys([*expected, *sorted(tested)]) if name not in learnable]
    if missing or len(learnable) < 2:
        data = settings.iid or settings.iid_test
        data = f"the sample of {settings.iid_limit:,} rows of {data}" if settings.iid_limit else data
        raise PlanError(
            f"the suite expects {some(missing)}, but {data} has no such rows"
            if missing
            else f"{data} has one label only: {some(sorted(learnable))}",
            why="a model trained on it can never predict another label",
            fix='rows with every label, or label = "COLUMN" if another column holds the labels',
        )


def label_names(labels: Sequence[str], given: Sequence[str], suite: Sequence[str]) -> dict[str, str]:
    """Return the suite's name of each label of the data: a spelling of it, or the one given; numbers name nothing.

    >>> label_names(["Negative", "POSITIVE"], (), ("negative", "neutral", "positive"))
    {'Negative': 'negative', 'POSITIVE': 'positive'}
    >>> label_names(["0", "1"], ("negative", "positive"), ("negative", "neutral", "positive"))
    {'0': 'negative', '1': 'positive'}
    """
    spellings = Spellings(suite)
    spelt = [(spellings.get(label) or "") if suite else label for label in labels]
    names = list(given) or spelt
    if len(names) != len(labels) or (suite and not set(names) <= set(suite)):
        guess = spelt if any(spelt) else suggested_names(len(labels), suite)
        example = ", ".join(f'"{name or "?"}"' for name in guess)
        raise PlanError(
            f"the i.i.d. data's labels {some(labels, 12)} have no names in the suite: {some(suite, 12)}",
            why="a wrong guess would train the model on the opposite",
            fix=f"iid_labels = [{example}], the suite's names of {some(labels, 12)} in this order",
        )
    if any(names.count(name) > 1 and name != own for name, own in zip(names, spelt, strict=True)):
        raise PlanError(
            f"the i.i.d. data's labels {some(labels, 12)} would be {some(names, 12)}: two of them the same",
            why="only spellings of one label are merged",
            fix="in the file, give labels with the same meaning the same name",
        )
    return dict(zip(labels, names, strict=True))


# Cases


def iid_cases(data: IidData) -> list[Case]:
    """Return the test rows as cases: a label to predict, or a question with its right answers."""
    groups = {"functionality": IID, "capability": IID, "test type": "MFT"}
    cases = []
    for number, row in enumerate(data.test):
        meta: dict[str, Any] = {"expect": DEFAULTS["MFT"]}
        if data.answers:
            meta = {"expect": EXACT_MATCH, "reading": True, "answers": list(data.answers[number])}
        cases.append(Case(f"{IID}/{number}", (row.texts,), (row.label,), groups, meta=meta))
    return cases
