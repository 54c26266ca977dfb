"""Answers already computed, read from a predictions file and laid beside the cases they belong to.

Formats (`docs/method/glossary.md` 0.4 and `docs/method/checklist.md` 2.5), any of them gzipped:

    jsonl             {"functionality", "case_id", "example_idx", "pred", "conf"} per line
    csv               an id column, and a label column or one probability column per label
    pred_only, binary_conf, softmax, pred_and_conf, pred_and_softmax
                      CheckList's text formats: one line per example, in the suite's order
    stereoset         StereoSet's JSON of sentence scores (for the bias protocol)

Missing, extra and repeated ids are errors that name them. Nothing is guessed: a text format other than
CheckList's default, pred_and_softmax, is named as `?format=`.
"""

import json
import math
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, ModelError, nearest, some
from ..files import first_bytes, read_json_lines, read_lines, read_table
from ..records import Answers, Case
from . import ModelSpec, digest_file

Key = tuple[str | None, str, int]
"""Functionality (None where the file has none), case id, number of the example in its case."""

# `predictions:example` ships with the package: a word-counting model on the sentiment suite.
OPTIONS = ("format", "label", "labels", "header")


def load(spec: ModelSpec) -> "StoredAnswers":
    """The predictions file that a spec names; it is read when the cases are known."""
    unknown = [name for name in spec.options if name not in OPTIONS]
    if unknown:
        raise ModelError(
            f"predictions:{spec.name}: unknown option {unknown[0]!r}",
            why=f"known: {', '.join(OPTIONS)}",
            fix=nearest(unknown[0], OPTIONS),
        )
    path = Path(__file__).with_name("example.jsonl.gz") if spec.name == "example" else Path(spec.name)
    return StoredAnswers(path, spec.options)


@dataclass(slots=True)
class Columns:
    """A predictions file as columns, before it meets the cases."""

    path: Path
    tolerance: float
    """How far probabilities may be from summing to 1."""
    keys: list[Key] = field(default_factory=list)  # empty where the order says which example is meant
    lines: list[int] = field(default_factory=list)
    predictions: list[int | str | None] = field(default_factory=list)
    numbers: array = field(default_factory=lambda: array("d"))  # type: ignore[type-arg]  # confidences, end to end
    widths: array = field(default_factory=lambda: array("q"))  # type: ignore[type-arg]  # how many for each row
    errors: dict[int, str] = field(default_factory=dict)
    label_names: tuple[str, ...] | None = None  # where the file names its probability columns

    def add(
        self, line: int, prediction: int | str | None, numbers: Sequence[float], key: Key | None = None
    ) -> None:
        """One example's answer. No prediction: the most probable label, the first on ties."""
        self.lines.append(line)
        self.predictions.append(numbers.index(max(numbers)) if prediction is None else prediction)
        self.numbers.extend(numbers)
        self.widths.append(len(numbers))
        if key is not None:
            self.keys.append(key)

    def check(self) -> None:
        """Stop at the first line whose probabilities are none."""
        numbers, widths = np.array(self.numbers), np.array(self.widths)
        outside = ~((numbers >= -1e-9) & (numbers <= 1 + 1e-9))
        starts = np.cumsum(widths) - widths
        if outside.any():
            row = int(np.searchsorted(starts, np.flatnonzero(outside)[0], side="right")) - 1
            raise DataError(
                f"{self.path}, line {self.lines[row]}: a confidence is outside 0 to 1",
                why=self._shown(row),
            )
        owners = np.repeat(np.arange(len(widths)), widths)
        sums = np.bincount(owners, weights=numbers, minlength=len(widths))
        wrong = np.flatnonzero((widths > 1) & (np.abs(sums - 1) > self.tolerance))
        if len(wrong):
            where = f"{self.path}, line {self.lines[wrong[0]]}"
            raise DataError(
                f"{where}: probabilities sum to {sums[wrong[0]]:.6g}, not to 1",
                why=self._shown(wrong[0]),
            )

    def _shown(self, row: int) -> str:
        start = sum(self.widths[:row])
        return "found: " + ", ".join(
            f"{number:.6g}" for number in self.numbers[start : start + self.widths[row]][:8]
        )

    def add_error(self, line: int, message: str, key: Key) -> None:
        """An example that the model did not answer."""
        self.errors[len(self.lines)] = message
        self.lines.append(line)
        self.predictions.append(None)
        self.widths.append(0)
        self.keys.append(key)


