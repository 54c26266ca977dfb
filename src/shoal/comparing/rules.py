"""The rules of a gate, from a TOML file.

    [[rule]]                             # the suite score
    at_least = 0.85

    [[rule]]                             # every functionality
    functionality = "*"
    no_worse_than_baseline_by = 0.02
    judge = "upper bound"

A rule says what it looks at, how good that must be, and which end of the 95 % interval is held against it:

    lower bound   (default) met when we are confident that the model is good enough
    upper bound   met unless we are confident that it is not: fails on evidence, not on doubt
    point         the rate as measured, chance included

What could not be measured does not pass: errors and undefined values fail a rule unless it allows them.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

from ..errors import PlanError, nearest
from ..files import read_lines

Judge = Literal["lower bound", "upper bound", "point"]
EVERY = "*"


@dataclass(frozen=True, slots=True)
class Rule:
    """What must hold of a result."""

    functionality: str | None = None
    """A functionality's name, or "*" for each of them; `capability` and `test_type` then narrow them down."""
    capability: str | None = None
    """Without a functionality: the mean of this capability, or of each with "*"."""
    test_type: str | None = None
    """Without a functionality: the mean of MFT, INV or DIR, or of each with "*"."""
    at_least: float | None = None
    """The pass rate that must be reached, a fraction."""
    no_worse_than_baseline_by: float | None = None
    """How much lower than the baseline's the pass rate may be, a fraction; 0 is not at all."""
    judge: Judge = "lower bound"
    """Which end of the interval must reach it."""
    allow_errors: bool = False
    """Judge what was answered, though the model gave no answer to some cases."""
    allow_undefined: bool = False
    """Pass over what has no applicable case."""

    def __post_init__(self) -> None:
        for names, kind, word in ((SELECTORS, str, "a text"), (ALLOWANCES, bool, "true or false")):
            for name in names:
                value = getattr(self, name)
                if not isinstance(value, kind) and not (value is None and kind is str):
                    raise PlanError(f"{name} = {value!r}", why=f"{word} is expected")
        known = get_args(Judge)
        if self.judge not in known:
            fix = nearest(str(self.judge), known)
            raise PlanError(f"judge = {self.judge!r}", why=f"known: {', '.join(known)}", fix=fix)
        _check_limit(self)
        if self.functionality is None and self.capability is not None and self.test_type is not None:
            raise PlanError(
                "capability and test_type in one rule: there is no rate for both together",
                fix='two rules, or functionality = "*" for each functionality that is both',
            )

    @property
    def limit(self) -> float:
        """The number that must be reached: a rate, or a difference from the baseline."""
        return (
            float(self.at_least) if self.at_least is not None else -float(self.no_worse_than_baseline_by or 0)
        )

    @property
    def is_relative(self) -> bool:
        """Whether it needs a baseline."""
        return self.at_least is None

    @property
    def wanted(self) -> dict[str, str]:
        """The groups that the rule names, as measures call them."""
        named = {
            "functionality": self.functionality,
            "capability": self.capability,
            "test type": self.test_type,
        }
        return {group: value for group, value in named.items() if value is not None}

    def __str__(self) -> str:
        what = ", ".join(f"{group} {value!r}" for group, value in self.wanted.items()) or "suite score"
        limit = "at_least" if not self.is_relative else "no_worse_than_baseline_by"
        return f"{what}: {limit} {getattr(self, limit):g}"


SELECTORS = ("functionality", "capability", "test_type")
LIMITS = ("at_least", "no_worse_than_baseline_by")
ALLOWANCES = ("allow_errors", "allow_undefined")


def _check_limit(rule: Rule) -> None:
    """One limit, and a fraction."""
    limits = [name for name in LIMITS if getattr(rule, name) is not None]
    if len(limits) != 1:
        problem = "both at_least and" if limits else "neither at_least nor"
        raise PlanError(
            f"{problem} no_worse_than_baseline_by", fix="a rule has one of them; write two rules for both"
        )
    limit = getattr(rule, limits[0])
    is_number = isinstance(limit, int | float) and not isinstance(limit, bool)
    if not is_number or not 0 <= limit <= 1:
        fix = f"{limits[0]} = {limit / 100:g}" if is_number and 1 < limit <= 100 else ""
        raise PlanError(f"{limits[0]} = {limit!r}", why="a fraction between 0 and 1 is expected", fix=fix)


def read_rules(path: Path) -> list[Rule]:
    """The rules of a file, checked whole."""
    text = "\n".join(line for _, line in read_lines(path))
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise PlanError(f"{path}: not TOML", why=str(problem)) from None
    return make_rules(table, str(path))


def make_rules(table: Mapping[str, Any], where: str = "rules") -> list[Rule]:
    """Rules from plain data."""
    for key in table:
        if key != "rule":
            raise PlanError(f'{where}: unknown key "{key}"', why="known: rule", fix="[[rule]]")
    rows = table.get("rule", [])
    if not isinstance(rows, list) or not rows or not all(isinstance(row, Mapping) for row in rows):
        raise PlanError(f"{where}: no rules", fix="tables that begin with [[rule]]")
    return [_rule(row, f"{where}: rule {number}") for number, row in enumerate(rows, start=1)]


def _rule(row: Mapping[str, Any], where: str) -> Rule:
    known = [one.name for one in fields(Rule)]
    for key in row:
        if key not in known:
            fix = nearest(key.replace(" ", "_").replace("-", "_"), known)
            raise PlanError(f'{where}: unknown key "{key}"', why=f"known: {', '.join(known)}", fix=fix)
    try:
        return Rule(**row)
    except PlanError as problem:
        raise problem.at(where) from None
