"""Results and measures as they show themselves in Python: a short text, a pandas table."""

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import DataError, import_library
from .measures import quantity, shown, shown_interval, unit_word

if TYPE_CHECKING:
    from .records import Measure, Result

HEADLINES, WARNINGS = 2, 3


def frame(rows: Iterable[Mapping[str, Any]]) -> Any:
    """Return rows as a pandas table."""
    return import_library("pandas", "to_pandas()").DataFrame(list(rows))


# Measures


def measure_text(row: "Measure") -> str:
    """Return a measure in one line, without its groups.

    >>> from shoal.core.records import Measure
    >>> measure_text(Measure("pass rate", 0.25, 496, interval=(0.21, 0.29)))
    'pass rate 25.0 % (95 % CI 21.0 – 29.0), n = 496'
    """
    between = " to " if quantity(row).signed else " – "
    interval = f" (95 % CI {shown_interval(row, between=between)})" if row.interval else ""
    value = "undefined" if row.value is None else f"{shown(row.value, quantity(row))}{unit_word(row)}"
    name = f"{row.name} of {row.of}" if row.of else row.name
    return f"{name} {value}{interval}, n = {row.n:,}"


def measure_rows(measures: Sequence["Measure"]) -> list[dict[str, Any]]:
    """Return each measure as a row, with a column for every group that any of them has."""
    groups = list(dict.fromkeys(name for row in measures for name in row.groups))
    return [
        {
            "measure": row.name,
            **({"of": row.of} if any(other.of for other in measures) else {}),
            **{name: row.groups.get(name, "") for name in groups},
            "value": row.value,
            "low": row.interval[0] if row.interval else None,
            "high": row.interval[1] if row.interval else None,
            **{name: getattr(row, name) for name in ("n", "na", "errors", "reason")},
        }
        for row in measures
    ]


# Results


def result_text(result: "Result") -> str:
    """Return the model, the headline with its counts, and where to look next."""
    headlines = [row for row in result.measures if row.headline] or list(result.measures[:1])
    plain = [row for row in result.measures.where("pass rate") if not row.groups and row.value is not None]
    lines = [f"<Result: {result.job.get('protocol', '')} of {result.job.get('model', '')}>"]
    lines += [f"{round((row.value or 0) * row.n):,} of {row.n:,} cases pass" for row in plain]
    lines += [measure_text(row) for row in headlines[:HEADLINES]]
    lines += [f"! {warning}" for warning in _warnings(result)[:WARNINGS]]
    look = ".failing(), .measures, .to_pandas()" if result.outcomes else ".measures"
    return "\n".join([*lines, f"Look at: {look}"])


def _warnings(result: "Result") -> list[str]:
    """Return the problems that make a result unusable, or its numbers incomplete."""
    warnings = [finding.text for finding in result.findings if finding.disqualifies]
    unanswered = [outcome.error for outcome in result.outcomes if outcome.error]
    if unanswered and len(unanswered) < len(result.outcomes):
        count = f"{len(unanswered):,} of {len(result.outcomes):,} cases"
        warnings.append(f"{count} without an answer: {unanswered[0][:200]}")
    failed = [check for check in result.job.get("checks", ()) if check["ok"] is False]
    return warnings + [f"{check['name']}: {check['detail']}" for check in failed]


def result_frame(result: "Result") -> Any:
    """Return a row per case: its groups, its outcome, the texts and the model's answers."""
    if not result.outcomes:
        raise DataError(
            "this result was read from a file, which has measures only",
            fix=".measures.to_pandas(), or audit the model again",
        )
    return frame(import_module("shoal.runs.viewing").case_rows(result))
