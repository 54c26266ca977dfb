"""Callables that plans in these tests name as python:models_for_tests:…"""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

Model = Callable[[list[str]], list[list[float]]]


def of_no_and_yes(model: Model) -> Model:
    """The model, with the names of its columns."""
    vars(model)["classes_"] = ("no", "yes")
    return model


@of_no_and_yes
def plain(texts: list[str]) -> list[list[float]]:
    """Probabilities from a text's first number."""
    return [[round(1 - p, 6), p] for p in ((sum(map(ord, text)) % 1000) / 1000 for text in texts)]


@of_no_and_yes
def slow(texts: list[str]) -> list[list[float]]:
    """As plain, after a while; every batch is written down. With a place to meet, nobody goes on alone."""
    with open(os.environ["SHOAL_TEST_LOG"], "a") as log:  # noqa: PTH123
        log.write(json.dumps([os.getpid(), [text[:12] for text in texts]]) + "\n")
    if "SHOAL_TEST_MEETING" in os.environ and len(texts) == 4:
        meet(Path(os.environ["SHOAL_TEST_MEETING"]))
    time.sleep(float(os.environ.get("SHOAL_TEST_SLEEP", "0.008")))
    return plain(texts)


def meet(place: Path) -> None:
    """Wait until two processes have been here."""
    (place / str(os.getpid())).touch()
    while len(list(place.iterdir())) < 2:
        time.sleep(0.01)


other = plain
slow_a = slow_b = slow_c = slow_d = slow_e = slow


def wrong(texts: list[str]) -> list[str]:
    """A model that answers with nonsense."""
    return ["purple"] * len(texts)
