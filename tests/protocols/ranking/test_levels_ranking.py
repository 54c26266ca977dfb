"""Simulated through the functions behind `shoal rank`: levels that hold however often one looks, stated chances."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator
from numpy.typing import NDArray

from shoal.core.records import Case
from shoal.protocols.ranking import Settings
from shoal.protocols.ranking.build import CHANCE, CHOSEN, LABELLED, LEAST, POOL, TIMES
from shoal.protocols.ranking.labelling import label_next
from shoal.protocols.ranking.order import (
    DECIDED,
    UNDECIDED,
    AnswerTable,
    Pair,
    labelled_draws,
    model_pairs,
    rank_models,
)

LABELS = ("a", "b", "c")
pytestmark = pytest.mark.slow


def sheets(accuracies: list[float], examples: int, rng: Generator) -> NDArray[np.int64]:
    """Labels by model and example, 0 being right; examples that are hard are hard for all."""
    hard = rng.random(examples) - 0.5
    right = rng.random((len(accuracies), examples)) < np.array(accuracies)[:, None] + 0.5 * hard
    return np.where(right, 0, rng.integers(1, len(LABELS), size=right.shape))


def looks(
    table: NDArray[np.int64], how: str, rng: Generator, rounds: int, each: int = 10
) -> Iterator[tuple[list[int], list[Pair]]]:
    """The order and all pairs after every so many labels."""
    models, examples = table.shape
    names = [f"m{number}" for number in range(models)]
    cases = [Case(f"{POOL}/{n:04d}", ((str(n),),), None, {"part": POOL}) for n in range(examples)]
    words = [[LABELS[label] for label in row] for row in table]
    field = AnswerTable(names, cases, np.full(table.shape, np.nan), words, [])
    places = rng.permutation(examples)
    for number in range(rounds):
        if how == "uniform":
            drawn: list[tuple[int, list[Any] | None]] = [
                (int(place), None) for place in places[each * number : each * (number + 1)]
            ]
        else:
            finding = label_next(Settings(seed=int(rng.integers(2**31)), label_next=each), field)
            drawn = [
                (int(row["texts"][0]), [row[CHANCE], row[LEAST], row[TIMES]])
                for row in (finding.facts["examples"] if finding else ())
            ]
        for place, draw in drawn:
            case = cases[place]
            draws = [*case.meta.get("draws", ()), *([draw] if draw else [])]
            part = {"part": CHOSEN if draw else LABELLED}
            cases[place] = Case(case.id, case.examples, ("a",), part, "", {"in pool": True, "draws": draws})
            field.right[:, place] = table[:, place] == 0
        draws_so_far = labelled_draws(cases)
        order, _ = rank_models(field, draws_so_far)
        yield order, model_pairs(field, draws_so_far, order)


def test_two_equal_models_are_rarely_called_different_where_one_is_right_on_what_is_drawn_more_often():
    """The first two models of nine are right on sixty examples each; on the first's, the others all disagree."""
    rng = np.random.default_rng(5)
    torn = np.array([0, 1, 1, 1, 2, 2, 2, 0, 0])
    agreed = np.array([1, 0, 0, 0, 0, 0, 0, 0, 0])
    table = np.repeat(np.stack([torn, agreed], axis=1), 60, axis=1)
    wrong, runs = 0, 20
    for _ in range(runs):
        pairs_seen = [pair for _, pairs in looks(table, "disagreement", rng, 5, 50) for pair in pairs]
        wrong += any(pair.verdict == DECIDED for pair in pairs_seen if {pair.first, pair.second} == {0, 1})
    assert wrong <= 3, "by chances that are forgotten it is most of them"


def test_labelling_where_models_disagree_needs_fewer_labels():
    rng = np.random.default_rng(2)
    needed: dict[str, list[int]] = {"uniform": [], "disagreement": []}
    for _ in range(12):
        table = sheets([0.95, 0.75], 250, rng)
        for how, counts in needed.items():
            steps = looks(table, how, rng, 20)
            decided = next(
                (n for n, (order, pairs) in enumerate(steps, 1) if pairs[0].verdict == DECIDED), 20
            )
            counts.append(10 * decided)
    assert np.mean(needed["disagreement"]) < 0.7 * np.mean(needed["uniform"])


@pytest.mark.parametrize(("models", "rounds"), [(2, 10), (4, 10)])
def test_among_close_models_those_called_better_are_as_often_as_stated(models: int, rounds: int) -> None:
    """Accuracies have an SD of 3 points, 100 labels; a uniform prior states .9 and is right in .75 to .8."""
    rng = np.random.default_rng(6)
    stated, right = [], []
    for _ in range(900 // models):
        accuracies = rng.normal(0.7, 0.03, models).tolist()
        *_, (_, pairs) = looks(sheets(accuracies, 100, rng), "uniform", rng, rounds)
        called = [pair for pair in pairs if pair.verdict != UNDECIDED]
        stated += [pair.if_close for pair in called]
        right += [accuracies[pair.first] > accuracies[pair.second] for pair in called]
    assert len(stated) > 80
    assert np.mean(right) >= np.mean(stated) - 2 * np.sqrt(0.15 * 0.85 / len(stated))
