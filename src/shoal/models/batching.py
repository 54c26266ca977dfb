"""Distinct examples as questions, and their batches.

Each distinct example is one question. The batch plan depends only on the list of examples and the model's tokenizer,
so a resumed run computes the same batches, and the same answers, as an uninterrupted one.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ..core.case_table import CaseTable
from ..core.records import Case, Example, Lazy
from .interface import HasTokens, RemoteModel, StoredAnswers

BATCH = 64
"""The most examples in a batch without a tokenizer."""
BATCH_TOKENS = 1_024
"""The most tokens in a batch on a CPU, padding included: the fastest size on two cores."""
FEWEST_TOKENS = 16
"""Tokens of an example that limit the number of examples in a batch."""
BATCH_LETTERS = 32_000
"""The most characters in a batch, for models without a tokenizer."""


@dataclass(frozen=True, slots=True)
class Questions:
    """The distinct examples of some cases, and the question of each example."""

    ids: Sequence[str]
    examples: Sequence[Example]
    rows: NDArray[np.int64]  # (examples of the cases,)


def make_questions(model: object, cases: Sequence[Case]) -> Questions:
    """Return every distinct example once, or every example if the model's answers are stored by case."""
    if not isinstance(model, StoredAnswers):
        return distinct(cases)
    table = CaseTable.of(cases)
    # Stored answers may differ between equal texts, so that examples are named by case and position.
    names = table.example_names
    examples = Lazy(len(names), lambda: list(chain.from_iterable(table.examples)))
    return Questions(names, examples, np.arange(len(names)))


def distinct(cases: Sequence[Case]) -> Questions:
    """Return every distinct example, named by its content, in order of first appearance."""
    place: dict[Example, int] = {}
    rows = [place.setdefault(example, len(place)) for case in cases for example in case.examples]
    return Questions([example_id(example) for example in place], list(place), np.array(rows, np.int64))


def example_id(example: Example) -> str:
    """Return a short hash of an example's texts.

    >>> example_id(("The film was great.",))
    'e3f9322522ec2a94'
    """
    return hashlib.sha256(json.dumps(example).encode()).hexdigest()[:16]


def batches(
    examples: Sequence[Example], lengths: Sequence[int] | None = None, budget: int = BATCH_LETTERS
) -> list[list[int]]:
    """Return batches of positions, grouped by length to reduce padding.

    The longest come first, so that a lack of memory shows at once. Without lengths, characters are counted.
    """
    sizes = [sum(map(len, example)) for example in examples] if lengths is None else lengths
    most = BATCH if lengths is None else budget // FEWEST_TOKENS
    order = sorted(range(len(examples)), key=lambda at: (-sizes[at], examples[at]))
    planned: list[list[int]] = []
    for at in order:
        longest = sizes[planned[-1][0]] if planned else 0
        if not planned or len(planned[-1]) >= max(1, min(most, budget // max(1, longest))):
            planned.append([])
        planned[-1].append(at)
    return planned


def batch_plan(model: object, questions: Questions) -> Sequence[Sequence[int]]:
    """Return the questions of each batch: all stored answers, one request, or as many texts as memory allows."""
    if isinstance(model, StoredAnswers):
        return [range(len(questions.ids))]
    if isinstance(model, RemoteModel):
        return [[number] for number in range(len(questions.ids))]
    if isinstance(model, HasTokens):
        budget = getattr(model, "batch_tokens", BATCH_TOKENS)
        return batches(questions.examples, model.lengths(questions.examples), budget)
    return batches(questions.examples)


def is_reading(cases: Sequence[Case]) -> bool:
    """Return whether these cases expect spans of a context, not labels."""
    return bool(cases and cases[0].meta.get("reading"))
