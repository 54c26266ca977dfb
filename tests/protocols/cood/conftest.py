"""Toy data of three labels, and a way through all steps of the protocol."""

import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from shoal.models import load_model
from shoal.models.ask import batch_plan, questions_of
from shoal.protocols import cood
from shoal.records import Answer, Measures, Result

LABELS = ("positive", "negative", "neutral")


@pytest.fixture(autouse=True)
def planted(monkeypatch):
    """Specs such as python:planted_readers:perfect can be loaded."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    yield
    sys.modules.pop("planted_readers", None)


@pytest.fixture
def toy(tmp_path) -> Callable[..., str]:
    """A CSV file of so many texts of each label, such as "positive thing 7"."""

    def make(each: int = 40, labels: tuple[str, ...] = LABELS, name: str = "toy.csv") -> str:
        path = tmp_path / name
        rows = [f"{label} thing {number},{label}" for number in range(each) for label in labels]
        path.write_text("text,label\n" + "\n".join(rows) + "\n")
        return str(path)

    return make


@pytest.fixture
def settings(toy) -> Callable[..., cood.Settings]:
    """Small settings on toy data."""

    def make(**given: Any) -> cood.Settings:
        data = given.pop("data", None) or toy()
        usual: dict[str, Any] = {
            "per_label": (5,),
            "test_per_label": 12,
            "validation_per_label": 4,
            "resamples": 200,
        }
        (part,) = cood.parts(cood.Settings(data=data, **{**usual, **given}))
        return part

    return make


@pytest.fixture
def audited() -> Callable[..., Result]:
    """Build, ask, gather and score, as a run does; nothing is trained."""

    def audit(settings: cood.Settings, spec: str) -> Result:
        built, model = cood.build(settings), load_model(spec)
        questions = questions_of(model, built.cases)
        rows: list[Answer] = []
        for batch in batch_plan(model, questions):
            examples, ids = [questions.examples[at] for at in batch], [questions.ids[at] for at in batch]
            rows += cood.ask(settings, model, built, examples, ids)
        outcomes, measures = cood.score(settings, built.cases, cood.gather(settings, built, rows, questions))
        job = {"protocol": "cood", "model": spec, "settings": asdict(settings)}
        return Result(job, built.cases, outcomes, Measures(measures))

    return audit
