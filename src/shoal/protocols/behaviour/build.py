"""Settings to cases: which suite, with which defects mended, and which part of it.

The split follows BELUGA (`docs/method/beluga.md` 1.2): 50/25/25 by case inside each functionality.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from itertools import groupby
from operator import is_
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import DataError, PlanError, nearest, some
from ...core.files import is_file
from ...core.records import Case, Label
from ...core.selection import choose
from ...core.tables import read_table
from ...models.batching import is_reading
from ...training.stage import Progress, silent
from ..base import Asks, Built
from .settings import SPLITS, Settings
from .suite import DEFAULTS, Suite
from .suite_files import read_suite
from .suites import SUITES


def load_suite(name: str) -> Suite:
    """A suite by the name of one that ships with the package, or by its file."""
    if name in SUITES:
        suite: Suite = import_module(f"{__package__}.suites.{SUITES[name]}").suite
        return suite
    path = Path(name)
    if not is_file(path):
        raise DataError(
            f"suite {name[:200]!r} is neither a file nor one that ships with shoal",
            why=f"shipped: {', '.join(SUITES)}",
            fix=nearest(name, SUITES) or "shoal list suites",
        )
    return _read_once(path, stamp(name))


def stamp(name: str) -> tuple[int, int]:
    """Return a file's time and size, which change with its content."""
    path = Path(name)
    return (path.stat().st_mtime_ns, path.stat().st_size) if name and is_file(path) else (0, 0)


@lru_cache(maxsize=2)
def _read_once(path: Path, _stamp: tuple[int, int]) -> Suite:
    """The jobs of a plan share their suite; it is not changed once it is read."""
    suite = read_suite(path)
    suite.finish()
    return suite


def build(settings: Settings, progress: Progress = silent) -> Built:
    """Return the suite's cases with known defects repaired, or the part of them that the settings choose."""
    suite = load_suite(settings.suite)
    cases, about = chosen_cases(settings, settings.split, settings.seed)
    return built_suite(suite, cases, about)


def chosen_cases(settings: Settings, split: str, seed: int) -> tuple[list[Case], dict[str, Any]]:
    """Return the cases of a split that `only` and `limit` choose, and what a reader must know about the choice."""
    in_split = suite_cases(settings, split)
    cases = (
        [in_split[at] for at in choose(in_split, settings.only)] if settings.only and in_split else in_split
    )
    about = repeated(settings) | left_out(settings, len(in_split) - len(cases))
    if settings.limit and settings.limit < len(cases):
        chosen = np.random.default_rng(seed).choice(len(cases), settings.limit, replace=False)
        cases = [cases[position] for position in np.sort(chosen)]
    if not cases:
        raise DataError(
            f"suite {load_suite(settings.suite).name!r} has no case in split {split!r}",
            fix="another split, or leave it out",
        )
    return cases, about


def left_out(settings: Settings, count: int) -> dict[str, Any]:
    """What a reader must know where a part of the suite is not asked."""
    return {"chosen": list(settings.only), "not asked": count} if settings.only else {}


def repeated(settings: Settings) -> dict[str, Any]:
    """How many cases of the suite say what an earlier one says, and what becomes of them; empty if there are none."""
    cases = mended(settings)
    copies = len(cases) - len(without_duplicates(cases))
    word = {"keep": "kept", "drop": "dropped"}[settings.resolved("duplicates")]
    return {f"repeated cases {word}": copies} if copies else {}


def built_suite(
    suite: Suite, cases: Sequence[Case] | None = None, facts: Mapping[str, Any] | None = None
) -> Built:
    """Some cases of a suite as they are asked; all of them unless they are given."""
    chosen = suite.cases if cases is None else cases
    about = {"suite": suite.name, "task": suite.task, "version": suite.version, **(facts or {})}
    asks: Asks = "spans" if is_reading(chosen) else "labels"
    # Most often nothing is left out or mended: what the cases were chosen from is then not kept a second time.
    same = len(chosen) == len(suite.cases) and all(map(is_, chosen, suite.cases))
    whole = () if same else _plain(suite.cases)
    return Built(_plain(chosen), suite.labels, asks, about=about, chosen_from=whole)


