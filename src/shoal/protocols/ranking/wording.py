"""Every sentence that a ranking shows: findings, notes and captions, from values."""

from collections.abc import Sequence

from ...core.claims import ALPHA
from ...core.errors import some
from ...core.measures import MEASURES, shown

LIKELY = 0.8
"""The stated probability from which a model is called better."""

STATED_NOTE = (
    "Better than the next: probability, assuming that models are usually a few points apart (a cautious prior). "
    f"Up to {100 * LIKELY:.0f} % counts as undecided."
)
DECIDED_NOTE = (
    f"Decided: the error risk is at most {100 * ALPHA:.0f} % (e-value), even if you look after each label."
)
FACTOR_NOTE = (
    "A factor is a number that ranks models, such as accuracy (ACC). `shoal list factors` explains each."
)
ALONE_COUNTS_NOTE = "Right alone: labelled examples that only one of the two models gets right."
BETTER_NOTE = "▲ better than ACC (p ≤ .05, bootstrap over examples)."
INTERVAL_NOTE = "Intervals leave out one model at a time (jackknife), since pairs share models."
EXPORT_NOTE = "--out FILE writes them. Fill in the labels, then run `shoal rank` again with --data FILE."
ALONE_NOTE = "A ranking needs several models: `shoal rank MODEL MODEL … --data FILE`"
NOT_ORDERED = {
    "no labels": "Not ordered: no example has a label yet. Label those first on which the models disagree.",
    "too few": (
        "Not ordered: {labels} labelled examples for {models} models are too few. Label at least {models}."
    ),
    "alike": (
        "Not ordered: all {models} models are right and wrong on the same of {labels} labelled examples. "
        "More labels help only where they disagree."
    ),
}
SKIPPED_LABELS = (
    "Label them all: {} of the examples drawn for labelling have no label. "
    "Skipping the hard ones makes probabilities and decisions invalid."
)
ERRORS = "{} gave no answer to {:,} of {:,} examples; no model gets credit for them."
POOL_AGREES = (
    "The models agree on all {:,} examples of the pool: labels there cannot show which one is better."
)
LABEL_NEXT = "Label next: {} examples, drawn where the models disagree (on {:,} of the {:,} in the pool)."
SAME_ACCURACY = "All models have the same accuracy, so no pair can be ordered."
ONE_PAIR = "Two models are a single pair. It does not show how well a factor orders models in general."
PROBE_SETS_TOO_LARGE = (
    "Not drawn: probe sets of {} from {} labelled examples. Label more, or set probe_sizes = [5]."
)
TOO_LONG = "{} tokens longer than the model's limit, so some words would have no effect"
INCOMPLETE = (
    "Take more steps: the attributions of {} miss their sum by more than {:.0f} % for {} of {} models, "
    "by {} % for {}."
)
PARTS = {
    "labelled": "labelled examples",
    "chosen": "labelled where models disagree",
    "pool": "without a label",
}
STUDY_TITLE = "t examples order two models as all examples do?"
CURVES_TITLE = "right order by size of probe set"
STRIPS_TITLE = "every pair of models, for each factor; a coin flip gets 50 %"
LABEL_NEXT_TITLE = "What to label next"
PAIRS_TITLE = "Pair by pair, t = {}"
PAIRS_TEXT = "How often each pair is ordered correctly, in %, the better model first."
SCATTER_TITLE = "pairs in the right order, by {} and by ACC"
SCATTER_LEGEND = "above the line: {} orders the pair better than ACC"
MISSING_VALUES = {"CONF": "labels without probabilities", "CONF-GT": "no probability of every label"}


def percent(probability: float) -> str:
    """Return a probability in per cent."""
    return f"{shown(probability, MEASURES['probability better'])} %"


def decided(name: str, labels: int) -> str:
    """Say that the best model is known."""
    return (
        f"{name} is best (error risk at most {100 * ALPHA:.0f} %). {labels:,} labels were enough to decide this, so "
        "you can stop labelling."
    )


def leading(
    name: str,
    labels: int,
    sure: float,
    rivals: Sequence[str],
    closest: tuple[str, float],
    more: int | None,
    *,
    is_bound: bool,
) -> str:
    """Say which model leads, how sure that is, and how many more labels decide it.

    `rivals` are the models not ruled out, `closest` is one of them with the probability of beating it.
    """
    bound = "at least " if is_bound else ""
    if sure > LIKELY:
        text = f"{name} is best ({bound}{percent(sure)} sure from {labels:,} labels)."
    else:
        text = (
            f"No clear winner after {labels:,} labels: {name} leads "
            f"({percent(closest[1])} sure that it beats {closest[0]})."
        )
    wait = f"about {more:,} more labels" if more else "they are too close to say how many more labels decide"
    return f"{text} {some(rivals, 1)} cannot be ruled out: {wait}."


def factors_not_applicable(factors: Sequence[str], without: Sequence[str]) -> str:
    """Say which factors some models have no values of."""
    missing = MISSING_VALUES.get(factors[0], "no value")
    return f"Not applicable: {' and '.join(factors)} ({missing} from {some(without, 3)})."


def study_summary(pairs: int, sets: int | None, population: int | None) -> str:
    """Say what the study rests on."""
    text = f"{pairs:,} pairs of models" if pairs > 1 else "one pair of models"
    return f"{text}, {sets:,} probe sets from {population:,} examples" if sets and population else text
