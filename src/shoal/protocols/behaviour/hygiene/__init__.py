"""Suite hygiene: what is wrong with a suite before any model is asked (`docs/method/beyond.md` 7.13).

    error     a pass rate that is wrong or says nothing, whatever the model
    warning   a pass rate that misleads a reader who does not know
    note      worth knowing

A check looks at the suite, laid out as `Material`, and gives findings. To add one: write the function in the
file it belongs to, add a line to CHECKS, and its kind to `findings.FIXES`.
"""

from collections.abc import Callable, Iterable

from ....core.records import Case
from ..suite import Suite
from .duplicates import check_duplicates, check_split
from .findings import SEVERITIES, Finding, Hygiene, Severity
from .labels import check_conflicts, check_labels
from .made_up import sayable
from .material import Material
from .rules import check_rules, settled_early
from .texts import check_size, check_templates, check_texts
from .untested import check_constants, check_vacuous

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
    """Everything the checks find, errors first; the order of the cases does not matter."""
    material = Material(suite)
    findings = [finding for check in CHECKS.values() for finding in check(material)]
    findings.sort(key=lambda row: SEVERITIES.index(row.severity))  # stable: then as CHECKS has them
    return Hygiene(tuple(findings), tuple(material.counts()), material.label_counts)
