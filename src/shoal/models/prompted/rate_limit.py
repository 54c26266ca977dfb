"""Limits on requests: in flight at once, per minute, tokens per minute. Used on the event loop only."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

MINUTE = 60.0
CALM = 10.0
"""Seconds in which complaints of a server count as one: requests in flight together fail together."""
PATIENT = 50
"""Answers without a complaint after which one more request may be in flight."""


class RateLimiter:
    """Lets requests through one by one; fewer at once after the server complains."""

    def __init__(
        self,
        concurrency: int,
        requests_per_minute: float = 0,
        tokens_per_minute: float = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.concurrency = self.limit = concurrency
        self._requests_per_minute, self._tokens_per_minute = requests_per_minute, tokens_per_minute
        self._clock = clock
        self._in_flight = 0
        self._sent: deque[tuple[float, int]] = deque()  # time and tokens, over the last minute
        self._tokens = 0  # their sum
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._slowed_at, self._calm_answers = -CALM, 0

    @asynccontextmanager
    async def slot(self, tokens: int) -> AsyncIterator[None]:
        """Wait for a slot for one request of this size, and hold it."""
        while (seconds := self.seconds_to_wait(tokens)) > 0:
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            try:
                await asyncio.wait((waiter,), timeout=seconds)
            finally:
                if not waiter.done():
                    self._waiters.remove(waiter)
        self._in_flight += 1
        if self._requests_per_minute or self._tokens_per_minute:
            self._sent.append((self._clock(), tokens))
            self._tokens += tokens
        try:
            yield
        finally:
            self._in_flight -= 1
            self._wake()

    def seconds_to_wait(self, tokens: int) -> float:
        """Return the seconds until it is worth looking again; 0 if a slot is free."""
        if self._in_flight >= self.limit:
            return MINUTE
        now = self._clock()
        while self._sent and self._sent[0][0] <= now - MINUTE:
            self._tokens -= self._sent.popleft()[1]
        if not self._sent:
            return 0.0
        is_full = 0 < self._requests_per_minute < len(self._sent) + 1
        is_full |= 0 < self._tokens_per_minute < self._tokens + tokens
        return self._sent[0][0] + MINUTE - now if is_full else 0.0

    def slow_down(self) -> None:
        """Halve the number of requests in flight: the server reports too many."""
        self._calm_answers = 0
        if self._clock() - self._slowed_at >= CALM:
            self.limit, self._slowed_at = max(1, self.limit // 2), self._clock()

    def count_answer(self) -> None:
        """Count an answer without a complaint; after many of them one more request may be in flight."""
        self._calm_answers += 1
        if self._calm_answers >= PATIENT and self.limit < self.concurrency:
            self.limit, self._calm_answers = self.limit + 1, 0
            self._wake()

    def _wake(self) -> None:
        if self._waiters and self._in_flight < self.limit:
            self._waiters.popleft().set_result(None)
