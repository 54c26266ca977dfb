"""Text in, numbers out: everything that can be asked, behind one string.

    hf:DIR_OR_ID               a Transformers model; the scheme may be left out
    python:package.module:name anything callable that you can import
    predictions:FILE           answers already computed
    tiny:NAME                  a small model that ships with shoal
    vectors:FILE               word vectors in text form, for tests of association
    hf:DIR?prompt=FILE         a causal or sequence-to-sequence model, asked in words
    openai:MODEL?url=URL&prompt=FILE   a model behind an endpoint that speaks chat completions

What else a model needs stands behind the spec: `predictions:FILE?format=softmax&labels=negative,positive`.
"""

import hashlib
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

from ..core.errors import ModelError, nearest

SCHEMES: dict[str, tuple[str, str]] = {
    "hf": (
        "hf",
        "a Transformers model: a folder, a .gguf file or a name on the hub; the scheme may be left out",
    ),
    "openai": (
        "prompted.endpoint",
        "a model behind an endpoint that speaks chat completions: ?url=URL&prompt=FILE",
    ),
    "predictions": ("stored", "answers already computed, from a file"),
    "python": ("imported", "package.module:name, anything callable that you can import"),
    "tiny": ("shipped", "a small model that ships with shoal"),
    "vectors": ("vectors", "word vectors in text form, for tests of association"),
}
"""Scheme to the module that loads it, and what it is for."""


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model string, taken apart."""

    scheme: str
    name: str
    options: dict[str, str]


def parse_spec(spec: str) -> ModelSpec:
    """Scheme, name and options of a model string.

    >>> parse_spec("predictions:answers.csv?label=pred_a")
    ModelSpec(scheme='predictions', name='answers.csv', options={'label': 'pred_a'})
    """
    head, _, query = spec.partition("?")
    scheme, colon, name = head.partition(":")
    if not colon:
        scheme, name = "hf", head
    if not name:
        raise ModelError(
            f"model {spec!r} names no model",
            fix="predictions:FILE, hf:DIR, python:module:name or tiny:NAME",
        )
    return ModelSpec(scheme, name, _options(query, spec))


def _options(query: str, spec: str) -> dict[str, str]:
    """What stands behind the question mark; each option once, with its value."""
    options: dict[str, str] = {}
    for part in filter(None, query.split("&")):
        key, equals, value = map(unquote_plus, part.partition("="))
        if not equals or not key:
            raise ModelError(f"model {spec!r}: {part!r} is not of the form option=value", fix="?option=value")
        if key in options:
            raise ModelError(
                f"model {spec!r}: {key} is given twice, as {options[key]!r} and {value!r}",
                fix="give each option once",
            )
        options[key] = value
    return options


def asked_in_words(spec: str) -> bool:
    """Whether a model answers prompts: one behind an endpoint, or a Transformers model that continues texts."""
    parsed = parse_spec(spec)
    if parsed.scheme != "hf":
        return parsed.scheme == "openai"
    from .checkpoint import Checkpoint
    from .hf import HFModel

    checkpoint = Checkpoint(parsed.name, parsed.options.get("revision"))
    return bool(checkpoint.config.get("is_encoder_decoder")) or HFModel(checkpoint).language_model == "causal"


def is_remote(spec: str) -> bool:
    """Return whether a model is behind an endpoint."""
    return parse_spec(spec).scheme == "openai"


def digest_file(path: Path) -> str:
    """A file's content as a short hash."""
    if not path.is_file():
        raise ModelError(f"{path}: no such file", fix="check the name, and the folder you are in")
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()[:16]


def load_model(spec: str) -> Any:
    """The model that a spec names, ready to be asked."""
    parsed = parse_spec(spec)
    if parsed.scheme not in SCHEMES:
        raise ModelError(
            f"model {spec!r}: {parsed.scheme!r} models cannot be loaded by this version",
            why=f"it knows {', '.join(f'{scheme}:' for scheme in SCHEMES)}",
            fix=nearest(parsed.scheme, SCHEMES)
            or "store the model's answers in a file and give predictions:FILE",
        )
    module = import_module(f".{SCHEMES[parsed.scheme][0]}", __name__)
    for option in parsed.options:
        if option not in module.OPTIONS:
            raise ModelError(
                f"{parsed.scheme}:{parsed.name}: unknown option {option!r}",
                why=f"known: {', '.join(module.OPTIONS)}" if module.OPTIONS else "it takes none",
                fix=nearest(option, module.OPTIONS) or "leave it out",
            )
    return module.load(parsed)
