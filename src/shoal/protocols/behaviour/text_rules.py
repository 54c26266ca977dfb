"""Expectations of free answers: rules on the text alone, without a judge model (`docs/method/checklist.md` 2.8).

    contains, not_contains    texts that must, or must not, be in the answer
    regex                     an expression that matches somewhere in it
    one_of                    the whole answer is one of these
    number                    its last number, within a tolerance
    json                      a JSON value that a schema allows
    max_words, max_characters

A rule without an argument takes the case's label as its argument. Each entry of TEXT_RULES checks an argument and
returns a test of an answer.
"""

import json
import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...core.errors import DataError, nearest
from ...models.prompted.replies import stripped
from .patterns import Pattern

AnswerTest = Callable[[str], bool]
NUMBER = re.compile(
    r"(?<!\d)[-−+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d{1,3})?|(?<!\d)[-−+]?\.\d+"
)
FENCE = "```"
DEEPEST = 50
"""Nesting of a schema."""


def normalised(answer: str) -> str:
    """Return an answer without letter case, repeated white space, and quotes, emphasis or full stops around it.

    >>> normalised("  **Paris**. "), normalised("The  “Old Town”")
    ('paris', 'the “old town')
    """
    return " ".join(stripped(unicodedata.normalize("NFKC", answer)).casefold().split())


# Tests from arguments


def contains(texts: Any) -> AnswerTest:
    """Every text is in the answer, in capitals or not."""
    wanted = [_spaced(text) for text in _texts("contains", texts)]
    return lambda answer: all(text in _spaced(answer) for text in wanted)


def not_contains(texts: Any) -> AnswerTest:
    """No text is in the answer, in capitals or not."""
    unwanted = [_spaced(text) for text in _texts("not_contains", texts)]
    return lambda answer: not any(text in _spaced(answer) for text in unwanted)


def regex(source: Any) -> AnswerTest:
    """The expression matches somewhere in the answer."""
    (text,) = _texts("regex", source, most=1)
    pattern = Pattern(text)
    return lambda answer: pattern.is_in(answer.strip())


def one_of(texts: Any) -> AnswerTest:
    """The normalised answer is one of these."""
    wanted = {normalised(text) for text in _texts("one_of", texts)}
    return lambda answer: normalised(answer) in wanted


def number(given: Any) -> AnswerTest:
    """The last number of the answer is this one: `42`, or `{value: 42, within: 0.5}`."""
    parts = given if isinstance(given, Mapping) else {"value": given}
    if "value" not in parts or set(parts) - {"value", "within"}:
        raise _wrong("number", given, "number: 42, or number: {value: 42, within: 0.5}")
    value, within = _number("number", parts["value"]), _number("number", parts.get("within", 0))
    if within < 0:
        raise _wrong("number", given, "a tolerance of 0 or more")

    def test(answer: str) -> bool:
        numbers = NUMBER.findall(answer)
        # A rounding error of the decimals must not decide.
        plain = [number.replace(",", "").replace("−", "-") for number in numbers[-1:]]
        return any(abs(float(number) - value) <= within + 1e-9 * max(1.0, abs(value)) for number in plain)

    return test


def max_words(limit: Any) -> AnswerTest:
    """The answer has at most this number of words."""
    most = _whole("max_words", limit)
    return lambda answer: len(answer.split()) <= most


def max_characters(limit: Any) -> AnswerTest:
    """The answer has at most this number of characters."""
    most = _whole("max_characters", limit)
    return lambda answer: len(answer.strip()) <= most


def json_value(schema: Any) -> AnswerTest:
    """The answer is a JSON value that the schema allows; it may stand in the only code block of a text."""
    if isinstance(schema, str):
        try:
            schema = json.loads(schema)
        except (ValueError, RecursionError):
            raise _wrong("json", schema, "json: {type: object, required: [name]}") from None
    check_schema(schema)

    def test(answer: str) -> bool:
        try:
            return allows(schema, json.loads(_without_fence(answer.strip()), parse_constant=_refuse))
        except (ValueError, RecursionError):
            return False

    return test


TEXT_RULES: Mapping[str, Callable[[Any], AnswerTest]] = {
    "contains": contains,
    "not_contains": not_contains,
    "regex": regex,
    "one_of": one_of,
    "number": number,
    "json": json_value,
    "max_words": max_words,
    "max_characters": max_characters,
}


def _without_fence(text: str) -> str:
    """Return the content of the only code block of a text; a text without one, or with several, unchanged."""
    first, _, rest = text.partition("\n")
    if first.strip() in (FENCE, f"{FENCE}json") and rest.endswith(FENCE):
        return rest.removesuffix(FENCE)
    blocks = text.split(FENCE)
    language, _, content = blocks[1].partition("\n") if len(blocks) == 3 else ("", "", "")
    return content if content and language.strip() in ("", "json") else text


def _refuse(constant: str) -> None:
    """Raise for NaN and Infinity, which are not JSON."""
    raise ValueError(constant)


def f1_limit(limit: Any) -> float:
    """Return the least token F1 of a rule."""
    value = _number("token_f1", limit)
    if not 0 < value <= 1:
        raise _wrong("token_f1", limit, "token_f1: 0.8")
    return value


def _texts(rule: str, given: Any, most: int = 1000) -> list[str]:
    texts = [given] if isinstance(given, str | int | float) and not isinstance(given, bool) else given
    right = isinstance(texts, list | tuple) and 1 <= len(texts) <= most
    if not right or not all(isinstance(text, str | int | float) and str(text).strip() for text in texts):
        raise _wrong(rule, given, f"{rule}: Paris" if most > 1 else f"{rule}: '[0-9]+ days'")
    return list(map(str, texts))


