"""Training methods, by the names of the plan."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_type_hints

from ...core.errors import PlanError, nearest
from ..config import checked
from .base import Method, Phase, Vanilla
from .fish import Fish
from .frozen import LP, LPFT, LoRA
from .group_dro import GroupDRO
from .irm import IRM
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
    kind, values = METHODS[name], dict(options or {})
    hints = get_type_hints(kind, include_extras=True)
    known = [field.name for field in fields(kind) if field.init]  # type: ignore[arg-type]
    for option, value in values.items():
        if option not in known:
            raise PlanError(
                f"{name}: unknown option {option!r}",
                why=f"known: {', '.join(known)}" if known else "it has none",
                fix=nearest(option, known) or "leave it out",
            )
        values[option] = checked(f"{name}: {option}", value, hints[option])
    return kind(**values)
