"""Answers as rows, which the store keeps one by one, and as columns, which scoring reads."""

import json
import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ..core.errors import DataError
from ..core.records import Answer, Answers
from .batching import Questions
from .interface import Asked
from .validate import check_numbers, number_labels

AT_ONCE = 10_000
"""Rows converted from columns at a time."""
NO_ANSWER = "no answer"
"""Key in an answer's details: the model's reply is not one of the labels."""
FLAGS = ("low mass", "truncated")
"""Keys in an answer's details: the labels have little probability; another label may be hidden."""
SAID = "said"
"""Key in an answer's details: the reply, from which the label was read unless `mass` is there."""


QUOTED = json.encoder.encode_basestring
_CHUNKS: Callable[[object, int], tuple[str, ...]] = json.encoder.c_make_encoder(  # type: ignore[attr-defined]
    None, json.JSONEncoder().default, QUOTED, None, ": ", ", ", False, False, True
)


def encoded(value: object) -> str:
    """Return a value as a line of JSON; `JSONEncoder.encode` would create a C encoder for each line: twice the time."""
    return "".join(_CHUNKS(value, 0))


def answer_line(row: Answer) -> str:
    """Return an answer as a line of the store; the mark only if there is one."""
    plain = {"example_id": row.example_id, "kind": row.kind, "data": row.data, "error": row.error}
    return encoded({**plain, "mark": row.mark} if row.mark else plain) + "\n"


class NoAnswerError(DataError):
    """Raised if the stored rows have no answer to some examples."""


class AnswerRows(Sequence[Answer]):
    """Columns as rows, made on demand.

    The first answered row carries the mapping from the model's labels to the suite's.
    """

    def __init__(self, answers: Answers, ids: Sequence[str]) -> None:
        if len(ids) != len(answers.predictions):
            raise DataError(
                f"{len(answers.predictions):,} answers for {len(ids):,} examples",
                fix="give one answer per example",
            )
        self.answers = answers
        self.ids = ids
        labelled = bool(answers.label_map or answers.band) and not answers.texts
        answered = (row for row in range(len(ids)) if row not in answers.errors)
        self._first = next(answered, -1) if labelled else -1

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, place: int) -> Answer: ...
    @overload
    def __getitem__(self, place: slice) -> list[Answer]: ...
    def __getitem__(self, place: int | slice) -> Answer | list[Answer]:
        if isinstance(place, slice):
            return list(self._rows(place))
        row = range(len(self))[place]
        return next(self._rows(slice(row, row + 1)))

    def __iter__(self) -> Iterator[Answer]:
        for start in range(0, len(self), AT_ONCE):
            yield from self._rows(slice(start, start + AT_ONCE))

    def read_back(self, questions: Questions) -> Answers | None:
        """Return the columns that reading the stored rows would give, or None if the rows must be read.

        Possible for answers to exactly these questions that all have probabilities.
        """
        columns, vectors = self.answers, self.answers.probabilities
        is_plain = not (columns.errors or columns.texts or columns.details)
        if vectors is None or not is_plain or not np.isfinite(vectors).all():
            return None
        if self.ids != questions.ids or not np.array_equal(questions.rows, np.arange(len(self))):
            return None
        return replace(columns, confidences=None, facts={}, unparsed=frozenset())

    def lines(self, part: slice) -> Iterator[str]:
        """Yield some rows as lines of the store.

        Rows of labels alone, which are the many of stored predictions, become text without becoming objects.
        """
        answers, ids, first = self.answers, self.ids[part], self._first
        if first in range(len(self))[part]:
            yield from self.lines(slice(part.start, first))
            yield answer_line(self[first])
            yield from self.lines(slice(first + 1, part.stop))
            return
        vectors, confidences = answers.probabilities, answers.confidences
        given = [column[part] for column in (vectors, confidences) if column is not None]
        if answers.errors or answers.texts or answers.details or any(np.isnan(each).any() for each in given):
            yield from map(answer_line, self[part])
            return
        names = [QUOTED(name).replace("%", "%%") for name in answers.labels]
        kind, more, columns = "label", "", [column.tolist() for column in given]
        if vectors is not None:
            kind, columns = "probabilities", vectors[part].T.tolist()
            more = f', "probabilities": {{{", ".join(f"{name}: %r" for name in names)}}}'
        elif confidences is not None:
            more = ', "confidence": %r'
        form = f'{{"example_id": %s, "kind": "{kind}", "data": {{"label": %s{more}}}, "error": ""}}\n'
        words = [QUOTED(answers.labels[code]) for code in answers.predictions[part].tolist()]
        yield from map(form.__mod__, zip(map(QUOTED, ids), words, *columns, strict=True))

    def _rows(self, part: slice) -> Iterator[Answer]:
        """Yield some rows. Converting a block of a column at a time is ten times as fast as row by row."""
        answers = self.answers
        columns = (answers.predictions, answers.probabilities, answers.confidences)
        plain = (repeat(None) if column is None else column[part].tolist() for column in columns)
        for row, identity, prediction, vector, confidence in zip(
            range(len(self))[part], self.ids[part], *plain, strict=False
        ):
            details = dict(answers.details[row]) if answers.details else {}
            if row in answers.errors:
                message = answers.errors[row]
                yield Answer(identity, "span" if answers.texts else "label", details or None, message)
            elif answers.texts:
                text = answers.texts[row]
                yield Answer(identity, "span", {"text": text, **details} if details else text)
            else:
                data = {"label": answers.labels[prediction], **details}
                if vector is not None and vector[0] == vector[0]:
                    data["probabilities"] = dict(zip(answers.labels, vector, strict=True))
                elif confidence is not None and confidence == confidence:
                    data["confidence"] = confidence
                if row == self._first:
                    data["taken"] = {"labels": dict(answers.label_map), "band": answers.band}
                yield Answer(identity, "probabilities" if "probabilities" in data else "label", data)


