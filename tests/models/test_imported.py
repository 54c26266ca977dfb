"""Any callable as a model: every form of answer, the suite's label order, and errors that take no other with them."""

import sys
import types

import numpy as np
import pytest
from asking import answer_batches, ask_cases

from shoal import case, load_model
from shoal.errors import ModelError
from shoal.models.ask import batches, classify_safely, distinct, gather

LABELS = ("negative", "neutral", "positive")
TEXTS = [("good",), ("bad",), ("so so",)]
RIGHT = {"good": 2, "bad": 0, "so so": 1}


def vector(text: str) -> list[float]:
    return [float(code == RIGHT[text]) for code in range(3)]


class Sklearn:
    """Its classes are in an order of its own."""

    classes_ = np.array(["positive", "negative", "neutral"])

    def predict_proba(self, texts):
        return np.array([[p[2], p[0], p[1]] for p in map(vector, texts)])


class Pipeline:
    """A Transformers pipeline, as far as we look."""

    task, tokenizer = "text-classification", None

    def predict(self, texts):
        raise AssertionError("gives the best label only")

    def __call__(self, texts, top_k):
        assert top_k is None
        return [[{"label": LABELS[i], "score": vector(t)[i]} for i in (1, 2, 0)] for t in texts]


class Predicts:
    def predict(self, texts):
        return np.array([LABELS[RIGHT[t]] for t in texts])


