"""The one place through which every string of a server passes: it loses the key and lone surrogates.

Redaction comes before any cut, and also finds parts of the key and its usual encodings.
"""

import re
from base64 import b64encode, urlsafe_b64encode
from functools import lru_cache
from typing import Any
from urllib.parse import quote

MASK = "•••"
SHORTEST_KEY = 8
"""Characters. Shorter values are placeholders such as `none` or `EMPTY`, and may well be answers."""
PART = 12
"""This many characters of the key in a row are masked even if the rest is missing."""
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str, key: str) -> str:
    """Return text of a server without the key, in characters that can be written.

    >>> clean("no key sk-0123456789abcdef here, nor 123456789abc", "sk-0123456789abcdef")
    'no key ••• here, nor •••'
    """
    if not text.isascii():
        text = _SURROGATE.sub("\ufffd", text)
    if len(key) < SHORTEST_KEY:
        return text
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
    return _masked(text, sorted(starts), size) if starts else text


def clean_json(value: Any, key: str) -> Any:
    """Return a parsed JSON value with every string of it cleaned."""
    if isinstance(value, str):
        return clean(value, key)
    if isinstance(value, list):
        return [clean_json(item, key) for item in value]
    if isinstance(value, dict):
        return {clean(name, key): clean_json(item, key) for name, item in value.items()}
    return value


def _masked(text: str, starts: list[int], size: int) -> str:
    """Put one mask in the place of every stretch that is covered by the parts found."""
    pieces, end = [], 0
    for start in starts:
        if start >= end:
            pieces += [text[end:start], MASK]
        end = start + size
    return "".join([*pieces, text[end:]])


@lru_cache(maxsize=8)
def _parts(key: str) -> tuple[frozenset[str], frozenset[str], int]:
    """Return all stretches of the key and of its encodings, those of half the length, and the length."""
    raw, size = key.encode(), min(PART, len(key))
    forms = [key, key.lower(), key.upper(), quote(key, safe=""), raw.hex(), raw.hex().upper()]
    forms += ["".join(f"%{byte:02x}" for byte in raw), "".join(f"%{byte:02X}" for byte in raw)]
    for offset, unsure in enumerate((0, 2, 3)):
        for encode in (b64encode, urlsafe_b64encode):
            # Characters at both ends also depend on the neighbours of the key.
            forms.append(encode(b"\0" * offset + raw).decode().rstrip("=")[unsure:-1])
    parts, halves = (
        frozenset(form[at : at + long] for form in forms for at in range(len(form) - long + 1))
        for long in (size, size // 2)
    )
    return parts, halves, size
