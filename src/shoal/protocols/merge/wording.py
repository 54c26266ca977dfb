"""Sentences of MERGE: headline, findings, notes, legends and titles, from typed values."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...core.errors import some
from ...core.measures import quantity, shown, shown_interval
from ...core.records import Measure, Measures
from .settings import Settings

# Findings


def headline(
    every: Measure, seeds: Measure, lowest: Measure | None, words: Sequence[tuple[str, int, int]]
) -> str:
    """Return the share solved when all variants must be right, the lowest word class and the worst words."""
    interval = f", 95 % CI {shown_interval(every)}" if every.interval else ""
    whole = _count_and_share(every)
    mean = " (mean over the draws)" if whole.startswith(_per_cent(every)) else ""
    text = (
        f"The model solves {whole} problems with all their variants{mean}{interval}. "
        f"Without variants, it solves {_count_and_share(seeds)}."
    )
    if lowest is not None:
        text += f" Lowest word class: {lowest.groups['word class']}, {_per_cent(lowest)} of {lowest.n:,}."
    if words:
        counts = [f"{word} ({wrong:,} of {total:,} wrong)" for word, wrong, total in words]
        text += f" Replacement words with the most errors: {', '.join(counts)}."
    return text


def _count_and_share(row: Measure) -> str:
    """Return the count with its share; only share and n if a mean over draws gives no whole number."""
    count = (row.value or 0.0) * row.n
    if abs(count - round(count)) > 1e-9:
        return f"{_per_cent(row)} of {row.n:,}"
    return f"{round(count):,} of {row.n:,} ({_per_cent(row)})"


def _per_cent(row: Measure) -> str:
    return f"{shown(row.value, quantity(row))} %"


COPIED_LABELS = "Variants keep the label of their original; nobody checked them."
NO_SHARED_WORDS = " Any open-class word was replaced, so some labels may be wrong."


# Notes and reasons


COMPARE = "`shoal compare A B` tests the difference between two models on the same problems."


def intervals_note(measures: Measures) -> str:
    """Return the sampling unit of the intervals."""
    methods = [row.interval_method for row in measures.where("sample accuracy") if row.interval_method]
    unit = methods[0].rpartition(" ")[2] if methods else "premises"
    return f"95 % intervals over {unit}."


def dropped_notes(about: Mapping[str, Any], errors: int) -> Iterator[str]:
    """Yield the notes on dropped rows and unanswered variants."""
    if about.get("dropped"):
        counts = some(f"{count:,} {reason}" for reason, count in about["dropped"].items())
        yield f"Excluded from {about['rows']:,} rows: {counts}."
    if errors:
        yield f"{errors:,} variants have no answer; no rate includes them."


# Headings, titles and legends


def heading(settings: Settings, about: Mapping[str, Any], problems: int, variants: int, filters: int) -> str:
    """Return the data with its numbers of problems and variants, and how variants were drawn."""
    text = f"data {about['data']}: {problems:,} problems with {variants:,} variants"
    text += f" under {filters} filters" if filters > 1 else ""
    if not settings.generates:
        return text
    suggesters = ", ".join(about.get("suggesters", ()))
    return (
        f"{text} (suggester: {suggesters}); "
        f"{settings.draws} draws of {settings.sample} variants per problem and word class"
    )


DROP = "originals minus variants, in points"
SOLVED = "problems solved, by share of variants that must be right"
SOLVED_BY = "problems solved, by "
FAILING = "Worst problems: the original is right, these variants are wrong"
SOLVED_AT = "solved at {0}: at least {0} of a problem's variants are right"
FIRST_FILTER = "classes and sources: under the filter {}"
INDEPENDENT = "reference: share solved if the variants of a problem failed independently"
AUDIT = "do variants keep their label?"
FUNNEL = "number left after each step"
STATISTICS = "problems with variants"
FILTERS = {
    "default": "default filter", "pos": "same class only", "probability": "more probable only",
    "none": "no filter", "scrambled": "scrambled",
}  # fmt: skip
