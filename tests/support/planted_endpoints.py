"""Rules of endpoints with a planted effect: prompts show the text as <<text>>."""

import re
import zlib
from collections.abc import Callable

from fake_server import by_words

PROMPT = """task = "text"
user = "<<{{{{ text }}}}>> {ask}: {{{{ labels | join(', ') }}}}?"
[labels]
negative = "negative"
neutral = "neutral"
positive = "positive"
"""
ASK, PLEASE = "Which", "Please choose"


def text_of(question: str) -> str:
    """The text between the marks."""
    found = re.search("<<(.*)>>", question, re.DOTALL)
    return found[1] if found else question


def is_planted(text: str, one_in: int) -> bool:
    return zlib.crc32(text.encode()) % one_in == 0


def swayed(one_in: int) -> Callable[[str], str]:
    """Another answer to one in so many texts when the prompt is polite; else it does not look at the wording."""

    def rule(question: str) -> str:
        text = text_of(question)
        said = by_words(text)
        return (
            {"neutral": "positive"}.get(said, "neutral")
            if PLEASE in question and is_planted(text, one_in)
            else said
        )

    return rule


def first_listed(question: str) -> str:
    """The label that the prompt lists first, whatever the text."""
    return question.rpartition(": ")[2].partition(",")[0]


def refusing(word: str, rule: Callable[[str], str] = by_words) -> Callable[[str], str]:
    """A refusal that names a label, for texts with a word."""
    return lambda question: "I cannot help with positive reviews." if word in question else rule(question)
