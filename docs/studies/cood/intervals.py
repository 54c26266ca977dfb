"""Compute the intervals of the COOD study from its committed cells.

    python docs/studies/cood/intervals.py > docs/studies/cood/intervals.csv

The files hold cells, not single texts. The part over texts therefore combines Wilson intervals of cells, which is
slightly wider than resampling texts. The part over seeds is Student's t; squared half-widths add. Differences between
epochs and between K use t over seeds alone, which includes the variance of texts.
"""

import csv
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from math import sqrt
from pathlib import Path

import numpy as np

from shoal.protocols.cood.grid import BEYOND, GAP, KIND_WEIGHTS, SIDE, Weights
from shoal.stats.intervals import Interval, mean_t_interval, wilson
from shoal.stats.seeds import composed, error_of_mean

HERE = Path(__file__).parent
SETUP = ("dataset", "K", "control", "template", "names")
PLANS = (
    "tweets", "mnli", "tweets-k", "tweets-controls", "tweets-names", "tweets-permuted", "tweets-templates",
)  # fmt: skip
QUANTITIES: dict[str, tuple[Weights, float]] = {
    **{kind: (weights, 0.0) for kind, weights in KIND_WEIGHTS.items()},
    "gap": (GAP, 0.0),
    "beyond the shortcut": (BEYOND, -1.0),
}
Cells = Mapping[str, float]
Runs = dict[int, dict[str, Cells]]
"""Cells by seed and epoch; the empty epoch is the selected one."""


def read(name: str) -> dict[tuple[str, ...], Runs]:
    """Return the cells of a plan by setup, seed and epoch."""
    setups: dict[tuple[str, ...], Runs] = {}
    with (HERE / f"{name}-cells.csv").open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            runs = setups.setdefault(tuple(row[key] for key in SETUP), {})
            cells = runs.setdefault(int(row["seed"]), {}).setdefault(row["epoch"], {})
            cells[row["cell"]] = float(row["accuracy"])  # type: ignore[index]
            texts = (
                row["accuracy n"] if "accuracy n" in row else row["n"]
            )  # older reports use another column name
            assert texts == "250", "every cell of the study has 250 texts"
    return setups


def value(cells: Cells, name: str) -> float:
    """Return a quantity of one training."""
    weights, constant = QUANTITIES[name]
    return sum(weight * cells[cell] for cell, weight in weights.items()) + constant


def over_texts(rates: Cells, name: str, level: float, texts: int = 250) -> Interval:
    """Combine Wilson intervals: add squares between classes of texts, widths within a class."""
    weights, _ = QUANTITIES[name]
    below, above = ({side: 0.0 for side in SIDE.values()} for _ in range(2))
    for cell, weight in weights.items():
        low, high = wilson(rates[cell] * texts, texts, level)
        down, up = rates[cell] - low, high - rates[cell]
        below[SIDE[cell]] += abs(weight) * (down if weight > 0 else up)
        above[SIDE[cell]] += abs(weight) * (up if weight > 0 else down)
    middle = value(rates, name)
    return tuple(middle + sign * sqrt(sum(part**2 for part in side.values()))
                 for sign, side in ((-1, below), (1, above)))  # type: ignore[return-value]  # fmt: skip


def summary(runs: Runs, epoch: str = "") -> Iterator[dict[str, object]]:
    """Yield every quantity of a setup over its seeds."""
    by_seed = [epochs[epoch] for _, epochs in sorted(runs.items())]
    rates = {cell: float(np.mean([cells[cell] for cells in by_seed])) for cell in by_seed[0]}
    for name in QUANTITIES:
        values = [value(cells, name) for cells in by_seed]
        low, high = composed(float(np.mean(values)), partial(over_texts, rates, name), error_of_mean(values))
        spread = float(np.std(values, ddof=1)) if len(values) > 1 else ""
        yield {"of": name, "seeds": len(values), "value": float(np.mean(values)), "low": max(-1.0 if "gap" in name
               or "beyond" in name else 0.0, low), "high": min(1.0, high), "sd over seeds": spread,
               "by seed": " ".join(f"{each:.4f}" for each in values)}  # fmt: skip


def differences(runs: Sequence[Sequence[Cells]]) -> Iterator[dict[str, object]]:
    """Yield the differences between two trainings of each seed."""
    for name in QUANTITIES:
        values = [value(after, name) - value(before, name) for before, after in runs]
        low, high = mean_t_interval(values)
        yield {"of": name, "seeds": len(values), "value": float(np.mean(values)), "low": low, "high": high,
               "by seed": " ".join(f"{each:+.4f}" for each in values)}  # fmt: skip


def rows() -> Iterator[dict[str, object]]:
    """Yield every interval of the study."""
    for plan in PLANS:
        for setup, runs in read(plan).items():
            about = {"plan": plan, **dict(zip(SETUP[1:], setup[1:], strict=True))}
            for row in summary(runs):
                yield {**about, **row}
            for epoch in sorted(next(iter(runs.values()))) if plan in ("tweets", "mnli") else ():
                if epoch:
                    for row in summary(runs, epoch):
                        yield {**about, "epoch": epoch, **row}
    for plan in ("tweets", "mnli"):
        (runs,) = read(plan).values()
        pairs = [(epochs["1"], epochs["5"]) for _, epochs in sorted(runs.items())]
        for row in differences(pairs):
            yield {"plan": plan, "epoch": "5 less 1", **row}
    by_k = {setup[1]: runs for setup, runs in read("tweets-k").items()}
    ks = sorted(by_k, key=int)
    for before, after in [*pairwise(ks), (ks[0], ks[-1])]:
        pairs = [(by_k[before][seed][""], by_k[after][seed][""]) for seed in sorted(by_k[before])]
        for row in differences(pairs):
            yield {"plan": "tweets-k", "K": f"{after} less {before}", **row}


COLUMNS = ("plan", "K", "control", "template", "names", "epoch", "of", "seeds", "value", "low", "high",
           "sd over seeds", "by seed")  # fmt: skip

if __name__ == "__main__":
    writer = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for line in rows():
        writer.writerow(
            {key: f"{cell:.4f}" if isinstance(cell, float) else cell for key, cell in line.items()}
        )
