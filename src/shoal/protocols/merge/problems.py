"""Read labelled texts as problems, or as groups of existing variants (`docs/method/merge.md` 4.2).

A problem is a pair (premise, hypothesis) or a single text with its label. Rows without a gold label are dropped and
counted. Problems with the same premise form a cluster, the unit of all intervals.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ...core.errors import DataError, nearest
from ...core.records import Example
from ...data.grammar import make_rows
from ...data.labelled import read_labelled
from .settings import OURS, Settings

NO_LABEL = ("-", "-1")
"""Labels of rows on which the annotators did not agree."""
BUILT_IN_PROBLEMS = 120


@dataclass(frozen=True, slots=True)
class Problem:
    """A text or pair with its label."""

    id: str
    texts: Example
    label: str

    @property
    def cluster(self) -> str:
        """A hash of the premise; the id of a single text."""
        return (
            hashlib.sha256(self.texts[0].casefold().encode()).hexdigest()[:12] if self.texts[1:] else self.id
        )


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that are variants of one another, the original first."""

    id: str
    problems: tuple[Problem, ...]


Limited = TypeVar("Limited", Problem, Group)


@dataclass(frozen=True, slots=True)
class ProblemSet:
    """The problems of a file, with counts of dropped rows."""

    problems: Sequence[Problem]
    labels: tuple[str, ...]
    rows: int
    dropped: Mapping[str, int]


# Problems


def read_problems(settings: Settings) -> ProblemSet:
    """Read the problems of a table, or the built-in ones."""
    if settings.data == OURS:
        rows = make_rows("nli", "test", BUILT_IN_PROBLEMS)
        problems = [Problem(str(number), row.texts, row.label) for number, row in enumerate(rows, start=1)]
        return _problem_set(settings, problems, len(problems), Counter())
    path = _path(settings.data)
    labelled = read_labelled(path, settings.text, settings.label)
    dropped: Counter[str] = Counter()
    problems = []
    for line, row in zip(labelled.lines, labelled.rows, strict=True):
        if row.label in NO_LABEL:
            dropped["no gold label"] += 1
        else:
            problems.append(
                Problem(str(line), row.texts, _label_name(settings, row.label, f"{path}, line {line}"))
            )
    return _problem_set(settings, problems, len(labelled.rows), dropped)


def _problem_set(settings: Settings, problems: list[Problem], rows: int, dropped: Counter[str]) -> ProblemSet:
    seen: dict[tuple[Example, str], Problem] = {}
    for problem in problems:
        seen.setdefault((problem.texts, problem.label), problem)
    dropped["the same problem again"] += len(problems) - len(seen)
    kept = _limited(list(seen.values()), settings, lambda problem: _hash(*problem.texts, problem.label))
    dropped["not among `limit`"] += len(seen) - len(kept)
    if not kept:
        raise DataError(
            f'"{settings.data}": no problem with a label',
            fix="check the file and the label column",
        )
    labels = label_order(
        settings, (problem.label for problem in problems)
    )  # of all rows, whatever `limit` drops
    return ProblemSet(kept, labels, rows, {why: count for why, count in dropped.items() if count})


def _limited(items: list[Limited], settings: Settings, key: Callable[[Limited], bytes]) -> list[Limited]:
    """Return `limit` of the items, those with the smallest hashes, in their order."""
    if settings.limit is None or settings.limit >= len(items):
        return items
    ids = {item.id for item in sorted(items, key=key)[: settings.limit]}
    return [item for item in items if item.id in ids]


def label_order(settings: Settings, labels: Iterable[str]) -> tuple[str, ...]:
    """Return the label names of the settings, or all labels in alphabetical order."""
    return settings.label_names or tuple(sorted(set(labels)))


def _label_name(settings: Settings, label: str, where: str) -> str:
    """Return the name of a label; the meaning of a number is never guessed."""
    names = settings.label_names
    if label in names:
        return label
    if names and label.isdecimal() and int(label) < len(names):
        return names[int(label)]
    if names:
        raise DataError(
            f"{where}: label {label!r}",
            why=f"label_names are {', '.join(names)}",
            fix=nearest(label, names) or "label_names with every label, in the order of the numbers",
        )
    if label.isdecimal():
        raise DataError(
            f"{where}: label {label} is a number without a name",
            why="the meaning of numbers differs between files",
            fix="label_names = names of 0, 1 and so on, such as entailment,neutral,contradiction",
        )
    return label


def _path(data: str) -> Path:
    if not Path(data).exists():
        raise DataError(
            f"data {data!r}: no such file",
            why=f"expected a table or {OURS!r}, the built-in problems",
            fix=nearest(data, [OURS]) or "check the path",
        )
    return Path(data)


def _hash(*words: str) -> bytes:
    return hashlib.sha256("\0".join(("limit 0", *words)).encode()).digest()


# Groups


def read_groups(settings: Settings) -> tuple[list[Group], ProblemSet]:
    """Read the groups of a table: rows with the same value in `group`, or a row with its paraphrases."""
    if settings.data == OURS:
        raise DataError(
            f"data = {OURS!r} has no groups",
            why="its variants are generated",
            fix="data = FILE with a column of groups",
        )
    path = _path(settings.data)
    columns = settings.paraphrase or (settings.group,)
    labelled = read_labelled(path, settings.text, settings.label, more=columns)
    for name in columns:
        if not any(row[name] for row in labelled.more):
            raise DataError(f"{path}: no column {name!r}, or it is empty", fix="another column")
    by_group: dict[str, list[Problem]] = {}
    dropped: Counter[str] = Counter()
    for line, row, more in zip(labelled.lines, labelled.rows, labelled.more, strict=True):
        where, values = f"{path}, line {line}", [more[name] for name in columns]
        if settings.group and not values[0]:
            raise DataError(
                f"{where}: column {settings.group!r} is empty", fix="fill it in or delete the row"
            )
        if row.label in NO_LABEL:
            dropped["no gold label"] += 1
            continue
        label = _label_name(settings, row.label, where)
        if settings.group:
            by_group.setdefault(values[0], []).append(Problem(str(line), row.texts, label))
        else:
            texts = [row.texts, *((*row.texts[:-1], paraphrase) for paraphrase in values if paraphrase)]
            by_group[str(line)] = [Problem(str(line), text, label) for text in texts]
    return _groups(settings, by_group, len(labelled.rows), dropped)


def _groups(
    settings: Settings, by_group: Mapping[str, list[Problem]], rows: int, dropped: Counter[str]
) -> tuple[list[Group], ProblemSet]:
    groups = [Group(name, tuple(problems)) for name, problems in by_group.items()]
    rows_before = sum(len(group.problems) for group in groups)
    groups = _limited(groups, settings, lambda group: _hash(group.id))
    dropped["not among `limit`"] = rows_before - sum(len(group.problems) for group in groups)
    if all(len(group.problems) == 1 for group in groups):
        raise DataError(
            f'"{settings.data}": no group of two rows or more',
            why=f"all {len(by_group):,} groups have one row",
            fix="group = a column whose values several rows share",
        )
    problems = [group.problems[0] for group in groups]
    labels = label_order(settings, (problem.label for members in by_group.values() for problem in members))
    return groups, ProblemSet(problems, labels, rows, {why: count for why, count in dropped.items() if count})
