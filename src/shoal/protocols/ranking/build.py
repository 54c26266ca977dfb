"""Files to cases: labelled examples, examples drawn for labelling, and unlabelled ones.

    labelled   drawn uniformly from the new domain: accuracy, probe sets, order
    chosen     drawn where models disagree, with known probabilities: order only
    pool       unlabelled: where models disagree, and what to label next

A pool example that has been labelled since is one case and stays in the pool, so that the probabilities of later draws
are those written to the file.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from .word_factors import FEATURE

BUILT_IN = (*(name for name in GRAMMARS if name != "reading"), *signal_names())
"""Data that ship with shoal; those of reading comprehension have no labels."""
SIGNALS = 2_000
"""How many sentences with mixed signals are made."""
IDS = ("case_id", "id", "uid")
"""Columns that may name an example."""
CHANCE, LEAST, TIMES = "chance", "least chance", "times"
"""Columns of an example drawn for labelling: its probability over the uniform one, the same of the least likely
example, and how often it was drawn."""
LABELLED, CHOSEN, POOL = "labelled", "chosen", "pool"


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
    is_skipped: bool = False
    """Whether it was drawn for labelling and has no label."""

    @property
    def part(self) -> str:
        """Return whether it is labelled, chosen or of the pool."""
        return CHOSEN if self.draw else LABELLED if self.label else POOL


def build(settings: Settings, progress: Progress = silent) -> Built:
    """Return a case per example, the same for every model."""
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
        "drawn, not labelled": sum(item.is_skipped for item in items),
        "columns": {**columns, **{name: column for _, read in files[:1] for name, column in read.items()}},
    }
    names = tuple(name for label in labels for name in classes.get(label, (label,)))
    return Built(cases, names, "attributions" if settings.explainers else "labels", about=about)


# Files


def read_items(
    settings: Settings, data: str, labelled: Labelled, *, first: bool = True
) -> tuple[list[Item], dict[str, list[str]]]:
    """Return the rows of a file or of built-in data, and the columns that they come from.

    A row without an id is named by its line, in further files with the file's name before it.
    """
    if data in signal_names():
        signals = make_signals(*named_signals(data), SIGNALS, np.random.default_rng([0, 1]))
        items = [
            Item(str(number), (signal.text,), signal.label, None, signal.word)
            for number, signal in enumerate(signals, start=1)
        ]
        return items, {"texts": ["text"]}
    if data in BUILT_IN and not is_file(Path(data)):
        rows = make_rows(data, "test")
        items = [Item(str(number), row.texts, row.label) for number, row in enumerate(rows, start=1)]
        return items, {"texts": ["text"] if len(rows[0].texts) == 1 else ["sentence1", "sentence2"]}
    return _read_file(settings, data, labelled, first=first)


def _read_file(
    settings: Settings, data: str, labelled: Labelled, *, first: bool
) -> tuple[list[Item], dict[str, list[str]]]:
    path = Path(data)
    if not is_file(path):
        raise DataError(
            f"{data!r}: no such file",
            why=f"expected a CSV, TSV or JSON Lines file, or one of {', '.join(BUILT_IN)}",
            fix=nearest(data, BUILT_IN) or "check the name",
        )
    label = settings.label if labelled != "none" else ""
    more_columns = (*IDS, CHANCE, LEAST, TIMES, FEATURE)
    table = read_labelled(path, settings.text, label, more=more_columns, labelled=labelled)
    prefix = "" if first else f"{path.name.partition('.')[0]}-"
    items = []
    for row, more, line in zip(table.rows, table.more, table.lines, strict=True):
        name = next(filter(None, (more[column] for column in IDS)), f"{prefix}{line}")
        try:
            draw = parse_draw(more)
        except DataError as problem:
            raise problem.at(f"{path}, line {line}") from None
        is_skipped = bool(draw and not row.label)
        items.append(Item(name, row.texts, row.label, draw if row.label else None, more[FEATURE], is_skipped))
    *texts, column = table.columns
    return items, {"texts": texts, **({"label": [column]} if column else {})}


def parse_draw(row: Mapping[str, str]) -> Draw | None:
    """Return how a row was drawn for labelling; None if it was drawn uniformly.

    >>> parse_draw({CHANCE: "2.5", LEAST: "1.25", TIMES: ""})
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
            why="expected the numbers that `shoal rank --out` writes",
            fix="restore these columns",
        )
    return draw


