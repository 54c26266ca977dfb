"""`a` or `an` before a new word: by its first letter, and by the sounds that letters hide."""

import re

SILENT = re.compile(r"(hour|honest|honou?r|heir)", re.IGNORECASE)
"""Words with an h that is not heard."""
SPOKEN = re.compile(r"(uni(?!n|m)|use|usu|uti|ute|ura|eu|ewe|one\b|once\b|ubi)", re.IGNORECASE)
"""Words that begin with a vowel on paper and with a consonant in speech."""
ARTICLE = re.compile(r"\b(a|an)(\s+)$", re.IGNORECASE)


def article(word: str) -> str:
    """The article that a word wants.

    >>> [article(word) for word in ("dog", "apple", "hour", "unicorn", "uncle")]
    ['a', 'an', 'an', 'a', 'an']
    """
    sounds_open = SILENT.match(word) or (word[:1].lower() in "aeiou" and not SPOKEN.match(word))
    return "an" if sounds_open else "a"


def fitted(before: str, word: str) -> str:
    """What stands before a word, with an article right before it made to fit.

    >>> fitted("He sees a ", "apple"), fitted("An ", "dog"), fitted("the ", "apple")
    ('He sees an ', 'A ', 'the ')
    """
    match = ARTICLE.search(before)
    if not match:
        return before
    wanted = article(word)
    wanted = wanted.capitalize() if match[1][0].isupper() else wanted
    return f"{before[: match.start()]}{wanted}{match[2]}"
