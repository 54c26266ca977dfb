"""A model's names for its labels, laid beside the suite's.

POSITIVE, positive        the same name, written differently: taken
?labels=                  given by the user: taken
LABEL_0, 0                no name at all: refused, for the order can only be guessed

`?labels=` has two forms, for every kind of model:

    negative,neutral,positive     the suite's names, in the order of the model's numbers or columns
    neg:negative,pos:positive     the model's name of each label, and the suite's

A backslash before a comma, a colon or a backslash makes it part of a name.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..core.errors import ModelError

SAME: tuple[tuple[str, ...], ...] = (
    ("negative", "neg"),
    ("neutral", "neu"),
    ("positive", "pos"),
    ("duplicate", "duplicates", "paraphrase", "paraphrases", "equivalent", "same"),
    ("different", "not duplicate", "not paraphrase", "not equivalent", "non duplicate", "non paraphrase"),
    ("entailment", "entails", "entailed"),
    ("contradiction", "contradicts", "contradictory"),
    ("not entailment", "non entailment"),
    ("hateful", "hate", "hate speech"),
    ("non hateful", "not hateful", "non hate", "not hate", "nothate", "no hate"),
)
"""Names that mean one label. Only what nobody would read otherwise: "toxic" is not "hateful"."""

NAMELESS = re.compile(r"(label[ _-]?)?\d+", re.IGNORECASE)

BETWEEN_LETTERS = re.compile(r"(?<=[^\W\d_])[\W_]+(?=[^\W_])|(?<=\d)[\W_]+(?=[^\W\d_])")
"""Spaces and punctuation inside a name; not between digits: 1.5 is not 15."""
AROUND = " .,;:!?\"'`()[]{}*_"
"""What may stand at its ends and says nothing; a sign does: A- is not A, C++ is not C."""


# What ?labels= says


@dataclass(frozen=True, slots=True)
class LabelNames:
    """What the user says about a model's labels: their order, or the meaning of each name."""

    order: tuple[str, ...] = ()
    """The suite's names, in the order of the model's numbers or columns."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The model's names, to the suite's."""


def parse_labels(option: str, who: str) -> LabelNames:
    """What `?labels=` says; `who` is the model it stands behind.

    >>> parse_labels("negative,positive", "m").order, parse_labels("neg:negative,pos:positive", "m").names
    (('negative', 'positive'), {'neg': 'negative', 'pos': 'positive'})
    """
    entries = [split_names(entry, ":") for entry in _split(option, ",")]
    if any(not name for entry in entries for name in entry) or len({len(entry) for entry in entries}) > 1:
        raise ModelError(
            f"{who}: labels={option!r} is not understood",
            fix="labels=NAME,NAME in the order of the model's numbers or columns, "
            "or labels=THEIRS:NAME,THEIRS:NAME; a backslash goes before a comma or colon inside a name",
        )
    if len(entries[0]) > 2:
        raise ModelError(
            f"{who}: labels={option!r}: two colons in one name",
            fix="a backslash before a colon inside a name",
        )
    firsts = [entry[0] for entry in entries]
    twice = next((name for name, times in Counter(firsts).items() if times > 1), None)
    if twice is not None:
        raise ModelError(f"{who}: labels={option!r} names {twice!r} twice", fix="name every label once")
    pairs = len(entries[0]) == 2
    return LabelNames(names=dict(entries)) if pairs else LabelNames(order=tuple(firsts))


def labels_option(labels: Sequence[str] | Mapping[str, str]) -> str:
    r"""Names in order, or a mapping from the model's names to the suite's, as `?labels=` takes them.

    >>> labels_option({"pos": "positive", "n:g": "negative"})
    'pos:positive,n\\:g:negative'
    """
    if isinstance(labels, Mapping):
        return ",".join(f"{_escaped(theirs)}:{_escaped(ours)}" for theirs, ours in labels.items())
    return ",".join(map(_escaped, labels))


def split_names(text: str, separator: str = ",") -> list[str]:
    r"""The names in a list, without the blanks around them.

    >>> split_names(r"p_neg, p_pos,a\,b")
    ['p_neg', 'p_pos', 'a,b']
    """
    return [re.sub(r"\\([\\,:])", r"\1", part).strip() for part in _split(text, separator)]


def _split(text: str, separator: str) -> list[str]:
    """Cut at the separators that no backslash precedes."""
    parts = [""]
    letters = iter(text)
    for letter in letters:
        if letter == separator:
            parts.append("")
        else:
            parts[-1] += letter + next(letters, "") if letter == "\\" else letter
    return parts


def _escaped(name: str) -> str:
    return re.sub(r"([\\,:])", r"\\\1", name)


# Names that agree