def _number(rule: str, given: Any) -> float:
    try:
        value = math.nan if isinstance(given, bool) else float(given)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise _wrong(rule, given, "a number")
    return value


def _whole(rule: str, given: Any) -> int:
    value = _number(rule, given)
    if value < 1 or value != int(value):
        raise _wrong(rule, given, f"{rule}: 20")
    return int(value)


def _wrong(rule: str, given: Any, fix: str) -> DataError:
    return DataError(f"{rule} cannot be {json.dumps(given, ensure_ascii=False, default=str)[:80]}", fix=fix)


def _spaced(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


# A part of JSON Schema

TYPES: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: TYPES["number"](value) and value == value // 1,
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}
LIMITS: Mapping[str, tuple[str, Callable[[Any, float], bool]]] = {
    "minimum": ("number", lambda value, limit: value >= limit),
    "maximum": ("number", lambda value, limit: value <= limit),
    "minLength": ("string", lambda value, limit: len(value) >= limit),
    "maxLength": ("string", lambda value, limit: len(value) <= limit),
    "minItems": ("array", lambda value, limit: len(value) >= limit),
    "maxItems": ("array", lambda value, limit: len(value) <= limit),
}
"""Keyword to the type that it limits."""
KEYWORDS: Mapping[str, Callable[[Any], bool]] = {
    "type": lambda value: all(isinstance(kind, str) and kind in TYPES for kind in _listed(value)),
    "enum": TYPES["array"],
    "const": lambda value: True,
    "properties": lambda value: isinstance(value, Mapping),
    "required": TYPES["array"],
    "additionalProperties": TYPES["boolean"],
    "items": lambda value: isinstance(value, Mapping),
    "pattern": lambda value: isinstance(value, str) and bool(Pattern(value)),
    **dict.fromkeys(LIMITS, TYPES["number"]),
}
"""Keyword to whether it may have a value."""


def plain_schema(schema: Any) -> Any:
    """Return a schema of a YAML suite, where every value is a text, with its numbers and truth values.

    >>> plain_schema({"type": "integer", "minimum": "1", "enum": ["1", "2"]})
    {'type': 'integer', 'minimum': 1, 'enum': [1, 2]}
    """
    if isinstance(schema, str):
        return schema
    typed = schema.get("type") not in (None, "string")
    read = {
        "properties": lambda parts: {name: plain_schema(part) for name, part in parts.items()},
        "items": plain_schema,
        **dict.fromkeys([*LIMITS, "additionalProperties"], _scalar),
        **(dict.fromkeys(["enum", "const"], _scalar) if typed else {}),
    }
    return {name: read[name](value) if name in read else value for name, value in schema.items()}


def _scalar(text: Any) -> Any:
    """Return a text as the JSON value that it spells, if it does."""
    if isinstance(text, list):
        return list(map(_scalar, text))
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return text


def check_schema(schema: Any, depth: int = 0) -> None:
    """Raise for keywords that shoal does not know: they would be ignored."""
    if not isinstance(schema, Mapping) or depth > DEEPEST:
        raise _wrong("json", schema, "json: {type: object, required: [name]}")
    for name, value in schema.items():
        if name not in KEYWORDS:
            raise DataError(
                f"json: unknown keyword {str(name)[:80]!r}",
                why=f"known: {', '.join(KEYWORDS)}",
                fix=nearest(str(name), KEYWORDS) or "one of those",
            )
        if not KEYWORDS[name](value):
            raise _wrong(f"json: {name}", value, "a value as in JSON Schema")
    for inner in (*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])):
        check_schema(inner, depth + 1)


def allows(schema: Mapping[str, Any], value: Any) -> bool:
    """Return whether a schema allows a value."""
    if not any(TYPES[kind](value) for kind in _listed(schema.get("type", list(TYPES)))):
        return False
    for name, (kind, test) in LIMITS.items():
        if name in schema and TYPES[kind](value) and not test(value, schema[name]):
            return False
    for options in (schema.get("enum"), [schema["const"]] if "const" in schema else None):
        if options is not None and not any(_same(value, option) for option in options):
            return False
    if "pattern" in schema and isinstance(value, str) and not Pattern(schema["pattern"]).is_in(value):
        return False
    if isinstance(value, dict):
        return _allows_object(schema, value)
    return not isinstance(value, list) or all(allows(schema.get("items", {}), item) for item in value)


def _allows_object(schema: Mapping[str, Any], value: Mapping[str, Any]) -> bool:
    known = schema.get("properties", {})
    return (
        all(name in value for name in schema.get("required", ()))
        and (schema.get("additionalProperties", True) or set(value) <= set(known))
        and all(allows(known[name], value[name]) for name in known if name in value)
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _same(value: Any, other: Any) -> bool:
    """Return whether two JSON values are equal; true is not 1."""
    return bool(value == other) and isinstance(value, bool) == isinstance(other, bool)


# In words


def rule_text(rule: str, argument: Any) -> str:
    """Return a rule on free answers in words; empty for other rules."""
    texts = argument if isinstance(argument, Sequence) and not isinstance(argument, str) else [argument]
    quoted = [f'"{text}"' for text in texts]
    if rule == "number" and isinstance(argument, Mapping):
        return f"the number {argument['value']} ± {argument.get('within', 0)}"
    words = {
        "contains": f"a text with {' and '.join(quoted)}",
        "not_contains": f"a text without {' or '.join(quoted)}",
        "one_of": " or ".join(quoted),
        "regex": f"a match of {argument}",
        "number": f"the number {argument}",
        "json": "JSON as in the schema",
        "max_words": f"at most {argument} words",
        "max_characters": f"at most {argument} characters",
        "same_text": "the same text",
        "token_f1": f"token F1 of at least {argument}",
    }
    return words.get(rule, "")
