"""Nine accuracies and what follows: known behaviours come out exactly, and nothing chooses by COOD or OOD."""

from dataclasses import replace

import numpy as np
import pytest

from shoal.core.records import Answers, Measure
from shoal.protocols import cood
from shoal.protocols.base import Built
from shoal.protocols.cood.grid import (
    CELLS,
    COLUMNS,
    GAP,
    KINDS,
    LABELS,
    Grid,
    estimate,
    replicates,
    target,
)
from shoal.stats.intervals import Interval

REFERENCE = {  # docs/method/cood.md 3.6: fst/fst sec/sec neu/fst neu/sec | fst/sec sec/fst | fst/neu sec/neu neu/neu
    "perfect": (1, 1, 1, 1, 1, 1, 1, 1, 1),
    "x_only": (1, 1, 1, 1, 0, 0, 0, 0, 0),
    "always_0": (1, 1, 0, 0, 0, 0, 0, 0, 1),
    "always_1": (0, 0, 1, 1, 1, 1, 1, 1, 0),
}
MEANS = {
    "perfect": (1, 1, 1), "x_only": (1, 0, 0), "always_0": (1 / 2, 0, 1 / 3), "always_1": (1 / 2, 1, 2 / 3),
}  # fmt: skip
BEYOND = {
    "perfect": 1, "x_only": 0, "always_0": 0, "always_1": 0,
}  # fmt: skip


def one(measures, name, **groups):
    """The measure with exactly these groups."""
    (measure,) = [row for row in measures if row.name == name and dict(row.groups) == groups]
    return measure


def scores(part, built: Built, answers: Answers) -> list[Measure]:
    return list(cood.score(part, built, {"": answers}).measures)


def check_reference(rule, measures):
    for cell, accuracy in zip(CELLS, REFERENCE[rule], strict=True):
        row = one(measures, "accuracy", cell=cell, kind=CELLS[cell])
        assert (row.value, row.n, row.errors) == (accuracy, 12, 0)
    for kind, mean in zip(KINDS, MEANS[rule], strict=True):
        assert one(measures, "accuracy", kind=kind).value == pytest.approx(mean)
    identified, unseen, _ = MEANS[rule]
    assert one(measures, "gap").value == pytest.approx(identified - unseen)
    assert one(measures, "beyond the shortcut").value == BEYOND[rule]


@pytest.mark.parametrize("rule", REFERENCE)
def test_a_known_behaviour_comes_out_exactly(rule, settings, audited):
    check_reference(rule, audited(settings(), f"python:planted_readers:{rule}").measures)


def coin(part, seed: int, errors=()) -> list[Measure]:
    """The measures of answers thrown at random."""
    built = cood.build(part)
    rng = np.random.default_rng(seed)
    said = {case.id: int(rng.random() < 0.7) for case in sorted(built.cases, key=lambda case: case.examples)}
    answers = Answers(
        LABELS, np.array([said[case.id] for case in built.cases]), errors={row: "timed out" for row in errors}
    )
    return scores(part, built, answers)


def test_an_answer_that_failed_is_counted_beside_the_rate_and_not_in_it(settings):
    measures = coin(settings(), seed=0, errors=[0, 1])
    row = one(measures, "accuracy", cell="fst/fst", kind="ID")
    assert (row.n, row.errors) == (10, 2)
    assert one(measures, "accuracy", kind="ID").errors == 2


def test_a_cell_without_any_answer_leaves_its_means_undefined(settings):
    measures = coin(settings(), seed=0, errors=range(12))
    for row in (
        one(measures, "accuracy", cell="fst/fst", kind="ID"),
        one(measures, "accuracy", kind="ID"),
        one(measures, "gap"),
    ):
        assert row.value is None and row.interval is None and row.reason
    assert one(measures, "accuracy", kind="COOD").value is not None


def test_a_text_that_is_misread_is_no_sign_of_combining(settings):
    """Of the fst texts a quarter passes for neu: the shortcut then gets fst/fst wrong and fst/sec right."""
    part = settings()
    built = cood.build(part)
    misread = {case.meta["text"] for case in built.cases if case.groups["cell"] == "fst/fst"}
    misread = set(sorted(misread)[:3])
    answers = [
        int(case.groups["cell"].startswith("neu") or case.meta["text"] in misread) for case in built.cases
    ]
    measures = scores(part, built, Answers(LABELS, np.array(answers)))
    assert (
        one(measures, "accuracy", kind="COOD").value
        == one(measures, "accuracy", cell="fst/sec", kind="COOD").value / 2
        > 0
    )
    assert one(measures, "beyond the shortcut").value == pytest.approx(0)
    finding = cood.score(part, built, {"": Answers(LABELS, np.array(answers))}).findings[0]
    assert finding.kind == "shortcut" and "Beyond the shortcut it gets 0.0 of" in finding.text


