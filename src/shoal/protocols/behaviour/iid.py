"""The i.i.d. data beside a suite: what a model is trained and tested on in the ordinary way.

The package's own, made by `data/grammar`, or a file to train on and a file to test on.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from ...data.grammar import GRAMMARS, make_rows
from ...data.grammar.rows import Row
from ...data.labelled import read_labelled
from ...errors import DataError, PlanError, nearest, some
from ...files import is_file
from ...models.labels import Spellings, likely
from ...records import Case
from .settings import Settings
from .suite import DEFAULTS

IID = "i.i.d."
"""What these cases are called where a suite's have their functionality and capability."""


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


def is_iid(case: Case) -> bool:
    """Whether a case is of the i.i.d. data, not of the suite."""
    return case.groups["capability"] == IID


def load_iid(settings: Settings, suite_labels: Sequence[str] | None) -> IidData:
    """The data that the settings name."""
    return _load(
        settings.iid, settings.iid_test, settings.iid_texts, settings.iid_label, settings.iid_labels,
        settings.iid_limit, settings.iid_halves, tuple(suite_labels or ()),
        stamp(settings.iid), stamp(settings.iid_test),
    )  # fmt: skip


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
    *stamps: tuple[int, int],
) -> IidData:
    if iid in GRAMMARS:
        train, test = make_rows(iid, "train"), make_rows(iid, "test")
    else:
        for name, what in ((iid, "iid"), (iid_test, "iid_test")):
            if what == "iid" and not name and iid_test:
                continue  # nothing is trained on
            if not name or not is_file(Path(name)):
                raise PlanError(
                    f"{what} = {name!r} is no file" if name else f"{what} is missing",
                    why=f"a file, or, for iid, data of the package's own: {', '.join(GRAMMARS)}",
                    fix=nearest(name, GRAMMARS) or 'iid = "train.tsv", iid_test = "test.tsv"',
                )
        train = read_labelled(Path(iid), texts, label).rows if iid else []
        test = read_labelled(Path(iid_test), texts, label).rows
    if limit and limit < len(train):
        chosen = np.sort(np.random.default_rng(0).choice(len(train), limit, replace=False))
        train = [train[at] for at in chosen]
    called = label_names(sorted({row.label for row in (*train, *test)}), names, suite_labels)
    _need_every_label(called, suite_labels)
    order = [name for name in suite_labels if name in called.values()] or sorted(called.values())
    learnt, tested, labels = _renamed(train, called), _renamed(test, called), tuple(order)
    chosen_by, tested = _halved(tested) if halves else ((), tested)
    return IidData(learnt, tested, chosen_by, labels, _digest(learnt, labels), _digest(tested, labels))


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
    if len(found) < 2:
        raise DataError(
            f"the i.i.d. data has one label only: {some(found)}",
            fix='iid_label = "COLUMN", if another column holds the labels',
        )
    spellings = Spellings(suite)
    names = list(given) or [(spellings.get(label) or "") if suite else label for label in found]
    if suite and not set(names) <= set(suite):
        example = ", ".join(f'"{name}"' for name in likely(len(found), suite)[: len(found)])
        raise PlanError(
            f"the i.i.d. data's labels {some(found, 12)} are not the suite's: {some(suite, 12)}",
            why="which is which cannot be told; a wrong guess would train the model on the opposite",
            fix=f"iid_labels = [{example}], if that is what {some(found, 12)} mean, in this order",
        )
    if len(set(names)) < len(names):
        raise PlanError(
            f"the i.i.d. data's labels {some(found, 12)} would be {some(names, 12)}: two of them the same",
            fix="iid_labels = [...] with a name for each, in this order",
        )
    return dict(zip(found, names, strict=True))


def _need_every_label(called: Mapping[str, str], suite: Sequence[str]) -> None:
    """Stop where a model that learns from this data could never give a label of the suite.

    Of three labels the middle one may be missing: two-class sentiment, read through the neutral band.
    """
    missing = [name for name in suite if name not in called.values()]
    if missing and not (len(suite) == 3 and missing == [suite[1]]):
        raise PlanError(
            f"the suite asks for {some(missing)}; the i.i.d. data has no such label",
            why=f"its labels are {some(called.values(), 12)}: a model that learns from it can give no other",
            fix="i.i.d. data with every label of the suite, or a suite without those labels",
        )


def iid_cases(data: IidData) -> list[Case]:
    """The rows to test on, as cases: each a label to be predicted."""
    groups = {"functionality": IID, "capability": IID, "test type": "MFT"}
    return [
        Case(f"{IID}/{number}", (row.texts,), (row.label,), groups, meta={"expect": DEFAULTS["MFT"]})
        for number, row in enumerate(data.test)
    ]
