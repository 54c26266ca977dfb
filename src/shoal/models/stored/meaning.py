"""Map the labels of a predictions file to the suite's, and turn its columns into answers.

The sources, in this order:

    `?labels=`                      a list of the suite's names, or pairs of both sides' names
    names that agree                ignoring case, spaces and punctuation
    the conventions of the format   CheckList's numbers, `pred` and `conf` of our JSON, a dataset's classes

Everything else is an error with the option to add: a wrong guess would invert every prediction.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import DataError, nearest, some
from ...core.records import Answers
from ..answer_rows import SAID
from ..labels import Spellings, extreme_labels, labels_option, plain
from ..prompted.replies import parse, unread_reply, without_thinking
from ..validate import check_confidences, check_probabilities
from .columns import MOST_NUMBERS, Columns, Prediction, Request, SuiteLabels, shown

NAME = "NAME"
LABELS_ALONE = "a probability column for every label, or ?probabilities=no to read labels alone"


@dataclass(frozen=True, slots=True)
class Meaning:
    """The labels of the answers, and the mapping from the file's labels to them."""

    labels: tuple[str, ...]
    answers: Mapping[Prediction, str]
    """The file's answers to the labels."""
    columns: tuple[str, ...]
    """The label of each column of probabilities."""
    shown: Mapping[str, str]
    """The file's words to the suite's, for display."""


# Answers


def label_answers(request: Request, columns: Columns, rows: NDArray[np.int64]) -> Answers:
    """Return the answers of the rows, with the suite's labels."""
    width, reader = _width(columns), _LabelReader(request, columns)
    details = _parse_replies(reader, rows) if columns.generated else ()
    meaning = _read_meaning(reader, width)
    table = _table(columns, meaning, width)
    codes = _codes(columns, meaning, table)
    if width > 1:
        check_probabilities(table, codes, meaning.labels, columns.where)
    else:
        check_confidences(table[:, 0], len(request.labels.known), columns.where)
    return Answers(
        meaning.labels,
        _taken(codes, rows),
        probabilities=_taken(table, rows) if width > 1 else None,
        confidences=table[rows, 0] if width == 1 else None,
        errors=_errors(columns, rows),
        label_map=meaning.shown,
        band=width > 1 and meaning.labels == extreme_labels(request.labels.names),
        details=details,
    )


