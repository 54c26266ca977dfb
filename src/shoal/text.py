"""Text on its way out: what a terminal may show, and cells that a spreadsheet may open.

Suites, labels and errors of models are written by others. Whatever of theirs is shown goes through `printable`,
whatever is exported as CSV through `csv_text`.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from unicodedata import category

STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Control and format characters (escape sequences, right-to-left overrides, invisible tags), halves of characters, and
separators of lines: none of them is seen, all of them change what is."""
JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
"""Emoji and several scripts are written with them."""

FORMULA = re.compile(r"[=+\-@\t\r\n＝＋－＠]")
"""How a cell begins that a spreadsheet may take for a formula, or read on from another cell."""
NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?%?")


def printable(text: str) -> str:
    """The text with every character that would steer spelt out; line ends stay.

    >>> print(printable("a\\x1b[2Jb\\u202ec"))
    a\\x1b[2Jb\\u202ec
    """
    if text.isprintable():
        return text
    return "".join(letter if _is_seen(letter) or letter == "\n" else ascii(letter)[1:-1] for letter in text)


def on_one_line(text: str) -> str:
    """The same, line ends too: for names and texts that stand in a line of their own.

    >>> print(on_one_line("two\\nlines"))
    two\\nlines
    """
    return printable(text).replace("\n", r"\n")


def _is_seen(letter: str) -> bool:
    return letter.isprintable() or letter in JOINERS or category(letter) not in STEERING


def is_formula(text: str) -> bool:
    """Whether a spreadsheet may run a cell with this text; a plain number is none.

    >>> is_formula("=1+1"), is_formula("@ann hello"), is_formula("-0.25")
    (True, True, False)
    """
    return bool(FORMULA.match(text)) and not NUMBER.fullmatch(text)


def csv_text(rows: Iterable[Mapping[str, Any]]) -> str:
    """A table with the columns of its first row; nothing at all without rows.

    >>> print(csv_text([{"name": "=1+1", "rate": -0.5}]), end="")
    name,rate
    '=1+1,-0.5
    """
    return "".join(csv_lines(rows))


def csv_lines(rows: Iterable[Mapping[str, Any]], *, verbatim: bool = False) -> Iterator[str]:
    """The lines of `csv_text`, one row after another: an apostrophe before whatever a spreadsheet might run.

    `verbatim` leaves every cell as it is: for files that a program reads.
    """
    buffer = io.StringIO(newline="")
    writer: csv.DictWriter[str] | None = None

    def line() -> str:
        # Written with both line ends, so that fields which hold either are quoted; ended by one of them.
        text = buffer.getvalue().removesuffix("\r\n") + "\n"
        buffer.seek(0)
        buffer.truncate()
        return text

    for row in rows:
        if writer is None:
            writer = csv.DictWriter(buffer, list(row), lineterminator="\r\n")
            writer.writerow({name: name if verbatim else _guarded(name) for name in row})
            yield line()
        writer.writerow(row if verbatim else {name: _guarded(cell) for name, cell in row.items()})
        yield line()


def _guarded(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and is_formula(cell) else cell
