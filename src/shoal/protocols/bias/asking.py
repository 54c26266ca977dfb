"""Query models for a diagnostic: log-probabilities of tokens, or vectors of texts and words.

A failure on one example becomes that example's error; an error of the model itself stops the job.
"""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...core.errors import DataError, ModelError, PlanError, some
from ...core.records import Answer, Case, Example
from ...data.seat import AssociationTest, read_tests
from ...models.fresh import Untrained
from ...models.interface import Embedder, LanguageModel, TokenScores
from ...models.likelihood import with_begin
from ...models.validate import exception_text
from ...models.vectors import WordVectors
from ..base import Built
from . import example
from .settings import Settings

Floats = NDArray[np.float64]
Query = Callable[[Sequence[Example]], Sequence[Any]]


def answers(kind: Literal["tokens", "vector"], query: Query, examples: Sequence[Example]) -> list[Answer]:
    """Return an answer for each example; one for which `query` raises, or returns a text, becomes an error.

    Query all at once, one by one after a failure.
    """
    try:
        return [
            Answer("", kind, None, data) if isinstance(data, str) else Answer("", kind, data)
            for data in query(examples)
        ]
    except ModelError:
        raise  # about the model, not about an example
    except Exception as problem:
        if len(examples) == 1:
            return [Answer("", kind, None, exception_text(problem))]
    return [row for each in examples for row in answers(kind, query, [each])]


def query_fitting(
    model: Any, lengths: Sequence[int], query: Callable[[list[int]], Sequence[Any]]
) -> list[Any]:
    """Query by position the inputs that are not too long for the model; the others get an error message."""
    rows: list[Any] = [
        f"{length:,} tokens; the model takes {model.longest:,}" if length > model.longest else None
        for length in lengths
    ]
    fitting = [at for at, row in enumerate(rows) if row is None]
    for at, row in zip(fitting, query(fitting) if fitting else (), strict=True):
        rows[at] = row
    return rows


def check_stored(path: Path, what: str, wanted: Sequence[Any], known: Set[Any], scores: Set[Any]) -> None:
    """Raise an error if a file of scores lacks a wanted score, or has scores of other data."""
    missing = [name for name in wanted if name not in scores]
    if missing:
        raise DataError(
            f"{path}: no scores for {len(missing):,} of {len(wanted):,} {what}",
            why=f"missing: {some(list(map(str, missing)), 3)}",
            fix=f"score all {what}, with texts and ids as in the data",
        )
    unknown = sorted(scores - known)
    if unknown:
        raise DataError(
            f"{path}: {len(unknown):,} of {len(scores):,} scored {what} are not in the data",
            why=some(list(map(str, unknown)), 3),
            fix="use the data that the model was scored on: data = FILE",
        )


# Log-probabilities


def check_language_model(model: Any) -> None:
    if isinstance(model, Untrained):
        raise model.refuse()
    if not isinstance(model, LanguageModel):
        raise ModelError(
            f"{model!r} does not compute the likelihood of a text",
            fix="use hf:MODEL with a masked or causal language model, or predictions:FILE with stored scores",
        )


def is_causal(model: Any) -> bool:
    """Return whether a language model reads from left to right."""
    return getattr(model, "language_model", "causal") == "causal"


def likelihoods(
    model: Any,
    texts: Sequence[str],
    only: Sequence[Set[int]] | None = None,
    starts: Sequence[int] | None = None,
) -> list[Any]:
    """Return every token of each text with its log-probability, None for special tokens.

    {"lm": "masked", "tokens": ["[CLS]", "he", "[SEP]"], "scores": [null, -1.2, null]}

    `only` gives for each text the positions to score, `starts` the character from which to score.
    """
    kind = "causal" if is_causal(model) else "masked"
    if not hasattr(model, "tokenizer"):
        scores = model.log_likelihood([(text,) for text in texts])
        return [_token_row(kind, list(row.tokens), row, range(len(row.tokens))) for row in scores]
    starts = starts or [0] * len(texts)
    encoded = model.tokenizer(
        list(texts), return_special_tokens_mask=True, return_offsets_mapping=any(starts), verbose=False
    )
    lengths = [
        len(with_begin(model.tokenizer, ids) if kind == "causal" else ids) for ids in encoded["input_ids"]
    ]

    def positions(at: int) -> list[int]:
        special = encoded["special_tokens_mask"][at]
        places = [place for place, is_special in enumerate(special) if not is_special]
        if start := starts[at]:
            places = [place for place in places if encoded["offset_mapping"][at][place][1] > start]
        return places if only is None else [place for place in places if place in only[at]]

    def query(fitting: list[int]) -> list[Any]:
        scores = model.log_likelihood([(texts[at],) for at in fitting], list(map(positions, fitting)))
        tokens = [model.tokenizer.convert_ids_to_tokens(encoded["input_ids"][at]) for at in fitting]
        return [
            _token_row(kind, names, row, row.positions) for names, row in zip(tokens, scores, strict=True)
        ]

    return query_fitting(model, lengths, query)


