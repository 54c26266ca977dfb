"""CONF: the probability of the label that the model predicts; needs no labels."""

from collections.abc import Sequence

import numpy as np

from ....core.records import Answers, Case


def values(cases: Sequence[Case], answers: Answers) -> list[float | None]:
    """One number per case; None where the model gave none."""
    rows = np.arange(len(cases))
    if answers.probabilities is not None:
        numbers = answers.probabilities[rows, answers.predictions]
    elif answers.confidences is not None:
        numbers = answers.confidences
    else:
        return [None] * len(cases)
    return [
        None if row in answers.errors or np.isnan(number) else float(number)
        for row, number in enumerate(numbers)
    ]
