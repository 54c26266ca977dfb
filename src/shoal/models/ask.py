"""What a model can be asked, and asking it well: every distinct example once, in batches that depend on nothing else.

    cases ──► Questions ──► batches ──► Answer rows ──► Answers
              distinct      by length    kept as they    columns, one row
              examples                   come            per example of the cases

The batch plan is a function of the whole list of examples, and of the model's tokenizer where it has one. A run that
was stopped therefore goes on where it was, and its answers are the same, byte by byte, as those of a run that never
stopped. A batch that does not fit into memory is halved until it does; its answers stay the batch's.
"""

import hashlib
import json
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any, Protocol, overload, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..core.errors import DataError, ModelError
from ..core.records import Answer, Answers, Case, Example
from .validate import check_numbers, in_words, number_labels, validated

if TYPE_CHECKING:
    from torch import Tensor

AT_ONCE = 10_000
"""Rows that are made from columns at a time."""
BATCH = 64
"""Examples at the most in one batch."""
BATCH_TOKENS = 1_024
"""Tokens at the most in one batch, counted as if every text were as long as the longest: what two cores do fastest."""
BATCH_LETTERS = 32_000
"""The same in letters, for models that do not say how many tokens a text has."""
NO_ANSWER = "no answer"
"""In the details of an answer: the model was asked and said something, which is none of the labels."""
FLAGS = ("low mass", "truncated")
"""In the details of an answer: little of what the model would say is a label; another label may be hidden."""

# What a model can be asked


@runtime_checkable
class HasAnswered(Protocol):
    """A model whose answers are stored by case."""

    def answer_cases(
        self, cases: Sequence[Case], whole: Sequence[Case], labels: Sequence[str] | None
    ) -> Answers:
        """The answers to every example of the cases, in order."""
        ...


@runtime_checkable
class Classifier(Protocol):
    """A model that gives each example a label, with probabilities if it can."""

    def classify(self, examples: Sequence[Example], labels: Sequence[str] | None) -> Answers:
        """The answers to these examples, in order; `labels` are the names they should use."""
        ...


@runtime_checkable
class Extractor(Protocol):
    """A model that answers questions with a piece of the context."""

    def extract(self, examples: Sequence[Example]) -> Answers:
        """The answers to each (context, question), as texts."""
        ...


@runtime_checkable
class HasTokens(Protocol):
    """A model that says how long examples are, so that batches can be filled by tokens."""

    @property
    def longest(self) -> int:
        """How many tokens it takes; what is longer is cut by `classify`."""
        ...

    def lengths(self, examples: Sequence[Example]) -> list[int]:
        """How many tokens each example has, before anything is cut."""
        ...


@runtime_checkable
class Prompted(Protocol):
    """A model that is asked in words."""

    def shown(self, example: Example) -> str:
        """The whole prompt, as it is sent."""
        ...


@runtime_checkable
class RemoteModel(Protocol):
    """A model behind a network: several requests in flight, every response paid for."""

    @property
    def concurrency(self) -> int:
        """How many requests may be in flight."""
        ...

    @property
    def again(self) -> int:
        """How many examples to ask twice, to see whether the answers are the same."""
        ...

    @property
    def how(self) -> str:
        """The mode and the reason for it, in words."""
        ...

    @property
    def spending(self) -> Any:
        """The tokens spent; `keep_in(path)` appends them to a file."""
        ...

    def worst(self, example: Example) -> tuple[int, int]:
        """Return the most tokens that an example may take: read, estimated, and written."""
        ...

    def resume(self, mode: str) -> None:
        """Stay in the mode of the answers that are stored already."""
        ...

    def stream(self, examples: Sequence[Example]) -> Iterator[Sequence[tuple[int, Any]]]:
        """Yield answers as they arrive: the example's position, and a model that answers it without a request.

        The next requests start when the caller takes the next step: by then it has stored these answers.
        """
        ...


@dataclass(frozen=True, slots=True)
class TokenScores:
    """The log-probability of some tokens of a text."""

    tokens: tuple[str, ...]
    positions: tuple[int, ...]  # among all tokens of the text, special ones included
    scores: tuple[float, ...]  # natural logarithms


