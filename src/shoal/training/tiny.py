"""The small BERT-shaped models that ship with the package, trained on its own sentences.

    python -m shoal.training.tiny          rebuilds all of them; about three minutes on two cores

They need no download. They are nearly perfect on i.i.d. data and fail much of the suites, as intended. Weights are
stored in half precision and used in single precision.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import torch
from transformers import BertForQuestionAnswering, BertForSequenceClassification

from ..data.grammar import Row, make_rows
from ..models.fresh import fresh_model
from ..models.hf import HFModel
from .config import TrainConfig
from .environments import Answered, Environment, Labelled
from .from_scratch import Shape, bert_config, make_tokenizer
from .loop import train
from .methods import Vanilla
from .stage import Progress, silent

FOLDER = Path(__file__).parents[1] / "models" / "tiny"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Shape):
    """Size and training of one model."""

    rows: int
    epochs: float
    labels: tuple[str, ...] = ()
    """Labels of a classifier; a model without labels extracts answers."""
    vocabulary: int = 1500
    length: int = 96
    learning_rate: float = 5e-4
    batch: int = 32


RECIPES = {
    "sentiment": Recipe(rows=3000, epochs=4, labels=("negative", "positive")),
    "paraphrase": Recipe(rows=8000, epochs=8, labels=("different", "duplicate")),
    "reading": Recipe(rows=6000, epochs=10),
    "nli": Recipe(rows=6000, epochs=8, labels=("entailment", "neutral", "contradiction"), length=64),
}


def build(recipe: Recipe, rows: Sequence[Row], seed: int = 0, progress: Progress = silent) -> HFModel:
    """Train a model on these rows from scratch."""
    texts = [text for row in rows for text in row.texts]
    tokenizer = make_tokenizer(texts, recipe.vocabulary, recipe.length)
    torch.manual_seed(seed)
    kind = BertForSequenceClassification if recipe.labels else BertForQuestionAnswering
    network = kind(bert_config(tokenizer, recipe, recipe.labels))
    model = fresh_model("tiny", "classify" if recipe.labels else "extract", network, tokenizer)
    data = Environment("iid", "iid", [_item(row, recipe.labels) for row in rows])
    settings = TrainConfig(recipe.learning_rate, recipe.batch, recipe.epochs, warm_up=0.1)
    train(model, [data], Vanilla(), settings, seed, progress)
    return model


def _item(row: Row, labels: Sequence[str]) -> Answered | Labelled:
    if labels:
        return Labelled(row.texts, tuple(float(row.label == label) for label in labels))
    assert row.start is not None
    return Answered(row.texts, ((row.start, row.start + len(row.label)),))


def accuracy(model: HFModel, rows: Sequence[Row], labels: Sequence[str]) -> float:
    """Return the share of rows that a model gets right; answers must match exactly."""
    examples = [row.texts for row in rows]
    if not labels:
        given: Sequence[str] = model.extract(examples).texts
    else:
        answers = model.classify(examples, labels)
        given = [answers.labels[code] for code in answers.predictions.tolist()]
    return fmean(answer == row.label for answer, row in zip(given, rows, strict=True))


def main(names: Sequence[str]) -> None:
    """Build and measure models, and write them as Transformers folders in half precision."""
    for name in names or RECIPES:
        recipe, folder = RECIPES[name], FOLDER / name
        model = build(recipe, make_rows(name, "train", recipe.rows, 0))
        score = accuracy(model, make_rows(name, "test", None, 0), recipe.labels)
        model.network(model.trained).half().save_pretrained(folder)
        model.tokenizer.save_pretrained(folder)
        about = {"i.i.d. accuracy": round(score, 4), "made by": "python -m shoal.training.tiny"}
        (folder / "about.json").write_text(json.dumps(about))
        print(f"{name}: i.i.d. accuracy {score:.3f}")


if __name__ == "__main__":
    torch.set_num_threads(1)  # such small matrices gain nothing from a second core
    main(sys.argv[1:])
