"""Sentences with mixed signals have the features that they say, and labels that follow the right one."""

import re

import numpy as np
import pytest

from shoal import ShoalError
from shoal.data.signals import (
    FEATURES,
    WORDS,
    make_signals,
)


def has_feature(feature: str, text: str) -> bool:
    """The linguistic feature as a reader without the generator would look for it."""
    words = re.findall(r"\w+", text.lower())
    if feature == "MORPH":
        return any(word in WORDS["irregular"] for word in words)
    if feature == "VERB":
        return any(word in WORDS["making"] for word in words)
    return any(word in WORDS["adjectives"] for word in words)


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("kind", ["ambiguous", "linguistic", "surface"])
def test_features_are_there_and_labels_follow_them(feature, kind):
    signals = make_signals(feature, kind, 200, np.random.default_rng(0))
    assert len({signal.text for signal in signals}) == 200
    assert [signal.label for signal in signals].count("yes") == 100
    for signal in signals:
        the = "the" in signal.text.lower().rstrip(".").split()
        linguistic = has_feature(feature, signal.text)
        assert (linguistic == the) == (kind == "ambiguous")
        assert signal.label == ("yes" if (the if kind == "surface" else linguistic) else "no")
        words = signal.text.lower().rstrip(".").split()
        place = words.index(signal.word)
        assert "the" not in words[place - 2 : place + 3]


def test_more_sentences_than_the_grammar_has_are_refused():
    with pytest.raises(ShoalError, match="good for 20,000"):
        make_signals("MORPH", "surface", 20_001, np.random.default_rng(0))
