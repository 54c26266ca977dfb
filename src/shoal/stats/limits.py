"""One-sided tests for gates: is a rate below a limit, or a model worse than another by more than a margin?

    fail on evidence    rate_p(…, "below"), difference_p(…, "below")    adjusted by `multiplicity.holm`
    pass on evidence    rate_p(…, "above"), difference_p(…, "above")    at minus the limit of no_worse_than_baseline_by

Passing on evidence for each of many needs no adjustment (Berger 1982, intersection-union). The end of Wilson's interval
is not a one-sided test: at a rate of .95 and twenty cases it errs in 7.5 % instead of 2.5.
"""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import scipy  # its parts are imported at their first use
from numpy.typing import NDArray

from .intervals import effective_cases, p_where, paired_t
from .resampling import ClusterTable, macro_mean

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Side = Literal["below", "above"]
EXACT_CASES = 300
"""Score tests of up to this many cases are exact; above that, their normal approximation errs by 0.3 points at most."""


def rate_p(tables: Sequence[ClusterTable], limit: float, side: Side, shared: float = 1.0) -> float:
    """Return the one-sided p that the (macro) mean of rates is below, or above, a limit; NaN if a rate is undefined.

    The binomial test if each cluster has one case (Clopper & Pearson 1934); else the same on the effective number of
    cases (Korn & Graubard 1998), and then at most .5. `shared` is `resampling.sharing`.
    """
    mean = macro_mean(tables)
    if math.isnan(mean):
        return float("nan")
    if len(tables) == 1 and tables[0].rows[:, -1].max() <= 1:
        return binomial_p(mean, effective_cases(tables), limit, side)

    # The effective number depends on the level, and the level on p: where the two meet.
    def excludes(level: float) -> bool:
        alpha = (1 - level) / 2
        return binomial_p(mean, effective_cases(tables, level, shared), limit, side) <= alpha

    return p_where(excludes) / 2


def difference_p(tables: Sequence[ClusterTable], limit: float, side: Side, shared: float = 1.0) -> float:
    """Return the one-sided p that the (macro) difference A - B of two models is below, or above, a limit.

    Single cases that pass or fail have the exact score test; others, and a limit of 0, the t of `intervals.paired_t`,
    with an error no smaller than the limit implies (Tango 1998). NaN without a common case.
    """
    if limit and len(tables) == 1 and bool(np.isin(tables[0].rows, (0.0, 1.0)).all()):
        return _score_p(tables[0], limit, side)
    t = paired_t(tables, shared)
    cases = len(tables) ** 2 / math.fsum(1 / float(table.totals[-1] or math.nan) for table in tables)
    error = max(t.error, math.sqrt(abs(limit) * (1 - abs(limit)) / cases))
    away = (t.middle - limit) / error
    return float(scipy.special.stdtr(t.degrees, away if side == "below" else -away))


def _score_p(table: ClusterTable, limit: float, side: Side) -> float:
    """Return p of Tango's (1998) score test of a paired difference of proportions.

    Up to `EXACT_CASES` cases p is the probability of all tables at least as extreme, at the estimate under the null
    (Lloyd & Moldovan 2008): the normal approximation errs in up to 5 % instead of 2.5 with ten cases.
    """
    n = int(table.totals[-1])
    if n == 0:
        return math.nan
    changes = table.rows[:, 0] - table.rows[:, 1]
    gained, lost = int(table.counts[changes > 0].sum()), int(table.counts[changes < 0].sum())
    if side == "below":
        gained, lost, limit = lost, gained, -limit
    score, loss_rate = _score(np.array([gained]), np.array([lost]), n, limit)
    if n > EXACT_CASES:
        return float(scipy.special.ndtr(-score[0]))
    every_gain, every_loss = (counts.ravel() for counts in np.indices((n + 1, n + 1)))
    possible = every_gain + every_loss <= n
    every_gain, every_loss = every_gain[possible], every_loss[possible]
    extreme = _score(every_gain, every_loss, n, limit)[0] >= score[0] - 1e-9
    counts = np.column_stack([every_gain, every_loss, n - every_gain - every_loss])[extreme]
    lost_share = float(np.clip(loss_rate[0], max(0.0, -limit), (1 - limit) / 2))
    shares = np.clip([lost_share + limit, lost_share, 1 - limit - 2 * lost_share], 0.0, 1.0)
    logs = scipy.special.gammaln(n + 1) + (
        scipy.special.xlogy(counts, shares) - scipy.special.gammaln(counts + 1)
    ).sum(axis=1)
    return min(1.0, float(np.exp(logs).sum()))


def _score(gained: Integers, lost: Integers, n: int, limit: float) -> tuple[Floats, Floats]:
    """Return Tango's statistic of "gained - lost is above the limit", and the share lost as estimated at the limit."""
    linear = (2 * n - gained + lost) * limit - gained - lost
    root = np.sqrt(np.maximum(0.0, linear**2 + 8 * n * lost * limit * (1 - limit)))
    loss_rate: Floats = (root - linear) / (4 * n)
    variance = n * np.maximum(0.0, 2 * loss_rate + limit * (1 - limit))
    away = gained - lost - n * limit
    # Without variance under the null, any distance from the limit is infinitely many standard errors.
    score: Floats = np.where(away == 0, 0.0, away / np.sqrt(np.maximum(variance, 1e-300)))
    return score, loss_rate


def binomial_p(mean: float, n: float, limit: float, side: Side) -> float:
    """Return the chance of as few, or as many, passes as seen in n cases at the limit; neither need be whole."""
    passes = mean * n
    if side == "below":
        return 1.0 if mean == 1 else float(scipy.special.betainc(n - passes, passes + 1, 1 - limit))
    return 1.0 if mean == 0 else float(scipy.special.betainc(passes, n - passes + 1, limit))
