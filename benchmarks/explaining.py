"""How fast texts are explained: MiniLM, fp32, beside lime, shap and captum, in one run.

    pip install ".[hf,bench]" && python benchmarks/explaining.py [--sentences 3] [--samples 1000]

The encoder gets a linear head with fixed random weights: speed does not depend on the labels. Every way explains the
same sentences of some 21 words with the same number of copies or steps; they take turns, in three rounds. Peers are set
as their documentation says: lime with all words as features, shap with batches of 32, captum with batches of 32 steps.
`sorted` feeds a peer by a function that predicts each distinct text once, sorted by length: what a user can gain
without shoal.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from asking import checkpoint_with_head
from speed import record

from shoal import load_model
from shoal.explaining import explain
from shoal.explaining.attributions import ExplainConfig

SENTENCES = [
    "The second half of the film drags badly, although nobody who liked the book will mind it as much as I did.",
    "We waited for nearly an hour at the counter before a tired clerk told us that our room had been given away.",
    "Her new album is louder, stranger and far better than anything that she has recorded since leaving the old band.",
    "My phone arrived with a scratched screen, and the shop has not answered any of the three letters that I sent.",
    "The soup was cold, the bread was stale and the waiter laughed when we asked him for a glass of water.",
]
sys.path.pop(
    0
)  # numba, which shap imports, would take coverage.py in this folder for the package of that name
Explain = Callable[[str], object]
Classify = Callable[[Sequence[str]], np.ndarray[Any, np.dtype[np.float64]]]
ROUNDS = 3
SHAP_SAMPLES, STEPS = 500, 50
"""What shap and captum take where nobody says otherwise."""


def plain(folder: Path) -> Classify:
    """Probabilities in batches of 32, as most people write it."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    network: Any = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)

    def classify(texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float64]]:
        rows = []
        with torch.inference_mode():
            for start in range(0, len(texts), 32):
                part = [str(text) for text in texts[start : start + 32]]
                batch = tokenizer(part, padding=True, truncation=True, return_tensors="pt")
                rows.append(network(**batch).logits.softmax(dim=-1).double().numpy())
        return np.concatenate(rows)

    return classify


def careful(folder: Path) -> Classify:
    """The same, each distinct text once and texts of like length together."""
    ask = plain(folder)

    def classify(texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float64]]:
        distinct = sorted({str(text) for text in texts}, key=len)
        place = {text: number for number, text in enumerate(distinct)}
        return ask(distinct)[[place[str(text)] for text in texts]]

    return classify


def with_shoal(folder: Path, method: str, **how: Any) -> Explain:
    """As `shoal explain` does it."""
    model = load_model(f"hf:{folder}")
    return lambda text: explain(model, [(text,)], method, ExplainConfig(**how))


def with_lime(classify: Classify, samples: int, **settings: Any) -> Explain:
    """As the lime package's documentation does it."""
    from lime.lime_text import LimeTextExplainer

    explainer = LimeTextExplainer(class_names=["negative", "positive"], random_state=0, **settings)
    return lambda text: explainer.explain_instance(
        text, classify, labels=(0,), num_features=30, num_samples=samples
    )


def with_shap(folder: Path, classify: Classify | None) -> Explain:
    """As the shap package's documentation does it: a pipeline, or a function and the tokenizer for a masker."""
    import shap
    from transformers import AutoTokenizer, pipeline

    if classify is None:
        whole: Any = pipeline("text-classification", str(folder), device="cpu", top_k=None)
        explainer = shap.Explainer(whole, seed=0)
        return lambda text: explainer([text], silent=True)
    masker = shap.maskers.Text(AutoTokenizer.from_pretrained(folder))
    explainer = shap.Explainer(classify, masker, seed=0)
    return lambda text: explainer([text], max_evals=SHAP_SAMPLES, batch_size=32, silent=True)


def shap_ways(folder: Path) -> dict[str, Explain]:
    """shap masks stretches of words and puts masks in a row into one: neither words left out nor words masked."""
    return {
        "shap.Explainer(pipeline)": with_shap(folder, None),
        "shap, plain function": with_shap(folder, plain(folder)),
        "shap, sorted": with_shap(folder, careful(folder)),
    }


def with_captum(folder: Path, steps: int) -> Explain:
    """As captum's tutorial on BERT does it: integrated gradients of the layer of embeddings, from masks."""
    import torch
    from captum.attr import LayerIntegratedGradients
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    network: Any = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)

    def probability(ids: Any, mask: Any) -> Any:
        return network(input_ids=ids, attention_mask=mask).logits.softmax(dim=-1)

    integral = LayerIntegratedGradients(probability, network.get_input_embeddings())

    def explain_text(text: str) -> object:
        batch = tokenizer(text, return_tensors="pt")
        ids = batch["input_ids"]
        start = torch.full_like(ids, tokenizer.mask_token_id)
        start[:, 0], start[:, -1] = ids[:, 0], ids[:, -1]
        values = integral.attribute(
            ids, start, target=0, additional_forward_args=(batch["attention_mask"],),
            n_steps=steps, internal_batch_size=32,
        )  # fmt: skip
        return values.sum(dim=-1)

    return explain_text


def ways(folder: Path, samples: int) -> dict[str, Callable[[], dict[str, Explain]]]:
    """Method to what makes its ways; the first is ours."""
    mask = {"mask_string": "[MASK]", "bow": False}
    return {
        f"LIME, {samples:,} copies, words masked": lambda: {
            "shoal": with_shoal(folder, "lime", samples=samples),
            "lime, plain function": with_lime(plain(folder), samples, **mask),
            "lime, sorted": with_lime(careful(folder), samples, **mask),
        },
        f"Shapley values, {SHAP_SAMPLES} copies, words masked": lambda: {
            "shoal": with_shoal(folder, "shapley", samples=SHAP_SAMPLES),
            **shap_ways(folder),
        },
        f"Integrated gradients, {STEPS} steps": lambda: {
            "shoal": with_shoal(folder, "gradients", samples=STEPS),
            "captum": with_captum(folder, STEPS),
        },
    }


def measure(explainers: dict[str, Explain], sentences: Sequence[str]) -> dict[str, list[float]]:
    """Seconds of each way on all sentences in each round, after one sentence that does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in explainers}
    for name in explainers:
        explainers[name](SENTENCES[-1])
    for number in range(ROUNDS):
        names = list(explainers)
        for name in names if number % 2 else names[::-1]:
            start = time.perf_counter()
            for sentence in sentences:
                explainers[name](sentence)
            seconds[name].append(time.perf_counter() - start)
    return seconds


def main() -> None:
    """Measure and record the rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sentences", type=int, default=3)
    parser.add_argument("--samples", type=int, default=1_000)
    options = parser.parse_args()
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    versions = ", ".join(f"{name} {version(name)}" for name in ("torch", "lime", "shap", "captum"))
    with tempfile.TemporaryDirectory() as place:
        folder = checkpoint_with_head(Path(place))
        for method, make in ways(folder, options.samples).items():
            seconds = measure(make(), SENTENCES[: options.sentences])
            for name, times in seconds.items():
                if name != "shoal":
                    work = f"{method}, {options.sentences} sentences, MiniLM"
                    record("explaining", work, seconds["shoal"], name, times, versions=versions)


if __name__ == "__main__":
    main()
