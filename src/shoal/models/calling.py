"""Running code of the user's: what it prints goes to standard error, `sys.exit` ends the job and not shoal.

With a time limit a call is made in a thread of its own. Nothing in Python can end a thread: one that hangs is left
behind, and its model is not asked again. The thread dies with the process.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from ..core.errors import ModelError


@contextmanager
def contained(who: str) -> Iterator[None]:
    """Code of the user's in this block neither prints into our results nor ends our process."""
    try:
        with redirect_stdout(sys.stderr):
            yield
    except SystemExit as problem:
        raise ModelError(
            f"{who} called sys.exit({'' if problem.code is None else repr(problem.code)[:200]})",
            why="a model that ends the program has no answer",
            fix="raise an exception where an example cannot be answered: it is then counted as an error",
        ) from None
    except (Exception, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as problem:  # such as asyncio's CancelledError: a failure like any other
        raise RuntimeError(f"{type(problem).__name__}: {problem}") from None


class Limited:
    """Calls that may take so many seconds each."""

    def __init__(self, who: str, seconds: float) -> None:
        self.who, self.seconds = who, seconds
        self._calls: SimpleQueue[Callable[[], Any]] = SimpleQueue()
        self._ends: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        self._thread: Thread | None = None
        self._hangs = False

    def __call__(self, call: Callable[[], Any]) -> Any:
        """What the call gives; refused if that takes too long, now or before."""
        if not self._hangs:
            if self._thread is None:
                self._thread = Thread(target=self._work, name=f"asking {self.who}", daemon=True)
                self._thread.start()
            self._hangs = True  # until it has answered: a wait that is interrupted leaves an answer behind
            self._calls.put(call)
            try:
                given, problem = self._ends.get(timeout=self.seconds)
            except Empty:
                pass
            else:
                self._hangs = False
                if problem is not None:
                    raise problem
                return given
        raise ModelError(
            f"{self.who} gave no answer within {self.seconds:g} seconds",
            why="timeout= allows no more for a batch",
            fix="a larger timeout=, or leave it out to wait as long as it takes",
        )

    def _work(self) -> None:
        while True:
            call = self._calls.get()
            try:
                self._ends.put((call(), None))
            except BaseException as problem:
                self._ends.put((None, problem))
