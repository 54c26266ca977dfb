"""Short names for models on a page: a spec may be a long path or a URL, and one row of it would fill a screen.

    python:examples.ranking.readers:last_clause        python:readers:last_clause
    hf:/data/checkpoints/seed_0-step_128               hf:seed_0-step_128
    openai:m?url=http://127.0.0.1:1/v1&prompt=plain    openai:m prompt=plain

Specs are told in full among the facts of the page. Names that would not tell models apart stay as they are.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from ..core.errors import ShoalError
from ..core.records import Case, Measure, Outcome, Result
from ..models import parse_spec

LONG = 32
"""Letters of a spec that is left as it is."""
DEEPEST = 4
"""Parts of a path that are tried."""
AS_THEY_ARE = (Case, Measure, Outcome, Result)
"""Records: what they say is data."""

Thing = TypeVar("Thing")


def short_names(specs: Sequence[str], given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Spec to its name on the page, of those that have another there: the plan's own, or what tells it apart."""
    named = {spec: name for spec, name in (given or {}).items() if spec in specs and len(name) <= LONG}
    rest = [spec for spec in specs if spec not in named]
    for depth in range(1, DEEPEST + 1):
        names = {spec: _short(spec, rest, depth) for spec in rest} | named
        if len(set(names.values())) == len(specs):
            return {spec: name for spec, name in names.items() if name != spec}
    return {}


def _short(spec: str, specs: Sequence[str], depth: int) -> str:
    """Scheme, the last parts of its name, and what stands behind the question mark in it and not in all of its kind."""
    if len(spec) <= LONG:
        return spec
    try:
        parsed = parse_spec(spec)
    except ShoalError:
        return spec
    path, _, found = parsed.name.rstrip("/").partition(":")
    parts = re.split("([/.])" if parsed.scheme == "python" else "(/)", path)
    last = "".join(parts[-2 * depth + 1 :]) + (f":{found}" if found else "")
    head = spec.partition("?")[0]
    alike = [parse_spec(other).options for other in specs if other.partition("?")[0] == head]
    told = [
        f"{key}={value}"
        for key, value in parsed.options.items()
        if any(one.get(key) != value for one in alike)
    ]
    return " ".join([f"{parsed.scheme}:{last}", *told])


def renamed(thing: Thing, names: Mapping[str, str]) -> Thing:
    """Sections, findings, words: the same with other names in their texts. Measures and cases stay as they are."""
    if not names:
        return thing
    pattern = re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))))
    return _renamed(thing, pattern, names)  # type: ignore[no-any-return]


def _renamed(thing: Any, pattern: re.Pattern[str], names: Mapping[str, str]) -> Any:
    if isinstance(thing, str):
        return pattern.sub(lambda found: names[found[0]], thing)
    if isinstance(thing, AS_THEY_ARE):
        return thing
    if is_dataclass(thing) and not isinstance(thing, type):
        changes = {}
        for one in fields(thing):
            before = getattr(thing, one.name)
            after = _renamed(before, pattern, names)
            if after is not before:
                changes[one.name] = after
        return replace(thing, **changes) if changes else thing
    if isinstance(thing, Mapping):
        return {
            _renamed(key, pattern, names): _renamed(value, pattern, names) for key, value in thing.items()
        }
    if isinstance(thing, tuple | list):
        return type(thing)(_renamed(part, pattern, names) for part in thing)
    return thing
