"""What the labels of a predictions file mean in the suite.

Taken, in this order, and nothing else:

    what `?labels=` says                         a list of the suite's names, or pairs of both sides' names
    names that agree                             case, spaces and punctuation aside
    what the file's own format says              CheckList's numbers, `pred` and `conf` of our JSON, a dataset's classes

Everything else is refused, with both sides and the line to add: half of all guesses turn every answer round.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...core.errors import DataError, nearest, some
from ..labels import Spellings, extreme_labels, labels_option, plain
from .asked import MOST_NUMBERS, Request, SuiteLabels
from .columns import Columns, Prediction, shown

NAME = "NAME"


@dataclass(frozen=True, slots=True)
class Meaning:
    """The labels of the answers, and which of them the file's own are."""

    labels: tuple[str, ...]
    answers: Mapping[Prediction, str]
    """What stands where an answer does, to the label."""
    columns: tuple[str, ...]
    """The label of each column of probabilities."""
    shown: Mapping[str, str]
    """The file's words, to the suite's: for people."""


def meaning_of(request: Request, columns: Columns, width: int) -> Meaning:
    """Which of the suite's labels every answer and every column of probabilities is."""
    words = _words(columns)
    reader = _Reader(request, columns)
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
    for _, label in pairs:
        if label not in order:
            raise DataError(
                f"{request.path}: label {label!r} is answered and has no probability",
                why=f"there are probabilities of {', '.join(by_column)}",
                fix="a probability column for every label, or ?probabilities=no to read labels alone",
            )
    in_order = dict(sorted(pairs, key=lambda pair: order[pair[1]])) if request.labels.known else {}
    return Meaning(labels, answers, by_column, in_order)


def _words(columns: Columns) -> list[Prediction]:
    """The different answers of a file, in the order in which they come."""
    words = dict.fromkeys(columns.predictions)
    words.pop(None, None)
    blank = next((word for word in words if isinstance(word, str) and not word.strip()), None)
    if blank is not None:
        raise DataError(
            f"{columns.where(columns.predictions.index(blank))}: no label",
            fix='fill it in; JSON Lines can say "error": "…" where the model gave no answer',
        )
    return list(words)