class StoredAnswers:
    """A model that has answered already."""

    def __init__(self, path: Path, options: Mapping[str, str]) -> None:
        self.path = path
        self.options = options

    def __repr__(self) -> str:
        return f"predictions:{self.path}"

    def fingerprint(self) -> dict[str, Any]:
        """What the answers depend on: the file's content, and how it is read."""
        return {"file": digest_file(self.path), "options": dict(self.options)}

    def answer_cases(
        self, cases: Sequence[Case], whole: Sequence[Case], labels: Sequence[str] | None
    ) -> Answers:
        """The answers to every example of `cases`, in order.

        `whole` is the suite they were chosen from: an id that is nowhere in it is an error, one that was merely not
        chosen is not.
        """
        columns = self.read()
        rows = _rows_by_id(columns, cases, whole) if columns.keys else _rows_by_order(columns, cases, whole)
        if any(case.meta.get("labels") is None and _is_reading(case) for case in cases[:1]):
            return _texts(columns, rows)
        named = self.options.get("labels")
        return _answers(columns, rows, labels, tuple(named.split(",")) if named else columns.label_names)

    def read(self) -> Columns:
        """The whole file, checked line by line."""
        name = self.options.get("format") or self._told_format()
        if name not in READERS:
            raise ModelError(
                f"{self.path}: unknown format {name!r}",
                why=f"known: {', '.join(READERS)}",
                fix=nearest(name, READERS),
            )
        columns = READERS[name](self.path, self.options)
        if not columns.lines:
            raise DataError(f"{self.path}: no predictions")
        columns.check()
        return columns

    def _told_format(self) -> str:
        suffixes = [suffix for suffix in self.path.suffixes if suffix != ".gz"]
        start = first_bytes(self.path, 4096).removeprefix(b"\xef\xbb\xbf").lstrip()
        if start.startswith(b"{"):
            return "stereoset" if b'"intrasentence"' in start or b'"intersentence"' in start else "jsonl"
        return "csv" if suffixes[-1:] in ([".csv"], [".tsv"]) else "pred_and_softmax"


def _is_reading(case: Case) -> bool:
    return bool(case.meta.get("reading"))


# Readers, one per format


def read_json(path: Path, options: Mapping[str, str]) -> Columns:
    """Our own JSON Lines."""
    columns = Columns(path, tolerance=1e-6)
    for line, row in read_json_lines(path):
        try:
            _add_json(columns, line, row)
        except DataError as problem:
            raise problem.at(f"{path}, line {line}") from None
    return columns


def _add_json(columns: Columns, line: int, row: dict[str, Any]) -> None:
    functionality, case_id, number = (
        row.get("functionality"),
        row.get("case_id"),
        row.get("example_idx", 0),
    )
    if isinstance(case_id, bool) or not isinstance(case_id, str | int):
        raise DataError("'case_id' must be a text or a whole number", why=f"found: {some(row, 8)}")
    if type(number) is not int or number < 0:
        raise DataError(f"'example_idx' must be a whole number from 0, found {number!r}")
    key = (None if functionality is None else str(functionality), str(case_id), number)
    if row.get("error"):
        return columns.add_error(line, str(row["error"]), key)
    prediction, confidence = row.get("pred"), row.get("conf")
    if isinstance(prediction, bool) or not isinstance(prediction, int | str | None):
        raise DataError(f"'pred' must be a label's name or number, found {prediction!r}")
    numbers = confidence if isinstance(confidence, list) else [] if confidence is None else [confidence]
    if not {int, float}.issuperset(map(type, numbers)):
        raise DataError(f"'conf' must be null, a number or a list of probabilities, found {confidence!r}")
    if prediction is None and len(numbers) < 2:
        raise DataError("neither 'pred' nor a list of probabilities in 'conf'")
    columns.add(line, prediction, numbers, key)


