"""The range of a setting, declared on its field and checked where settings are read.

tolerance: Annotated[float, Within(0, 2)] | None = changes("scoring", None)
"""

import math
from dataclasses import dataclass
from typing import Annotated, Any

LARGEST_SEED = 2**32 - 1
"""What every generator of random numbers here takes."""


@dataclass(frozen=True, slots=True)
class Within:
    """A number from `low` to `high`; with `above`, not `low` itself."""

    low: float
    high: float = math.inf
    above: bool = False

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """How pydantic checks a field that carries this."""
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def _check(self, value: float) -> float:
        from pydantic_core import PydanticCustomError

        if self.holds(value):
            return value
        raise PydanticCustomError("range", str(self))

    def holds(self, value: float) -> bool:
        """Whether a number is in the range; no number and infinity never are.

        >>> [Within(0, 10, above=True).holds(number) for number in (0, 10, 500, math.nan)]
        [False, True, False, False]
        """
        # Compared, not converted: a whole number may be larger than any float.
        return self.low <= value <= self.high and value < math.inf and not (self.above and value == self.low)

    def __str__(self) -> str:
        """The range in words.

        >>> print(Within(0, 2), Within(1), Within(0, 10, above=True), sep="; ")
        a number from 0 to 2 is expected; a number of 1 or more is expected; a number above 0, at most 10, is expected
        """
        low, high = (f"{number:,.10g}" for number in (self.low, self.high))
        if self.above:
            words = f"above {low}" + (f", at most {high}," if self.high < math.inf else "")
        else:
            words = f"from {low} to {high}" if self.high < math.inf else f"of {low} or more"
        return f"a number {words} is expected"


Count = Annotated[int, Within(0)]
AtLeastOne = Annotated[int, Within(1)]
Seed = Annotated[int, Within(0, LARGEST_SEED)]
Share = Annotated[float, Within(0, 1)]
WarmUp = Annotated[float, Within(0)]
"""A share of the steps if below 1, else a number of steps."""
Level = Annotated[float, Within(0, 1, above=True)]
Rate = Annotated[float, Within(0, 10, above=True)]
Epochs = Annotated[float, Within(0, 10_000, above=True)]
BatchSize = Annotated[int, Within(1, 100_000)]
Threads = Annotated[int, Within(1, 1024)]
