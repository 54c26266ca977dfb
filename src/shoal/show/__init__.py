"""What people look at: terminal tables, and lists of what there is. Nothing here computes a number.

To show another protocol: write a module with a function for one job and one for a plan's jobs, and add a line to
PRINTERS.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from ..records import Measures, Result

PRINTERS: dict[str, tuple[str, str]] = {
    "behaviour": ("behaviour.print_result", "learning.print_learning"),
    "bias": ("bias.print_result", "bias.print_comparison"),
    "cood": ("cood.print_result", "cood.print_comparison"),
}
"""Protocol to what shows one result, and what shows a comparison."""


def print_result(result: Result) -> None:
    """One job, the way its protocol shows it."""
    _printer(PRINTERS[result.job["protocol"]][0])(result)


def print_comparisons(found: Mapping[str, Measures]) -> None:
    """What a plan's protocols say across their jobs."""
    for protocol, measures in found.items():
        _printer(PRINTERS[protocol][1])(measures)


def _printer(name: str) -> Any:
    module, _, function = name.partition(".")
    return getattr(import_module(f".{module}", __name__), function)
