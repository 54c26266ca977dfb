"""Whatever a model gives: numbers that are none are errors, numbers that are not probabilities are refused."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from shoal.core.errors import ModelError
from shoal.core.records import Answers, Case
from shoal.models.answer_rows import answers_by_mark
from shoal.models.asking import answer_batch, classify_safely
from shoal.models.batching import distinct
from shoal.models.selfcheck import self_check
from shoal.models.validate import NOT_FINITE

LABELS = ("negative", "neutral", "positive")
FOUR = [("a",), ("b",), ("c",), ("d",)]
GOOD = [0.1, 0.2, 0.7]


class Gives:
    """Answers with the same columns, cut to as many examples as it is asked."""

    def __init__(self, labels=LABELS, predictions=None, probabilities=None, confidences=None, **more):
        self.labels, self.more = labels, more
        self.vectors = None if probabilities is None else np.array(probabilities, np.float64)
        self.confidences = None if confidences is None else np.array(confidences, np.float64)
        if predictions is None:
            predictions = (
                np.zeros(4, int) if self.vectors is None else np.nan_to_num(self.vectors).argmax(axis=-1)
            )
        self.codes = np.array(predictions)

    def __repr__(self):
        return "the model"

    def classify(self, examples, labels):
        return Answers(self.labels, self.codes, self.vectors, self.confidences, **self.more)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_number_that_is_not_finite_makes_an_error_and_no_label(bad):
    row = [GOOD[0], bad, GOOD[2]]
    answers = classify_safely(Gives(probabilities=[GOOD, row, GOOD, GOOD]), FOUR, LABELS)
    assert answers.errors == {1: NOT_FINITE}
    assert answers.probabilities is not None and np.isnan(answers.probabilities[1]).all()
    assert answers.predictions.tolist() == [2, 0, 2, 2]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"probabilities": [[2.0, -1.5, 0.5]] * 4}, r"not probabilities: 2.0, -1.5, 0.5[\s\S]*try: .*softmax"),
        ({"probabilities": [GOOD, [0.5, 0.5, 0.5], GOOD, GOOD]}, r"they sum to 1.5, not to 1[\s\S]*try: "),
        ({"confidences": [0.5, -3.2, 0.5, 0.5]}, r"the confidence -3.2[\s\S]*from 0.333 to 1[\s\S]*try: "),
        ({"probabilities": [GOOD] * 4, "predictions": [2, 0, 2, 2]}, r"predicts negative, but.*positive 0.7"),
        ({"probabilities": [GOOD] * 3, "predictions": [2] * 4}, r"3 x 3 probabilities to 4 examples[\s\S]*try: "),
        ({"predictions": [0, 1, 2, 3]}, r"label number 3[\s\S]*the 3 labels are"),
        ({"predictions": [0] * 4, "labels": ("negative", "purple")}, r"answers negative, purple; the suite's labels"),
        ({"predictions": [0] * 4, "labels": ("negative", "negative")}, "a name occurs twice"),
    ],
)  # fmt: skip
def test_what_no_model_can_mean_is_refused_with_a_remedy(given, message):
    with pytest.raises(ModelError, match=message) as caught:
        classify_safely(Gives(**given), FOUR, LABELS)
    assert "the model" in str(caught.value) and "  try: " in str(caught.value)


def test_what_is_right_stays_as_it_is():
    exact = Gives(probabilities=[GOOD, [1, 0, 0], [1 / 3] * 3, [0.2, 0.5, 0.3]])
    answers = classify_safely(exact, FOUR, LABELS)
    assert answers.errors == {} and answers.predictions.tolist() == [2, 0, 0, 1]
    assert answers.probabilities is not None and exact.vectors is not None
    assert np.array_equal(answers.probabilities, exact.vectors)
    half = np.array([GOOD] * 4, np.float16).astype(np.float64)
    assert not classify_safely(Gives(probabilities=half), FOUR, LABELS).errors
    tie = Gives(probabilities=[[0.4, 0.2, 0.4]] * 4, predictions=[2, 0, 2, 0])
    assert classify_safely(tie, FOUR, LABELS).predictions.tolist() == [2, 0, 2, 0]


NUMBERED = [
    Case("f/0", (("bad film",),), (0,)),
    Case("f/1", (("good film",),), (1,)),
    Case("f/2", (("dull",),), (0,)),
]


class Words:
    def __init__(self, *names):
        self.names = names

    def __repr__(self):
        return "the model"

    def classify(self, examples, labels):
        codes = np.array([int("good" in text) for (text,) in examples])
        return Answers(self.names, codes, np.eye(2)[codes])


def built(cases=NUMBERED):
    return SimpleNamespace(cases=cases, whole=cases, labels=None, asks="labels")


def scored_as(rows):
    questions = distinct(NUMBERED)
    named = [replace(row, example_id=name) for row, name in zip(rows, questions.ids, strict=True)]
    return answers_by_mark(named, questions, built())[""]


def test_words_are_not_numbered_by_the_alphabet():
    message = r"answers hateful, non-hateful; .* are the numbers 0, 1[\s\S]*labels=hateful:…,non-hateful:…"
    with pytest.raises(ModelError, match=message):
        self_check(Words("hateful", "non-hateful"), NUMBERED, None)
    rows = answer_batch(Words("hateful", "non-hateful"), built(), [case.examples[0] for case in NUMBERED])
    with pytest.raises(ModelError, match=message):
        scored_as(rows)
    with pytest.raises(ModelError, match=r"column 0, column 1[\s\S]*try: \?labels=0,1"):
        self_check(Words("column 0", "column 1"), NUMBERED, None)
    rows = answer_batch(Words("0", "1"), built(), [case.examples[0] for case in NUMBERED])
    assert scored_as(rows).predictions.tolist() == [0, 1, 0]
