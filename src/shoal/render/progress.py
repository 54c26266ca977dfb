"""Progress on standard error: a bar with rate and time left on a terminal, a line every five minutes in a log.

After a minute without progress a line says so, because a model may hang.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Event, Thread

from ..core.text import printable

Report = Callable[[str, int, int], None]
"""Takes the name of a step, how much of it is done, and its total; with a total of 0, a message."""

EVERY, SILENCE = 300.0, 60.0
"""Seconds between the lines of a log, and without progress until a line says so."""


def duration(seconds: float) -> str:
    """Return a length of time in words.

    >>> duration(40), duration(700), duration(9000)
    ('40 seconds', '12 minutes', '2.5 hours')
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} seconds"
    return f"{round(seconds / 60)} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


@contextmanager
def progress_bar() -> Iterator[Report]:
    """Yield a function that reports the progress of a step, or a message if the total is 0."""
    if not sys.stderr.isatty():
        with _watched(lambda *_: None, partial(print, file=sys.stderr, flush=True), every=EVERY) as report:
            yield report
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
    from rich.text import Text

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def show(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = bar.add_task(step, total=total)
            bar.update(tasks[step], completed=done, total=total)

        with _watched(show, lambda line: bar.console.print(Text(line)), every=float("inf")) as report:
            yield report


@contextmanager
def _watched(show: Report, write: Callable[[str], None], every: float) -> Iterator[Report]:
    """Yield a function that shows progress; a thread writes a line now and then, and one per pause of a minute."""
    over, reported_at, latest = Event(), time.monotonic(), ""

    def report(step: str, done: int, total: int) -> None:
        """Show a step, and remember it for the lines of a log."""
        nonlocal reported_at, latest
        reported_at = time.monotonic()
        if total:
            latest = f"{step}: {done:,} of {total:,}"
            show(step, done, total)
        else:
            latest = step
            write(printable(step))

    def watch() -> None:
        written, warned_of = time.monotonic(), None
        while not over.wait(min(1.0, SILENCE)):
            now, since = time.monotonic(), reported_at
            if since != warned_of and now - since >= SILENCE:
                warned_of = since
                last = f" (last: {latest})" if latest else ""
                hint = "If a python: model hangs, set ?timeout=SECONDS."
                write(printable(f"No progress for {duration(SILENCE)}{last}. {hint}"))
            elif latest and now - written >= every:
                written = now
                write(printable(latest))

    thread = Thread(target=watch, name="progress watchdog", daemon=True)
    thread.start()
    try:
        yield report
    finally:
        over.set()
        thread.join()
