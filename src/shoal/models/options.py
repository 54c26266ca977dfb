"""Read and check the options of a model spec."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..core.errors import ModelError, nearest
from . import ModelSpec


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
