"""Simulate `shoal rank`: calibration of probabilities, level of the stopping rule, labels saved.

    python docs/studies/ranking/simulate.py [--runs 2000] [--only PART]
    python docs/studies/ranking/simulate.py --keep docs/studies/ranking/simulated.csv < printed.md

The second command stores printed tables cell by cell. (The study uses 2000 runs, and 1000 for the savings.)
The functions behind `shoal rank` do the ranking. An example that is hard for one model is hard for all. In the runs
about the level, all models are exactly equally good in the pool: every answer sheet occurs in every rotation over the
models. Any decided pair is an error.
"""

import argparse
import csv
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
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
    labelled_draws,
    model_pairs,
    rank_models,
)
from shoal.stats.ranking import differ_e_value, probability_better

LABELS = ("a", "b", "c")
LOOK_EVERY = 10
POOL_SIZE = 200
MOST_LABELS = 120


# The pool: correlated answers of models with given accuracies


def answer_sheets(accuracies: NDArray[np.float64], examples: int, rng: Generator) -> NDArray[np.int64]:
    """Return labels by model and example (0 is correct); hard examples are hard for every model."""
    hard = rng.beta(1.2, 1.2, size=examples) - 0.5
    chances = np.clip(accuracies[:, None] + 0.8 * hard, 0.02, 0.98)
    right = rng.random((len(accuracies), examples)) < chances
    return np.where(right, 0, rng.integers(1, len(LABELS), size=right.shape))