def read_csv(path: Path, options: Mapping[str, str]) -> Columns:
    """A table with an id column, and a label column or one probability column per label."""
    names, rows = read_table(path)
    identity = next((name for name in ("case_id", "id") if name in names), None)
    if identity is None:
        raise DataError(f"{path}, line 1: no column 'case_id' or 'id'", why=f"found: {', '.join(names)}")
    label = options.get("label") or ("label" if "label" in names else "")
    if label and label not in names:
        raise DataError(
            f"{path}, line 1: no column {label!r}",
            why=f"found: {', '.join(names)}",
            fix=nearest(label, names),
        )
    named = options.get("labels")
    probabilities = [] if label else (named.split(",") if named else _probability_columns(names, identity))
    if not label and (len(probabilities) < 2 or any(name not in names for name in probabilities)):
        raise DataError(
            f"{path}, line 1: neither a column 'label' nor one probability column per label",
            why=f"found: {', '.join(names)}",
            fix=f"predictions:{path}?label=COLUMN, or ?labels=COLUMN,COLUMN",
        )
    columns = Columns(path, tolerance=1e-6, label_names=tuple(probabilities) or None)
    for line, row in rows:
        where = f"{path}, line {line}"
        number = row.get("example_idx") or "0"
        if not number.isdecimal():
            raise DataError(f"{where}: 'example_idx' must be a whole number, found {number!r}")
        key = (row.get("functionality"), row[identity], int(number))
        numbers = [_number(row[name], where) for name in probabilities]
        if label and not row[label]:
            raise DataError(f"{where}: no label in column {label!r}")
        columns.add(line, _whole(row[label]) if label else None, numbers, key)
    return columns


def _probability_columns(names: Sequence[str], identity: str) -> list[str]:
    return [name for name in names if name not in (identity, "functionality", "example_idx", "")]


def read_pred_only(path: Path, options: Mapping[str, str]) -> Columns:
    """A prediction per line; integers if every line is one."""
    columns = Columns(path, tolerance=1e-3)
    lines = [(line, text.strip()) for line, text in _example_lines(path, options, empty_too=True)]
    digits = all(text.isdecimal() for _, text in lines)
    for line, text in lines:
        columns.add(line, int(text) if digits else text, [])
    return columns


def read_binary_conf(path: Path, options: Mapping[str, str]) -> Columns:
    """The probability of class 1 per line."""
    columns = Columns(path, tolerance=1e-3)
    for line, text in _example_lines(path, options):
        positive = _number(text, f"{path}, line {line}")
        columns.add(line, None, [1 - positive, positive])
    return columns


def read_softmax(path: Path, options: Mapping[str, str]) -> Columns:
    """The probabilities of all classes per line."""
    columns = Columns(path, tolerance=1e-3)
    for line, text in _example_lines(path, options):
        numbers = [_number(word, f"{path}, line {line}") for word in text.split()]
        if len(numbers) < 2:
            raise DataError(f"{path}, line {line}: softmax needs two or more probabilities, found {text!r}")
        columns.add(line, None, numbers)
    return columns


def read_pred_and_conf(path: Path, options: Mapping[str, str]) -> Columns:
    """A label and its confidence per line."""
    columns = Columns(path, tolerance=1e-3)
    for line, text in _example_lines(path, options):
        words = text.split()
        if len(words) != 2:
            raise DataError(f"{path}, line {line}: a label and a confidence are expected, found {text!r}")
        columns.add(line, _whole(words[0]), [_number(words[1], f"{path}, line {line}")])
    return columns


