"""Adjusted p values of many tests (`docs/method/beyond.md` 7.5). A NaN is a test that could not be made."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def holm(p: ArrayLike) -> Floats:
    """Return Holm's adjusted p values: the family-wise error stays below α whatever the dependence.

    >>> holm([0.04, 0.001, 0.03, 0.012]).round(6).tolist()
    [0.06, 0.004, 0.06, 0.036]
    """
    raw = np.asarray(p, dtype=np.float64)
    tests = int((~np.isnan(raw)).sum())
    order = np.argsort(raw, kind="stable")[:tests]
    adjusted = np.full(len(raw), np.nan)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, (tests - np.arange(tests)) * raw[order]))
    return adjusted


def holm_level(p: ArrayLike, alpha: float = 0.05) -> float:
    """Return the level at which Holm's procedure tests the first p that it does not reject: α / (tests left).

    Power is evaluated at this level.
    """
    adjusted = holm(p)
    left = int((adjusted > alpha).sum())
    return alpha / max(1, left)
