"""Copies of examples with some of their words absent, and what a model says of them.

A Transformers classifier is shown rows of tokens in which a mask stands for what is absent. Any other model is shown
texts without the absent words. Both ways, copies that are the same are asked once, whichever example they come from.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ModelError, some
from ..core.records import Example
from ..models.asking import classify_safely
from ..models.batching import Questions, batch_plan
from ..models.copies import SPECIAL, Pieces, Row, ask_rows, label_order, tokenize_examples
from ..models.hf import HFModel
from ..models.interface import Classifier, StoredAnswers
from .attributions import How, Units, Values
from .words import word_spans

Present = NDArray[np.bool_]  # (copies, units)


class Copies(Protocol):
    """Some examples whose words can be absent."""

    absent: str
    """What is in the place of an absent word: mask or drop."""

    @property
    def units(self) -> Sequence[Units]:
        """What of each example can be absent."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the model's answers."""
        ...

    def ask(self, present: Sequence[Present]) -> list[Values]:
        """Probabilities (copies, labels) of the copies of each example."""
        ...


def copies_of(model: object, examples: Sequence[Example], labels: Sequence[str] | None, how: How) -> Copies:
    """The way to ask this model about copies of these examples."""
    if isinstance(model, HFModel):
        return TokenCopies(model, examples, labels, how)
    if isinstance(model, StoredAnswers) or not isinstance(model, Classifier):
        raise ModelError(
            f"{model!r} cannot be asked about copies of a text",
            why="an explanation compares what a model says of a text with what it says without some of its words",
            fix="hf:MODEL, tiny:NAME or python:module:name, which can be asked anything",
        )
    return TextCopies(model, examples, labels, how)


class TokenCopies:
    """Copies as a Transformers classifier reads them: a word is all of its tokens."""

    def __init__(
        self, model: HFModel, examples: Sequence[Example], labels: Sequence[str] | None, how: How
    ) -> None:
        self.model = model
        self.mask: int | None = model.tokenizer.mask_token_id
        if how.absent == "mask" and self.mask is None:
            _refuse_mask(model)
        self.absent: str = how.absent or ("drop" if self.mask is None else "mask")
        self.labels, self.network_columns = label_order(model, labels)
        self.pieces = tokenize_examples(model, examples)
        placed = [
            _place(pieces, example, model.tokenizer.convert_ids_to_tokens, specials=how.specials)
            for pieces, example in zip(self.pieces, examples, strict=True)
        ]
        self.units = [units for units, _ in placed]
        self.unit_of = [numbers for _, numbers in placed]
        """For each example, of which unit each token is; beyond the last for a token that is always there."""

    def ask(self, present: Sequence[Present]) -> list[Values]:
        """Probabilities (copies, labels) of the copies of each example."""
        rows: list[Row] = []
        for pieces, unit_of, wanted in zip(self.pieces, self.unit_of, present, strict=True):
            kept = np.column_stack([wanted, np.ones(len(wanted), np.bool_)])[:, unit_of]
            rows += self._masked(pieces, kept) if self.absent == "mask" else _dropped(pieces, kept)
        answers = ask_rows(self.model, rows)[:, self.network_columns]
        return np.split(answers, np.cumsum([len(wanted) for wanted in present])[:-1])

    def _masked(self, pieces: Pieces, kept: Present) -> list[Row]:
        assert self.mask is not None
        return [Row(ids, pieces.segments) for ids in np.where(kept, pieces.ids, self.mask)]


def _dropped(pieces: Pieces, kept: Present) -> list[Row]:
    # A network needs something to read: of a copy without any token the first is left.
    kept[~kept.any(axis=1), 0] = True
    return [Row(pieces.ids[row], None if pieces.segments is None else pieces.segments[row]) for row in kept]


def _place(
    pieces: Pieces, example: Example, names: Callable[[list[int]], list[str]], *, specials: bool
) -> tuple[Units, NDArray[np.int64]]:
    """The units of an example in the order in which the network reads them, and of which each token is."""
    words: list[str] = []
    texts: list[int] = []
    unit_of = np.full(len(pieces.ids), -1)
    spans = [word_spans(text) for text in example]
    numbers: dict[tuple[int, int], int] = {}

    def unit(word: str, text: int) -> int:
        words.append(word)
        texts.append(text)
        return len(words) - 1

    def words_until(text: int, last: int) -> None:
        for place in range(last + 1):
            if (text, place) not in numbers:
                start, end = spans[text][place]
                numbers[text, place] = unit(example[text][start:end], text)

    for token, (text, (start, end)) in enumerate(zip(pieces.texts, pieces.spans, strict=True)):
        if text == SPECIAL:
            for before in {number for number in pieces.texts[:token] if number != SPECIAL}:
                words_until(before, len(spans[before]) - 1)
            if specials:
                unit_of[token] = unit(names([int(pieces.ids[token])])[0], SPECIAL)
            continue
        place = _word_at(example[text], spans[text], start, end)
        if place is not None:
            words_until(text, place)
            unit_of[token] = numbers[text, place]
    for text in range(len(example)):
        words_until(text, len(spans[text]) - 1)
    return Units(tuple(words), tuple(texts)), np.where(unit_of < 0, len(words), unit_of)


