"""Toy data of three labels, and a way through all steps of the protocol."""

import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shoal.core.records import Answers, Measures, Result
from shoal.protocols import cood
from shoal.protocols.cood.grid import LABELS as TARGETS
from shoal.protocols.cood.grid import target
from shoal.runs.results import audit as run_audit

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
        }
        (part,) = cood.parts(cood.Settings(data=data, **{**usual, **given}))
        return part

    return make


@pytest.fixture
def audited() -> Callable[..., Result]:
    """The result of a planted reader, or of stored predictions, on the one path of every job; nothing is trained."""

    def audit(settings: cood.Settings, spec: str) -> Result:
        return run_audit("cood", spec, **{**asdict(settings), "trained": True})

    return audit


@pytest.fixture
def scored() -> Callable[..., Result]:
    """The result of given answers, one list of them or one for each epoch."""

    def score(
        settings: cood.Settings, answers: Answers | dict[str, Answers], model: str = "hf:one"
    ) -> Result:
        built = cood.build(settings)
        given = {"": answers} if isinstance(answers, Answers) else answers
        rows = cood.score(settings, built, given)
        job = {"protocol": "cood", "model": model, "settings": asdict(settings), "about": dict(built.about)}
        return Result(
            job, built.cases, rows.outcomes, Measures(rows.measures), rows.columns, rows.findings, settings
        )

    return score


@pytest.fixture
def made(settings, scored) -> Callable[..., Result]:
    """The result of a job in which each cell is right with some probability; `noise` seeds which."""

    def make(rates: dict[str, float], noise: int = 0, **given: Any) -> Result:
        part = settings(**{"test_per_label": 20, **given})
        rng = np.random.default_rng(noise)
        answers = []
        for case in cood.build(part).cases:
            right = TARGETS.index(target(case.groups["cell"]))
            answers.append(right if rng.random() < rates[case.groups["kind"]] else 1 - right)
        return scored(part, Answers(TARGETS, np.array(answers)))  # type: ignore[no-any-return]

    return make