def read_pred_and_softmax(path: Path, options: Mapping[str, str]) -> Columns:
    """A label, then the probabilities of all classes; the label is believed, not the largest probability."""
    columns = Columns(path, tolerance=1e-3)
    for line, text in _example_lines(path, options):
        words = text.split()
        if len(words) < 3:
            raise DataError(
                f"{path}, line {line}: a label and two or more probabilities are expected, found {text[:60]!r}",
                fix="another format: predictions:FILE?format=" + " or ".join(TEXT_FORMATS[:4]),
            )
        columns.add(line, _whole(words[0]), [_number(word, f"{path}, line {line}") for word in words[1:]])
    return columns


def read_stereoset(path: Path, options: Mapping[str, str]) -> Columns:
    """Refuse, in so many words: sentence scores are for the bias protocol."""
    raise ModelError(
        f"{path}: StereoSet scores, not labels",
        why="a behavioural suite needs a label or probabilities for each example",
        fix="shoal try bias predictions:FILE --set diagnostic=stereoset",
    )


def read_scores(path: Path) -> dict[str, dict[str, float]]:
    """StereoSet's prediction file: task ("intrasentence", "intersentence") to sentence id to score."""
    text = "\n".join(line for _, line in read_lines(path))
    try:
        found = json.loads(text)
    except ValueError as problem:
        raise DataError(f"{path}: not JSON", why=str(problem)) from None
    scores: dict[str, dict[str, float]] = {}
    for task in ("intrasentence", "intersentence"):
        rows = found.get(task, []) if isinstance(found, dict) else []
        for row in rows:
            if not isinstance(row, dict) or not isinstance(row.get("score"), int | float) or "id" not in row:
                raise DataError(f"{path}: {task}: an object with id and score is expected, found {row!r}")
            if row["id"] in scores.setdefault(task, {}):
                raise DataError(f"{path}: {task}: sentence {row['id']!r} is scored twice")
            scores[task][row["id"]] = float(row["score"])
    if not scores:
        raise DataError(f"{path}: no scores under 'intrasentence' or 'intersentence'")
    return scores


READERS: dict[str, Callable[[Path, Mapping[str, str]], Columns]] = {
    "jsonl": read_json,
    "csv": read_csv,
    "pred_only": read_pred_only,
    "binary_conf": read_binary_conf,
    "softmax": read_softmax,
    "pred_and_conf": read_pred_and_conf,
    "pred_and_softmax": read_pred_and_softmax,
    "stereoset": read_stereoset,
}
TEXT_FORMATS = ("pred_only", "binary_conf", "softmax", "pred_and_conf", "pred_and_softmax")


def _example_lines(
    path: Path, options: Mapping[str, str], *, empty_too: bool = False
) -> Iterator[tuple[int, str]]:
    """The lines of a text format; an empty one can only be an answer where answers are words."""
    for line, text in read_lines(path):
        if line == 1 and options.get("header") in ("1", "true", "yes"):
            continue
        if not text.strip() and not empty_too:
            raise DataError(f"{path}, line {line}: empty", why="one line per example is expected")
        yield line, text


def _number(word: str, where: str) -> float:
    try:
        number = float(word)
    except ValueError:
        raise DataError(f"{where}: {word!r} is not a number") from None
    if not math.isfinite(number):
        raise DataError(f"{where}: {word!r} is not a probability")
    return number


def _whole(word: str) -> int | str:
    return int(word) if word.isdecimal() else word


# Which row answers which example


