"""Over seeds, K, words and models: what was planted is found, and half a plan is enough."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from shoal.core.records import Answers, Measure, Result
from shoal.protocols import cood
from shoal.protocols.cood.cells import KINDS, LABELS, target


@pytest.fixture
def made(settings, scored):
    """The result of a job in which each cell is right with some probability; `noise` seeds which."""

    def make(rates: dict[str, float], noise: int = 0, model: str = "hf:one", **given) -> Result:
        part = settings(test_per_label=20, **given)
        cases = cood.build(part).cases
        rng = np.random.default_rng(noise)
        answers = []
        for case in cases:
            right = LABELS.index(target(case.groups["cell"]))
            answers.append(right if rng.random() < rates[case.groups["kind"]] else 1 - right)
        return scored(part, Answers(LABELS, np.array(answers)), model)  # type: ignore[no-any-return]

    return make


RATES = {"ID": 0.9, "COOD": 0.3, "OOD": 0.5}
SURE = {"ID": 1.0, "COOD": 0.0, "OOD": 0.0}


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


# Setups against each other


def differences(results) -> list[Measure]:
    return [row for row in compared(cood.Settings(), results) if row.name == "difference"]


def test_only_setups_that_differ_in_one_thing_are_compared(made):
    assert not differences([made(RATES, 1, per_label=(2,)), made(RATES, 2, per_label=(3,), model="hf:two")])
    rows = differences([
        made(RATES, 1), made(RATES, 2, per_label=(2,)), made(RATES, 3, template=("Is it <LABEL>",)),
        made(RATES, 4, names=({"positive": "cat", "neutral": "bird", "negative": "dog"},)),
        made(RATES, 5, control=("text only",)), made(RATES, 6, reveal=(3,)), made(RATES, 7, model="hf:two"),
    ])  # fmt: skip
    pairs = list(dict.fromkeys((row.groups["differs in"], row.groups["against"]) for row in rows))
    assert pairs == [
        ("K", "5"), ("template", "It is <LABEL>"), ("names", "usual"), ("control", "none"), ("reveal", "0"),
        ("model", "hf:one"),
    ]  # fmt: skip
    assert len(rows) == 6 * 5 and {row.interval_method for row in rows} == {"texts t"}


def test_setups_are_compared_on_the_same_texts_and_seeds(made):
    better = {**RATES, "COOD": 0.8}
    results = [made(RATES, noise=seed, seed=seed) for seed in range(5)]
    results += [made(better, noise=10 + seed, seed=seed, model="hf:two") for seed in range(5)]
    rows = compared(cood.Settings(), results)
    pair = {"K": "5", "control": "none", "model": "hf:two", "differs in": "model", "against": "hf:one"}
    row = one(rows, "difference", **pair, kind="COOD")
    means = [
        one(rows, "accuracy", K="5", control="none", model=model, kind="COOD").value
        for model in ("hf:one", "hf:two")
    ]
    assert row.value == pytest.approx(means[1] - means[0]) and row.n == 40 and not row.note
    assert row.interval[0] > 0.2 and row.interval_method == "seeds t, texts t"
    assert one(rows, "p value", **pair, kind="COOD").value < 0.01
    assert one(rows, "adjusted p value", **pair, kind="COOD").note == "Holm over 1 pairs of setups"
    same = one(rows, "difference", **pair, kind="ID")
    assert same.interval[0] < 0 < same.interval[1]
    beyond = one(rows, "difference", **pair, of="beyond the shortcut")
    sides = [one(rows, "beyond the shortcut", K="5", control="none", model=m) for m in ("hf:one", "hf:two")]
    assert beyond.value == pytest.approx(sides[1].value - sides[0].value)


def test_what_seeds_share_is_paired_and_what_they_do_not_is_welchs(made):
    """Seeds move both setups alike: of the same seeds the difference is sure, of different ones it is not."""
    rates = [0.1, 0.4, 0.7, 0.9]

    def results(seeds):
        for number, seed in enumerate(seeds):
            yield made({**SURE, "COOD": rates[number]}, noise=1, seed=seed)
            yield made({**SURE, "COOD": rates[number]}, noise=1, seed=number, per_label=(2,))

    paired, apart = (differences(list(results(seeds))) for seeds in (range(4), range(10, 14)))
    (of_same,), (of_own,) = (
        [row for row in rows if row.groups.get("kind") == "COOD"] for rows in (paired, apart)
    )
    assert of_same.value == of_own.value == pytest.approx(0)
    assert (
        of_same.interval_method == "seeds t, texts t" and of_own.interval_method == "seeds welch t, texts t"
    )
    assert of_own.interval[1] > 0.4 > 0.15 > of_same.interval[1] > 0  # type: ignore[index]


def test_one_run_against_several_says_nothing_of_recipes(made):
    results = [made(RATES, seed, seed=seed) for seed in range(3)] + [made(RATES, 7, per_label=(2,))]
    rows = compared(cood.Settings(), results)
    (row,) = [row for row in rows if row.name == "difference" and row.groups.get("kind") == "COOD"]
    assert row.interval is None and "of these runs only" in row.note
    assert not [row for row in rows if row.name == "p value"]


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [2, 3])
def test_intervals_over_few_seeds_hold_what_they_should(seeds):
    """A quick version of `docs/studies/cood/coverage.py`: 60 times two setups that are alike."""
    study = load_study()
    shares = study.coverage(study.WORLDS["seeds decide"], seeds, texts=20, times=60)
    for name, share in shares.items():
        wolf = name.startswith("p,")
        assert share <= 0.13 if wolf else share >= 0.9, name
    assert len(shares) == 5 + 2 * 10


def load_study():
    path = Path(__file__).parents[3] / "docs" / "studies" / "cood" / "coverage.py"
    spec = spec_from_file_location("cood_coverage", path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["cood_coverage"] = module
    spec.loader.exec_module(module)
    return module
