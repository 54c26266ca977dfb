"""Any callable or object that you can import: a scikit-learn pipeline, a Transformers pipeline, a function.

    python:package.module:name

It is given a list of texts, or of tuples of texts for pairs; `forms` says in which forms it may answer. An object with
`predict_proba`, as scikit-learn's have, is asked for its probabilities. Labels are taken by name: from the answers,
from `classes_`, or from `?labels=`, never by position alone. In reading comprehension it gives texts, or {"answer"}.
"""

import json
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ModelError, nearest, some
from ..core.records import Answers, Example
from . import ModelSpec
from .ask import Classifier, Embedder, Extractor, HasAnswered, LanguageModel, MaskFiller
from .calling import Limited, contained
from .forms import NOTHING, Given, listed, read_given
from .identity import call_watched, import_watched, made_of, short_names
from .labels import (
    NAMELESS,
    LabelNames,
    Spellings,
    ends_of,
    familiar,
    in_suite_order,
    likely,
    parse_labels,
    suite_names,
)
from .validate import NO_NAME, in_words

OPTIONS = ("labels", "version", "timeout")
Classes = tuple[str, ...] | None


def load(spec: ModelSpec) -> "ImportedModel":
    """The object that a spec names, found on Python's path or in this folder."""
    module, colon, name = spec.name.partition(":")
    if not colon or not name:
        raise ModelError(
            f"python:{spec.name}: no object named",
            fix="python:package.module:name, the name being that of a function or an object in the module",
        )
    return ImportedModel(module, name, spec.options, _seconds(spec))


def around(answerer: Any) -> "ImportedModel":
    """An object that is here already, as a model."""
    model = ImportedModel("builtins", getattr(answerer, "__name__", type(answerer).__name__))
    model._answerer, model._handed_over = answerer, True
    return model


def askable(model: Any) -> Any:
    """A model of ours as it is; a function, a scikit-learn object or a pipeline as `python:` would have it."""
    if model is None:
        raise ModelError(
            "no model was given: it is None", fix="a spec such as tiny:sentiment, a function, an object"
        )
    known = (HasAnswered, Classifier, Extractor, LanguageModel, MaskFiller, Embedder)
    return model if isinstance(model, known) else around(model)


def _seconds(spec: ModelSpec) -> float | None:
    if "timeout" not in spec.options:
        return None
    try:
        seconds = float(spec.options["timeout"])
    except ValueError:
        seconds = math.nan
    if not (0 < seconds < math.inf):
        raise ModelError(
            f"python:{spec.name}: timeout={spec.options['timeout']}",
            why="a number of seconds above 0 is expected",
            fix="timeout=60",
        )
    return seconds


