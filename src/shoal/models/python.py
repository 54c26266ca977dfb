"""Any callable or object that you can import: a scikit-learn pipeline, a Transformers pipeline, a function.

    python:package.module:name

It gets a list of texts, or of tuples of texts for pairs; `validate.py` lists the forms in which it may answer. Objects
with `predict_proba` give probabilities. Labels are matched by name: from the answers, from `classes_`, or from
`?labels=`, never by position alone. In reading comprehension it returns texts, or {"answer": text}.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Future, wait
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ModelError, nearest, some
from ..core.records import Answers, Example
from . import ModelSpec
from .identity import import_watched, joined_digest, module_contents
from .interface import Classifier, Embedder, Extractor, LanguageModel, StoredAnswers
from .labels import (
    NO_NAME,
    LabelNames,
    Spellings,
    check_order,
    labels_option,
    parse_labels,
    respell,
    suite_names,
)
from .validate import NO_OUTPUT, Given, arranged, exception_text, listed, other_names, read_given

OPTIONS = ("labels", "version", "timeout")
Classes = tuple[str, ...] | None
GivenLabels = str | Sequence[object] | Mapping[Any, object]
"""The suite's names in the order of a model's outputs, or by the model's own names."""


def load(spec: ModelSpec) -> "PythonModel":
    """Return the object that a spec names, from Python's path or the current folder."""
    module, colon, name = spec.name.partition(":")
    if not colon or not name:
        raise ModelError(
            f"python:{spec.name}: no object after the module",
            fix="python:package.module:name, with the name of a function or object",
        )
    seconds = spec.number("timeout", 60, 0.001) if "timeout" in spec.options else None
    return PythonModel(module, name, spec.options, seconds)


def wrap(answerer: Any, labels: GivenLabels | None = None) -> "PythonModel":
    """Return a callable or object as a model."""
    options = {} if labels is None else {"labels": as_option(labels)}
    model = PythonModel("builtins", _name_of(answerer), options)
    model._answerer, model._is_wrapped = answerer, True
    return model


def as_option(labels: GivenLabels) -> str:
    """Return label names in the form of `?labels=`."""
    if isinstance(labels, Set):
        raise ModelError(
            "labels= is a set, which has no order", fix="a list, in the order of the model's outputs"
        )
    return labels if isinstance(labels, str) else labels_option(labels)


def as_model(model: Any, labels: GivenLabels | None = None) -> Any:
    """Return a model unchanged, and wrap functions, scikit-learn objects and pipelines."""
    if not isinstance(model, (StoredAnswers, Classifier, Extractor, LanguageModel, Embedder)):
        return wrap(model, labels)
    if labels is not None:
        raise ModelError(
            f"labels= names the outputs of a function or pipeline; {model!r} is a loaded model",
            fix=f"its spec with an option: ?labels={as_option(labels)}",
        )
    return model


def _name_of(answerer: Any) -> str:
    """Return a short name: of a function, a checkpoint, the last step of a scikit-learn pipeline, or a class."""
    if _is_pipeline(answerer) and (checkpoint := getattr(answerer.model, "name_or_path", "")):
        return Path(str(checkpoint)).name
    steps = getattr(answerer, "steps", None)
    last = steps[-1][-1] if isinstance(steps, list) and steps else answerer
    return str(getattr(last, "__name__", type(last).__name__))


