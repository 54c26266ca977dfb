"""The i.i.d. data beside a suite: what a model is trained and tested on in the ordinary way.

The package's own, made by `data/grammar`, or a file to train on and a file to test on. Beside a suite of labels rows
have labels; beside one of reading comprehension they have answers, which stand in their context.
"""

import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import DataError, PlanError, nearest, some
from ...core.files import is_file
from ...core.records import Case
from ...data.grammar import GRAMMARS, make_rows
from ...data.grammar.rows import Row
from ...data.labelled import read_labelled
from ...data.squad import is_squad, read_squad
from ...models.labels import Spellings, suggested_names
from .rules import Expect
from .settings import Settings
from .suite import DEFAULTS

IID = "i.i.d."
"""What these cases are called where a suite's have their functionality and capability."""
OOD = "o.o.d."
"""The same of data from elsewhere, asked beside it."""
TRAINED_ON_TOO = "i.i.d. rows that are trained on too"
"""What building says of rows to test on that stand among those to train on."""
EXACT_MATCH = Expect("squad_normalise")


@dataclass(frozen=True, slots=True, eq=False)
class IidData:
    """Rows to train on and to test on, under the names that the suite uses; read once, so itself its identity."""

    train: tuple[Row, ...]
    test: tuple[Row, ...]
    validation: tuple[Row, ...]
    """To choose by: the other half of what is tested on, where that was halved."""
    labels: tuple[str, ...]
    """In the order of the suite's."""
    digest: str
    """Of what is trained on."""
    test_digest: str
    """Of what is tested on."""
    answers: tuple[tuple[str, ...], ...] = ()
    """Of reading comprehension: everything that is right for each row to test on."""
    called: Mapping[str, str] = field(default_factory=dict)
    """What each label of the files is called."""

    @property
    def is_reading(self) -> bool:
        """Whether rows have answers, not labels."""
        return bool(self.answers)


def is_iid(case: Case) -> bool:
    """Whether a case is of the i.i.d. data, not of the suite."""
    return case.groups["capability"] == IID


def is_beside(case: Case) -> bool:
    """Whether a case is of labelled data, i.i.d. or from elsewhere, and not of the suite."""
    return case.groups["capability"] in (IID, OOD)


def load_iid(settings: Settings, suite_labels: Sequence[str] | None, *, reading: bool = False) -> IidData:
    """The data that the settings name; `reading` beside a suite of reading comprehension."""
    if reading:
        return _load_reading(
            settings.iid, settings.iid_test, settings.iid_texts, settings.iid_label, settings.iid_limit,
            settings.iid_halves, _trains(settings), stamp(settings.iid), stamp(settings.iid_test),
        )  # fmt: skip
    return _load(
        settings.iid, settings.iid_test, settings.iid_texts, settings.iid_label, settings.iid_labels,
        settings.iid_limit, settings.iid_halves, tuple(suite_labels or ()), _knows_labels(settings), _trains(settings),
        stamp(settings.iid), stamp(settings.iid_test),
    )  # fmt: skip


def _knows_labels(settings: Settings) -> bool:
    """Whether the model has labels of its own, whatever the data to train on have."""
    return settings.train is None or settings.train.from_ == "model"


def _trains(settings: Settings) -> bool:
    """Whether some stage trains on i.i.d. data; from a model that is trained already only a mixed one does."""
    if settings.train is None:
        return False
    return settings.train.from_ != "model" or any("iid+suite" in on for on in settings.train.on)


def stamp(name: str) -> tuple[int, int]:
    """A file's time and size: read anew when they change."""
    path = Path(name)
    return (path.stat().st_mtime_ns, path.stat().st_size) if name and is_file(path) else (0, 0)


