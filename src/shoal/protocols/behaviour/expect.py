"""The expectation of a functionality: its rule by name, tolerance, filter and aggregation, as a suite file writes them.

`rules` holds the rules themselves.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from ...core.errors import DataError
from ...core.views import LABEL
from .text_rules import rule_text

Given = str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]]
"""An expectation in Python: a rule, `{rule: argument}`, or a list of them that must all hold."""
Aggregate = Literal["all", "all_except_first"]
DEEPEST = 8
"""Nesting of "and" and "or"."""


@dataclass(frozen=True, slots=True)
class Expect:
    """Which rule a functionality is judged by, and its parameters."""

    rule: str
    tolerance: float = 0.0
    aggregate: Aggregate = "all"
    na_if: str = ""
    """When a case does not apply, for example "original pred is neutral"; several are joined by ";"."""
    parts: tuple["Expect", ...] = ()
    """The rules that "and" and "or" combine."""
    argument: str = ""
    """The argument of a rule on free answers, as JSON; empty if it is the case's label."""

    @property
    def value(self) -> Any:
        """Return the argument; None if it is the case's label."""
        return json.loads(self.argument) if self.argument else None

    @classmethod
    def parse(cls, row: Any, default: "Expect | None", depth: int = 1) -> "Expect":
        """Return the `expect` object of a suite file; missing keys are taken from `default`."""
        if not isinstance(row, Mapping):
            raise DataError(
                f"expect must be an object with a rule, found {row!r}",
                fix='{"rule": "pred_equals_label"}; all rules: shoal list rules',
            )
        unknown = sorted(set(row) - {"rule", "value", "tolerance", "aggregate", "filter", "rules"})
        if unknown:
            raise DataError(
                f"expect: unknown key {unknown[0]!r}",
                fix="one of rule, value, tolerance, aggregate, filter, rules",
            )
        base = default or cls("", 0.1, "all_except_first")
        # The published table writes one rule with its aggregation behind it.
        rule = str(row.get("rule") or base.rule).removesuffix(" (all examples incl. first)")
        tolerance = base.tolerance if row.get("tolerance") is None else row["tolerance"]
        check_tolerance(tolerance)
        how = row.get("aggregate") or base.aggregate
        if how not in get_args(Aggregate):
            raise DataError(
                f"expect: aggregate {how!r} is not one of {', '.join(get_args(Aggregate))}",
                fix='"aggregate": "all"',
            )
        rules = row.get("rules") or []
        if not isinstance(rules, list) or depth > DEEPEST:
            raise DataError(
                f"expect: rules must be a list of objects, at most {DEEPEST} deep, found {repr(rules)[:80]}",
                fix='"rules": [{"rule": "pred_not_0"}, {"rule": "pred_not_1"}]',
            )
        parts = tuple([cls.parse(part, default, depth + 1) for part in rules])
        argument = as_argument(row.get("value"))
        return cls(rule_name(rule), float(tolerance), how, str(row.get("filter") or ""), parts, argument)

    @classmethod
    def of(cls, given: Given, base: "Expect") -> "Expect":
        """Return an expectation that is written in Python; the rest is taken from `base`."""
        parts = []
        for entry in [given] if isinstance(given, str | Mapping) else given:
            rules = entry if isinstance(entry, Mapping) else {entry: None}
            parts += [replace(base, rule=rule_name(r), argument=as_argument(v)) for r, v in rules.items()]
        if not parts:
            raise DataError("expect is empty", fix='expect={"contains": "Paris"}')
        return parts[0] if len(parts) == 1 else replace(base, rule="and", parts=tuple(parts))

    def with_tolerance(self, tolerance: float) -> "Expect":
        """Return the same expectation with another tolerance, in its parts as well."""
        parts = tuple(part.with_tolerance(tolerance) for part in self.parts)
        return replace(self, tolerance=tolerance, parts=parts)

    def as_json(self) -> dict[str, Any]:
        """Return the `expect` object of a suite file."""
        row: dict[str, Any] = {"rule": self.rule, "tolerance": self.tolerance, "aggregate": self.aggregate}
        row |= {"filter": self.na_if} if self.na_if else {}
        row |= {"value": self.value} if self.argument else {}
        return row | ({"rules": [part.as_json() for part in self.parts]} if self.parts else {})


DIRECTIONS = {
    "not more confident": ("conf_of_original_pred_not_higher", "not_more_conf"),
    "not less confident": ("conf_of_original_pred_not_lower", "not_less_conf"),
    "not more negative": ("positive_shift >= -tol", "not_less_2"),
    "not more positive": ("positive_shift <= tol", "not_less_0"),
}
"""Directional expectations in plain words: the rule that tests each, and the name BELUGA trains it under."""


def rule_name(words: str) -> str:
    """Return the rule for plain words; any other name unchanged.

    >>> rule_name("not more confident"), rule_name("pred_equals_label")
    ('conf_of_original_pred_not_higher', 'pred_equals_label')
    """
    return DIRECTIONS.get(words, (words, None))[0]


def as_argument(value: Any) -> str:
    """Return the argument of a rule as JSON; empty for None."""
    try:
        return "" if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True)
    except TypeError:
        raise DataError(f"expect: {value!r:.80} is not a text, number, list or table", fix="a text") from None


def rule_words(expect: Expect) -> str:
    """Return an expectation in plain words.

    >>> rule_words(Expect("conf_of_original_pred_not_higher")), rule_words(Expect("pred_not_0"))
    ('not more confident', 'anything but 0')
    >>> rule_words(Expect.of({"contains": "Paris", "max_words": 9}, Expect("")))
    'a text with "Paris", at most 9 words'
    """
    known = {name: words for words, (name, _) in DIRECTIONS.items()}
    known["same_pred_or_conf_change_within_tol"] = "the same answer"
    if expect.parts:
        return (", " if expect.rule == "and" else " or ").join(map(rule_words, expect.parts))
    on_text = rule_text(expect.rule, LABEL if expect.value is None else expect.value)
    rule = re.sub("^pred_equals_(?!label)", "", expect.rule).replace("pred_not_", "anything but ")
    return on_text or known.get(expect.rule, rule.replace("_", " "))


def check_tolerance(tolerance: Any) -> None:
    """Raise if a tolerance is not a number from 0 to 2; a shift between two labels counts twice."""
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not 0 <= tolerance <= 2:
        raise DataError(
            f"expect: tolerance must be a number from 0 to 2, found {tolerance!r}", fix='"tolerance": 0.1'
        )