def _word_at(text: str, spans: Sequence[tuple[int, int]], start: int, end: int) -> int | None:
    """The word that a token begins in; None for a token of blanks."""
    letters = text[start:end]
    first = start + len(letters) - len(letters.lstrip())
    return next((place for place, (low, high) in enumerate(spans) if low <= first < high), None)


class TextCopies:
    """Copies as texts, for a model that takes nothing else: what is absent is left out."""

    def __init__(
        self, model: Classifier, examples: Sequence[Example], labels: Sequence[str] | None, how: How
    ) -> None:
        if how.absent == "mask":
            _refuse_mask(model)
        if how.specials:
            raise ModelError(
                f"{model!r} has no special tokens that could be explained",
                fix="specials only with hf: models",
            )
        self.absent = "drop"
        self.model, self.examples = model, examples
        self._wanted = labels
        self._labels: tuple[str, ...] = ()
        self._spans = [[word_spans(text) for text in example] for example in examples]
        self.units = [
            Units(
                tuple(text[a:b] for text, part in zip(example, spans, strict=True) for a, b in part),
                tuple(number for number, part in enumerate(spans) for _ in part),
            )
            for example, spans in zip(examples, self._spans, strict=True)
        ]

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the model's answers: known once it has been asked."""
        if not self._labels:
            self.ask([np.ones((1, len(units)), np.bool_) for units in self.units[:1]])
        return self._labels

    def ask(self, present: Sequence[Present]) -> list[Values]:
        """Probabilities (copies, labels) of the copies of each example."""
        copies = [
            self._without(number, row) for number, wanted in enumerate(present) for row in wanted.tolist()
        ]
        place: dict[Example, int] = {}
        places = [place.setdefault(copy, len(place)) for copy in copies]
        distinct = list(place)
        answers: Values | None = None
        questions = Questions([""] * len(distinct), distinct, np.arange(len(distinct)))
        for batch in batch_plan(self.model, questions):
            probabilities = self._probabilities([distinct[at] for at in batch])
            if answers is None:
                answers = np.zeros((len(distinct), probabilities.shape[1]))
            answers[batch] = probabilities
        assert answers is not None
        return np.split(answers[places], np.cumsum([len(wanted) for wanted in present])[:-1])

    def _without(self, number: int, present: Sequence[bool]) -> Example:
        """A copy of an example; blanks that were around absent words become one."""
        is_there = iter(present)
        texts = []
        for text, spans in zip(self.examples[number], self._spans[number], strict=True):
            left, last = [], 0
            for start, end in spans:
                left.append(text[last : end if next(is_there) else start])
                last = end
            texts.append("".join([*left, text[last:]]))
        if all(present):
            return tuple(texts)
        return tuple(" ".join(text.split()) for text in texts)

    def _probabilities(self, copies: Sequence[Example]) -> Values:
        answers = classify_safely(self.model, copies, self._wanted)
        if answers.errors:
            place, message = next(iter(answers.errors.items()))
            raise ModelError(
                f"{self.model!r} gave no answer to {copies[place]!r}, a copy with words left out",
                why=message,
                fix="a model that answers every text, the empty one too",
            )
        if answers.probabilities is None or np.isnan(answers.probabilities).any():
            raise ModelError(
                f"{self.model!r} gives labels without probabilities",
                why="how much a word counts shows in the probability of a label",
                fix="let it give probabilities of all labels: an array (examples, labels)",
            )
        if self._labels and answers.labels != self._labels:
            raise ModelError(
                f"{self.model!r} names its labels now {some(self._labels)}, now {some(answers.labels)}",
                fix="the same labels, in the same order, whatever it is asked",
            )
        self._labels = answers.labels
        return answers.probabilities


def _refuse_mask(model: object) -> None:
    raise ModelError(f"{model!r} has no mask token", fix="absent=drop, which leaves words out")
