"""How many requests are under way at once, and how many a minute."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition

MINUTE = 60.0
CALM = 10.0
"""Seconds in which complaints of a server count as one: requests that were under way together fail together."""
PATIENT = 50
"""Answers without a complaint after which one more request may be under way."""


class Pace:
    """A gate that lets so many requests through; fewer once the server says that they are too many."""

    def __init__(
        self,
        at_once: int,
        requests_per_minute: float = 0,
        tokens_per_minute: float = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.most = self.limit = at_once
        self._a_minute = {"requests": requests_per_minute, "tokens": tokens_per_minute}
        self._clock = clock
        self._under_way = 0
        self._sent: deque[tuple[float, int]] = deque()  # when, and how many tokens
        self._changed = Condition()
        self._slowed_at, self._calm_answers = -CALM, 0

    @contextmanager
    def place(self, tokens: int) -> Iterator[None]:
        """A place for one request of so many tokens, as soon as there is one."""
        with self._changed:
            while (wait := self._wait(tokens)) > 0:
                self._changed.wait(wait)
            self._under_way += 1
            self._sent.append((self._clock(), tokens))
        try:
            yield
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify_all()

    def _wait(self, tokens: int) -> float:
        """Seconds until it is worth looking again; 0 where there is a place now."""
        now = self._clock()
        while self._sent and self._sent[0][0] <= now - MINUTE:
            self._sent.popleft()
        if self._under_way >= self.limit:
            return MINUTE
        new = {"requests": 1, "tokens": tokens}
        used = {"requests": len(self._sent), "tokens": sum(count for _, count in self._sent)}
        full = any(
            most and used[name] and used[name] + new[name] > most for name, most in self._a_minute.items()
        )
        return self._sent[0][0] + MINUTE - now if full else 0.0

    def slower(self) -> None:
        """The server says that these are too many: half as many at once."""
        with self._changed:
            self._calm_answers = 0
            if self._clock() - self._slowed_at >= CALM:
                self.limit, self._slowed_at = max(1, self.limit // 2), self._clock()

    def answered(self) -> None:
        """Another answer without complaint; after many of them the pace quickens again."""
        with self._changed:
            self._calm_answers += 1
            if self._calm_answers >= PATIENT and self.limit < self.most:
                self.limit, self._calm_answers = self.limit + 1, 0
                self._changed.notify_all()
