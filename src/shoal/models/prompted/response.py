"""A chat-completions response, checked: whatever is not one is a ValueError and is retried.

Token counts are the exception. An answer is never thrown away because its usage figures are invalid.
"""

import json
import math
import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from typing import Any

from .spending import is_token_count

MASK = "•••"
SHORTEST_KEY = 8
"""Characters. Shorter values are placeholders such as `none` or `EMPTY`, and may well be answers."""
PART = 12
"""This many characters of the key in a row are masked even if the rest is missing."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_COUNTED, _SEPARATORS = re.compile("[0-9A-Za-z]"), re.compile("[^0-9A-Za-z]+")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
MASS_TOLERANCE = 0.01
"""Servers round log-probabilities, so their probabilities may sum to slightly more than 1."""


@dataclass(frozen=True, slots=True)
class Completion:
    """A server's answer, without the key."""

    content: str
    finish: str
    first_tokens: Sequence[tuple[str, float]] | None
    """The likeliest first tokens with their log-probabilities, if the server gives them."""
    server: str
    """The server's own name for its configuration."""
    model: str
    """The server's own name for the model."""
    usage: tuple[int, int] | None
    """Tokens read and written; None if the server gives no valid figures."""


def read_json(raw: bytes, key: str) -> Any:
    """Return the JSON value of a response body without the key; raise ValueError if it is not JSON."""
    try:
        return clean_json(json.loads(raw.decode(errors="replace")), key)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def read_completion(raw: bytes, key: str) -> Completion:
    """Return the completion in a response body; raise ValueError if there is none."""
    body = read_json(raw, key)
    try:
        choice = body["choices"][0]
        message = choice["message"]
        content = message["content"] or message.get("refusal")
        if not isinstance(content, str | None):
            raise TypeError("content is not a text")
        first_tokens = _first_tokens(choice.get("logprobs"))
        return Completion(
            content or "",
            _text(choice.get("finish_reason")),
            first_tokens,
            _text(body.get("system_fingerprint")),
            _text(body.get("model")),
            _usage(body.get("usage")),
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except (KeyError, IndexError, TypeError, AttributeError, OverflowError) as problem:
        raise ValueError(f"no answer in it ({type(problem).__name__}: {problem})") from None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _usage(given: Any) -> tuple[int, int] | None:
    if not isinstance(given, dict):
        return None
    read, written = (given.get(name) for name in ("prompt_tokens", "completion_tokens"))
    return (read, written) if is_token_count(read) and is_token_count(written) else None


def _first_tokens(given: Any) -> list[tuple[str, float]] | None:
    tokens = (given or {}).get("content") or []
    top = tokens[0].get("top_logprobs") if tokens else None
    if not top:
        return None
    returned, seen, mass = [], set(), 0.0
    for row in top:
        token, log_probability = row["token"], row["logprob"]
        if not isinstance(token, str):
            raise TypeError("a token is not a text")
        if type(log_probability) not in (int, float) or not math.isfinite(log_probability):
            raise TypeError(f"the log-probability of {token!r} is not a finite number")
        mass += math.exp(min(log_probability, 1.0))
        # Tokens of single bytes are all shown as "" or U+FFFD, and are different ones.
        identity = (token, str(row.get("bytes")))
        if identity in seen and token and "\ufffd" not in token:
            raise TypeError(f"the token {token!r} is listed twice")
        seen.add(identity)
        returned.append((token, float(log_probability)))
    if mass > 1 + MASS_TOLERANCE:
        raise TypeError(f"the probabilities of the first tokens sum to {mass:.4g}")
    return returned


# Redaction


def clean(text: str, key: str) -> str:
    """Return text of a server without the key, in characters that can be written.

    Only ASCII letters and digits count, in either case: other characters between those of the key do not hide it.

    >>> clean("no key sk-0123456789abcdef here, nor 1 2 3 4 5 6 7 8 9 A B C", "sk-0123456789abcdef")
    'no key ••• here, nor •••'
    """
    if not text.isascii():
        text = _SURROGATE.sub("\ufffd", text)
    if len(key) < SHORTEST_KEY or len(text) < SHORTEST_KEY:
        return text
    if len(_squeezed(key)) < SHORTEST_KEY:
        return text.replace(key, MASK)
    for written in (text, _unescaped(text)):
        starts, size = _matches(_squeezed(written), key)
        if starts:
            text = _masked(written, starts, size)
    return text


def clean_json(value: Any, key: str) -> Any:
    """Return a parsed JSON value with every string of it cleaned."""
    if isinstance(value, str):
        return clean(value, key)
    if isinstance(value, list):
        return [clean_json(item, key) for item in value]
    if isinstance(value, dict):
        return {clean(name, key): clean_json(item, key) for name, item in value.items()}
    return value


def _unescaped(text: str) -> str:
    """Return a text with its HTML entities and JSON escapes replaced; empty if it has none."""
    if "&#" not in text and "\\u" not in text:
        return ""
    return _SURROGATE.sub("\ufffd", _ESCAPE.sub(lambda match: chr(int(match[1], 16)), unescape(text)))


def _squeezed(text: str) -> str:
    return _SEPARATORS.sub("", text).lower()


def _matches(text: str, key: str) -> tuple[list[int], int]:
    """Return where parts of the key begin in a squeezed text, and their length."""
    parts, halves, size = _parts(key)
    half = size // 2
    # Every part covers one of these places, so that megabytes of other text cost little.
    near = [at for at in range(0, len(text), half) if text[at : at + half] in halves]
    starts = {
        start
        for at in near
        for start in range(max(0, at - half + 1), at + 1)
        if text[start : start + size] in parts
    }
    return sorted(starts), size


def _masked(text: str, starts: list[int], size: int) -> str:
    """Replace every stretch covered by the matched parts with one mask."""
    places = [match.start() for match in _COUNTED.finditer(text)]
    pieces, end = [], 0
    for start in starts:
        if places[start] >= end:
            pieces += [text[end : places[start]], MASK]
        end = places[start + size - 1] + 1
    return "".join([*pieces, text[end:]])


@lru_cache(maxsize=8)
def _parts(key: str) -> tuple[frozenset[str], frozenset[str], int]:
    """Return all stretches of the key and of its encodings, those of half the length, and the length."""
    raw = key.encode()
    forms = [key, raw.hex()]  # percent-encoding is hex with separators
    for offset, unsure in enumerate((0, 2, 3)):
        # Characters at both ends also depend on the neighbours of the key.
        forms.append(b64encode(b"\0" * offset + raw).decode().rstrip("=")[unsure:-1])
    forms = [_squeezed(form) for form in forms]
    size = min(PART, len(forms[0]))
    parts, halves = (
        frozenset(form[at : at + long] for form in forms for at in range(len(form) - long + 1))
        for long in (size, size // 2)
    )
    return parts, halves, size
