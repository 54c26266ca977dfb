"""CONF-GT: the probability of the right label; 0 where the model cannot give that label at all."""

from collections.abc import Sequence

import numpy as np

from ....core.records import Answers, Case


def values(cases: Sequence[Case], answers: Answers) -> list[float | None]:
    """One number per case; None without a label or without probabilities."""
    if answers.probabilities is None:
        return [None] * len(cases)
    place = {label: column for column, label in enumerate(answers.labels)}
    numbers: list[float | None] = []
    for row, case in enumerate(cases):
        if row in answers.errors or not case.labels or np.isnan(answers.probabilities[row, 0]):
            numbers.append(None)
        else:
            column = place.get(str(case.labels[0]))
            numbers.append(0.0 if column is None else float(answers.probabilities[row, column]))
    return numbers