def _plain(cases: Sequence[Case]) -> list[Case]:
    """The cases with plain values only, as they are kept; cases of a functionality go on sharing what they shared."""
    known: dict[int, dict[str, Any]] = {}
    for case in cases:
        if id(case.meta) not in known:
            known[id(case.meta)] = plain_meta(case.meta)
    return [
        Case(case.id, case.examples, case.labels, case.groups, case.cluster, known[id(case.meta)])
        for case in cases
    ]


def plain_meta(meta: Mapping[str, Any]) -> dict[str, Any]:
    """What is known about a case, as JSON has it."""
    expect = meta["expect"]
    plain = {**meta, "expect": expect.as_json(), "expects": expect.rule.replace("_", " ")}
    return plain | ({"labels": list(meta["labels"])} if "labels" in meta else {})


def suite_cases(settings: Settings, split: str) -> list[Case]:
    """The suite's cases, mended, of one split; all of them where it is empty."""
    cases = mended(settings)
    if settings.resolved("duplicates") == "drop":
        cases = without_duplicates(cases)
    return (
        choose_split(cases, split, by_content=settings.resolved("split_by") == "content") if split else cases
    )


def mended(settings: Settings) -> list[Case]:
    """Every case of the suite, with the known defects mended that the settings name."""
    return EDITS[settings.resolved("edits")](load_suite(settings.suite).cases)


def split_identity(settings: Settings, split: str) -> dict[str, Any]:
    """Return what decides a split: the rule by its name, a file by its content."""
    if split in SPLITS or not split:
        return {"split": split, "by": settings.resolved("split_by") if split else ""}
    path, part = split_file(split)
    return {"split": part, "file": digest_of(path.read_bytes()) if is_file(path) else ""}


@lru_cache(maxsize=8)
def suite_digest(name: str, _stamp: tuple[int, int]) -> str:
    """A suite's content as a hash: of the file, or of the cases that a suite in Python makes."""
    if name in SUITES or (name.endswith(".py") and is_file(Path(name))):
        suite = load_suite(name)
        return digest_of(
            repr([(case.id, case.examples, case.labels, case.meta) for case in suite.cases]).encode()
        )
    if not is_file(Path(name)):
        load_suite(name)  # says what is wrong
    with Path(name).open("rb") as stream:  # not read whole: it may be larger than all its jobs need
        return hashlib.file_digest(stream, "sha256").hexdigest()[:16]


def digest_of(content: bytes) -> str:
    """A short hash of some bytes."""
    return hashlib.sha256(content).hexdigest()[:16]


# Suite edits (`docs/method/beluga.md` 1.2, `docs/method/checklist.md` 2.10)

Mend = Callable[[Case], Case]


def with_label(label: Label) -> Mend:
    """Give every example this label."""
    return lambda case: replace(case, labels=(label,) * len(case.examples))


def with_rule(rule: str) -> Mend:
    """Judge by another rule."""
    return lambda case: replace(case, meta={**case.meta, "expect": replace(case.meta["expect"], rule=rule)})


def as_minimum(case: Case) -> Case:
    """Judge as a minimum functionality test: by its label."""
    return replace(
        case, groups={**case.groups, "test type": "MFT"}, meta={**case.meta, "expect": DEFAULTS["MFT"]}
    )


def accept_not_negative(case: Case) -> Case:
    """Label 1 of "Q & A: no" means: anything but negative."""
    assert case.labels is not None
    labels = tuple("not_0" if label == 1 else label for label in case.labels)
    return with_rule("pred_equals_label")(replace(case, labels=labels))


BELUGA_EDITS: dict[str, list[Mend]] = {"Order does matter for asymmetric relations": [with_label(0)]}

REPAIRS: dict[str, list[Mend]] = {
    **BELUGA_EDITS,
    "(question, f(question)) where f(question) replaces synonyms?": [
        with_label(1),
        as_minimum,
    ],
    "Testing implications": [with_rule("implication")],
    "Q & A: no": [accept_not_negative],
}
"""By functionality: these names stand in the released suites only."""


def mend_cases(cases: Iterable[Case], mends: dict[str, list[Mend]]) -> list[Case]:
    """The cases, those of the named functionalities mended."""
    mended = []
    for case in cases:
        for mend in mends.get(case.groups["functionality"], ()):
            case = mend(case)
        mended.append(case)
    return mended


