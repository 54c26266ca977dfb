"""The ways to train, one file each.

    vanilla     plain training
    l2          with weight decay
    dropout     with more dropout
    lp          the head alone
    lp-ft       the head alone, then everything
    irm         a classifier that is best in every environment at once
    group-dro   hardest on the environment that does worst
    fish        where the gradients of environments agree
    lora        small matrices beside those of the encoder, and the head

`"my_package.my_module:MyMethod"` is accepted wherever such a name is.
"""

import sys
from collections.abc import Collection, Mapping
from dataclasses import fields
from importlib import import_module
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


def make_method(
    name: str, options: Mapping[str, Any] | None = None, chosen: Collection[str] | None = None
) -> Method:
    """The method of this name with these options, each checked.

    Those that are `chosen`, without a word all, are refused where others leave them without effect; what is usual
    beside them may be idle.

    >>> make_method("group-dro", {"step_size": 0.1}).step_size
    0.1
    """
    kind = METHODS.get(name) or _imported(name)
    defaults = {field.name: field.default for field in fields(kind) if field.init}  # type: ignore[arg-type]
    given = dict(options or {})
    for option, value in given.items():
        if option not in defaults:
            raise PlanError(
                f"{name}: unknown option {option!r}",
                why=f"known: {', '.join(defaults)}" if defaults else "it has none",
                fix=nearest(option, defaults) or "one of those" if defaults else "leave it out",
            )
        given[option] = _checked(f"{name}: {option}", value, defaults[option])
    method = kind(**given)
    for option, why in method.idle().items():
        if option in given and (chosen is None or option in chosen):
            raise PlanError(f"{name}: {option} has no effect", why=why, fix=f"leave {option} out")
    return method


def _checked(what: str, value: Any, default: Any) -> Any:
    """A value of the kind that the default is; whole numbers are numbers, and None stands for a number."""
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


def _imported(name: str) -> type[Method]:
    module, colon, own = name.partition(":")
    if not colon:
        raise PlanError(
            f"method {name!r} is not known",
            why=f"known: {', '.join(METHODS)}",
            fix=nearest(name, METHODS) or "one of those, or module:Class for one of yours",
        )
    try:
        found = getattr(import_module(module), own)
    except (ImportError, AttributeError) as problem:
        raise PlanError(
            f"method {name!r} cannot be imported",
            why=str(problem),
            fix="check the name, and that its folder is on PYTHONPATH",
        ) from None
    if not (isinstance(found, type) and issubclass(found, Method)):
        raise PlanError(
            f"method {name!r} is not a Method", fix="derive it from shoal.training.methods.Method"
        )
    return found
