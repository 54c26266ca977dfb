"""From drawn copies to values: what LIME and Shapley values have in common.

Of every example the text itself, the copy without anything and the copies that a method draws are asked, those of many
examples together.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .attributions import Attribution, How, Units, Values, explained_columns
from .copies import Copies, Present

Draw = Callable[[Units, How, np.random.Generator], Present]
Fit = Callable[[Present, Values, tuple[float, float], How], Values]


def from_copies(
    copies: Copies,
    how: How,
    rngs: Sequence[np.random.Generator],
    *,
    draw: Draw,
    fit: Fit,
    facts: Callable[[Units, How], dict[str, Any]],
    sums: bool,
) -> list[Attribution]:
    """Draw copies, ask them all, and fit the values of each example."""
    drawn = [draw(units, how, rng) for units, rng in zip(copies.units, rngs, strict=True)]
    asked = [np.concatenate([ends(units), rows]) for units, rows in zip(copies.units, drawn, strict=True)]
    explained = []
    for units, rows, answers in zip(copies.units, drawn, copies.ask(asked), strict=True):
        label, columns = explained_columns(copies.labels, answers[1], how)
        outputs = answers[:, columns].sum(axis=1)
        nothing, everything = float(outputs[0]), float(outputs[1])
        values = fit(rows, outputs[2:], (nothing, everything), how) if len(units) else np.zeros(0)
        explained.append(
            Attribution(
                units,
                values,
                label,
                everything,
                nothing,
                dict(zip(copies.labels, answers[1].tolist(), strict=True)),
                sums,
                {"absent": copies.absent, **facts(units, how)},
            )
        )
    return explained


def ends(units: Units) -> Present:
    """The copy without anything, and the text itself."""
    return np.array([[False], [True]]).repeat(len(units), axis=1)