class ImportedModel:
    """A callable of the user's; imported when it is first asked, or asked what it is made of."""

    def __init__(
        self,
        module: str,
        name: str,
        options: Mapping[str, str] | None = None,
        seconds: float | None = None,
    ) -> None:
        self.module, self.name, self.options = module, name, dict(options or {})
        self.version = self.options.get("version")
        labels = self.options.get("labels")
        self.named = LabelNames() if labels is None else parse_labels(labels, f"python:{module}:{name}")
        self.read_late: list[Path] = []
        """Files that it opened only when it was first asked, and that are no part of what it is known by."""
        self._answerer: Any = None
        self._handed_over = False
        self._watch_next = False
        self._limited = Limited(repr(self), seconds) if seconds else None
        if str(Path.cwd()) not in sys.path:
            sys.path.insert(
                0, str(Path.cwd())
            )  # as `python -m` does: the user's module may lie in this folder
        if not _exists(module):
            raise ModelError(f"python:{module}:{name}: no module {module!r}", fix=_instead_of(module, name))

    def __repr__(self) -> str:
        if self._handed_over:
            return self.name
        options = "&".join(f"{name}={value}" for name, value in self.options.items())
        return f"python:{self.module}:{self.name}{'?' if options else ''}{options}"

    # What it is

    def fingerprint(self) -> dict[str, Any]:
        """What the answers depend on as far as can be told without asking, and in short what that is.

        The module is imported. If that fails it will fail again, and be said, when the model is asked: until then its
        source has to do.
        """
        try:
            version = self._version_given(self._object())
        except ModelError:
            version = f"version {self.version}" if self.version is not None else ""
        made = made_of(self.module)
        keyed: dict[str, Any] = {"object": f"{self.module}:{self.name}", "source": made.source_digest()}
        if "labels" in self.options:
            keyed["labels"] = self.options["labels"]
        if version:
            # Who names a version says what counts: what is read may change from one call to the next.
            return {**keyed, "version": version, "keyed by": [*short_names(made, reads=False), version]}
        if made.reads:
            keyed["read"] = made.reads_digest()
        unknown = [] if made.complete else ["not what it read when it was imported: that was before"]
        return {**keyed, "keyed by": short_names(made) + unknown}

    def _version_given(self, answerer: Any) -> str:
        """What the user says this model is: ?version=, or the object's own fingerprint; empty if neither."""
        if self.version is not None:
            return f"version {self.version}"
        given = getattr(answerer, "fingerprint", None)
        if given is None:
            return ""
        try:
            with contained(repr(self)):
                return f"fingerprint {json.dumps(given() if callable(given) else given, sort_keys=True)}"
        except Exception as problem:
            raise ModelError(
                f"{self!r}: its fingerprint cannot be had",
                why=in_words(problem),
                fix="let fingerprint() give a text or a number that changes with the model, or give ?version=",
            ) from None

    def _object(self) -> Any:
        if self._answerer is None:
            with contained(repr(self)):
                module = self._module()
                if not hasattr(module, self.name):
                    public = [name for name in dir(module) if not name.startswith("_")]
                    raise ModelError(
                        f"{self!r}: {self.module} has no {self.name!r}",
                        fix=nearest(self.name, public) or f"one of: {some(public)}",
                    )
                self._answerer = getattr(module, self.name)
                self._watch_next = True
        return self._answerer

    def _module(self) -> Any:
        try:
            return import_watched(self.module)
        except Exception as problem:
            raise ModelError(
                f"{self!r}: its module cannot be imported",
                why=in_words(problem),
                fix=f"python -c 'import {self.module}' shows where",
            ) from None

    # Asking

    def classify(self, examples: Sequence[Example], labels: Sequence[str] | None) -> Answers:
        """The answers to these examples, in the suite's labels."""
        answerer = self._object()
        texts = [example[0] if len(example) == 1 else example for example in examples]
        given = read_given(self._ask(lambda: _call(answerer, texts, repr(self))), len(texts), repr(self))
        with_names = self._with_labels if given.vectors is None else self._with_vectors
        return with_names(given, _classes(answerer), labels)

    def extract(self, examples: Sequence[Example]) -> Answers:
        """The answer in words to each (context, question)."""
        answerer = self._object()
        asked: list[Any] = list(examples)
        if _is_pipeline(answerer):
            asked = [{"context": context, "question": question} for context, question in examples]
        answer = answerer.predict if not callable(answerer) and hasattr(answerer, "predict") else answerer
        given = self._ask(lambda: answer(asked))
        rows = [given] if isinstance(given, Mapping) else listed(given, len(examples), repr(self))
        texts = [row.get("answer") if isinstance(row, Mapping) else row for row in rows]
        wrong = next(
            (row for row, text in zip(rows, texts, strict=True) if not isinstance(text, str | None)), None
        )
        if wrong is not None:
            raise ModelError(
                f"{self!r} answers {repr(wrong)[:200]} to a question about a text",
                why="words are expected",
                fix="a list of texts, or of {'answer': text}",
            )
        errors = {row: NOTHING for row, text in enumerate(texts) if text is None}
        return Answers(
            (), np.zeros(len(texts), np.int64), texts=[text or "" for text in texts], errors=errors
        )

    def _ask(self, call: Callable[[], Any]) -> Any:
        """What the user's code gives; the first time, it is noticed which files that opens."""
        watch, self._watch_next = self._watch_next, False
        within = self._limited or _at_leisure
        with contained(repr(self)):
            if not watch:
                return within(call)
            reads: list[Path] = []
            try:
                return call_watched(lambda: within(call), reads)
            finally:
                known = made_of(self.module).reads
                self.read_late = [path for path in dict.fromkeys(reads) if path not in known]

    # Labels

    def _with_vectors(self, given: Given, classes: Classes, labels: Sequence[str] | None) -> Answers:
        """Probabilities under the suite's names, in the suite's order."""
        assert given.vectors is not None
        unnamed = "" if "labels" in self.options else NO_NAME
        written = given.names or classes or tuple(f"{unnamed}{n}" for n in range(given.vectors.shape[1]))
        own = self._called(given, classes, written, labels)
        named_by = self._with_option(labels, len(own)) if self._handed_over and labels else ""
        theirs = suite_names(own, labels, repr(self), named_by)
        names = in_suite_order(theirs, labels)
        arranged = given.vectors[:, [theirs.index(name) for name in names]]
        codes = np.where(np.isfinite(arranged), arranged, -np.inf).argmax(axis=1)
        if given.labels is not None:
            codes, _ = self._codes(given, classes, names)
        return Answers(
            tuple(names),
            codes,
            arranged,
            errors=given.missing,
            label_map=dict(zip(written, theirs, strict=True)),
            band=tuple(names) == ends_of(labels or ()),
        )

    def _called(
        self, given: Given, classes: Classes, written: tuple[str, ...], labels: Sequence[str] | None
    ) -> tuple[str, ...]:
        """What each column is called: as the model writes it, or as `?labels=` says."""
        assert given.vectors is not None
        width = given.vectors.shape[1]
        if self.named.order:
            self._fit(len(self.named.order), width)
            if given.ordered:
                return self.named.order
        self._fit(len(written), width)
        if not given.names and not classes and labels is not None and "labels" not in self.options:
            raise ModelError(
                f"{self!r} gives {width} probabilities without names; the suite's labels are {', '.join(labels)}",
                why="which is which cannot be told; a wrong guess turns every answer round",
                fix=f"{self._with_option(labels, width)}, in the order of the model's probabilities; or let it "
                'answer {"' + labels[0] + '": 0.9, …} for each text',
            )
        called = tuple(self._meaning(word, classes) for word in written)
        if self.named.order and called == written:
            raise ModelError(
                f"{self!r} answers {some(written)}",
                why="labels= goes by the order of the model's labels, and these have none",
                fix=f"labels={':…,'.join(map(str, written))}:…, with the suite's name behind each",
            )
        return called

    def _fit(self, named: int, width: int) -> None:
        if named != width:
            raise ModelError(
                f"{self!r} gives {width} probabilities, and names for {named}",
                fix="as many names as probabilities, in labels= or in the model's classes_",
            )

    def _with_labels(self, given: Given, classes: Classes, labels: Sequence[str] | None) -> Answers:
        """Labels alone, or with one confidence each."""
        assert given.labels is not None
        words = {str(label) for row, label in enumerate(given.labels) if row not in given.missing}
        meant = {self._meaning(word, classes) for word in words}
        names = tuple(labels or self.named.order or sorted(meant)) or ("0", "1")
        codes, taken = self._codes(given, classes, names)
        return Answers(names, codes, confidences=given.confidences, errors=given.missing, label_map=taken)

    def _codes(
        self, given: Given, classes: Classes, names: Sequence[str]
    ) -> tuple[NDArray[np.int64], dict[str, str]]:
        """Labels as indices into the names, and which of the model's words was taken for which name.

        A number is a name like any other: what stands behind it, only `?labels=` can say.
        """
        assert given.labels is not None
        taken: dict[str, str] = {}
        for row, label in enumerate(given.labels):
            word = str(label)
            if row not in given.missing and word not in taken:
                (taken[word],) = familiar([self._meaning(word, classes)], names)
                if taken[word] not in names:
                    self._refuse_label(word, given, classes, names)
        places = {name: code for code, name in enumerate(names)}
        codes = [
            0 if row in given.missing else places[taken[str(label)]] for row, label in enumerate(given.labels)
        ]
        return np.array(codes, np.int64), taken

    def _meaning(self, word: str, classes: Classes) -> str:
        """What the user says that one of the model's words means; the word itself, where they say nothing of it."""
        if not self.named.order:
            return self.named.names.get(Spellings(self.named.names).get(word) or "", word)
        if classes:
            self._fit(len(self.named.order), len(classes))
            return self.named.order[classes.index(word)] if word in classes else word
        number = re.fullmatch(r"(?:LABEL_)?(\d{1,9})", word)
        place = int(number[1]) if number else len(self.named.order)
        return self.named.order[place] if place < len(self.named.order) else word

    def _refuse_label(self, word: str, given: Given, classes: Classes, names: Sequence[str]) -> NoReturn:
        words = classes or tuple(sorted({str(label) for label in given.labels or () if label is not None}))
        if "labels" not in self.options and all(NAMELESS.fullmatch(other.lstrip("-")) for other in words):
            raise ModelError(
                f"{self!r} answers {some(words)}; the suite's labels are {', '.join(names)}",
                why="which label a number means cannot be told; a wrong guess turns every answer round",
                fix=f"{self._with_option(names, len(words))}, in the order of the model's own numbers",
            )
        raise ModelError(
            f"{self!r} answers {word!r}, which is not one of {', '.join(names)}",
            why=f"labels={self.options['labels']} does not name it" if "labels" in self.options else "",
            fix=nearest(word, names)
            or f"labels={word}:… with one of these behind it, or let it answer with them",
        )

    def _with_option(self, labels: Sequence[str], width: int) -> str:
        """This model's spec, with the names that are missing; an object has no spec, but can carry them."""
        if self._handed_over:
            return f"{self.name}.classes_ = {tuple(likely(width, labels))}"
        return f"{self!r}{'&' if self.options else '?'}labels={','.join(likely(width, labels))}"