class PythonModel:
    """A user's callable, imported on the first request or for its fingerprint."""

    def __init__(
        self,
        module: str,
        name: str,
        options: Mapping[str, str] | None = None,
        seconds: float | None = None,
    ) -> None:
        self.module, self.name, self.options = module, name, dict(options or {})
        labels = self.options.get("labels")
        who = name if module == "builtins" else f"python:{module}:{name}"
        self.named = LabelNames() if labels is None else parse_labels(labels, who)
        self._answerer: Any = None
        self._names: tuple[str, ...] | None = None
        """The labels of the first batch, if the model names them in its answers."""
        self._is_wrapped = False
        self._limit = TimeLimit(repr(self), seconds) if seconds else None
        if str(Path.cwd()) not in sys.path:
            sys.path.insert(0, str(Path.cwd()))  # as `python -m` does
        if not _exists(module):
            raise ModelError(
                f"python:{module}:{name}: no module {module!r}",
                why="modules are found on PYTHONPATH and in the current folder, by their name without .py",
                fix="write such a module, and load files such as .joblib in it: python:my_module:model",
            )

    def __repr__(self) -> str:
        if self._is_wrapped:
            return self.name
        options = "&".join(f"{name}={value}" for name, value in self.options.items())
        return f"python:{self.module}:{self.name}{'?' if options else ''}{options}"

    # Identity

    def fingerprint(self) -> dict[str, Any]:
        """Return what answers depend on, as far as is known before the first request.

        Imports the module. If that fails, only the source counts until the first request reports the error.
        """
        with suppress(ModelError):
            self._object()
        contents = module_contents(self.module)
        identity: dict[str, Any] = {
            "object": f"{self.module}:{self.name}",
            "source": joined_digest(contents.sources),
            **{name: self.options[name] for name in ("labels", "version") if name in self.options},
        }
        names = [path.name for path in contents.sources]
        if "version" in identity:
            # A stated version replaces the digests of files, which may change between calls.
            return {**identity, "keyed by": [*names, f"version {identity['version']}"]}
        if contents.reads:
            identity["read"] = joined_digest(contents.reads)
        return {**identity, "keyed by": [*names, *(path.name for path in sorted(contents.reads))]}

    def _object(self) -> Any:
        if self._answerer is None:
            with user_code(repr(self)):
                try:
                    module = import_watched(self.module)
                except Exception as problem:
                    raise ModelError(
                        f"{self!r}: importing its module failed",
                        why=exception_text(problem),
                        fix=f"python -c 'import {self.module}' shows where",
                    ) from None
                if not hasattr(module, self.name):
                    public = [name for name in dir(module) if not name.startswith("_")]
                    raise ModelError(
                        f"{self!r}: {self.module} has no {self.name!r}",
                        fix=nearest(self.name, public) or f"one of: {some(public)}",
                    )
                self._answerer = getattr(module, self.name)
        return self._answerer

    # Answers

    def classify(self, examples: Sequence[Example], labels: Sequence[str] | None) -> Answers:
        answerer = self._object()
        texts = [example[0] if len(example) == 1 else example for example in examples]
        output = read_given(self._call(lambda: _predict(answerer, texts, repr(self))), len(texts), repr(self))
        read = self._labels_only if output.vectors is None else self._probabilities
        return read(output, _classes(answerer), labels)

    def extract(self, examples: Sequence[Example]) -> Answers:
        """Return an answer text to each text or (context, question)."""
        answerer = self._object()
        asked: list[Any] = [example[0] if len(example) == 1 else example for example in examples]
        if _is_pipeline(answerer) and examples and len(examples[0]) == 2:
            asked = [{"context": context, "question": question} for context, question in examples]
        answer = answerer.predict if not callable(answerer) and hasattr(answerer, "predict") else answerer
        output = self._call(lambda: answer(asked))
        rows = [output] if isinstance(output, Mapping) else listed(output, len(examples), repr(self))
        texts = [row.get("answer") if isinstance(row, Mapping) else row for row in rows]
        for row, text in zip(rows, texts, strict=True):
            if not isinstance(text, str | None):
                raise ModelError(
                    f"{self!r} answers a question with {repr(row)[:200]}",
                    why="expected a text",
                    fix="return a list of texts, or of {'answer': text}",
                )
        errors = {row: NO_OUTPUT for row, text in enumerate(texts) if text is None}
        return Answers(
            (), np.zeros(len(texts), np.int64), texts=[text or "" for text in texts], errors=errors
        )

    def _call(self, call: Callable[[], Any]) -> Any:
        """Run the user's code."""
        with user_code(repr(self)):
            return self._limit(call) if self._limit else call()

    # Labels

    def _probabilities(self, given: Given, classes: Classes, labels: Sequence[str] | None) -> Answers:
        assert given.vectors is not None
        width = given.vectors.shape[1]
        unnamed = "" if "labels" in self.options else NO_NAME
        written = given.names or classes or tuple(f"{unnamed}{n}" for n in range(width))
        self._check_width(len(written), width)
        if not given.ordered and given.names is not None:
            self._names = self._names or given.names
            if self._names != given.names:
                raise other_names(self._names, given.names, repr(self))
        check_order(written, self.named.order, repr(self))
        names = tuple(self._meaning(word, classes) for word in written)
        if self.named.order:
            self._check_width(len(self.named.order), width)
            names = self.named.order if given.ordered else names
        theirs = suite_names(names, labels, repr(self))
        answers = arranged(written, theirs, given.vectors, labels, given.missing)
        if given.labels is None:
            return answers
        return replace(answers, predictions=self._codes(given, classes, answers.labels)[0])

    def _check_width(self, named: int, width: int) -> None:
        if named != width:
            raise ModelError(
                f"{self!r} gives {width} probabilities and {named} names",
                fix="as many names as probabilities, in labels= or classes_",
            )

    def _labels_only(self, given: Given, classes: Classes, labels: Sequence[str] | None) -> Answers:
        """Return labels, with one confidence each if there are any."""
        assert given.labels is not None
        check_order(classes or (), self.named.order, repr(self))
        words = {str(label) for row, label in enumerate(given.labels) if row not in given.missing}
        meant = {self._meaning(word, classes) for word in words}
        names = tuple(labels or self.named.order or sorted(meant)) or ("0", "1")
        codes, taken = self._codes(given, classes, names)
        return Answers(names, codes, confidences=given.confidences, errors=given.missing, label_map=taken)

    def _codes(
        self, given: Given, classes: Classes, names: Sequence[str]
    ) -> tuple[NDArray[np.int64], dict[str, str]]:
        """Return labels as indices into the names, and the mapping from the model's words to the names.

        Numbers are words too: only `?labels=` gives them a meaning.
        """
        assert given.labels is not None
        taken: dict[str, str] = {}
        for row, label in enumerate(given.labels):
            word = str(label)
            if row not in given.missing and word not in taken:
                (taken[word],) = respell([self._meaning(word, classes)], names)
                if taken[word] not in names:
                    words = classes or sorted({str(label) for label in given.labels if label is not None})
                    suite_names([self._meaning(word, classes) for word in words], names, repr(self))  # raises
        places = {name: code for code, name in enumerate(names)}
        codes = [
            0 if row in given.missing else places[taken[str(label)]] for row, label in enumerate(given.labels)
        ]
        return np.array(codes, np.int64), taken

    def _meaning(self, word: str, classes: Classes) -> str:
        """Return the meaning of one of the model's words under `?labels=`, or the word itself."""
        if not self.named.order:
            return self.named.names.get(Spellings(self.named.names).get(word) or "", word)
        if classes:
            self._check_width(len(self.named.order), len(classes))
            return self.named.order[classes.index(word)] if word in classes else word
        number = re.fullmatch(r"(?:LABEL_)?(\d{1,9})", word)
        place = int(number[1]) if number else len(self.named.order)
        return self.named.order[place] if place < len(self.named.order) else word


