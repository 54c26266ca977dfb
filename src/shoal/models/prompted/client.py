"""One request to a chat-completions endpoint, and again where that may help.

    connection, time-out, 408, 409, 429, 5xx,      again, after a wait that grows; `Retry-After` wins;
    a response that is none                        then the example is an error, which can be asked again later
    401, 403, 404, no money left, 400 at first     the job stops, with the server's words
    400 later, stopped by a content filter         that example has no answer
    many errors in a row                           the job stops

The key is read from the environment for every request; it is blotted out of whatever a server says.
"""

import json
import os
import random
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from importlib.util import find_spec
from threading import Event, Lock
from typing import Any
from weakref import finalize

from ...errors import MissingExtra, ModelError
from ..validate import shortened
from .money import Spending, estimated_tokens
from .pace import Pace

AGAIN = (408, 409, 429)
"""Beside everything from 500 on."""
FIRST_WAIT, LONGEST_WAIT = 2.0, 60.0
PATIENCE = 600.0
"""Seconds for which an example is asked again while the server says that there are too many requests."""
IN_A_ROW = 20
TRIAL_TRIES = 3
BLOT = "•••"


class RefusedError(Exception):
    """The server will not answer this example."""


class FailedError(Exception):
    """The server could not be asked this example; later it may."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What came back."""

    said: str
    finish: str
    first: Sequence[tuple[str, float]] | None
    """The likeliest first tokens with their log-probabilities, where the server gives them."""
    server: str
    """What the server calls itself."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why nothing came back, in words without the key."""

    words: str
    code: int = 0
    wait: float | None = None
    """Seconds that the server asks us to wait."""
    poor: bool = False
    """Whether there is no money left."""


