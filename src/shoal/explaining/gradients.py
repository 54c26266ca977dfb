"""Integrated gradients on token embeddings (Sundararajan et al. 2017, "Axiomatic Attribution for Deep Networks").

The path starts at the mask's embedding for every token, or at zero if the model has no mask. The integral is a midpoint
sum over equal steps. A word's value is the sum over its tokens.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import ModelError
from ..models.checkpoint import libraries
from ..models.forward import length_batches, narrowed, padded, run_parallel, tokens_per_batch
from .attributions import Attribution, ExplainConfig, Values, explained_columns
from .copies import Copies, TokenCopies

if TYPE_CHECKING:
    from torch import Tensor

STEPS = 300


def attribute(
    copies: Copies, config: ExplainConfig, rngs: Sequence[np.random.Generator]
) -> list[Attribution]:
    """Return the integrated gradient of each unit of each example; it is deterministic."""
    if not isinstance(copies, TokenCopies):
        raise ModelError(
            "gradients need a Transformers classifier",
            why="shoal cannot differentiate this model",
            fix="--method lime or --method shapley",
        )
    ends = _ends(copies)
    intact = copies.ask([np.ones((1, len(units)), np.bool_) for units in copies.units])
    targets = [explained_columns(copies.labels, answers[0], config) for answers in intact]
    columns = [[copies.network_columns[column] for column in chosen] for _, chosen in targets]
    steps = config.samples or STEPS
    values, outputs = _integrate(copies, ends, columns, steps)
    return [
        Attribution(
            units,
            np.bincount(unit_of, weights, len(units) + 1)[: len(units)].astype(np.float64),
            label,
            last,
            first,
            dict(zip(copies.labels, answers[0].tolist(), strict=True)),
            True,
            {"absent": "zero" if copies.mask is None else "mask", "samples": steps},
        )
        for units, unit_of, weights, (label, _), (first, last), answers in zip(
            copies.units, copies.unit_of, values, targets, outputs, intact, strict=True
        )
    ]


def _ends(copies: TokenCopies) -> "list[tuple[Tensor, Tensor]]":
    """Return the start and the end of each path, (tokens, width) both; tokens that are always present stay."""
    torch, _ = libraries()
    table = copies.model.network("classify").get_input_embeddings()
    lines = []
    with torch.no_grad():
        for pieces, unit_of, units in zip(copies.pieces, copies.unit_of, copies.units, strict=True):
            last = table(torch.from_numpy(pieces.ids).to(copies.model.device))
            nothing = torch.zeros_like(last)
            if copies.mask is not None:
                nothing = table(torch.full_like(torch.from_numpy(pieces.ids), copies.mask).to(last.device))
            moves = torch.from_numpy(unit_of < len(units)).to(last.device)[:, None]
            lines.append((torch.where(moves, nothing, last), last))
    return lines


def _integrate(
    copies: TokenCopies,
    ends: "Sequence[tuple[Tensor, Tensor]]",
    columns: Sequence[Sequence[int]],
    steps: int,
) -> tuple[list[Values], list[tuple[float, float]]]:
    """Return the value of each token of each example, and the outputs at both ends of its path."""
    torch, _ = libraries()
    network, pad = copies.model.network("classify"), copies.model.tokenizer.pad_token_id
    places = [(number, (step + 0.5) / steps) for number in range(len(ends)) for step in range(steps)]
    sides = [(number, side) for number in range(len(ends)) for side in (0.0, 1.0)]
    points = [*places, *sides]
    gradients = [np.zeros((steps, len(pieces.ids))) for pieces in copies.pieces]
    outputs = np.zeros(len(sides))
    stack = torch.nn.utils.rnn.pad_sequence

    def look(part: list[int]) -> None:
        rows = [copies.pieces[points[at][0]] for at in part]
        inputs: dict[str, Any] = padded(rows, pad, network.device)
        inputs.pop("input_ids")
        reaches = torch.tensor([points[at][1] for at in part], device=network.device)[:, None, None]
        first = stack([ends[points[at][0]][0] for at in part], batch_first=True)
        last = stack([ends[points[at][0]][1] for at in part], batch_first=True)
        line = last - first
        here = (first + reaches * line).requires_grad_()
        chosen = _chosen(
            network(inputs_embeds=here, **inputs).logits.float(), [columns[points[at][0]] for at in part]
        )
        (slope,) = torch.autograd.grad(chosen.sum(), here)
        shares = (slope * line).sum(dim=-1).double().cpu().numpy()
        for row, at in enumerate(part):
            number = points[at][0]
            if at < len(places):
                gradients[number][at - number * steps] = shares[row, : gradients[number].shape[1]]
            else:
                outputs[at - len(places)] = chosen[row].item()

    lengths = [len(copies.pieces[number].ids) for number, _ in points]
    with narrowed(network):
        run_parallel(network, look, list(length_batches(lengths, tokens_per_batch(network))))
    pairs = outputs.reshape(-1, 2).tolist()
    return [table.mean(axis=0) for table in gradients], [(first, last) for first, last in pairs]


def _chosen(logits: "Tensor", columns: Sequence[Sequence[int]]) -> "Tensor":
    """Return the explained probability of each row."""
    torch, _ = libraries()
    wanted = torch.zeros_like(logits)
    for row, numbers in enumerate(columns):
        wanted[row, list(numbers)] = 1.0
    chosen: Tensor = (logits.softmax(dim=-1) * wanted).sum(dim=-1)
    return chosen
