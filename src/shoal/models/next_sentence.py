"""Next-sentence probabilities from BERT's own head, if a checkpoint has it."""

from collections.abc import Sequence
from typing import Any

from ..core.records import Example
from .checkpoint import libraries

HEAD = "seq_relationship.weight"


def has_next_sentence_head(model: Any) -> bool:
    """Return whether a model's checkpoint has the weights of a next-sentence head, without loading it."""
    checkpoint = getattr(model, "checkpoint", None)
    if checkpoint is None or getattr(model, "trained", "classify") == "masked":
        return False
    return any(name.endswith(HEAD) for name in checkpoint.weight_names)


def follows(model: Any, examples: Sequence[Example]) -> list[float]:
    """Return P(the second text follows the first) for each pair: index 0 of BERT's head."""
    torch, _ = libraries()
    with torch.inference_mode():
        logits = model.network("next")(**model.encode(examples)).logits
    probabilities: list[float] = logits.double().softmax(dim=-1)[:, 0].cpu().tolist()
    return probabilities