@dataclass
class Client:
    """Talks to one endpoint; may be used by many threads at once."""

    url: str
    key_from: str
    who: str
    pace: Pace
    spending: Spending
    tries: int = 8
    timeout: float = 60.0
    rng: random.Random = field(default_factory=random.Random)
    """For waits alone: no answer depends on it."""
    wait: Callable[[float], bool] | None = None
    """Waits so many seconds; true where waiting was cut short."""
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self.halted = Event()
        self._lock = Lock()
        self._failures = 0

    def ask(self, body: dict[str, Any]) -> Heard:
        """One question, as often as it takes."""
        try:
            heard = self._try(body, self.tries)
        except FailedError as problem:
            self._count_failure(problem)
            raise
        with self._lock:
            self._failures = 0
        self.pace.answered()
        return heard

    def ask_on_trial(self, body: dict[str, Any]) -> Heard:
        """The first question: a server that cannot be reached, or whose answer is none, is about the job."""
        try:
            return self._try(body, min(self.tries, TRIAL_TRIES))
        except FailedError as problem:
            raise ModelError(
                f"{self.who}: {problem}", fix=f"see to the server at {self.url}, and try again"
            ) from None

    def _count_failure(self, problem: FailedError) -> None:
        with self._lock:
            self._failures += 1
            many = self._failures >= IN_A_ROW
        if many:
            self.halted.set()
            raise ModelError(
                f"{self.who}: {IN_A_ROW} errors in a row, the last: {problem}",
                fix="see to the server; the same command goes on from here",
            ) from None

    def _try(self, body: dict[str, Any], tries: int) -> Heard:
        begun, problem = self.clock(), "not asked: the job was stopped"
        for attempt in range(tries):
            if self.halted.is_set():
                break
            heard = self._attempt(body)
            if isinstance(heard, Heard):
                return heard
            self._judge(heard)
            problem = heard.words
            if heard.code == 429:
                self.pace.slower()
                if self.clock() - begun > PATIENCE:
                    break
            wait = self._back_off(attempt) if heard.wait is None else heard.wait
            if attempt + 1 == tries or self._cut_short(wait):
                break
        raise FailedError(problem)

    def _attempt(self, body: dict[str, Any]) -> "Heard | Failure":
        """What came of one request. No exception leaves this place: the library's hold what was sent, the key too."""
        try:
            return self._once(body)
        except self._library.APIStatusError as error:
            poor = error.status_code == 429 and "insufficient_quota" in error.response.text
            wait = _retry_after(error.response.headers.get("retry-after"))
            return Failure(self._words(error), error.status_code, wait, poor)
        except self._library.APITimeoutError:
            return Failure(f"no response within {self.timeout:g} s")
        except self._library.APIConnectionError as error:
            return Failure(self.blotted(f"no connection to {self.url}: {error.__cause__ or error}"))
        except ValueError as error:
            return Failure(self.blotted(f"a response that is not understood: {error}"))

    def _once(self, body: dict[str, Any]) -> Heard:
        read = estimated_tokens(body["messages"])
        reserved = self.spending.reserve(read, body["max_tokens"])
        try:
            with self.pace.place(read + body["max_tokens"]):
                raw = self._service.chat.completions.with_raw_response.create(
                    **body, extra_headers={"Authorization": f"Bearer {self._key()}"}
                )
            used = None
            try:
                heard, used = _understood(raw.http_response.text)
            finally:  # what came back is paid for, understood or not
                self.spending.count(*(used or (read, body["max_tokens"])))
            return heard
        finally:
            self.spending.release(reserved)

    def _judge(self, failure: "Failure") -> None:
        """Whether to stop, or to leave this example; if neither, it is asked again."""
        code = failure.code
        if code in (401, 403, 404) or failure.poor:
            raise ModelError(f"{self.who}: {failure.words}", fix=self._remedy(failure))
        if 400 <= code < 500 and code not in AGAIN:
            raise RefusedError(failure.words)

    def _remedy(self, failure: "Failure") -> str:
        if failure.poor:
            return "pay the bill; the same command goes on from here"
        if failure.code == 404:
            return f"check the model's name, and that the server's interface begins at {self.url}"
        return f"put the key into the environment variable {self.key_from or 'that key_from= names'}"

    def _back_off(self, attempt: int) -> float:
        """Full jitter: anything up to a limit that doubles."""
        with self._lock:
            return self.rng.uniform(0.0, min(LONGEST_WAIT, FIRST_WAIT * 2**attempt))

    def _cut_short(self, seconds: float) -> bool:
        return (self.wait or self.halted.wait)(seconds)

    # The key

    def _key(self) -> str:
        if not self.key_from:
            return "none"
        key = os.environ.get(self.key_from, "")
        if not key:
            raise ModelError(
                f"{self.who}: the environment variable {self.key_from} is empty or not there",
                why="the key is read from it when a request is made",
                fix=f"export {self.key_from}=…; key_from= names another",
            )
        if not key.isascii() or re.search(r"\s", key):
            raise ModelError(
                f"{self.who}: the environment variable {self.key_from} does not hold a key",
                why="it has blanks or letters that no key has",
                fix="export it anew, without a line break at its end",
            )
        return key

    def blotted(self, words: str) -> str:
        """What a server said, without the key."""
        key = os.environ.get(self.key_from, "") if self.key_from else ""
        return shortened(words.replace(key, BLOT) if key else words)

    def _words(self, error: Any) -> str:
        body = error.body if isinstance(error.body, dict) else {}
        said = body.get("message") or error.response.text.strip() or error.response.reason_phrase
        return self.blotted(f"the server says {error.status_code}: {str(said)[:500]}")

    # The library

    @cached_property
    def _library(self) -> Any:
        import openai

        return openai

    @cached_property
    def _service(self) -> Any:
        # The key goes with each request; the library tries nothing again by itself.
        service = self._library.OpenAI(
            base_url=self.url,
            api_key="none",
            organization="",
            project="",
            max_retries=0,
            timeout=self.timeout,
        )
        finalize(self, service.close)
        return service


def require_library() -> None:
    """Refuse at once where the library is not there."""
    if find_spec("openai") is None:
        raise MissingExtra("openai", extra="llm", needed_for="openai: models")


def _retry_after(written: str | None) -> float | None:
    """Seconds, from a header that holds them or a date."""
    if not written:
        return None
    try:
        return max(0.0, float(written))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(written) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def _understood(text: str) -> tuple[Heard, tuple[int, int] | None]:
    """A response, and the tokens it says it took; ValueError where it is none."""
    body = json.loads(text)
    try:
        choice = body["choices"][0]
        content = choice["message"]["content"]
        said = "" if content is None else content
        finish = str(choice.get("finish_reason") or "")
        if not isinstance(said, str):
            raise TypeError("content is no text")
        first = _first_tokens(choice.get("logprobs"))
        usage = body.get("usage") or {}
        used = (int(usage["prompt_tokens"]), int(usage["completion_tokens"])) if usage else None
    except (KeyError, IndexError, TypeError, AttributeError) as problem:
        raise ValueError(f"no answer in it ({type(problem).__name__}: {problem})") from None
    return Heard(said, finish, first, str(body.get("system_fingerprint") or "")), used


def _first_tokens(given: Any) -> list[tuple[str, float]] | None:
    tokens = (given or {}).get("content") or []
    top = tokens[0].get("top_logprobs") if tokens else None
    return [(str(token["token"]), float(token["logprob"])) for token in top] if top else None