# Rows to columns


def answers_by_mark(rows: Iterable[Answer], questions: Questions, built: Asked) -> dict[str, Any]:
    """Return the stored rows in the form that scoring takes, for each mark (moment of training).

    That is `Answers` for labels and spans, else the rows of each case. The last mark is the end of the training.
    """
    as_columns = built.asks in ("labels", "spans")
    if as_columns and isinstance(rows, AnswerRows) and (columns := rows.read_back(questions)) is not None:
        return {"": _checked(columns, built)}
    marks: dict[str, tuple[_Places, _Columns | list[Answer]]] = {}
    for row in rows:
        if row.mark not in marks:
            marks[row.mark] = _Places(questions), _Columns() if as_columns else []
        places, kept = marks[row.mark]
        places.add(row.example_id)
        kept.append(row)
    if not marks:
        raise NoAnswerError(
            f"none of {len(questions.ids):,} examples has an answer",
            fix="shoal run PLAN queries the model again",
        )
    return {mark: _arranged(kept, places.order().tolist(), built) for mark, (places, kept) in marks.items()}


def _arranged(kept: "_Columns | list[Answer]", order: Sequence[int], built: Asked) -> Any:
    if isinstance(kept, _Columns):
        labels = built.labels or number_labels(built.cases)
        return _checked(take_rows(kept.answers(labels), order), built)
    flat = iter([kept[row] for row in order])
    return [[next(flat) for _ in case.examples] for case in built.cases]


def _checked(answers: Answers, built: Asked) -> Answers:
    """Return the answers; raise if the suite's labels are numbers and the model's are not."""
    if not built.labels and built.asks == "labels":
        check_numbers(answers, number_labels(built.cases), "the model")
    return answers


def answer_columns(rows: Iterable[Answer], labels: Sequence[str] | None) -> Answers:
    """Return stored rows as columns, in their own order."""
    columns = _Columns()
    for row in rows:
        columns.append(row)
    return columns.answers(labels)


class _Places:
    """Finds the row that answers each question."""

    def __init__(self, questions: Questions) -> None:
        self._questions, self._ids = questions, list(questions.ids)
        self._rows = np.full(len(questions.ids), -1, np.int64)
        self._numbers: dict[str, int] = {}  # question ids to positions, filled once rows are out of order
        self._count = 0

    def add(self, example_id: str) -> None:
        ids, number = self._ids, self._count
        if number >= len(ids) or ids[number] != example_id:
            self._numbers = self._numbers or {name: place for place, name in enumerate(ids)}
            number = self._numbers.get(example_id, -1)
        if number >= 0:
            self._rows[number] = self._count
        self._count += 1

    def order(self) -> NDArray[np.int64]:
        """Return the row that answers each example of the cases."""
        missing = int((self._rows < 0).sum())
        if missing:
            raise NoAnswerError(
                f"{missing:,} of {len(self._rows):,} examples have no answer",
                fix="shoal run PLAN queries them again; answers to other cases do not fit",
            )
        return self._rows[self._questions.rows]