def _at_leisure(call: Callable[[], Any]) -> Any:
    """A call without a limit of time."""
    return call()


def _exists(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _instead_of(module: str, name: str) -> str:
    """What may have been meant by a module that is none."""
    if module.endswith((".joblib", ".pkl", ".pickle")):
        return f'a module of yours that reads it, "{name} = joblib.load(...)", and python:that_module:{name}'
    if "/" in module or module.endswith(".py"):
        path = Path(module)
        folder = f"from the folder {path.parent}" if path.parent != Path() else "without .py"
        return f"{folder}: python:{path.stem}:{name}"
    return "run from the folder that holds it, or put that folder into PYTHONPATH"


def _call(answerer: Any, texts: list[Any], who: str) -> Any:
    """Ask for probabilities where they can be had.

    A Transformers pipeline wants pairs as dictionaries, and to be told that all scores are of interest; its `predict`
    gives the best label only.
    """
    if isinstance(answerer, type):
        raise ModelError(
            f"{who} is a class, not a model",
            why="what it is made from is not known",
            fix=f"make one in that module, model = {answerer.__name__}(...), and name it: python:module:model",
        )
    if hasattr(answerer, "predict_proba"):
        return answerer.predict_proba(texts)
    if _is_pipeline(answerer):
        pairs = [text if isinstance(text, str) else {"text": text[0], "text_pair": text[1]} for text in texts]
        return answerer(pairs, top_k=None)
    if hasattr(answerer, "predict"):
        return answerer.predict(texts)
    if not callable(answerer):
        raise ModelError(
            f"{who} can neither be called nor has it predict or predict_proba ({type(answerer).__name__})",
            fix="name a function from a list of texts to answers, or an object with predict",
        )
    return answerer(texts)


def _is_pipeline(answerer: Any) -> bool:
    return hasattr(answerer, "task") and hasattr(answerer, "tokenizer")


def _classes(answerer: Any) -> Classes:
    """The names of a model's labels in its own order, if it says."""
    classes = getattr(answerer, "classes_", None)
    if classes is None and _is_pipeline(answerer):
        names = getattr(getattr(getattr(answerer, "model", None), "config", None), "id2label", None)
        classes = [names[code] for code in sorted(names)] if names else None
    return None if classes is None else tuple(map(str, classes))