@dataclass(frozen=True, slots=True)
class Filler:
    """What a masked model would put in the place of a mask."""

    token: str
    probability: float


@dataclass(frozen=True, slots=True)
class Blank:
    """A text, or pair of texts, with the occurrences of a word hidden, one of which is asked for."""

    texts: Example
    hidden: tuple[tuple[int, int, int], ...]
    """Each as (number of the text, first letter, behind the last letter)."""
    asked: int
    """Which of the hidden ones."""
    word: str
    """What stands there."""


@dataclass(frozen=True, slots=True)
class Fillers:
    """Words that a model would put into a blank, the likeliest first."""

    words: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    """Among all that the model could put there, 1 for the likeliest."""
    probabilities: tuple[float, ...] = ()
    of_word: float | None = None
    """The probability of what stands there."""
    problem: str = ""
    """Why there are none, where there are none."""


@runtime_checkable
class WordFiller(Protocol):
    """A model that suggests words for blanks."""

    def fill_words(self, blanks: Sequence[Blank], k: int) -> list[Fillers]:
        """For each blank the words among the k likeliest, upper and lower case as one."""
        ...


@runtime_checkable
class LanguageModel(Protocol):
    """A model that says how likely the tokens of a text are."""

    def log_likelihood(
        self, examples: Sequence[Example], only: Sequence[Sequence[int]] | None = None
    ) -> list[TokenScores]:
        """The log-probability of each token, or of those at the positions that `only` lists for each example."""
        ...


@runtime_checkable
class MaskFiller(Protocol):
    """A model that suggests what may stand where a mask does."""

    def fill(self, examples: Sequence[Example], k: int = 10) -> list[list[Filler]]:
        """The k likeliest tokens for the one mask in each example, the likeliest first."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """A model that turns examples into vectors."""

    def embed(
        self, examples: Sequence[Example], pooling: str = "mean", layer: int = -1
    ) -> NDArray[np.float64]:
        """One vector per example: (examples, width)."""
        ...


@runtime_checkable
class Differentiable(Protocol):
    """A classifier through which gradients flow."""

    def embeddings(self, examples: Sequence[Example]) -> "Tensor":
        """What stands for the tokens at the network's door: (examples, tokens, width)."""
        ...

    def logits(self, examples: Sequence[Example], embeddings: "Tensor | None" = None) -> "Tensor":
        """Logits (examples, labels), differentiable in the weights, and in `embeddings` where they are given."""
        ...


# What to ask


@dataclass(frozen=True, slots=True)
class Questions:
    """The distinct examples of some cases, and which of them each example of the cases is."""

    ids: Sequence[str]
    examples: list[Example]
    rows: NDArray[np.int64]  # (examples of the cases,)


def questions_of(model: object, cases: Sequence[Case]) -> Questions:
    """What to ask a model: every distinct example once, or, where the answers were given by case, every example."""
    return by_place(cases) if isinstance(model, HasAnswered) else distinct(cases)


def by_place(cases: Sequence[Case]) -> Questions:
    """Every example, named by its place: stored predictions may differ even where the texts agree."""
    examples = [example for case in cases for example in case.examples]
    return Questions(PlaceNames(cases), examples, np.arange(len(examples)))


