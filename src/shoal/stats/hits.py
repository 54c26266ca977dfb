"""Verdicts as numbers."""

import numpy as np
from numpy.typing import NDArray

PASS, FAIL, ERROR = map(ord, "10e")


def hits_of(verdicts: str) -> NDArray[np.float64]:
    """Return 1 for a pass, 0 for a fail, NaN for a case that does not apply or has no answer.

    >>> hits_of("10-e").tolist()
    [1.0, 0.0, nan, nan]
    """
    letters = _letters(verdicts)
    return np.where(letters == PASS, 1.0, np.where(letters == FAIL, 0.0, np.nan))


def errors_of(verdicts: str) -> NDArray[np.bool_]:
    """Return which cases have no answer.

    >>> errors_of("10-e").tolist()
    [False, False, False, True]
    """
    errors: NDArray[np.bool_] = _letters(verdicts) == ERROR
    return errors


def _letters(verdicts: str) -> NDArray[np.uint8]:
    return np.frombuffer(verdicts.encode(), np.uint8)
