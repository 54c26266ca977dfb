"""What people look at: terminal tables, and lists of what there is. Nothing here computes a number.

To show another protocol: write a module with a function for one job and one for a plan's jobs, and add a line to
PRINTERS; to write its tables as CSV, a line to TABLES.
"""

import io
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from rich.console import Console

from ..records import Measures, Result

PAGE_WIDTH = 130

PRINTERS: dict[str, tuple[str, str]] = {
    "behaviour": ("behaviour.print_result", "learning.print_learning"),
    "bias": ("bias.print_result", "bias.print_comparison"),
    "cood": ("cood.print_result", "cood.print_comparison"),
}
"""Protocol to what shows one result, and what shows a comparison."""

TABLES: dict[str, str] = {
    "behaviour": "learning_exports.learning_tables",
    "bias": "bias_exports.bias_tables",
    "cood": "cood.cood_tables",
}
"""Protocol to what writes the tables of its paper."""


def print_result(result: Result) -> None:
    """One job, the way its protocol shows it."""
    _named(PRINTERS[result.job["protocol"]][0])(result)


def print_comparisons(found: Mapping[str, Measures], console: Console | None = None) -> None:
    """What a plan's protocols say across their jobs."""
    for protocol, measures in found.items():
        _named(PRINTERS[protocol][1])(measures, console)


def comparisons_as_html(found: Mapping[str, Measures]) -> str:
    """The same for a page: preformatted text with its colours, escaped."""
    console = Console(record=True, width=PAGE_WIDTH, file=io.StringIO(), highlight=False, force_terminal=True)
    print_comparisons(found, console)
    return console.export_html(inline_styles=True, code_format="{code}") if found else ""


def tables_of(found: Mapping[str, Measures], results: Sequence[Result]) -> dict[str, str]:
    """The papers' tables as CSV, by name."""
    tables: dict[str, str] = {}
    for protocol, name in TABLES.items():
        own = [result for result in results if result.job["protocol"] == protocol]
        tables |= _named(name)(own, found.get(protocol, Measures(()))) if own else {}
    return tables


def _named(name: str) -> Any:
    module, _, function = name.partition(".")
    return getattr(import_module(f".{module}", __name__), function)