class PlaceNames(Sequence[str]):
    """What the examples of some cases are called by their place, each name made when it is wanted."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.cases = cases
        # Arrays of Python's own: looking up one number is several times as quick as in one of numpy's.
        sizes = np.fromiter((len(case.examples) for case in cases), np.int64, len(cases))
        self._owners = array("q", np.repeat(np.arange(len(cases)), sizes).tobytes())
        self._starts = array("q", (np.cumsum(sizes) - sizes).tobytes())

    def __len__(self) -> int:
        return len(self._owners)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            places = range(len(self))[place]
            cases, starts, owners = self.cases, self._starts, self._owners[place]
            return [
                f"{cases[owner].id}#{number - starts[owner]}"
                for number, owner in zip(places, owners, strict=True)
            ]
        owner = self._owners[place]
        return f"{self.cases[owner].id}#{range(len(self))[place] - self._starts[owner]}"

    def __iter__(self) -> Iterator[str]:
        for case in self.cases:
            for number in range(len(case.examples)):
                yield f"{case.id}#{number}"


def distinct(cases: Sequence[Case]) -> Questions:
    """Every example once, named by its content, in the order of first appearance."""
    place: dict[Example, int] = {}
    rows = [place.setdefault(example, len(place)) for case in cases for example in case.examples]
    return Questions([example_id(example) for example in place], list(place), np.array(rows, np.int64))


def example_id(example: Example) -> str:
    """A short name for an example that depends on its texts alone.

    >>> example_id(("The film was great.",))
    'e3f9322522ec2a94'
    """
    return hashlib.sha256(json.dumps(example).encode()).hexdigest()[:16]


def batches(
    examples: Sequence[Example], lengths: Sequence[int] | None = None, budget: int = BATCH_LETTERS
) -> list[list[int]]:
    """Positions of the examples, batch by batch, alike in length so that little is padded; longest first.

    Longest first: if the memory does not suffice, that shows at once. Without lengths, letters are counted.
    """
    sizes = [sum(map(len, example)) for example in examples] if lengths is None else lengths
    order = sorted(range(len(examples)), key=lambda at: (-sizes[at], examples[at]))
    planned: list[list[int]] = []
    for at in order:
        longest = sizes[planned[-1][0]] if planned else 0
        if not planned or len(planned[-1]) >= max(1, min(BATCH, budget // max(1, longest))):
            planned.append([])
        planned[-1].append(at)
    return planned


def batch_plan(model: object, questions: Questions) -> Sequence[Sequence[int]]:
    """Which questions go together; stored answers come all at once."""
    if isinstance(model, HasAnswered):
        return [range(len(questions.ids))]
    if isinstance(model, RemoteModel):
        return [[number] for number in range(len(questions.ids))]
    if isinstance(model, HasTokens):
        return batches(questions.examples, model.lengths(questions.examples), BATCH_TOKENS)
    return batches(questions.examples)


# Asking


class Asked(Protocol):
    """What was built, as far as asking needs it."""

    @property
    def cases(self) -> Sequence[Case]:
        """What is asked."""
        ...

    @property
    def whole(self) -> Sequence[Case]:
        """What it was chosen from."""
        ...

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The names of the answers."""
        ...

    @property
    def asks(self) -> str:
        """labels, spans, tokens, vectors or attributions."""
        ...


def ask_batches(
    ask: Callable[[Sequence[Example]], Sequence[Answer]],
    model: object,
    questions: Questions,
    plan: Sequence[Sequence[int]] | None = None,
    *,
    labels: bool = False,
) -> Iterator[Sequence[Answer]]:
    """The answers batch by batch, as the batch plan says; or of some batches of it.

    Where they are asked for labels, models that say so are asked several batches at a time.
    """

    def look(batch: Sequence[int]) -> Sequence[Answer]:
        everything = isinstance(model, HasAnswered)
        rows = ask(questions.examples if everything else [questions.examples[n] for n in batch])
        if everything and isinstance(rows, AnswerRows):
            return AnswerRows(rows.answers, questions.ids)
        return [replace(row, example_id=questions.ids[n]) for n, row in zip(batch, rows, strict=True)]

    batches = batch_plan(model, questions) if plan is None else plan
    beside = getattr(model, "beside", 1) if labels else 1
    yield from map(look, batches) if beside < 2 else _beside_each_other(look, batches, beside)


def _beside_each_other(
    look: Callable[[Sequence[int]], Sequence[Answer]], batches: Sequence[Sequence[int]], beside: int
) -> Iterator[Sequence[Answer]]:
    """The answers in order, several batches at a time, a core each.

    What a batch gives then does not depend on how many cores there are; and two cores do two batches sooner than both
    do one after the other.
    """
    from .checkpoint import libraries

    torch, _ = libraries()
    cores, waiting, left = torch.get_num_threads(), deque[Future[Sequence[Answer]]](), iter(batches)
    pool = ThreadPoolExecutor(beside, "asking", torch.set_num_threads, (1,))
    try:
        waiting.extend(pool.submit(look, batch) for batch in islice(left, 1))
        while waiting:
            rows = waiting.popleft().result()
            # The first goes alone: it has the model read its weights. Then some wait, that no core does.
            waiting.extend(pool.submit(look, batch) for batch in islice(left, 2 * beside - len(waiting)))
            yield rows
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(cores)  # for threads that are yet to come


