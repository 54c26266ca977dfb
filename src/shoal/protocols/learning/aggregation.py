"""Whether what a table says depends on how pass rates are put together (`docs/method/beyond.md` 7.11).

The suite score is BELUGA's unweighted mean over functionalities, G its harmonic mean with the i.i.d. score. Both could
be otherwise; a claim is robust where every way agrees.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import fmean

from ...core.records import Finding, Measure
from .table3 import COLUMNS, TableRow, means_of, models_of, rows_of_table3
from .trainings import HOLD_OUTS, STANDARD, Row

SENSITIVE = "aggregation"
WEIGHT = 3.0
WORST = 5
SMALLER = "the smaller"
Rates = Sequence[Measure]


def by_functionality(rates: Rates) -> float:
    """The paper's."""
    return fmean(_value(row) for row in rates)


def by_capability(rates: Rates) -> float:
    """Capabilities count alike, however many functionalities they have."""
    groups: dict[str, list[float]] = {}
    for row in rates:
        groups.setdefault(row.groups["capability"], []).append(_value(row))
    return fmean(map(fmean, groups.values()))


def by_case(rates: Rates) -> float:
    """Every case counts alike."""
    return sum(_value(row) * row.n for row in rates) / sum(row.n for row in rates)


def of_the_worst(rates: Rates) -> float:
    """The functionalities that do worst."""
    return fmean(sorted(_value(row) for row in rates)[:WORST])


def _value(row: Measure) -> float:
    return row.value or 0.0


SUITE_SCORES: dict[str, Callable[[Rates], float]] = {
    "functionalities alike": by_functionality,
    "capabilities alike": by_capability,
    "cases alike": by_case,
    f"the worst {WORST}": of_the_worst,
}


def generalised_mean(a: float, b: float, power: float) -> float:
    """M_r of two shares: -1 harmonic, 0 geometric, 1 arithmetic, -inf the smaller.

    >>> [round(generalised_mean(0.6, 0.9, power), 4) for power in (-math.inf, -1, 0, 1)]
    [0.6, 0.72, 0.7348, 0.75]
    """
    if power == -math.inf or (power <= 0 and min(a, b) == 0):
        return min(a, b)
    if power == 0:
        return math.sqrt(a * b)
    mean: float = ((a**power + b**power) / 2) ** (1 / power)
    return mean


def weighted_harmonic(suite: float, iid: float, beta: float) -> float:
    """G_β = (1 + β²) s_T s_iid / (β² s_T + s_iid): above 1, β favours the i.i.d. score.

    >>> [round(weighted_harmonic(0.6, 0.9, beta), 4) for beta in (0.5, 1, 2)]
    [0.6429, 0.72, 0.8182]
    """
    below = beta**2 * suite + iid
    return (1 + beta**2) * suite * iid / below if below else 0.0


MEANS: dict[str, Callable[[float, float], float]] = {
    "harmonic": partial(generalised_mean, power=-1.0),
    "geometric": partial(generalised_mean, power=0.0),
    "arithmetic": partial(generalised_mean, power=1.0),
    SMALLER: partial(generalised_mean, power=-math.inf),
    "harmonic (i.i.d. twice)": partial(weighted_harmonic, beta=2.0),
    "harmonic (the suite twice)": partial(weighted_harmonic, beta=0.5),
}
"""Of suite score and i.i.d. score; twice is β = 2, and for the suite β = ½."""
PAPER = ("functionalities alike", "harmonic")


