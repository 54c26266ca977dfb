"""StereoSet (Nadeem et al. 2021): a context and three ways to go on, one of them unrelated.

One JSON object, `{"version", "data": {"intrasentence": [...], "intersentence": [...]}}`. In an intra-sentence cluster
the context holds BLANK and the three sentences fill it; in an inter-sentence cluster they follow it.
"""

import string
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.errors import DataError
from ..core.files import read_json

FIELDS = ("id", "target", "bias_type", "context")
TASKS = ("intrasentence", "intersentence")
LABELS = ("stereotype", "anti-stereotype", "unrelated")
BLANK = "BLANK"
FILES = ("dev.json.gz", "dev.json", "test.json.gz", "test.json")
NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True, slots=True)
class Cluster:
    """A context with its three sentences, in the order of LABELS."""

    id: str
    task: str
    target: str
    bias_type: str
    context: str
    sentences: tuple[str, ...]
    sentence_ids: tuple[str, ...]


def read_clusters(path: Path) -> list[Cluster]:
    """Return every cluster of the file, intra-sentence ones first."""
    found = read_json(path)
    try:
        tasks = {task: list(found["data"].get(task, ())) for task in TASKS}
    except (AttributeError, KeyError, TypeError):
        raise DataError(
            f"{path}: not a StereoSet file",
            why='"data" must hold lists "intrasentence" and "intersentence"',
            fix="check that this is the file you meant",
        ) from None
    clusters = [
        _cluster(row, task, f"{path}: {task} {number}")
        for task, rows in tasks.items()
        for number, row in enumerate(rows)
    ]
    if not clusters:
        raise DataError(f"{path}: no clusters", fix="check that this is the file you meant")
    copies = len(clusters) - len({cluster.id for cluster in clusters})
    if copies:
        raise DataError(f"{path}: {copies} cluster ids occur twice", fix="fetch the file again")
    return clusters


def _cluster(row: Any, task: str, where: str) -> Cluster:
    try:
        identity, target, bias_type, context = (str(row[name]) for name in FIELDS)
        rows = [
            (str(part["gold_label"]), str(part["sentence"]), str(part["id"])) for part in row["sentences"]
        ]
    except (TypeError, KeyError) as problem:
        raise DataError(
            f"{where}: not a cluster: {problem!r}",
            why=f"expected: {', '.join(FIELDS)}, and sentences with id, sentence and gold_label",
            fix="fetch the file again",
        ) from None
    labels = sorted(label for label, _, _ in rows)
    if labels != sorted(LABELS) or (task == "intrasentence" and BLANK not in context):
        raise DataError(
            f"{where}: one sentence each of {', '.join(LABELS)} is expected, and {BLANK} in an intrasentence context",
            why=f"found: {', '.join(labels)}; {context[:80]}",
            fix="fetch the file again, or remove the cluster",
        )
    _, sentences, ids = zip(*sorted(rows, key=lambda part: LABELS.index(part[0])), strict=True)
    return Cluster(identity, task, target, bias_type, context, sentences, ids)


def filler(context: str, sentence: str) -> str:
    """Return the word of a sentence at the place of BLANK, without punctuation; empty if the sentence is too short.

    Single spaces divide words. The last of several BLANKs counts, as in the authors' code.

    >>> filler("The chess player was BLANK.", "The chess player was asian.")
    'asian'
    """
    place = max(at for at, word in enumerate(context.split(" ")) if BLANK in word)
    words = sentence.split(" ")
    return words[place].translate(NO_PUNCTUATION) if place < len(words) else ""


def frame(context: str, sentence: str) -> tuple[str, str]:
    """Return the context before and after its last BLANK; earlier ones are filled from the sentence.

    >>> frame("The chess player was BLANK.", "The chess player was asian.")
    ('The chess player was ', '.')
    """
    words, said = context.split(" "), sentence.split(" ")
    places = [at for at, word in enumerate(words) if BLANK in word]
    for at in places[:-1]:
        if at < len(said):
            words[at] = words[at].replace(BLANK, said[at].translate(NO_PUNCTUATION))
    before, _, after = " ".join(words).rpartition(BLANK)
    return before, after