def answer_batch(model: object, built: Asked, examples: Sequence[Example]) -> Sequence[Answer]:
    """Labels or spans for one batch of the plan; stored ones come all at once, in the order of the cases."""
    if isinstance(model, HasAnswered):
        answers = model.answer_cases(built.cases, built.whole, built.labels)
        return AnswerRows(answers, [""] * len(answers.predictions))
    return answer_examples(model, examples, [""] * len(examples), built.labels, reading=built.asks == "spans")


def is_reading(cases: Sequence[Case]) -> bool:
    """Whether these cases want words of a context for an answer, not labels."""
    return bool(cases and cases[0].meta.get("reading"))


def answer_examples(
    model: object,
    examples: Sequence[Example],
    ids: Sequence[str],
    labels: Sequence[str] | None,
    *,
    reading: bool = False,
) -> list[Answer]:
    """The answers to one batch, as they are kept; what was cut is marked on each."""
    if reading:
        if not isinstance(model, Extractor):
            raise ModelError(
                f"{model!r} cannot be asked for words of a text",
                why="the suite is one of reading comprehension",
                fix="hf:MODEL with a question answering head, python:module:name or predictions:FILE",
            )
        return answer_rows(extract_safely(model, examples), ids)
    if not isinstance(model, Classifier):
        raise ModelError(
            f"{model!r} cannot be asked for labels", fix="predictions:FILE, hf:MODEL or python:module:name"
        )
    rows = answer_rows(classify_safely(model, examples, labels), ids)
    if isinstance(model, HasTokens):
        over = [length - model.longest for length in model.lengths(examples)]
        for row, cut in zip(rows, over, strict=True):
            if cut > 0 and not row.error:
                row.data["cut"] = cut
    return rows


def classify_safely(model: Classifier, examples: Sequence[Example], labels: Sequence[str] | None) -> Answers:
    """The labels of a batch; an example on which the model raises becomes an error and takes no other with it."""
    names = tuple(labels or ("0", "1"))
    return _safely(
        lambda part: validated(model.classify(part, labels), len(part), labels, repr(model)),
        examples,
        lambda message: Answers(names, np.zeros(1, np.int64), errors={0: message}),
    )


def extract_safely(model: Extractor, examples: Sequence[Example]) -> Answers:
    """The spans of a batch; an example on which the model raises becomes an error and takes no other with it."""
    return _safely(
        lambda part: validated(model.extract(part), len(part), None, repr(model)),
        examples,
        lambda message: Answers((), np.zeros(1, np.int64), texts=[""], errors={0: message}),
    )


def _safely(
    ask: Callable[[Sequence[Example]], Answers], examples: Sequence[Example], failed: Callable[[str], Answers]
) -> Answers:
    """All at once; by halves if that takes too much memory, one by one if it fails otherwise."""
    try:
        return ask(examples)
    except ModelError:
        raise  # about the model, not about an example
    except Exception as problem:
        if len(examples) == 1:
            return failed(in_words(problem))
        size = (len(examples) + 1) // 2 if is_out_of_memory(problem) else 1
    # Out of the handler: the exception and the tensors that it holds are gone before anything is asked again.
    parts = [examples[start : start + size] for start in range(0, len(examples), size)]
    return stack([_safely(ask, part, failed) for part in parts])


def is_out_of_memory(problem: BaseException) -> bool:
    """Whether a smaller batch may help; told without importing torch."""
    if isinstance(problem, MemoryError) or type(problem).__name__ == "OutOfMemoryError":
        return True
    signs = ("out of memory", "allocate memory", "not enough memory")
    return isinstance(problem, RuntimeError) and any(sign in str(problem).lower() for sign in signs)


