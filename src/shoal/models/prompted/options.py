"""What may stand behind a spec beside the prompt: how to ask, and what to make of the answer."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...core.errors import ModelError, nearest
from .. import ModelSpec

ASKING = ("prompt", "mode", "max_tokens", "thinks")
"""For every prompted model."""
LOCAL = (*ASKING, "normalise", "end", "chat", "date")
"""For weights that are here."""
MODES = ("likelihood", "first token", "generate", "constrained")
MAX_TOKENS, THINKING_TOKENS, READING_TOKENS = 16, 2_048, 32


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a spec, read one by one; what is wrong names the model and says what is right."""

    spec: ModelSpec

    @property
    def who(self) -> str:
        """The model, without its options."""
        return f"{self.spec.scheme}:{self.spec.name}"

    def text(self, name: str, default: str = "") -> str:
        """An option as it stands."""
        return self.spec.options.get(name, default)

    def one_of(self, name: str, known: Sequence[str], default: str) -> str:
        """One of a few words."""
        value = self.text(name, default)
        if value not in known:
            raise ModelError(
                f"{self.who}: {name} is {value!r}",
                why=f"known: {', '.join(filter(None, known))}",
                fix=nearest(value, known) or f"{name}={known[0]}",
            )
        return value

    def yes(self, name: str, *, default: bool = False) -> bool:
        """Yes or no."""
        return self.one_of(name, ("yes", "no"), "yes" if default else "no") == "yes"

    def whole(self, name: str, default: int, low: int, high: int = 10**6) -> int:
        """A whole number."""
        number = self.number(name, default, low, high)
        if number != int(number):
            raise ModelError(
                f"{self.who}: {name} is {number:g}", fix=f"a whole number, such as {name}={default or low}"
            )
        return int(number)

    def number(self, name: str, default: float, low: float, high: float = math.inf) -> float:
        """A number within bounds."""
        written = self.text(name, str(default))
        try:
            value = float(written)
        except ValueError:
            value = math.nan
        if not low <= value <= high:  # not a number is neither
            upper = f" to {high:,g}" if high < math.inf else ""
            raise ModelError(
                f"{self.who}: {name} is {written!r}",
                why=f"a number from {low:g}{upper} is expected",
                fix=f"{name}={default or 1}",
            )
        return value

    def date(self, name: str) -> str:
        """A day, as 2026-01-31."""
        value = self.text(name)
        if value and not re.fullmatch(r"\d{4}-\d\d-\d\d", value):
            raise ModelError(f"{self.who}: {name} is {value!r}", fix=f"{name}=2026-01-31")
        return value

    def max_tokens(self, *, reading: bool) -> int:
        """How long an answer may be."""
        usual = READING_TOKENS if reading else MAX_TOKENS
        return self.whole("max_tokens", THINKING_TOKENS if self.yes("thinks") else usual, 1)
