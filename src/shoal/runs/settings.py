"""Checking what users say about a protocol's settings: unknown keys, wrong types, two sources for one value."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from types import UnionType
from typing import Any, cast, get_args, get_origin, get_type_hints

from ..core.errors import PlanError, nearest

SEPARATOR = re.compile(r",(?! )")
"""Between the values of a list that is written as text; a comma before a blank belongs to the text."""


def make_settings(kind: type[Any], values: Mapping[str, Any], where: str) -> Any:
    """A protocol's settings from plain values; text is converted where a number or a list is wanted."""
    from pydantic import TypeAdapter, ValidationError

    plain = _plain(kind, values, where)
    try:
        return TypeAdapter(kind).validate_python(plain)
    except ValidationError as problem:
        first = problem.errors()[0]
        value: Any = plain
        names: list[str] = []
        _refuse_table(kind, plain, first, where)
        for part in first["loc"]:
            if not isinstance(value, Mapping) or part not in value:
                break
            value, names = value[part], [*names, str(part)]
        raise PlanError(
            f"{where}: {'.'.join(names)} = {value!r}",
            why=first["msg"][0].lower() + first["msg"][1:],
            fix=_remedy(kind, names, value, first),
        ) from None


def _refuse_table(kind: type[Any], plain: Mapping[str, Any], problem: Mapping[str, Any], where: str) -> None:
    """A list of tables has remedies of its own: a table that lacks something, and one that stands alone."""
    name, *rest = problem["loc"]
    of_tables = any(
        _of_tables(hint) is not None
        for one, hints in zip(fields(kind), _hints(kind), strict=True)
        for hint in hints
        if one.name == name
    )
    if of_tables and isinstance(plain[name], Mapping):
        raise PlanError(
            f"{where}: {name} is one table",
            why="a list of tables is expected",
            fix=f"two brackets on either side of its heading, as in [[bias.{name}]]",
        )
    if of_tables and problem["type"] == "missing" and len(rest) == 2:
        number, missing = rest
        raise PlanError(
            f"{where}: {name} {number + 1}: no {missing}", why="it has no usual value", fix=f"{missing} = …"
        )


def _remedy(kind: type[Any], names: Sequence[str], value: Any, problem: Mapping[str, Any]) -> str:
    """What to write instead: the word most like it, or nothing, which is the usual value."""
    words = re.findall(r"'([^']*)'", str(problem.get("ctx", {}).get("expected", "")))
    close = nearest(str(value), words)
    if close:
        return f"{'.'.join(names)} = {close}"
    default = next((field.default for field in fields(kind) if [field.name] == list(names)), None)
    usual = (
        "" if default is None or default is MISSING or is_dataclass(default) else f", which is {default!r}"
    )
    return f"leave it out for the usual value{usual}"


def _plain(kind: type[Any], values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The values with unknown keys refused, tables inside them too, and lists that were written as text."""
    known = {one.name: hints for one, hints in zip(fields(kind), _hints(kind), strict=True)}
    found: dict[str, Any] = {}
    for name, value in _flattened(nested(values), where).items():
        if f"{name}_" in known:  # a word that Python keeps for itself, such as from
            name = f"{name}_"
        removed = getattr(kind, "REMOVED", {})
        if name not in known and name in removed:
            raise PlanError(f"{where}: {name} is not a setting here", fix=removed[name])
        if name not in known:
            raise PlanError(
                f'{where}: unknown setting "{name}"',
                why=f"known: {', '.join(one.removesuffix('_') for one in known)}",
                fix=nearest(name, known) or "one of those",
            )
        table = next((hint for hint in known[name] if is_dataclass(hint)), None)
        tables = next((hint for hint in map(_of_tables, known[name]) if hint is not None), None)
        if table is not None and isinstance(value, Mapping):
            value = _plain(cast("type[Any]", table), value, f"{where}: {name}")
        elif tables is not None and isinstance(value, list | tuple):
            value = [
                _plain(tables, one, f"{where}: {name} {number}") if isinstance(one, Mapping) else one
                for number, one in enumerate(value, start=1)
            ]
        elif any(get_origin(hint) is tuple for hint in known[name]) and isinstance(value, str):
            value = [word for word in SEPARATOR.split(value) if word]
        elif any(get_origin(hint) is tuple for hint in known[name]) and isinstance(value, int | float):
            value = [value]
        found[name] = value
    return found


def _flattened(values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the settings with those of the table `advanced` among the others."""
    advanced = values.get("advanced")
    if not isinstance(advanced, Mapping):
        return dict(values)
    plain = {name: value for name, value in values.items() if name != "advanced"}
    for name in advanced:
        if name in plain:
            raise PlanError(f"{where}: {name} is given twice, once under advanced", fix="give it once")
    return plain | dict(advanced)


def _of_tables(hint: Any) -> type[Any] | None:
    """What each table of a list of tables is."""
    inner = get_args(hint)[0] if get_origin(hint) is tuple else None
    return inner if is_dataclass(inner) and isinstance(inner, type) else None


def _hints(kind: type[Any]) -> list[tuple[Any, ...]]:
    """For each field the types it may have."""
    hints = get_type_hints(kind)
    return [
        get_args(hints[one.name]) if isinstance(hints[one.name], UnionType) else (hints[one.name],)
        for one in fields(kind)
    ]


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted names as tables in tables, as TOML reads them.

    >>> nested({"train.on": "iid", "train.method": "l2", "suite": "sentiment"})
    {'train': {'on': 'iid', 'method': 'l2'}, 'suite': 'sentiment'}
    """
    found: dict[str, Any] = {}
    for name, value in values.items():
        head, dot, rest = name.partition(".")
        if dot:
            inner = found.setdefault(head, {})
            found[head] = {**inner, rest: value} if isinstance(inner, Mapping) else {rest: value}
        else:
            found[name] = value
    return {
        name: nested(value) if isinstance(value, Mapping) and any("." in key for key in value) else value
        for name, value in found.items()
    }


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
            raise PlanError(f"--set {key}: given twice, as {values[key]!r} and {value!r}", fix="give it once")
        values[key] = value
    return values
