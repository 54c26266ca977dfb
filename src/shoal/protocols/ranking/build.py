"""Files to cases: examples with a label, examples that were drawn for labelling, and those without one.

    labelled   drawn alike from the new domain: accuracy, probe sets, order
    chosen     drawn where models disagree, with the chance they had: order only
    pool       without a label: where models disagree, and what to label next

An example of the pool that has been labelled since is one case, and stays in the pool: what is drawn next must have the
chances that were written down.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...core.errors import DataError, PlanError, nearest, some
from ...core.files import is_file
from ...core.records import Case, Example
from ...data.grammar import GRAMMARS, make_rows
from ...data.labelled import Labelled, read_labelled
from ...data.signals import make_signals, named_signals, signal_names
from ...training.stage import Progress, silent
from ..base import Built
from .settings import Settings

OURS = (*(name for name in GRAMMARS if name != "reading"), *signal_names())
"""Data that need no file; those of reading comprehension have no labels."""
SIGNALS = 2_000
"""How many sentences with mixed signals are asked."""
IDS = ("case_id", "id")
CHANCE, LEAST, TIMES = "chance", "least chance", "times"
"""The columns that say how an example was drawn: how many times likelier than all alike, the same of the example least
likely to be drawn, and how often it was."""
LABELLED, CHOSEN, POOL = "labelled", "chosen", "pool"
FEATURE = "feature"
"""What a case's meta calls the word that some factors are about."""


@dataclass(frozen=True, slots=True)
class Draw:
    """How an example was drawn for labelling."""

    chance: float
    least: float
    times: int = 1


@dataclass(frozen=True, slots=True)
class Item:
    """A row of a file."""

    id: str
    texts: Example
    label: str = ""
    draw: Draw | None = None
    feature: str = ""
    is_unlabelled_draw: bool = False
    """It was drawn for labelling, and has no label."""


def build(settings: Settings, progress: Progress = silent) -> Built:
    """A case per example, the same for every model."""
    files = [
        read_items(settings, name, "some", first=not number) for number, name in enumerate(settings.data)
    ]
    items = [item for rows, _ in files for item in rows]
    pool, columns = read_items(settings, settings.pool, "none") if settings.pool else ([], {})
    _check_ids(items)
    labels = label_names(settings, items)
    cases = _cases(items, pool)
    progress("building", len(cases), len(cases))
    classes = settings.classes or {}
    counts = Counter(case.groups["part"] for case in cases)
    about = {
        "data": list(settings.data),
        "pool": settings.pool,
        "labels": list(labels),
        "examples": dict(counts),
        "drawn, not labelled": sum(item.is_unlabelled_draw for item in items),
        "columns": {**columns, **{name: column for _, read in files[:1] for name, column in read.items()}},
    }
    names = tuple(name for label in labels for name in classes.get(label, (label,)))
    return Built(cases, names, "attributions" if settings.explainers else "labels", about=about)


# Files


def read_items(
    settings: Settings, data: str, labelled: Labelled, *, first: bool = True
) -> tuple[list[Item], dict[str, list[str]]]:
    """The rows of a file, or of data of our own, and the columns that they were read from.

    A row that no column names goes by its line; in a further file with the file's name before it.
    """
    if data in signal_names():
        signals = make_signals(*named_signals(data), SIGNALS, np.random.default_rng([0, 1]))
        made = [
            Item(str(n), (one.text,), one.label, None, one.word) for n, one in enumerate(signals, start=1)
        ]
        return made, {"texts": ["text"]}
    if data in OURS and not is_file(Path(data)):
        rows = make_rows(data, "test")
        items = [Item(str(number), row.texts, row.label) for number, row in enumerate(rows, start=1)]
        return items, {"texts": ["text"] if len(rows[0].texts) == 1 else ["sentence1", "sentence2"]}
    path = Path(data)
    if not is_file(path):
        raise DataError(
            f"{data!r}: no such file",
            why=f"a CSV, TSV or JSON Lines file is expected, or data that ship with shoal: {', '.join(OURS)}",
            fix=nearest(data, OURS) or "check the name",
        )
    label = settings.label if labelled != "none" else ""
    naming = [settings.id] if settings.id else [*IDS]
    features = [settings.feature] if settings.feature else []
    table = read_labelled(
        path, settings.text, label, more=(*naming, CHANCE, LEAST, TIMES, *features), labelled=labelled
    )
    if settings.id and not any(row[settings.id] for row in table.more):
        raise DataError(
            f"{path}: nothing in column {settings.id!r}", fix="id = the column that names the examples"
        )
    if features and not any(row[settings.feature] for row in table.more):
        raise DataError(
            f"{path}: nothing in column {settings.feature!r}", fix="feature = the column that names the word"
        )
    before = "" if first else f"{path.name.partition('.')[0]}-"
    items = []
    for row, more, line in zip(table.rows, table.more, table.lines, strict=True):
        name = next(filter(None, (more[column] for column in naming)), f"{before}{line}")
        try:
            feature = more[settings.feature] if features else ""
            draw = draw_of(more)
            items.append(
                Item(
                    name,
                    row.texts,
                    row.label,
                    draw if row.label else None,
                    feature,
                    bool(draw and not row.label),
                )
            )
        except DataError as problem:
            raise problem.at(f"{path}, line {line}") from None
    *texts, column = table.columns
    return items, {"texts": texts, **({"label": [column]} if column else {})}


