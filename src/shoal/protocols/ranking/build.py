"""Files to cases: labelled examples, examples drawn for labelling, and unlabelled ones.

    labelled   drawn uniformly from the new domain: accuracy, probe sets, order
    chosen     drawn where models disagree, with known probabilities: order only
    pool       unlabelled: where models disagree, and what to label next

A pool example that has been labelled since is one case and stays in the pool, so that the probabilities of later draws
are those written to the file.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from ...core.errors import DataError, PlanError, errors_at, nearest, some
from ...core.files import is_data, is_file
from ...core.records import Case, Example
from ...data.grammar import GRAMMARS, make_rows
from ...data.labelled import Labelled, read_labelled
from ...data.signals import SIGNAL_SETS, make_signals
from ...training.stage import Progress, silent
from ..base import Built
from .factors import FEATURE
from .settings import Settings

BUILT_IN = (*(name for name in GRAMMARS if name != "reading"), *SIGNAL_SETS)
"""Data that ship with shoal; those of reading comprehension have no labels."""
SIGNALS, TRAINING_SIGNALS = 2_000, 3_000
"""How many sentences with mixed signals are made, to rank by and to train on."""
IDS = ("case_id", "id", "uid")
"""Columns that may name an example."""
CHANCE, LEAST, TIMES = "chance", "least chance", "times"
"""Columns of an example drawn for labelling: its probability over the uniform one, the same of the least likely
example, and how often it was drawn."""
LABELLED, CHOSEN, POOL = "labelled", "chosen", "pool"


class Draw(NamedTuple):
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

    @property
    def part(self) -> str:
        """Return whether it is labelled, chosen or of the pool."""
        return POOL if not self.label else CHOSEN if self.draw else LABELLED


Columns = dict[str, list[str]]
"""The columns that the texts and the label were read from."""


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
    about = {
        "data": list(settings.data),
        "pool": settings.pool,
        "labels": list(labels),
        "examples": dict(Counter(case.groups["part"] for case in cases)),
        "drawn, not labelled": sum(bool(item.draw and not item.label) for item in items),
        "columns": {**columns, **(files[0][1] if files else {})},
    }
    names = tuple(name for label in labels for name in classes.get(label, (label,)))
    return Built(cases, names, "attributions" if settings.explainers else "labels", about=about)


# Files


def made_items(name: str, split: Literal["train", "test"], number: int = 0) -> list[Item]:
    """Return the examples of built-in data; for training, signals differ for every number."""
    if name not in SIGNAL_SETS:
        return [Item(str(place), row.texts, row.label) for place, row in enumerate(make_rows(name, split), 1)]
    count, seed = (SIGNALS, [0, 1]) if split == "test" else (TRAINING_SIGNALS, [0, 2, number])
    signals = make_signals(*SIGNAL_SETS[name], count, np.random.default_rng(seed))
    return [
        Item(str(place), (signal.text,), signal.label, feature=signal.word)
        for place, signal in enumerate(signals, 1)
    ]


def is_made(name: str) -> bool:
    """Return whether the data are built in, so that any number of examples can be made."""
    return name in BUILT_IN and not is_file(Path(name))


def checked_path(name: str) -> Path:
    """Return the path of a file of examples; raise if there is none."""
    if not is_data(name):
        raise DataError(
            f"{name!r}: no such file",
            why=f"expected a CSV, TSV or JSON Lines file, or one of {', '.join(BUILT_IN)}",
            fix=nearest(name, BUILT_IN) or "check the name",
        )
    return Path(name)


def read_items(
    settings: Settings, data: str, labelled: Labelled, *, first: bool = True
) -> tuple[list[Item], Columns]:
    """Return the rows of a file or of built-in data, and the columns that they come from.

    A row without an id is named by its line, in further files with the file's name before it.
    """
    if is_made(data):
        items = made_items(data, "test")
        return items, {"texts": ["text"] if len(items[0].texts) == 1 else ["sentence1", "sentence2"]}
    path = checked_path(data)
    label = settings.label if labelled != "none" else ""
    more_columns = (*IDS, CHANCE, LEAST, TIMES, FEATURE)
    table = read_labelled(path, settings.text, label, more=more_columns, labelled=labelled)
    prefix = "" if first else f"{path.name.partition('.')[0]}-"
    items = []
    for row, more, line in zip(table.rows, table.more, table.lines, strict=True):
        name = next(filter(None, (more[column] for column in IDS)), f"{prefix}{line}")
        with errors_at(f"{path}, line {line}"):
            draw = parse_draw(more)
        items.append(Item(name, row.texts, row.label, draw, more[FEATURE]))
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
    """Stop if an id has two texts or labels; drawing an example twice is fine."""
    first: dict[tuple[str, str], Item] = {}
    for item in items:
        other = first.setdefault((item.part, item.id), item)
        is_same = (other.texts, other.label) == (item.texts, item.label)
        if other is not item and not (is_same and item.draw):
            raise DataError(
                f"two examples have the id {item.id!r}",
                why=f"{some([*other.texts, other.label])} and {some([*item.texts, item.label])}",
                fix="distinct ids, and one label for each example",
            )


# Labels


def label_names(settings: Settings, items: Sequence[Item]) -> list[str]:
    """Return all labels, from the settings or from the examples."""
    present = sorted({item.label for item in items if item.label})
    names = list(settings.labels) or present
    check_labels("data", present, names)
    if len(names) < 2:
        raise PlanError(
            f"{'only one label: ' + names[0] if names else 'no labels'}",
            why="the labels come from the labelled examples unless they are set",
            fix='labels = ["negative", "positive"], all of them; on the command line '
            "--set labels=negative,positive",
        )
    check_labels("classes", settings.classes or {}, names)
    return names


def check_labels(where: str, labels: Iterable[str], names: Sequence[str]) -> None:
    """Raise if a label is not among the labels of the ranking."""
    unknown = sorted({*labels} - {*names})
    if unknown:
        raise DataError(
            f"{where}: label {unknown[0]!r} is not one of {some(names, 12)}",
            fix=nearest(unknown[0], names)
            or ("one of those" if where == "classes" else f"labels = {[*names, *unknown]}"),
        )


# Cases


def _cases(items: Sequence[Item], pool: Sequence[Item]) -> list[Case]:
    """Return a case per example, with all draws of one that was drawn several times."""
    cases: dict[str, Case] = {}
    chosen: dict[Example, str] = {}
    for item in items:
        name = f"{item.part}/{item.id}"
        meta: dict[str, object] = {}
        if item.part == CHOSEN and item.draw:
            name = chosen.setdefault(item.texts, name)
            earlier = cases[name].meta["draws"] if name in cases else []
            meta = {"draws": [*earlier, list(item.draw)]}
        cases[name] = _case(name, item, item.part, meta)
    by_texts = {case.examples[0]: name for name, case in reversed(cases.items())} | chosen
    for item in pool:
        name = by_texts.setdefault(item.texts, f"{POOL}/{item.id}")
        known = cases.get(name)
        if known is None:
            cases[name] = _case(name, item, POOL, {})
        else:
            cases[name] = replace(known, meta={**known.meta, "in pool": True})
    if not cases:
        raise DataError("no examples", fix="data = FILE, or pool = FILE")
    check_widths(case.examples[0] for case in cases.values())
    return list(cases.values())


def check_widths(examples: Iterable[Example]) -> None:
    """Raise if some examples are single texts and others pairs."""
    if len({len(example) for example in examples}) > 1:
        raise DataError(
            "single texts and pairs in one ranking",
            why="its files hold different kinds of examples",
            fix='text = ["COLUMN"], or text = ["COLUMN", "COLUMN"], for all',
        )


def _case(identity: str, item: Item, part: str, meta: Mapping[str, object]) -> Case:
    annotated = {**meta, FEATURE: item.feature} if item.feature else meta
    return Case(identity, (item.texts,), (item.label,) if item.label else None, {"part": part}, "", annotated)


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