def _check_ids(items: Sequence[Item]) -> None:
    """Stop if two examples have one id, or one example has two labels; drawing an example twice is fine."""
    first: dict[tuple[str, str], Item] = {}
    for item in items:
        other = first.setdefault((item.part, item.id), item)
        if other is not item and (other.texts != item.texts or item.draw is None):
            raise DataError(
                f"two examples have the id {item.id!r}",
                why=f"{some(other.texts)} and {some(item.texts)}",
                fix="distinct ids",
            )
        if other.label and item.label and other.label != item.label:
            raise DataError(
                f"example {item.id!r} has two labels, {other.label!r} and {item.label!r}",
                fix="keep one of them",
            )


# Labels


def label_names(settings: Settings, items: Sequence[Item]) -> list[str]:
    """Return all labels, from the settings or from the examples."""
    present = sorted({item.label for item in items if item.label})
    names = list(settings.labels) or present
    unknown = [label for label in present if label not in names]
    if unknown:
        raise DataError(
            f"label {unknown[0]!r} is not one of {some(names, 12)}",
            fix=nearest(unknown[0], names)
            or f"labels = [{', '.join(repr(name) for name in [*names, *unknown])}]",
        )
    if len(names) < 2:
        raise PlanError(
            f"{'only one label: ' + names[0] if names else 'no labels'}",
            why="the labels come from the labelled examples unless they are set",
            fix='labels = ["negative", "positive"], all of them; on the command line '
            "--set labels=negative,positive",
        )
    for label in settings.classes or {}:
        if label not in names:
            raise PlanError(
                f"classes: {label!r} is not a label of the examples",
                why=f"labels: {some(names, 12)}",
                fix=nearest(label, names) or "one of those",
            )
    return names


# Cases


def _cases(items: Sequence[Item], pool: Sequence[Item]) -> list[Case]:
    """Return a case per example, with all draws of one that was drawn several times."""
    by_texts: dict[Example, Case] = {}
    cases: dict[str, Case] = {}
    for item in items:
        known = by_texts.get(item.texts) if item.draw else None
        if known is not None and known.groups["part"] == CHOSEN:
            draws = [*known.meta["draws"], *_draws(item)]
            case = _case(known.id, item, CHOSEN, {**known.meta, "draws": draws})
        else:
            meta = {"draws": _draws(item)} if item.draw else {}
            case = _case(f"{item.part}/{item.id}", item, item.part, meta)
        cases[case.id] = case
        by_texts.setdefault(item.texts, case)
        if case.groups["part"] == CHOSEN:
            by_texts[item.texts] = case
    for item in pool:
        known = by_texts.get(item.texts)
        if known is None:
            case = by_texts[item.texts] = _case(f"{POOL}/{item.id}", item, POOL, {})
        else:
            case = replace(known, meta={**known.meta, "in pool": True})
        cases[case.id] = case
    return list(_checked(cases))


def _case(identity: str, item: Item, part: str, meta: Mapping[str, object]) -> Case:
    annotated = {**meta, FEATURE: item.feature} if item.feature else meta
    return Case(identity, (item.texts,), (item.label,) if item.label else None, {"part": part}, "", annotated)


def _draws(item: Item) -> list[list[float]]:
    return [[item.draw.chance, item.draw.least, item.draw.times]] if item.draw else []


def _checked(cases: Mapping[str, Case]) -> Iterator[Case]:
    if not cases:
        raise DataError("no examples", fix="data = FILE, or pool = FILE")
    if len({len(case.examples[0]) for case in cases.values()}) > 1:
        raise DataError(
            "single texts and pairs in one ranking",
            why="data and pool hold different kinds of examples",
            fix='text = ["COLUMN"], or text = ["COLUMN", "COLUMN"], for both',
        )
    yield from cases.values()


def population_of(cases: Sequence[Case], size: int | None) -> list[int]:
    """Return the positions of the labelled examples that probe sets are drawn from: all, or a fixed sample.

    The sample depends only on the names of the examples, so that asking and scoring choose the same.
    """
    positions = [position for position, case in enumerate(cases) if case.groups["part"] == LABELLED]
    if not size or size >= len(positions):
        return positions
    positions.sort(key=lambda position: cases[position].id)
    return sorted(np.random.default_rng([0, 0]).choice(positions, size, replace=False).tolist())


def in_pool(case: Case) -> bool:
    """Return whether an example can be drawn for labelling."""
    return case.groups["part"] == POOL or bool(case.meta.get("in pool"))
