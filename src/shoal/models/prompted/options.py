"""The options of a prompted model's spec."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...core.errors import ModelError, nearest
from .. import ModelSpec

ASKING = ("prompt", "mode", "max_tokens", "thinks")
"""Options of every prompted model."""
LOCAL = (*ASKING, "chat", "date")
"""Options of models with local weights."""
MAX_TOKENS, THINKING_TOKENS, READING_TOKENS = 16, 2_048, 32


@dataclass(frozen=True, slots=True)
class Options:
    """Reads and checks the options of a spec."""

    spec: ModelSpec

    @property
    def who(self) -> str:
        """The model, without its options."""
        return f"{self.spec.scheme}:{self.spec.name}"

    def text(self, name: str, default: str = "") -> str:
        """Return an option as text."""
        return self.spec.options.get(name, default)

    def one_of(self, name: str, known: Sequence[str], default: str) -> str:
        """Return an option that has a fixed set of values."""
        value = self.text(name, default)
        if value not in known:
            raise ModelError(
                f"{self.who}: {name} is {value!r}",
                why=f"known: {', '.join(filter(None, known))}",
                fix=nearest(value, known) or f"{name}={known[0]}",
            )
        return value

    def yes(self, name: str, *, default: bool = False) -> bool:
        """Return an option that is yes or no."""
        return self.one_of(name, ("yes", "no"), "yes" if default else "no") == "yes"

    def whole(self, name: str, default: int, low: int, high: int = 10**6) -> int:
        """Return an integer option."""
        number = self.number(name, default, low, high)
        if number != int(number):
            raise ModelError(
                f"{self.who}: {name} is {number:g}", fix=f"an integer, such as {name}={default or low}"
            )
        return int(number)

    def number(self, name: str, default: float, low: float, high: float = math.inf) -> float:
        """Return a numeric option within bounds."""
        written = self.text(name, str(default))
        try:
            value = float(written)
        except ValueError:
            value = math.nan
        if not low <= value <= high:  # also true for NaN
            upper = f" to {high:,g}" if high < math.inf else ""
            raise ModelError(
                f"{self.who}: {name} is {written!r}",
                why=f"expected a number from {low:g}{upper}",
                fix=f"{name}={default or 1}",
            )
        return value

    def date(self, name: str) -> str:
        """Return a date option, such as 2026-01-31."""
        value = self.text(name)
        if value and not re.fullmatch(r"\d{4}-\d\d-\d\d", value):
            raise ModelError(f"{self.who}: {name} is {value!r}", fix=f"{name}=2026-01-31")
        return value

    def max_tokens(self, *, reading: bool) -> int:
        """Return the most tokens of an answer."""
        usual = READING_TOKENS if reading else MAX_TOKENS
        return self.whole("max_tokens", THINKING_TOKENS if self.yes("thinks") else usual, 1)
