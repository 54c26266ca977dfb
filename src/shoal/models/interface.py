"""The protocols that a model may fulfil, and the small records that they exchange.

`models.asking` queries models through these protocols. A model fulfils as many as it can: a class needs the methods,
not a base class.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..core.records import Answers, Case, Example


class Asked(Protocol):
    """The part of a built protocol that asking needs."""

    @property
    def cases(self) -> Sequence[Case]:
        """The cases to answer."""

    @property
    def whole(self) -> Sequence[Case]:
        """All cases of the suite, before `limit` and `only`."""

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The label names of the suite."""

    @property
    def asks(self) -> str:
        """labels, spans, tokens, vectors or attributions."""


# Labels and spans


@runtime_checkable
class StoredAnswers(Protocol):
    """A model whose answers are stored by case."""

    def answer_cases(
        self, cases: Sequence[Case], whole: Sequence[Case], labels: Sequence[str] | None
    ) -> Answers:
        """Return the answers to every example of the cases, in order."""


@runtime_checkable
class Classifier(Protocol):
    """A model that predicts labels, with probabilities if it can."""

    def classify(self, examples: Sequence[Example], labels: Sequence[str] | None) -> Answers:
        """Return the answers to these examples, in order; `labels` are the suite's names."""


@runtime_checkable
class Extractor(Protocol):
    """A model that answers questions with a span of the context."""

    def extract(self, examples: Sequence[Example]) -> Answers:
        """Return the answer text to each (context, question)."""


@runtime_checkable
class HasTokens(Protocol):
    """A model that knows the length of examples, so that batches can be filled by tokens."""

    @property
    def longest(self) -> int:
        """The most tokens that the model takes; `classify` truncates longer examples."""

    def lengths(self, examples: Sequence[Example]) -> list[int]:
        """Return the number of tokens of each example before truncation."""


# Prompts and endpoints


@runtime_checkable
class Prompted(Protocol):
    """A model that is queried with a prompt."""

    def shown(self, example: Example) -> str:
        """Return the whole prompt for an example."""


@runtime_checkable
class RemoteModel(Protocol):
    """A model behind a network: several requests in flight, every response paid for."""

    @property
    def concurrency(self) -> int:
        """The most requests in flight."""

    @property
    def again(self) -> int:
        """The number of examples to query twice, to measure whether answers repeat."""

    @property
    def how(self) -> str:
        """The mode and the reason for it."""

    @property
    def spending(self) -> Any:
        """The tokens spent; `keep_in(path)` appends them to a file."""

    def worst(self, example: Example) -> tuple[int, int]:
        """Return upper bounds on the input and output tokens of an example."""

    def resume(self, mode: str) -> None:
        """Use the mode of the answers that are stored already."""

    def stream(self, examples: Sequence[Example]) -> Iterator[Sequence[tuple[int, Any]]]:
        """Yield answers as they arrive: the example's position, and a model that answers it without a request.

        The next requests start when the caller takes the next step: by then it has stored these answers.
        """


# Language models and vectors


@dataclass(frozen=True, slots=True)
class TokenScores:
    """The log-probabilities of some tokens of a text."""

    tokens: tuple[str, ...]
    positions: tuple[int, ...]  # among all tokens of the text, special ones included
    scores: tuple[float, ...]  # natural logarithms


@dataclass(frozen=True, slots=True)
class Blank:
    """A text, or pair of texts, with occurrences of a word masked; the model predicts one of them."""

    texts: Example
    hidden: tuple[tuple[int, int, int], ...]
    """Each as (index of the text, start, end) in characters."""
    asked: int
    """The index in `hidden` of the occurrence to predict."""
    word: str
    """The masked word."""


@dataclass(frozen=True, slots=True)
class Fillers:
    """The words that a model suggests for a blank, most probable first."""

    words: tuple[str, ...] = ()
    probabilities: tuple[float, ...] = ()
    of_word: float | None = None
    """The probability of the masked word."""
    problem: str = ""
    """Why there are no suggestions."""


@runtime_checkable
class WordFiller(Protocol):
    """A model that suggests words for blanks."""

    def fill_words(self, blanks: Sequence[Blank], k: int) -> list[Fillers]:
        """Return the whole words among the k most probable tokens of each blank, ignoring case."""


@runtime_checkable
class LanguageModel(Protocol):
    """A model that scores the tokens of a text."""

    def log_likelihood(
        self, examples: Sequence[Example], only: Sequence[Sequence[int]] | None = None
    ) -> list[TokenScores]:
        """Return the log-probability of each token, or of the positions that `only` lists for each example."""


@runtime_checkable
class Embedder(Protocol):
    """A model that turns examples into vectors."""

    def embed(self, examples: Sequence[Example], pooling: str = "mean") -> NDArray[np.float64]:
        """Return one vector per example: (examples, width)."""
