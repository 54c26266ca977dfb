"""Any callable as a model: every form of answer, the suite's label order, and errors that take no other with them."""

import numpy as np
import pytest

from shoal import load_model
from shoal.core.errors import ModelError
from shoal.models.asking import classify_safely
from shoal.models.python import as_model

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


MODELS = {
    "lists": lambda texts: [vector(t) for t in texts],
    "pair_vectors": lambda texts: ([RIGHT[t] for t in texts], np.array([vector(t) for t in texts])),
    "pair_scalars": lambda texts: ([LABELS[RIGHT[t]] for t in texts], [0.9 for t in texts]),
    "top_one": lambda texts: [{"label": LABELS[RIGHT[t]], "score": 0.9} for t in texts],
    "all_scores": lambda texts: [
        [{"label": n, "score": p} for n, p in zip(LABELS, vector(t), strict=True)] for t in texts
    ],
    "by_name": lambda texts: [dict(zip(LABELS, vector(t), strict=True)) for t in texts],
    "names": lambda texts: [LABELS[RIGHT[t]] for t in texts],
    "numbers": lambda texts: [RIGHT[t] for t in texts],
    "sklearn": Sklearn(),
    "pipeline": Pipeline(),
}
NAMELESS = ("lists", "pair_vectors", "numbers")
"""Models that say which label they mean by its place or number alone."""
BAD = {
    "too_few": (lambda texts: [vector(t) for t in texts][1:], "gave 2 answers to 3 examples"),
    "unknown": (lambda texts: ["purple"] * len(texts), "answers purple; the suite's labels are"),
    "logits": (lambda texts: [{"negative": -1.4, "positive": 2.2}] * len(texts), "numbers that are not probabilities"),
    "word": (lambda texts: "positive", r"gave 'positive' \(str\) for 3 examples"),
    "twice": (lambda texts: [[{"label": "positive", "score": 0.5}] * 2] * 3, "scores a label twice"),
    "class": (Sklearn, "gives no labels"),
    "foreign": (lambda texts: [[{"label": "LABEL_0", "score": 1.0}, {"label": "LABEL_1", "score": 0.0}]] * len(texts),
                r"LABEL_0, LABEL_1[\s\S]*\?labels="),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _models(module):
    vars(module).update(MODELS | {name: model for name, (model, _) in BAD.items()})


@pytest.mark.parametrize("name", MODELS)
def test_every_form_of_answer_is_understood(name):
    option = f"?labels={','.join(LABELS)}" if name in NAMELESS else ""
    answers = load_model(f"python:answering:{name}{option}").classify(TEXTS, LABELS)
    assert [answers.labels[code] for code in answers.predictions] == ["positive", "negative", "neutral"]
    if answers.probabilities is not None:
        assert answers.labels == LABELS and answers.probabilities.tolist() == [vector(t) for (t,) in TEXTS]


@pytest.mark.parametrize("name", BAD)
def test_answers_that_cannot_be_are_refused(name):
    with pytest.raises(ModelError, match=BAD[name][1]):
        classify_safely(load_model(f"python:answering:{name}"), TEXTS, LABELS)


@pytest.mark.parametrize("name", NAMELESS)
def test_what_has_no_name_is_not_guessed(name):
    message = r"negative, neutral, positive[\s\S]*unknown[\s\S]*\?labels=negative,neutral,positive"
    with pytest.raises(ModelError, match=message):
        load_model(f"python:answering:{name}").classify(TEXTS, LABELS)


def test_zero_and_one_are_not_two_of_three_labels(module):
    module.binary = lambda texts: [int(RIGHT[t] > 0) for t in texts]
    message = r"calls its labels 0, 1[\s\S]*binary\?labels=negative,positive"
    with pytest.raises(ModelError, match=message):
        load_model("python:answering:binary").classify(TEXTS, LABELS)
    answers = load_model("python:answering:binary?labels=negative,positive").classify(TEXTS, LABELS)
    assert [answers.labels[code] for code in answers.predictions] == ["positive", "negative", "positive"]
    assert answers.label_map == {"0": "negative", "1": "positive"} and not answers.band


def test_two_probabilities_are_the_ends_of_three_labels_if_their_names_are(module):
    module.two = lambda texts: [[0.2, 0.8]] * len(texts)
    with pytest.raises(ModelError, match=r"column 0, column 1[\s\S]*\?labels=negative,positive"):
        load_model("python:answering:two").classify(TEXTS, LABELS)
    answers = load_model("python:answering:two?labels=negative,positive").classify(TEXTS, LABELS)
    assert answers.labels == ("negative", "positive") and answers.band
    with pytest.raises(ModelError, match="has no positive"):
        load_model("python:answering:two?labels=negative,neutral").classify(TEXTS, LABELS)


class Numbered:
    """As scikit-learn's are, trained on numbers."""

    def __init__(self, *classes):
        self.classes_ = np.array(classes)

    def predict_proba(self, texts):
        return np.array([[0.9, 0.1]] * len(texts))


@pytest.mark.parametrize("classes", [(0, 1), (-1, 1)])
def test_classes_that_are_numbers_need_names(module, classes):
    module.numbered = Numbered(*classes)
    with pytest.raises(ModelError, match=r"labels=|labels are negative, positive"):
        load_model("python:answering:numbered").classify(TEXTS, ("negative", "positive"))
    answers = load_model("python:answering:numbered?labels=positive,negative").classify(TEXTS, LABELS)
    assert answers.labels == ("negative", "positive") and answers.predictions.tolist() == [1, 1, 1]
    assert answers.label_map == {str(classes[0]): "positive", str(classes[1]): "negative"}


def test_labels_may_be_given_by_the_models_own_names(module):
    meaning = "pos:positive,neg:negative"
    module.shorthand = lambda texts: [{"pos": 0.9, "neg": 0.1}] * len(texts)
    answers = load_model(f"python:answering:shorthand?labels={meaning}").classify(TEXTS, LABELS)
    assert (
        answers.labels == ("negative", "positive")
        and answers.predictions.tolist() == [1, 1, 1]
        and answers.band
    )
    assert answers.label_map == {"neg": "negative", "pos": "positive"}
    module.minus = lambda texts: [-1, 1, -1]
    answers = load_model("python:answering:minus?labels=-1:negative,1:positive").classify(TEXTS, LABELS)
    assert [answers.labels[code] for code in answers.predictions] == ["negative", "positive", "negative"]


def test_no_answer_to_an_example_is_an_error_of_that_example(module):
    module.sometimes = lambda texts: ["positive", None, float("nan")]
    answers = load_model("python:answering:sometimes").classify(TEXTS, LABELS)
    assert answers.errors == {1: "the model gave no answer", 2: "the model gave no answer"}
    module.vectors = lambda texts: [
        dict(zip(LABELS, vector(t), strict=True)) if t != "bad" else None for t in texts
    ]
    answers = load_model("python:answering:vectors").classify(TEXTS, LABELS)
    assert list(answers.errors) == [1] and answers.predictions.tolist()[::2] == [2, 1]


# Objects as they are, through shoal.audit


@pytest.fixture(scope="module")
def classifier():
    """Fit a scikit-learn pipeline on reviews with these labels."""
    pytest.importorskip("sklearn")
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    def fit(good, bad):
        texts = ["good film", "bad film", "great food", "awful food"] * 3
        return make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, [good, bad] * 6)

    return fit