def repaired(cases: Iterable[Case]) -> list[Case]:
    """The repairs of labels and rules of the released suites."""
    normalise = with_rule("squad_normalise")
    return [
        normalise(case) if case.meta["expect"].rule == "string_equal_after_edge_strip" else case
        for case in mend_cases(cases, REPAIRS)
    ]


def without_duplicates(cases: Iterable[Case]) -> list[Case]:
    """The first of every set of cases with the same examples and labels in one functionality."""
    seen: dict[str, set[tuple[object, ...]]] = {}
    kept = []
    for case in cases:
        known = seen.setdefault(case.groups["functionality"], set())
        before = len(known)
        known.add((case.examples, case.labels))
        if len(known) > before:
            kept.append(case)
    return kept


EDITS: dict[str, Callable[[Sequence[Case]], list[Case]]] = {
    "none": list,
    "beluga": lambda cases: mend_cases(cases, BELUGA_EDITS),
    "repaired": repaired,
}


# Splits


def choose_split(cases: Sequence[Case], split: str, *, by_content: bool) -> list[Case]:
    """The cases of one part: "train", "validation" or "test", by rule, or the part that a file gives each case."""
    if split in SPLITS:
        part = split_cases(cases, by_content=by_content)
        return [case for case in cases if part[case.id] == split]
    path, wanted = split_file(split)
    if not is_file(path):
        raise PlanError(
            f"split {split[:200]!r} is neither {', '.join(SPLITS)} nor a file",
            fix=nearest(split, SPLITS) or "split=test, split=FILE, or split=FILE:train",
        )
    part = read_split(path)
    missing = [case.id for case in cases if case.id not in part]
    if missing:
        raise DataError(
            f"{path}: {len(missing):,} cases have no split, the first is {missing[0]!r}",
            fix="a row for each: functionality, case_id, split",
        )
    return [case for case in cases if part[case.id] == wanted]


def split_file(split: str) -> tuple[Path, str]:
    """The file that a split setting names, and which part of it: FILE is its test part, FILE:train says which."""
    name, _, part = split.rpartition(":")
    return (Path(name), part) if part in SPLITS else (Path(split), "test")


def read_split(path: Path) -> dict[str, str]:
    """Case id to split, from a table with columns functionality, case_id, split."""
    columns, rows = read_table(path)
    if not {"functionality", "case_id", "split"} <= set(columns):
        raise DataError(
            f"{path}, line 1: columns functionality, case_id and split are needed",
            why=f"found: {some(columns, 12)}",
            fix="a first line: functionality,case_id,split",
        )
    part = {}
    for number, row in rows:
        if row["split"] not in SPLITS:
            raise DataError(
                f"{path}, line {number}: split {row['split']!r} is not one of {', '.join(SPLITS)}",
                fix=nearest(row["split"], SPLITS) or "one of those",
            )
        part[f"{row['functionality']}/{row['case_id']}"] = row["split"]
    return part


def split_cases(cases: Sequence[Case], *, by_content: bool) -> dict[str, str]:
    """Case id to train, validation or test.

    By id, as BELUGA does, copies of one case can land on both sides (23.6 % of PARA's test cases do). By content,
    cases that read the same go to the same side.
    """
    parts: dict[str, str] = {}
    for _, group in groupby(sorted(cases, key=_functionality), key=_functionality):
        units: dict[object, list[Case]] = {}
        for case in sorted(group, key=_id_order):
            units.setdefault(content(case) if by_content else case.id, []).append(case)
        positions = half_half(len(units))
        for unit, split in zip(units.values(), positions, strict=True):
            parts.update((case.id, split) for case in unit)
    return parts


@lru_cache(maxsize=1024)
def half_half(n: int, seed: int = 123) -> tuple[str, ...]:
    """The split of n units: half to train, then half and half, as scikit-learn draws it (`docs/method/beluga.md` 1.2).

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
    # A number of hundreds of digits is a name: nobody counts so far, and Python would not.
    return (0, int(number), "") if number.isdecimal() and len(number) < 300 else (1, 0, number)


def content(case: Case) -> object:
    """What a case says, but for letter case and spacing."""
    return tuple(" ".join(text.casefold().split()) for example in case.examples for text in example)
