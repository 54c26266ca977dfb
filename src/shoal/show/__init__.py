"""What people look at: terminal tables, and lists of what there is. Nothing here computes a number.

Each protocol has a module with `print_result`, for one job, and one with `print_comparison`, for a plan's jobs.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from ..records import Measures, Result


PRINTERS: dict[str, tuple[str, str]] = {
    "behaviour": ("behaviour", "learning"),
    "bias": ("bias", "bias"),
    "cood": ("cood", "cood"),
}
"""Protocol to the module that shows a result, and the one that shows a comparison."""


def print_result(result: Result) -> None:
    """One job, the way its protocol shows it."""
    _module(PRINTERS[result.job["protocol"]][0]).print_result(result)


def print_comparisons(found: Mapping[str, Measures]) -> None:
    """What a plan's protocols say across their jobs."""
    for protocol, measures in found.items():
        _module(PRINTERS[protocol][1]).print_comparison(measures)


def _module(name: str) -> Any:
    return import_module(f".{name}", __name__)
