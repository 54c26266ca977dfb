"""The losses, each equation in one place (BELUGA, section 4; `docs/method/beluga.md` 1.4).

All take logits (cases, labels), never probabilities, and return the mean over the cases of a batch.

    cross_entropy          MFT and i.i.d., as in the paper
    independent_sigmoids   the same as in BELUGA's code for sentiment
    invariance             INV, eq. 5
    direction              DIR, eq. 6
    spans                  MFT and i.i.d. of reading: where an answer starts and ends
    aligned_spans          INV of reading: the same over the tokens that two texts share

Those of reading take (cases, tokens, 2): logits for an answer to start, and to end, at each token.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 (everyone's name for it)

from .batch import to_device

# MFT and i.i.d.


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Return -(1/n) Σ_i Σ_k y_ik log p_ik, with soft labels y."""
    return -(targets * logits.log_softmax(dim=-1)).sum(dim=-1).mean()


def independent_sigmoids(logits: Tensor, targets: Tensor) -> Tensor:
    """Return (1/Kn) Σ_i Σ_k [-y_ik log σ(z_ik) - (1-y_ik) log(1-σ(z_ik))]: each label by itself."""
    return F.binary_cross_entropy_with_logits(logits, targets)


def entropy(chances: Tensor) -> Tensor:
    """Return -(1/n) Σ_i Σ_k y_ik log y_ik, the lower bound of cross-entropy with soft labels."""
    return -torch.xlogy(chances, chances).sum(dim=-1).mean()


# INV


def invariance(original: Tensor, variant: Tensor) -> Tensor:
    """Return -(1/n) Σ_i Σ_k p0_ik log p1_ik (BELUGA, eq. 5), with gradients through both sides.

    Its minimum for a given p0 is the entropy of p0, so it rewards confidence and is 0 only for one-hot answers.
    """
    return cross_entropy(variant, original.softmax(dim=-1))


# DIR


def directional_error(original: Tensor, variant: Tensor, directions: Sequence[str]) -> Tensor:
    """Return ε in [0, 1]: how far each probability moved the wrong way (BELUGA, section 4.1)."""
    column, sign = _wrong_way(original, directions)
    before, after = original.softmax(dim=-1), variant.softmax(dim=-1)
    return (sign * (after - before).gather(1, column).squeeze(1)).clamp(0, 1)


def direction(original: Tensor, variant: Tensor, directions: Sequence[str]) -> Tensor:
    """Return -(1/n) Σ_i log(1 - ε_i) (BELUGA, eq. 6); the logarithm is clamped at -100."""
    error = directional_error(original, variant, directions)
    return F.binary_cross_entropy(error, torch.zeros_like(error))


def _wrong_way(original: Tensor, directions: Sequence[str]) -> tuple[Tensor, Tensor]:
    """Return for each case the label to watch, and whether a rise (1) or a fall (-1) is wrong."""
    top, last = original.argmax(dim=-1), original.shape[-1] - 1
    fixed = {"not_less_2": 0, "not_less_0": last}
    watched = [fixed.get(name, -1) for name in directions]
    signs = [-1.0 if name == "not_less_conf" else 1.0 for name in directions]
    column = to_device(torch.tensor(watched), top.device)
    sign = to_device(torch.tensor(signs, dtype=original.dtype), original.device)
    return torch.where(column < 0, top, column)[:, None], sign


# Reading

NOWHERE = -1e4
"""The logit of an excluded token: probability 0, finite logarithm."""


def spans(logits: Tensor, wanted: Tensor, real: Tensor) -> Tensor:
    """Return -½ log Σ_j p_start(s_j) - ½ log Σ_j p_end(e_j) over the occurrences j of the answer.

    `wanted` marks the tokens where an occurrence starts, and ends; `real` the tokens that are not padding.
    """
    every = logits.masked_fill(~real[..., None], NOWHERE).logsumexp(dim=1)
    right = logits.masked_fill(~wanted, NOWHERE).logsumexp(dim=1)
    return (every - right).mean()


def aligned_spans(original: Tensor, variant: Tensor, real: Tensor) -> Tensor:
    """Return ½ Σ over start and end of -Σ_t p0_t log p1_t for each case, with softmax over the aligned tokens t.

    Both are logits at the aligned tokens, in the same order; `real` marks those that a case has. Gradients flow
    through both sides, as in eq. 5.
    """
    before, after = (side.masked_fill(~real[..., None], NOWHERE) for side in (original, variant))
    return -(before.softmax(dim=1) * after.log_softmax(dim=1)).sum(dim=1).mean(dim=1)


LABEL_LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "softmax": cross_entropy,
    "sigmoid": independent_sigmoids,
}
