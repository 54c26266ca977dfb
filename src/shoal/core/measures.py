"""Units, directions and digits of every measure.

The terminal, the page, exports, gates and comparisons all read this table. A name that it does not have is a plain
number.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .records import Measure

Unit = Literal["share", "number", "p", "count"]
"""share: a fraction, shown in per cent, its differences in points; p: a probability, shown as such."""
Direction = Literal["higher", "lower", "ideal", ""]
"""Which way is better; ideal: closer to the ideal value; empty: neither."""

NOTHING = "–"
FEW_CASES = 20
"""Below this, a rate carries a warning."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """How to read and show a measure."""

    unit: Unit = "number"
    direction: Direction = ""
    ideal: float | None = None
    """The best value, or the value of no effect."""
    digits: int = 2
    signed: bool = False
    """Shown with its sign."""
    inside: bool = False
    """Shown as >99.9 instead of 100.0, because it never reaches 1."""


RATE = Quantity("share", "higher", 1.0, 1)
SHARE = Quantity("share", "", None, 1)
SPREAD = Quantity("share", "lower", 0.0, 1)
COUNT = Quantity("count", "", None, 0)
POINTS = Quantity("share", "higher", 0.0, 1, signed=True)
P = Quantity("p", "", None, 3)
AGREEMENT = Quantity("number", "higher", 1.0, 2)

MEASURES: dict[str, Quantity] = {
    # Behaviour
    "pass rate": RATE,
    "mean score": RATE,
    "mean value": Quantity("number", "", None, 3),
    "suite score": RATE,
    "refusal rate": SHARE,
    "changed answers": SPREAD,
    "sd over runs": SPREAD,
    "iid score": RATE,
    "G": RATE,
    "functionalities compared": COUNT,
    "shared texts": SHARE,
    "applicability": SHARE,
    "prediction shift": SPREAD,
    "mean confidence": SHARE,
    "directional loss": Quantity("number", "lower", 0.0, 4),
    "iid F1": RATE,
    "average G": RATE,
    "mean over methods": RATE,
    "changed cases": COUNT,
    # COOD; also bias
    "accuracy": RATE,
    "validation accuracy": RATE,
    "gap": Quantity("share", "lower", 0.0, 1),
    "beyond the shortcut": Quantity("share", "higher", 1.0, 1, signed=True),
    "chosen epoch": COUNT,
    "texts left out": SHARE,
    # MERGE
    "seed accuracy": RATE,
    "sample accuracy": RATE,
    "pattern accuracy": RATE,
    "independence reference": SHARE,
    "drop from seeds": Quantity("share", "lower", 0.0, 1, signed=True),
    "suggestions per problem": Quantity("number", "", None, 1),
    "label share": SHARE,
    "label preservation": RATE,
    "variants": COUNT,
    "problems": COUNT,
    # Bias
    "stereotype score": Quantity("share", "ideal", 0.5, 1),
    "stereotype score of decided pairs": Quantity("share", "ideal", 0.5, 1),
    "neutral share": SHARE,
    "language modelling score": RATE,
    "icat": RATE,
    "bias score": Quantity("share", "ideal", 0.0, 1, signed=True),
    "position share": SHARE,
    "effect size": Quantity("number", "ideal", 0.0, 2, signed=True),
    "cluster accuracy": Quantity("share", "", None, 1),
    "chance accuracy": SHARE,
    "mean over checkpoints": SHARE,
    "sd over checkpoints": SPREAD,
    "over-dispersion ratio": Quantity("number", "lower", 1.0, 1),
    "share of items": SHARE,
    "sign agreement": Quantity("number", "higher", 1.0, 1),
    "significant share": SHARE,
    "tests with one sign": SHARE,
    "tests with one verdict": SHARE,
    "difference between diagnostics": POINTS,
    "agreement of representations": AGREEMENT,
    "downstream score": RATE,
    # Ranking
    "few-shot accuracy": RATE,
    "pairwise accuracy": RATE,
    "probability better": Quantity("share", "", None, 1, inside=True),
    "probability better if close": Quantity("share", "", None, 1, inside=True),
    "e value": Quantity("number", "", 1.0, 1),
    "disagreement": SHARE,
    "factor value": Quantity("number", "", None, 3),
    # Explaining
    "attribution": Quantity("number", "", 0.0, 3, signed=True),
    "probability": SHARE,
    "completeness gap": Quantity("share", "lower", 0.0, 1),
    # Comparing
    "difference": POINTS,
    "p value": P,
    "adjusted p value": P,
    "power": SHARE,
    "cases needed": COUNT,
    "minimum detectable effect": Quantity("share", "", None, 1),
}
"""Name to quantity; a measure about another one names it in `of`."""

SENSITIVE = ("fairness", "safety", "toxicity", "bias", "hate")
"""Words in the groups of a measure that make it part of the fairness and safety card of a page."""


def quantity(measure: Measure | str) -> Quantity:
    """Return the quantity of a measure; for a difference or spread, the quantity that it is about."""
    name = measure if isinstance(measure, str) else measure.of or measure.name
    known = MEASURES.get(name.removesuffix(" on common cases"), Quantity())
    if not isinstance(measure, str) and measure.of:
        outer = MEASURES.get(measure.name, Quantity())
        if outer.unit == "p":  # the p value of a share is not a share
            return outer
        return Quantity(known.unit, outer.direction, outer.ideal, max(known.digits, 1), outer.signed)
    return known


HUGE = 1e9
"""Shown in scientific notation from here on."""


def shown(value: float | None, what: Quantity, *, signed: bool | None = None) -> str:
    """Return a value as text: shares in per cent, p values without the leading zero, a dash for None.

    >>> shown(0.8861, RATE), shown(-0.02, POINTS), shown(0.0004, P), shown(None, RATE)
    ('88.6', '−2.0', '<.001', '–')
    >>> shown(0.99999, MEASURES["probability better"]), shown(2.4107e44, MEASURES["e value"])
    ('>99.9', '2.4e44')
    """
    if value is None:
        return NOTHING
    if what.unit == "p":
        return shown_p(value)
    if what.unit == "count":
        return f"{value:,.0f}"
    if what.inside and what.unit == "share":
        least = 10.0 ** -(what.digits + 2)
        if not least / 2 < value < 1 - least / 2:
            sign, bound = (">", 1 - least) if value > 0.5 else ("<", least)
            return f"{sign}{100 * bound:.{what.digits}f}"
    scaled = 100 * value if what.unit == "share" else value
    if abs(scaled) >= HUGE:
        return f"{scaled:.1e}".replace("e+", "e").replace("-", "−")
    sign = "+" if (what.signed if signed is None else signed) else ""
    text = f"{scaled:{sign},.{what.digits}f}"
    zero = f"{0:.{what.digits}f}"
    return zero if text.lstrip("+-") == zero else text.replace("-", "−")


def shown_p(value: float) -> str:
    """Return a p value as text.

    >>> shown_p(0.04321), shown_p(0.9999), shown_p(0.0002)
    ('.043', '1', '<.001')
    """
    if value < 0.001:
        return "<.001"
    return "1" if value >= 0.9995 else f"{value:.3f}".removeprefix("0")


def shown_interval(measure: Measure, *, between: str = " – ") -> str:
    """Return the ends of a measure's interval as text; empty if it has none."""
    if measure.interval is None:
        return ""
    what = quantity(measure)
    return between.join(shown(end, what) for end in measure.interval)


def unit_word(measure: Measure) -> str:
    """Return the unit to write after a value: " %", " points" or nothing."""
    what = quantity(measure)
    return "" if what.unit != "share" else " points" if what.signed else " %"


def lowest_first(rows: Sequence[Measure]) -> list[Measure]:
    """Return the rates that a headline may name, the lowest first: those with enough cases, never one or two."""
    known = [row for row in rows if row.value is not None]
    enough = [row for row in known if row.n >= FEW_CASES] or [row for row in known if row.n > 2]
    return sorted(enough, key=lambda row: (row.value or 0.0, -row.n))
