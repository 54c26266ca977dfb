"""Models, each named by a spec string.

    hf:DIR_OR_ID               a Transformers model; the scheme is optional
    python:package.module:name any callable that you can import
    predictions:FILE           stored answers
    tiny:NAME                  a small model that ships with shoal
    vectors:FILE               word vectors in text form, for association tests
    hf:DIR?prompt=FILE         a prompted causal or sequence-to-sequence model
    openai:MODEL?url=URL&prompt=FILE   a model behind a chat-completions endpoint

Options follow the spec: `predictions:FILE?format=softmax&labels=negative,positive`.
"""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

from ..core.errors import ModelError, nearest

SCHEMES: dict[str, tuple[str, str]] = {
    "hf": ("hf", "a Transformers model: a folder, .gguf file or hub name; hf: is optional"),
    "openai": ("prompted.endpoint", "a chat-completions endpoint: ?url=URL&prompt=FILE"),
    "predictions": ("stored", "stored answers, from a file"),
    "python": ("python", "package.module:name, any callable that you can import"),
    "tiny": ("fresh", "a small model that ships with shoal"),
    "vectors": ("vectors", "word vectors in text form, for association tests"),
}
"""Scheme to the module that loads it and a description."""
GRADED = {"scores": "shoal show, compare or gate: its answers are graded already"}
"""What looks like a scheme and needs no protocol."""


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A parsed model spec; its methods read and check the options."""

    scheme: str
    name: str
    options: dict[str, str]

    @property
    def who(self) -> str:
        """The model, without its options."""
        return f"{self.scheme}:{self.name}"

    def one_of(self, name: str, known: Sequence[str], default: str) -> str:
        """Return an option that has a fixed set of values."""
        value = self.options.get(name, default)
        if value not in known:
            problem, fix = f"{self.who}: {name} is {value!r}", f"{name}={known[0]}"
            raise ModelError.unknown(problem, value, filter(None, known), fix)
        return value

    def whole(self, name: str, default: int, low: int, high: int = 10**6) -> int:
        """Return an integer option within bounds."""
        return int(self.number(name, default, low, high, int))

    def number(
        self,
        name: str,
        default: float,
        low: float,
        high: float = math.inf,
        kind: Callable[[str], float] = float,
    ) -> float:
        """Return a numeric option within bounds."""
        written = self.options.get(name, str(default))
        try:
            value = kind(written)
        except ValueError:
            value = math.nan
        if not low <= value <= high:  # also true for NaN
            upper = f" to {high:,g}" if high < math.inf else ""
            raise ModelError(
                f"{self.who}: {name} is {written!r}",
                why=f"expected {'an integer' if kind is int else 'a number'} from {low:g}{upper}",
                fix=f"{name}={default or 1}",
            )
        return value


def parse_spec(spec: str) -> ModelSpec:
    """Parse a model spec into scheme, name and options.

    >>> parse_spec("predictions:answers.csv?label=pred_a")
    ModelSpec(scheme='predictions', name='answers.csv', options={'label': 'pred_a'})
    """
    head, _, query = spec.partition("?")
    scheme, colon, name = head.partition(":")
    if not colon:
        scheme, name = "hf", head
    if not name:
        raise ModelError(
            f"model {spec!r} has no name",
            fix="predictions:FILE, hf:DIR, python:module:name or tiny:NAME",
        )
    return ModelSpec(scheme, name, _options(query, spec))


def _options(query: str, spec: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for part in filter(None, query.split("&")):
        key, equals, value = map(unquote_plus, part.partition("="))
        if not equals or not key:
            raise ModelError(f"model {spec!r}: {part!r} is not an option", fix="?option=value")
        if key in options:
            raise ModelError(
                f"model {spec!r}: {key} occurs twice, as {options[key]!r} and {value!r}",
                fix="set each option once",
            )
        options[key] = value
    return options


def load_prompted(spec: str, needs: str) -> Any:
    """Load a prompted model, whose prompt may be replaced; `needs` begins the error for another model."""
    if "prompt" not in parse_spec(spec).options:
        raise ModelError(
            f"{needs} a prompted model, {spec} has no prompt",
            fix='"openai:MODEL?url=URL&prompt=FILE", or "hf:DIR?prompt=FILE"',
        )
    return load_model(spec)


def is_prompted(spec: str) -> bool:
    """Return whether a model answers prompts: an endpoint, or a Transformers model that generates text."""
    parsed = parse_spec(spec)
    if parsed.scheme != "hf":
        return parsed.scheme == "openai"
    from .checkpoint import Checkpoint
    from .hf import HFModel

    checkpoint = Checkpoint(parsed.name, parsed.options.get("revision"))
    return bool(checkpoint.config.get("is_encoder_decoder")) or HFModel(checkpoint).language_model == "causal"


VARIED = ("prompt", "order", "seed")
"""Options of a prompted model that may change its answers although the question is the same."""


def variant_of(spec: str) -> tuple[str, ...]:
    """Return prompt, order and seed of a prompted model; empty for other models.

    >>> variant_of("hf:llm?prompt=sentiment-plain&order=1"), variant_of("hf:bert")
    (('sentiment-plain', '1', '0'), ())
    """
    options = parse_spec(spec).options if "prompt=" in spec else {}
    return tuple(options.get(name, "0") for name in VARIED) if "prompt" in options else ()


LONG_SPEC = 40
"""Characters of a spec that a heading shows in full."""


def brief_spec(spec: str) -> str:
    """Return a model spec for a heading: without its options if it is long.

    >>> brief_spec("openai:m1?url=http://localhost:8000/v1&price=input:0.15,output:0.6")
    'openai:m1'
    """
    return spec if len(spec) <= LONG_SPEC else spec.partition("?")[0]


def is_remote(spec: str) -> bool:
    """Return whether a model is behind an endpoint."""
    return parse_spec(spec).scheme == "openai"


def digest_file(path: Path) -> str:
    """Return a short hash of a file."""
    if not path.is_file():
        raise ModelError(f"{path}: no such file", fix="check the name and the current folder")
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()[:16]


def load_model(spec: str) -> Any:
    """Load the model that a spec names."""
    parsed = parse_spec(spec)
    if parsed.scheme not in SCHEMES:
        raise ModelError(
            f"model {spec!r}: unknown scheme {parsed.scheme!r}",
            why=f"known: {', '.join(f'{scheme}:' for scheme in SCHEMES)}",
            fix=GRADED.get(parsed.scheme)
            or nearest(parsed.scheme, SCHEMES)
            or "store the model's answers in a file: predictions:FILE",
        )
    module = import_module(f".{SCHEMES[parsed.scheme][0]}", __name__)
    check_options(parsed, module.OPTIONS)
    return module.load(parsed)


def check_options(spec: ModelSpec, known: Sequence[str]) -> None:
    """Raise an error for an option that a scheme does not have."""
    for option in spec.options:
        if option not in known:
            raise ModelError(
                f"{spec.who}: unknown option {option!r}",
                why=f"known: {', '.join(known)}" if known else "it takes none",
                fix=nearest(option, known) or "remove it",
            )
