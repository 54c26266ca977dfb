"""Code of the user's runs inside bounds: it neither prints into results, nor ends the process, nor hangs for ever."""

import threading
import time

import pytest

from shoal import load_model
from shoal.core.errors import ModelError
from shoal.models.asking import classify_safely

LABELS = ("no", "yes")
TEXTS = [("a",), ("b",)]


def test_a_model_that_hangs_is_left_behind_and_not_asked_again(module):
    go_on, asked = threading.Event(), []

    def hangs(texts):
        asked.append(len(texts))
        go_on.wait(60)
        return ["yes" for _ in texts]

    module.hangs = hangs
    model = load_model("python:answering:hangs?timeout=0.2")
    start = time.monotonic()
    for attempt in range(3):
        with pytest.raises(ModelError, match=r"no answer within 0.2 seconds[\s\S]*a larger timeout="):
            classify_safely(model, TEXTS, LABELS)
        if attempt == 1:
            go_on.set()  # what it says now, it says to a question of long ago
    assert asked == [2] and time.monotonic() - start < 30
