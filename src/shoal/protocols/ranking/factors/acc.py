"""ACC: 1 where the model is right, 0 where it is wrong."""

from collections.abc import Sequence

from ....core.records import Answers, Case


def values(cases: Sequence[Case], answers: Answers) -> list[float | None]:
    """One number per case; None without a label or an answer."""
    return [
        None
        if row in answers.errors or not case.labels
        else float(answers.labels[answers.predictions[row]] == case.labels[0])
        for row, case in enumerate(cases)
    ]
