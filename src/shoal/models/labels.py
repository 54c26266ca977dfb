"""Map a model's label names to the suite's.

POSITIVE, positive        the same name in another spelling: mapped
?labels=                  set by the user: mapped
LABEL_0, 0                no name: an error, because the order would be a guess

`?labels=` has two forms, for every kind of model:

    negative,neutral,positive     the suite's names, in the order of the model's numbers or columns
    neg:negative,pos:positive     the model's name and the suite's name of each label

A backslash before a comma, a colon or a backslash makes it part of a name.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.errors import ModelError

SAME: tuple[tuple[str, ...], ...] = (
    ("negative", "neg", "negativ", "négatif", "négative", "negativo", "negativa"),
    ("neutral", "neu", "neutre", "neutro", "neutra"),
    ("positive", "pos", "positiv", "positif", "positivo", "positiva"),
    ("duplicate", "duplicates", "paraphrase", "paraphrases", "equivalent", "same"),
    ("different", "not duplicate", "not paraphrase", "not equivalent", "non duplicate", "non paraphrase"),
    ("entailment", "entails", "entailed"),
    ("contradiction", "contradicts", "contradictory"),
    ("not entailment", "non entailment"),
    ("hateful", "hate", "hate speech"),
    ("non hateful", "not hateful", "non hate", "not hate", "nothate", "no hate"),
)
"""Groups of synonyms, also of other languages. Only unambiguous ones: "toxic" is not "hateful"."""

NO_NAME = "column "
"""Prefix of unnamed columns, so that a position is not read as a numeric label."""
NAMELESS = re.compile(rf"(label[ _-]?|{NO_NAME})?\d+", re.IGNORECASE)

BETWEEN_LETTERS = re.compile(r"(?<=[^\W\d_])[\W_]+(?=[^\W_])|(?<=\d)[\W_]+(?=[^\W\d_])")
"""Spaces and punctuation inside a name, but not between digits: 1.5 is not 15."""
AROUND = " .,;:!?\"'`()[]{}*_"
"""Ignored at both ends of a name. Signs are not: A- is not A, C++ is not C."""


# The option ?labels=


@dataclass(frozen=True, slots=True)
class LabelNames:
    """A parsed `?labels=`: the order of a model's labels, or the meaning of each name."""

    order: tuple[str, ...] = ()
    """The suite's names, in the order of the model's numbers or columns."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The model's names to the suite's."""


def parse_labels(option: str, who: str) -> LabelNames:
    """Parse `?labels=` of the model `who`."""
    entries = [split_names(entry, ":") for entry in _split(option, ",")]
    firsts = [entry[0] for entry in entries]
    is_valid = all(name for entry in entries for name in entry) and len(set(firsts)) == len(firsts)
    widths = {len(entry) for entry in entries}
    if not is_valid or widths not in ({1}, {2}):
        raise ModelError(
            f"{who}: labels={option!r} is not valid",
            fix="labels=NAME,NAME in the order of the model's numbers or columns, or labels=THEIRS:NAME,THEIRS:NAME, "
            "each once; put a backslash before a comma or colon inside a name",
        )
    return LabelNames(names=dict(entries)) if widths == {2} else LabelNames(order=tuple(firsts))


def labels_option(labels: Sequence[object] | Mapping[Any, object]) -> str:
    r"""Return names, or a mapping from the model's names to the suite's, in the form of `?labels=`.

    >>> labels_option({"pos": "positive", "n:g": "negative"})
    'pos:positive,n\\:g:negative'
    """
    if isinstance(labels, Mapping):
        return ",".join(f"{_escaped(theirs)}:{_escaped(ours)}" for theirs, ours in labels.items())
    return ",".join(map(_escaped, labels))


def split_names(text: str, separator: str = ",") -> list[str]:
    r"""Split a list of names and strip white space.

    >>> split_names(r"p_neg, p_pos,a\,b")
    ['p_neg', 'p_pos', 'a,b']
    """
    return [re.sub(r"\\([\\,:])", r"\1", part).strip() for part in _split(text, separator)]


def _split(text: str, separator: str) -> list[str]:
    """Split at separators without a backslash before them."""
    parts = [""]
    letters = iter(text)
    for letter in letters:
        if letter == separator:
            parts.append("")
        else:
            parts[-1] += letter + next(letters, "") if letter == "\\" else letter
    return parts


def _escaped(name: object) -> str:
    return re.sub(r"([\\,:])", r"\\\1", str(name))


# Matching names


def spelled(name: str) -> str:
    """Return a name without case, spaces and punctuation."""
    word = unicodedata.normalize("NFKC", name).casefold().strip()
    bare = word if any(map(str.isdigit, word)) else word.strip(AROUND)
    return BETWEEN_LETTERS.sub("", bare or word)


