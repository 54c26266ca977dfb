"""Names of labels: which agree, what the user may say about them, and what is never guessed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.errors import ModelError
from shoal.models.labels import (
    LabelNames,
    Spellings,
    extreme_labels,
    labels_option,
    matches,
    parse_labels,
)

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).map(str.strip).filter(bool)


@pytest.mark.parametrize(
    ("name", "labels", "agrees"),
    [
        ("POSITIVE", ("negative", "positive"), "positive"),
        ("non_hateful", ("hateful", "non-hateful"), "non-hateful"),
        ("label_1", ("LABEL 1", "LABEL 2"), "LABEL 1"),
        ("ＹＥＳ", ("no", "yes"), "yes"),
        ("pos", ("negative", "positive"), None),  # another name, however likely
        (".5", ("5", "2"), None),
        ("C++", ("C", "Java"), None),
        ("us", ("US", "us"), "us"),
        ("Us", ("US", "us"), None),  # two are spelled alike: only the very name tells them apart
        ("", ("a", "b"), None),
    ],
)
def test_names_agree_but_for_case_spaces_and_punctuation(name, labels, agrees):
    assert Spellings(labels).get(name) == agrees


@given(st.lists(NAMES, min_size=1, unique=True), st.data())
def test_what_the_user_says_comes_back_as_it_was_written(names, data):
    assert parse_labels(labels_option(names), "m") == LabelNames(order=tuple(names))
    meanings = {name: data.draw(NAMES) for name in names}
    assert parse_labels(labels_option(meanings), "m") == LabelNames(names=meanings)


@pytest.mark.parametrize("option", ["", "a,,b", "a:b,c", "a:b:c", "a,a"])
def test_what_is_not_understood_is_refused_with_its_remedy(option):
    with pytest.raises(ModelError, match=r"labels=[\s\S]*  try: "):
        parse_labels(option, "predictions:p.csv")


def test_two_labels_are_the_ends_of_three_only_with_neutral_between_them():
    assert extreme_labels(("negative", "neutral", "positive")) == ("negative", "positive")
    assert extreme_labels(("hateful", "offensive", "fine")) == extreme_labels(("negative", "positive")) == ()
    assert matches(["positive", "negative"], ["negative", "neutral", "positive"])
    assert not matches(["fine", "hateful"], ["hateful", "offensive", "fine"])
    assert not matches([], ["hateful", "offensive", "fine"])