MODELS = {
    "lists": lambda texts: [vector(t) for t in texts],
    "array": lambda texts: np.array([vector(t) for t in texts]),
    "pair_vectors": lambda texts: ([RIGHT[t] for t in texts], np.array([vector(t) for t in texts])),
    "pair_scalars": lambda texts: ([LABELS[RIGHT[t]] for t in texts], [0.9 for t in texts]),
    "top_one": lambda texts: [{"label": LABELS[RIGHT[t]], "score": 0.9} for t in texts],
    "all_scores": lambda texts: [
        [{"label": n, "score": p} for n, p in zip(LABELS, vector(t), strict=True)] for t in texts
    ],
    "names": lambda texts: [LABELS[RIGHT[t]] for t in texts],
    "numbers": lambda texts: [RIGHT[t] for t in texts],
    "sklearn": Sklearn(),
    "pipeline": Pipeline(),
    "predicts": Predicts(),
}
BAD = {
    "too_few": (lambda texts: [vector(t) for t in texts][1:], "gave 2 answers to 3 examples"),
    "unknown": (lambda texts: ["purple"] * len(texts), "answers 'purple', which is not one of"),
    "one_number": (lambda texts: [0.5] * len(texts), "one number per example"),
    "sums": (lambda texts: [[0.5, 0.5, 0.5]] * len(texts), "are no probabilities"),
    "width": (lambda texts: [[0.25] * 4] * len(texts), "gives 4 probabilities"),
    "foreign": (lambda texts: [[{"label": "LABEL_0", "score": 1.0}, {"label": "LABEL_1", "score": 0.0}]] * len(texts),
                r"LABEL_0, LABEL_1[\s\S]*\?labels="),
    "object": (3, "can neither be called nor"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def module(monkeypatch, tmp_path):
    made = types.ModuleType("answering")
    vars(made).update(MODELS | {name: model for name, (model, _) in BAD.items()})
    (tmp_path / "answering.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "answering", made)
    made.__spec__ = types.SimpleNamespace(origin=str(tmp_path / "answering.py"), name="answering")  # type: ignore[assignment]
    return made


@pytest.mark.parametrize("name", MODELS)
def test_every_form_of_answer_is_understood(name):
    answers = load_model(f"python:answering:{name}").classify(TEXTS, LABELS)
    assert [answers.labels[code] for code in answers.predictions] == ["positive", "negative", "neutral"]
    if answers.probabilities is not None:
        assert answers.labels == LABELS and answers.probabilities.tolist() == [vector(t) for (t,) in TEXTS]


@pytest.mark.parametrize("name", BAD)
def test_answers_that_cannot_be_are_refused(name):
    with pytest.raises(ModelError, match=BAD[name][1]):
        load_model(f"python:answering:{name}").classify(TEXTS, LABELS)


def test_the_order_of_nameless_probabilities_can_be_told(module):
    module.turned = lambda texts: [vector(t)[::-1] for t in texts]
    answers = load_model("python:answering:turned?labels=positive,neutral,negative").classify(TEXTS, LABELS)
    assert answers.predictions.tolist() == [2, 0, 1]


def test_two_probabilities_are_the_ends_of_three_labels(module):
    module.two = lambda texts: [[0.2, 0.8]] * len(texts)
    assert load_model("python:answering:two").classify(TEXTS, LABELS).labels == ("negative", "positive")


def test_names_may_be_written_differently(module):
    module.shouted = lambda texts: [
        [{"label": "POS", "score": vector(t)[2]}, {"label": "NEGATIVE", "score": 1 - vector(t)[2]}]
        for t in texts
    ]
    answers = load_model("python:answering:shouted").classify(TEXTS, LABELS)
    assert answers.labels == ("negative", "positive") and answers.predictions.tolist() == [1, 0, 0]
    module.words = lambda texts: ["POSITIVE"] * len(texts)
    assert load_model("python:answering:words").classify(TEXTS, LABELS).predictions.tolist() == [2, 2, 2]


def test_pairs_come_as_tuples(module):
    seen = []
    module.pairs = lambda pairs: [seen.append(pair) or 0 for pair in pairs]  # type: ignore[func-returns-value]
    load_model("python:answering:pairs").classify([("a", "b")], ("no", "yes"))
    assert seen == [("a", "b")]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("python:no_such_thing:f", "no module 'no_such_thing'"),
        ("python:answering", "no object named"),
        ("python:answering:lists?lables=a", "unknown option 'lables'"),
        ("python:answering:listz", r"has no 'listz'[\s\S]*try: \"lists\""),
    ],
)
def test_a_spec_that_names_nothing_is_refused(spec, message):
    with pytest.raises(ModelError, match=message):
        load_model(spec).classify(TEXTS, LABELS)


def test_an_example_on_which_the_model_raises_is_an_error_and_the_others_are_answered(module):
    def moody(texts):
        if any(t == "bad" for t in texts):
            raise RuntimeError("no")
        return [vector(t) for t in texts]

    module.moody = moody
    answers = classify_safely(load_model("python:answering:moody"), TEXTS, LABELS)
    assert answers.errors == {1: "RuntimeError: no"}
    assert answers.predictions.tolist()[::2] == [2, 1]


def test_identical_examples_are_asked_once(module):
    asked = []
    module.counted = lambda texts: [vector(asked.append(t) or t) for t in texts]  # type: ignore[func-returns-value]
    cases = [case(text) for (text,) in TEXTS * 2]
    answers = ask_cases(load_model("python:answering:counted"), cases, cases, LABELS)
    assert sorted(asked) == ["bad", "good", "so so"]
    assert answers.predictions.tolist() == [2, 0, 1, 2, 0, 1]


def test_batches_are_alike_in_length_bounded_and_complete():
    examples = [("x" * n,) for n in [5, 40_000, 7, 300] + [20] * 200]
    planned = batches(examples)
    assert sorted(at for batch in planned for at in batch) == list(range(len(examples)))
    assert planned[0] == [1] and all(len(batch) <= 64 for batch in planned)
    lengths = [len(examples[at][0]) for batch in planned for at in batch]
    assert lengths == sorted(lengths, reverse=True)


def test_the_order_of_cases_and_the_batch_do_not_change_an_answer(module):
    cases = [case(text) for (text,) in TEXTS * 3]
    for order in (cases, cases[::-1]):
        questions = distinct(order)
        rows = [
            row
            for batch in answer_batches(load_model("python:answering:lists"), questions, order, LABELS)
            for row in batch
        ]
        answers = gather(rows, questions, LABELS)
        assert answers.predictions.tolist() == [RIGHT[one.examples[0][0]] for one in order]
