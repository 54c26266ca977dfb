"""A model's names for its labels, laid beside the suite's.

POSITIVE, positive, pos   the same label, written differently: mapped
LABEL_0, 0                no name at all: refused, for the order can only be guessed
"""

import re
from collections.abc import Sequence

from ..errors import ModelError

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


def plain(name: str) -> str:
    """A name without its typography, in the word that stands for all its synonyms.

    >>> plain("Not_Paraphrase"), plain("NEG"), plain("toxic")
    ('different', 'negative', 'toxic')
    """
    words = re.sub(r"[\s_-]+", " ", name.strip().lower())
    return next((group[0] for group in SAME if words in group), words)


def suite_names(own: Sequence[str], labels: Sequence[str] | None, who: str) -> tuple[str, ...]:
    """For each of a model's labels the suite's name of it.

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
            fix=f"{who}{'&' if '?' in who else '?'}labels={','.join(likely(len(own), labels))}, "
            "in the order the model was trained with",
        )
    raise ModelError(
        f"{who} answers {', '.join(own)}; the suite's labels are {', '.join(labels)}",
        why=_difference(found, labels),
        fix="?labels= with the suite's names, in the order of the model's own labels",
    )


def familiar(names: Sequence[str], labels: Sequence[str]) -> tuple[str, ...]:
    """Names as the suite writes them, where it has them at all.

    >>> familiar(["POS", "toxic"], ["negative", "positive"])
    ('positive', 'toxic')
    """
    theirs = {plain(label): label for label in labels}
    return tuple(theirs.get(plain(name), name) for name in names)


def matches(names: Sequence[str], labels: Sequence[str]) -> bool:
    """Whether these are the suite's labels in some order, or both ends of three."""
    if len(set(names)) < len(names):
        return False
    return set(names) == set(labels) or (len(labels) == 3 and set(names) == {labels[0], labels[-1]})


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
