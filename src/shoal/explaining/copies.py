"""Query a model about copies of examples with some words absent, and fit attributions to its answers.

A Transformers classifier reads tokens with a mask in place of absent words. Any other model reads texts without them.
Identical copies are queried once, even across examples.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ModelError, some
from ..core.records import Example
from ..models.asking import classify_safely
from ..models.batching import Questions, batch_plan
from ..models.checkpoint import libraries
from ..models.forward import length_batches, narrowed, padded, run_parallel, tokens_per_batch
from ..models.hf import HFModel
from ..models.interface import Classifier, StoredAnswers
from ..models.labels import in_suite_order, suite_names
from ..models.loaded import tokenizer_inputs
from .attributions import SPECIAL, Attribution, ExplainConfig, Units, Values, explained_columns, word_spans

Numbers = NDArray[np.int64]
Present = NDArray[np.bool_]  # (copies, units)
Draw = Callable[[Units, ExplainConfig, np.random.Generator], Present]
Fit = Callable[[Present, Values, tuple[float, float], ExplainConfig], Values]


@dataclass(frozen=True, slots=True)
class Row:
    """An example, or a copy of it, as token ids."""

    ids: Numbers  # (tokens,)
    segments: Numbers | None  # (tokens,) token type ids, if the network takes them


@dataclass(frozen=True, slots=True)
class Pieces(Row):
    """The tokens of an example and their origin."""

    texts: tuple[int, ...]  # (tokens,) index of the text in the example, or SPECIAL
    spans: tuple[tuple[int, int], ...]  # (tokens,) start and end in that text


class TokenCopies:
    """Copies as token rows for a Transformers classifier; a word is all of its tokens."""

    def __init__(
        self, model: HFModel, examples: Sequence[Example], labels: Sequence[str] | None, config: ExplainConfig
    ) -> None:
        self.model = model
        self.mask: int | None = model.tokenizer.mask_token_id
        self.absent = "drop" if self.mask is None else "mask"
        theirs = suite_names(model.own_labels, labels, repr(model))
        self.labels = tuple(in_suite_order(theirs, labels))
        self.network_columns = [theirs.index(name) for name in self.labels]
        self.pieces = _tokenized(model, examples)
        placed = [
            _place(pieces, example, model.tokenizer.convert_ids_to_tokens, specials=config.specials)
            for pieces, example in zip(self.pieces, examples, strict=True)
        ]
        self.units = [units for units, _ in placed]
        self.unit_of = [numbers for _, numbers in placed]
        """For each example, the unit of each token; one beyond the last unit for tokens that are always present."""

    def ask(self, present: Sequence[Present]) -> list[Values]:
        """Return the probabilities (copies, labels) of the copies of each example."""
        rows: list[Row] = []
        for pieces, unit_of, wanted in zip(self.pieces, self.unit_of, present, strict=True):
            kept = np.column_stack([wanted, np.ones(len(wanted), np.bool_)])[:, unit_of]
            if self.mask is not None:
                rows += [Row(ids, pieces.segments) for ids in np.where(kept, pieces.ids, self.mask)]
                continue
            # A network needs at least one token: an empty copy keeps its first.
            kept[~kept.any(axis=1), 0] = True
            segments = pieces.segments
            rows += [Row(pieces.ids[row], None if segments is None else segments[row]) for row in kept]
        answers = _ask_rows(self.model, rows)[:, self.network_columns]
        return np.split(answers, np.cumsum([len(wanted) for wanted in present])[:-1])


def _tokenized(model: HFModel, examples: Sequence[Example]) -> list[Pieces]:
    """Return the tokens of whole examples; raise if one exceeds the model's limit."""
    model.require_offsets()
    model.refuse_truncation(examples, "truncated words cannot be explained")
    encoded = model.tokenizer(tokenizer_inputs(examples), return_offsets_mapping=True, verbose=False)
    segments = encoded.get("token_type_ids")
    return [
        Pieces(
            np.array(ids, np.int64),
            None if segments is None else np.array(segments[number], np.int64),
            tuple(SPECIAL if source is None else source for source in encoded.sequence_ids(number)),
            tuple((start, end) for start, end in encoded["offset_mapping"][number]),
        )
        for number, ids in enumerate(encoded["input_ids"])
    ]


def _ask_rows(model: HFModel, rows: Sequence[Row]) -> Values:
    """Return probabilities (rows, labels) in the model's own order; equal rows are computed once."""
    torch, _ = libraries()
    keys = [(row.ids.tobytes(), None if row.segments is None else row.segments.tobytes()) for row in rows]
    row_of = dict(zip(keys, rows, strict=True))
    place = {key: number for number, key in enumerate(row_of)}
    distinct = list(row_of.values())
    network = model.network("classify")
    answers = np.zeros((len(distinct), network.config.num_labels))

    def look(part: list[int]) -> None:
        inputs = padded([distinct[at] for at in part], model.tokenizer.pad_token_id, network.device)
        with torch.inference_mode():
            answers[part] = network(**inputs).logits.double().softmax(dim=-1).cpu().numpy()

    with narrowed(network):
        parts = list(length_batches([len(row.ids) for row in distinct], tokens_per_batch(network)))
        run_parallel(network, look, parts)
    return answers[[place[key] for key in keys]]


