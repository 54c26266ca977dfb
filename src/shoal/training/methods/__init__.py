"""Training methods.

vanilla     plain training
l2          with weight decay
dropout     with more dropout
lp          the head alone
lp-ft       the head alone, then everything
irm         a classifier that is best in every environment at once
group-dro   hardest on the environment that does worst
fish        where the gradients of environments agree
lora        small matrices beside those of the encoder, and the head
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_args, get_type_hints

from ...core.errors import PlanError, nearest
from ...core.ranges import Within
from .base import Method, Phase, Vanilla
from .fish import Fish
from .group_dro import GroupDRO
from .irm import IRM
from .lora import LoRA
from .probing import LP, LPFT
from .regularisation import L2, Dropout

__all__ = ["METHODS", "Method", "Phase", "Vanilla", "make_method"]

METHODS: dict[str, type[Method]] = {
    "vanilla": Vanilla,
    "l2": L2,
    "dropout": Dropout,
    "lp": LP,
    "lp-ft": LPFT,
    "irm": IRM,
    "group-dro": GroupDRO,
    "fish": Fish,
    "lora": LoRA,
}


def make_method(name: str, options: Mapping[str, Any] | None = None) -> Method:
    """Return the method of this name with checked options.

    >>> make_method("group-dro", {"step_size": 0.1}).step_size
    0.1
    """
    if name not in METHODS:
        raise PlanError(
            f"unknown method {name!r}",
            why=f"known methods are {', '.join(METHODS)}",
            fix=nearest(name, METHODS) or "one of those",
        )
    kind = METHODS[name]
    defaults = {field.name: field.default for field in fields(kind) if field.init}  # type: ignore[arg-type]
    ranges = {option: _range(hint) for option, hint in get_type_hints(kind, include_extras=True).items()}
    values = dict(options or {})
    for option, value in values.items():
        if option not in defaults:
            raise PlanError(
                f"{name}: unknown option {option!r}",
                why=f"known: {', '.join(defaults)}" if defaults else "it has none",
                fix=nearest(option, defaults) or "one of those" if defaults else "leave it out",
            )
        values[option] = _checked(f"{name}: {option}", value, defaults[option], ranges[option])
    return kind(**values)


def _range(hint: Any) -> Within | None:
    """Return the range in the annotation of a field, also of one that may be None."""
    found = (range_ for part in (hint, *get_args(hint)) for range_ in getattr(part, "__metadata__", ()))
    return next(found, None)


def _checked(what: str, value: Any, default: Any, allowed: Within | None) -> Any:
    """Return a value of the default's type, inside its range; a default of None is for a number."""
    kind = float if default is None else type(default)
    is_kind = type(value) in ((int, float) if kind is float else (kind,))
    if is_kind and (allowed is None or allowed.holds(value)):
        return kind(value)
    names = {bool: "true or false", int: "a whole number", float: "a number"}
    raise PlanError(
        f"{what} must be {names[kind]}, found {value!r}",
        why=str(allowed) if is_kind else "",
        fix="leave it out for the usual value",
    )