class Spellings:
    """Finds labels by name, ignoring case, spaces and punctuation."""

    def __init__(self, labels: Iterable[str]) -> None:
        self._labels = dict.fromkeys(labels)
        self._by_spelling = _unique({label: spelled(label) for label in self._labels})

    def get(self, name: str) -> str | None:
        """Return the label with this name; labels that differ only in spelling need the exact name."""
        return name if name in self._labels else self._by_spelling.get(spelled(name))


def _unique(keys: Mapping[str, str]) -> dict[str, str]:
    """Return the names by key, without those that share a key."""
    times = Counter(keys.values())
    return {key: name for name, key in keys.items() if times[key] == 1}


def plain(name: str) -> str:
    """Return a normalised name, with synonyms replaced by one word.

    >>> plain("Not_Paraphrase"), plain("NEG"), plain("toxic")
    ('different', 'negative', 'toxic')
    """
    words = re.sub(r"[\s_-]+", " ", name.strip().lower())
    return next((group[0] for group in SAME if words in group), words)


def suite_names(own: Sequence[str], labels: Sequence[str] | None, who: str) -> tuple[str, ...]:
    """Return the suite's name of each of the labels of `who`, a spec or an object's name.

    A binary sentiment model has the two extremes of a three-label suite; scoring defines neutral.

    >>> suite_names(["POS", "NEG"], ["negative", "neutral", "positive"], "hf:model")
    ('positive', 'negative')
    """
    if labels is None:
        return tuple(own)
    names = respell(own, labels)
    if matches(names, labels):
        return names
    option = f"{who}{'&' if '?' in who else '?'}labels=" if ":" in who else "labels="
    if all(NAMELESS.fullmatch(name) for name in own):
        raise ModelError(
            f"{who} calls its labels {', '.join(own)}",
            why=f"their order among {', '.join(labels)} is unknown; a wrong guess would invert every prediction",
            fix=f"{option}{','.join(suggested_names(len(own), labels))}, in the order the model was trained with",
        )
    raise ModelError(
        f"{who} answers {', '.join(own)}; the suite's labels are {', '.join(labels)}",
        why=_difference(names, labels),
        fix=f"a model that was trained for {', '.join(labels[:8])}; if only the names differ, "
        f"{option}{','.join(f'{name}:…' for name in own[:8])}, with the suite's name after each colon",
    )


def check_order(own: Sequence[str], order: Sequence[str], who: str) -> None:
    """Raise if `?labels=` lists a model's own names in another order: one of the two would invert predictions."""
    ours, listed = list(map(plain, own)), list(map(plain, order))
    if ours == listed or sorted(ours) != sorted(listed) or all(map(NAMELESS.fullmatch, own)):
        return
    pairs = labels_option(dict(zip(own, order, strict=True)))
    raise ModelError(
        f"{who} calls its labels {', '.join(own)}, in this order; labels= lists {', '.join(order)}",
        why="one of the two orders would invert predictions",
        fix=f"leave out labels=; if the model's own names are wrong, labels={pairs}",
    )


def respell(names: Sequence[str], labels: Sequence[str]) -> tuple[str, ...]:
    """Return names in the suite's spelling; unknown names stay unchanged."""
    theirs = _unique({label: plain(label) for label in labels})
    return tuple(name if name in labels else theirs.get(plain(name), name) for name in names)


def matches(names: Sequence[str], labels: Sequence[str]) -> bool:
    """Return whether these are the suite's labels in some order, or the two extremes of three."""
    if len(set(names)) < len(names):
        return False
    return set(names) == set(labels) or bool(names and set(names) == set(extreme_labels(labels)))


def extreme_labels(labels: Sequence[str]) -> tuple[str, ...]:
    """Return the two extremes of three labels with neutral between them: the labels of a binary model."""
    between = len(labels) == 3 and plain(labels[1]) == "neutral"
    return (labels[0], labels[2]) if between else ()


def suggested_names(width: int, labels: Sequence[str]) -> list[str]:
    """Return as many of the suite's labels as the model has, for messages and unnamed columns."""
    return [labels[0], labels[-1]] if (width, len(labels)) == (2, 3) else list(labels)


def in_suite_order(names: Sequence[str], labels: Sequence[str] | None) -> list[str]:
    """Return the names in the suite's order."""
    return [label for label in labels if label in names] if labels else list(names)


def _difference(names: Sequence[str], labels: Sequence[str]) -> str:
    unknown = [name for name in names if name not in labels]
    absent = [label for label in labels if label not in names]
    parts = [f"the suite has no {', '.join(unknown)}"] if unknown else []
    parts += [f"the model has no {', '.join(absent)}"] if absent else []
    return "; ".join(parts) or "two of the model's labels mean the same"