# Epochs


def by_epoch(part, wrong_validation: dict[str, int], right_unseen: dict[str, bool]) -> dict[str, Answers]:
    """For each epoch: so many validation cases wrong, and unseen combinations right or not."""
    built = cood.build(part)
    found = {}
    for epoch, wrong in wrong_validation.items():
        said, left = [], wrong
        for case in built.cases:
            right = LABELS.index(target(case.groups["cell"]))
            miss = case.groups["kind"] != "ID" and not right_unseen[epoch]
            if case.groups["split"] == "validation" and left:
                miss, left = True, left - 1
            said.append(1 - right if miss else right)
        found[epoch] = Answers(LABELS, np.array(said))
    return found


def test_the_epoch_is_chosen_on_validation_texts_in_trained_combinations(settings):
    part = settings()
    answers = by_epoch(part, {"1": 3, "2": 1, "3": 1}, {"1": True, "2": False, "3": True})
    scored = cood.score(part, cood.build(part), answers)
    outcomes, measures = scored.outcomes, scored.measures
    assert one(measures, "chosen epoch").value == 2, (
        "epoch 3 is better on COOD, which chooses nothing; 2 came first"
    )
    assert one(measures, "chosen epoch").note == "the best on validation texts in trained combinations"
    assert one(measures, "accuracy", kind="COOD").value == 0
    assert [one(measures, "accuracy", kind="COOD", epoch=epoch).value for epoch in "123"] == [1, 0, 1]
    assert one(measures, "validation accuracy", kind="ID", epoch="1").value == pytest.approx(13 / 16)
    assert sum(outcome.passed is False for outcome in outcomes) == 1 + 5 * 12


def test_without_validation_texts_the_last_epoch_is_taken(settings):
    part = settings(validation_per_label=0)
    answers = by_epoch(part, {"1": 0, "2": 0}, {"1": True, "2": False})
    measures = cood.score(part, cood.build(part), answers).measures
    assert one(measures, "chosen epoch").value == 2 and one(measures, "accuracy", kind="COOD").value == 0
    assert one(measures, "chosen epoch").note == "the last"


# Intervals


def texts(n: int, seed: int = 0, seeds: int = 1) -> Grid:
    """n texts of each class, every cell right with probability .8 apart from the others."""
    values = np.full((3 * n, len(COLUMNS), seeds), np.nan)
    y = np.repeat(["fst", "sec", "neu"], n)
    rng = np.random.default_rng(seed)
    for cell in CELLS:
        own = y == cell.partition("/")[0]
        values[own, COLUMNS.index(cell)] = rng.random((n, seeds)) < 0.8
    return Grid(values, tuple(y.tolist()), tuple(map(str, range(3 * n))))


def test_premises_are_drawn_whole():
    grid = texts(200)
    pairs = replace(grid, clusters=tuple(str(text // 2) for text in range(600)))
    grid.values[1::2] = grid.values[::2]
    alone, together = (replicates(g, np.random.default_rng(1), 3000) for g in (grid, pairs))
    column = COLUMNS.index("fst/fst")
    assert together[:, column].std() == pytest.approx(np.sqrt(2) * alone[:, column].std(), rel=0.1)


def known_of(grid: Grid, weights) -> tuple[Interval, str]:
    interval, method = estimate(grid, replicates(grid, np.random.default_rng(0), 1000), weights)
    assert interval is not None
    return interval, method


@pytest.mark.parametrize(("seeds", "fixed", "method"), [
    (1, True, "combined wilson"), (1, False, "text bootstrap"), (3, True, "seeds t, combined wilson"),
    (3, False, "seeds t, text bootstrap"),
])  # fmt: skip
def test_a_cell_without_variance_is_not_taken_for_known(seeds, fixed, method):
    grid = texts(100, seeds=seeds)
    if fixed:
        grid.values[:100, COLUMNS.index("fst/fst")] = 1.0
    assert known_of(grid, GAP)[1] == method
    perfect = replace(grid, values=np.where(np.isnan(grid.values), np.nan, 1.0))
    (low, high), _ = known_of(perfect, GAP)
    assert low < 0 < high
