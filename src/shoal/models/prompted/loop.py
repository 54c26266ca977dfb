"""The event loop of a process: every endpoint shares it, and it runs in a thread of its own.

Callers stay synchronous and may be many threads; requests run side by side on the loop without a thread each.
"""

import asyncio
import os
from collections.abc import Coroutine
from threading import Lock, Thread
from typing import Any, TypeVar

T = TypeVar("T")

_loops: dict[int, asyncio.AbstractEventLoop] = {}
"""By process: a forked child inherits the loop but not its thread."""
_starting = Lock()


def event_loop() -> asyncio.AbstractEventLoop:
    """Return this process's loop; the first call starts it."""
    with _starting:
        loop = _loops.get(os.getpid())
        if loop is None:
            loop = _loops[os.getpid()] = asyncio.new_event_loop()
            # A connection that breaks while nobody waits for it would print a traceback here.
            loop.set_exception_handler(lambda _loop, _context: None)
            Thread(target=loop.run_forever, name="shoal-endpoints", daemon=True).start()
        return loop


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the loop and return its result; an interruption cancels it."""
    future = asyncio.run_coroutine_threadsafe(work, event_loop())
    try:
        return future.result()
    finally:
        future.cancel()