class _Reader:
    """The file's words, one by one, in the suite's."""

    def __init__(self, request: Request, columns: Columns) -> None:
        self.request, self.file, self.suite = request, columns, request.labels
        self.given = request.options.labels
        self._theirs, self._ours_by_name = Spellings(self.given.names), Spellings(self.suite.known)
        self._check_given()

    def _check_given(self) -> None:
        """The names on the suite's side of `?labels=` are the suite's."""
        names = [*self.given.order, *self.given.names.values()]
        if not self.suite.known:
            return
        wrong = [name for name in names if self._ours_by_name.get(name) is None]
        if self.suite.numbers:
            wrong = [name for name in wrong if _number(name) is None]
        if wrong:
            raise DataError(
                f"predictions:{self.request.path}: labels= names {wrong[0]!r}; the suite's labels are {self.suite}",
                fix=nearest(wrong[0], self.suite.known)
                or "the suite's names, behind the colon where there is one",
            )

    def name(self, word: str) -> str | None:
        """The suite's label of that name, as the user says or as the names agree."""
        theirs = self._theirs.get(word)
        if theirs is not None:
            return self._ours(self.given.names[theirs])
        if not self.suite.known:
            return word
        if self.suite.numbers:
            number = _number(word)
            return None if number is None or not self._may_be(number) else str(number)
        return self._ours_by_name.get(word)

    def _ours(self, name: str) -> str:
        return self._ours_by_name.get(name) or name

    def _may_be(self, number: int) -> bool:
        """Whether a suite without names can mean it; of one number that it has, little can be told."""
        return number in self.suite.numbers or len(self.suite.numbers) < 2

    # Columns of probabilities

    def columns(self, width: int) -> tuple[str, ...]:
        """The label of each."""
        names, order = self.file.column_names, self.given.order
        if names and len(names) != width:
            raise DataError(
                f"{self.request.path}: {width} probabilities, and the file names {len(names)} labels",
                why=f"it names {some(names, 8)}",
                fix="a probability for each name",
            )
        by_name = [self.name(name) for name in names]
        explicit = self.request.options.probabilities is not None
        if order and (explicit or not names or None in by_name):
            if len(order) != width:
                raise DataError(
                    f"{self.request.path}: {width} probabilities, and labels= names {len(order)}",
                    fix=f"?labels= with {width} of the suite's names: {self.suite}",
                )
            chosen = [self._ours(name) for name in order]
        elif names:
            chosen = self._all(names, by_name)
        elif self.suite.known and not (self.file.ordered and self.suite.in_order):
            raise self._refused([f"{width} probabilities without names"], _list_line(width, self.suite))
        else:
            chosen = self._by_place(width)
        return self._checked(chosen)

    def _all(self, names: Sequence[str], labels: Sequence[str | None]) -> list[str]:
        if None in labels:
            raise self._refused(names, _map_line(names, self.suite))
        return [label for label in labels if label is not None]

    def _by_place(self, width: int) -> list[str]:
        """By the convention of the format: the first is the suite's first label, and so on."""
        if not self.suite.names:
            there = all(map(self._may_be, range(width))) and all(
                number < width for number in self.suite.numbers
            )
            if not there:
                raise self._refused([f"{width} probabilities without names"], _list_line(width, self.suite))
            return [str(place) for place in range(width)]
        if width != len(self.suite.names):
            ends = extreme_labels(self.suite.names) if width == 2 else ()
            line = _list_line(width, self.suite)
            if ends:
                line = f"?labels={labels_option(ends)} or {labels_option(ends[::-1])}, as the file's columns come"
            why = f"the suite has {len(self.suite.names)} labels: which of them these are cannot be told"
            raise self._refused([f"{width} probabilities without names"], line, why)
        return list(self.suite.names)

    def _checked(self, labels: Sequence[str]) -> tuple[str, ...]:
        """All labels, or both ends of three; each once."""
        known = set(self.suite.names) or set(map(str, self.suite.numbers))
        if len(set(labels)) < len(labels):
            raise DataError(
                f"{self.request.path}: two columns of probabilities are one label: {', '.join(labels)}",
                fix="one column per label, or ?probabilities=no to read labels alone",
            )
        is_ends = set(labels) == set(extreme_labels(self.suite.names))
        absent = sorted(known - set(labels))
        if absent and not is_ends:
            raise DataError(
                f"{self.request.path}: probabilities of {', '.join(labels)}; the suite's labels are {self.suite}",
                why=f"{', '.join(absent)} {'has' if len(absent) == 1 else 'have'} none",
                fix="a probability column for every label, or ?probabilities=no to read labels alone",
            )
        return tuple(labels)

    # Answers

    def answers(self, words: Sequence[Prediction]) -> dict[Prediction, str]:
        """The label of each."""
        labels = {word: self._answer(word) for word in words}
        unknown = [word for word in words if labels[word] is None]
        if unknown:
            raise self._refused_answers(words, unknown)
        return {word: label for word, label in labels.items() if label is not None}

    def _answer(self, word: Prediction) -> str | None:
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
        by_number = self._counted(number)
        if by_name and by_number and by_name != by_number:
            raise self._two_ways(text, by_name, by_number)
        return by_name or by_number

    def _counted(self, number: int | None) -> str | None:
        """The label that a number counts, where the format has that convention."""
        if number is None or not self.file.numbered or not self.suite.in_order:
            return None
        return self.suite.names[number] if number < len(self.suite.names) else None

    # What is refused

    def _two_ways(self, word: str, by_name: str, by_number: str) -> DataError:
        names = self.suite.names
        return DataError(
            f"{self.request.path}: whether {word} is the label called {by_name} or label number {word}, {by_number}, "
            "cannot be told",
            why=f"the suite's labels are {self.suite}",
            fix=f"?labels={labels_option(names)} if numbers count from 0, "
            f"?labels={labels_option({name: name for name in names})} if they are names",
        )

    def _refused(self, theirs: Iterable[str], line: str, why: str = "") -> DataError:
        return DataError(
            f"{self.request.path}: it has {some(theirs, 8)}; the suite's labels are {self.suite}",
            why=why or "which is which cannot be told; a wrong guess turns every answer round",
            fix=line,
        )

    def _refused_answers(self, words: Sequence[Prediction], unknown: Sequence[Prediction]) -> DataError:
        """A single slip is named with its line; labels of another kind altogether, with the line to add."""
        texts = [str(word).strip() for word in words]
        numbers = [number for word in words if (number := _number(word)) is not None]
        counted = self.file.numbered or bool(self.suite.numbers)
        if len(unknown) < len(words) or (counted and len(numbers) == len(words)):
            row = self.file.predictions.index(unknown[0])
            return DataError(
                f"{self.file.where(row)}: label {shown(unknown[0])} is not one of {self.suite}",
                fix=nearest(_cut(str(unknown[0])), self.suite.known)
                or _map_line(texts if numbers else [str(unknown[0])], self.suite),
            )
        if len(numbers) == len(words):
            return self._refused(
                ["answers " + some(sorted(numbers), 8)], _list_line(max(numbers) + 1, self.suite)
            )
        return self._refused([f"answers {some(map(_cut, texts), 8)}"], _map_line(texts, self.suite))


