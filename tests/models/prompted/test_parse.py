"""What was said, as a label or as no answer (`docs/method/prompted.md` 8.3)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.models.prompted.replies import parse, stripped

SENTIMENT = ("negative", "neutral", "positive")
HATE = ("hateful", "not hateful")
LETTERS = ("A", "B", "C")


@pytest.mark.parametrize(
    ("said", "verbalisers", "label"),
    [
        ("positive", SENTIMENT, "positive"),
        ("  **Positive.** ", SENTIMENT, "positive"),
        ("positive, I think, though parts are negative", SENTIMENT, "positive"),
        ("positively", SENTIMENT, None),
        ("The sentiment is positive, not negative", SENTIMENT, None),
        ("It isn’t positive", SENTIMENT, None),
        ("Not that it matters, but this is positive", SENTIMENT, "positive"),
        ("word " * 19 + "positive", SENTIMENT, "positive"),
        ("word " * 20 + "positive", SENTIMENT, None),
        ("I cannot answer that.", SENTIMENT, None),
        ("not hateful", HATE, "not hateful"),
        ("Hardly hateful, so not hateful", HATE, None),
        ("A", LETTERS, "A"),
        ("a", LETTERS, None),
        ("A) negative", LETTERS, "A"),
        ("A good film", LETTERS, None),
        ("The answer is A", LETTERS, None),
        ("straße", ("STRASSE", "weg"), "STRASSE"),
    ],
)
def test_by_hand(said, verbalisers, label):
    found = parse(said, verbalisers)
    assert (None if found is None else verbalisers[found]) == label


words = st.text("abcdefghinoprstv", min_size=2, max_size=8)
anything = st.text(max_size=80)


@given(st.lists(words, min_size=2, max_size=4, unique_by=str.casefold), st.data())
def test_a_verbaliser_itself_is_always_heard_however_it_is_dressed(verbalisers, data):
    at = data.draw(st.integers(0, len(verbalisers) - 1))
    dress = data.draw(st.sampled_from(["{}", " {}.", "**{}**", '"{}".', "_{}_", "{}, surely", "{}\nbecause"]))
    heard = parse(dress.format(verbalisers[at].upper()), verbalisers)
    assert heard is not None and verbalisers[heard].casefold() == verbalisers[at].upper().casefold()


@given(anything)
def test_nothing_that_is_said_breaks_it_and_stripping_is_done_at_once(said):
    assert parse(said, SENTIMENT) in (None, 0, 1, 2)
    assert stripped(stripped(said)) == stripped(said)


def test_a_long_reply_is_not_searched_for_labels():
    assert parse("x-" + "positive-" * 10_000, ("negative", "positive")) is None  # 40 seconds otherwise
    assert stripped("good" + ".'" * 150_000) == "good"
