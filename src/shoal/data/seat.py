"""Association tests: WEAT (Caliskan et al. 2017) and SEAT (May et al. 2019), two target and two attribute sets.

One JSON object per file, `{"targ1": {"category", "examples"}, "targ2", "attr1", "attr2"}`, whatever its suffix says.
An example is a word or a sentence. Where it is a sentence, the word that it is about is found by its template.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from ..core.errors import DataError, PlanError
from ..core.files import read_json

SETS = ("targ1", "targ2", "attr1", "attr2")

TEMPLATES = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?:This|That|There|Here|It) is (?:an? |the )?(?P<word>.+)\.",
        r"(?:These|Those|They|There|Here) are (?:the )?(?P<word>.+)\.",
        r"The person's name is (?P<word>.+)\.",
        r"(?:This|That) (?:will|did|can|may) (?P<word>.+)\.",
        r"(?:Here|There) (?P<word>.+) is\.",
        r"(?:The |An? )?(?P<word>.+) (?:is|are) (?:here|there|an? thing|an? person|things|people)\.",
    )
)
"""The bleached sentences of May et al.; tried in this order."""


@dataclass(frozen=True, slots=True)
class WordSet:
    """Examples of one concept, and the word that each is about; empty if unknown."""

    category: str
    examples: tuple[str, ...]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AssociationTest:
    """Two sets of targets, X and Y, and two of attributes, A and B."""

    name: str
    sets: Sequence[WordSet]


def read_tests(path: Path, names: Sequence[str] = ()) -> list[AssociationTest]:
    """Return the tests of a file or folder, or the named ones among them."""
    files = sorted({*path.glob("*.jsonl"), *path.glob("*.json")}) if path.is_dir() else [path]
    known = {file.name.split(".")[0]: file for file in files}
    if not known:
        raise DataError(
            f"{path}: no association tests",
            fix="the folder of their .jsonl files, or the name of one file",
        )
    for name in names:
        if name not in known:
            raise PlanError.unknown(f"no association test {name!r} in {path}", name, known, names="there are")
    return [read_test(known[name]) for name in names or known]


def read_test(path: Path) -> AssociationTest:
    """Return the test in a file."""
    found = read_json(path)
    if not isinstance(found, dict) or any(name not in found for name in SETS):
        raise DataError(
            f"{path}: not an association test",
            why=f"it is not an object with {', '.join(SETS)}",
            fix="check that this is the file you meant",
        )
    sets = [_word_set(found[name], f"{path}: {name}") for name in SETS]
    return AssociationTest(path.name.split(".")[0], sets)


def _word_set(given: Any, where: str) -> WordSet:
    examples = given.get("examples") if isinstance(given, dict) and "category" in given else None
    are_texts = isinstance(examples, list) and all(
        isinstance(text, str) and text.strip() for text in examples
    )
    if not examples or not are_texts:
        raise DataError(
            f"{where}: an object with category and examples is expected, none of them empty",
            fix='{"category": "Flowers", "examples": ["aster", "rose"]}',
        )
    once = tuple(dict.fromkeys(examples))  # as in the authors' code, where texts are keys
    return WordSet(str(given["category"]), once, words_of(once))


def words_of(examples: Sequence[str]) -> tuple[str, ...]:
    """Return the word that each example of a set is about.

    A word is about itself. Sentences are matched with the bleached templates; if one matches none, the word is the
    part that the sentences of the set do not share.

    >>> words_of(["This is an aster.", "The asters are here."])
    ('aster', 'asters')
    >>> words_of(["The engineer is competent.", "The engineer is very bold."])
    ('competent', 'very bold')
    """
    if not any(re.search(r"\w[.!?]$", example) for example in examples):
        return tuple(examples)
    fits = [next(filter(None, (one.fullmatch(example) for one in TEMPLATES)), None) for example in examples]
    if all(fits):
        return tuple(fit["word"] for fit in fits if fit)
    return _unshared(examples)


def _unshared(examples: Sequence[str]) -> tuple[str, ...]:
    """Return each sentence without the words that all begin and end with; empty if they share none."""
    tokens = [list(re.finditer(r"\w[\w'-]*|[^\w\s]", example)) for example in examples]
    rows = [[token[0] for token in row] for row in tokens]
    start = _shared_length(rows)
    end = _shared_length([row[start:][::-1] for row in rows])
    shared = rows[0][:start] + rows[0][len(rows[0]) - end :]
    if len(examples) < 2 or not any(token[0].isalnum() for token in shared):
        return ("",) * len(examples)
    inner = [row[start : len(row) - end] for row in tokens]
    return tuple(row[0].string[row[0].start() : row[-1].end()] if row else "" for row in inner)


def _shared_length(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of words with which all rows begin."""
    return len(list(takewhile(lambda words: len(set(words)) == 1, zip(*rows, strict=False))))
