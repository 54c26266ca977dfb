"""Words that WordNet links by derivation, read from its own files (`data.noun` and so on; wndb(5WN)).

A line is a synset: its offset, two fields on its kind, the number of its words in hexadecimal, the words, the number of
its pointers and the pointers. A pointer "+" goes from one word to a word of another synset that is derived from it.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from ...core.errors import DataError

Derivations = Mapping[str, frozenset[str]]
"""For each word those that it is linked with, both ways."""
NONE: Derivations = {}
NONE_OF: frozenset[str] = frozenset()
FILES = {"n": "data.noun", "v": "data.verb", "a": "data.adj", "r": "data.adv"}
DERIVED = "+"
Place = tuple[str, str]
"""Class and offset of a synset."""


@lru_cache(maxsize=1)
def load_derivations(folder: str) -> Derivations:
    """All pairs of single words that a folder of WordNet links."""
    words: dict[Place, list[str]] = {}
    links: list[tuple[str, Place, int]] = []
    for part, name in FILES.items():
        path = Path(folder) / name
        if not path.is_file():
            raise DataError(
                f"wordnet = {folder!r}: no {name} there",
                why="the files of WordNet 3.0 or 3.1 are expected",
                fix="the folder that has them, such as /usr/share/wordnet (Debian's wordnet-base)",
            )
        for number, line in enumerate(
            path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1
        ):
            if not line.startswith(" ") and line.strip():  # the licence is indented
                try:
                    offset, names, pointers = _synset(line.split())
                except (ValueError, IndexError):
                    raise DataError(
                        f"{path}, line {number}: no synset", fix="the files as WordNet brings them"
                    ) from None
                words[part, offset] = names
                links += pointers
    pairs: dict[str, set[str]] = {}
    for word, place, target in links:
        other = words.get(place, [])[target - 1 : target]
        for first, second in ((word, *other), (*other, word)) if other and other[0] != word else ():
            pairs.setdefault(first, set()).add(second)
    return {word: frozenset(others) for word, others in pairs.items()}


def _synset(fields: list[str]) -> tuple[str, list[str], list[tuple[str, Place, int]]]:
    """Offset and words of a synset, and which of its words is linked with which word of which other."""
    count = int(fields[3], 16)
    names = [_plain(word) for word in fields[4 : 4 + 2 * count : 2]]
    start = 4 + 2 * count
    return fields[0], names, list(_pointers(names, fields[start + 1 :], int(fields[start])))


def _pointers(names: list[str], fields: list[str], count: int) -> Iterator[tuple[str, Place, int]]:
    for place in range(0, 4 * count, 4):
        symbol, offset, part, ends = fields[place : place + 4]
        source, target = int(ends[:2], 16), int(ends[2:], 16)
        if symbol == DERIVED and source and target:
            yield names[source - 1], (part, offset), target


def _plain(word: str) -> str:
    """In lower case, without the marks that say where an adjective may stand."""
    return word.partition("(")[0].lower()