def draw_of(row: Mapping[str, str]) -> Draw | None:
    """How a row says that it was drawn; None if it says nothing, and was drawn like any other.

    >>> draw_of({CHANCE: "2.5", LEAST: "1.25", TIMES: ""})
    Draw(chance=2.5, least=1.25, times=1)
    """
    if not row[CHANCE] and not row[LEAST]:
        return None
    try:
        draw = Draw(float(row[CHANCE]), float(row[LEAST]), int(row[TIMES] or 1))
    except ValueError:
        draw = Draw(math.nan, math.nan)
    if not (0 < draw.least <= draw.chance < math.inf and draw.times >= 1):
        raise DataError(
            f"{CHANCE} = {row[CHANCE]!r}, {LEAST} = {row[LEAST]!r}, {TIMES} = {row[TIMES]!r}",
            why="numbers as `shoal rank --out` writes them are expected, the least chance being no larger",
            fix="leave these columns as they were written",
        )
    return draw


def _check_ids(items: Sequence[Item]) -> None:
    """One name for two examples is a mistake; one example that was drawn twice is not."""
    first: dict[tuple[str, str], Item] = {}
    for item in items:
        other = first.setdefault((part_of(item), item.id), item)
        if other is not item and (other.texts != item.texts or item.draw is None):
            raise DataError(
                f"two examples are called {item.id!r}",
                why=f"{some(other.texts)} and {some(item.texts)}",
                fix="id = another column, or names that differ",
            )
        if other.label and item.label and other.label != item.label:
            raise DataError(
                f"example {item.id!r} has two labels, {other.label!r} and {item.label!r}",
                fix="keep one of them",
            )


def part_of(item: Item) -> str:
    """What an example is for: labelled, chosen or pool."""
    return CHOSEN if item.draw else LABELLED if item.label else POOL


# Labels


def label_names(settings: Settings, items: Sequence[Item]) -> list[str]:
    """Every label there is, as the settings name them or as the examples have them."""
    present = sorted({item.label for item in items if item.label})
    names = list(settings.labels) or present
    strange = [label for label in present if label not in names]
    if strange:
        raise DataError(
            f"label {strange[0]!r} is none of {some(names, 12)}",
            fix=nearest(strange[0], names)
            or f"labels = [{', '.join(repr(name) for name in [*names, *strange])}]",
        )
    if len(names) < 2:
        raise PlanError(
            f"{'one label only: ' + names[0] if names else 'no labels'}",
            why="which labels there are is told from the labelled examples, unless it is said",
            fix='labels = ["negative", "positive"], with every label there is; on the command line '
            "--set labels=negative,positive",
        )
    for label in settings.classes or {}:
        if label not in names:
            raise PlanError(
                f"classes: {label!r} is no label of the examples",
                why=f"labels: {some(names, 12)}",
                fix=nearest(label, names) or "one of those",
            )
    return names


# Cases


def _cases(items: Sequence[Item], pool: Sequence[Item]) -> list[Case]:
    """A case per example: rows of one that was drawn several times are put together."""
    by_texts: dict[Example, Case] = {}
    cases: dict[str, Case] = {}
    for item in items:
        part = part_of(item)
        before = by_texts.get(item.texts) if item.draw else None
        if before is not None and before.groups["part"] == CHOSEN:
            draws = [*before.meta["draws"], *_draws(item)]
            case = _case(before.id, item, CHOSEN, {**before.meta, "draws": draws})
        else:
            case = _case(f"{part}/{item.id}", item, part, {"draws": _draws(item)} if item.draw else {})
        cases[case.id] = case
        by_texts.setdefault(item.texts, case)
        if case.groups["part"] == CHOSEN:
            by_texts[item.texts] = case
    for item in pool:
        there = by_texts.get(item.texts)
        if there is None:
            case = by_texts[item.texts] = _case(f"{POOL}/{item.id}", item, POOL, {})
        else:
            case = Case(
                there.id, there.examples, there.labels, there.groups, "", {**there.meta, "in pool": True}
            )
        cases[case.id] = case
    return list(_checked(cases))


def _case(identity: str, item: Item, part: str, meta: Mapping[str, object]) -> Case:
    named = {**meta, FEATURE: item.feature} if item.feature else meta
    return Case(identity, (item.texts,), (item.label,) if item.label else None, {"part": part}, "", named)


def _draws(item: Item) -> list[list[float]]:
    return [[item.draw.chance, item.draw.least, item.draw.times]] if item.draw else []


def _checked(cases: Mapping[str, Case]) -> Iterator[Case]:
    if not cases:
        raise DataError("no examples", fix="data = FILE, or pool = FILE")
    widths = {len(case.examples[0]) for case in cases.values()}
    if len(widths) > 1:
        raise DataError(
            "single texts and pairs in one ranking",
            why="data and pool hold different kinds of examples",
            fix='text = ["COLUMN"], or text = ["COLUMN", "COLUMN"], for both',
        )
    yield from cases.values()


def population_of(cases: Sequence[Case], size: int | None) -> list[int]:
    """The places of the labelled examples that probe sets are drawn from: all, or so many, drawn once and for all.

    The draw depends on the names of the examples alone, so that whoever asks about them chooses the same.
    """
    places = [place for place, case in enumerate(cases) if case.groups["part"] == LABELLED]
    if not size or size >= len(places):
        return places
    places.sort(key=lambda place: cases[place].id)
    return sorted(np.random.default_rng([0, 0]).choice(places, size, replace=False).tolist())


def in_pool(case: Case) -> bool:
    """Whether an example can be drawn for labelling, now or again."""
    return case.groups["part"] == POOL or bool(case.meta.get("in pool"))