class _Columns:
    """Collects rows into columns as they arrive, so that they need not all be in memory."""

    def __init__(self) -> None:
        self._count = 0
        self._errors: dict[int, str] = {}
        self._texts: list[str] = []  # filled from the first span on
        self._used: dict[str, int] = {}  # label to its number in `_labels`
        self._labels = array("q")  # (rows,), -1 without a label
        self._names: tuple[str, ...] = ()  # of the probabilities
        self._with_vector, self._vectors = array("q"), array("d")
        self._confidences = array("d")  # (rows,), NaN without one
        self._cuts: list[int] = []
        self._flags = dict.fromkeys(FLAGS, 0)
        self._unparsed: set[int] = set()
        self._read = self._stopped = 0
        self._taken: list[dict[str, Any]] = []

    def append(self, row: Answer) -> None:
        place = self._count
        self._count += 1
        self._read += isinstance(row.data, dict) and SAID in row.data and "mass" not in row.data
        if row.error:
            self._errors[place] = row.error
            if isinstance(row.data, dict) and NO_ANSWER in row.data:
                self._unparsed.add(place)
        if row.kind == "span" or self._texts:
            self._stopped += isinstance(row.data, dict) and row.data.get("finish") == "length"
            self._texts += [""] * (place - len(self._texts))
            text = row.data["text"] if isinstance(row.data, dict) and not row.error else row.data
            self._texts.append("" if row.error else str(text))
        elif row.error or not row.data:
            self._labels.append(-1)
            self._confidences.append(math.nan)
        else:
            self._add_label(place, row.data)

    def _add_label(self, place: int, data: dict[str, Any]) -> None:
        self._labels.append(self._used.setdefault(data["label"], len(self._used)))
        vector = data.get("probabilities")
        if vector:
            self._names = self._names or tuple(vector)
            self._with_vector.append(place)
            self._vectors.extend([vector[name] for name in self._names])
        self._confidences.append(data.get("confidence", math.nan))
        if "cut" in data:
            self._cuts.append(data["cut"])
        for flag in FLAGS:
            self._flags[flag] += flag in data
        if "taken" in data:
            self._taken.append(data["taken"])

    def answers(self, labels: Sequence[str] | None) -> Answers:
        if self._texts:
            return Answers(
                (),
                np.zeros(self._count, np.int64),
                texts=self._texts,
                errors=self._errors,
                facts={"stopped": self._stopped, "asked": self._count} if self._stopped else {},
                unparsed=frozenset(self._unparsed),
            )
        names = self._names or _label_names(self._used, labels)
        code = {name: number for number, name in enumerate(names)}
        codes = np.array([code[name] for name in self._used] + [0], np.int64)  # -1 reads the last
        probabilities = confidences = None
        if self._names:
            probabilities = np.full((self._count, len(names)), np.nan)
            probabilities[np.array(self._with_vector)] = np.array(self._vectors).reshape(-1, len(names))
        elif not np.isnan(self._confidences).all():
            confidences = np.array(self._confidences)
        cuts = {"cut": len(self._cuts), "cut by": max(self._cuts, default=0)} if self._cuts else {}
        about = {**cuts, **{flag: times for flag, times in self._flags.items() if times}}
        return Answers(
            names,
            codes[np.array(self._labels, np.int64)],
            probabilities,
            confidences,
            errors=self._errors,
            facts=({**about, "asked": self._count} if about else {})
            | ({"read": self._read} if self._read else {}),
            label_map={name: label for taken in self._taken for name, label in taken["labels"].items()},
            band=any(taken["band"] for taken in self._taken),
            unparsed=frozenset(self._unparsed),
        )


def take_rows(answers: Answers, rows: Sequence[int]) -> Answers:
    """Return the answers in these rows."""
    errors, at = {}, np.asarray(rows, np.int64)
    if answers.errors:
        errors = {place: answers.errors[row] for place, row in enumerate(rows) if row in answers.errors}
    return replace(
        answers,
        predictions=answers.predictions[at],
        probabilities=None if answers.probabilities is None else answers.probabilities[at],
        confidences=None if answers.confidences is None else answers.confidences[at],
        texts=[answers.texts[row] for row in rows] if answers.texts else (),
        errors=errors,
        unparsed=frozenset(place for place in errors if rows[place] in answers.unparsed),
        details=(),
    )


def _label_names(used: Iterable[str], labels: Sequence[str] | None) -> tuple[str, ...]:
    """Return the labels of rows without probabilities, in the suite's order if it has one."""
    names = set(used)
    if labels and names <= set(labels):
        return tuple(labels)
    if all(name.isdecimal() for name in names):
        return tuple(sorted(names | set(labels or ()), key=int)) or ("0", "1")
    return tuple(sorted(names))
