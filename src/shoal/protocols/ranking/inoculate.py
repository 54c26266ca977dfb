"""Train families of models from the same weights with different doses of the new domain.

    mixed     a share of the training examples is of the new domain (MSGS: 2 % L, 1 % S; PAWS: 2 %, `later`)
    steps     batches of new data alone at the end (HANS, PAWS)

(Singhal et al. 2023, appendix A, after Liu et al. 2019, "Inoculation by Fine-Tuning".) The models of a family differ in
accuracy on the new domain. Examples that models are ranked by are never trained on.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from ...core.errors import DataError, PlanError
from ...data.grammar import Row
from ...data.labelled import read_labelled
from ...models import load_model, parse_spec
from ...training.config import TrainConfig
from ...training.stage import Recipe, Stage, plain_stage
from .build import TRAINING_SIGNALS, build, check_labels, check_widths, checked_path, is_made, made_items
from .settings import Dose, Settings, Train

FROM_SCRATCH = "tiny:classifier"
TINY_RATE, PAPER_RATE = 5e-4, 1e-5


@dataclass(frozen=True, slots=True, eq=False)
class TrainingData:
    """Examples of both domains, without those that models are ranked by."""

    on: Sequence[Row]
    out: Mapping[str, Sequence[Row]]
    labels: tuple[str, ...]


def recipe(settings: Settings, model: str) -> Recipe | None:
    """Return the training of one model of the family; None if models are used as they are."""
    train = settings.train
    if train is None:
        return None
    scheme = parse_spec(model).scheme
    if scheme not in ("hf", "tiny"):
        raise PlanError(
            f"{model} cannot be trained",
            why="train needs weights and gradients",
            fix="hf:FOLDER or tiny:NAME, or leave train out",
        )
    if settings.classes:
        raise PlanError(
            "classes and train exclude each other",
            why="a model that is trained here has the labels of the examples",
            fix="leave classes out, and merge the labels in the training files",
        )
    if not train.on and model == FROM_SCRATCH:
        raise PlanError(f"{model} has no weights", fix="train.on = FILE, the data of the old domain")
    if not train.on and not any(train.doses[0].steps.values()):
        return None
    data = training_data(settings)
    config = train.plain(TINY_RATE if scheme == "tiny" else PAPER_RATE)
    stages = tuple(_stages(train, data, config, settings.seed))
    identity: dict[str, Any] = {"labels": list(data.labels)}
    if not train.on:
        own_head = partial(_with_own_head, model, data.labels)
        return Recipe(own_head, stages, {**identity, "head": "own"}, train.threads)
    if model != FROM_SCRATCH:
        return Recipe(partial(_with_head, model, data.labels), stages, identity, train.threads)
    identity |= {"text": _digest(data.on), "shape": "2 layers, 64 wide"}
    return Recipe(partial(_from_scratch, data), stages, identity, train.threads)


def _with_head(model: str, labels: tuple[str, ...], seed: int) -> Any:
    return load_model(model).with_fresh_head(labels, seed)


def _with_own_head(model: str, labels: tuple[str, ...], seed: int) -> Any:
    return load_model(model).with_own_head(labels)


def _from_scratch(data: TrainingData, seed: int) -> Any:
    """Return a very small model with a vocabulary from the old domain."""
    from ...training.from_scratch import fresh_classifier  # loads torch

    return fresh_classifier([text for row in data.on for text in row.texts], data.labels, seed)


# Stages


def _stages(train: Train, data: TrainingData, config: TrainConfig, seed: int) -> list[Stage]:
    (dose,) = train.doses
    has_mixture = any(dose.mixed.values())
    stages = []
    if train.on and (dose.later or not has_mixture):
        stages.append(_stage("none", mixture(train, Dose(), data, seed), data, config))
    if has_mixture:
        epochs = train.epochs if dose.epochs is None else dose.epochs
        mixed = mixture(train, dose, data, seed)
        stages.append(_stage(dose.title, mixed, data, config.plain(config.rate, epochs=epochs)))
    for name, steps in dose.steps.items():
        if steps:
            rows = data.out[name]
            epochs = steps / -(-len(rows) // train.batch)
            stages.append(_stage(dose.title, rows, data, config.plain(config.rate, epochs=epochs)))
    return stages


def _stage(title: str, rows: Sequence[Row], data: TrainingData, config: TrainConfig) -> Stage:
    identity = {"data": _digest(rows), "method": "vanilla", "config": asdict(config)}
    return plain_stage(title, identity, [(row.texts, row.label) for row in rows], data.labels, config)


def _digest(rows: Sequence[Row]) -> str:
    return hashlib.sha256(repr(list(rows)).encode()).hexdigest()[:16]


def mixture(train: Train, dose: Dose, data: TrainingData, seed: int) -> list[Row]:
    """Return examples of the old domain, some replaced by examples of the new one, in random order."""
    rng = np.random.default_rng([seed, 2])
    total = min(TRAINING_SIGNALS, len(data.on)) if is_made(train.on) else len(data.on)
    counts = {name: round(share * total) for name, share in dose.mixed.items()}
    parts = [(train.on, data.on, total - sum(counts.values()))]
    parts += [(train.out[name], data.out[name], count) for name, count in counts.items()]
    rows = []
    for name, known, count in parts:
        if count > len(known):
            raise DataError(
                f"{name}: {len(known):,} training examples, but the dose needs {count:,}",
                fix="a smaller share, or more examples",
            )
        rows += [known[position] for position in np.sort(rng.choice(len(known), count, replace=False))]
    return [rows[position] for position in rng.permutation(len(rows))]


# Examples


def training_data(settings: Settings) -> TrainingData:
    """Read the training examples that the settings name."""
    train = settings.train
    assert train is not None
    built = build(settings)
    ranked_by = frozenset(example for case in built.cases for example in case.examples)
    labels = built.labels or ()

    def read(name: str, number: int) -> list[Row]:
        if is_made(name):  # differs for every number
            rows = [Row(item.texts, item.label) for item in made_items(name, "train", number)]
        else:
            rows = list(read_labelled(checked_path(name), settings.text, settings.label).rows)
        check_labels(name, (row.label for row in rows), labels)
        kept = [row for row in rows if row.texts not in ranked_by]
        if not kept:
            raise DataError(f"{name}: models are ranked by every example", fix="other training examples")
        return kept

    on = read(train.on, 0) if train.on else []
    out = {name: read(file, number) for number, (name, file) in enumerate(train.out.items(), start=1)}
    check_widths([*ranked_by, *(rows[0].texts for rows in (on, *out.values()) if rows)])
    return TrainingData(on, out, labels)
