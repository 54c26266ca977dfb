"""Make text safe to show: escape control characters for terminals, and formulas for spreadsheets.

Suites, labels and models' errors are untrusted. Terminal output goes through `printable`, CSV through `csv_lines`.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any
from unicodedata import category

STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Control and format characters (escape sequences, right-to-left overrides, invisible tags), halves of characters, and
separators of lines: none of them is seen, all of them change what is."""
JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
"""Used by emoji and several scripts."""

FORMULA = re.compile(r"[=+\-@\t\r\n＝＋－＠]")
"""First characters of a cell that a spreadsheet may run as a formula."""
NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?%?")


def printable(text: str) -> str:
    """Return the text with control characters spelt out; line ends stay.

    >>> print(printable("a\\x1b[2Jb\\u202ec"))
    a\\x1b[2Jb\\u202ec
    """
    if text.isprintable():
        return text
    return "".join(letter if _is_seen(letter) or letter == "\n" else ascii(letter)[1:-1] for letter in text)


def on_one_line(text: str) -> str:
    """Return the text with control characters and line ends spelt out.

    >>> print(on_one_line("two\\nlines"))
    two\\nlines
    """
    return printable(text).replace("\n", r"\n")


def json_line(row: Mapping[str, Any]) -> str:
    """Return a row as a line of JSON with control characters escaped.

    >>> print(json_line({"text": "a\\u202eb é"}), end="")
    {"text": "a\\u202eb é"}
    """
    line = json.dumps(row, ensure_ascii=False)
    if not line.isprintable():
        line = "".join(letter if _is_seen(letter) else json.dumps(letter)[1:-1] for letter in line)
    return f"{line}\n"


def _is_seen(letter: str) -> bool:
    return letter.isprintable() or letter in JOINERS or category(letter) not in STEERING


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet may run a cell with this text; False for plain numbers.

    >>> is_formula("=1+1"), is_formula("@ann hello"), is_formula("-0.25")
    (True, True, False)
    """
    return bool(FORMULA.match(text)) and not NUMBER.fullmatch(text)


def csv_lines(rows: Iterable[Sequence[Any]], *, verbatim: bool = False) -> Iterator[str]:
    """Yield rows as lines of CSV, with an apostrophe before formulas; None is an empty field.

    `verbatim` leaves every cell as it is: for files that a program reads.

    >>> print(*csv_lines([["name", "rate"], ["=1+1", -0.5]]), sep="", end="")
    name,rate
    '=1+1,-0.5
    """
    # The writer quotes fields with characters of its line end, so it gets both of them.
    lines: list[str] = []
    writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator="\r\n")
    for row in rows:
        safe = [f"'{cell}" if isinstance(cell, str) and is_formula(cell) else cell for cell in row]
        writer.writerow(row if verbatim else safe)
        yield lines.pop().removesuffix("\r\n") + "\n"


def texts_in(value: object) -> Iterator[str]:
    """Yield every text in nested lists and tables.

    >>> list(texts_in({"suite": "a.jsonl", "seeds": [0, 1], "models": ["x"]}))
    ['a.jsonl', 'x']
    """
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from texts_in(part)
