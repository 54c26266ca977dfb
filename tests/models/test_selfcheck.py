"""The self-check finds what was planted, and stays silent when nothing was."""

import numpy as np
import pytest

from shoal import load_model
from shoal.core.records import Answers, Case
from shoal.models.answer_rows import AnswerRows
from shoal.models.asking import ask_examples
from shoal.models.batching import example_id
from shoal.models.selfcheck import answers_match, check_label_order, self_check

LABELS = ("negative", "neutral", "positive")
WORDS = {"negative": ["bad", "awful"], "neutral": ["red", "wooden"], "positive": ["good", "great"]}
THINGS = ["film", "meal", "book", "flight", "song", "house", "garden", "chair"]


def cases(labels=LABELS, test_type="MFT"):
    groups = {"functionality": "words", "test type": test_type}
    texts = [
        (f"the {thing} was {word}", label) for label in labels for word in WORDS[label] for thing in THINGS
    ]
    return [
        Case(f"words/{number}", ((text,),), (label,), groups) for number, (text, label) in enumerate(texts)
    ]


class Reads:
    """Knows the words; what it calls them, and how, can be bent."""

    def __init__(self, calls=None, flaw=""):
        self.calls, self.flaw = calls or {name: name for name in LABELS}, flaw

    def classify(self, examples, labels):
        rows = []
        for example in examples:
            true = next((name for name, words in WORDS.items() if example[0].split()[-1] in words), "neutral")
            row = np.full(3, 0.05)
            row[LABELS.index(self.calls[true])] = 0.9
            if self.flaw == "padding":
                row = row[::-1] if len({len(one[0]) for one in examples}) > 1 else row
            if self.flaw == "noise":
                row = row + np.array([1, 0, -1]) * 1e-3 * len(examples)
            rows.append(row)
        vectors = np.array(rows)
        return Answers(LABELS, vectors.argmax(axis=1), vectors)


def failed(checks):
    return {check.name for check in checks if check.ok is False}


def pick(checks, name):
    return next(check for check in checks if check.name == name)


def test_a_sound_model_passes():
    checks = self_check(Reads(), cases(), LABELS)
    assert failed(checks) == set()
    assert pick(checks, "label order").ok and "right" in pick(checks, "label order").detail


def test_labels_in_another_order_are_called_likely_and_the_order_is_named():
    calls = {"negative": "neutral", "neutral": "positive", "positive": "negative"}
    checks = self_check(Reads(calls), cases(), LABELS)
    assert failed(checks) == {"label order"}
    detail = pick(checks, "label order").detail
    assert detail.startswith("possibly wrong") and "Set ?labels=positive,negative,neutral only if" in detail


def test_a_bad_model_is_not_blamed_on_the_order_of_its_labels():
    """SiftNinja on HateCheck: nearly everything is harmless to it, and most of the suite is not."""
    expected = ["hateful"] * 2563 + ["non-hateful"] * 1165
    given = ["non-hateful"] * 2333 + ["hateful"] * 230 + ["non-hateful"] * 1009 + ["hateful"] * 156
    check = check_label_order(given, expected, ["non-hateful", "hateful"])
    assert check.ok is None
    turned = ["non-hateful"] * 2200 + ["hateful"] * 363 + ["hateful"] * 1000 + ["non-hateful"] * 165
    assert check_label_order(turned, expected, ["non-hateful", "hateful"]).ok is False


def test_another_order_is_never_suggested_on_few_answers():
    expected = [LABELS[number % 3] for number in range(18)]
    turned = [LABELS[(number + 1) % 3] for number in range(18)]
    check = check_label_order(turned, expected, LABELS)
    assert check.ok is None and "?labels=" not in check.detail


def test_a_weak_model_is_rarely_told_another_order():
    """Right on 0 to 60 % of three labels, wrong at random: none of 400 is told to change its labels."""
    rng = np.random.default_rng(0)
    told = 0
    for number in range(400):
        truth = rng.integers(0, 3, 64)
        wrong = (truth + rng.integers(1, 3, 64)) % 3
        given = np.where(rng.random(64) < number / 400 * 0.6, truth, wrong)
        told += check_label_order([LABELS[g] for g in given], [LABELS[t] for t in truth], LABELS).ok is False
    assert told == 0


