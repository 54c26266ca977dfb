"""What asking costs: told before, kept while it goes on, never more than the budget.

Tokens are the server's own figures wherever it gives them. What is written down is kept in a file beside the answers,
a line per response, so that a job that was stopped knows what it has spent.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from ...errors import ModelError
from .. import parse_spec
from .prompt import Message

MILLION = 1_000_000
LETTERS_PER_TOKEN = 3
"""Fewer than in English prose, so that an estimate is rather too high."""
TOKENS_PER_MESSAGE = 8


@dataclass(frozen=True, slots=True)
class Price:
    """Of a million tokens."""

    input: float
    output: float

    def of(self, read: float, written: float) -> float:
        """What so many tokens cost."""
        return (read * self.input + written * self.output) / MILLION


def parse_price(written: str, who: str) -> Price | None:
    """`input:0.15,output:0.60`, as a plan's `price = {input = 0.15, output = 0.60}` comes here."""
    if not written:
        return None
    try:
        found = {
            name: float(number) for name, _, number in (part.partition(":") for part in written.split(","))
        }
        price = Price(**found)
    except (TypeError, ValueError):
        price = Price(-1, -1)
    if not (0 <= price.input < MILLION and 0 <= price.output < MILLION):
        raise ModelError(
            f"{who}: price={written!r} is not understood",
            why="what a million tokens cost is expected, read and written",
            fix="price=input:0.15,output:0.60; in a plan price = {input = 0.15, output = 0.60}",
        )
    return price


def price_of(spec: str) -> Price | None:
    """The price that stands behind a spec."""
    parsed = parse_spec(spec)
    return parse_price(parsed.options.get("price", ""), f"{parsed.scheme}:{parsed.name}")


def estimated_tokens(messages: Iterable[Message]) -> int:
    """About how many tokens a server will count; rather more than fewer."""
    return sum(len(turn["content"].encode()) // LETTERS_PER_TOKEN + TOKENS_PER_MESSAGE for turn in messages)


class Spending:
    """What was spent, and what may be under way."""

    def __init__(self, price: Price | None = None, budget: float | None = None, who: str = "") -> None:
        self.price, self.budget, self.who = price, budget, who
        self.read = self.written = self.requests = 0
        self._reserved = 0.0
        self._lock = Lock()
        self._path: Path | None = None

    @property
    def cost(self) -> float:
        """Of what was read and written so far."""
        return self.price.of(self.read, self.written) if self.price else 0.0

    def keep_in(self, path: Path) -> None:
        """Write every response down there, and begin with what stands there."""
        kept = read_spending(path)
        with self._lock:
            self._path = path
            self.read, self.written, self.requests = kept["input"], kept["output"], kept["requests"]

    def reserve(self, read: int, written: int) -> float:
        """Set aside the worst that a request can cost; refused where that may exceed the budget."""
        worst = self.price.of(read, written) if self.price else 0.0
        with self._lock:
            if self.budget is not None and self.cost + self._reserved + worst > self.budget:
                raise ModelError(
                    f"{self.who}: the budget of {self.budget:g} might be exceeded by the next request",
                    why=f"{self.cost:.6g} spent, at most {self._reserved:.6g} under way and {worst:.6g} for the next",
                    fix="a larger budget: the same command goes on from here",
                )
            self._reserved += worst
        return worst

    def release(self, reserved: float) -> None:
        """A request has ended, one way or the other."""
        with self._lock:
            self._reserved -= reserved

    def count(self, read: int, written: int) -> None:
        """A response has come."""
        with self._lock:
            self.read, self.written, self.requests = (
                self.read + read,
                self.written + written,
                self.requests + 1,
            )
            if self._path is not None:
                with self._path.open("a") as stream:
                    stream.write(json.dumps({"input": read, "output": written}) + "\n")


def read_spending(path: Path) -> dict[str, int]:
    """Tokens read and written, and requests, by the lines of a file; a line that was cut off does not count."""
    total = {"input": 0, "output": 0, "requests": 0}
    if not path.exists():
        return total
    for line in path.read_text(errors="replace").splitlines():
        try:
            row: dict[str, Any] = json.loads(line)
            read, written = int(row["input"]), int(row["output"])
        except (ValueError, TypeError, KeyError):
            continue
        total = {
            "input": total["input"] + read,
            "output": total["output"] + written,
            "requests": total["requests"] + 1,
        }
    return total
