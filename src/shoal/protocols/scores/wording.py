"""Sentences of graded results."""

from ...core.measures import quantity, shown, shown_interval, unit_word
from ...core.records import PARTLY, Measure, Result

MISSING = "not in this file"


def counts(result: Result) -> str:
    """Return how many samples a file lacks, and how many answers have no score; empty if all have one."""
    about = result.job.get("about") or {}
    missing, errors = about.get("missing", 0), about.get("errors", 0)
    parts = [f"{errors:,} without a score"] if errors else []
    parts += [f"{missing:,} {MISSING}"] if missing else []
    return ", ".join(parts)


def mean_words(measure: Measure) -> str:
    """Return a mean as a count of passes, or with its unit."""
    if measure.value is None:
        return measure.reason
    passes = measure.value * measure.n
    rate = f"{shown(measure.value, quantity(measure))}{unit_word(measure)}"
    if measure.name == "pass rate" and not measure.basis.column:
        return f"{round(passes):,} of {measure.n:,} samples pass ({rate})"
    return f"{measure.name} {rate} over {measure.n:,} samples"


def interval_words(measure: Measure) -> str:
    ends = shown_interval(measure)
    return f", 95 % CI {ends}" if ends else ""


def bounds_words(measure: Measure) -> str:
    """Return the mean if all answers without a score had failed, and if all had passed."""
    if "if errors fail" not in measure.facts:
        return ""
    low, high = (shown(measure.facts[f"if errors {end}"], quantity(measure)) for end in ("fail", "pass"))
    return f"{low} % if they all fail, {high} % if they all pass"


def notes(result: Result, measure: Measure) -> list[str]:
    """Return what is not graded, and what that could change."""
    lines = []
    if left := counts(result):
        lines.append("; ".join(filter(None, [f"! {left}", bounds_words(measure)])) + ".")
    if partly := measure.facts.get(PARTLY):
        lines.append(f"! {partly:,} samples have a score in some epochs only; their mean is over those.")
    runs = result.job["about"]["runs"]
    if len(runs) > 1:
        lines.append(f"Each sample counts by its mean over {len(runs)} epochs.")
    return lines
