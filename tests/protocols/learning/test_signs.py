"""Degenerate models: planted faults are reported, sound models are not."""

from types import SimpleNamespace

import numpy as np
import pytest

from shoal import Case
from shoal.core.records import Answers, Finding, Measure
from shoal.protocols.behaviour.expect import DIRECTIONS, Expect
from shoal.protocols.behaviour.suite import DEFAULTS
from shoal.protocols.learning.iid import IID
from shoal.protocols.learning.scoring import degeneracy_of, losses_of_pairs, row_outcomes
from shoal.protocols.learning.settings import Settings

THREE, TWO = ("negative", "neutral", "positive"), ("negative", "positive")


def iid_rows(n: int, rng: np.random.Generator) -> list[Case]:
    groups = {"functionality": IID, "capability": IID, "test type": "MFT"}
    labels = [TWO[code] for code in rng.permutation(np.arange(n) % 2)]
    return [
        Case(f"{IID}/{at}", ((f"text {at}",),), (label,), groups, meta={"expect": DEFAULTS["MFT"]})
        for at, label in enumerate(labels)
    ]


def suite_of(n: int, direction: str = "not_more_conf") -> list[Case]:
    """Praise and blame, some of it neutral, and hedges that must not make a model surer."""
    about = {"functionality": "words", "capability": "vocabulary", "test type": "MFT"}
    cases = [
        Case(f"words/{at}", ((f"word {at}",),), (THREE[at % 3],), about,
             meta={"expect": DEFAULTS["MFT"], "labels": THREE})
        for at in range(n)
    ]  # fmt: skip
    about = {"functionality": "hedges", "capability": "degree", "test type": "DIR"}
    rule = next(rule for rule, word in DIRECTIONS.values() if word == direction)
    meta = {"expect": Expect(rule, 0.1, "all_except_first"), "labels": THREE, "direction": direction}
    return cases + [
        Case(f"hedges/{at}", ((f"good {at}",), (f"rather good {at}",)), None, about, meta=meta)
        for at in range(n)
    ]


def answers(positive: np.ndarray) -> Answers:
    vectors = np.stack([1 - positive, positive], axis=1)
    return Answers(TWO, vectors.argmax(axis=1), vectors)


def right_with_chance(cases: list[Case], rng: np.random.Generator, accuracy: float, sure: float) -> Answers:
    """A model that errs both ways equally often; it gives neutral cases either label."""
    positive = []
    for case in cases:
        for _ in case.examples:
            label = str((case.labels or ("positive",))[0])
            truth = rng.random() < 0.5 if label == "neutral" else label == "positive"
            said = truth if rng.random() < accuracy else not truth
            positive.append(sure if said else 1 - sure)
    return answers(np.array(positive))


def found(suite: list[Case], given: Answers, iid: list[Case], of_iid: Answers):
    signs = list(degeneracy_of(Settings(), suite, given, iid, of_iid, row_outcomes(iid, of_iid)))
    findings = [sign for sign in signs if isinstance(sign, Finding)]
    measures = [sign for sign in signs if isinstance(sign, Measure)]
    return [finding.kind for finding in findings], SimpleNamespace(findings=findings, measures=measures)


def test_an_honest_model_is_left_in_peace_over_twenty_seeds():
    alarms = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        suite, iid = suite_of(60), iid_rows(100, rng)
        accuracy = rng.uniform(0.65, 0.98)
        given, of_iid = (right_with_chance(cases, rng, accuracy, 0.8) for cases in (suite, iid))
        kinds, _ = found(suite, given, iid, of_iid)
        alarms += bool(kinds)
    assert alarms == 0


@pytest.mark.parametrize(
    ("share", "kind"), [(0.7, None), (0.8, "leaning"), (0.88, "leaning"), (0.95, "degenerate")]
)
def test_one_answer_to_more_than_are_right_is_leaning_until_it_is_nearly_all(share, kind):
    rng = np.random.default_rng(0)
    suite, iid = suite_of(60), iid_rows(200, rng)
    of_iid = answers(np.where(np.arange(200) < share * 200, 0.1, 0.9))
    kinds, signs = found(suite, right_with_chance(suite, rng, 0.9, 0.8), iid, of_iid)
    assert kinds[:1] == ([kind] if kind else kinds[:1]) and (kind in kinds) == bool(kind)
    said = " ".join(finding.text for finding in signs.findings)
    assert ("passes every invariance test" in said) == (kind == "degenerate")
    assert ("It predicts negative for" in said) == bool(kind)


def test_a_model_that_learnt_the_opposite_did_not_learn_the_task():
    rng = np.random.default_rng(1)
    suite, iid = suite_of(30), iid_rows(250, rng)
    flipped = right_with_chance(iid, rng, 0.008, 0.9)
    kinds, signs = found(suite, right_with_chance(suite, rng, 0.9, 0.8), iid, flipped)
    assert kinds == ["untrained"]
    assert signs.findings[0].text.endswith("always answering negative would get 50.0.")


def test_a_model_that_is_too_sure_to_get_surer_is_saturated():
    rng = np.random.default_rng(2)
    suite, iid = suite_of(40), iid_rows(100, rng)
    sure, moderate = (right_with_chance(suite, rng, 0.95, confidence) for confidence in (0.97, 0.8))
    assert sure.probabilities is not None
    sure.probabilities[:40] = 0.6 * sure.probabilities[:40] + 0.2  # of other tests it is less sure
    kinds, signs = found(suite, sure, iid, right_with_chance(iid, rng, 0.8, 0.97))
    assert kinds == ["saturated"]
    assert "1 of 1 directional (DIR) functionalities test little" in signs.findings[0].text
    assert "too sure of their original texts (mean confidence 97.0 %)" in signs.findings[0].text
    assert "Cases that can still fail: hedges 0 %." in signs.findings[0].text
    assert found(suite, moderate, iid, right_with_chance(iid, rng, 0.8, 0.8))[0] == []


def test_the_loss_at_step_0_is_equation_6_of_the_model_that_training_starts_from():
    """The worked examples of DIR (`docs/method/beluga.md` 1.13), each pair by itself."""
    for before, after, direction, loss in (
        ((0.3, 0.7), (0.1, 0.9), "not_more_conf", 0.223144),
        ((0.3, 0.7), (0.25, 0.75), "not_more_conf", 0.051293),
        ((0.3, 0.7), (0.8, 0.2), "not_more_conf", 0.0),
        ((0.3, 0.7), (0.8, 0.2), "not_less_conf", 0.693147),
        ((0.3, 0.7), (0.45, 0.55), "not_less_2", 0.162519),
        ((1.0, 0.0), (0.0, 1.0), "not_less_conf", 100.0),
    ):
        (value,) = losses_of_pairs(direction, np.array([before, after]))
        assert value == pytest.approx(loss, abs=5e-7)
    suite, rng = suite_of(30), np.random.default_rng(3)
    iid = iid_rows(60, rng)
    positive = np.full(30 + 60, 0.7)
    positive[31::2] = 0.9
    positive[31:51:2] = 0.7
    _, signs = found(suite, answers(positive), iid, right_with_chance(iid, rng, 0.9, 0.9))
    (row,) = [row for row in signs.measures if row.name == "directional loss"]
    assert (row.n, row.facts) == (30, {"without a gradient": pytest.approx(1 / 3)})
    assert row.value == pytest.approx(0.223144 * 2 / 3, abs=1e-6)
    (sure,) = [row for row in signs.measures if row.name == "mean confidence"]
    assert sure.value == pytest.approx(np.mean(positive)) and sure.n == 90