def _rows_by_order(columns: Columns, cases: Sequence[Case], whole: Sequence[Case]) -> NDArray[np.int64]:
    """The file has one line per example of the whole suite, or of the chosen cases only."""
    lines = len(columns.lines)
    wanted = sum(len(case.examples) for case in cases)
    if lines == wanted:
        return np.arange(lines)
    sizes = {case.id: len(case.examples) for case in whole}
    if lines != sum(sizes.values()):
        raise DataError(
            f"{columns.path}: {lines:,} lines for {wanted:,} examples",
            why=f"one line per example of the chosen cases is expected, or of the whole suite: {sum(sizes.values()):,}",
            fix="check the suite and the split the file was made for",
        )
    start, starts = 0, {}
    for identity, size in sizes.items():
        starts[identity] = start
        start += size
    return np.array([starts[case.id] + number for case in cases for number in range(len(case.examples))])


def _rows_by_id(columns: Columns, cases: Sequence[Case], whole: Sequence[Case]) -> NDArray[np.int64]:
    place: dict[Key, int] = {}
    for row, key in enumerate(columns.keys):
        if place.setdefault(key, row) != row:
            raise DataError(
                f"{columns.path}, line {columns.lines[row]}: {_name(key)} is predicted twice",
                why=f"first on line {columns.lines[place[key]]}",
            )
    keys = _keys_of(whole, place)
    rows = [place.get(key, -1) for case in cases for key in keys(case)]
    absent = rows.count(-1)
    if len(rows) - absent < len(
        place
    ):  # some predictions are for nothing that was chosen: for nothing at all?
        _refuse_strangers(columns, place, {key for case in whole for key in keys(case)}, whole)
    if absent:
        missing = [_name(key) for case in cases for key in keys(case) if key not in place]
        raise DataError(
            f"{columns.path}: no prediction for {absent:,} of {len(rows):,} examples",
            why=f"missing: {some(missing, 3)}",
            fix="predict the whole suite, or choose what was predicted with --set split=..., --set profile=...",
        )
    return np.array(rows, dtype=np.int64)


def _refuse_strangers(
    columns: Columns, place: Mapping[Key, int], known: set[Key], whole: Sequence[Case]
) -> None:
    strangers = place.keys() - known
    if strangers:
        first = min(strangers, key=lambda key: place[key])
        raise DataError(
            f"{columns.path}, line {columns.lines[place[first]]}: {_name(first)} is not in the suite",
            why=f"{len(strangers):,} of {len(place):,} predictions belong to no example of it",
            fix=nearest(first[0] or first[1], set(map(group_of, whole))),
        )


def _keys_of(whole: Sequence[Case], place: Mapping[Key, int]) -> Callable[[Case], list[Key]]:
    """How the file names examples: with the functionality, or by case ids that are unique or full."""
    if all(functionality is not None for functionality, _, _ in place):

        def full(case: Case) -> list[Key]:
            name = group_of(case)
            identity = case.id[len(name) + 1 :]
            return [(name, identity, number) for number in range(len(case.examples))]

        return full
    ids = {case.id for case in whole}
    by_full_id = all(identity in ids for _, identity, _ in place)
    shorts = [case.id.removeprefix(group_of(case) + "/") for case in whole]
    if not by_full_id and len(set(shorts)) < len(shorts):
        twice = next(short for short in shorts if shorts.count(short) > 1)
        raise DataError(
            f"case id {twice!r} stands in several functionalities of the suite",
            fix="add a functionality column to the predictions, or ids such as 'functionality/case_id'",
        )

    def short(case: Case) -> list[Key]:
        identity = case.id if by_full_id else case.id.removeprefix(group_of(case) + "/")
        return [(None, identity, number) for number in range(len(case.examples))]

    return short


def group_of(case: Case) -> str:
    """The group whose name a case's id begins with: its functionality, or its cell."""
    return case.groups.get("functionality") or case.groups.get("cell", "")


def _name(key: Key) -> str:
    functionality, identity, number = key
    return f"{functionality + '/' if functionality else ''}{identity}" + (
        f" example {number}" if number else ""
    )


