"""A factor of the user's own: a function that gives a number for one example.

    def length(case, prediction, probabilities):
        return len(case.examples[0][0])

`prediction` is the label that the model gave, None where it gave none; `probabilities` are by label, empty where the
model gave none. None is "no number for this example". A function with a fourth parameter, `attribution`, is given how
much each word counted, once for each explainer (`explaining/attributions.py`); None where that is not known.
"""

import inspect
import math
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ....core.errors import PlanError
from ....core.records import Answers, Case
from ....explaining.attributions import Attribution

Function = Callable[..., float | None]
"""(case, prediction, probabilities), and perhaps attribution."""


def module_of(name: str) -> ModuleType:
    """The module of a function, from Python's path or this folder."""
    module, _, function = name.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        imported = import_module(module)
    except Exception as problem:
        raise PlanError(
            f"factor {name!r}: {module} cannot be imported",
            why=f"{type(problem).__name__}: {problem}",
            fix="a module on Python's path or in this folder",
        ) from None
    if not callable(getattr(imported, function, None)):
        raise PlanError(
            f"factor {name!r}: {module} has no function {function!r}",
            fix="module:function=worse, or =better",
        )
    return imported


def function_of(name: str) -> Function:
    """The function that a name means."""
    function: Function = getattr(module_of(name), name.partition(":")[2])
    return function


def wants_attribution(name: str) -> bool:
    """Whether a function asks how much each word counted."""
    return "attribution" in inspect.signature(function_of(name)).parameters


def values(
    name: str, cases: Sequence[Case], answers: Answers, attributions: Sequence[Attribution | None] = ()
) -> list[float | None]:
    """The function's number for each case; what it raises is said in words."""
    function = function_of(name)
    more: list[dict[str, Any]] = (
        [{"attribution": row} for row in attributions] if wants_attribution(name) else []
    )
    numbers = []
    for row, case in enumerate(cases):
        prediction = None if row in answers.errors else answers.labels[answers.predictions[row]]
        try:
            given = more[row] if more else {}
            numbers.append(_number(function(case, prediction, _probabilities(answers, row), **given)))
        except Exception as problem:
            raise PlanError(
                f"factor {name!r} failed on example {case.id!r}",
                why=f"{type(problem).__name__}: {problem}",
                fix="return a number, or None where there is none",
            ) from None
    return numbers


def _probabilities(answers: Answers, row: int) -> dict[str, float]:
    if answers.probabilities is None or row in answers.errors or np.isnan(answers.probabilities[row, 0]):
        return {}
    return dict(zip(answers.labels, answers.probabilities[row].tolist(), strict=True))


def _number(value: Any) -> float | None:
    if value is None:
        return None
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value!r} is no number")
    return number
