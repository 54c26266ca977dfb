"""Text on its way out: nothing steers a terminal, nothing runs in a spreadsheet, nothing is lost."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.text import csv_lines, is_formula, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("over\rwritten", r"over\rwritten"),
        ("\x9b31mred", r"\x9b31mred"),
        ("\u202egnp.exe\u202c \u2066x\u2069 \u200f", r"\u202egnp.exe\u202c \u2066x\u2069 \u200f"),
        ("half \ud83d", r"half \ud83d"),
        ("a\u2028b\tc", r"a\u2028b\tc"),
    ],
)
def test_what_steers_a_terminal_is_spelt_out(text, shown):
    assert printable(text) == shown
    printable(text).encode()


def test_plain_text_of_any_language_is_left_alone():
    for text in ("naïve – 10 %", "مرحبا", "शुभ", "👩‍👩‍👧", "two\nlines", r"\x1b as written"):
        assert printable(text) == text


def read_back(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("cell", ["=1+1", "+1 for this", "-2+3", "@SUM(1)", "\t=1", "\r=1", "\n=1", "＝1"])
def test_a_cell_that_a_spreadsheet_would_run_gets_an_apostrophe(cell):
    assert read_back("".join(csv_lines([[cell, 1]]))) == [[f"'{cell}", "1"]]


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=5))
def test_any_cells_come_back_as_written_carriage_returns_included(rows):
    text = "".join(csv_lines(rows, verbatim=True))
    assert read_back(text) == [list(row) for row in rows]
    guarded = read_back("".join(csv_lines(rows)))
    assert all(not is_formula(cell) for row in guarded for cell in row)
