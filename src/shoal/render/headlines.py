"""What the numbers of a job say by themselves, for protocols that draw no conclusion from one job.

The number that the protocol is about, the weakest of its parts, and of the finest parts the lowest: each with what it
rests on, and no further than that goes.
"""

from collections.abc import Sequence

from ..core.errors import some
from ..core.measures import lowest_first, quantity, unit_word
from ..core.records import Finding, Measure, Result
from .pieces import interval_text, is_defined, value_text

HEADLINE = "headline"
"""The kind of such a finding: it says no more than numbers that stand on the page anyway."""
HALF = 0.5
LOWEST = 3
"""How many of the lowest are named."""


def headlines(result: Result) -> list[Measure]:
    """The measures that the protocol is about."""
    return [row for row in result.measures if row.facts.get("headline") and is_defined(row)]


def called(row: Measure) -> str:
    """A measure by its name and what it is of."""
    groups = [value for value in row.groups.values() if value != "all"]
    return f"{row.name} ({', '.join(groups)})" if groups else row.name


def headline_findings(result: Result, *, alone: bool) -> list[Finding]:
    """The sentences about one job; where others stand beside it, the first and the last of them as one."""
    first = headlines(result)[:2]
    if not first:
        return []
    about = {"model": str(result.job["model"])}
    finest = _finest(result)
    lowest = lowest_first(finest)
    whole = " ".join([f"The {called(row)} is {_in_words(row)}." for row in first] + _counted(finest))
    if not alone:
        low = [f"The lowest {row.name} is that of {_first(row)}: {_in_words(row)}." for row in lowest[:1]]
        return [Finding(HEADLINE, " ".join([whole, *low]), (*first, *lowest[:1]), -1.0, about)]
    findings = [Finding(HEADLINE, whole, tuple(first), -1.0, about)]
    parts = _parts(result)
    if parts:
        text = f"Weakest by {next(iter(parts[0].groups))}: {_first(parts[0])}, {_in_words(parts[0])}."
        findings.append(Finding(HEADLINE, text, tuple(parts[:LOWEST]), -1.1, about))
    if lowest:
        text = f"Lowest by {next(iter(lowest[0].groups))}: {_named(lowest)}."
        findings.append(Finding(HEADLINE, text, tuple(lowest[:LOWEST]), -1.2, about))
    return findings


def _in_words(row: Measure) -> str:
    between = interval_text(row)
    return f"{value_text(row)}{unit_word(row)}" + (f" ({between})" if between else "")


def _first(row: Measure) -> str:
    return next(iter(row.groups.values()))


def _rates(result: Result, over: str | None = None) -> list[Measure]:
    rates = [row for row in result.measures if "mean over" in row.facts and is_defined(row) and row.groups]
    return [
        row
        for row in rates
        if quantity(row).direction == "higher" and (over is None or row.facts["mean over"] == over)
    ]


def _finest(result: Result) -> list[Measure]:
    """The rates over cases that have the most groups; none where there is but one, or no better way."""
    rates = _rates(result, "cases")
    most = max((len(row.groups) for row in rates), default=0)
    finest = [row for row in rates if len(row.groups) == most]
    return finest if len(finest) > 1 else []


def _parts(result: Result) -> list[Measure]:
    """The rates by the first of the coarser groups, the lowest first; none where there is but one."""
    finest = {id(row) for row in _finest(result)}
    coarse = [row for row in _rates(result) if len(row.groups) == 1 and id(row) not in finest]
    by = next(iter(coarse[0].groups)) if coarse else ""
    parts = lowest_first([row for row in coarse if by in row.groups])
    return parts if len(parts) > 1 else []


def _counted(finest: Sequence[Measure]) -> list[str]:
    """How many parts are surely below one half, and of how many nothing failed."""
    if not finest:
        return []
    low = [row for row in finest if row.interval is not None and row.interval[1] < HALF]
    below = f"{len(low):,} {'is' if len(low) == 1 else 'are'} below 50 %"
    whole = sum(row.value == 1.0 for row in finest)
    by = next(iter(finest[0].groups))
    return [f"Of {len(finest):,} rates by {by}, {below}; {whole:,} have no failures."]


def _named(lowest: Sequence[Measure]) -> str:
    """The lowest, those with the same value together."""
    first = lowest[0]
    alike = [row for row in lowest if row.value == first.value]
    if len(alike) == 1:
        return f"{_first(first)}, {_in_words(first)}"
    names = some([_first(row) for row in alike], LOWEST)
    return f"{names}, {value_text(first)}{unit_word(first)} each"
