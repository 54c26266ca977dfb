"""How far runs agree, as a table in the terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..core.records import Measure


def print_reliability(measures: Sequence[Measure], runs: int, console: Console | None = None) -> None:
    """A block for all items and one for each group of items."""
    console = console or Console(highlight=False)
    console.print(Text(f"{runs} runs on {measures[0].n:,} items\n", "bold"))
    for name in dict.fromkeys(row.groups.get("group", "") for row in measures):
        table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim", title_justify="left")
        for heading, justify in (
            (name or "all items", "left"),
            ("value", "right"),
            ("95 % interval", "right"),
        ):
            table.add_column(Text(heading), justify=justify)  # type: ignore[arg-type]
        table.add_column("", overflow="fold", style="dim")
        for row in measures:
            if row.groups.get("group", "") == name:
                own = [f"{key}: {value}" for key, value in row.groups.items() if key != "group"]
                value = "–" if row.value is None else f"{row.value:.4g}"
                interval = "" if row.interval is None else f"{row.interval[0]:.4g} – {row.interval[1]:.4g}"
                table.add_row(
                    Text(" · ".join([row.name, *own])), Text(value), Text(interval, "dim"), Text(row.note)
                )
        console.print(table)
        console.print()