def spelled(name: str) -> str:
    """A name but for case, spaces and punctuation.

    >>> spelled("Non_Hateful ") == spelled("non-hateful"), spelled("A-") == spelled("A"), spelled("-1")
    (True, False, '-1')
    """
    word = unicodedata.normalize("NFKC", name).casefold().strip()
    bare = word if any(map(str.isdigit, word)) else word.strip(AROUND)
    return BETWEEN_LETTERS.sub("", bare or word)


class Spellings:
    """Labels, to be found by names that are theirs but for case, spaces and punctuation.

    >>> labels = Spellings(["negative", "positive"])
    >>> labels.get("POSITIVE"), labels.get("pos")
    ('positive', None)
    """

    def __init__(self, labels: Iterable[str]) -> None:
        self._labels = dict.fromkeys(labels)
        self._by_spelling = _unique({label: spelled(label) for label in self._labels})

    def get(self, name: str) -> str | None:
        """The label of that name; where two are spelled alike, only by its very name."""
        return name if name in self._labels else self._by_spelling.get(spelled(name))


def _unique(keys: Mapping[str, str]) -> dict[str, str]:
    """The names by their keys, without those that share one."""
    times = Counter(keys.values())
    return {key: name for name, key in keys.items() if times[key] == 1}


def plain(name: str) -> str:
    """A name without its typography, in the word that stands for all its synonyms.

    >>> plain("Not_Paraphrase"), plain("NEG"), plain("toxic")
    ('different', 'negative', 'toxic')
    """
    words = re.sub(r"[\s_-]+", " ", name.strip().lower())
    return next((group[0] for group in SAME if words in group), words)


def suite_names(
    own: Sequence[str], labels: Sequence[str] | None, who: str, named_by: str = ""
) -> tuple[str, ...]:
    """For each of a model's labels the suite's name of it; `named_by` is how to name them, if not by `?labels=`.

    A two-class sentiment model has the two ends of a three-label suite; what lies between is the scorer's business.

    >>> suite_names(["POS", "NEG"], ["negative", "neutral", "positive"], "hf:model")
    ('positive', 'negative')
    """
    if labels is None:
        return tuple(own)
    found = familiar(own, labels)
    if matches(found, labels):
        return found
    if all(NAMELESS.fullmatch(name) for name in own):
        raise ModelError(
            f"{who} calls its labels {', '.join(own)}",
            why=f"which of them is which of {', '.join(labels)} cannot be told; a wrong guess turns every answer round",
            fix=(named_by or f"{who}{'&' if '?' in who else '?'}labels={','.join(likely(len(own), labels))}")
            + ", in the order the model was trained with",
        )
    raise ModelError(
        f"{who} answers {', '.join(own)}; the suite's labels are {', '.join(labels)}",
        why=_difference(found, labels),
        fix=f"{named_by or '?labels='} with the suite's names, in the order of the model's own labels",
    )


def familiar(names: Sequence[str], labels: Sequence[str]) -> tuple[str, ...]:
    """Names as the suite writes them, where it has them at all.

    >>> familiar(["POS", "toxic"], ["negative", "positive"])
    ('positive', 'toxic')
    """
    theirs = _unique({label: plain(label) for label in labels})
    return tuple(name if name in labels else theirs.get(plain(name), name) for name in names)


def matches(names: Sequence[str], labels: Sequence[str]) -> bool:
    """Whether these are the suite's labels in some order, or both ends of three."""
    if len(set(names)) < len(names):
        return False
    return set(names) == set(labels) or bool(names and set(names) == set(ends_of(labels)))


def ends_of(labels: Sequence[str]) -> tuple[str, ...]:
    """The two ends of three labels with neutral between them: what a two-class model of them knows.

    >>> ends_of(["negative", "neutral", "positive"]), ends_of(["hateful", "offensive", "fine"])
    (('negative', 'positive'), ())
    """
    between = len(labels) == 3 and plain(labels[1]) == "neutral"
    return (labels[0], labels[2]) if between else ()


def likely(width: int, labels: Sequence[str]) -> list[str]:
    """As many of the suite's labels as the model has, for a message or as the order of answers without names."""
    return [labels[0], labels[-1]] if (width, len(labels)) == (2, 3) else list(labels)


def in_suite_order(names: Sequence[str], labels: Sequence[str] | None) -> list[str]:
    """The names in the order in which the suite lists them."""
    return [label for label in labels if label in names] if labels else list(names)


def _difference(found: Sequence[str], labels: Sequence[str]) -> str:
    strange = [name for name in found if name not in labels]
    absent = [label for label in labels if label not in found]
    parts = [f"the suite has no {', '.join(strange)}"] if strange else []
    parts += [f"the model has no {', '.join(absent)}"] if absent else []
    return "; ".join(parts) or "two of the model's labels mean the same"
