"""What people look at: terminal tables, and lists of what there is. Nothing here computes a number.

To show another protocol: write a module with a function for one job and one for a plan's jobs, and add a line to
PRINTERS.
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


def print_result(result: Result) -> None:
    """One job, the way its protocol shows it."""
    _printer(PRINTERS[result.job["protocol"]][0])(result)


def print_comparisons(found: Mapping[str, Measures], console: Console | None = None) -> None:
    """What a plan's protocols say across their jobs."""
    for protocol, measures in found.items():
        _printer(PRINTERS[protocol][1])(measures, console)


def comparisons_as_html(found: Mapping[str, Measures]) -> str:
    """The same for a page: preformatted text with its colours, escaped."""
    console = Console(record=True, width=PAGE_WIDTH, file=io.StringIO(), highlight=False, force_terminal=True)
    print_comparisons(found, console)
    return console.export_html(inline_styles=True, code_format="{code}") if found else ""


def tables_of(found: Mapping[str, Measures], results: Sequence[Result]) -> dict[str, str]:
    """The papers' tables as CSV, by name: of a plan that trains on a suite, of COOD, and of bias diagnostics."""
    tables: dict[str, str] = {}
    if "behaviour" in found:
        from .learning_exports import pvalues_csv, results_csv, results_fine_csv

        writers = {"results": results_csv, "results_fine": results_fine_csv, "pvalues": pvalues_csv}
        tables |= {name: write(found["behaviour"]) for name, write in writers.items()}
    cells = [result for result in results if result.job["protocol"] == "cood"]
    if cells:
        from .cood import cells_csv

        tables["cells"] = cells_csv(cells)
    checkpoints = [result for result in results if result.job["protocol"] == "bias"]
    if checkpoints:
        from .bias_exports import bias_tables

        tables |= bias_tables(checkpoints, found.get("bias", ()))
    return tables


def _printer(name: str) -> Any:
    module, _, function = name.partition(".")
    return getattr(import_module(f".{module}", __name__), function)