# Labels


def _answers(
    columns: Columns, rows: NDArray[np.int64], suite: Sequence[str] | None, own: tuple[str, ...] | None
) -> Answers:
    """The columns in the suite's label order; `own` is the order of the file's probabilities, if it says."""
    widths = np.array(columns.widths)
    width = int(widths.max(initial=0))
    uneven = np.flatnonzero((widths != width) & (widths > 1))
    if len(uneven):
        line = columns.lines[uneven[0]]
        raise DataError(
            f"{columns.path}, line {line}: {widths[uneven[0]]} probabilities where others have {width}"
        )
    labels = _label_space(columns, suite, own, width)
    predictions = _label_indices(columns, labels, own if width > 1 else None)[rows]
    errors = {at: columns.errors[row] for at, row in enumerate(rows.tolist()) if row in columns.errors}
    if not width:
        return Answers(labels, predictions, errors=errors)
    table = np.full((len(widths), width), np.nan)
    table[widths == width] = np.array(columns.numbers)[np.repeat(widths, widths) == width].reshape(-1, width)
    if width == 1:
        return Answers(labels, predictions, confidences=table[rows, 0], errors=errors)
    order = [own.index(name) for name in labels] if own else slice(None)
    return Answers(labels, predictions, table[rows][:, order], errors=errors)


def _label_indices(
    columns: Columns, labels: tuple[str, ...], own: tuple[str, ...] | None
) -> NDArray[np.int64]:
    """Predictions, by name or number, as indices into the labels; a number counts in the file's own order."""
    codes: dict[int | str | None, int] = {
        None: 0
    }  # no answer: counted as an error, its label is never looked at
    for position, name in enumerate(own or labels):
        codes |= dict.fromkeys((position, str(position), name), labels.index(name))
    for row, prediction in enumerate(columns.predictions):
        if prediction not in codes:
            raise DataError(
                f"{columns.path}, line {columns.lines[row]}: label {prediction!r} is not one of {', '.join(labels)}",
                fix=nearest(str(prediction), labels) or "?labels= names the labels behind numbers, in order",
            )
    return np.array([codes[prediction] for prediction in columns.predictions], np.int64)


def _label_space(
    columns: Columns, suite: Sequence[str] | None, own: tuple[str, ...] | None, width: int
) -> tuple[str, ...]:
    """The labels that predictions are indices into."""
    ends = (suite[0], suite[-1]) if suite and len(suite) == 3 else ()
    if suite and width == 2 and len(ends) == 2 and (own is None or set(own) == set(ends)):
        return ends  # a two-class sentiment model: the neutral band is the scorer's business
    if suite:
        if own and set(own) != set(suite):
            raise DataError(
                f"{columns.path}: probabilities of {', '.join(own)}; the suite's labels are {', '.join(suite)}",
                fix="?labels= with the suite's own names, in the order of the file's probabilities",
            )
        if width > 1 and width != len(suite):
            raise DataError(
                f"{columns.path}: {width} probabilities; the suite has {len(suite)} labels: {', '.join(suite)}"
            )
        return tuple(suite)
    if own:
        return own
    words = {prediction for prediction in columns.predictions if isinstance(prediction, str)}
    if words and width < 2:
        return tuple(sorted(words))
    highest = max(
        (prediction for prediction in columns.predictions if isinstance(prediction, int)), default=0
    )
    return tuple(str(position) for position in range(max(width, highest + 1)))


def _texts(columns: Columns, rows: NDArray[np.int64]) -> Answers:
    """Answers in words, for reading comprehension."""
    texts = [
        "" if columns.predictions[row] is None else str(columns.predictions[row]) for row in rows.tolist()
    ]
    errors = {at: columns.errors[row] for at, row in enumerate(rows.tolist()) if row in columns.errors}
    return Answers((), np.zeros(len(rows), np.int64), texts=texts, errors=errors)