@pytest.mark.parametrize(
    ("flaw", "names"),
    [
        ("padding", {"same answer in every batch"}),
        ("noise", {"same answer in every batch"}),
    ],
)
def test_every_flaw_is_found(flaw, names):
    assert names <= failed(self_check(Reads(flaw=flaw), cases(), LABELS))


class Says:
    """Labels alone."""

    def __init__(self, say):
        self.say = say

    def classify(self, examples, labels):
        return Answers(LABELS, np.array([LABELS.index(self.say(text)) for (text,) in examples]))


def test_the_same_label_for_everything_is_told_without_probabilities_too():
    name = "not the same label for everything"
    check = pick(self_check(Says(lambda text: "neutral"), cases(), LABELS), name)
    assert check.ok is False and check.detail.startswith("predicts neutral for all ")
    assert pick(self_check(Says(lambda text: LABELS[len(text) % 3]), cases(), LABELS), name).ok
    only = cases(labels=("neutral",))  # one label is all that is expected
    assert pick(self_check(Says(lambda text: "neutral"), only, LABELS), name).ok is None


class Entails:
    """An NLI model of sorts: a text entails its own beginning."""

    def classify(self, examples, labels):
        codes = np.array([int(first.startswith(second)) for first, second in examples])
        vectors = np.eye(2)[codes] * 0.8 + 0.1
        return Answers(("no", "yes"), codes, vectors)


def test_the_order_of_a_pair_is_told_by_labels_or_not_at_all():
    long = [
        f"a {thing} in a {word} {other}" for thing in THINGS for word in ("red", "old") for other in THINGS
    ]
    groups = {"functionality": "f", "test type": "MFT"}
    pairs = [((text, text[:9]), "yes") for text in long] + [((text, "x" + text), "no") for text in long]

    def as_cases(pairs):
        return [Case(f"f/{at}", (pair,), (label,), groups) for at, (pair, label) in enumerate(pairs)]

    name = "order of the texts in a pair"
    assert pick(self_check(Entails(), as_cases(pairs), ("no", "yes")), name).ok is True
    turned = [(pair[::-1], label) for pair, label in pairs]
    check = pick(self_check(Entails(), as_cases(turned), ("no", "yes")), name)
    assert check.ok is False and "likely wrong" in check.detail
    unlabelled = [Case(f"f/{at}", (pair,), None, groups) for at, (pair, _) in enumerate(pairs)]
    check = pick(self_check(Entails(), unlabelled, ("no", "yes")), name)
    assert check.ok is None and "undecided" in check.detail


def kept_answers(model, examples):
    ids = [example_id(example) for example in examples]
    rows = list(AnswerRows(ask_examples(model, examples, LABELS), ids))
    return rows, dict(zip(ids, examples, strict=True))


def test_answers_that_have_changed_are_told_by_asking_again():
    texts = [case.examples[0] for case in cases()]
    rows, examples = kept_answers(Reads(), texts)
    same = answers_match(Reads(), rows, examples, LABELS)
    assert same.ok and "8 examples" in same.detail
    other = Reads({"negative": "positive", "neutral": "neutral", "positive": "negative"})
    check = answers_match(other, rows, examples, LABELS)
    assert check.ok is False and "the model has changed" in check.detail


@pytest.mark.parametrize("name", ["sentiment", "paraphrase", "reading"])
def test_the_shipped_models_pass(name):
    pytest.importorskip("torch", reason="needs shoal[hf]")
    from importlib import import_module

    suite = import_module(f"shoal.protocols.behaviour.suites.{name}").suite
    checks = self_check(load_model(f"tiny:{name}"), suite.cases, suite.labels)
    assert failed(checks) == set() and len(checks) >= 2
