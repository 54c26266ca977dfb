"""A progress bar with rate and time left on standard error; without a terminal only what there is to say."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from ..text import printable


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int], None]]:
    """Something to tell how far a step is."""
    if not sys.stderr.isatty():
        yield lambda step, done, total: None if total else click.echo(printable(step), err=True)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
    from rich.text import Text

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def tell(step: str, done: int, total: int) -> None:
            if not total:
                return bar.console.print(Text(printable(step)))
            if step not in tasks:
                tasks[step] = bar.add_task(step, total=total, rate="")
            speed = bar.tasks[list(tasks).index(step)].speed
            bar.update(tasks[step], completed=done, total=total, rate=f"{speed:,.0f}/s" if speed else "")

        yield tell
