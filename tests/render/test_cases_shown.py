"""What an edit changed, and text that could steer a terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.text import on_one_line, printable
from shoal.render.cases import SMALL, marked_edits


def touched(*texts: str) -> list[list[str]]:
    """The changed pieces of each text."""
    examples = [(text,) for text in texts]
    return [[piece for piece, changed in fields[0] if changed] for fields in marked_edits(examples)]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("A good film.", "A bad film."), [["good"], ["bad"]]),
        (("A good film.", "A good film."), [[], []]),
        (("A film.", "A good old film."), [[], ["good old"]]),
        (("It is good.", "It is not good, no."), [[], ["not", ", no"]]),
        (("one two", "one", "three two"), [["one two"], [], ["three"]]),
        (("alone",), [[]]),
        (("", "new"), [[], ["new"]]),
        (("new", ""), [["new"], []]),
    ],
)
def test_the_words_that_an_edit_touched_are_known(texts, expected):
    assert touched(*texts) == expected


def test_a_field_that_the_original_lacks_is_new():
    first, second = marked_edits([("premise",), ("premise", "hypothesis")])
    assert (first, second) == ([[("premise", False)]], [[("premise", False)], [("hypothesis", True)]])


def test_of_very_long_texts_the_whole_stretch_counts_as_changed():
    words = int(SMALL**0.5) + 2
    before, after = "a " + "b " * words + "z", "a " + "c " * words + "z"
    assert touched(before, after)[1] == [("c " * words).strip()]


@given(st.lists(st.tuples(st.text(max_size=40), st.text(max_size=40)), max_size=4))
def test_the_pieces_are_the_text(examples):
    marked = marked_edits(examples)
    assert [tuple("".join(piece for piece, _ in field) for field in fields) for fields in marked] == examples


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, naïve, 漢字, ½ – “quoted”", "plain, naïve, 漢字, ½ – “quoted”"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("over\rwritten\ttab", r"over\rwritten\ttab"),
        ("\u202egnp.exe\u2066", r"\u202egnp.exe\u2066"),
        ("zero\u200bwidth\ufeff\u00ad", r"zero\u200bwidth\ufeff\xad"),
        ("\u2028line\x85\x9b", r"\u2028line\x85\x9b"),
        ("hidden\U000e0041", r"hidden\U000e0041"),
        ("half \ud83d", r"half \ud83d"),
        ("👩\u200d🚀 می\u200cخواهم\u00a0x", "👩\u200d🚀 می\u200cخواهم\u00a0x"),
        ("two\nlines", "two\nlines"),
    ],
)
def test_what_would_steer_a_terminal_is_spelt_out(text, shown):
    assert printable(text) == shown


def test_a_name_stays_on_its_line():
    assert on_one_line("two\nlines") == r"two\nlines"
