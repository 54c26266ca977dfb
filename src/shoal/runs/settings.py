"""Checking what users say about a protocol's settings: unknown keys, wrong types, two sources for one value."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from ..errors import PlanError, nearest


def make_settings(kind: type[Any], values: Mapping[str, Any], where: str) -> Any:
    """A protocol's settings from plain values; text is converted where a number is wanted."""
    from pydantic import TypeAdapter, ValidationError

    known = [one.name for one in fields(kind)]
    for name in values:
        if name not in known:
            raise PlanError(
                f'{where}: unknown setting "{name}"',
                why=f"known: {', '.join(known)}",
                fix=nearest(name, known),
            )
    try:
        return TypeAdapter(kind).validate_python(dict(values))
    except ValidationError as problem:
        first = problem.errors()[0]
        name = ".".join(str(part) for part in first["loc"][:1])
        raise PlanError(
            f"{where}: {name} = {values.get(name)!r}", why=first["msg"][0].lower() + first["msg"][1:]
        ) from None


def parse_pairs(pairs: Sequence[str]) -> dict[str, str]:
    """The settings of repeated `--set key=value`.

    >>> parse_pairs(["suite=sentiment", "split=test"])
    {'suite': 'sentiment', 'split': 'test'}
    """
    values: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise PlanError(f"--set {pair}: not of the form key=value", fix="--set suite=sentiment")
        if key in values:
            raise PlanError(f"--set {key}: given twice, as {values[key]!r} and {value!r}")
        values[key] = value
    return values
