"""Settings to cases: the suite, the edits of known defects, and the part to test on.

The split follows BELUGA (`docs/method/beluga.md` 1.2): 50/25/25 by case inside each functionality.
"""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from ...core.case_table import CaseTable, are_distinct
from ...core.errors import DataError, PlanError, nearest
from ...core.files import is_file, refuse_special, stamp
from ...core.records import Case, Example, Label
from ...core.selection import choose
from ...data.tables import read_table, require_columns
from ...models.batching import is_reading
from ...training.stage import Progress, silent
from ..base import Asks, Built
from .expect import rule_words
from .settings import SPLITS, Settings, SplitBy
from .suite import DEFAULTS, Suite
from .suite_files import is_generated, read_suite
from .suites import SUITES


def load_suite(name: str) -> Suite:
    """Return a suite that ships with shoal, by its name, or the suite in a file."""
    path = Path(__file__).parent / "suites" / SUITES[name] if name in SUITES else Path(name)
    if name in SUITES and path.suffix == ".py":
        suite: Suite = import_module(f"{__package__}.suites.{path.stem}").suite
        return suite
    if not is_file(path):
        refuse_special(path)
        raise DataError(
            f"suite {name[:200]!r} is neither a file nor one that ships with shoal",
            why=f"shipped: {', '.join(SUITES)}",
            fix=nearest(name, SUITES) or "shoal list suites",
        )
    return _read_once(path, stamp(str(path)))


@lru_cache(maxsize=2)
def _read_once(path: Path, _stamp: tuple[int, int]) -> Suite:
    """Return the suite in a file; jobs share it, and nobody changes it."""
    return read_suite(path)


def build(settings: Settings, progress: Progress = silent) -> Built:
    """Return the suite's cases with known defects repaired, or the part of them that the settings choose."""
    return built_suite(load_suite(settings.suite), *chosen_cases(settings, settings.split, settings.seed))


def chosen_cases(settings: Settings, split: str, seed: int) -> tuple[CaseTable, dict[str, Any]]:
    """Return the cases of a split that `only` and `limit` choose, and facts about the choice."""
    in_split = cases = suite_cases(settings, split)
    every, about = edited(settings), dict[str, Any]()
    if copies := len(every) - len(without_duplicates(every)):
        word = {"keep": "kept", "drop": "dropped"}[settings.resolved("duplicates")]
        about[f"repeated cases {word}"] = copies
    if settings.only:
        cases = in_split.take(choose(in_split, settings.only)) if in_split else in_split
        about |= {"chosen": list(settings.only), "not asked": len(in_split) - len(cases)}
    if settings.limit and settings.limit < len(cases):
        chosen = np.random.default_rng(seed).choice(len(cases), settings.limit, replace=False)
        cases = cases.take(np.sort(chosen).tolist())
    if not cases:
        raise DataError(
            f"suite {load_suite(settings.suite).name!r} has no case in split {split!r}",
            fix="another split, or leave it out",
        )
    return cases, about


def built_suite(
    suite: Suite, cases: Sequence[Case] | None = None, facts: Mapping[str, Any] | None = None
) -> Built:
    """Return cases of a suite for querying; all of them by default."""
    chosen = suite.cases if cases is None else cases
    about = {"suite": suite.name, "task": suite.task, "version": suite.version, **(facts or {})}
    asks: Asks = "spans" if is_reading(chosen) else "labels"
    # If nothing was left out or edited, the suite is not stored a second time.
    whole = () if chosen is suite.cases else suite.cases.with_meta(_plain)
    plain = CaseTable.of(chosen).with_meta(_plain)
    return Built(plain, suite.labels, asks, about=about, chosen_from=whole)