def _token_row(kind: str, tokens: list[str], row: TokenScores, positions: Sequence[int]) -> dict[str, Any]:
    scores: list[float | None] = [None] * len(tokens)
    for place, score in zip(positions, row.scores, strict=True):
        scores[place] = round(score, 9)
    return {"lm": kind, "tokens": tokens, "scores": scores}


def log_probabilities(data: Any) -> list[float]:
    return [score for score in data["scores"] if score is not None]


# Vectors


def find_tests(path: Path | None, names: Sequence[str]) -> list[AssociationTest]:
    """Return the association tests of a file or folder, or of the example."""
    if path is not None:
        return read_tests(path, names)
    shipped = {test.name: test for test in example.tests()}
    for name in names:
        if name not in shipped:
            fix = f"use {' or '.join(shipped)}, or data = FOLDER with other tests"
            raise PlanError(f"no association test {name!r} in the example", fix=fix)
    return [shipped[name] for name in names or shipped]


def ask(settings: Settings, model: Any, built: Built, examples: Sequence[Example]) -> list[Answer]:
    """Return a vector for each text, to seven digits, null if the model has none."""
    if isinstance(model, Untrained):
        raise model.refuse()
    if not isinstance(model, Embedder):
        raise ModelError(f"{model!r} does not compute vectors", fix="use hf:MODEL, or vectors:FILE")
    representation = settings.representation[0]
    return answers("vector", lambda part: _vectors(model, part, representation), examples)


def _vectors(model: Any, examples: Sequence[Example], representation: str) -> list[Any]:
    if isinstance(model, WordVectors):
        texts = [word if representation == "word_mean" and word else text for text, word in examples]
        return [{**_vector_row(model.vector(text)), "representation": "word vector"} for text in texts]
    if not hasattr(model, "tokenizer"):
        return [_vector_row(row) for row in model.embed([(text,) for text, _ in examples], representation)]
    from ...models.vectors import represent

    def query(fitting: list[int]) -> list[Any]:
        part = [examples[place] for place in fitting]
        return [_vector_row(vector) for vector in represent(model, part, representation)]

    return query_fitting(model, model.lengths([(text,) for text, _ in examples]), query)


def _vector_row(vector: Any) -> dict[str, Any]:
    if vector is None or not np.isfinite(vector).all():
        return {"vector": None}
    return {"vector": [float(f"{number:.7g}") for number in np.asarray(vector).tolist()]}


def representation_name(settings: Settings, rows: Sequence[Answer]) -> str:
    """Return the kind of vectors: that of the settings, unless the model has only one kind."""
    kinds = (row.data["representation"] for row in rows if row.data and "representation" in row.data)
    return next(kinds, settings.representation[0])


@dataclass(frozen=True, slots=True)
class VectorSet:
    """The vectors of one set of a test, with the word that each is about."""

    vectors: Floats
    words: list[str]


def split_sets(case: Case, rows: Sequence[Answer]) -> tuple[list[VectorSet], list[str], int]:
    """Return the sets of a test, the texts without a vector, and the number of errors among them."""
    sets: list[VectorSet] = []
    missing: list[str] = []
    pairs = zip(case.examples, rows, strict=True)
    for size in case.meta["sizes"]:
        members, words = [], []
        for (text, word), row in islice(pairs, size):
            if row.error or row.data["vector"] is None:
                missing.append(text if len(text) < 40 else text[:37] + "...")
            else:
                members.append(row.data["vector"])
                words.append(word or text)
        sets.append(VectorSet(np.array(members, dtype=np.float64), words))
    return sets, missing, sum(bool(row.error) for row in rows)
