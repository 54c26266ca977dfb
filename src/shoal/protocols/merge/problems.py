"""Read labelled texts as problems, or as groups of existing variants (`docs/method/merge.md` 4.2).

A problem is a pair (premise, hypothesis) or a single text with its label. Problems with the same premise form a
cluster, the unit of all intervals.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from ...core.errors import DataError, nearest
from ...core.files import is_data
from ...core.records import Example
from ...data.grammar import make_rows
from ...data.labelled import read_labelled
from .settings import OURS, Settings

NO_LABEL = ("-", "-1")
"""Labels of rows on which the annotators did not agree."""
BUILT_IN_PROBLEMS = 120

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Problem:
    """A text or pair with its label."""

    id: str
    texts: Example
    label: str

    @property
    def cluster(self) -> str:
        """A hash of the premise; the id of a single text."""
        if len(self.texts) == 1:
            return self.id
        return hashlib.sha256(self.texts[0].casefold().encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class ProblemSet:
    """The problems of a file, with counts of dropped rows."""

    groups: Mapping[str, Sequence[Problem]]
    """Rows that are variants of one another, the original first; one row each if variants are generated."""
    labels: tuple[str, ...]
    rows: int
    dropped: Mapping[str, int]

    @property
    def problems(self) -> list[Problem]:
        """The originals."""
        return [group[0] for group in self.groups.values()]


Row = tuple[Problem, Mapping[str, str]]
"""A problem, and the further columns of its row."""


def read_problems(settings: Settings) -> ProblemSet:
    """Read the problems of a table, or the built-in ones."""
    if settings.data == OURS:
        made = make_rows("nli", "test", BUILT_IN_PROBLEMS)
        problems = [Problem(str(number), row.texts, row.label) for number, row in enumerate(made, start=1)]
        rows, dropped = len(made), Counter[str]()
    else:
        read, rows, dropped = _read(settings)
        problems = [problem for problem, _ in read]
    distinct: dict[tuple[Example, str], Problem] = {}
    for problem in problems:
        distinct.setdefault((problem.texts, problem.label), problem)
    dropped["duplicates"] = len(problems) - len(distinct)
    kept = _limited(list(distinct.values()), settings, lambda problem: (*problem.texts, problem.label))
    dropped["not among `limit`"] = len(distinct) - len(kept)
    if not kept:
        raise DataError(
            f'"{settings.data}": no problem with a label', fix="check the file and the label column"
        )
    groups = {problem.id: [problem] for problem in kept}
    return ProblemSet(groups, _labels(settings, problems), rows, +dropped)


def read_groups(settings: Settings) -> ProblemSet:
    """Read the groups of a table: rows with the same value in `group`, or a row with its paraphrases."""
    columns = settings.paraphrase or (settings.group,)
    read, rows, dropped = _read(settings, columns)
    for name in columns:
        if not any(more[name] for _, more in read):
            raise DataError(f"{settings.data}: no column {name!r}, or it is empty", fix="another column")
    groups: dict[str, list[Problem]] = {}
    for problem, more in read:
        if settings.paraphrase:
            texts = [(*problem.texts[:-1], more[name]) for name in columns if more[name]]
            groups[problem.id] = [problem, *(replace(problem, texts=paraphrase) for paraphrase in texts)]
        elif more[settings.group]:
            groups.setdefault(more[settings.group], []).append(problem)
        else:
            raise DataError(
                f"{settings.data}, line {problem.id}: column {settings.group!r} is empty",
                fix="fill it in or delete the row",
            )
    labels = _labels(settings, [problem for group in groups.values() for problem in group])
    kept = {name: groups[name] for name in _limited(list(groups), settings, lambda name: (name,))}
    sizes = [sum(map(len, some.values())) for some in (groups, kept)]
    dropped["not among `limit`"] = sizes[0] - sizes[1]
    if sizes[1] == len(kept):
        raise DataError(
            f'"{settings.data}": no group of two rows or more',
            why=f"all {len(groups):,} groups have one row",
            fix="group = a column whose values several rows share",
        )
    return ProblemSet(kept, labels, rows, +dropped)


def _read(settings: Settings, columns: Sequence[str] = ()) -> tuple[list[Row], int, Counter[str]]:
    """Return the rows of a table that have a label, the number of all rows, and counts of dropped ones."""
    path = Path(settings.data)
    if not is_data(path):
        raise DataError(
            f"data {settings.data!r}: no such file",
            why=f"expected a table; {OURS!r}, the built-in problems, has no groups",
            fix="data = FILE" if columns else nearest(settings.data, [OURS]) or "check the path",
        )
    table = read_labelled(path, settings.text, settings.label, more=columns)
    rows: list[Row] = []
    for line, row, more in zip(table.lines, table.rows, table.more, strict=True):
        if row.label not in NO_LABEL:
            label = _label_name(settings, row.label, f"{path}, line {line}")
            rows.append((Problem(str(line), row.texts, label), more))
    return rows, len(table.rows), Counter({"no gold label": len(table.rows) - len(rows)})


def _limited(items: list[Item], settings: Settings, words: Callable[[Item], Sequence[str]]) -> list[Item]:
    """Return `limit` of the items in their order: those whose words have the smallest hashes."""
    if settings.limit is None or settings.limit >= len(items):
        return items

    def key(place: int) -> bytes:
        return hashlib.sha256("\0".join(("limit 0", *words(items[place]))).encode()).digest()

    return [items[place] for place in sorted(sorted(range(len(items)), key=key)[: settings.limit])]


def _labels(settings: Settings, problems: Sequence[Problem]) -> tuple[str, ...]:
    """Return the label names of the settings, or all labels, whatever `limit` drops."""
    return settings.label_names or tuple(sorted({problem.label for problem in problems}))


def _label_name(settings: Settings, label: str, where: str) -> str:
    """Return the name of a label; the meaning of a number is never guessed."""
    names = settings.label_names
    if label in names:
        return label
    if names and label.isdecimal() and int(label) < len(names):
        return names[int(label)]
    if names or label.isdecimal():
        raise DataError(
            f"{where}: label {label!r} has no name",
            why=f"label_names are {', '.join(names)}" if names else "numbers differ between files",
            fix=nearest(label, names)
            or "label_names = the names of labels 0, 1 and so on, such as entailment,neutral,contradiction",
        )
    return label