def _label_space(suite: SuiteLabels, by_column: Sequence[str], answered: Sequence[str]) -> tuple[str, ...]:
    """The labels that predictions are indices into, in the suite's order where it has one."""
    if suite.names:
        there = set(by_column or suite.names)
        return tuple(label for label in suite.names if label in there)
    numbers = [number for label in (*by_column, *answered) if (number := _number(label)) is not None]
    if suite.numbers or (numbers and len(numbers) == len(by_column) + len(answered)):
        return tuple(map(str, range(max([*numbers, *suite.numbers], default=0) + 1)))
    return tuple(by_column) or tuple(sorted(set(answered))) or ("0", "1")


def _refuse_two_of_three(request: Request, columns: Columns, words: Sequence[Prediction]) -> None:
    """Two numbers for three labels: those of a two-class model would be read as one end and the middle."""
    given, known = request.options.labels, request.labels.known
    numbers = {_number(word) for word in words}
    meant = given.order or given.names or columns.number_names
    if meant or len(known) != 3 or len(numbers) != 2 or None in numbers:
        return
    ends = {0, 2} if request.labels.names else {request.labels.numbers[0], request.labels.numbers[2]}
    if numbers != ends:
        answers = " and ".join(sorted(map(str, numbers)))
        raise DataError(
            f"{request.path}: only {answers} are answered; the suite's labels are {request.labels}",
            why="a model of two labels numbers them otherwise than one of three",
            fix=f"?labels={labels_option(known)} if they count these three, "
            f"?labels={labels_option([known[0], known[2]])} if the model knows but two",
        )


# The lines to add


def _map_line(theirs: Sequence[str], suite: SuiteLabels) -> str:
    """`?labels=` with pairs; a name of ours only where it is beyond doubt, and never a number."""
    by_meaning = {plain(name): name for name in suite.names}
    pairs = {_cut(name): by_meaning.get(plain(name), NAME) for name in theirs[:8]}
    places = "" if NAME not in pairs.values() else f", with {suite} in the places of {NAME}"
    return f"?labels={labels_option(pairs)}{places}"


def _list_line(width: int, suite: SuiteLabels) -> str:
    names = ",".join([NAME] * min(max(width, 2), 8))
    return f"?labels={names}, with {suite} in the order of the file's numbers or columns"


def _number(word: Prediction) -> int | None:
    """A label that is a whole number, however it is written; none that is too large to be one."""
    if isinstance(word, int):
        return word if 0 <= word < MOST_NUMBERS else None
    whole, point, rest = (word or "").strip().partition(".")
    if not (whole.isascii() and whole.isdecimal()) or (point and rest.strip("0")) or len(whole) > 9:
        return None
    number = int(whole)
    return number if number < MOST_NUMBERS and whole == str(number) else None


def _cut(word: str) -> str:
    return word if len(word) <= 40 else word[:37] + "…"