def stack(parts: Sequence[Answers]) -> Answers:
    """Answers of several parts as one; a part that gave no probabilities has NaN in their place."""
    width = next((part.labels for part in parts if part.probabilities is not None), parts[0].labels)
    errors: dict[int, str] = {}
    start = 0
    for part in parts:
        errors |= {start + row: message for row, message in part.errors.items()}
        start += len(part.predictions)
    return Answers(
        width,
        np.concatenate([part.predictions for part in parts]),
        _stacked(
            [part.probabilities for part in parts], [len(part.predictions) for part in parts], len(width)
        ),
        _stacked([part.confidences for part in parts], [len(part.predictions) for part in parts], None),
        [text for part in parts for text in part.texts],
        errors,
        details=[row for part in parts for row in part.details or [{}] * len(part.predictions)]
        if any(part.details for part in parts)
        else (),
    )


def _stacked(
    columns: Sequence[NDArray[np.float64] | None], sizes: Sequence[int], width: int | None
) -> NDArray[np.float64] | None:
    if all(column is None for column in columns):
        return None
    shapes = [(size,) if width is None else (size, width) for size in sizes]
    filled = [np.full(shape, np.nan) if c is None else c for c, shape in zip(columns, shapes, strict=True)]
    return np.concatenate(filled)


# Rows and columns


class AnswerRows(Sequence[Answer]):
    """Columns as the rows that are kept, each of which can be read by itself, made when it is looked at.

    What the model's labels were taken for stands on the first row that was answered.
    """

    def __init__(self, answers: Answers, ids: Sequence[str]) -> None:
        if len(ids) != len(answers.predictions):
            raise DataError(
                f"{len(answers.predictions):,} answers for {len(ids):,} examples",
                fix="an answer to each example",
            )
        self.answers = answers
        self.ids = ids
        places = range(len(ids))
        labelled = bool(answers.label_map or answers.band) and not answers.texts
        self._first = next((row for row in places if row not in answers.errors), -1) if labelled else -1

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

    def read_back(self, cases: Sequence[Case]) -> Answers | None:
        """The columns that reading the kept rows would give, where nothing of them is lost on the way.

        Of stored answers to these very cases that have all their probabilities; None else, and the rows must be read.
        """
        given, vectors = self.answers, self.answers.probabilities
        if not isinstance(self.ids, PlaceNames) or self.ids.cases is not cases or vectors is None:
            return None
        if given.errors or given.texts or given.details or not np.isfinite(vectors).all():
            return None
        return replace(given, confidences=None, facts={}, unparsed=frozenset())

    def _rows(self, part: slice) -> Iterator[Answer]:
        """Some of them. Columns are turned into plain numbers a block at a time, which is ten times as quick."""
        answers = self.answers
        columns = (answers.predictions, answers.probabilities, answers.confidences)
        plain = (repeat(None) if column is None else column[part].tolist() for column in columns)
        for row, identity, prediction, vector, confidence in zip(
            range(len(self))[part], self.ids[part], *plain, strict=False
        ):
            answer = _answer(answers, row, identity, prediction, vector, confidence)
            if row == self._first:
                answer.data["taken"] = {"labels": dict(answers.label_map), "band": answers.band}
            yield answer


def answer_rows(answers: Answers, ids: Sequence[str]) -> list[Answer]:
    """The rows of a batch, all at once."""
    return list(AnswerRows(answers, ids))


def _answer(
    answers: Answers,
    row: int,
    identity: str,
    prediction: int,
    vector: Sequence[float] | None,
    confidence: float | None,
) -> Answer:
    details = dict(answers.details[row]) if answers.details else {}
    if row in answers.errors:
        return Answer(identity, "span" if answers.texts else "label", details or None, answers.errors[row])
    if answers.texts:
        text = answers.texts[row]
        return Answer(identity, "span", {"text": text, **details} if details else text)
    data: dict[str, Any] = {"label": answers.labels[prediction], **details}
    if vector is not None and vector[0] == vector[0]:
        data["probabilities"] = dict(zip(answers.labels, vector, strict=True))
        return Answer(identity, "probabilities", data)
    if confidence is not None and confidence == confidence:
        data["confidence"] = confidence
    return Answer(identity, "label", data)


