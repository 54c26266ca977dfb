"""The cost of requests: estimated before, counted for every response, never above the budget.

Tokens are the server's own figures if it gives valid ones, else estimates. A file next to the answers has a line per
response, so that a job that resumes knows what it has spent.
"""

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard
from weakref import finalize

from ...core.errors import ModelError, StoreError
from .. import ModelSpec
from .prompt import Message

MILLION = 1_000_000
LETTERS_PER_TOKEN = 3
"""Fewer than in English prose, so that an estimate is rather too high."""
TOKENS_PER_MESSAGE = 8
MOST_TOKENS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a million tokens."""

    input: float
    output: float
    currency: str = ""

    def cost(self, read: float, written: float) -> float:
        return (read * self.input + written * self.output) / MILLION


def spec_price(spec: ModelSpec) -> Price | None:
    """Return the price in a spec: `input:0.15,output:0.60,currency:USD`, also if a plan has a table."""
    written = spec.options.get("price", "")
    if not written:
        return None
    try:
        pairs = {name: value for name, _, value in (part.partition(":") for part in written.split(","))}
        price = Price(currency=pairs.pop("currency", ""), **{name: float(pairs[name]) for name in pairs})
    except (TypeError, ValueError):
        price = Price(-1, -1)
    if not (0 <= price.input < MILLION and 0 <= price.output < MILLION):
        raise ModelError(
            f"{spec.who}: price={written!r} is not valid",
            why="expected the price of a million input and output tokens",
            fix="price=input:0.15,output:0.60,currency:USD; "
            'in a plan price = {input = 0.15, output = 0.60, currency = "USD"}',
        )
    return price


def estimated_tokens(messages: Iterable[Message]) -> int:
    """Estimate the tokens that a server will count, rather too high."""
    return sum(len(turn["content"].encode()) // LETTERS_PER_TOKEN + TOKENS_PER_MESSAGE for turn in messages)


class Spending:
    """Tokens spent so far, and the cost that requests in flight may still cause.

    Used on the event loop only, apart from `keep_in`, which comes before the first request. The job's lock keeps other
    processes away from the file, so that two processes that share a job share its budget.
    """

    def __init__(self, price: Price | None = None, budget: float | None = None, who: str = "") -> None:
        self.price, self.budget, self.who = price, budget, who
        self.read = self.written = self.requests = self.estimated = 0
        self._reserved = 0.0
        self._file = -1
        self._path = Path()
        self._close: Callable[[], object] = lambda: None

    @property
    def cost(self) -> float:
        return self.price.cost(self.read, self.written) if self.price else 0.0

    def keep_in(self, path: Path) -> None:
        """Begin with the totals of this file, and append every response to it."""
        kept = read_spending(path)
        self.read, self.written = kept["input"], kept["output"]
        self.requests, self.estimated = kept["requests"], kept["estimated"]
        self._close()
        self._path, self._file = path, os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
        self._close = finalize(self, os.close, self._file)
        size = os.fstat(self._file).st_size
        if size and os.pread(self._file, 1, size - 1) != b"\n":
            self._append("\n")  # a line that was cut off must not swallow the next one

    def reserve(self, read: int, written: int) -> float:
        """Set aside the most that a request can cost; raise if that may exceed the budget."""
        worst = self.price.cost(read, written) if self.price else 0.0
        if self.budget is not None and self.cost + self._reserved + worst > self.budget:
            raise ModelError(
                f"{self.who}: the next request might exceed the budget of {self.budget:g}",
                why=f"{self.cost:.6g} spent, at most {self._reserved:.6g} in flight, at most {worst:.6g} for the next",
                fix="a larger budget; the same command resumes",
            )
        self._reserved += worst
        return worst

    def release(self, reserved: float) -> None:
        """Give back what was set aside: the request has ended."""
        self._reserved -= reserved

    def count(self, read: int, written: int, *, estimated: bool = False) -> None:
        """Count the tokens of a response."""
        self.read, self.written, self.requests = self.read + read, self.written + written, self.requests + 1
        self.estimated += estimated
        if self._file >= 0:
            row = {"input": read, "output": written, **({"estimated": True} if estimated else {})}
            self._append(json.dumps(row) + "\n")

    def _append(self, line: str) -> None:
        try:
            os.write(self._file, line.encode())
        except OSError as problem:
            raise StoreError(
                f"{self._path}: cannot be written",
                why=problem.strerror or str(problem),
                fix="free some space; the same command resumes",
            ) from None


def is_token_count(value: Any) -> TypeGuard[int]:
    """Return whether a value can be a number of tokens."""
    return type(value) is int and 0 <= value <= MOST_TOKENS


def read_spending(path: Path) -> dict[str, int]:
    """Return the totals of a spending file: tokens, requests, and requests whose tokens are estimates."""
    total = {"input": 0, "output": 0, "requests": 0, "estimated": 0}
    if not path.exists():
        return total
    for line in path.read_text(errors="replace").splitlines():
        try:
            row: dict[str, Any] = json.loads(line)
            read, written = row["input"], row["output"]
        except (ValueError, TypeError, KeyError, RecursionError):  # a line that was cut off
            continue
        if not is_token_count(read) or not is_token_count(written):
            continue
        total["input"] += read
        total["output"] += written
        total["requests"] += 1
        total["estimated"] += row.get("estimated") is True
    return total
