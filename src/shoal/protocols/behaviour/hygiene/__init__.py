"""Suite hygiene: defects of a suite that show before any model is queried (`docs/method/beyond.md` 7.13).

    error     the pass rate is wrong or meaningless for every model
    warning   the pass rate misleads a reader who does not know about it
    note      worth knowing

`Material` lays the suite out; each check in `checks` returns findings. To add a check: write one function, add one
line to CHECKS and its kind to `findings.FIXES`.
"""

from collections.abc import Callable, Iterable

from ....core.records import Case
from ..suite import Suite
from .checks import (
    check_conflicts,
    check_constants,
    check_duplicates,
    check_labels,
    check_rules,
    check_size,
    check_split,
    check_templates,
    check_texts,
    check_vacuous,
    settled_early,
)
from .findings import SEVERITIES, Finding, Hygiene, Severity
from .material import Material, sayable

__all__ = [
    "CHECKS",
    "SEVERITIES",
    "Finding",
    "Hygiene",
    "Material",
    "Severity",
    "examine",
    "sayable",
    "settled_early",
]

CHECKS: dict[str, Callable[[Material], list[Finding]]] = {
    "rules": check_rules,
    "vacuous": check_vacuous,
    "conflicts": check_conflicts,
    "split": check_split,
    "duplicates": check_duplicates,
    "labels": check_labels,
    "constants": check_constants,
    "size": check_size,
    "templates": check_templates,
    "texts": check_texts,
}
"""Every check by name, the most important first."""


def examine(suite: Suite | Iterable[Case]) -> Hygiene:
    """Return the findings of every check, errors first; the order of the cases does not matter."""
    material = Material(suite)
    findings = [finding for check in CHECKS.values() for finding in check(material)]
    findings.sort(key=lambda row: SEVERITIES.index(row.severity))  # stable: CHECKS decides within a severity
    return Hygiene(tuple(findings), tuple(material.counts()), material.label_counts)
