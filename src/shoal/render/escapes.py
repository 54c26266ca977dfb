"""Text from data inside Markdown, LaTeX and CSV: shown as it is, never read as markup or as a formula."""

import re

from .printable import printable


def plain_line(text: str) -> str:
    """On one line, with what could steer a reader's screen spelt out."""
    return printable(re.sub(r"\s+", " ", text))


def escape_markdown(text: str) -> str:
    """Text that Markdown shows as it is.

    >>> print(escape_markdown("a|b *c*"))
    a\\|b \\*c\\*
    """
    return re.sub(r"([\\`*_{}\[\]<>#|~&!])", r"\\\1", plain_line(text))


LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "−": "$-$",
    "–": "--",
    "[": "{[}",
    "]": "{]}",
}


def escape_latex(text: str) -> str:
    """Text that LaTeX prints as it is.

    >>> print(escape_latex("50 % of $x_1$"))
    50 \\% of \\$x\\_1\\$
    """
    return "".join(LATEX.get(character, character) for character in plain_line(text))
