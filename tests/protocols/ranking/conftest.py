"""Models whose answers are planted: files of examples, a pool and predictions."""

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from shoal.cli import main

LABELS = ("negative", "positive")


@pytest.fixture
def rank(tmp_path, monkeypatch) -> Callable[..., Result]:
    """`shoal rank` in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, code: int = 0) -> Result:
        done = CliRunner(env={"COLUMNS": "120"}).invoke(main, ["rank", *arguments], catch_exceptions=False)
        assert done.exit_code == code, done.output
        return done

    return call


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> str:
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def plant(tmp_path) -> Callable[..., list[str]]:
    """Files for models that are right on these examples: data.csv, pool.csv, and predictions of each model.

    The right label is positive for every second example. A model is a row of ones and zeros, the labelled examples
    first; `probabilities` gives how sure it is of its label.
    """

    def make(
        right: Mapping[str, Sequence[int]],
        labelled: int | None = None,
        probabilities: Mapping[str, Sequence[float]] | None = None,
    ) -> list[str]:
        count = len(next(iter(right.values())))
        labelled = count if labelled is None else labelled
        gold = [LABELS[number % 2] for number in range(count)]
        examples = [
            {"id": f"e{number}", "text": f"text {number}", "label": gold[number]} for number in range(count)
        ]
        if labelled:
            write_csv(tmp_path / "data.csv", examples[:labelled])
        if labelled < count:
            rows = [{"id": row["id"], "text": row["text"]} for row in examples[labelled:]]
            write_csv(tmp_path / "pool.csv", rows)
        specs = []
        for name, row in right.items():
            answers = []
            for number, is_right in enumerate(row):
                label = gold[number] if is_right else LABELS[(number + 1) % 2]
                sure = probabilities[name][number] if probabilities else None
                more = {} if sure is None else {word: sure if word == label else 1 - sure for word in LABELS}
                answers.append({"id": f"e{number}", "label": label, **more})
            write_csv(tmp_path / f"{name}.csv", answers)
            specs.append(f"predictions:{tmp_path / name}.csv")
        return specs

    return make


@pytest.fixture
def drawn() -> Callable[..., list[int]]:
    """Ones and zeros with given chances."""

    def make(rate: float, count: int, seed: int) -> list[int]:
        return [int(number < rate) for number in np.random.default_rng(seed).random(count)]

    return make
