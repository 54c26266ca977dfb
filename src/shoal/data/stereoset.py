"""StereoSet (Nadeem et al. 2021): a context and three ways to go on, one of them unrelated.

One JSON object, `{"version", "data": {"intrasentence": [...], "intersentence": [...]}}`. In an intra-sentence cluster
the context holds BLANK and the three sentences fill it; in an inter-sentence cluster they follow it.
"""

import json
import string
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.errors import DataError
from ..core.files import read_lines

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
    sentences: tuple[str, str, str]
    sentence_ids: tuple[str, str, str]


def read_clusters(path: Path) -> list[Cluster]:
    """Every cluster of the file, intra-sentence ones first."""
    text = "\n".join(line for _, line in read_lines(path))
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise DataError(
            f"{path}: not JSON",
            why=str(problem),
            fix="fetch or write the file again; it was probably cut short",
        ) from None
    tasks = found.get("data") if isinstance(found, dict) else None
    if not isinstance(tasks, dict) or not any(isinstance(tasks.get(task), list) for task in TASKS):
        raise DataError(
            f"{path}: not a StereoSet file",
            why='an object with "data" is expected, which holds lists "intrasentence" and "intersentence"',
            fix="check that this is the file you meant",
        )
    clusters = [
        _cluster(row, task, f"{path}: {task} {n}")
        for task in TASKS
        for n, row in enumerate(tasks.get(task, []))
    ]
    if not clusters:
        raise DataError(f"{path}: no clusters", fix="check that this is the file you meant")
    twice = len(clusters) - len({cluster.id for cluster in clusters})
    if twice:
        raise DataError(
            f"{path}: {twice} cluster ids are there twice", fix="fetch the file again, or take the copies out"
        )
    return clusters


def _cluster(row: Any, task: str, where: str) -> Cluster:
    wanted = ("id", "target", "bias_type", "context", "sentences")
    if not isinstance(row, dict) or any(name not in row for name in wanted):
        raise DataError(
            f"{where}: an object with {', '.join(wanted)} is expected",
            why=f"found: {str(row)[:80]}",
            fix="fetch the file again",
        )
    if not isinstance(row["sentences"], list):
        raise DataError(f"{where}: sentences must be a list", fix="fetch the file again")
    by_label: dict[str, Any] = {}
    for sentence in row["sentences"]:
        if not isinstance(sentence, dict) or not {"id", "sentence", "gold_label"} <= sentence.keys():
            raise DataError(
                f"{where}: a sentence has id, sentence and gold_label",
                why=f"found: {str(sentence)[:80]}",
                fix="fetch the file again",
            )
        by_label[sentence["gold_label"]] = sentence
    if sorted(by_label) != sorted(LABELS) or len(row["sentences"]) != len(LABELS):
        raise DataError(
            f"{where}: one sentence each of {', '.join(LABELS)} is expected",
            why=f"found: {', '.join(sorted(map(str, by_label)))} in {len(row['sentences'])} sentences",
            fix="fetch the file again, or take the cluster out",
        )
    if task == "intrasentence" and BLANK not in row["context"]:
        raise DataError(
            f"{where}: no {BLANK} in the context",
            why=row["context"][:80],
            fix="put it where the three words differ",
        )
    ordered = [by_label[label] for label in LABELS]
    first, second, third = (str(one["sentence"]) for one in ordered)
    one, two, three = (str(sentence["id"]) for sentence in ordered)
    identity, target, bias_type, context = (str(row[name]) for name in wanted[:4])
    return Cluster(identity, task, target, bias_type, context, (first, second, third), (one, two, three))


def filler(context: str, sentence: str) -> str:
    """The word of a sentence that stands where the context has BLANK, without punctuation; empty if there is none.

    Words are what single spaces divide. Of several BLANKs the last says which word it is, as in the authors' code.

    >>> filler("The chess player was BLANK.", "The chess player was asian.")
    'asian'
    """
    place = max(at for at, word in enumerate(context.split(" ")) if BLANK in word)
    words = sentence.split(" ")
    return words[place].translate(NO_PUNCTUATION) if place < len(words) else ""


def frame(context: str, sentence: str) -> tuple[str, str]:
    """What stands before and after the filler: the context around its last BLANK, others filled from the sentence.

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
