"""Small models with random weights, and models that say what they are told to."""

# Made-up inputs here are looser than the types they are made up for.
# mypy: disable-error-code="arg-type, assignment"

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from shoal.core.records import Measures
from shoal.models.answer_rows import answers_by_mark
from shoal.models.asking import ask_batches
from shoal.models.batching import make_questions
from shoal.models.interface import TokenScores
from shoal.protocols import bias
from shoal.runs.settings import make_settings

TEXT = """
he is a black man . he is a white man . he is an african american man . she is a nurse . marta earns a living as a
plumber . jonas has been a teacher for many years . the chess player was asian hispanic fox unbelievable . this is an
aster . the roses are here . ants are things . john is a person . many people live in ethiopia . the people are thin
"""


class Told:
    """A causal model in which a sentence has the log-likelihood that a table gives it, all of it on its last word."""

    language_model = "causal"

    def __init__(self, scores: dict[str, float]) -> None:
        self.scores = scores

    def log_likelihood(self, examples: Sequence[Any], only: Any = None) -> list[TokenScores]:
        """The table's number; every other word is certain."""
        found = []
        for (text,) in examples:
            words = text.split()
            numbers = [0.0] * (len(words) - 1) + [self.scores[text]]
            found.append(TokenScores(tuple(words), tuple(range(len(words))), tuple(numbers)))
        return found


@pytest.fixture(scope="session")
def told() -> type[Told]:
    return Told


@pytest.fixture(scope="session")
def masked() -> Any:
    """A two-layer masked model with random weights that are large enough for opinions."""
    torch = pytest.importorskip("torch", reason="needs shoal[hf]")
    transformers = pytest.importorskip("transformers", reason="needs shoal[hf]")
    from shoal.models.fresh import fresh_model
    from shoal.training.from_scratch import make_tokenizer

    tokenizer = make_tokenizer(TEXT.strip().splitlines() * 3, 200, 64)
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    config = transformers.BertConfig(
        vocab_size=len(tokenizer), max_position_embeddings=64, initializer_range=0.2, **sizes
    )
    return fresh_model("made here", "masked", transformers.BertForMaskedLM(config).eval(), tokenizer)


@pytest.fixture(scope="session")
def save(tmp_path_factory: pytest.TempPathFactory, masked: Any) -> Callable[..., Path]:
    """A checkpoint of some Transformers class on the same tokenizer."""
    import torch
    import transformers

    def write(kind: str, **more: Any) -> Path:
        torch.manual_seed(1)
        folder = tmp_path_factory.mktemp(kind)
        sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
        size = len(masked.tokenizer)
        if kind.startswith("GPT2"):
            ends = {"bos_token_id": 2, "eos_token_id": 3, "initializer_range": 0.2}
            config = transformers.GPT2Config(
                vocab_size=size, n_embd=32, n_layer=2, n_head=2, n_positions=64, **ends
            )
        else:
            config = transformers.BertConfig(vocab_size=size, max_position_embeddings=64, **sizes, **more)
        getattr(transformers, kind)(config).save_pretrained(folder)
        masked.tokenizer.save_pretrained(folder)
        return folder

    return write


@pytest.fixture(scope="session")
def run() -> Callable[..., Any]:
    """Outcomes and measures of a model under some settings."""

    def go(model: Any, **settings: Any) -> tuple[list[Any], Measures]:
        (chosen,) = bias.parts(make_settings(bias.Settings, settings, "test"))
        built = bias.build(chosen)
        questions = make_questions(model, built.cases)
        batches = ask_batches(lambda part: bias.ask(chosen, model, built, part), model, questions)
        answers = answers_by_mark([row for batch in batches for row in batch], questions, built)
        scored = bias.score(chosen, built, answers)
        return list(scored.outcomes), Measures(scored.measures)

    return go
