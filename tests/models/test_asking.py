"""Asking well: no answer depends on batch, order or padding; memory runs out politely; what was cut is counted."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from asking import ask_cases

from shoal import load_model
from shoal.core.records import Answers, Case
from shoal.models import asking, batching
from shoal.models.asking import classify_safely
from shoal.protocols.behaviour.score import caveats_note

LABELS = ("negative", "neutral", "positive")
TEXT = "the film meal was is not very good bad great awful and but i think it so , . !"
ADAPTERS = ["hf three", "hf decoder", "tiny", "function", "pipeline"]


def vectors(answers):
    """The probabilities, which must be there."""
    assert answers.probabilities is not None
    return answers.probabilities


def cases_of(texts, **meta):
    return [Case(str(number), ((*text,),), meta=meta) for number, text in enumerate(texts)]


def some_texts(count, longest=40, seed=0):
    rng = np.random.default_rng(seed)
    words = TEXT.split()
    return [(" ".join(rng.choice(words, rng.integers(1, longest))),) for _ in range(count)]


@pytest.fixture
def adapter(request, module):
    """A model behind each adapter."""
    name = request.param
    if name == "function":
        module.model = lambda texts: [
            [0.6, 0.1, 0.3] if "bad" in text else [0.05, 0.05, 0.9] for text in texts
        ]
        return load_model(f"python:answering:model?labels={','.join(LABELS)}")
    pytest.importorskip("torch", reason="needs shoal[hf]")
    if name == "tiny":
        return load_model("tiny:sentiment")
    folders = request.getfixturevalue("folders")
    if name == "pipeline":
        from transformers import pipeline

        module.model = pipeline("text-classification", str(folders["classifier"]), truncation=True)
        return load_model("python:answering:model")
    return load_model(f"hf:{folders[name.removeprefix('hf ')]}")


@pytest.mark.slow
@pytest.mark.parametrize("adapter", ADAPTERS, indirect=True)
def test_answers_depend_on_neither_batch_nor_order_nor_padding(adapter, monkeypatch):
    cases = cases_of(some_texts(40))
    usual = ask_cases(adapter, cases, cases, LABELS)
    assert len(set(usual.predictions.tolist())) > 1, "a model that always says the same tests nothing"
    shuffled = np.random.default_rng(0).permutation(len(cases))
    turned = [cases[at] for at in shuffled]
    runs = {"order": (turned, ask_cases(adapter, turned, turned, LABELS))}
    for size in (1, 7, 32):
        monkeypatch.setattr(batching, "BATCH", size)
        runs[f"batches of {size}"] = (cases, ask_cases(adapter, cases, cases, LABELS))
    company = asking.stack([adapter.classify([*case.examples, ("very " * 40,)], LABELS) for case in cases])
    rows = np.arange(0, 2 * len(cases), 2)
    runs["padding"] = (
        cases,
        replace(company, predictions=company.predictions[rows], probabilities=vectors(company)[rows]),
    )
    places = {case.id: at for at, case in enumerate(cases)}
    for what, (asked, answers) in runs.items():
        order = [places[case.id] for case in asked]
        assert answers.labels == usual.labels
        assert answers.predictions.tolist() == usual.predictions[order].tolist(), what
        assert np.abs(vectors(answers) - vectors(usual)[order]).max() < 1e-5, what


class Small:
    """Takes a few examples at once and no more; says so as torch, CUDA or Python would."""

    def __init__(self, room, problem):
        self.room, self.problem, self.asked = room, problem, []

    def classify(self, examples, labels):
        self.asked.append(len(examples))
        if len(examples) > self.room:
            raise self.problem
        vectors = np.array([[len(text) % 7 / 7, 1 - len(text) % 7 / 7] for (text,) in examples])
        return Answers(("no", "yes"), vectors.argmax(axis=1), vectors)


class OutOfMemoryError(RuntimeError):
    """As torch names it."""


@pytest.mark.parametrize(
    "problem",
    [
        OutOfMemoryError("CUDA"),
        RuntimeError(
            "[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory: you tried ..."
        ),
    ],
)
def test_a_batch_that_does_not_fit_is_halved_until_it_does(problem):
    texts = [("x" * n,) for n in range(1, 33)]
    small, large = Small(5, problem), Small(100, problem)
    answers = classify_safely(small, texts, ("no", "yes"))
    assert not answers.errors and small.asked[:4] == [32, 16, 8, 4]
    assert vectors(answers).tolist() == large.classify(texts, None).probabilities.tolist()
    assert max(size for size in small.asked if size <= 5) == 4


def test_batches_on_a_gpu_are_as_large_as_its_memory_allows(folders, monkeypatch):
    import torch

    memory = SimpleNamespace(total_memory=16 * 2**30)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: memory)
    questions = batching.distinct(cases_of(some_texts(3_000)))
    model = load_model(f"hf:{folders['classifier']}")
    assert max(map(len, batching.batch_plan(model, questions))) == 64
    model = load_model(f"hf:{folders['classifier']}")
    vars(model)["device"] = "cuda"
    assert len(batching.batch_plan(model, questions)) == 1


def test_what_was_cut_is_counted_and_said(folders):
    cases = cases_of([("good " * 100,), ("bad " * 60,), ("fine",), ("good " * 100,)])
    answers = ask_cases(load_model(f"hf:{folders['classifier']}"), cases, cases, LABELS)
    assert answers.facts == {"cut": 2, "asked": 3, "cut by": 54}
    assert caveats_note(answers.facts) == ("2 of 3 distinct examples were truncated, by up to 54 tokens")
    short = cases_of([("good",)])
    assert ask_cases(load_model(f"hf:{folders['classifier']}"), short, short, LABELS).facts == {}
