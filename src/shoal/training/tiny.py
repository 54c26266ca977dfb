"""The small BERT-shaped models that ship with the package, trained on its own sentences.

    python -m shoal.training.tiny          rebuilds all of them; about three minutes on two cores

They need no download. They are nearly perfect on i.i.d. data and fail much of the suites, as intended. Weights are
stored in half precision and used in single precision.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from tokenizers import models, trainers
from torch import Tensor, nn
from transformers import BertForQuestionAnswering, BertForSequenceClassification, PreTrainedTokenizerFast

from ..data.grammar import Row, make_rows
from .batch import Batch
from .config import TrainConfig
from .from_scratch import SPECIALS, Shape, bare_tokenizer, bert_config, code_loss, for_transformers
from .loop import Learner, train_network
from .stage import Progress, silent

FOLDER = Path(__file__).parents[1] / "models" / "tiny"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Shape):
    """Size and training of one model."""

    rows: int
    epochs: int
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


def make_tokenizer(texts: Sequence[str], recipe: Recipe) -> PreTrainedTokenizerFast:
    """Return a lower-case word-piece tokenizer trained on these texts."""
    tokenizer = bare_tokenizer(models.WordPiece(unk_token="[UNK]"))
    trainer = trainers.WordPieceTrainer(vocab_size=recipe.vocabulary, special_tokens=SPECIALS)
    tokenizer.train_from_iterator(texts, trainer)
    return for_transformers(tokenizer, recipe.length)


def make_model(recipe: Recipe, tokenizer: PreTrainedTokenizerFast, seed: int) -> nn.Module:
    """Return the model with fresh weights."""
    torch.manual_seed(seed)
    config = bert_config(tokenizer, recipe, recipe.labels)
    return (BertForSequenceClassification if recipe.labels else BertForQuestionAnswering)(config)


def encode(
    rows: Sequence[Row], tokenizer: PreTrainedTokenizerFast, recipe: Recipe
) -> tuple[dict[str, Tensor], Tensor]:
    """Return network inputs for a batch of rows, and the targets: label codes, or first and last token."""
    first, *second = zip(*[row.texts for row in rows], strict=True)
    reading = not recipe.labels
    pair = [list(first), *map(list, second)]
    texts = pair[::-1] if reading else pair  # question first, then context
    batch = tokenizer(
        *texts, padding=True, truncation=True, return_tensors="pt", return_offsets_mapping=reading
    )
    if not reading:
        return {**batch}, torch.tensor([recipe.labels.index(row.label) for row in rows])
    offsets = batch.pop("offset_mapping")
    ends = []
    for at, row in enumerate(rows):
        assert row.start is not None
        inside = [
            token
            for token, (low, high) in enumerate(offsets[at].tolist())
            if batch.sequence_ids(at)[token] == 1 and low < row.start + len(row.label) and high > row.start
        ]
        ends.append((inside[0], inside[-1]) if inside else (0, 0))
    return {**batch}, torch.tensor(ends)


def logits_of(network: Any, inputs: dict[str, Tensor]) -> Tensor:
    """Return logits (rows, labels), or (rows, tokens, 2) for the start and end of an answer."""
    output = network(**inputs)
    logits: Tensor = (
        output.logits if "logits" in output else torch.stack([output.start_logits, output.end_logits], dim=-1)
    )
    return logits


@dataclass(frozen=True, slots=True)
class Rows:
    """Batches of rows, shuffled for each epoch."""

    rows: Sequence[Row]
    tokenizer: PreTrainedTokenizerFast
    recipe: Recipe
    rng: Generator

    @property
    def steps(self) -> int:
        return -(-len(self.rows) // self.recipe.batch)

    def epoch(self) -> Iterator[Sequence[Batch]]:
        order = self.rng.permutation(len(self.rows))
        for part in np.split(order, range(self.recipe.batch, len(order), self.recipe.batch)):
            inputs, wanted = encode([self.rows[at] for at in part], self.tokenizer, self.recipe)
            yield (Batch("iid", inputs, partial(code_loss, wanted)),)


def build(name: str, seed: int = 0, progress: Progress = silent) -> tuple[nn.Module, Any]:
    """Train one of the models from scratch."""
    recipe = RECIPES[name]
    rows = make_rows(name, "train", recipe.rows, seed)
    tokenizer = make_tokenizer([text for row in rows for text in row.texts], recipe)
    model = make_model(recipe, tokenizer, seed)
    feed = Rows(rows, tokenizer, recipe, np.random.default_rng(seed))
    settings = TrainConfig(recipe.learning_rate, recipe.batch, recipe.epochs, warm_up=0.1)
    train_network(Learner(model, partial(logits_of, model)), feed, settings, seed, progress)
    return model, tokenizer


def accuracy(name: str, model: nn.Module, tokenizer: PreTrainedTokenizerFast, seed: int = 0) -> float:
    """Return the accuracy on i.i.d. test rows; answers must match exactly."""
    recipe, right = RECIPES[name], 0
    rows = make_rows(name, "test", None, seed)
    with torch.inference_mode():
        for start in range(0, len(rows), 64):
            inputs, wanted = encode(rows[start : start + 64], tokenizer, recipe)
            same = logits_of(model, inputs).argmax(dim=1) == wanted
            right += int(same.reshape(len(same), -1).all(dim=1).sum())
    return right / len(rows)


def save(name: str, model: Any, tokenizer: PreTrainedTokenizerFast, score: float) -> Path:
    """Write a model as a Transformers folder, in half precision."""
    folder = FOLDER / name
    model.half().save_pretrained(folder)
    model.float()
    tokenizer.save_pretrained(folder)
    (folder / "about.json").write_text(
        json.dumps({"i.i.d. accuracy": round(score, 4), "made by": "python -m shoal.training.tiny"})
    )
    return folder


def main(names: Sequence[str]) -> None:
    """Build, measure and save."""
    for name in names or RECIPES:
        model, tokenizer = build(name, progress=_say)
        score = accuracy(name, model, tokenizer)
        folder = save(name, model, tokenizer, score)
        size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
        print(f"\r{name}: i.i.d. accuracy {score:.3f}, {size:.1f} MB")


def _say(step: str, done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{step} {done}/{total}", end="", file=sys.stderr)


if __name__ == "__main__":
    torch.set_num_threads(1)  # such small matrices gain nothing from a second core
    main(sys.argv[1:])
