"""Text from data as a terminal or a page may show it: what could steer either is spelt out."""

from unicodedata import category

STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Control and format characters (escape sequences, right-to-left overrides, invisible tags), halves of characters, and
separators of lines: none of them is seen, all of them change what is."""
JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
"""Emoji and several scripts are written with them."""


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
