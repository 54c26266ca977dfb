"""Models that are made here: the same weights, trained with different doses of the new domain.

    mixed     a share of the training examples is of the new domain (MSGS: 2 % L, 1 % S; PAWS: 2 %, `later`)
    steps     batches of nothing else at the end (HANS, PAWS)

(Singhal et al. 2023, appendix A, after Liu et al. 2019, "Inoculation by Fine-Tuning".) So there is a family of models
whose accuracy in the new domain is known and differs. What models are ranked by is never trained on: such examples
are left out, and counted.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import DataError, PlanError, nearest, some
from ...core.files import is_file
from ...data.grammar import GRAMMARS, make_rows
from ...data.grammar.rows import Row
from ...data.labelled import read_labelled
from ...data.signals import make_signals, named_signals, signal_names
from ...models import load_model, parse_spec
from ...training.config import How
from ...training.environments import Environment, Labelled
from ...training.stage import Mark, Progress, Recipe, Stage
from .build import OURS, build
from .settings import Dose, Settings, Train

FROM_NOTHING = "tiny:classifier"
TINY_RATE, PAPER_RATE = 5e-4, 1e-5
MADE = 3_000
"""How many examples are made where nobody says."""


def recipe(settings: Settings, model: str) -> Recipe | None:
    """The training of one model of the family; None where models are asked as they are."""
    train = settings.train
    if train is None:
        return None
    if parse_spec(model).scheme not in ("hf", "tiny"):
        raise PlanError(
            f"{model} cannot be trained",
            why="train needs weights and gradients",
            fix="hf:FOLDER or tiny:NAME; without train the model is asked as it is",
        )
    if settings.classes:
        raise PlanError(
            "classes puts a model's own labels together; a model that is trained here has those of the examples",
            fix="leave classes out, and put the labels together in the files that are trained on",
        )
    lessons = lessons_of(settings)
    stages = tuple(_stages(train, lessons, rate_of(train, model), settings.seed))
    identity: dict[str, Any] = {"labels": list(lessons.labels)}
    if model != FROM_NOTHING:
        return Recipe(partial(_with_head, model, lessons.labels), stages, identity, train.threads)
    identity |= {"text": _digest(lessons.on), "shape": "2 layers, 64 wide"}
    return Recipe(partial(_from_nothing, lessons), stages, identity, train.threads)


def rate_of(train: Train, model: str) -> float:
    """The learning rate: very small models need a larger one to move at all."""
    usual = TINY_RATE if parse_spec(model).scheme == "tiny" else PAPER_RATE
    return usual if train.learning_rate is None else train.learning_rate


def _with_head(model: str, labels: tuple[str, ...], seed: int) -> Any:
    return load_model(model).with_fresh_head(labels, seed)


def _from_nothing(lessons: "Lessons", seed: int) -> Any:
    """A very small model that knows the words of the old domain."""
    from ...training.classifier import fresh_classifier  # loads torch

    return fresh_classifier([text for row in lessons.on for text in row.texts], lessons.labels, seed)


# Stages


def _stages(train: Train, lessons: "Lessons", rate: float, seed: int) -> list[Stage]:
    (dose,) = train.doses
    has_mixture = any(dose.mixed.values())
    stages = []
    if dose.later or not has_mixture:
        rows = _mixture(train, Dose(), lessons, seed)
        stages.append(_stage("none", rows, lessons, _how(train, rate, train.epochs)))
    if has_mixture:
        epochs = train.epochs if dose.epochs is None else dose.epochs
        rows = _mixture(train, dose, lessons, seed)
        stages.append(_stage(dose.title, rows, lessons, _how(train, rate, epochs)))
    for name, count in dose.steps.items():
        if count:
            epochs = count / -(-len(lessons.out[name]) // train.batch)
            stages.append(_stage(dose.title, lessons.out[name], lessons, _how(train, rate, epochs)))
    return stages


def _how(train: Train, rate: float, epochs: float) -> How:
    return How(rate, train.batch, epochs, train.weight_decay, train.warm_up)


def _stage(title: str, rows: Sequence[Row], lessons: "Lessons", how: How) -> Stage:
    targets = {label: tuple(float(label == name) for name in lessons.labels) for label in lessons.labels}
    environment = Environment("train", "iid", [Labelled(row.texts, targets[row.label]) for row in rows])

    def run(model: Any, seed: int, progress: Progress, mark: Mark) -> list[str]:
        from ...training.loop import train as train_model  # loads torch
        from ...training.methods import make_method

        train_model(model, [environment], make_method("vanilla", {}), how, seed, progress, mark)
        return list(lessons.notes)

    return Stage(
        title=title,
        identity={"data": _digest(rows), "method": "vanilla", "how": asdict(how)},
        steps=how.steps(environment.batches(how.batch)),
        train=run,
    )


def _digest(rows: Sequence[Row]) -> str:
    return hashlib.sha256(repr(list(rows)).encode()).hexdigest()[:16]


def _mixture(train: Train, dose: Dose, lessons: "Lessons", seed: int) -> list[Row]:
    """Examples of the old domain, some of them replaced by others of the new one, in random order."""
    rng = np.random.default_rng([seed, 2])
    total = train.rows or min(MADE if is_made(train.on) else len(lessons.on), len(lessons.on))
    counts = {name: round(share * total) for name, share in dose.mixed.items()}
    parts = [(train.on, lessons.on, total - sum(counts.values()))]
    parts += [(train.out[name], lessons.out[name], count) for name, count in counts.items()]
    rows = []
    for name, known, count in parts:
        if count > len(known):
            raise DataError(
                f"{name}: {len(known):,} examples to train on, {count:,} are wanted",
                fix="a lower train.rows, or a smaller share",
            )
        rows += [known[place] for place in np.sort(rng.choice(len(known), count, replace=False))]
    return [rows[place] for place in rng.permutation(len(rows))]


# Examples


@dataclass(frozen=True, slots=True, eq=False)
class Lessons:
    """What there is to train on, without what models are ranked by."""

    on: Sequence[Row]
    out: Mapping[str, Sequence[Row]]
    labels: tuple[str, ...]
    notes: tuple[str, ...]


def lessons_of(settings: Settings) -> Lessons:
    """The examples that the settings name."""
    train = settings.train
    assert train is not None
    built = build(settings)
    asked = frozenset(example for case in built.cases for example in case.examples)
    labels = built.labels or ()
    wanted = max(train.rows, MADE)
    notes: list[str] = []

    def read(name: str, number: int) -> list[Row]:
        rows = _rows(name, wanted, number, settings.text, settings.label, _stamp(name))
        _check_labels(name, rows, labels)
        kept = [row for row in rows if row.texts not in asked]
        if len(kept) < len(rows) and not is_made(name):
            notes.append(
                f"{len(rows) - len(kept):,} of {len(rows):,} examples of {name} are among those that models are "
                "ranked by: not trained on"
            )
        if not kept:
            raise DataError(
                f"{name}: every example is among those that models are ranked by", fix="other examples"
            )
        return kept

    on = read(train.on, 0)
    out = {name: read(data, number) for number, (name, data) in enumerate(train.out.items(), start=1)}
    widths = {len(example) for rows in (on, *out.values()) for example in (row.texts for row in rows[:1])}
    if widths != {len(example) for example in asked}:
        raise DataError(
            "single texts and pairs in one training",
            why="what is trained on and what models are ranked by hold different kinds of examples",
            fix='text = ["COLUMN"], or text = ["COLUMN", "COLUMN"], for all',
        )
    return Lessons(on, out, labels, tuple(notes))


def is_made(name: str) -> bool:
    """Whether as many examples as are wanted can be made."""
    return name in OURS and not is_file(Path(name))


def _stamp(name: str) -> tuple[int, int]:
    path = Path(name)
    return (path.stat().st_mtime_ns, path.stat().st_size) if is_file(path) else (0, 0)


@lru_cache(maxsize=16)
def _rows(
    name: str, count: int, number: int, texts: tuple[str, ...], label: str, _read_at: tuple[int, int]
) -> tuple[Row, ...]:
    """The rows of a file; or so many that are made, other ones for every number and than those that are asked."""
    if name in signal_names():
        signals = make_signals(*named_signals(name), count, np.random.default_rng([0, 2, number]))
        return tuple(Row((signal.text,), signal.label) for signal in signals)
    if is_made(name):
        return tuple(make_rows(name, "train", max(count, GRAMMARS[name]["train"])))
    if not is_file(Path(name)):
        raise DataError(
            f"{name!r}: no such file",
            why=f"train names a file, or data that ship with shoal: {', '.join(OURS)}",
            fix=nearest(name, OURS) or "check the name",
        )
    return tuple(read_labelled(Path(name), texts, label).rows)


def _check_labels(name: str, rows: Sequence[Row], labels: Sequence[str]) -> None:
    strange = sorted({row.label for row in rows} - {*labels})
    if strange:
        raise DataError(
            f"{name}: label {strange[0]!r} is none of {some(labels, 12)}",
            why="what is trained on and what models are ranked by must have the same labels",
            fix=nearest(strange[0], labels) or f"labels = [{', '.join(map(repr, [*labels, *strange]))}]",
        )
