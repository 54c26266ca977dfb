"""Suite hygiene: defects of a suite that show before any model is queried (`docs/method/beyond.md` 7.13).

    error     the pass rate is wrong or meaningless for every model
    warning   the pass rate misleads a reader who does not know about it
    note      worth knowing

`Material` lays the suite out; each check in `checks` returns findings. To add a check: write one function, add one
line to CHECKS and its kind to `findings.FIXES`.
"""

from collections.abc import Iterable

from ....core.records import Case
from ..suite import Suite
from .checks import CHECKS
from .findings import SEVERITIES, Finding, Hygiene, Severity, by_importance
from .material import Material

__all__ = ["CHECKS", "SEVERITIES", "Finding", "Hygiene", "Material", "Severity", "examine"]


def examine(suite: Suite | Iterable[Case]) -> Hygiene:
    """Return the findings of every check, errors first; the order of the cases does not matter."""
    material = Material(suite.cases if isinstance(suite, Suite) else suite)
    findings = [finding for check in CHECKS for finding in sorted(check(material), key=by_importance)]
    findings.sort(key=lambda row: SEVERITIES.index(row.severity))  # stable: CHECKS decides within a severity
    return Hygiene(tuple(findings), tuple(material.counts()), material.label_counts)