def rotated(sheets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return every sheet in every rotation over the models, which makes all exactly equal."""
    return np.concatenate([np.roll(sheets, shift, axis=0) for shift in range(len(sheets))], axis=1)


def field_of_pool(sheets: NDArray[np.int64]) -> AnswerTable:
    """Return the unlabelled pool."""
    models, examples = sheets.shape
    cases = [Case(f"{POOL}/{n:05d}", ((str(n),),), None, {"part": POOL}, "", {}) for n in range(examples)]
    names = [f"m{n}" for n in range(models)]
    predictions = [[LABELS[label] for label in row] for row in sheets]
    return AnswerTable(names, cases, np.full(sheets.shape, np.nan), predictions, [])


def label(field: AnswerTable, sheets: NDArray[np.int64], place: int, draw: list[float] | None) -> None:
    """Label one example of the pool, drawn uniformly or with its probability."""
    case = field.cases[place]
    draws = [*case.meta.get("draws", ()), *([draw] if draw else [])]
    part = CHOSEN if draw else LABELLED
    field.cases[place] = Case(  # type: ignore[index]
        case.id, case.examples, (LABELS[0],), {"part": part}, "", {"in pool": True, "draws": draws}
    )
    field.right[:, place] = sheets[:, place] == 0


def one_run(sheets: NDArray[np.int64], how: str, rng: Generator) -> tuple[int, int | None, bool]:
    """Return the labels until the best model is decided, that model, and whether any pair was decided."""
    field = field_of_pool(sheets)
    examples = sheets.shape[1]
    settings = Settings(label_next=LOOK_EVERY, seed=int(rng.integers(2**31)))
    order_of_labels = rng.permutation(examples)
    any_pair = False
    for labels in range(LOOK_EVERY, MOST_LABELS + 1, LOOK_EVERY):
        if how == "uniform":
            for place in order_of_labels[labels - LOOK_EVERY : labels]:
                label(field, sheets, int(place), None)
        else:
            finding = label_next(replace(settings, seed=settings.seed + labels), field)
            for example in finding.facts["examples"] if finding else ():
                draw = [example[CHANCE], example[LEAST], example[TIMES]]
                label(field, sheets, int(example["texts"][0]), draw)
        draws = labelled_draws(field.cases)
        order, _ = rank_models(field, draws)
        pairs = model_pairs(field, draws, order)
        any_pair |= any(pair.verdict == DECIDED for pair in pairs)
        if all(pair.verdict == DECIDED for pair in pairs if pair.first == order[0]):
            return labels, order[0], any_pair
    return MOST_LABELS, None, any_pair


# Printed tables


def calibration(runs: int, rng: Generator) -> None:
    """Print the share of correctly ordered pairs by stated probability."""
    print("| stated | pairs | mean stated | right |\n| --- | --- | --- | --- |")
    apart, share = rng.uniform(0.05, 0.6, runs), rng.random(runs)
    discordant = rng.binomial(20, apart)
    first = rng.binomial(discordant, share)
    stated = np.array([probability_better(b, n - b) for b, n in zip(first, discordant, strict=True)])
    sure, right = np.maximum(stated, 1 - stated), (stated > 0.5) == (share > 0.5)
    for low in (0.5, 0.6, 0.7, 0.8, 0.9):
        chosen = (sure >= low) & (sure < low + 0.1 + (low == 0.9)) & (stated != 0.5)
        means = f"{sure[chosen].mean():.3f} | {right[chosen].mean():.3f}"
        print(f"| {low:.1f} to {low + 0.1:.1f} | {chosen.sum():,} | {means} |")


def neighbours(runs: int, rng: Generator) -> None:
    """Print the share of correct statements about neighbours in an order of several models."""
    print("| accuracies | models | labels | called better | mean stated | uniform prior | right |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    priors = {
        "uniform, 50 to 90 %": lambda models: rng.uniform(0.5, 0.9, models),
        "70 %, sd 10": lambda models: rng.normal(0.7, 0.1, models),
        "70 %, sd 5": lambda models: rng.normal(0.7, 0.05, models),
        "70 %, sd 3": lambda models: rng.normal(0.7, 0.03, models),
    }
    for words, prior in priors.items():
        for models, labels in ((2, 20), (2, 50), (2, 100), (8, 50), (8, 100)):
            rows = [row for _ in range(runs) for row in _neighbours(prior(models), labels, rng)]
            means = " | ".join(f"{column.mean():.2f}" for column in np.array(rows).reshape(-1, 3).T)
            print(f"| {words} | {models} | {labels} | {len(rows):,} | {means} |", flush=True)


def _neighbours(
    accuracies: NDArray[np.float64], labels: int, rng: Generator
) -> list[tuple[float, float, bool]]:
    """Yield, for each pair of neighbours, both stated probabilities and whether the order is correct."""
    sheets = answer_sheets(accuracies, 2_000, rng)
    truth = (sheets == 0).mean(axis=1)
    field = field_of_pool(sheets[:, :labels])
    for place in range(labels):
        label(field, sheets, place, None)
    draws = labelled_draws(field.cases)
    order, _ = rank_models(field, draws)
    pairs = {(pair.first, pair.second): pair for pair in model_pairs(field, draws, order)}
    called = [pairs[both] for both in pairwise(order) if pairs[both].verdict != UNDECIDED]
    return [
        (pair.if_close, pair.probability, bool(truth[pair.first] > truth[pair.second])) for pair in called
    ]


def level(runs: int, rng: Generator) -> None:
    """Print how often equal models are called different, checked after every ten labels."""
    print("| models | drawn | runs | any pair decided |\n| --- | --- | --- | --- |")
    for models in (2, 5):
        for how in ("uniform", "disagreement"):
            wrong = 0
            for _ in range(runs):
                sheets = rotated(answer_sheets(np.full(models, 0.7), POOL_SIZE // models, rng))
                wrong += one_run(sheets, how, rng)[2]
            print(f"| {models} | {how} | {runs:,} | {100 * wrong / runs:.1f} % |", flush=True)


def torn(runs: int, rng: Generator) -> None:
    """Print how often two equal models of nine are called different if the draw favours one of them."""
    split, agreed = np.array([0, 1, 1, 1, 2, 2, 2, 0, 0]), np.array([1, 0, 0, 0, 0, 0, 0, 0, 0])
    sheets = np.repeat(np.stack([split, agreed], axis=1), 60, axis=1)
    weighed = forgotten = 0
    for _ in range(runs):
        field = field_of_pool(sheets)
        by_chance, plainly = False, False
        for _ in range(5):
            finding = label_next(Settings(label_next=50, seed=int(rng.integers(2**31))), field)
            for example in finding.facts["examples"] if finding else ():
                label(
                    field, sheets, int(example["texts"][0]), [example[CHANCE], example[LEAST], example[TIMES]]
                )
            draws = labelled_draws(field.cases)
            pairs = model_pairs(field, draws, rank_models(field, draws)[0])
            pair = next(pair for pair in pairs if {pair.first, pair.second} == {0, 1})
            by_chance |= pair.e_value >= pair.limit
            plainly |= differ_e_value(pair.only_first, pair.only_second) >= pair.limit
        weighed, forgotten = weighed + by_chance, forgotten + plainly
    print("| chances | runs | the two are called different |\n| --- | --- | --- |")
    print(
        f"| weighed | {runs} | {100 * weighed / runs:.1f} % |\n| forgotten | {runs} | {100 * forgotten / runs:.1f} % |"
    )


def savings(runs: int, rng: Generator) -> None:
    """Print the labels until the best model is decided."""
    print(
        "| accuracies | drawn | decided | the right one first | median labels |\n| --- | --- | --- | --- | --- |"
    )
    for accuracies in ([0.9, 0.7], [0.85, 0.7], [0.9, 0.8], [0.9, 0.7, 0.7, 0.7]):
        for how in ("uniform", "disagreement"):
            labels, best = [], []
            for _ in range(runs):
                sheets = answer_sheets(np.array(accuracies), 300, rng)
                used, first, _ = one_run(sheets, how, rng)
                labels.append(used)
                best += [first] if first is not None else []
            words = ", ".join(f"{100 * rate:.0f}" for rate in accuracies)
            right = f"{best.count(0)} of {len(best)}"
            print(
                f"| {words} | {how} | {100 * len(best) / runs:.0f} % | {right} | {np.median(labels):.0f} |",
                flush=True,
            )


TABLES = {
    "stated": ("calibration", 1),
    "accuracies | models": ("neighbours", 3),
    "models": ("level", 2),
    "chances": ("torn", 1),
    "accuracies | drawn": ("savings", 2),
}
"""Start of a table's heading: its part, and the number of columns that name a row."""


def cells_of(lines: Iterable[str]) -> Iterator[tuple[str, str, str, str]]:
    """Yield every number of printed tables with its part, row and column."""
    part, names, heads = "", 0, [""]
    for line in lines:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        heading = next((begins for begins in TABLES if line.startswith(f"| {begins} |")), None)
        if heading:
            (part, names), heads = TABLES[heading], cells
        elif line.startswith("|") and not cells[0].startswith("-"):
            for head, cell in zip(heads[names:], cells[names:], strict=True):
                yield part, ", ".join(cells[:names]), head, cell


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--only", choices=["calibration", "level", "torn", "savings", "neighbours"])
    parser.add_argument("--keep", type=Path)
    chosen = parser.parse_args()
    if chosen.keep:
        with chosen.keep.open("w", encoding="utf-8", newline="") as stream:
            rows = csv.writer(stream, lineterminator="\n")
            rows.writerows([("part", "row", "column", "value"), *cells_of(sys.stdin)])
        sys.exit()
    for number, part in enumerate((calibration, level, savings, torn, neighbours)):
        if chosen.only in (None, part.__name__):
            count = {
                "calibration": 20 * chosen.runs,
                "savings": chosen.runs // 10,
                "torn": chosen.runs // 4,
            }.get(part.__name__, chosen.runs)
            part(count, np.random.default_rng([0, number]))
            print()