@pytest.mark.parametrize(
    ("good", "bad", "labels"),
    [
        ("positive", "negative", None),
        ("pos", "NEG", None),
        ("up", "down", {"up": "positive", "down": "negative"}),
        (1, 0, ["negative", "positive"]),
    ],
)
def test_a_scikit_learn_pipeline_gives_its_own_probabilities(classifier, good, bad, labels):
    model = classifier(good, bad)
    answers = as_model(model, labels).classify(TEXTS, LABELS)
    column = list(model.classes_).index(good)
    expected = model.predict_proba([text for (text,) in TEXTS])[:, column]
    assert answers.labels == ("negative", "positive")
    assert answers.probabilities[:, 1].tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("good", "bad", "labels", "message"),
    [
        (1, 0, None, r"unknown[\s\S]*try: labels=negative,positive, in the order"),
        ("up", "down", None, r"has no down, up[\s\S]*only the names differ, labels=down:…,up:…,"),
        ("pos", "neg", ["positive", "negative"], r"invert predictions[\s\S]*leave out labels="),
        (1, 0, {"negative", "positive"}, "is a set, which has no order"),
    ],
)
def test_an_order_is_never_guessed_and_the_error_says_what_to_write(classifier, good, bad, labels, message):
    with pytest.raises(ModelError, match=message):
        as_model(classifier(good, bad), labels).classify(TEXTS, LABELS)


@pytest.mark.parametrize("task", ["texts", "pairs"])
def test_a_transformers_pipeline_gives_the_answers_of_its_checkpoint(folders, task):
    transformers = pytest.importorskip("transformers")
    examples = [("the film was good",), ("awful",)]
    if task == "pairs":
        examples = [("the film was good", "great"), ("awful", "a meal is not bad")]
    model = transformers.pipeline("text-classification", str(folders["classifier"]))
    answers = as_model(model).classify(examples, LABELS)
    expected = load_model(f"hf:{folders['classifier']}").classify(examples, LABELS)
    assert answers.labels == expected.labels
    assert answers.probabilities == pytest.approx(expected.probabilities, abs=1e-5)