@lru_cache(maxsize=4)
def _load(
    iid: str,
    iid_test: str,
    texts: tuple[str, ...],
    label: str,
    names: tuple[str, ...],
    limit: int,
    halves: bool,
    suite_labels: tuple[str, ...],
    knows_labels: bool,
    trains: bool,
    *stamps: tuple[int, int],
) -> IidData:
    if iid in GRAMMARS:
        train, test = make_rows(iid, "train"), make_rows(iid, "test")
    else:
        _need_files(iid, iid_test, "train.tsv", "test.tsv")
        train = _read(Path(iid), texts, label) if iid else []
        test = _read(Path(iid_test), texts, label)
    train = _some_of(train, limit)
    found = sorted({row.label for row in (*train, *test)})
    called = label_names(found, names, suite_labels)
    from_train = bool(train) and not knows_labels
    learnable = {called[row.label] for row in (train if from_train else (*train, *test))}
    if len(learnable) < 2:
        raise DataError(
            f"{iid if from_train else iid_test}: the i.i.d. data has one label only: {some(sorted(learnable))}",
            fix='iid_label = "COLUMN", if another column holds the labels',
        )
    _need_every_label(learnable, suite_labels)
    drawn = f"the {limit:,} rows drawn of {iid}" if limit else iid
    _refuse_never_right(drawn, iid_test, {called[row.label] for row in test} - learnable)
    if trains:
        _refuse_trained_on(iid_test, train, test)
    order = [name for name in suite_labels if name in called.values()] or sorted(set(called.values()))
    learnt, tested, labels = _renamed(train, called), _renamed(test, called), tuple(order)
    chosen_by, tested = _halved(tested) if halves else ((), tested)
    digests = _digest(learnt, labels), _digest(tested, labels)
    return IidData(learnt, tested, chosen_by, labels, *digests, called=called)


def _need_files(iid: str, iid_test: str, *examples: str) -> None:
    for name, what in ((iid, "iid"), (iid_test, "iid_test")):
        if what == "iid" and not name and iid_test:
            continue  # nothing is trained on
        if not name or not is_file(Path(name)):
            raise PlanError(
                f"{what} = {name!r} is no file" if name else f"{what} is missing",
                why=f"a file, or, for iid, data of the package's own: {', '.join(GRAMMARS)}",
                fix=nearest(name, GRAMMARS) or 'iid = "{}", iid_test = "{}"'.format(*examples),
            )


def _read(path: Path, texts: tuple[str, ...] = (), label: str = "") -> list[Row]:
    return read_labelled(path, texts, label, settings=("iid_texts", "iid_label")).rows


def _refuse_trained_on(iid_test: str, train: Sequence[Row], test: Sequence[Row]) -> None:
    """Stop where every row to test on is trained on: that is no test."""
    if test and {row.texts for row in test} <= {row.texts for row in train}:
        raise PlanError(
            f"iid_test: every one of the {len(test):,} rows of {iid_test} is trained on",
            why="the i.i.d. score inside G is of rows that the model was not trained on",
            fix="a file of other rows",
        )


def trained_on(settings: Settings, data: IidData) -> dict[str, Any]:
    """How many rows to test on read like one that is trained on; empty if none do."""
    learnt = {row.texts for row in data.train} if _trains(settings) else set()
    count = sum(row.texts in learnt for row in data.test)
    return {TRAINED_ON_TOO: count} if count else {}


def _refuse_never_right(iid: str, iid_test: str, missing: Collection[str]) -> None:
    if missing:
        raise PlanError(
            f"{iid_test} has rows labelled {some(sorted(missing))}, {iid} none",
            why="a model that learns from it can never be right there",
            fix="rows with that label to train on, or a test file without them",
        )


def _some_of(rows: list[Row], limit: int) -> list[Row]:
    """So many rows, drawn at random, in their order; all of them where the limit is 0."""
    if not limit or limit >= len(rows):
        return rows
    chosen = np.sort(np.random.default_rng(0).choice(len(rows), limit, replace=False))
    return [rows[at] for at in chosen]


@lru_cache(maxsize=4)
def _load_reading(
    iid: str,
    iid_test: str,
    texts: tuple[str, ...],
    label: str,
    limit: int,
    halves: bool,
    trains: bool,
    *stamps: tuple[int, int],
) -> IidData:
    """Questions about passages: the package's own, SQuAD's JSON, or tables with a column of answers."""
    if iid in GRAMMARS and iid != "reading":
        raise PlanError(
            f"iid = {iid!r} has labels; the suite asks for answers in words",
            fix='iid = "reading", or SQuAD 1.1: iid = "train-v1.1.json", iid_test = "dev-v1.1.json"',
        )
    if iid == "reading":
        train, test = make_rows(iid, "train"), make_rows(iid, "test")
        answers = [(row.label,) for row in test]
    else:
        _need_files(iid, iid_test, "train-v1.1.json", "dev-v1.1.json")
        train = [row for row, _ in _read_questions(Path(iid), texts, label)] if iid else []
        test, answers = map(list, zip(*_read_questions(Path(iid_test), texts, label), strict=True))
    train = _some_of(train, limit)
    if trains:
        _refuse_trained_on(iid_test, train, test)
    chosen_by: tuple[Row, ...] = ()
    if halves:
        right = dict(zip(map(id, test), answers, strict=True))
        chosen_by, tested = _halved(test)
        test, answers = list(tested), [right[id(row)] for row in tested]
    return IidData(
        tuple(train),
        tuple(test),
        chosen_by,
        (),
        _digest(train, ()),
        _digest(test, [repr(answers)]),
        tuple(answers),
    )


