"""Many tests at once: adjusted p values (`docs/method/beyond.md` 7.5).

The family is all comparisons of one level: overall, test types, capabilities or functionalities. A NaN among the p
values is a test that could not be made: it stays NaN and does not count in the family.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def holm(p: ArrayLike) -> Floats:
    """Return Holm's adjusted p values: the family-wise error stays below α whatever the dependence.

    >>> holm([0.04, 0.001, 0.03, 0.012]).round(6).tolist()
    [0.06, 0.004, 0.06, 0.036]
    """
    raw, order = _sorted(p)
    m = len(order)
    steps = np.minimum(1.0, (m - np.arange(m)) * raw[order])
    return _put_back(np.maximum.accumulate(steps), order, raw)


def holm_level(p: ArrayLike, alpha: float = 0.05) -> float:
    """Return the level at which Holm's procedure tests the first p that it does not reject: α / (tests left).

    Power is evaluated at this level.

    >>> holm_level([0.001, 0.04, 0.5, 0.6])  # the first is rejected, three are left
    0.016666666666666666
    """
    adjusted = holm(p)
    left = int((adjusted > alpha).sum())
    return alpha / max(1, left)


def benjamini_hochberg(p: ArrayLike) -> Floats:
    """Return adjusted p values that bound the expected share of false discoveries, for screening heat maps.

    >>> benjamini_hochberg([0.04, 0.001, 0.03, 0.012]).round(6).tolist()
    [0.04, 0.004, 0.04, 0.024]
    """
    from scipy.stats import false_discovery_control  # slow to import, needed here only

    raw, order = _sorted(p)
    return _put_back(false_discovery_control(raw[order]) if len(order) else raw[order], order, raw)


def _sorted(p: ArrayLike) -> tuple[Floats, NDArray[np.intp]]:
    """Return the p values, and the positions of those that are defined, smallest first."""
    raw = np.asarray(p, dtype=np.float64)
    if raw.ndim != 1 or ((raw < 0) | (raw > 1)).any():
        raise ValueError("p values are a list of numbers between 0 and 1")
    order = np.argsort(raw, kind="stable")
    return raw, order[: int((~np.isnan(raw)).sum())]


def _put_back(adjusted: Floats, order: NDArray[np.intp], raw: Floats) -> Floats:
    result = np.full(len(raw), np.nan)
    result[order] = adjusted
    return result
