"""Make the settings of a protocol from plain values: from a plan, from `--set`, from Python.

Unknown names, wrong types and values given twice are errors. A name in `REMOVED` of a Settings class is an error that
names the replacement. Settings under `[PROTOCOL.advanced]` count as settings of `[PROTOCOL]`. The table `[resources]`
of a plan is read in the same way; `[resources.PROTOCOL]` is for the jobs of one protocol.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from types import UnionType
from typing import Annotated, Any, cast, get_args, get_origin, get_type_hints

from pydantic import BeforeValidator, ByteSize, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from ..core.errors import PlanError, nearest
from ..core.ranges import Within

SEPARATOR = re.compile(r",(?! )")
"""Separates the values of a list written as text; a comma before a space belongs to the value."""


def make_settings(kind: type[Any], values: Mapping[str, Any], where: str) -> Any:
    """Return a protocol's settings from plain values; text becomes a number or a list if the setting needs one."""
    if values.get("tasks") and {"task", "tasks"} <= {field.name for field in fields(kind)}:
        values = _with_tasks(kind, values, where)
    plain = _plain(kind, values, where)
    try:
        return TypeAdapter(kind).validate_python(plain)
    except ValidationError as problem:
        first = problem.errors()[0]
        if first["type"] == "missing":
            *place, missing = map(str, first["loc"])
            raise PlanError(f"{where}: {'.'.join(place)}: no {missing}", fix=f"{missing} = …") from None
        value: Any = plain
        names: list[str] = []
        for part in first["loc"]:
            try:
                value = value[part]
            except (LookupError, TypeError):
                break
            names.append(str(part))
        allowed = re.findall(r"'([^']*)'", str(first.get("ctx", {}).get("expected", "")))
        close = nearest(str(value), allowed)
        raise PlanError(
            f"{where}: {'.'.join(names)} = {value!r}",
            why=first["msg"][0].lower() + first["msg"][1:],
            fix=f"{'.'.join(names)} = {close}" if close else "leave it out for the default",
        ) from None


def _with_tasks(kind: type[Any], values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the values with the settings of each task: its own table, then those that hold for all tasks."""
    shared = _flattened(nested({name: value for name, value in values.items() if name != "tasks"}), where)
    tables = values["tasks"]
    if not isinstance(tables, Mapping) or not all(isinstance(table, Mapping) for table in tables.values()):
        raise PlanError(f"{where}: tasks = {tables!r}", fix="a table for each task: [learning.tasks.NAME]")
    tasks = {}
    for name, table in tables.items():
        place = f"{where}: tasks.{name}"
        tasks[name] = make_settings(kind, _merged(shared, _flattened(table, place)) | {"task": name}, place)
    return shared | {"tasks": tasks}


def _merged(shared: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested tables as one; of values given in both, the second."""
    merged = dict(shared)
    for name, value in own.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(name), Mapping)
        merged[name] = _merged(merged[name], value) if both else value
    return merged


def _plain(kind: type[Any], values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the values by field, in nested tables too, with lists that were written as text split."""
    every = get_type_hints(kind)
    hints = {field.name: every[field.name] for field in fields(kind)}
    removed: Mapping[str, str] = getattr(kind, "REMOVED", {})
    plain: dict[str, Any] = {}
    for name, value in _flattened(nested(values), where).items():
        if f"{name}_" in hints:  # a reserved word of Python, such as from
            name = f"{name}_"
        if name in removed and name not in hints:
            raise PlanError(f"{where}: {name} is not a setting here", fix=removed[name])
        if name not in hints:
            raise PlanError(
                f'{where}: unknown setting "{name}"',
                why=f"known settings are {', '.join(known.removesuffix('_') for known in hints)}",
                fix=nearest(name, hints) or "`shoal list settings PROTOCOL` explains each of them",
            )
        hint = hints[name]
        types = get_args(hint) if isinstance(hint, UnionType) else (hint,)
        plain[name] = _converted(value, types, name, where)
    return plain


def _converted(value: Any, types: Sequence[Any], name: str, where: str) -> Any:
    """Return a value with its nested tables checked, or as a list if the setting is one."""
    table = next((hint for hint in types if is_dataclass(hint)), None)
    if table is not None and isinstance(value, Mapping):
        return _plain(cast("type[Any]", table), value, f"{where}: {name}")
    inner_types = [get_args(hint)[0] for hint in types if get_origin(hint) is tuple]
    row = next((hint for hint in inner_types if is_dataclass(hint) and isinstance(hint, type)), None)
    if row is not None and isinstance(value, list | tuple):
        return [
            _plain(row, inner, f"{where}: {name} {number}") if isinstance(inner, Mapping) else inner
            for number, inner in enumerate(value, start=1)
        ]
    if inner_types:
        if isinstance(value, str):
            return [word for word in SEPARATOR.split(value) if word]
        if isinstance(value, int | float):
            return [value]
    return value


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


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return dotted names as nested tables, as TOML reads them.

    >>> nested({"train.on": "iid", "train.method": "l2", "suite": "sentiment"})
    {'train': {'on': 'iid', 'method': 'l2'}, 'suite': 'sentiment'}
    """
    tables: dict[str, Any] = {}
    for name, value in values.items():
        head, dot, rest = name.partition(".")
        if dot:
            inner = tables.setdefault(head, {})
            tables[head] = {**inner, rest: value} if isinstance(inner, Mapping) else {rest: value}
        else:
            tables[name] = value
    return {
        name: nested(value) if isinstance(value, Mapping) and any("." in key for key in value) else value
        for name, value in tables.items()
    }


def parse_pairs(pairs: Sequence[str]) -> dict[str, str]:
    """Return the settings of repeated `--set key=value`.

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


# Resources


def _amount(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or value < 0 or (value > 1 and value % 1 != 0):
        raise PydanticCustomError("amount", "a whole number, or a fraction below 1, is expected")
    return float(value)


@dataclass(frozen=True, slots=True)
class Resources:
    """Where one job may run, never part of its result; a fraction of a GPU if several jobs share it."""

    cores: Annotated[float, BeforeValidator(_amount), Within(0, above=True)] | None = None
    """None: the number of training threads of the job, or one."""
    gpus: Annotated[float, BeforeValidator(_amount)] = 0.0
    memory: ByteSize = ByteSize(0)
    """Bytes, also written as "4 GB"; 0 if unknown."""
    checkpoints: Annotated[float, Within(0)] | None = None
    """Minutes between two checkpoints of a training; 0 for none, None for the store's default."""


def read_resources(table: Any, protocols: Sequence[str], where: str) -> dict[str, Resources]:
    """Return the resources of every protocol from the table `[resources]`."""
    general = {key: value for key, value in _table(table, where).items() if key not in protocols}
    resources = {}
    for protocol in protocols:
        specific, place = table.get(protocol, {}), f"{where}.{protocol}"
        merged = {**general, **_table(specific, place)}
        resources[protocol] = make_settings(Resources, merged, place if specific else where)
    return resources


def _table(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        fix = f"{where.rpartition(' ')[2]} on a line of its own, cores = 2 below it"
        raise PlanError(f"{where} must be a table, found {value!r}", fix=fix)
    return value