def _plain(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return a case's meta with plain values, as the store keeps them."""
    expect = meta["expect"]
    plain = {**meta, "expect": expect.as_json(), "expects": rule_words(expect)}
    return plain | ({"labels": list(meta["labels"])} if "labels" in meta else {})


def suite_cases(settings: Settings, split: str) -> CaseTable:
    """Return the suite's edited cases of one split; all of them if it is empty."""
    cases = edited(settings)
    if settings.resolved("duplicates") == "drop":
        cases = without_duplicates(cases)
    return choose_split(cases, split, settings.resolved("split_by")) if split else cases


def edited(settings: Settings) -> CaseTable:
    """Return every case of the suite, with the edits of the settings."""
    return EDITS[settings.resolved("edits")](load_suite(settings.suite).cases)


def split_identity(settings: Settings, split: str) -> dict[str, Any]:
    """Return the identity of a split: the rule by its name, a file by its content."""
    if split in SPLITS or not split:
        return {"split": split, "by": settings.resolved("split_by") if split else ""}
    path, part = split_file(split)
    return {"split": part, "file": digest_of(path.read_bytes()) if is_file(path) else ""}


@lru_cache(maxsize=8)
def suite_digest(name: str, _stamp: tuple[int, int]) -> str:
    """Return the hash of a suite's file, or of the cases that shoal or a module makes."""
    if name in SUITES or not is_file(Path(name)) or is_generated(Path(name)):
        suite = load_suite(name)  # raises if there is no such file
        rows = [(case.id, case.examples, case.labels, case.meta) for case in suite.cases]
        return digest_of(repr(rows).encode())
    with Path(name).open("rb") as stream:  # not read whole: it may be large
        return hashlib.file_digest(stream, "sha256").hexdigest()[:16]


def digest_of(content: bytes) -> str:
    """Return a short hash."""
    return hashlib.sha256(content).hexdigest()[:16]


# Suite edits (`docs/method/beluga.md` 1.2, `docs/method/checklist.md` 2.10)

Edit = Callable[[Case], Case]


def with_label(label: Label) -> Edit:
    """Return an edit that gives every example this label."""
    return lambda case: replace(case, labels=(label,) * len(case.examples))


def with_rule(rule: str) -> Edit:
    """Return an edit that judges by another rule."""
    return lambda case: replace(case, meta={**case.meta, "expect": replace(case.meta["expect"], rule=rule)})


def synonyms_as_minimum(case: Case) -> Case:
    """Test the label 1 instead of invariance under nothing."""
    meta = {**case.meta, "expect": DEFAULTS["MFT"]}
    return with_label(1)(replace(case, groups={**case.groups, "test type": "MFT"}, meta=meta))


def accept_not_negative(case: Case) -> Case:
    """Read label 1 of "Q & A: no" as anything but negative."""
    labels = tuple("not_0" if label == 1 else label for label in case.labels or ())
    return with_rule("pred_equals_label")(replace(case, labels=labels))


BELUGA_EDITS: dict[str, Edit] = {"Order does matter for asymmetric relations": with_label(0)}
REPAIRS: dict[str, Edit] = {
    **BELUGA_EDITS,
    "(question, f(question)) where f(question) replaces synonyms?": synonyms_as_minimum,
    "Testing implications": with_rule("implication"),
    "Q & A: no": accept_not_negative,
}
"""Edits by functionality; only the released suites have these names."""


def mend_cases(cases: Sequence[Case], edits: Mapping[str, Edit]) -> CaseTable:
    """Return the cases with the edits of their functionalities."""
    table = CaseTable.of(cases)
    if edits.keys().isdisjoint(filter(None, table.group_values("functionality"))):
        return table
    return CaseTable.of(
        [edits[name](case) if (name := case.groups["functionality"]) in edits else case for case in table]
    )


def repaired(cases: Sequence[Case]) -> CaseTable:
    """Return the cases of a released suite with the known mistakes in labels and rules corrected."""

    def normalised(meta: Mapping[str, Any]) -> Mapping[str, Any]:
        expect = meta["expect"]
        is_wrong = expect.rule == "string_equal_after_edge_strip"
        return {**meta, "expect": replace(expect, rule="squad_normalise")} if is_wrong else meta

    return mend_cases(cases, REPAIRS).with_meta(normalised)


def without_duplicates(cases: Sequence[Case]) -> CaseTable:
    """Return the first of all cases with the same examples and labels in one functionality."""
    table, firsts = CaseTable.of(cases), dict[object, int]()
    columns = (table.group_values("functionality"), table.examples, table.labels)
    if are_distinct(zip(*columns, strict=True)):
        return table
    for place, content in enumerate(zip(*columns, strict=True)):
        firsts.setdefault(content, place)
    return table if len(firsts) == len(table) else table.take(firsts.values())


EDITS: dict[str, Callable[[Sequence[Case]], CaseTable]] = {
    "none": CaseTable.of,
    "beluga": lambda cases: mend_cases(cases, BELUGA_EDITS),
    "repaired": repaired,
}


# Splits


def choose_split(cases: Sequence[Case], split: str, by: SplitBy) -> CaseTable:
    """Return the cases of one part: "train", "validation" or "test" by rule, or by a file."""
    table = CaseTable.of(cases)
    if split in SPLITS:
        part = split_cases(cases, by)
        return table.take(place for place, name in enumerate(table.ids) if part[name] == split)
    path, wanted = split_file(split)
    if not is_file(path):
        raise PlanError(
            f"split {split[:200]!r} is neither {', '.join(SPLITS)} nor a file",
            fix=nearest(split, SPLITS) or "split=test, split=FILE, or split=FILE:train",
        )
    part = read_split(path)
    missing = [name for name in table.ids if name not in part]
    if missing:
        raise DataError(
            f"{path}: {len(missing):,} cases have no split, the first is {missing[0]!r}",
            fix="a row for each: functionality, case_id, split",
        )
    return table.take(place for place, name in enumerate(table.ids) if part[name] == wanted)


def split_file(split: str) -> tuple[Path, str]:
    """Return file and part of a split setting: FILE means its test part, FILE:train another."""
    name, _, part = split.rpartition(":")
    return (Path(name), part) if part in SPLITS else (Path(split), "test")


def read_split(path: Path) -> dict[str, str]:
    """Return the split of each case id, from a table with columns functionality, case_id, split."""
    columns, rows = read_table(path)
    require_columns(path, columns, ("functionality", "case_id", "split"))
    part = {}
    for number, row in rows:
        if row["split"] not in SPLITS:
            raise DataError(
                f"{path}, line {number}: split {row['split']!r} is not one of {', '.join(SPLITS)}",
                fix=nearest(row["split"], SPLITS) or "one of those",
            )
        part[f"{row['functionality']}/{row['case_id']}"] = row["split"]
    return part


def split_cases(cases: Sequence[Case], by: SplitBy) -> dict[str, str]:
    """Return the split of each case id: train, validation or test.

    By id, as BELUGA does, copies of a case can be on both sides (23.6 % of PARA's test cases). By content, they stay
    together; by text, all cases that share a text do, in all functionalities.
    """
    units = UNITS[by](cases)
    parts: dict[object, str] = {}
    for _, group in groupby(sorted(cases, key=_functionality), key=_functionality):
        # Units that an earlier functionality has too are placed already.
        ordered = dict.fromkeys(units[case.id] for case in sorted(group, key=_id_order))
        free = [unit for unit in ordered if unit not in parts]
        parts.update(zip(free, half_half(len(free)), strict=True))
    return {case.id: parts[units[case.id]] for case in cases}


def _connected(cases: Sequence[Case]) -> dict[str, object]:
    """Return the same number for cases that share a text, also through other cases."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    texts: dict[object, int] = {}
    pairs = [
        (place, texts.setdefault(_folded(example), len(texts)))
        for place, case in enumerate(cases)
        for example in case.examples
    ]
    rows, columns = np.array(pairs, np.int64).reshape(-1, 2).T
    size = len(cases) + len(texts)
    graph = coo_array((np.ones(len(pairs), np.int8), (rows, len(cases) + columns)), shape=(size, size))
    numbers = connected_components(graph, directed=False)[1].tolist()
    return {case.id: number for case, number in zip(cases, numbers, strict=False)}


@lru_cache(maxsize=1024)
def half_half(n: int, seed: int = 123) -> tuple[str, ...]:
    """Return the split of n units as scikit-learn draws it: half, then half and half (`docs/method/beluga.md` 1.2).

    >>> [i for i, split in enumerate(half_half(13)) if split == "test"]
    [0, 5, 7, 10]
    """
    order = np.random.RandomState(seed).permutation(n)
    held = order[: math.ceil(n / 2)]
    again = np.random.RandomState(seed).permutation(len(held))
    splits = ["train"] * n
    for rank, position in enumerate(held[again]):
        splits[position] = "test" if rank < math.ceil(len(held) / 2) else "validation"
    return tuple(splits)


def _functionality(case: Case) -> str:
    return case.groups["functionality"]


def _id_order(case: Case) -> tuple[int, int, str]:
    number = case.id.removeprefix(_functionality(case) + "/")
    # Numbers of hundreds of digits are names; Python does not convert thousands of digits.
    return (0, int(number), "") if number.isdecimal() and len(number) < 300 else (1, 0, number)


def content(case: Case) -> object:
    """Return the texts of a case without letter case and spacing."""
    return tuple(text for example in case.examples for text in _folded(example))


def _folded(example: Example) -> Example:
    return tuple(" ".join(text.casefold().split()) for text in example)


UNITS: dict[SplitBy, Callable[[Sequence[Case]], Mapping[str, object]]] = {
    "id": lambda cases: {case.id: case.id for case in cases},
    "content": lambda cases: {case.id: (_functionality(case), content(case)) for case in cases},
    "text": _connected,
}
"""The unit of each case id, which stays on one side of a split."""