def _taken(column: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[Any]:
    """Return some rows of a column, without a copy if they are all of them in order."""
    return column if np.array_equal(rows, np.arange(len(column))) else column[rows]


def _parse_replies(reader: "_LabelReader", rows: NDArray[np.int64]) -> list[dict[str, str]]:
    """Read labels from generated replies as from an endpoint's, and return the details of each answer.

    A reply without a label becomes an error of its row. If no reply is exactly a label, the words of the log may be
    other names of the labels, so that nothing is parsed.
    """
    columns, known = reader.file, reader.suite.known
    labels = {word: reader.label(word) for word in _distinct_words(columns)}
    details: list[dict[str, Any]] = [
        {} if word is None else {SAID: str(word)} for word in columns.predictions
    ]
    if any(labels.values()):
        for row, word in enumerate(columns.predictions):
            if word is None or labels[word] is not None:
                continue
            columns.predictions[row] = name = reader.label_in(str(word))
            if name is None:
                answer = without_thinking(str(word)) or str(word)
                reply = unread_reply(answer, known, **details[row])
                columns.errors[row], details[row] = reply.error, dict(reply.details)
    return [details[row] for row in rows.tolist()]


def text_answers(columns: Columns, rows: NDArray[np.int64]) -> Answers:
    """Return the answers of the rows as texts, for reading comprehension."""
    predictions = [columns.predictions[row] for row in rows.tolist()]
    texts = ["" if prediction is None else str(prediction) for prediction in predictions]
    return Answers((), np.zeros(len(rows), np.int64), texts=texts, errors=_errors(columns, rows))


def _errors(columns: Columns, rows: NDArray[np.int64]) -> dict[int, str]:
    if not columns.errors:
        return {}
    return {place: columns.errors[row] for place, row in enumerate(rows.tolist()) if row in columns.errors}


def _width(columns: Columns) -> int:
    """Return the number of probabilities per row, the same in every row that has any."""
    widths = np.frombuffer(columns.widths, np.int64)
    width = int(widths.max(initial=0))
    uneven = np.flatnonzero((widths != width) & (widths > 0))
    if len(uneven):
        row = int(uneven[0])
        raise DataError(
            f"{columns.where(row)}: {widths[row]} probabilities, others have {width}",
            fix="the same number in every row: one per label, or the confidence of the label",
        )
    return width


def _table(columns: Columns, meaning: Meaning, width: int) -> NDArray[np.float64]:
    """Return one row per answer and one column per label, or one confidence; NaN without probabilities."""
    widths = np.frombuffer(columns.widths, np.int64)
    given = np.frombuffer(columns.numbers).reshape(-1, max(width, 1))
    if width < 2:
        table = np.full((len(widths), 1), np.nan)
        table[widths == 1] = given
        return table
    table = np.zeros((len(widths), len(meaning.labels)))
    table[widths == 0] = np.nan
    places = {label: place for place, label in enumerate(meaning.labels)}
    table[np.ix_(widths == width, [places[label] for label in meaning.columns])] = given
    return table


def _codes(columns: Columns, meaning: Meaning, table: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return each answer as an index into the labels; without one, the most probable, the first on ties."""
    place = {label: code for code, label in enumerate(meaning.labels)}
    codes: dict[Prediction, int] = {word: place[label] for word, label in meaning.answers.items()}
    codes[None] = -1
    found = map(codes.__getitem__, columns.predictions)
    predictions = np.fromiter(found, np.int64, len(columns.predictions))
    left = predictions < 0
    if left.any():  # rows with errors get any label, which is never used
        predictions[left] = np.nan_to_num(table[left], nan=0.0).argmax(axis=1)
    return predictions


# Labels


def _read_meaning(reader: "_LabelReader", width: int) -> Meaning:
    """Return the suite's label of every answer and of every column of probabilities."""
    request, columns = reader.request, reader.file
    words = _distinct_words(columns)
    by_column = reader.columns(width) if width > 1 else ()
    answers = reader.answers(words)
    labels = _label_space(request.labels, by_column, list(answers.values()))
    if request.labels.known and width < 2:
        _refuse_two_of_three(request, columns, words)
    column_words = columns.column_names or tuple(map(str, range(width)))
    pairs = [
        *zip(column_words, by_column, strict=False),
        *((str(word).strip(), answers[word]) for word in words),
    ]
    order = {label: place for place, label in enumerate(labels)}
    lacking = next((label for _, label in pairs if label not in order), None)
    if lacking is not None:
        raise DataError(
            f"{request.path}: the answer {lacking!r} has no probability",
            why=f"there are probabilities of {', '.join(by_column)}",
            fix=LABELS_ALONE,
        )
    in_order = dict(sorted(pairs, key=lambda pair: order[pair[1]])) if request.labels.known else {}
    return Meaning(labels, answers, by_column, in_order)


def _distinct_words(columns: Columns) -> list[Prediction]:
    """Return the distinct answers of a file, in order of first appearance."""
    words = dict.fromkeys(columns.predictions)
    words.pop(None, None)
    blank = next((word for word in words if isinstance(word, str) and not word.strip()), None)
    if blank is not None:
        raise DataError(
            f"{columns.where(columns.predictions.index(blank))}: no label",
            fix='fill it in; JSON Lines may have "error": "…" instead of an answer',
        )
    return list(words)


class _LabelReader:
    """Maps the file's words to the suite's labels."""

    def __init__(self, request: Request, columns: Columns) -> None:
        self.request, self.file, self.suite = request, columns, request.labels
        self.given = request.options.labels
        self._theirs, self._ours_by_name = Spellings(self.given.names), Spellings(self.suite.known)
        names = [*self.given.order, *self.given.names.values()]
        wrong = [name for name in names if self._ours_by_name.get(name) is None]
        if self.suite.numbers:
            wrong = [name for name in wrong if _number(name) is None]
        if wrong and self.suite.known:
            raise DataError(
                f"predictions:{self.request.path}: labels= names {wrong[0]!r}; the suite's labels are {self.suite}",
                fix=nearest(wrong[0], self.suite.known)
                or "the suite's names, after the colon if there is one",
            )

    def name(self, word: str) -> str | None:
        """Return the suite's label for a name, from `?labels=` or because the names agree."""
        theirs = self._theirs.get(word)
        if theirs is not None:
            return self._ours(self.given.names[theirs])
        if not self.suite.known:
            return word
        if self.suite.numbers:
            number = _number(word)
            return None if number is None or not self._is_possible(number) else str(number)
        return self._ours_by_name.get(word)

    def _ours(self, name: str) -> str:
        return self._ours_by_name.get(name) or name

    def _is_possible(self, number: int) -> bool:
        """Return whether a suite without names may have this number; one known number excludes none."""
        return number in self.suite.numbers or len(self.suite.numbers) < 2

    # Columns of probabilities

    def columns(self, width: int) -> tuple[str, ...]:
        """Return the label of each column: all of the suite's, or the two extremes of three."""
        names, order = self.file.column_names, self.given.order
        by_name = [self.name(name) for name in names]
        explicit = self.request.options.probabilities is not None
        use_order = bool(order) and (explicit or not names or None in by_name)
        stated = order if use_order else names
        if stated and len(stated) != width:
            raise DataError(
                f"{self.request.path}: {width} probabilities and {len(stated)} names of labels",
                why=f"the names are {some(stated, 8)}",
                fix=f"one name per probability; the suite's labels are {self.suite}",
            )
        if use_order:
            labels = [self._ours(name) for name in order]
        elif None in by_name:
            raise self._refused(names, _map_line(names, self.suite))
        else:
            labels = [label for label in by_name if label is not None] or self._by_place(width)
        absent = (
            sorted(set(self.suite.known) - set(labels))
            if set(labels) != set(extreme_labels(self.suite.names))
            else []
        )
        if absent or len(set(labels)) < len(labels):
            raise DataError(
                f"{self.request.path}: probabilities of {', '.join(labels)}; the suite's labels are {self.suite}",
                why=f"missing: {', '.join(absent)}" if absent else "two columns have the same label",
                fix=LABELS_ALONE,
            )
        return tuple(labels)

    def _by_place(self, width: int) -> list[str]:
        """Return the suite's labels in order, if the format has that convention."""
        suite = self.suite
        if suite.names:
            fits = self.file.ordered and suite.in_order and width == len(suite.names)
            places = list(suite.names)
        else:
            fits = self.file.ordered or not suite.known
            fits &= all(map(self._is_possible, range(width))) and all(n < width for n in suite.numbers)
            places = [str(place) for place in range(width)]
        if fits:
            return places
        raise self._refused([f"{width} probabilities without names"], _list_line(width, suite))

    # Answers

    def answers(self, words: Sequence[Prediction]) -> dict[Prediction, str]:
        """Return the label of each answer.

        The error for unknown answers names the line of a single slip, and for other labels the option to add.
        """
        labels = {word: label for word in words if (label := self.label(word)) is not None}
        unknown = [word for word in words if word not in labels]
        if not unknown:
            return labels
        texts = [str(word).strip() for word in words]
        numbers = [number for word in words if (number := _number(word)) is not None]
        are_numbers = len(numbers) == len(words)
        if labels or (are_numbers and (self.file.numbered or self.suite.numbers)):
            row = self.file.predictions.index(unknown[0])
            raise DataError(
                f"{self.file.where(row)}: label {shown(unknown[0])} is not one of {self.suite}",
                fix=nearest(_cut(str(unknown[0])), self.suite.known)
                or _map_line(texts if numbers else [str(unknown[0])], self.suite),
            )
        line = _list_line(max(numbers) + 1, self.suite) if are_numbers else _map_line(texts, self.suite)
        raise self._refused([f"answers {some(sorted(map(_cut, texts)), 8)}"], line)

    def label_in(self, reply: str) -> str | None:
        """Return the only name of a label that a reply gives, in the file's or the suite's words."""
        names = list(dict.fromkeys((*self.given.names, *self.suite.known)))
        answer = without_thinking(reply)
        place = None if answer is None else parse(answer, names)
        return None if place is None else names[place]

    def label(self, word: Prediction) -> str | None:
        """Return the suite's label of an answer; None if it is not the name or number of one."""
        text, number = str(word).strip(), _number(word)
        if self._theirs.get(text) is not None:
            return self.name(text)
        if number is not None:
            if self.given.order:
                return self._ours(self.given.order[number]) if number < len(self.given.order) else None
            if self.file.number_names:
                named = self.file.number_names[number : number + 1]
                return self.name(named[0]) if named else None
            text = str(number)
        by_name = self.name(text)
        by_number = None
        if number is not None and self.file.numbered and self.suite.in_order:
            by_number = next(iter(self.suite.names[number : number + 1]), None)
        if by_name and by_number and by_name != by_number:
            names = self.suite.names
            raise DataError(
                f"{self.request.path}: {text} may be the label {by_name}, or label number {text}, {by_number}",
                why=f"the suite's labels are {self.suite}",
                fix=f"?labels={labels_option(names)} if numbers count from 0, "
                f"?labels={labels_option({name: name for name in names})} if they are names",
            )
        return by_name or by_number

    def _refused(self, theirs: Iterable[str], line: str) -> DataError:
        return DataError(
            f"{self.request.path}: it has {some(theirs, 8)}; the suite's labels are {self.suite}",
            why="the mapping is unknown; a wrong guess would invert every prediction",
            fix=line,
        )


def _label_space(suite: SuiteLabels, by_column: Sequence[str], answered: Sequence[str]) -> tuple[str, ...]:
    """Return the labels that predictions are indices into, in the suite's order if it has one."""
    if suite.names:
        there = set(by_column or suite.names)
        return tuple(label for label in suite.names if label in there)
    numbers = [number for label in (*by_column, *answered) if (number := _number(label)) is not None]
    if suite.numbers or (numbers and len(numbers) == len(by_column) + len(answered)):
        return tuple(map(str, range(max([*numbers, *suite.numbers], default=0) + 1)))
    return tuple(by_column) or tuple(sorted(set(answered))) or ("0", "1")


def _refuse_two_of_three(request: Request, columns: Columns, words: Sequence[Prediction]) -> None:
    """Raise for two numbers and three labels: 1 of a binary model would be read as the middle label."""
    given, known = request.options.labels, request.labels.known
    numbers = {_number(word) for word in words}
    meant = given.order or given.names or columns.number_names
    if meant or len(known) != 3 or len(numbers) != 2 or None in numbers:
        return
    ends = {0, 2} if request.labels.names else {request.labels.numbers[0], request.labels.numbers[2]}
    if numbers != ends:
        raise DataError(
            f"{request.path}: the only answers are {' and '.join(sorted(map(str, numbers)))}; "
            f"the suite's labels are {request.labels}",
            why="a binary model numbers its labels differently from a model with three",
            fix=f"?labels={labels_option(known)} if they count these three, "
            f"?labels={labels_option([known[0], known[2]])} if the model is binary",
        )


def _map_line(theirs: Sequence[str], suite: SuiteLabels) -> str:
    """Return `?labels=` with pairs; a name of the suite only if it is beyond doubt, and never a number."""
    by_meaning = {plain(name): name for name in suite.names}
    pairs = {_cut(name): by_meaning.get(plain(name), NAME) for name in theirs[:8]}
    places = "" if NAME not in pairs.values() else f", with {suite} in place of {NAME}"
    return f"?labels={labels_option(pairs)}{places}"


def _list_line(width: int, suite: SuiteLabels) -> str:
    names = ",".join([NAME] * min(max(width, 2), 8))
    return f"?labels={names}, with {suite} in the order of the file's numbers or columns"


def _number(word: Prediction) -> int | None:
    """Return the number that a label is, such as 2, "2" or "2.0"; None for names and large numbers."""
    if isinstance(word, int):
        return word if 0 <= word < MOST_NUMBERS else None
    whole, point, rest = (word or "").strip().partition(".")
    if not (whole.isascii() and whole.isdecimal()) or (point and rest.strip("0")) or len(whole) > 9:
        return None
    number = int(whole)
    return number if number < MOST_NUMBERS and whole == str(number) else None


def _cut(word: str) -> str:
    return word if len(word) <= 40 else word[:37] + "…"
