"""A reproduction in the terminal: how many cells match, by column, and each that does not."""

from collections import Counter

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..reproduce import Reproduction

MISMATCHES = 20
"""How many are shown; `--json` has all."""


def print_reproduction(found: Reproduction, console: Console | None = None) -> None:
    """Counts by column, then mismatches, then the answer."""
    console = console or Console(highlight=False)
    console.print(Text(f"{found.title}\n"), soft_wrap=True)
    table = Table(box=None, pad_edge=False, padding=(0, 2), header_style="dim")
    table.add_column("")
    table.add_column("cells", justify="right")
    table.add_column("match", justify="right")
    cells = Counter(cell.column for cell in found.cells)
    matching = Counter(cell.column for cell in found.cells if cell.matches)
    for column, count in cells.items():
        whole = matching[column] == count
        table.add_row(
            Text(column),
            Text(f"{count:,}", "dim"),
            Text(f"{matching[column]:,}", "green" if whole else "red"),
        )
    console.print(table)
    for cell in found.mismatches[:MISMATCHES]:
        words = f"  {cell.row}, {cell.column}: published {cell.published}, found {cell.found}"
        console.print(Text.assemble(("✗", "red"), words), soft_wrap=True)
    hidden = len(found.mismatches) - MISMATCHES
    if hidden > 0:
        console.print(Text(f"  … and {hidden:,} more: --json", "dim"))
    total = len(found.cells)
    if found.mismatches:
        console.print(Text(f"\n{total - len(found.mismatches):,} of {total:,} cells match.", "bold red"))
    else:
        console.print(Text(f"\nAll {total:,} cells match.", "bold green"))
