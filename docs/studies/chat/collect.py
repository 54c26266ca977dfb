"""Collect the numbers of the study of SmolLM2 from a store: `python docs/studies/chat/collect.py runs/chat`."""

from pathlib import Path

HERE = Path(__file__).parent
KEPT = {
    "suite score": (),
    "pass rate": (),
    "accuracy": ("category", "context"),
    "bias score": ("category", "context"),
    "stereotype score": ("category",),
    "neutral share": (),
    "position share": ("position",),
}
