"""Models whose answers do not depend on the input, and labels that may be swapped."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import compress

import numpy as np

from ..core.case_table import CaseTable
from ..core.records import Answers, Case, Finding
from ..core.views import label_words

DEGENERATE, WEIGHT = "degenerate", 50.0
SWAPPED, SWAPPED_WEIGHT = "swapped labels", 40.0
NEARLY_ALL, ENOUGH = 0.95, 20
"""The share of a functionality's cases that get the opposite label, and its fewest cases."""
NEGATION = re.compile("negat(?!iv)", re.IGNORECASE)


def degenerate(cases: Sequence[Case], answers: Answers, banded: Collection[str] = ()) -> Iterator[Finding]:
    """Return a finding if the model gives every example one label although the cases expect several.

    Such a model passes every invariance test. `banded` labels are not its own: they mean that it is unsure.
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


def swapped(cases: Sequence[Case], answers: Answers) -> Iterator[Finding]:
    """Return a finding if tests of two labels fail nearly completely, each with the other label.

    Tests of negation do not count: a model that ignores negation fails them both ways.
    """
    if answers.texts:
        return
    tests = _confusion_by_test(cases, answers)
    every = sum(tests.values(), Counter[tuple[str, str]]())
    inverted: dict[tuple[str, str], str] = {}
    for name, counts in tests.items():
        (pair, count), total = counts.most_common(1)[0], counts.total()
        if len(set(pair)) == 2 and total >= ENOUGH and count >= NEARLY_ALL * total:
            inverted.setdefault(pair, name)
    for (a, b), name in inverted.items():
        other = inverted.get((b, a))
        if other and every[a, b] + every[b, a] > every[a, a] + every[b, b]:
            text = (
                f"Labels may be swapped: nearly all cases of {name} expect {a} and get {b}; those of {other} "
                f"expect {b} and get {a}. Check the names of the model's labels."
            )
            yield Finding(SWAPPED, text, (), SWAPPED_WEIGHT, facts={"labels": [a, b]})
            return


def _confusion_by_test(cases: Sequence[Case], answers: Answers) -> dict[str, Counter[tuple[str, str]]]:
    """Return expected and predicted labels of the labelled texts of each functionality outside negation."""
    table, tests = CaseTable.of(cases), dict[str, Counter[tuple[str, str]]]()
    headings, numbers = table.distinct_headings()
    originals = np.cumsum(table.sizes) - table.sizes
    rows = zip(numbers.tolist(), table.labels, answers.predictions[originals].tolist(), strict=True)
    answered = ~np.isin(originals, list(answers.errors))
    # Equal rows are counted first: a million cases have a few thousand different ones.
    for (number, labels, predicted), count in Counter(compress(rows, answered.tolist())).items():
        groups = headings[number].groups
        is_negation = any(map(NEGATION.search, groups.values()))
        if groups.get("test type") == "MFT" and labels and not is_negation:
            own = tests.setdefault(groups.get("functionality", ""), Counter())
            own[label_words(headings[number], labels[0]), answers.labels[predicted]] += count
    return tests
