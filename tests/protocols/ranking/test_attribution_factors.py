"""Factors that are computed from how much each word counted, on attributions written down by hand."""

import numpy as np
import pytest

from shoal import Case, ShoalError
from shoal.core.records import Answers
from shoal.explaining.attributions import Attribution, Units, word_spans
from shoal.protocols.ranking.factors import FACTORS, FEATURE, parse_factors, swapped_words

NOTHING = Answers(("no", "yes"), np.zeros(1, np.int64))


def example(*texts, feature="") -> Case:
    return Case("1", (texts,), ("yes",), {"part": "labelled"}, "", {FEATURE: feature} if feature else {})


def counted(case, *values, special=None) -> Attribution:
    """Values of the words of each text; `special` are those of [CLS] and of the separator behind each text."""
    words, texts, numbers = [], [], []
    for number, (text, row) in enumerate(zip(case.examples[0], values, strict=True)):
        spans = word_spans(text)
        assert len(spans) == len(row)
        if special and not number:
            words, texts, numbers = ["[CLS]"], [-1], [special[0]]
        words += [text[start:end] for start, end in spans]
        texts += [number] * len(spans)
        numbers += row
        if special:
            words, texts, numbers = [*words, "[SEP]"], [*texts, -1], [*numbers, special[number + 1]]
    return Attribution(
        Units(tuple(words), tuple(texts)), np.array(numbers), "yes", 0.9, 0.5, {"yes": 0.9, "no": 0.1}
    )


def value(name, case, attribution):
    (number,) = FACTORS[name].values([case], NOTHING, [attribution])
    return number


WINDOW = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]


@pytest.mark.parametrize(
    ("feature", "expected"),
    [("the", -0.6), ("sleep", -1.5), ("WENT.", -2.0), ("gone", None)],
)
def test_the_window_around_the_feature_word(feature, expected):
    case = example("the old cat went to sleep", feature=feature)
    assert value("ADJ", case, counted(case, WINDOW)) == (
        None if expected is None else pytest.approx(expected)
    )


def test_sums_and_largest_values_of_two_texts():
    case = example("a b c", "d e")
    attribution = counted(case, [0.2, -0.1, 0.4], [0.3, 0.1], special=(9.0, 0.7, 8.0))
    assert value("SUM-DIFF", case, attribution) == pytest.approx(0.1)
    assert value("MAX-DIFF", case, attribution) == pytest.approx(0.1)
    assert value("FIRST-TOK", case, attribution) == pytest.approx(0.7)


def test_shared_words_are_the_second_text_as_it_stands_in_the_first():
    case = example("the cat saw the dog", "The dog.")
    attribution = counted(case, [0.1, 0.2, 0.3, 0.4, 0.5], [0.05, 0.2, 7.0])
    assert value("INDEX-DIFF", case, attribution) == pytest.approx(0.65)
    assert value("SUBSEQUENCE", case, attribution) == pytest.approx(0.9)
    other = example("the cat saw a dog", "a cat slept")
    numbers = counted(other, [0.1, 0.2, 0.3, 0.4, 0.5], [0.05, 0.2, 7.0])
    assert value("INDEX-DIFF", other, numbers) == pytest.approx(0.2 - 0.2 + 0.4 - 0.05)
    assert value("SUBSEQUENCE", other, numbers) is None


def test_control_words_count_outside_the_hypothesis():
    case = example("Unless the man and boy slept , he knew .", "The man and boy slept.")
    values = [0.3, 0.1, 0.1, 5.0, 0.1, 0.1, 0.0, 0.1, 0.2, 0.0]
    assert value("CONST", case, counted(case, values, [0.0] * 6)) == pytest.approx(-(0.3 + 0.2))
    without = example("the man slept", "the man slept")
    assert value("CONST", without, counted(without, [0.1] * 3, [0.1] * 3)) is None


def test_swapped_words():
    case = example("good person become bad", "bad person become good")
    attribution = counted(case, [0.2, 9.0, 9.0, 0.4], [0.3, 9.0, 9.0, 0.1])
    assert value("SWAP-AVG", case, attribution) == pytest.approx(-0.25)
    assert value("SWAP-MAX-DIFF", case, attribution) == pytest.approx(0.1)
    signed = counted(case, [0.2, 9.0, 9.0, -0.4], [0.3, 9.0, 9.0, 0.1])
    assert value("SWAP-MAX-DIFF", case, signed) == pytest.approx(-0.7)


@pytest.mark.parametrize(
    ("first", "second", "swapped"),
    [
        ("Is the red car or the van fast ?", "Is the van or the red car fast ?", ("red car van", "van red car")),
        ("who beat whom", "whom beat who", ("", "")),
        ("cats chase dogs daily", "dogs chase mice daily", ("cats dogs", "dogs mice")),
        ("", "words", ("", "words")),
    ],
)  # fmt: skip
def test_what_counts_as_swapped(first, second, swapped):
    left, right = swapped_words(first.split(), second.split())
    words = " ".join(first.split()[n] for n in left), " ".join(second.split()[n] for n in right)
    assert words == swapped


def test_a_factor_has_a_value_for_each_explainer():
    factors = parse_factors(["ACC", "ADJ"], ["lime", "shapley"])
    assert [factor.name for factor in factors] == ["ACC", "ADJ (lime)", "ADJ (shapley)"]
    with pytest.raises(ShoalError, match="no explainer is set[\\s\\S]*explainers = "):
        parse_factors(["ADJ"], [])