def span_text(row: Answer) -> str:
    """The words of an answer in words; what a model said beside them stands in the row with them."""
    return str(row.data["text"] if isinstance(row.data, dict) else row.data)


def by_mark(rows: Iterable[Answer], questions: Questions, built: Asked) -> dict[str, Any]:
    """Kept rows as scoring takes them, for each moment at which the model was asked; the last is the end.

    `Answers` where labels or spans were asked for, else the rows of each case.
    """
    as_columns = built.asks in ("labels", "spans")
    if as_columns and isinstance(rows, AnswerRows) and (columns := rows.read_back(built.cases)) is not None:
        return {"": _checked(columns, built)}
    marks: dict[str, Any] = {}
    for row in rows:
        if row.mark not in marks:
            marks[row.mark] = _Gathered(questions) if as_columns else []
        if as_columns:
            marks[row.mark].add(row)
        else:
            marks[row.mark].append(row)
    if not marks:
        raise NoAnswerError(
            f"none of {len(questions.ids):,} examples has an answer", fix="shoal run PLAN, which asks again"
        )
    if not as_columns:
        return {mark: by_case(kept, questions, built.cases) for mark, kept in marks.items()}
    labels = built.labels or number_labels(built.cases)
    return {mark: _checked(gathered.answers(labels), built) for mark, gathered in marks.items()}


def _checked(answers: Answers, built: Asked) -> Answers:
    """The answers, if the labels of a suite without names can be what their numbers count."""
    if not built.labels and built.asks == "labels":
        check_numbers(answers, number_labels(built.cases), "the model")
    return answers


def by_case(rows: Sequence[Answer], questions: Questions, cases: Sequence[Case]) -> list[list[Answer]]:
    """The rows of each case, in the order of its examples."""
    places = _Places(questions)
    for row in rows:
        places.add(row.example_id)
    flat = iter([rows[position] for position in places.order().tolist()])
    return [[next(flat) for _ in case.examples] for case in cases]


def gather(rows: Iterable[Answer], questions: Questions, labels: Sequence[str] | None) -> Answers:
    """Kept rows as columns, one for each example of the cases."""
    gathered = _Gathered(questions)
    for row in rows:
        gathered.add(row)
    return gathered.answers(labels)


def answer_columns(rows: Iterable[Answer], labels: Sequence[str] | None) -> Answers:
    """Kept rows as columns, in the order they were kept."""
    columns = _Columns()
    for row in rows:
        columns.add(row)
    return columns.answers(labels)


class NoAnswerError(DataError):
    """Examples were asked, and what was kept has no answer to them."""


class _Places:
    """Which row answers which question."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions
        self._rows = np.full(len(questions.ids), -1, np.int64)
        self._numbers: dict[str, int] = {}  # of the questions by id, once rows come in another order
        self._count = 0

    def add(self, example_id: str) -> None:
        """The next row's."""
        ids, number = self._questions.ids, self._count
        if number >= len(ids) or ids[number] != example_id:
            self._numbers = self._numbers or {name: place for place, name in enumerate(ids)}
            number = self._numbers.get(example_id, -1)
        if number >= 0:
            self._rows[number] = self._count
        self._count += 1

    def order(self) -> NDArray[np.int64]:
        """The row that answers each example of the cases."""
        missing = int((self._rows < 0).sum())
        if missing:
            raise NoAnswerError(
                f"{missing:,} of {len(self._rows):,} examples have no answer",
                fix="shoal run PLAN, which asks again; answers of other cases do not fit",
            )
        return self._rows[self._questions.rows]