def _exists(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _predict(answerer: Any, texts: list[Any], who: str) -> Any:
    """Call a model, for probabilities if it has any.

    A Transformers pipeline takes pairs as dictionaries and returns all scores only with `top_k=None`.
    """
    is_pipeline = _is_pipeline(answerer)
    is_network = hasattr(answerer, "get_input_embeddings")  # without its tokenizer
    can_answer = callable(answerer) or hasattr(answerer, "predict") or hasattr(answerer, "predict_proba")
    is_other_pipeline = is_pipeline and answerer.task != "text-classification"
    if isinstance(answerer, type) or is_network or is_other_pipeline or not can_answer:
        kind = f"a pipeline for {answerer.task}" if is_other_pipeline else type(answerer).__name__
        raise ModelError(
            f"{who} ({kind}) gives no labels",
            fix="a function from a list of texts to answers, an object with predict or predict_proba, or "
            'pipeline("text-classification", model=…, tokenizer=…)',
        )
    if hasattr(answerer, "predict_proba"):
        return answerer.predict_proba(texts)
    if is_pipeline:
        pairs = [text if isinstance(text, str) else {"text": text[0], "text_pair": text[1]} for text in texts]
        return answerer(pairs, top_k=None)
    return answerer.predict(texts) if hasattr(answerer, "predict") else answerer(texts)


def _is_pipeline(answerer: Any) -> bool:
    return hasattr(answerer, "task") and hasattr(answerer, "tokenizer")


def _classes(answerer: Any) -> Classes:
    """Return a model's label names in its own order, if it has any."""
    classes = getattr(answerer, "classes_", None)
    if classes is None and _is_pipeline(answerer):
        names = getattr(getattr(getattr(answerer, "model", None), "config", None), "id2label", None)
        classes = [names[code] for code in sorted(names)] if names else None
    return None if classes is None else tuple(map(str, classes))


# Running the user's code


@contextmanager
def user_code(who: str) -> Iterator[None]:
    """Send the output of the user's code to standard error, and turn `sys.exit` into an error."""
    try:
        with redirect_stdout(sys.stderr):
            yield
    except SystemExit as problem:
        raise ModelError(
            f"{who} called sys.exit({'' if problem.code is None else repr(problem.code)[:200]})",
            why="a model must not end the program",
            fix="raise an exception for an example without an answer: shoal counts it as an error",
        ) from None
    except (Exception, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as problem:  # such as asyncio.CancelledError
        raise RuntimeError(f"{type(problem).__name__}: {problem}") from None


class TimeLimit:
    """Runs each call in a thread of its own, with a limit on its seconds.

    Python cannot end a thread: one that hangs is abandoned until the process ends, and every later call fails.
    """

    def __init__(self, who: str, seconds: float) -> None:
        self.who, self.seconds = who, seconds
        self._hangs = False

    def __call__(self, call: Callable[[], Any]) -> Any:
        """Return the result of a call; raise if this or an earlier call exceeded the limit."""
        if not self._hangs:
            self._hangs = True  # until the call ends, also if the wait is interrupted
            outcome: Future[Any] = Future()
            Thread(target=_run_into, args=(outcome, call), name=f"asking {self.who}", daemon=True).start()
            if wait([outcome], self.seconds).done:
                self._hangs = False
                return outcome.result()
        raise ModelError(
            f"{self.who} gave no answer within {self.seconds:g} seconds",
            why="timeout= limits each batch",
            fix="a larger timeout=, or none",
        )


def _run_into(outcome: "Future[Any]", call: Callable[[], Any]) -> None:
    try:
        outcome.set_result(call())
    except BaseException as problem:
        outcome.set_exception(problem)
