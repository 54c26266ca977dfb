"""Progress on standard error: a bar with rate and time left, or a line every 30 seconds in a log.

After a minute without progress a line says so, because a model may hang.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from ..core.text import printable

Tell = Callable[[str, int, int], None]

EVERY = 30.0
"""Seconds between the lines of a log."""
SILENCE = 60.0
"""Seconds without progress until a line says so."""


def duration(seconds: float) -> str:
    """Return a length of time in words.

    >>> duration(40), duration(700), duration(9000)
    ('40 seconds', '12 minutes', '2.5 hours')
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} seconds"
    return f"{round(seconds / 60)} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


@contextmanager
def progress_bar() -> Iterator[Tell]:
    """Yield a function that reports the progress of a step."""
    if not sys.stderr.isatty():

        def write(line: str) -> None:
            print(line, file=sys.stderr, flush=True)

        with silence_noticed(line_by_line(write), write) as tell_or_wait:
            yield tell_or_wait
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

        with silence_noticed(tell, lambda line: bar.console.print(Text(line))) as tell_or_wait:
            yield tell_or_wait


@contextmanager
def silence_noticed(tell: Tell, write: Callable[[str], None]) -> Iterator[Tell]:
    """Yield the same function, with a watchdog that writes a line once per pause of more than a minute."""
    over, heard = Event(), (time.monotonic(), "the start")

    def listen(step: str, done: int, total: int) -> None:
        nonlocal heard
        heard = time.monotonic(), f"{step}, {done:,} of {total:,}" if total else step
        tell(step, done, total)

    def watch() -> None:
        reported = None
        while not over.wait(min(1.0, SILENCE)):
            since, last = heard
            if since != reported and time.monotonic() - since >= SILENCE:
                reported = since
                write(
                    printable(
                        f"No progress for {duration(SILENCE)} (last: {last}). "
                        "If a python: model hangs, set ?timeout=SECONDS."
                    )
                )

    thread = Thread(target=watch, name="progress watchdog", daemon=True)
    thread.start()
    try:
        yield listen
    finally:
        over.set()
        thread.join()


def line_by_line(write: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> Tell:
    """Return a function that writes a line every 30 seconds, with the time left.

    >>> seconds = iter([0, 1, 40, 41])
    >>> tell = line_by_line(print, lambda: next(seconds))
    >>> for done in (0, 400, 500):
    ...     tell("asking", done, 2000)
    asking: 400 of 2,000, about 3 minutes left
    """
    began: dict[str, tuple[float, int]] = {}
    reached: dict[str, int] = {}
    last = clock()

    def tell(step: str, done: int, total: int) -> None:
        nonlocal last
        now = clock()
        if not total:  # a message
            write(printable(step))
            return
        if done < reached.get(step, done + 1):  # the first call, or the next job
            began[step] = now, done
        reached[step] = done
        start, first = began[step]
        if now - last < EVERY:
            return
        last = now
        left = (
            f", about {duration((now - start) / (done - first) * (total - done))} left"
            if done > first
            else ""
        )
        write(f"{step}: {done:,} of {total:,}{left if done < total else ''}")

    return tell
