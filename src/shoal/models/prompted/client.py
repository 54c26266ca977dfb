"""Requests to one chat-completions endpoint, with retries. All but `halt` and `go_on` runs on the event loop.

Examples that wait for another try count as requests in flight, so that a server that complains gets fewer requests.

    connection error, timeout, 408, 409, 429, 5xx,     retried after a growing wait; `Retry-After` wins;
    malformed response                                 then the example is an error, which a later run retries
    401, 403, 404, redirect, exhausted quota,          the job stops, with the server's message
    400 on the first request, a long `Retry-After`
    400 later, stopped by a content filter             the example has no answer
    many errors in a row                               the job stops

Every request reads the key from the environment. `response.py` removes the key from everything that a server says.
"""

import asyncio
import json
import logging
import os
import random
import re
import time
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from importlib.util import find_spec
from threading import Lock, Thread
from typing import Any, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass
from weakref import finalize

from ...core.errors import MissingExtra, ModelError
from ..validate import shortened
from .response import Completion, clean, read_completion, read_json
from .spending import Spending, estimated_tokens

RETRYABLE = (408, 409, 429)
"""Besides everything from 500 on."""
FIRST_WAIT, LONGEST_WAIT = 2.0, 60.0
PATIENCE = 600.0
"""Seconds of waiting for one example, all retries together. A server that asks for a longer pause stops the job."""
DAY = 86_400.0
"""A `Retry-After` of more seconds than this is nonsense and ignored."""
IN_A_ROW = 20
TRIAL_TRIES = 3
LARGEST_RESPONSE = 4 * 2**20
"""Bytes: a line of stored answers may have twice as many."""


class RefusedError(Exception):
    """The server refuses to answer this example."""


class FailedError(Exception):
    """All tries failed; a later run may succeed."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A try that failed, described without the key."""

    message: str
    status: int = 0
    wait: float | None = None
    """Seconds that the server asks us to wait."""
    out_of_quota: bool = False


