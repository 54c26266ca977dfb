"""The edit between an original and its variants."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.render.cases import marked_edits


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
    examples = [(text,) for text in texts]
    touched = [[piece for piece, changed in fields[0] if changed] for fields in marked_edits(examples)]
    assert touched == expected


@given(st.lists(st.tuples(st.text(max_size=40), st.text(max_size=40)), max_size=4))
def test_the_pieces_are_the_text(examples):
    marked = marked_edits(examples)
    assert [tuple("".join(piece for piece, _ in field) for field in fields) for fields in marked] == examples
