"""Error rates by simulation; benchmarks/verbs.py has those of intervals over words, terms and checkpoints."""

import numpy as np
import pytest
from bias_results import compare, crows_results, settings

from shoal.core.records import Answer, Case, Measures
from shoal.protocols import bias
from shoal.protocols.bias.seat import score as score_seat


def below(level, trials):
    """What a rate of errors at this level may come to in so many trials."""
    return level + 2 * np.sqrt(level * (1 - level) / trials)


# SEAT


def unequal_sets(rng, sizes, spreads, difference=0.0):
    """Words of X and Y, sets of other sizes whose associations spread differently."""
    rows = []
    for side, size, spread, shift in zip("xy", sizes, spreads, (difference, 0.0), strict=True):
        for word in range(size):
            cosine = 0.02 * (shift + spread * rng.normal())
            rows.append(((f"{side}{word}",) * 2, [cosine, 0.0, np.sqrt(1 - cosine**2)]))
    rows += [(("a", "a"), [1.0, 0.0, 0.0]), (("b", "b"), [0.0, 1.0, 0.0])]
    case = Case("t", tuple(row[0] for row in rows), None, {}, "", {"sizes": [*sizes, 1, 1]})
    return case, [Answer("", "vector", {"vector": list(map(float, row[1]))}) for row in rows]


def false_alarms(sizes, spreads, profile, trials=300):
    rng, chosen = np.random.default_rng(11), settings(diagnostic="seat", n_samples=400, profile=profile)
    drawn = [unequal_sets(rng, sizes, spreads) for _ in range(trials)]
    rows = [Measures(score_seat(chosen, [case], [answers]).measures) for case, answers in drawn]
    return np.mean([row.where("p value")[0].value <= 0.05 for row in rows])


def test_unequal_sets_of_unequal_spread_are_significant_in_one_of_twenty_tests():
    assert false_alarms((4, 16), (3.0, 1.0), "recommended") <= below(0.05, 300)


# Checkpoints


def test_no_preference_with_neutral_pairs_is_not_below_one_half():
    rng = np.random.default_rng(7)
    prefers = np.repeat([1.0, -1.0], 405)
    undecided = np.zeros((90, 5))
    differences = np.vstack([undecided, np.column_stack([rng.permutation(prefers) for _ in range(5)])])
    results = crows_results(differences)
    metric = results[0].measures.where("stereotype score", category="all")[0]
    decided = results[0].measures.where("stereotype score of decided pairs", category="all")[0]
    assert metric.interval[1] < 0.5
    assert decided.interval[0] < 0.5 < decided.interval[1] and (decided.n, decided.na) == (810, 90)
    text = bias.compare(settings(), results).findings[0].text
    assert "not distinguishable from one half" in text and "of decided pairs" in text


def test_checkpoints_that_tie_are_not_known_exactly():
    answers = np.where(np.arange(5)[:, None] < [3, 3], 1.0, -1.0)
    rows = Measures(bias.compare(settings(), crows_results(answers)).measures)
    for name in ("mean over checkpoints", "sd over checkpoints"):
        (row,) = [row for row in rows.where(name, category="age") if row.groups["of"] == "stereotype score"]
        assert row.interval is not None and row.interval[1] - row.interval[0] > 0.2


def test_neutral_pairs_do_not_hide_that_checkpoints_straddle_one_half():
    """Four of twenty pairs are neutral: of the others 8 of 16, and 10 of 16, prefer the stereotype."""
    columns = [[0.0] * 4 + [1.0] * up + [-1.0] * (16 - up) for up in (8, 10)]
    rows = Measures(bias.compare(settings(), crows_results(np.array(columns).T)).measures)
    (sd,) = rows.where("sd over checkpoints", of="stereotype score", category="age")
    assert "straddles one half" in sd.verdict


@pytest.mark.nightly
def test_the_mean_over_checkpoints_covers_as_stated_if_one_of_five_trainings_collapses():
    """Student's t over five normal checkpoints of which one in five scores far lower."""
    rng, trials, held = np.random.default_rng(12), 400, 0
    truth = 0.8 * 0.6 + 0.2 * 0.2
    for _ in range(trials):
        rates = np.where(rng.random(5) < 0.2, 0.2, 0.6)
        prefers = (np.arange(200)[:, None] < np.round(200 * rates + rng.normal(0, 2, 5))) * 2.0 - 1
        (mean,) = [
            row
            for row in compare(crows_results(prefers)).where("mean over checkpoints", category="all")
            if row.of == "stereotype score"
        ]
        held += mean.interval[0] <= truth <= mean.interval[1]
    assert "65–72 %" in mean.note and 0.6 <= held / trials <= 0.76
