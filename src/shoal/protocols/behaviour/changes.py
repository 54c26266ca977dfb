"""How far the answer to a failing INV or DIR case moved: the value before and after, and the allowed change.

P(positive) .90 → .40 (limit ±.10)
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.case_table import CaseTable, by_group
from ...core.records import Answers, Case, Outcomes
from ...stats.resampling import hits_of
from .expect import Expect
from .judge import as_set, block_of, judges_raw, rows_of_cases
from .rules import Block, Floats, label_index, values_of
from .settings import Settings

SIGNS = {"lower": "−", "less_conf": "−", "higher": "+", "more_conf": "+", "-tol": "−", "tol": "+"}
"""The end of a rule's name, to the direction in which it limits a change."""
LIMITS = ("positive_shift", "direction ", "conf_of_", "same_pred_or_conf_change_within_tol")
"""How the rules begin that limit a change of probability."""


@dataclass(frozen=True, slots=True)
class Change:
    """A probability, or the difference of two, before and after the perturbation."""

    what: tuple[str, ...]
    """The label whose probability it is; with a second label, whose probability is subtracted."""
    before: float
    after: float
    tolerance: float
    sign: str
    """The direction in which the change is limited: "+", "−" or "±"."""


def changes(
    settings: Settings, cases: Sequence[Case], answers: Answers, shown: Answers, outcomes: Outcomes
) -> list[str | None]:
    """Return in words the change of the worst example of each failing INV or DIR case; None for other cases.

    Models without probabilities and rules about labels alone have none. `shown` are the answers in the suite's labels.
    """
    made: list[str | None] = [None] * len(cases)
    if answers.probabilities is None:
        return made
    table, has_failed = CaseTable.of(cases), hits_of(outcomes.verdicts) == 0
    starts = np.cumsum(sizes := table.sizes) - sizes
    for members in by_group(table, "functionality").values():
        places = members[has_failed[members]]
        expect = as_set(table[int(members[0])], settings)
        if not len(places) or not expect.rule.startswith(LIMITS):
            continue
        rows = rows_of_cases(starts[places], sizes[places])
        source = answers if judges_raw(expect) else shown
        block = block_of(source, table, places, rows, sizes[places], expect)
        values = np.nan_to_num(values_of(block, expect, settings.slack), nan=1.0)
        for place, start, size in zip(places, block.starts, sizes[places], strict=True):
            worst = start + np.argmin(values[start : start + size])
            made[place] = change_words(_change(block, expect, int(start), int(worst)))
    return made


def _change(block: Block, expect: Expect, original: int, row: int) -> Change:
    rule, probabilities = expect.rule, block.probabilities
    assert probabilities is not None
    first, last = 0, probabilities.shape[1] - 1
    sign = next((sign for end, sign in SIGNS.items() if rule.endswith(end)), "+")
    columns = [int(block.predictions[original])]
    if rule.startswith("positive_shift"):
        columns = [last, first]
    elif rule.startswith("direction not_less_") and not rule.endswith("conf"):
        columns = [first if rule.endswith("2") else last]
    elif rule.startswith("conf_of_"):
        word = rule.removeprefix("conf_of_").rpartition("_not_")[0]
        columns = columns if word == "original_pred" else [label_index(word, block.labels)]
    elif rule == "same_pred_or_conf_change_within_tol":
        sign = "±"
    before, after = (_value(probabilities[place], columns) for place in (original, row))
    return Change(tuple(block.labels[column] for column in columns), before, after, expect.tolerance, sign)


def _value(probabilities: Floats, columns: Sequence[int]) -> float:
    """Return the probability of the first label, less that of the second."""
    first, *others = (
        float(probabilities[column]) if column < len(probabilities) else 0.0 for column in columns
    )
    return first - sum(others)


def change_words(change: Change) -> str:
    """Return the values before and after, with as many digits as show that the limit is exceeded."""
    (label, *minus), low, high = change.what, change.before, change.after
    digits = next(
        (n for n in (2, 3, 4) if round(abs(round(high, n) - round(low, n)), 6) > change.tolerance), 2
    )

    def number(value: float) -> str:
        return f"{value:.{digits}f}".replace("0.", ".", 1).replace("-", "−")

    name = f"P({label})" + "".join(f" − P({other})" for other in minus)
    limit = f"{change.sign}{number(change.tolerance)}" if change.tolerance else "0"
    return f"{name} {number(low)} → {number(high)} (limit {limit})"
