"""Collect the numbers of the study of SmolLM2 from a store: `python docs/studies/chat/collect.py runs/chat`."""

import csv
import sys
from pathlib import Path

from shoal.models import parse_spec
from shoal.runs.results import known_results

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
