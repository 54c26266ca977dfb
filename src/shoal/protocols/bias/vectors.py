"""Diagnostics that look at vectors: their tests, what a model is asked, the vectors of each set of words."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import ModelError, PlanError
from ...core.records import Answer, Case, Example
from ...data.seat import AssociationTest, read_tests
from ...models.fresh import Untrained
from ...models.interface import Embedder
from ...models.vectors import WordVectors
from ..base import Asks, Built
from . import example
from .asking import answers, that_fit
from .settings import Settings

Floats = NDArray[np.float64]

ASKS: Asks = "vectors"
FOLDER, FILES = "seat", ()


def find_tests(path: Path | None, names: Sequence[str]) -> list[AssociationTest]:
    """The tests of a file or folder, or our own."""
    if path is not None:
        return read_tests(path, names)
    ours = {test.name: test for test in example.tests()}
    unknown = [name for name in names if name not in ours]
    if unknown:
        raise PlanError(
            f"no association test {unknown[0]!r} in the example",
            why=f"there are: {', '.join(ours)}",
            fix="one of those, or data = FOLDER with tests of your own",
        )
    return [ours[name] for name in names or ours]


# Asking


def ask(settings: Settings, model: Any, built: Built, examples: Sequence[Example]) -> list[Answer]:
    """A vector for each text, to seven digits; null where there is none."""
    if isinstance(model, Untrained):
        raise model.refuse()
    if not isinstance(model, Embedder):
        raise ModelError(f"{model!r} gives no vectors", fix="hf:MODEL, or vectors:FILE with word vectors")
    representation = settings.representation[0]
    return answers("vector", lambda part: vectors(model, part, representation), examples)


def vectors(model: Any, examples: Sequence[Example], representation: str) -> list[Any]:
    """What is kept for each example: {"vector": [...]}, {"vector": null} or why it failed."""
    if isinstance(model, WordVectors):
        texts = [word if representation == "word_mean" and word else text for text, word in examples]
        return [{**_kept(model.vector(text)), "representation": "word vector"} for text in texts]
    if not hasattr(model, "tokenizer"):
        return [_kept(row) for row in model.embed([(text,) for text, _ in examples], representation)]
    from ...models.vectors import represent

    def say(part: Sequence[Example]) -> list[Any]:
        return [_kept(vector) for vector in represent(model, part, representation)]

    return that_fit(model, examples, [(text,) for text, _ in examples], say)


def _kept(vector: Any) -> dict[str, Any]:
    if vector is None or not np.isfinite(vector).all():
        return {"vector": None}
    return {"vector": [float(f"{number:.7g}") for number in np.asarray(vector).tolist()]}


# Reading


def representation_of(settings: Settings, rows: Sequence[Answer]) -> str:
    """What the vectors are: as the settings say, unless the model has only one kind."""
    kinds = (row.data["representation"] for row in rows if row.data and "representation" in row.data)
    return next(kinds, settings.representation[0])


def split(case: Case, rows: Sequence[Answer]) -> tuple[list[tuple[Floats, list[str]]], list[str], int]:
    """The vectors of each set with the words they are about; what has none, by name; and how many are errors."""
    sets: list[tuple[Floats, list[str]]] = []
    missing: list[str] = []
    errors, start = 0, 0
    for size in case.meta["sizes"]:
        members, words = [], []
        for place in range(start, start + size):
            text, word = case.examples[place]
            vector = None if rows[place].error else rows[place].data["vector"]
            errors += bool(rows[place].error)
            if vector is None:
                missing.append(text if len(text) < 40 else text[:37] + "...")
                continue
            members.append(vector)
            words.append(word or text)
        sets.append((np.array(members, dtype=np.float64), words))
        start += size
    return sets, missing, errors