class _Columns:
    """Rows put into columns as they come, so that they need not all be held."""

    def __init__(self) -> None:
        self._count = 0
        self._errors: dict[int, str] = {}
        self._texts: list[str] = []  # filled from the first span on
        self._used: dict[str, int] = {}  # label to its number in `_labels`
        self._labels = array("q")  # (rows,), -1 where there is none
        self._names: tuple[str, ...] = ()  # of the probabilities
        self._with_vector, self._vectors = array("q"), array("d")
        self._with_confidence, self._confidences = array("q"), array("d")
        self._cuts: list[int] = []
        self._flags = dict.fromkeys(FLAGS, 0)
        self._unparsed: set[int] = set()
        self._taken: list[dict[str, Any]] = []

    def add(self, row: Answer) -> None:
        """The next row."""
        place = self._count
        self._count += 1
        if row.error:
            self._errors[place] = row.error
            if isinstance(row.data, dict) and NO_ANSWER in row.data:
                self._unparsed.add(place)
        if row.kind == "span" or self._texts:
            self._texts += [""] * (place - len(self._texts))
            self._texts.append("" if row.error else span_text(row))
        elif row.error or not row.data:
            self._labels.append(-1)
        else:
            self._add_label(place, row.data)

    def _add_label(self, place: int, data: dict[str, Any]) -> None:
        self._labels.append(self._used.setdefault(data["label"], len(self._used)))
        vector = data.get("probabilities")
        if vector:
            self._names = self._names or tuple(vector)
            self._with_vector.append(place)
            self._vectors.extend([vector[name] for name in self._names])
        if "confidence" in data:
            self._with_confidence.append(place)
            self._confidences.append(data["confidence"])
        if "cut" in data:
            self._cuts.append(data["cut"])
        for flag in FLAGS:
            self._flags[flag] += flag in data
        if "taken" in data:
            self._taken.append(data["taken"])

    def answers(self, labels: Sequence[str] | None) -> Answers:
        """What has come, in the order it came."""
        if self._texts:
            return Answers(
                (),
                np.zeros(self._count, np.int64),
                texts=self._texts,
                errors=self._errors,
                unparsed=frozenset(self._unparsed),
            )
        names = self._names or _names(self._used, labels)
        code = {name: number for number, name in enumerate(names)}
        codes = np.array([code[name] for name in self._used] + [0], np.int64)  # -1 is the last
        probabilities = confidences = None
        if self._names:
            probabilities = np.full((self._count, len(names)), np.nan)
            probabilities[np.array(self._with_vector)] = np.array(self._vectors).reshape(-1, len(names))
        elif self._with_confidence:
            confidences = np.full(self._count, np.nan)
            confidences[np.array(self._with_confidence)] = self._confidences
        cuts = {"cut": len(self._cuts), "cut by": max(self._cuts, default=0)} if self._cuts else {}
        about = {**cuts, **{flag: times for flag, times in self._flags.items() if times}}
        return Answers(
            names,
            codes[np.array(self._labels, np.int64)],
            probabilities,
            confidences,
            errors=self._errors,
            facts={**about, "asked": self._count} if about else {},
            label_map={name: label for taken in self._taken for name, label in taken["labels"].items()},
            band=any(taken["band"] for taken in self._taken),
            unparsed=frozenset(self._unparsed),
        )


class _Gathered:
    """The same for each example of the cases, in their order."""

    def __init__(self, questions: Questions) -> None:
        self._places = _Places(questions)
        self._columns = _Columns()

    def add(self, row: Answer) -> None:
        """The next row."""
        self._places.add(row.example_id)
        self._columns.add(row)

    def answers(self, labels: Sequence[str] | None) -> Answers:
        """The columns, a row for each example of the cases."""
        order = self._places.order()
        columns = self._columns.answers(labels)
        errors = {}
        if columns.errors:
            errors = {
                place: columns.errors[row]
                for place, row in enumerate(order.tolist())
                if row in columns.errors
            }
        return replace(
            columns,
            predictions=columns.predictions[order],
            probabilities=None if columns.probabilities is None else columns.probabilities[order],
            confidences=None if columns.confidences is None else columns.confidences[order],
            texts=[columns.texts[row] for row in order.tolist()] if columns.texts else (),
            errors=errors,
            unparsed=frozenset(place for place in errors if int(order[place]) in columns.unparsed),
        )


def _names(used: Iterable[str], labels: Sequence[str] | None) -> tuple[str, ...]:
    """The label names that rows without probabilities use, in the suite's order where it has one."""
    names = set(used)
    if labels and names <= set(labels):
        return tuple(labels)
    if all(name.isdecimal() for name in names):  # numbers that the suite has, and others
        return tuple(sorted(names | set(labels or ()), key=int)) or ("0", "1")
    return tuple(sorted(names))
