"""Read labelled texts as problems, or as groups of existing variants (`docs/method/merge.md` 4.2).

A problem is a pair (premise, hypothesis) or a single text with its label. Problems with the same premise form a
cluster, the unit of all intervals.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...core.errors import DataError, nearest
from ...core.files import is_data
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
    if not distinct:
        raise DataError(
            f'"{settings.data}": no problem with a label', fix="check the file and the label column"
        )
    return _limited(settings, {problem.id: [problem] for problem in distinct.values()}, rows, dropped)


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
    kept = _limited(settings, groups, rows, dropped)
    if all(len(group) == 1 for group in kept.groups.values()):
        raise DataError(
            f'"{settings.data}": no group of two rows or more',
            why=f"all {len(groups):,} groups have one row",
            fix="group = a column whose values several rows share",
        )
    return kept


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


def _limited(
    settings: Settings, groups: Mapping[str, Sequence[Problem]], rows: int, dropped: Counter[str]
) -> ProblemSet:
    """Return `limit` of the groups in their order, those with the smallest hashes, and the labels of all groups."""

    def key(name: str) -> bytes:
        original = groups[name][0]
        words = (*original.texts, original.label) if settings.generates else (name,)
        return hashlib.sha256("\0".join(("limit 0", *words)).encode()).digest()

    chosen = {*sorted(groups, key=key)[: settings.limit]}
    kept = {name: group for name, group in groups.items() if name in chosen}
    before, after = (sum(map(len, some.values())) for some in (groups, kept))
    dropped["not among `limit`"] = before - after
    labels = sorted({problem.label for group in groups.values() for problem in group})
    return ProblemSet(kept, settings.label_names or tuple(labels), rows, +dropped)


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
