"""Names of jobs and models on a page: a spec may be a long path or a URL."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from ..core.errors import ShoalError
from ..core.records import Case, Measure, Outcome, Result
from ..models import parse_spec
from ..runs.plan import model_name

LONG_NAME = 32
"""Characters of a spec that is not shortened."""
DEEPEST = 4
"""The most parts of a path in a short name."""

Content = TypeVar("Content")


def job_id(result: Result, position: int) -> str:
    """Return a job's id, or its position for a result without one."""
    return str(result.job.get("id", position))


def job_names(results: Sequence[Result], given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return a name for each job id: its model, or the part of the id that is unique."""
    by_model: dict[tuple[str, str], list[str]] = {}
    for i, result in enumerate(results):
        key = str(result.job["protocol"]), str(result.job["model"])
        by_model.setdefault(key, []).append(job_id(result, i))
    short = short_names(list(dict.fromkeys(model for _, model in by_model)), given)
    several = len({protocol for protocol, _ in by_model}) > 1
    names: dict[str, str] = {}
    for (protocol, model), ids in by_model.items():
        if len(ids) == 1:
            name = short.get(model, model)
            names[ids[0]] = f"{name} ({protocol})" if several else name
            continue
        # The ids without their common start, and without the hash if they differ before it.
        parts = {each: each.removeprefix(f"{protocol}-{model_name(model)}-") for each in ids}
        before = {each: part.rpartition("-")[0] for each, part in parts.items()}
        is_unique = len(set(before.values())) == len(ids) and all(before.values())
        names |= before if is_unique else parts
    return names if len(set(names.values())) == len(names) else {each: each for each in names}


def short_names(specs: Sequence[str], given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return a short name for each long spec: the plan's name for it, or its unique end.

    python:examples.ranking.readers:last_clause        python:readers:last_clause
    hf:/data/checkpoints/seed_0-step_128               hf:seed_0-step_128
    openai:m?url=http://127.0.0.1:1/v1&prompt=plain    openai:m prompt=plain
    """
    named = {spec: name for spec, name in (given or {}).items() if spec in specs and len(name) <= LONG_NAME}
    rest = [spec for spec in specs if spec not in named]
    for depth in range(1, DEEPEST + 1):
        names = {spec: _short(spec, rest, depth) for spec in rest} | named
        if len(set(names.values())) == len(specs):
            return {spec: name for spec, name in names.items() if name != spec}
    return {}


def _short(spec: str, specs: Sequence[str], depth: int) -> str:
    """Return the scheme, the last parts of the path, and the options in which similar specs differ."""
    if len(spec) <= LONG_NAME:
        return spec
    try:
        parsed = parse_spec(spec)
    except ShoalError:
        return spec
    path, _, function = parsed.name.rstrip("/").partition(":")
    parts = re.split("([/.])" if parsed.scheme == "python" else "(/)", path)
    last = "".join(parts[-2 * depth + 1 :]) + (f":{function}" if function else "")
    head = spec.partition("?")[0]
    similar = [parse_spec(other).options for other in specs if other.partition("?")[0] == head]
    options = [
        f"{key}={value}"
        for key, value in parsed.options.items()
        if any(other.get(key) != value for other in similar)
    ]
    return " ".join([f"{parsed.scheme}:{last}", *options])


def renamed(content: Content, names: Mapping[str, str]) -> Content:
    """Return sections, findings or text with other names in them; measures and cases are data and stay."""
    if not names:
        return content
    pattern = re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))))

    def changed(part: Any) -> Any:
        if isinstance(part, str):
            return pattern.sub(lambda match: names[match[0]], part)
        if isinstance(part, Case | Measure | Outcome | Result):
            return part
        if is_dataclass(part) and not isinstance(part, type):
            return replace(part, **{field.name: changed(getattr(part, field.name)) for field in fields(part)})
        if isinstance(part, Mapping):
            return {changed(key): changed(value) for key, value in part.items()}
        return type(part)(map(changed, part)) if isinstance(part, tuple | list) else part

    return changed(content)  # type: ignore[no-any-return]
