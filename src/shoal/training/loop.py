"""The one training loop: batches in, a trained model out.

AdamW without weight decay, linear decay to nothing, gradients clipped at norm 1 (`protocols/01-beluga.md` 1.6).
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

LossOf = Callable[[nn.Module, Any], Tensor]
"""What a batch loses under a model."""


def train(
    model: nn.Module,
    epochs: int,
    batches: Callable[[int], Iterable[Any]],
    steps_per_epoch: int,
    loss_of: LossOf,
    *,
    learning_rate: float,
    warm_up: float = 0.0,
    progress: Callable[[str, int, int], None] = lambda step, done, total: None,
) -> float:
    """Train for some epochs; `batches(epoch)` gives that epoch's. Returns the mean loss of the last one."""
    total = epochs * steps_per_epoch
    optimiser = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.0)
    rising = max(1, int(warm_up * total))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min((step + 1) / rising, max(0.0, (total - step) / max(1, total - rising)))
    )
    model.train()
    done, recent = 0, 0.0
    for epoch in range(epochs):
        losses = []
        for batch in batches(epoch):
            loss = loss_of(model, batch)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            losses.append(loss.item())
            done += 1
            progress("training", done, total)
        recent = sum(losses) / len(losses)
    model.eval()
    return recent
