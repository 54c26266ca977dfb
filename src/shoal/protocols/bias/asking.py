"""Asking language models about sentences: the log-probabilities of tokens, and what to do where something fails."""

from collections.abc import Callable, Sequence, Set
from typing import Any, Literal

from ...core.errors import ModelError
from ...core.records import Answer, Example
from ...models.asking import is_out_of_memory
from ...models.fresh import Untrained
from ...models.interface import LanguageModel, TokenScores
from ...models.likelihood import with_begin

Say = Callable[[Sequence[Example]], Sequence[Any]]


def answers(kind: Literal["tokens", "vector"], say: Say, examples: Sequence[Example]) -> list[Answer]:
    """What `say` gives for each example, as it is kept; where it raises for one, that one is an error."""
    return [Answer("", kind, data, error) for data, error in _safely(say, examples)]


def _safely(say: Say, examples: Sequence[Example]) -> list[tuple[Any, str]]:
    """All at once; by halves if that takes too much memory, one by one if it fails otherwise."""
    try:
        return [(None, data.reason) if isinstance(data, Failed) else (data, "") for data in say(examples)]
    except ModelError:
        raise  # about the model, not about an example
    except Exception as problem:
        if len(examples) == 1:
            return [(None, f"{type(problem).__name__}: {problem}")]
        size = (len(examples) + 1) // 2 if is_out_of_memory(problem) else 1
    parts = [examples[start : start + size] for start in range(0, len(examples), size)]
    return [row for part in parts for row in _safely(say, part)]


class Failed:
    """In the place of an answer: why there is none."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


def that_fit(model: Any, examples: Sequence[Example], inputs: Sequence[Example], say: Say) -> list[Any]:
    """What `say` gives for the examples whose inputs are not too long for the model; Failed for the others."""
    rows: list[Any] = [
        Failed(f"{length:,} tokens; the model takes {model.longest:,}") if length > model.longest else None
        for length in model.lengths(inputs)
    ]
    whole = [at for at, row in enumerate(rows) if row is None]
    for at, row in zip(whole, say([examples[at] for at in whole]) if whole else (), strict=True):
        rows[at] = row
    return rows


def check_language_model(model: Any) -> None:
    """Stop at a model that cannot say how likely a text is."""
    if isinstance(model, Untrained):
        raise model.refuse()
    if not isinstance(model, LanguageModel):
        raise ModelError(
            f"{model!r} cannot be asked how likely a text is",
            fix="hf:MODEL with a masked or causal language model, or predictions:FILE with stored scores",
        )


def likelihoods(model: Any, texts: Sequence[str], only: Sequence[Set[int]] | None = None) -> list[Any]:
    """Every token of each text with its log-probability, None for those that only frame it.

    {"lm": "masked", "tokens": ["[CLS]", "he", "[SEP]"], "scores": [null, -1.2, null]}

    `only` says for each text at which of its tokens; the others have None then.
    """
    return scored(model, texts, [0] * len(texts), only)


def continuations(model: Any, pairs: Sequence[Example]) -> list[Any]:
    """The same for the second text of each pair, given the first: both are one text to the model."""
    return scored(model, [" ".join(pair) for pair in pairs], [len(pair[0]) for pair in pairs])


def scored(
    model: Any, texts: Sequence[str], starts: Sequence[int], only: Sequence[Set[int]] | None = None
) -> list[Any]:
    """Tokens and log-probabilities of what stands behind these letters; Failed for a text that is too long."""
    kind = getattr(model, "language_model", "causal")
    if not hasattr(model, "tokenizer"):
        found = model.log_likelihood([(text,) for text in texts])
        return [_row(kind, list(one.tokens), one, range(len(one.tokens))) for one in found]
    encoded = model.tokenizer(
        list(texts), return_special_tokens_mask=True, return_offsets_mapping=any(starts), verbose=False
    )
    lengths = [
        len(with_begin(model.tokenizer, ids) if kind == "causal" else ids) for ids in encoded["input_ids"]
    ]
    rows: list[Any] = [
        Failed(f"{length:,} tokens; the model takes {model.longest:,}") if length > model.longest else None
        for length in lengths
    ]
    whole = [at for at, row in enumerate(rows) if row is None]
    wanted = {at: _places(encoded, at, starts[at]) for at in whole}
    if only is not None:
        wanted = {at: [place for place in places if place in only[at]] for at, places in wanted.items()}
    given = [(texts[at],) for at in whole], [wanted[at] for at in whole]
    found = model.log_likelihood(*given) if whole else []
    for at, one in zip(whole, found, strict=True):
        tokens = model.tokenizer.convert_ids_to_tokens(encoded["input_ids"][at])
        rows[at] = _row(kind, tokens, one, one.positions)
    return rows


def _places(encoded: Any, at: int, start: int) -> list[int]:
    """Positions of a text's own tokens behind a letter."""
    special = encoded["special_tokens_mask"][at]
    if not start:
        return [place for place, is_special in enumerate(special) if not is_special]
    ends = [end for _, end in encoded["offset_mapping"][at]]
    return [place for place, end in enumerate(ends) if end > start and not special[place]]


def _row(kind: str, tokens: list[str], one: TokenScores, positions: Sequence[int]) -> dict[str, Any]:
    scores: list[float | None] = [None] * len(tokens)
    for place, score in zip(positions, one.scores, strict=True):
        scores[place] = round(score, 9)
    return {"lm": kind, "tokens": tokens, "scores": scores}


def log_probabilities(data: Any) -> list[float]:
    """Those of a row that were asked for."""
    return [score for score in data["scores"] if score is not None]
