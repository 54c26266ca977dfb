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
    text = (
        f"The model solves {_count_and_share(every)} problems with all their variants{interval}. "
        f"It solves {_count_and_share(seeds)} originals alone."
    )
    if lowest is not None:
        text += f" Lowest word class: {lowest.groups['word class']}, {_per_cent(lowest)} of {lowest.n:,}."
    if words:
        counts = [f"{word} ({wrong:,} of {total:,} wrong)" for word, wrong, total in words]
        text += f" Most failures after inserting {', '.join(counts)}."
    return text


def _count_and_share(row: Measure) -> str:
    """Return the count with its share; only share and n if a mean over draws gives no whole number."""
    count = (row.value or 0.0) * row.n
    if abs(count - round(count)) > 1e-9:
        return f"{_per_cent(row)} of {row.n:,}"
    return f"{round(count):,} of {row.n:,} ({_per_cent(row)})"


def _per_cent(row: Measure) -> str:
    return f"{shown(row.value, quantity(row))} %"


def copied_labels(*, shared_words: bool) -> str:
    """Return the caveat that nobody checked the labels of the variants."""
    text = "Variants keep the label of their original; nobody checked them."
    return text if shared_words else f"{text} Any open-class word was replaced, so some labels may be wrong."


def unsettled_labels(unsettled: int, judged: int) -> str:
    """Return the caveat about variants on which the two annotators disagree."""
    return (
        f"The two annotators disagree on {unsettled:,} of {judged:,} variants, and column `label` is empty there. "
        "Label preservation leaves these out and is too high."
    )


def model_difference(row: Measure) -> str:
    """Return a significant difference between two models as a sentence."""
    more = "more" if (row.value or 0.0) > 0 else "less"
    points = shown(abs(row.value or 0.0), quantity(row), signed=False)
    return f"{row.groups['model']} has {points} points {more} {quantity_name(row, ' at ')} than {row.groups['against']}"


def quantity_name(row: Measure, separator: str) -> str:
    """Return the measure that a difference is about, with its threshold."""
    return row.of + (f"{separator}{row.groups['threshold']}" if "threshold" in row.groups else "")


# Notes and reasons


NO_SEED_RIGHT = "no original is answered correctly"
NO_CORRELATION = "all variants are right, all are wrong, or each problem has one variant"
ONE_LABEL = "both annotators used only one label"
ONE_CHECKPOINT_EACH = "One checkpoint per model: seed variance was not measured."


def draws_note(draws: int) -> str:
    """Return over how many draws a value is averaged."""
    return f"mean of {draws} draws"


def intervals_note(measures: Measures) -> str:
    """Return the sampling unit of the intervals."""
    methods = [row.interval_method for row in measures.where("sample accuracy") if row.interval_method]
    unit = methods[0].rpartition(" ")[2] if methods else "premises"
    averaged = any("draws" in row.facts for row in measures.where("sample accuracy"))
    return f"95 % intervals over {unit}." + (" Values are means over the draws." if averaged else "")


def dropped_notes(about: Mapping[str, Any], errors: int) -> Iterator[str]:
    """Yield the notes on dropped rows, rejected words and unanswered variants."""
    if about.get("dropped"):
        counts = some(f"{count:,} {reason}" for reason, count in about["dropped"].items())
        yield f"Dropped of {about['rows']:,} rows: {counts}."
    if about.get("words left out"):
        counts = some(_rejected(about["words left out"], about.get("suggesters", ())))
        yield f"Words not replaced: {counts}."
    if errors:
        yield f"{errors:,} variants have no answer and count in no rate."


def _rejected(counts: Mapping[str, int], suggesters: Sequence[str]) -> Iterator[str]:
    for reason, count in counts.items():
        why, _, name = reason.rpartition(" for ")
        # The built-in suggester is called "example": "for example" would be misread.
        yield f"{count:,} {why} for the suggester {name}" if name in suggesters else f"{count:,} {reason}"


# Headings, titles and legends


def heading(settings: Settings, about: Mapping[str, Any], problems: int, variants: int, filters: int) -> str:
    """Return the data with its numbers of problems and variants, and how variants were drawn."""
    text = f"{about['data']}: {problems:,} problems with {variants:,} variants"
    text += f" under {filters} filters" if filters > 1 else ""
    if not settings.generates:
        return text
    suggesters = ", ".join(about.get("suggesters", ()))
    draws = f"{settings.draws} draws" if settings.draws else "all draws"
    return f"{text}, suggested by {suggesters}; {draws} of {settings.sample} per problem and word class"


def drop_label(row: Measure) -> str:
    """Return the label of the drop from originals to variants, with the two rates."""
    originals, variants = (
        shown(row.facts[name], quantity("sample accuracy")) for name in ("originals", "variants")
    )
    return f"drop from originals to variants, in points ({originals} − {variants} without the original)"


CORRELATION = "correlation of variants within problems"
SOLVED = "problems solved, by share of variants that must be right"
SOLVED_BY = "problems solved, by "
SOLVED_OVER_ALL = "problems solved, over all classes"
ORIGINALS_RIGHT = "originals right: only problems whose original is answered correctly"
FAILING = "originals right, variants wrong: the worst"
INDEPENDENT = "if indep.: share solved if variants failed independently"
AUDIT = "do variants keep their label?"
FUNNEL = "number left after each step"
STATISTICS = "problems with variants"
SPLITS = "difference between classes, sources and filters"
NOT_ADJUSTED = "in points; intervals are not adjusted for the number of comparisons"
MODEL_DIFFERENCES = "differences on the same problems, p adjusted by Holm"
BY_SPLIT = "by word class, source and filter"
FILTERS = {
    "default": "default filter", "pos": "same class only", "probability": "more probable only",
    "none": "no filter", "scrambled": "scrambled",
}  # fmt: skip


def solved_legend(share: str) -> str:
    """Return the meaning of a threshold column."""
    return f"solved at {share}: {share} of a problem's variants are right"


def first_filter_legend(name: str) -> str:
    """Return which filter the rows of classes and sources belong to."""
    return f"classes and sources: under the filter {name}"