def _place(
    pieces: Pieces, example: Example, names: Callable[[list[int]], list[str]], *, specials: bool
) -> tuple[Units, NDArray[np.int64]]:
    """Return the units of an example in reading order, and the unit of each token."""
    spans = [word_spans(text) for text in example]
    units = {
        (text, 0, place): (example[text][start:end], text)
        for text, words in enumerate(spans)
        for place, (start, end) in enumerate(words)
    }
    keys: list[tuple[int, int, int] | None] = []
    latest = SPECIAL
    for token, (text, (start, end)) in enumerate(zip(pieces.texts, pieces.spans, strict=True)):
        key: tuple[int, int, int] | None = None
        if text != SPECIAL:
            latest, place = text, _word_at(example[text], spans[text], start, end)
            key = None if place is None else (text, 0, place)
        elif specials:  # stands after the words of the text before it
            key = latest, 1, token
            units[key] = names([int(pieces.ids[token])])[0], SPECIAL
        keys.append(key)
    number = {key: place for place, key in enumerate(sorted(units))}
    unit_of = [len(number) if key is None else number[key] for key in keys]
    ordered = [units[key] for key in number]
    words, texts = (tuple(unit[side] for unit in ordered) for side in (0, 1))
    return Units(words, texts), np.array(unit_of, np.int64)  # type: ignore[arg-type]


def _word_at(text: str, spans: Sequence[tuple[int, int]], start: int, end: int) -> int | None:
    """Return the word that a token begins in; None for a token of blanks."""
    letters = text[start:end]
    first = start + len(letters) - len(letters.lstrip())
    return next((place for place, (low, high) in enumerate(spans) if low <= first < high), None)


class TextCopies:
    """Copies as texts without the absent words, for models that read texts only."""

    def __init__(self, model: Classifier, examples: Sequence[Example], labels: Sequence[str] | None) -> None:
        self.absent = "drop"
        self.model, self.examples = model, examples
        self._wanted = labels
        self.labels: tuple[str, ...] = ()
        """Known after the first query."""
        self._spans = [[word_spans(text) for text in example] for example in examples]
        self.units = [
            Units(
                tuple(text[a:b] for text, part in zip(example, spans, strict=True) for a, b in part),
                tuple(number for number, part in enumerate(spans) for _ in part),
            )
            for example, spans in zip(examples, self._spans, strict=True)
        ]

    def ask(self, present: Sequence[Present]) -> list[Values]:
        """Return the probabilities (copies, labels) of the copies of each example."""
        place: dict[Example, int] = {}
        places = [
            place.setdefault(self._without(number, row), len(place))
            for number, wanted in enumerate(present)
            for row in wanted.tolist()
        ]
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
        """Return a copy of an example, with single blanks where words are absent."""
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
                fix="let the model answer every text, also the empty one",
            )
        if answers.probabilities is None or np.isnan(answers.probabilities).any():
            raise ModelError(
                f"{self.model!r} gives labels without probabilities",
                why="attributions explain the probability of a label",
                fix="return the probabilities of all labels: an array (examples, labels)",
            )
        if self.labels and answers.labels != self.labels:
            raise ModelError(
                f"{self.model!r} changes its labels from {some(self.labels)} to {some(answers.labels)}",
                fix="return the same labels in the same order every time",
            )
        self.labels = answers.labels
        return answers.probabilities


Copies = TokenCopies | TextCopies
"""Examples whose words can be absent."""


def copies_of(
    model: object, examples: Sequence[Example], labels: Sequence[str] | None, config: ExplainConfig
) -> Copies:
    """Return the copies of these examples, in the form that the model reads."""
    if isinstance(model, HFModel):
        return TokenCopies(model, examples, labels, config)
    if isinstance(model, StoredAnswers) or not isinstance(model, Classifier):
        raise ModelError(
            f"{model!r} cannot answer new texts",
            why="an explanation compares the answer to a text with the answers to copies without some words",
            fix="hf:MODEL, tiny:NAME or python:module:name",
        )
    return TextCopies(model, examples, labels)


# From copies to values


def from_copies(
    copies: Copies,
    config: ExplainConfig,
    rngs: Sequence[np.random.Generator],
    *,
    draw: Draw,
    fit: Fit,
    facts: Callable[[Units], dict[str, Any]],
    sums: bool,
) -> list[Attribution]:
    """Draw copies, query the model, and return the attribution of each example.

    The whole text and the empty copy are queried too.
    """
    drawn = [draw(units, config, rng) for units, rng in zip(copies.units, rngs, strict=True)]
    ends = [np.array([[False], [True]]).repeat(len(units), axis=1) for units in copies.units]
    asked = [np.concatenate(rows) for rows in zip(ends, drawn, strict=True)]
    explained = []
    for units, rows, answers in zip(copies.units, drawn, copies.ask(asked), strict=True):
        label, columns = explained_columns(copies.labels, answers[1], config)
        outputs = answers[:, columns].sum(axis=1)
        nothing, everything = float(outputs[0]), float(outputs[1])
        values = fit(rows, outputs[2:], (nothing, everything), config) if len(units) else np.zeros(0)
        probabilities = dict(zip(copies.labels, answers[1].tolist(), strict=True))
        about = {"absent": copies.absent, **facts(units)}
        explained.append(Attribution(units, values, label, everything, nothing, probabilities, sums, about))
    return explained