def _read_questions(path: Path, texts: tuple[str, ...], label: str) -> list[tuple[Row, tuple[str, ...]]]:
    if is_squad(path):
        return [(question.row, question.answers) for question in read_squad(path)]
    rows = read_labelled(path, texts or ("context", "question"), label or "answer").rows
    return [(row, (row.label,)) for row in rows]


def _halved(rows: Sequence[Row]) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """To choose by and to test on, as Hugging Face's datasets halve with seed 42 (`docs/method/beluga.md` 1.2)."""
    order = np.random.default_rng(42).permutation(len(rows))
    tested = math.ceil(len(rows) / 2)
    return tuple(rows[at] for at in order[tested:]), tuple(rows[at] for at in order[:tested])


def _digest(rows: Sequence[Row], labels: Sequence[str]) -> str:
    return hashlib.sha256(repr((rows, labels)).encode()).hexdigest()[:16]


def _renamed(rows: Sequence[Row], called: dict[str, str]) -> tuple[Row, ...]:
    return tuple(Row(row.texts, called[row.label], row.start) for row in rows)


def label_names(found: Sequence[str], given: Sequence[str], suite: Sequence[str]) -> dict[str, str]:
    """What each label of the data is called in the suite: by its name, or as the user says; numbers name nothing.

    >>> label_names(["Negative", "POSITIVE"], (), ("negative", "neutral", "positive"))
    {'Negative': 'negative', 'POSITIVE': 'positive'}
    >>> label_names(["0", "1"], ("negative", "positive"), ("negative", "neutral", "positive"))
    {'0': 'negative', '1': 'positive'}
    """
    if given and len(given) != len(found):
        raise PlanError(
            f"iid_labels names {len(given)} labels, the i.i.d. data has {len(found)}: {some(found, 12)}",
            fix="name each, in this order",
        )
    spellings = Spellings(suite)
    spelt = [(spellings.get(label) or "") if suite else label for label in found]
    names = list(given) or spelt
    if suite and not set(names) <= set(suite):
        raise PlanError(
            f"the i.i.d. data's labels {some(found, 12)} are not the suite's: {some(suite, 12)}",
            why="which is which cannot be told; a wrong guess would train the model on the opposite",
            fix=_which_is_which(found, spelt, suite),
        )
    shared = [name for name, own in zip(names, spelt, strict=True) if names.count(name) > 1 and name != own]
    if shared:
        raise PlanError(
            f"the i.i.d. data's labels {some(found, 12)} would be {some(names, 12)}: two of them the same",
            why="only spellings of one label are put together",
            fix="name labels that mean the same alike in the file",
        )
    return dict(zip(found, names, strict=True))


def _which_is_which(found: Sequence[str], spelt: Sequence[str], suite: Sequence[str]) -> str:
    """What to write in the plan: names that are known stay, and what they are is not guessed of the others.

    >>> _which_is_which(["0", "1"], ["", ""], ["negative", "neutral", "positive"])
    'iid_labels = ["negative", "positive"], if that is what 0, 1 mean, in this order'
    >>> _which_is_which(["mixed", "neg", "pos"], ["", "negative", "positive"], ["negative", "neutral", "positive"])
    'iid_labels = ["?", "negative", "positive"], with what mixed means for ?; or take its rows out'
    """
    guess = suggested_names(len(found), suite)
    if not any(spelt) and len(guess) == len(found):
        example = ", ".join(f'"{name}"' for name in guess)
        return f"iid_labels = [{example}], if that is what {some(found, 12)} mean, in this order"
    if len({name or label for label, name in zip(found, spelt, strict=True)}) > len(suite):
        return f"name labels that mean the same alike in the file, {len(suite)} in all, or take rows out"
    example = ", ".join(f'"{name or "?"}"' for name in spelt)
    strange = [label for label, name in zip(found, spelt, strict=True) if not name]
    mean, their = ("means", "its") if len(strange) == 1 else ("mean", "their")
    return f"iid_labels = [{example}], with what {some(strange, 12)} {mean} for ?; or take {their} rows out"


