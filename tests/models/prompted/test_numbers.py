"""Log-probabilities as probabilities: the worked examples of `docs/method/prompted.md` 8.2."""

from math import log

import pytest

from shoal.models.prompted.likelihood import from_first_tokens


def test_first_tokens_as_worked_out_by_hand():
    returned = [("pos", log(0.5)), ("Pos", log(0.1)), ("neg", log(0.2)), ("I", log(0.1))]
    found = from_first_tokens(returned, ("positive", "negative"))
    assert found.masses == pytest.approx((0.6, 0.2)) and found.mass == pytest.approx(0.8)
    assert found.probabilities() == pytest.approx([0.75, 0.25])
    assert found.unseen == pytest.approx(0.1) and not found.truncated


def test_another_label_may_hide_in_what_was_not_returned():
    found = from_first_tokens([("pos", log(0.4)), ("neg", log(0.3))], ("positive", "negative"))
    assert found.unseen == pytest.approx(0.3) and found.truncated


@pytest.mark.parametrize(
    ("token", "masses", "ambiguous"),
    [
        (" positive", (0.5, 0), 0),
        ("pox", (0, 0), 0),
        ("", (0, 0), 0),
    ],
)
def test_a_token_goes_to_the_label_it_begins(token, masses, ambiguous):
    found = from_first_tokens([(token, log(0.5))], ("positive", "negative"))
    assert found.masses == pytest.approx(masses) and found.ambiguous == ambiguous


def test_tokens_that_begin_two_labels_are_elsewhere_and_letters_keep_their_case():
    found = from_first_tokens([("ne", log(0.5))], ("negative", "neutral"))
    assert found.masses == (0, 0) and found.ambiguous == pytest.approx(0.5)
    assert from_first_tokens([("a", log(0.5))], ("A", "B")).mass == 0
