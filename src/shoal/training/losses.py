"""What a batch loses, each equation in one place (BELUGA, section 4; `docs/method/beluga.md` 1.4).

All take logits, never probabilities: (cases, labels). Each gives the mean over the cases of a batch.

    cross_entropy       MFT and i.i.d.; the paper's
    independent_sigmoids   the same as BELUGA's code has it for sentiment
    invariance          INV, eq. 5, and its variants
    direction           DIR, eq. 6, and a margin on log-odds that still has a gradient where eq. 6 has none
    spans               MFT and i.i.d. of reading: where an answer starts and ends
    aligned_spans       INV of reading: the same over the tokens that two texts share

Those of reading take (cases, tokens, 2): how well an answer would start, and end, at each token.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 (everyone's name for it)

LOG_ODDS_MARGIN = 0.2
"""How far to the right side of no change the margin loss wants the log-odds (`docs/method/beyond.md` 7.8)."""


# MFT and i.i.d.


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """-(1/n) Σ_i Σ_k y_ik log p_ik, with soft labels y."""
    return -(targets * logits.log_softmax(dim=-1)).sum(dim=-1).mean()


def independent_sigmoids(logits: Tensor, targets: Tensor) -> Tensor:
    """Each logit by itself a yes or no: (1/Kn) Σ_i Σ_k [-y_ik log σ(z_ik) - (1-y_ik) log(1-σ(z_ik))]."""
    return F.binary_cross_entropy_with_logits(logits, targets)


def entropy(chances: Tensor) -> Tensor:
    """-(1/n) Σ_i Σ_k y_ik log y_ik: what cross-entropy with soft labels cannot get below."""
    return -torch.xlogy(chances, chances).sum(dim=-1).mean()


def entropy_of_each(chances: Tensor) -> Tensor:
    """The same of independent sigmoids: the mean entropy of each label as a yes or no."""
    return -(torch.xlogy(chances, chances) + torch.xlogy(1 - chances, 1 - chances)).mean()


# INV


def invariance(original: Tensor, variant: Tensor) -> Tensor:
    """-(1/n) Σ_i Σ_k p0_ik log p1_ik (BELUGA, eq. 5), with gradients through both sides.

    Its least value for a given p0 is the entropy of p0: it rewards confidence, and is nil only for one-hot answers.
    """
    return cross_entropy(variant, original.softmax(dim=-1))


def invariance_to_a_fixed_original(original: Tensor, variant: Tensor) -> Tensor:
    """Eq. 5 with the original's answer taken as given."""
    return invariance(original.detach(), variant)


def divergence(original: Tensor, variant: Tensor) -> Tensor:
    """KL(p0 || p1): eq. 5 without the entropy of p0, so that alike is enough and confidence earns nothing."""
    before, after = original.log_softmax(dim=-1), variant.log_softmax(dim=-1)
    return (before.exp() * (before - after)).sum(dim=-1).mean()


def symmetric_divergence(original: Tensor, variant: Tensor) -> Tensor:
    """½ KL(p0 || p1) + ½ KL(p1 || p0)."""
    return (divergence(original, variant) + divergence(variant, original)) / 2


def jensen_shannon(original: Tensor, variant: Tensor) -> Tensor:
    """½ KL(p0 || m) + ½ KL(p1 || m), m the mean of the two."""
    middle = ((original.softmax(dim=-1) + variant.softmax(dim=-1)) / 2).log()
    return (divergence(original, middle) + divergence(variant, middle)) / 2


# DIR


def directional_error(original: Tensor, variant: Tensor, directions: Sequence[str]) -> Tensor:
    """ε in [0, 1]: how far each probability moved the wrong way (BELUGA, section 4.1)."""
    column, sign = _wrong_way(original, directions)
    before, after = original.softmax(dim=-1), variant.softmax(dim=-1)
    return (sign * (after - before).gather(1, column).squeeze(1)).clamp(0, 1)


def direction(original: Tensor, variant: Tensor, directions: Sequence[str]) -> Tensor:
    """-(1/n) Σ_i log(1 - ε_i) (BELUGA, eq. 6); the logarithm is not let below -100."""
    error = directional_error(original, variant, directions)
    return F.binary_cross_entropy(error, torch.zeros_like(error))


def direction_margin(original: Tensor, variant: Tensor, directions: Sequence[str]) -> Tensor:
    """max(0, δ + m), δ the change of log-odds the wrong way (`docs/method/beyond.md` 7.8): also when confident."""
    column, sign = _wrong_way(original, directions)
    change = sign * (_log_odds(variant, column) - _log_odds(original, column))
    return (change + LOG_ODDS_MARGIN).clamp(min=0).mean()


def _wrong_way(original: Tensor, directions: Sequence[str]) -> tuple[Tensor, Tensor]:
    """For each case the label whose probability is watched, and whether a rise (1) or a fall (-1) is wrong."""
    top, last = original.argmax(dim=-1), original.shape[-1] - 1
    fixed = {"not_less_2": 0, "not_less_0": last}
    watched = [fixed.get(name, -1) for name in directions]
    signs = [-1.0 if name == "not_less_conf" else 1.0 for name in directions]
    column = torch.tensor(watched, device=top.device)
    return torch.where(column < 0, top, column)[:, None], torch.tensor(signs).to(original)


def _log_odds(logits: Tensor, column: Tensor) -> Tensor:
    """log p_c - log(1 - p_c), from the logits so that nothing is lost near 0 and 1."""
    others = logits.scatter(1, column, float("-inf")).logsumexp(dim=1)
    return logits.gather(1, column).squeeze(1) - others


# Reading

NOWHERE = -1e4
"""The logit of a token that does not take part; its probability is 0 and its logarithm finite."""


def spans(logits: Tensor, wanted: Tensor, real: Tensor) -> Tensor:
    """-½ log Σ_j p_start(s_j) - ½ log Σ_j p_end(e_j) over the occurrences j of the answer.

    `wanted` says for each token whether some occurrence starts, and ends, there; `real` which tokens are no padding.
    """
    every = logits.masked_fill(~real[..., None], NOWHERE).logsumexp(dim=1)
    right = logits.masked_fill(~wanted, NOWHERE).logsumexp(dim=1)
    return (every - right).mean()


def aligned_spans(original: Tensor, variant: Tensor, real: Tensor) -> Tensor:
    """½ Σ over start and end of -Σ_t p0_t log p1_t, for each case: softmax over the aligned tokens t only.

    Both are logits at the aligned tokens, in the same order; `real` says how many of them a case has. With gradients
    through both sides, as in eq. 5.
    """
    before, after = (side.masked_fill(~real[..., None], NOWHERE) for side in (original, variant))
    return -(before.softmax(dim=1) * after.log_softmax(dim=1)).sum(dim=1).mean(dim=1)


LABEL_LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "softmax": cross_entropy,
    "sigmoid": independent_sigmoids,
}
LABEL_FLOORS: dict[str, Callable[[Tensor], Tensor]] = {"softmax": entropy, "sigmoid": entropy_of_each}
INVARIANCE_LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "paper": invariance,
    "stop_grad_original": invariance_to_a_fixed_original,
    "kl": divergence,
    "symmetric_kl": symmetric_divergence,
    "js": jensen_shannon,
}
WITH_ENTROPY = ("paper", "stop_grad_original")
"""Invariance losses that cannot get below the entropy of the original's answer."""
DIRECTION_LOSSES: dict[str, Callable[[Tensor, Tensor, Sequence[str]], Tensor]] = {
    "paper": direction,
    "margin": direction_margin,
}