@dataclass
class Client:
    """Sends requests to one endpoint."""

    url: str
    key_from: str
    who: str
    spending: Spending
    tries: int = 8
    timeout: float = 60.0
    rng: random.Random = field(default_factory=random.Random)
    """For waits only: no answer depends on it."""

    def __post_init__(self) -> None:
        self._halted = asyncio.Event()
        self._failures = 0

    def halt(self) -> None:
        """End all waits and send nothing more; may be called from any thread."""
        event_loop().call_soon_threadsafe(self._halted.set)

    def go_on(self) -> None:
        """Send requests again after `halt`."""
        event_loop().call_soon_threadsafe(self._halted.clear)

    async def ask(self, body: dict[str, Any]) -> Completion:
        """Return the completion of a request, retried as often as it takes."""
        try:
            completion = await self._try(body, self.tries)
        except FailedError as problem:
            self._failures += 1
            if self._failures < IN_A_ROW:
                raise
            self._halted.set()
            raise ModelError(
                f"{self.who}: {IN_A_ROW} errors in a row, the last: {problem}",
                fix="check the server; the same command resumes",
            ) from None
        self._failures = 0
        return completion

    async def ask_on_trial(self, body: dict[str, Any]) -> Completion:
        """Return the completion of a first request; if it fails, the job cannot begin."""
        try:
            return await self._try(body, min(self.tries, TRIAL_TRIES))
        except FailedError as problem:
            fix = f"check the server at {self.url}, and try again"
            raise ModelError(f"{self.who}: {problem}", fix=fix) from None

    async def _try(self, body: dict[str, Any], tries: int) -> Completion:
        started, problem = time.monotonic(), "not asked: the job was stopped"
        for attempt in range(tries):
            if self._halted.is_set():
                break
            outcome = await self._attempt(body)
            if isinstance(outcome, Completion):
                return outcome
            self._stop_or_refuse(outcome)
            problem = outcome.message
            # Full jitter: anything up to a limit that doubles.
            jitter = self.rng.uniform(0.0, min(LONGEST_WAIT, FIRST_WAIT * 2**attempt))
            seconds = jitter if outcome.wait is None else outcome.wait
            if attempt + 1 == tries or time.monotonic() - started + seconds > PATIENCE:
                break
            await self._sleep(seconds)
        raise FailedError(problem)

    async def _attempt(self, body: dict[str, Any]) -> Completion | Failure:
        """Return what came of one request. No exception of aiohttp leaves this function: they hold the key."""
        import aiohttp

        key = self._key()
        try:
            return await self._request(body, key)
        except TimeoutError:
            return Failure(f"no complete response within {self.timeout:g} s")
        except (aiohttp.ClientPayloadError, aiohttp.ClientResponseError, ValueError) as problem:
            return Failure(self._shown(f"malformed response: {problem}", key))
        except (aiohttp.ClientError, OSError) as problem:
            return Failure(self._shown(f"no connection to {self.url}: {problem}", key))

    async def _request(self, body: dict[str, Any], key: str) -> Completion | Failure:
        read = estimated_tokens(body["messages"])
        reserved = self.spending.reserve(read, body["max_tokens"])
        try:
            async with self._session.post(
                f"{self.url}/chat/completions",
                data=json.dumps(body).encode(),
                headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
                proxy=self._proxy,
                allow_redirects=False,
            ) as response:
                raw = await _body(response)
            if not 200 <= response.status < 300:
                return self._failure(response, raw, key)
            usage = None
            try:
                completion = read_completion(raw, key)
                usage = completion.usage
            finally:  # a response is paid for, malformed or not
                self.spending.count(*(usage or (read, body["max_tokens"])), estimated=usage is None)
            return completion
        finally:
            self.spending.release(reserved)

    def _failure(self, response: Any, raw: bytes, key: str) -> Failure:
        text = raw.decode(errors="replace")
        try:
            body = read_json(raw, key)
        except ValueError:
            body = None
        error = body.get("error", body) if isinstance(body, dict) else None
        message = error.get("message") if isinstance(error, dict) else error
        if not isinstance(message, str) or not message:
            message = clean(text.strip() or response.reason or "", key)
        return Failure(
            self._shown(f"the server says {response.status}: {message}", key),
            response.status,
            retry_after(response.headers.get("Retry-After", "")),
            response.status == 429 and "insufficient_quota" in text,
        )

    def _stop_or_refuse(self, failure: Failure) -> None:
        """Raise if another try would not help: ModelError for the whole job, RefusedError for this example."""
        status = failure.status
        if 300 <= status < 400:
            raise ModelError(
                f"{self.who}: the server redirects to another address ({status})",
                why="shoal does not follow redirects: texts and key would go to it",
                fix="url=, with the address that you trust",
            )
        if status in (401, 403, 404) or failure.out_of_quota:
            fixes = {
                404: f"check the model's name, and that the server's interface begins at {self.url}",
                429: "add credit; the same command resumes",
            }
            key = f"put the key into the environment variable {self.key_from or 'that key_from= names'}"
            raise ModelError(f"{self.who}: {failure.message}", fix=fixes.get(status, key))
        if 400 <= status < 500 and status not in RETRYABLE:
            raise RefusedError(failure.message)
        if failure.wait is not None and failure.wait > PATIENCE:
            raise ModelError(
                f"{self.who}: the server asks for a pause of {failure.wait:,.0f} s",
                why=failure.message,
                fix="the same command later; it resumes",
            )

    async def _sleep(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._halted.wait(), seconds)

    # The key

    def _key(self) -> str:
        if not self.key_from:
            return "none"
        key = os.environ.get(self.key_from, "")
        if not key:
            raise ModelError(
                f"{self.who}: the environment variable {self.key_from} is empty or not set",
                why="every request reads the key from it",
                fix=f"export {self.key_from}=…; key_from= names another",
            )
        if not key.isascii() or re.search(r"\s", key):
            raise ModelError(
                f"{self.who}: the environment variable {self.key_from} does not hold a key",
                why="it has white space or characters outside ASCII",
                fix="export it again, without a line break at its end",
            )
        return key

    def _shown(self, text: str, key: str) -> str:
        """Return text of a server as a message: without the key, on one line, printable, cut last."""
        words = " ".join(clean(text, key).split())
        return shortened("".join(letter if letter.isprintable() else "\ufffd" for letter in words))

    # The connection

    @cached_property
    def _session(self) -> Any:
        import aiohttp

        # Some versions of aiohttp log a cookie that they cannot read, and a server may have put the key there.
        logging.getLogger("aiohttp.client").addFilter(
            lambda record: "cookie" not in record.getMessage().lower()
        )
        # A compressed body could unpack to any size, so none is accepted. Cookies are not kept.
        session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            timeout=aiohttp.ClientTimeout(total=self.timeout),
            headers={"Accept-Encoding": "identity"},
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
        )
        loop = event_loop()
        finalize(self, loop.call_soon_threadsafe, lambda: loop.create_task(session.close()))
        return session

    @cached_property
    def _proxy(self) -> str | None:
        """The environment's proxy for this endpoint.

        aiohttp's `trust_env` would look it up in a thread for every request, and would not send our key to a host in
        ~/.netrc.
        """
        parts = urlsplit(self.url)
        return None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)


async def _body(response: Any) -> bytes:
    """Return a response body; raise ValueError if it is compressed, which we did not allow, or above the limit."""
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        raise ValueError(f"unknown content encoding {encoding!r}")
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > LARGEST_RESPONSE:
            raise ValueError(f"more than {LARGEST_RESPONSE // 2**20} MB")
    return bytes(body)


def require_library() -> None:
    """Raise at once if aiohttp is missing."""
    if find_spec("aiohttp") is None:
        raise MissingExtra("aiohttp", needed_for="openai: models")


def retry_after(header: str) -> float | None:
    """Return the seconds in a `Retry-After` header, a number or a date; None if it makes no sense."""
    if re.fullmatch(r"[0-9]+(\.[0-9]*)?", header.strip()):
        seconds = float(header)
    else:
        try:
            seconds = max(0.0, (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds())
        except (ValueError, TypeError, OverflowError, IndexError):
            return None
    return seconds if seconds <= DAY else None


# The event loop

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


def run_soon(work: Coroutine[Any, Any, T]) -> "Future[T]":
    """Start a coroutine on the loop."""
    return asyncio.run_coroutine_threadsafe(work, event_loop())


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the loop and return its result; an interruption cancels it."""
    future = run_soon(work)
    try:
        return future.result()
    finally:
        future.cancel()