def kendall(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Kendall's τ_b between two lists; None where one of them has one value only.

    >>> kendall([1, 2, 3], [1, 3, 2])
    0.3333333333333333
    """
    pairs = [(a[i] - a[j], b[i] - b[j]) for i in range(len(a)) for j in range(i)]
    signs = [(_sign(x), _sign(y)) for x, y in pairs]
    untied = math.sqrt(sum(x != 0 for x, _ in signs) * sum(y != 0 for _, y in signs))
    return sum(x * y for x, y in signs) / untied if untied else None


def _sign(difference: float) -> int:
    return (difference > 1e-12) - (difference < -1e-12)


def aggregation_measures(measures: Sequence[Measure]) -> Iterator[Measure]:
    """How far the order of the rows is that of the paper's G, by each other way, in every scenario."""
    for model in models_of(measures):
        which = {} if model is None else {"model": model}
        for column in HOLD_OUTS:
            scores = scores_by_each_way(measures, model, column)
            if not scores or len(scores[PAPER]) < 2:
                continue
            for name, values in scores.items():
                if name == PAPER:
                    continue
                rows = list(values)
                agreement = kendall([scores[PAPER][row] for row in rows], [values[row] for row in rows])
                groups = which | {"suite score": name[0], "mean": name[1], "hold out": column}
                yield Measure("order agreement", agreement, len(rows), groups)


def sensitive_claims(measures: Sequence[Measure]) -> list[Finding]:
    """The marks of the table that another way to put pass rates together would turn round."""
    findings = []
    for model in models_of(measures):
        rows = rows_of_table3(measures, model)
        which = {} if model is None else {"model": model}
        for column in HOLD_OUTS:
            scores = scores_by_each_way(measures, model, column)
            for row in rows if scores else ():
                against = _contrary(row, column, scores)
                if against:
                    findings.append(_finding(row, column, against, which))
    return findings


Scores = dict[tuple[str, str], dict[Row, float]]


def scores_by_each_way(measures: Sequence[Measure], model: str | None, column: str) -> Scores:
    """Each row's score by each way; the iid row's pass rates are "standard". Empty where a row is not complete."""
    means = [row for row in means_of(measures, model) if "estimand" not in row.groups]
    iid: dict[Row, float] = {}
    rates: dict[Row, list[Measure]] = {}
    for row in means:
        if "method" not in row.groups or row.value is None:
            continue
        name = row.groups["config"], row.groups["method"]
        if row.name == "iid score" and row.groups["hold out"] in (STANDARD, "seen", column):
            # the last: a held-out column has one of its own only where G has it (`s_iid_mode`), behind that of seen
            iid[name] = row.value
        if row.name == "pass rate" and row.groups["hold out"] in (STANDARD, column):
            rates.setdefault(name, []).append(row)
    common = [name for name in rates if name in iid]
    if not common:
        return {}
    shared = set.intersection(*({row.groups["functionality"] for row in rates[name]} for name in common))
    if not shared:
        return {}
    kept = {name: [row for row in rates[name] if row.groups["functionality"] in shared] for name in common}
    return {
        (suite, mean): {name: combined(score(kept[name]), iid[name]) for name in common}
        for suite, score in SUITE_SCORES.items()
        for mean, combined in MEANS.items()
    }


def _contrary(row: TableRow, column: str, scores: Scores) -> list[str]:
    """The ways by which a row that is marked lies on the other side of the iid row."""
    cell = row.cells.get(column)
    if row.is_baseline or cell is None or cell.difference is None or not cell.verdict:
        return []
    if "common seeds" in cell.difference.facts:  # the pass rates are of other seeds than what was tested
        return []
    wanted = 1 if cell.verdict == "better" else -1
    ways = []
    for (suite, mean), values in scores.items():
        if (suite, mean) == PAPER:
            continue
        baseline = next((value for name, value in values.items() if name[0] == "iid"), None)
        ours = values.get(row.name)
        if baseline is not None and ours is not None and _sign(ours - baseline) == -wanted:
            ways.append(f"{suite}, {mean} mean" if mean != SMALLER else f"{suite}, the smaller of the two")
    return ways


def _finding(row: TableRow, column: str, ways: Sequence[str], which: dict[str, str]) -> Finding:
    cell = row.cells[column]
    groups = which | {"config": row.config, "method": row.method, "hold out": column}
    text = (
        f"{row.config} {row.method} is {cell.verdict} than iid by {COLUMNS[column]}, but not by {len(ways)} of "
        f"{len(SUITE_SCORES) * len(MEANS) - 1} other aggregations (such as {ways[0]})."
    )
    rests_on = (cell.difference,) if cell.difference else ()
    return Finding(SENSITIVE, text, rests_on, WEIGHT, groups, {"ways": list(ways)})
