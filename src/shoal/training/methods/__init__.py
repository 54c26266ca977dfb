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

import sys
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ...core.errors import PlanError, nearest
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
    values = dict(options or {})
    for option, value in values.items():
        if option not in defaults:
            raise PlanError(
                f"{name}: unknown option {option!r}",
                why=f"known: {', '.join(defaults)}" if defaults else "it has none",
                fix=nearest(option, defaults) or "one of those" if defaults else "leave it out",
            )
        values[option] = _checked(f"{name}: {option}", value, defaults[option])
    return kind(**values)


def _checked(what: str, value: Any, default: Any) -> Any:
    """Return a value of the default's type; integers are numbers, and a default of None is for a number."""
    number = default is None or isinstance(default, float)
    if number and isinstance(value, int | float) and not isinstance(value, bool):
        if not abs(value) <= sys.float_info.max:
            raise PlanError(
                f"{what} must be a finite number, found {value!r}", fix="leave it out for the usual value"
            )
        return float(value)
    if number or type(value) is not type(default):
        kinds = {bool: "true or false", int: "a whole number", float: "a number", type(None): "a number"}
        raise PlanError(
            f"{what} must be {kinds.get(type(default), 'a text')}, found {value!r}",
            fix="leave it out for the usual value",
        )
    return value
