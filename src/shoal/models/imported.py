"""Any callable or object that you can import: a scikit-learn pipeline, a Transformers pipeline, a function.

    python:package.module:name

It is given a list of texts, or of tuples of texts for pairs, and may answer with

    an array (examples, labels) of probabilities       in the order of the suite's labels, or of `?labels=`
    (predictions, confidences)                         labels, and one number or vector each
    [{"label", "score"}, …] or a list of those lists   as a Transformers pipeline does
    a list of labels
    a list of texts, or of {"answer"}                  for reading comprehension

An object with `predict_proba` and `classes_`, as scikit-learn's have, is asked for its probabilities and knows its
labels.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError, nearest, some
from ..records import Answers, Example
from . import ModelSpec, digest_file
from .labels import familiar, likely, matches, plain

OPTIONS = ("labels",)


def load(spec: ModelSpec) -> "ImportedModel":
    """The object that a spec names, found on Python's path or in this folder."""
    unknown = [name for name in spec.options if name not in OPTIONS]
    if unknown:
        raise ModelError(
            f"python:{spec.name}: unknown option {unknown[0]!r}", why=f"known: {', '.join(OPTIONS)}"
        )
    module, colon, name = spec.name.partition(":")
    if not colon or not name:
        raise ModelError(f"python:{spec.name}: no object named", fix="python:package.module:name")
    labels = spec.options.get("labels")
    return ImportedModel(module, name, tuple(labels.split(",")) if labels else None)


