"""What a model said, as one of the things it was to say, or as no answer (`docs/method/prompted.md` 8.3).

In this order: the answer is one of them; it begins with one; in a short answer exactly one occurs, and is not denied.
"""

import re
from collections.abc import Iterator, Sequence

AROUND = " \t\r\n\f\v\u00a0\"'`“”‘’«»*_"
"""White space, quotes and markdown emphasis."""
LONGEST = 20
"""Words of an answer in which a verbaliser may stand anywhere."""
DENIALS = ("not", "no", "never", "neither", "nor")
BEFORE = 3
"""How many words before a verbaliser may deny it."""
AFTER_A_LETTER = ".,:)"
THOUGHT, THINKING = "</think>", "<think>"


def parse(said: str, verbalisers: Sequence[str]) -> int | None:
    """Which of the verbalisers was said; None for no answer.

    >>> [parse(said, ("positive", "negative")) for said in ("**Positive.**", "I'd say negative", "not positive")]
    [0, 1, None]
    """
    bare = stripped(said)
    long = sorted((v.casefold(), at) for at, v in enumerate(verbalisers) if len(v) > 1)
    long.sort(key=lambda pair: -len(pair[0]))
    letters = [(v, at) for at, v in enumerate(verbalisers) if len(v) == 1]
    text = bare.casefold()
    for word, at in long:
        if text == word or (text.startswith(word) and not text[len(word)].isalnum()):
            return at
    for letter, at in letters:
        if bare == letter or (bare.startswith(letter) and bare[1] in AFTER_A_LETTER):
            return at
    if len(text.split()) > LONGEST:
        return None
    found = list(_occurrences(text, long))
    denied = any(_is_denied(text[:start]) for start, _ in found)
    meant = {at for _, at in found}
    return meant.pop() if len(meant) == 1 and not denied else None


def stripped(said: str) -> str:
    """Without what stands around an answer and says nothing."""
    while True:
        bare = said.strip(AROUND)
        bare = bare.removesuffix(".")
        if bare == said:
            return bare
        said = bare


def without_thinking(said: str) -> str | None:
    """What was said behind the thinking; None where that never ended.

    >>> without_thinking("<think>Bad? No.</think> positive"), without_thinking("<think>Well,")
    (' positive', None)
    """
    if THOUGHT in said:
        return said.rpartition(THOUGHT)[2]
    return None if THINKING in said else said


def _occurrences(text: str, longest_first: Sequence[tuple[str, int]]) -> Iterator[tuple[int, int]]:
    """Where a verbaliser stands as a whole word, and which; a stretch counts for the longest alone."""
    taken: list[tuple[int, int]] = []
    for word, at in longest_first:
        for match in re.finditer(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", text):
            if all(match.end() <= start or match.start() >= end for start, end in taken):
                taken.append(match.span())
                yield match.start(), at


def _is_denied(before: str) -> bool:
    words = [word.strip(AROUND + ".,;:!?()") for word in before.split()[-BEFORE:]]
    return any(word in DENIALS or word.endswith(("n't", "n’t")) for word in words)
