"""Describe the settings of a protocol: the rows of `shoal list settings` and of the reference page.

Everything comes from the `Settings` dataclass: names, types and defaults from its fields, effects from the text below
each field.
"""

import ast
import inspect
import textwrap
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from . import find_protocol


@dataclass(frozen=True, slots=True)
class SettingRow:
    name: str
    type: str
    default: str
    effect: str
    advanced: bool


def setting_rows(protocol: str) -> list[SettingRow]:
    """Return the settings of a protocol, the plain ones first; nested tables have dotted names.

    >>> [row.name for row in setting_rows("behaviour")][:2]
    ['suite', 'split']
    """
    rows = list(_rows(find_protocol(protocol).Settings, "", advanced=False))
    return sorted(rows, key=lambda row: row.advanced)


def _rows(table: type, prefix: str, *, advanced: bool) -> "list[SettingRow]":
    hints, effects = get_type_hints(table, include_extras=True), _effects(table)
    rows: list[SettingRow] = []
    for field in fields(table):
        rare = advanced or bool(field.metadata.get("advanced"))
        nested = next(filter(is_dataclass, _parts(hints[field.name])), None)
        if isinstance(nested, type):
            rows += _rows(nested, f"{prefix}{field.name}.", advanced=rare)
            continue
        name, effect = prefix + field.name.rstrip("_"), effects.get(field.name, "")
        rows.append(SettingRow(name, _type_name(hints[field.name]), _default(field), effect, rare))
    return rows


@cache
def _effects(table: type) -> dict[str, str]:
    """Return the text below each field, inherited ones included."""
    texts: dict[str, str] = {}
    for owner in reversed(table.__mro__):
        if not is_dataclass(owner):
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(owner))).body[0]
        assert isinstance(body, ast.ClassDef)
        for field, below in zip(body.body, body.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                match below:
                    case ast.Expr(value=ast.Constant(value=str(text))):
                        texts[field.target.id] = " ".join(text.split())
    return texts


def _parts(hint: Any) -> list[Any]:
    """Return a type, or the types of which it is a union, list or annotation."""
    inner = [arg for arg in get_args(hint) if not isinstance(arg, str)]
    return [hint, *(part for arg in inner for part in _parts(arg))]


def _type_name(hint: Any) -> str:
    """Return a type as a user writes its values.

    >>> _type_name(Literal["keep", "drop"] | None), _type_name(tuple[int, ...])
    ('"keep", "drop"', 'list of integer')
    """
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _type_name(args[0])
    if origin is Literal:
        return ", ".join(f'"{arg}"' if isinstance(arg, str) else str(arg) for arg in args)
    if origin in (tuple, list):
        return f"list of {_type_name(args[0])}"
    if origin is dict or getattr(origin, "__name__", "") == "Mapping":
        return "table"
    if args:
        return " or ".join(dict.fromkeys(_type_name(arg) for arg in args if arg is not type(None)))
    names = {str: "text", int: "integer", float: "number", bool: "true or false"}
    return names.get(hint, str(getattr(hint, "__name__", hint)))


def _default(field: "Field[Any]") -> str:
    if field.default is MISSING:
        return "required" if field.default_factory is MISSING else "none"
    value = field.default
    if value is None or value in ("", (), []):
        return "–"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:,}" if isinstance(value, int) and value >= 10_000 else str(value)