class ImportedModel:
    """A callable of the user's; imported when it is first asked."""

    def __init__(self, module: str, name: str, labels: tuple[str, ...] | None = None) -> None:
        self.module, self.name, self.own_labels = module, name, labels
        self._found: Any = None
        if str(Path.cwd()) not in sys.path:
            sys.path.insert(
                0, str(Path.cwd())
            )  # as `python -m` does: the user's module may lie in this folder
        if self._source() is None:
            raise ModelError(
                f"python:{module}:{name}: no module {module!r}", fix="run from the folder that holds it"
            )

    def __repr__(self) -> str:
        return f"python:{self.module}:{self.name}"

    def _source(self) -> Path | None:
        try:
            found = find_spec(self.module)
        except (ImportError, ValueError):
            return None
        return None if found is None else Path(found.origin or self.module)

    def fingerprint(self) -> dict[str, Any]:
        """What the answers depend on as far as can be told: the module's source."""
        source = self._source()
        known = source is not None and source.is_file()
        return {
            "object": f"{self.module}:{self.name}",
            "source": digest_file(source) if known and source else "",
        }

    def _object(self) -> Any:
        if self._found is None:
            module = import_module(self.module)
            if not hasattr(module, self.name):
                raise ModelError(
                    f"{self!r}: {self.module} has no {self.name!r}", fix=nearest(self.name, dir(module))
                )
            self._found = getattr(module, self.name)
        return self._found

    def classify(self, examples: Sequence[Example], labels: Sequence[str] | None) -> Answers:
        """The answers to these examples, in the suite's labels."""
        found = self._object()
        texts = [example[0] if len(example) == 1 else example for example in examples]
        if hasattr(found, "predict_proba"):
            return self._vectors(
                np.asarray(found.predict_proba(texts)), [str(c) for c in found.classes_], labels
            )
        if hasattr(found, "predict") and not _is_pipeline(
            found
        ):  # a pipeline's predict gives its best label only
            return self._answers(list(found.predict(texts)), len(texts), labels)
        if not callable(found):
            raise ModelError(f"{self!r} can neither be called nor has it predict or predict_proba")
        return self._answers(_call(found, texts), len(texts), labels)

    def extract(self, examples: Sequence[Example]) -> Answers:
        """The answer in words to each (context, question)."""
        found = self._object()
        asked: list[Any] = list(examples)
        if _is_pipeline(found):
            asked = [{"context": context, "question": question} for context, question in examples]
        given = found.predict(asked) if not callable(found) and hasattr(found, "predict") else found(asked)
        rows = [given] if isinstance(given, Mapping) else list(given)
        self._count(len(rows), len(examples))
        texts = [row.get("answer") if isinstance(row, Mapping) else row for row in rows]
        wrong = next((row for row, text in zip(rows, texts, strict=True) if not isinstance(text, str)), None)
        if wrong is not None:
            raise ModelError(
                f"{self!r} answers {wrong!r} to a question about a text",
                why="words are expected: a list of texts, or of {'answer': text}",
            )
        return Answers((), np.zeros(len(texts), np.int64), texts=[str(text) for text in texts])

    def _answers(self, given: Any, n: int, labels: Sequence[str] | None) -> Answers:
        if isinstance(given, tuple) and len(given) == 2:
            predictions, confidences = list(given[0]), np.asarray(given[1], np.float64)
            self._count(len(predictions), n)
            if confidences.ndim == 2:
                vectors = self._vectors(confidences, None, labels)
                return Answers(
                    vectors.labels, self._codes(predictions, vectors.labels), vectors.probabilities
                )
            names = tuple(self.own_labels or labels or sorted({str(p) for p in predictions}))
            return Answers(names, self._codes(predictions, names), confidences=confidences)
        if hasattr(given, "ndim") and getattr(given, "ndim", 0) == 2:
            self._count(len(given), n)
            return self._vectors(np.asarray(given, np.float64), None, labels)
        rows = list(given)
        self._count(len(rows), n)
        first = rows[0]
        if isinstance(first, Mapping):
            rows = [[row] for row in rows]
            first = rows[0]
        if (
            isinstance(first, Sequence)
            and not isinstance(first, str)
            and first
            and isinstance(first[0], Mapping)
        ):
            return self._scored(rows, labels)
        if isinstance(first, Sequence | np.ndarray) and not isinstance(first, str):
            return self._vectors(np.asarray(rows, np.float64), None, labels)
        if isinstance(first, float | np.floating):
            raise ModelError(
                f"{self!r} gave one number per example",
                why="of which label it is the probability cannot be told",
                fix="an array (examples, labels), or (predictions, confidences)",
            )
        names = tuple(self.own_labels or labels or sorted({str(row) for row in rows}))
        return Answers(names, self._codes(rows, names))

    def _scored(self, rows: Sequence[Sequence[Mapping[str, Any]]], labels: Sequence[str] | None) -> Answers:
        """Lists of {label, score}; with one label each, its score is all we know."""
        if all(len(row) == 1 for row in rows):
            names = tuple(self.own_labels or labels or sorted({str(row[0]["label"]) for row in rows}))
            scores = np.array([row[0]["score"] for row in rows], np.float64)
            return Answers(names, self._codes([row[0]["label"] for row in rows], names), confidences=scores)
        order = sorted({str(one["label"]) for row in rows for one in row})
        table = [{str(one["label"]): float(one["score"]) for one in row} for row in rows]
        return self._vectors(
            np.array([[row.get(name, 0.0) for name in order] for row in table]), order, labels
        )

    def _vectors(
        self, vectors: NDArray[np.float64], given: Sequence[str] | None, labels: Sequence[str] | None
    ) -> Answers:
        """Probabilities in the suite's order; `given` is the model's own, where it says."""
        width = vectors.shape[1]
        order = list(
            given or self.own_labels or (likely(width, labels) if labels else map(str, range(width)))
        )
        if given and self.own_labels:
            order = [self.own_labels[int(name)] if name.isdigit() else name for name in given]
        elif given and labels and all(name.isdigit() for name in given) and len(given) == len(labels):
            order = [labels[int(name)] for name in given]
        order = list(familiar(order, labels)) if labels else order
        target = _target(order, labels)
        if width != len(order) or target is None:
            raise ModelError(
                f"{self!r} gives {width} probabilities, for {', '.join(order[:width])}",
                why=f"the suite's labels are {', '.join(labels or order)}",
                fix="?labels= with the suite's names, in the order of the model's probabilities",
            )
        sums = vectors.sum(axis=1)
        if (np.abs(sums - 1) > 1e-3).any() or (vectors < -1e-9).any():
            row = int(np.argmax(np.abs(sums - 1)))
            raise ModelError(
                f"{self!r} gave numbers that are no probabilities", why=some(vectors[row].round(6), 8)
            )
        arranged = vectors[:, [order.index(name) for name in target]].astype(np.float64)
        return Answers(tuple(target), arranged.argmax(axis=1), arranged)

    def _codes(self, predictions: Sequence[Any], names: Sequence[str]) -> NDArray[np.int64]:
        codes = {str(code): code for code in range(len(names))} | {
            plain(name): code for code, name in enumerate(names)
        }
        for prediction in predictions:
            if plain(str(prediction)) not in codes:
                raise ModelError(
                    f"{self!r} answers {prediction!r}, which is not one of {', '.join(names)}",
                    fix=nearest(str(prediction), names)
                    or "?labels= names the labels behind numbers, in order",
                )
        return np.array([codes[plain(str(prediction))] for prediction in predictions], np.int64)

    def _count(self, found: int, wanted: int) -> None:
        if found != wanted:
            raise ModelError(f"{self!r} gave {found} answers to {wanted} examples")


def _call(found: Callable[..., Any], texts: list[Any]) -> Any:
    """A Transformers pipeline wants pairs as dictionaries, and to be told that all scores are of interest."""
    if not _is_pipeline(found):
        return found(texts)
    inputs = [text if isinstance(text, str) else {"text": text[0], "text_pair": text[1]} for text in texts]
    return found(inputs, top_k=None)


def _is_pipeline(found: Any) -> bool:
    return hasattr(found, "task") and hasattr(found, "tokenizer")


def _target(order: Sequence[str], labels: Sequence[str] | None) -> list[str] | None:
    """The suite's own order of these labels; both ends of three for a two-class sentiment model."""
    if labels is None:
        return list(order)
    return [label for label in labels if label in order] if matches(order, labels) else None
