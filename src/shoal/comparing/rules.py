"""The rules of a gate, from a TOML file.

    [[rule]]                             # the headline: the suite score of a suite
    at_least = 0.85

`docs/how-to/compare-and-gate.md` lists the keys. `judge` chooses what is compared with the limit:

    observed      (default) the rate itself: the suite is the specification
    lower bound   the confident end of the 95 % interval: met only on proof that the limit is kept
    upper bound   the other end: fails only on proof that it is not

For `at_most` the ends are exchanged. Errors and undefined values fail a rule unless it allows them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from ..core.errors import PlanError, errors_at, nearest
from ..core.files import read_toml

Judge = Literal["observed", "lower bound", "upper bound"]
EVERY = "*"
LIMITS = ("at_least", "at_most", "no_worse_than_baseline_by")
OPTIONS = ("measure", *LIMITS, "judge", "allow_errors", "allow_undefined")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a gate: a measure, its groups and a limit."""

    groups: Mapping[str, str] = field(default_factory=dict)
    """The groups it applies to: values, or "*" for each of them. None: the headline."""
    measure: str = ""
    """Which measure, where the groups do not tell."""
    at_least: float | None = None
    """What must be reached."""
    at_most: float | None = None
    """What must not be passed."""
    no_worse_than_baseline_by: float | None = None
    """How much worse than the baseline it may be; 0 is not at all."""
    judge: Judge = "observed"
    """The number compared with the limit: the rate itself, or an end of its interval."""
    allow_errors: bool = False
    """Judge what was answered, though the model gave no answer to some cases."""
    allow_undefined: bool = False
    """Pass over what has no applicable case."""

    def __post_init__(self) -> None:
        kinds = {
            "measure": (str, '"pass rate"'),
            "allow_errors": (bool, "true"),
            "allow_undefined": (bool, "true"),
        }
        for name, (kind, example) in kinds.items():
            if not isinstance(value := getattr(self, name), kind):
                why = f"a value such as {example} is expected"
                raise PlanError(f"{name} = {value!r}", why=why, fix=f"{name} = {example}")
        for name, value in self.groups.items():
            if not isinstance(value, str):
                key, why = name.replace(" ", "_"), f"known: {', '.join(OPTIONS)}; a group is given as a text"
                fix = nearest(key.replace("-", "_"), OPTIONS) or f'{key} = "{value}"'
                raise PlanError(f"{key} = {value!r}", why=why, fix=fix)
        known = get_args(Judge)
        if self.judge not in known:
            is_former = str(self.judge) == "point"  # of the first release
            fix = 'judge = "observed"' if is_former else nearest(str(self.judge), known) or "one of those"
            raise PlanError(f"judge = {self.judge!r}", why=f"known: {', '.join(known)}", fix=fix)
        limits = [name for name in LIMITS if getattr(self, name) is not None]
        if len(limits) != 1:
            problem = f"{' and '.join(limits)} in one rule" if limits else f"none of {', '.join(LIMITS)}"
            raise PlanError(problem, fix="write one rule for each limit")
        limit = getattr(self, self.kind)
        is_number = isinstance(limit, int | float) and not isinstance(limit, bool) and limit == limit
        if not is_number or (self.is_relative and limit < 0):
            example = f"{self.kind} = {0.02 if self.is_relative else 0.9}"
            raise PlanError(f"{self.kind} = {limit!r}", why="a number is expected, such as 0.9", fix=example)

    @property
    def kind(self) -> str:
        """Return the key of the limit: at_least, at_most or no_worse_than_baseline_by."""
        return next(name for name in LIMITS if getattr(self, name) is not None)

    @property
    def limit(self) -> float:
        """Return the limit: a value, or the allowed difference."""
        return float(getattr(self, self.kind))

    @property
    def is_relative(self) -> bool:
        """Return whether the rule needs a baseline."""
        return self.kind == "no_worse_than_baseline_by"

    @property
    def is_family(self) -> bool:
        """Return whether the rule judges several groups."""
        return EVERY in self.groups.values()

    def __str__(self) -> str:
        named = [self.measure] if self.measure else []
        named += [f"{group} {value!r}" for group, value in self.groups.items()]
        return f"{', '.join(named) or 'headline'}: {self.kind} {self.limit:g}"


def read_rules(rules: Path | str | Sequence[Mapping[str, Any]]) -> list[Rule]:
    """Return the rules of a file, or of a list of tables such as {"functionality": "negation", "at_least": 0.9}."""
    rows: Any = rules
    where = f"{rules}: " if isinstance(rules, Path | str) else ""
    if isinstance(rules, Path | str):
        table = read_toml(
            Path(rules), 'tables such as [[rule]] with functionality = "negation" and at_least = 0.9'
        )
        for key in table:
            if key != "rule":
                raise PlanError(f'{where}unknown key "{key}"', why="known: rule", fix="[[rule]]")
        rows = table.get("rule", [])
    if not isinstance(rows, list | tuple) or not rows or not all(isinstance(row, Mapping) for row in rows):
        fix = "tables that begin with [[rule]]" if where else '[{"at_least": 0.9}]'
        raise PlanError(f"{where}no rules", fix=fix)
    checked = []
    for number, row in enumerate(rows, start=1):
        options = {key: value for key, value in row.items() if key in OPTIONS}
        groups = {key.replace("_", " "): value for key, value in row.items() if key not in OPTIONS}
        with errors_at(f"{where}rule {number}"):
            checked.append(Rule(groups, **options))
    return checked
