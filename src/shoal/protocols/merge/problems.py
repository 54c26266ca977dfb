"""Labelled texts to problems; or to groups, where variants are there already (`docs/method/merge.md` 4.2).

A problem is a pair (premise, hypothesis) or a single text with its label. Rows without a gold label are left out and
counted. Problems that share their first text share a cluster: they stand and fall together.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.errors import DataError, PlanError, nearest, some
from ...core.records import Example
from ...data.grammar import make_rows
from ...data.labelled import read_labelled
from ...data.tables import open_rows
from .settings import OURS, Settings

NO_LABEL = ("-", "-1")
"""What stands in a label column where annotators did not agree."""
OWN_PROBLEMS = 120


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to be solved, with its label."""

    id: str
    texts: Example
    label: str

    @property
    def cluster(self) -> str:
        """What problems have in common that stand and fall together: the premise."""
        return (
            hashlib.sha256(self.texts[0].casefold().encode()).hexdigest()[:12] if self.texts[1:] else self.id
        )


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that are variants of one another; the first is the original."""

    id: str
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Read:
    """What a file holds."""

    problems: Sequence[Problem]
    labels: tuple[str, ...]
    rows: int
    dropped: Mapping[str, int]


# Problems


def read_problems(settings: Settings) -> Read:
    """The problems of a table, or our own."""
    if settings.data == OURS:
        rows = make_rows("nli", "test", OWN_PROBLEMS)
        problems = [Problem(str(number), row.texts, row.label) for number, row in enumerate(rows, start=1)]
        return _read(settings, problems, len(problems), Counter())
    path = _path(settings.data)
    labelled = read_labelled(path, settings.text, settings.label)
    dropped: Counter[str] = Counter()
    problems = []
    for line, row in zip(labelled.lines, labelled.rows, strict=True):
        if row.label in NO_LABEL:
            dropped["no gold label"] += 1
        else:
            problems.append(
                Problem(str(line), row.texts, _named(settings, row.label, f"{path}, line {line}"))
            )
    return _read(settings, problems, len(labelled.rows), dropped)


def _read(settings: Settings, problems: list[Problem], rows: int, dropped: Counter[str]) -> Read:
    seen: dict[tuple[Example, str], Problem] = {}
    for problem in problems:
        seen.setdefault((problem.texts, problem.label), problem)
    dropped["the same problem again"] += len(problems) - len(seen)
    kept = _limited(list(seen.values()), settings)
    dropped["not among `limit`"] += len(seen) - len(kept)
    if not kept:
        raise DataError(
            f'"{settings.data}": no problem with a label',
            fix="check that this is the file and label column you meant",
        )
    if settings.targets == "shared" and any(len(problem.texts) == 1 for problem in kept):
        raise PlanError(
            f'targets = "shared", and "{settings.data}" has single texts',
            why="there is no second text that could share a word",
            fix="leave targets out: any open-class word of a single text is replaced",
        )
    labels = label_order(settings, (problem.label for problem in problems))  # whatever `limit` leaves of them
    return Read(kept, labels, rows, {why: count for why, count in dropped.items() if count})


def _limited(problems: list[Problem], settings: Settings) -> list[Problem]:
    if settings.limit is None or settings.limit >= len(problems):
        return problems
    salt = f"limit {settings.draw_seed}"
    chosen = sorted(problems, key=lambda problem: _hash(salt, *problem.texts, problem.label))[
        : settings.limit
    ]
    wanted = {problem.id for problem in chosen}
    return [problem for problem in problems if problem.id in wanted]


def label_order(settings: Settings, labels: Iterable[str]) -> tuple[str, ...]:
    """The names of the labels: as the settings list them, else by the alphabet."""
    return settings.label_names or tuple(sorted(set(labels)))


def _named(settings: Settings, label: str, where: str) -> str:
    """A label by its name; numbers are never guessed at."""
    names = settings.label_names
    if label in names:
        return label
    if names and label.isdecimal() and int(label) < len(names):
        return names[int(label)]
    if names:
        raise DataError(
            f"{where}: label {label!r}",
            why=f"label_names has {', '.join(names)}",
            fix=nearest(label, names)
            or f"{len(names)} labels are named: name all of them, in the order of the numbers",
        )
    if label.isdecimal():
        raise DataError(
            f"{where}: label {label} is a number, and what it means is not said",
            why="files disagree: 0 is entailment in some, and 3 in others",
            fix="label_names with what 0, 1 and so on mean: entailment,neutral,contradiction or negative,positive, say",
        )
    return label


def _path(data: str) -> Path:
    if not Path(data).exists():
        raise DataError(
            f"data {data!r}: no such file",
            why=f"a table is expected, or {OURS!r}, which ships with shoal",
            fix=nearest(data, [OURS]) or "check the path",
        )
    return Path(data)


def _hash(salt: str, *words: str) -> bytes:
    return hashlib.sha256("\0".join((salt, *words)).encode()).digest()


# Groups


def read_groups(settings: Settings) -> tuple[list[Group], Read]:
    """The groups of a table: by a column that names them, or a row each where columns hold other wordings."""
    if settings.data == OURS:
        raise DataError(
            f"data = {OURS!r} has no groups",
            why="its variants are generated",
            fix="data = FILE with the column",
        )
    path = _path(settings.data)
    if settings.paraphrase:
        return _rows_as_groups(path, settings)
    columns = _values(path, (settings.group,))
    read = read_labelled(path, settings.text, settings.label)
    by_group: dict[str, list[Problem]] = {}
    dropped: Counter[str] = Counter()
    for line, row in zip(read.lines, read.rows, strict=True):
        (group,) = columns[line]
        if not group:
            raise DataError(
                f"{path}, line {line}: nothing in column {settings.group!r}",
                fix="fill it in, or take the row out",
            )
        if row.label in NO_LABEL:
            dropped["no gold label"] += 1
            continue
        label = _named(settings, row.label, f"{path}, line {line}")
        by_group.setdefault(group, []).append(Problem(str(line), row.texts, label))
    return _groups(settings, by_group, len(read.rows), dropped)


def _rows_as_groups(path: Path, settings: Settings) -> tuple[list[Group], Read]:
    columns = _values(path, settings.paraphrase)
    read = read_labelled(path, settings.text, settings.label)
    by_group: dict[str, list[Problem]] = {}
    dropped: Counter[str] = Counter()
    for line, row in zip(read.lines, read.rows, strict=True):
        if row.label in NO_LABEL:
            dropped["no gold label"] += 1
            continue
        label = _named(settings, row.label, f"{path}, line {line}")
        texts = [row.texts, *((*row.texts[:-1], other) for other in columns[line] if other)]
        by_group[str(line)] = [Problem(f"{line}", text, label) for text in texts]
    return _groups(settings, by_group, len(read.rows), dropped)


def _groups(
    settings: Settings, by_group: Mapping[str, list[Problem]], rows: int, dropped: Counter[str]
) -> tuple[list[Group], Read]:
    groups = [Group(name, tuple(problems)) for name, problems in by_group.items()]
    if settings.limit is not None and settings.limit < len(groups):
        salt = f"limit {settings.draw_seed}"
        chosen = sorted(groups, key=lambda group: _hash(salt, group.id))[: settings.limit]
        dropped["not among `limit`"] = sum(len(group.problems) for group in groups) - sum(
            len(group.problems) for group in chosen
        )
        wanted = {group.id for group in chosen}
        groups = [group for group in groups if group.id in wanted]
    if all(len(group.problems) == 1 for group in groups):
        raise DataError(
            f'"{settings.data}": no group of two rows or more',
            why=f"{len(by_group):,} rows stand alone",
            fix="group = the column whose values several rows share",
        )
    problems = [group.problems[0] for group in groups]
    labels = label_order(settings, (problem.label for rows_of in by_group.values() for problem in rows_of))
    return groups, Read(problems, labels, rows, {why: count for why, count in dropped.items() if count})


def _values(path: Path, names: Sequence[str]) -> dict[int, tuple[str, ...]]:
    """What stands in some columns, by line."""
    table = open_rows(path)
    for name in names:
        if name not in table.columns:
            raise DataError(
                f"{path}, line 1: no column {name!r}",
                why=f"there are {some(table.columns, 12)}",
                fix=nearest(name, table.columns) or "one of those",
            )
    values = {}
    for line, row in table.rows:
        values[line] = tuple(_word(row, name) for name in names)
    return values


def _word(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return "" if value is None else str(value).strip()
