"""Models whose fault is known go through the verb; honest ones go through it in peace."""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import shoal
from shoal.cli import main
from shoal.core.records import Example
from shoal.data.grammar import make_rows
from shoal.protocols.behaviour.build import load_suite

PLANTED = """
def first_words(pairs):
    return [" ".join(context.split()[:2]) for context, question in pairs]

def nobody(pairs):
    return ["nobody" for pair in pairs]

def negative(texts):
    return [{"negative": 0.9, "positive": 0.1} for text in texts]

def mostly_negative(texts):
    return [{"negative": 0.1, "positive": 0.9} if len(text) % 19 == 0 else {"negative": 0.9, "positive": 0.1}
            for text in texts]
"""
FAULTS = {"degenerate", "untrained", "forgotten", "saturated"}


@pytest.mark.parametrize(
    ("name", "task", "words"),
    [
        ("first_words", "reading", "how the context begins"),
        ("nobody", "reading", "'nobody'"),
        ("negative", "sentiment", "the same label: negative"),
        ("mostly_negative", "sentiment", "says negative to 9"),
    ],
)
def test_a_planted_fault_is_told_by_the_verb(tmp_path, monkeypatch, name, task, words):
    (tmp_path / "planted_models.py").write_text(PLANTED)
    monkeypatch.chdir(tmp_path)
    asked = [
        "try",
        "behaviour",
        f"python:planted_models:{name}",
        "--set",
        f"suite={task}",
        "--set",
        f"iid={task}",
    ]
    found = CliRunner().invoke(main, [*asked, "--limit", "150", "--json"])
    assert found.exit_code == 0, found.output
    every = json.loads(found.stdout)["findings"]
    told = [row for row in every if row["kind"] == "degenerate"]
    assert told and words in told[0]["text"], told
    if name == "negative":  # whatever else is wrong is said beside it, and the same thing once
        assert len(told) == 1 and "untrained" in {row["kind"] for row in every}


@cache
def right_answers(task: str) -> dict[Example, str]:
    """What is right of every example that has an answer; a variant has its original's."""
    right = {row.texts: row.label for row in make_rows(task, "test")}
    for case in load_suite(task).cases:
        labels = case.labels or (right.get(case.examples[0]),) * len(case.examples)
        right |= {text: str(label) for text, label in zip(case.examples, labels, strict=True) if label}
    return right


def honest(task: str, seed: int) -> Callable[[Sequence[Any]], list[Any]]:
    """A model that errs, as often in one way as in the other, and is never too sure to get surer."""
    right, rng = right_answers(task), np.random.default_rng(seed)
    accuracy = rng.uniform(0.65, 0.98)

    def label(text: str) -> dict[str, float]:
        truth = right.get((text,), "neutral")
        positive = (
            rng.random() < 0.5 if truth == "neutral" else (truth == "positive") == (rng.random() < accuracy)
        )
        sure = rng.uniform(0.6, 0.85)
        return {"positive": sure if positive else 1 - sure, "negative": 1 - sure if positive else sure}

    def answer(pair: tuple[str, str]) -> str:
        words = pair[0].split()
        return right.get(pair, words[-1]) if rng.random() < accuracy else str(rng.choice(words))

    return lambda texts: [answer(text) if task == "reading" else label(text) for text in texts]


def alarms(task: str, seeds: int) -> Iterator[str]:
    for seed in range(seeds):
        result = shoal.audit("behaviour", honest(task, seed), suite=task, iid=task, limit=200, seed=seed)
        yield from (finding.kind for finding in result.findings if finding.kind in FAULTS)


@pytest.mark.parametrize("task", ["sentiment", "reading"])
def test_honest_models_are_left_in_peace(task):
    """None of twenty seeds raises an alarm (simulated answers: test_signs.py)."""
    assert list(alarms(task, 20)) == []
