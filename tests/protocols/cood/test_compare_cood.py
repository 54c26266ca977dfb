"""Over seeds and epochs: what was planted is found."""

import numpy as np
import pytest

from shoal.core.records import Answers, Measure
from shoal.protocols import cood
from shoal.protocols.cood.grid import KINDS, LABELS, target

RATES = {"ID": 0.9, "COOD": 0.3, "OOD": 0.5}


def compared(settings, results) -> list[Measure]:
    return list(cood.compare(settings, results).measures)


def one(measures, name, **groups):
    (measure,) = [row for row in measures if row.name == name and dict(row.groups) == groups]
    return measure


def test_seeds_of_one_setup_are_put_together(made):
    results = [made(RATES, noise=seed, seed=seed) for seed in range(5)]
    rows = compared(cood.Settings(), results)
    for kind in KINDS:
        row = one(rows, "accuracy", K="5", control="none", kind=kind)
        single = [next(m.value for m in result.measures if m.name == "accuracy" and dict(m.groups) ==
                       {"kind": kind}) for result in results]  # fmt: skip
        assert row.value == pytest.approx(np.mean(single))
        assert row.interval[0] < RATES[kind] < row.interval[1]
        assert row.interval_method == "seeds t, text bootstrap"
        assert row.note == "5 seeds (0, 1, 2, 3, 4): results hold for this training recipe."
    gap = one(rows, "gap", K="5", control="none")
    assert gap.value == pytest.approx(0.6, abs=0.1) and gap.interval[0] > 0.4


def test_the_curve_over_epochs_is_averaged_over_seeds(settings, scored):
    results = []
    for seed in (0, 1):
        part = settings(seed=seed)
        cases = cood.build(part).cases
        right = np.array([LABELS.index(target(case.groups["cell"])) for case in cases])
        missed = np.array([case.groups["cell"] == "fst/sec" and seed == 0 for case in cases])
        missed |= np.arange(len(cases)) % 7 == 0
        answers = {"1": Answers(LABELS, np.where(missed, 1 - right, right)), "2": Answers(LABELS, right)}
        results.append(scored(part, answers, "m"))
    rows = compared(cood.Settings(), results)
    curve = [one(rows, "accuracy", K="5", control="none", kind="COOD", epoch=epoch) for epoch in ("1", "2")]
    first = [one(result.measures, "accuracy", kind="COOD", epoch="1") for result in results]
    assert curve[0].value == pytest.approx((first[0].value + first[1].value) / 2) and curve[1].value == 1
    assert first[0].value < 0.5 < 0.8 < first[1].value
    assert curve[0].interval == (0, 1), "two seeds that contradict each other say nothing"