def _need_every_label(learnable: Collection[str], suite: Sequence[str]) -> None:
    """Stop where a model that learns from this data could never give a label of the suite.

    Of three labels the middle one may be missing: two-class sentiment, read through the neutral band.
    """
    missing = [name for name in suite if name not in learnable]
    if missing and not (len(suite) == 3 and missing == [suite[1]]):
        raise PlanError(
            f"the suite asks for {some(missing)}; the i.i.d. data has no such label",
            why=f"its labels are {some(sorted(learnable), 12)}: a model that learns from it can give no other",
            fix="i.i.d. data with every label of the suite, or a suite without those labels",
        )


def iid_cases(data: IidData) -> list[Case]:
    """The rows to test on, as cases: each a label to be predicted, or a question with its right answers."""
    return _row_cases(IID, IID, data.test, data.answers)


def _row_cases(
    capability: str, name: str, rows: Sequence[Row], answers: Sequence[tuple[str, ...]]
) -> list[Case]:
    groups = {"functionality": name, "capability": capability, "test type": "MFT"}
    if answers:
        meta = {"expect": EXACT_MATCH, "reading": True}
        return [
            Case(
                f"{name}/{number}", (row.texts,), (row.label,), groups, meta={**meta, "answers": list(right)}
            )
            for number, (row, right) in enumerate(zip(rows, answers, strict=True))
        ]
    return [
        Case(f"{name}/{number}", (row.texts,), (row.label,), groups, meta={"expect": DEFAULTS["MFT"]})
        for number, row in enumerate(rows)
    ]


# Data from elsewhere


def ood_files(settings: Settings) -> dict[str, Path]:
    """The further data sets by their names: as given, or as their files are called."""
    found: dict[str, Path] = {}
    for given in settings.ood:
        name, equals, file = given.rpartition("=")
        path = Path(file if equals else given)
        if not is_file(path):
            raise PlanError(
                f"ood: {str(path)!r} is no file",
                why="labelled data that the model is asked and not trained on",
                fix='ood = ["yelp=yelp.tsv"]',
            )
        name = name or path.name.split(".")[0]
        if name in found:
            raise PlanError(
                f"ood: two data sets are called {name!r}", fix='ood = ["NAME=FILE", "OTHER=FILE"]'
            )
        if path in found.values():
            raise PlanError(f"ood: {path} is named twice", fix="name each file once")
        found[name] = path
    return found


def ood_digest(settings: Settings) -> Any:
    """The further data by name and content."""
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest()[:16] for name, path in ood_files(settings).items()
    }


def ood_cases(settings: Settings, data: IidData) -> list[Case]:
    """Every row of the further data, under the names of the i.i.d. data's labels."""
    cases: list[Case] = []
    for name, path in ood_files(settings).items():
        if data.is_reading:
            questions = _read_questions(path, (), "")
            _refuse_test_data(name, [row for row, _ in questions], data)
            cases += _row_cases(OOD, name, [row for row, _ in questions], [right for _, right in questions])
            continue
        rows = _read(path)
        _refuse_test_data(name, rows, data)
        found = sorted({row.label for row in rows})
        spellings = Spellings(data.labels)
        called = {label: data.called.get(label) or spellings.get(label) for label in found}
        known = {label: own for label, own in called.items() if own}
        if len(known) < len(found):
            strange = [label for label in found if label not in known]
            raise PlanError(
                f"ood {name}: the labels {some(strange, 12)} are not those of the i.i.d. data: {some(data.labels, 12)}",
                why="which is which cannot be told; a wrong guess would turn its scores round",
                fix=f"name the labels in {path} as the i.i.d. data does",
            )
        cases += _row_cases(OOD, name, _renamed(rows, known), ())
    return cases


def _refuse_test_data(name: str, rows: Sequence[Row], data: IidData) -> None:
    if {row.texts for row in rows} == {row.texts for row in (*data.test, *data.validation)}:
        raise PlanError(f"ood {name}: these are the rows of the i.i.d. test data", fix="data from elsewhere")
