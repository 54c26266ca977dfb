"""Models whose answers do not depend on the input: every number about them is meaningless."""

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from ..core.records import Answers, Case, Finding

DEGENERATE, WEIGHT = "degenerate", 50.0


def degenerate(cases: Sequence[Case], answers: Answers, banded: Collection[str] = ()) -> Iterator[Finding]:
    """Return a finding if the model gives every example one label although the cases expect several.

    Such a model passes every invariance test. `banded` labels are not the model's own: probabilities between its two
    labels count as neutral.
    """
    if answers.texts:
        return
    answered = np.ones(len(answers.predictions), bool)
    answered[list(answers.errors)] = False
    codes, n = np.unique(answers.predictions[answered]).tolist(), int(answered.sum())
    if len(codes) != 1 or n < 2:
        return
    label = answers.labels[codes[0]]
    expected = {str(name) for case in cases for name in case.labels or ()}
    if len(expected) == 1:
        return  # the cases cannot tell a constant answer from a reading of their texts
    text = f"The model gives all {n:,} examples the same label, {label}. Ignore its scores."
    if label in banded:
        text = f"The model is unsure of all {n:,} examples: each counts as {label}. Ignore its scores."
    facts = {"label": label, "examples": n}
    yield Finding(DEGENERATE, text, (), WEIGHT, facts=facts, disqualifies=True)
