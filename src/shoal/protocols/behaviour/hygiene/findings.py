"""Findings on a suite: their kinds, severities and fixes."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ....core.measures import FEW_CASES
from ....core.records import Case

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")

EXAMPLES = 5
"""Case ids listed per finding."""
MUCH = 0.05
"""Share of a functionality that turns a note into a warning."""

FIXES = {
    "unreachable branch": 'expect rule "implication", as profile recommended does (edits=repaired)',
    "rule cannot judge": "fix the cases or use another rule (shoal list rules)",
    "nothing to compare with": "add a variant to each original, or make it an MFT if its label is known",
    "nothing changed": "remove those variants: every model gives both texts the same answer",
    "label conflict": "decide which label is right: no model can pass both",
    "test cases seen in training": 'split by content (profile = "recommended"): BELUGA\'s split by id tests models on '
    "cases they were trained on",
    "repeated cases": "keep each once (duplicates = drop): copies overweight a few cases and narrow the intervals",
    "one answer passes": "add contrasting cases of the same form that expect another label",
    "templates without a cluster": "name the templates in `cluster`, or run shoal import --templates",
    "too few cases": f"write at least {FEW_CASES}; about 100 give an interval of ± 10 points",
    "empty texts": "fill them in or remove the cases",
    "control characters": "fix the encoding: tokenizers treat such characters differently",
}
"""Every kind of finding, with its fix."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One defect, and where it is."""

    kind: str
    severity: Severity
    where: tuple[str, ...]
    """Functionalities; empty for the whole suite."""
    what: str
    cases: tuple[str, ...] = ()
    """Ids of the first few."""
    count: int = 0
    share: float | None = None
    """Share of the functionality's cases, between 0 and 1."""

    @property
    def fix(self) -> str:
        return FIXES[self.kind]


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts for one functionality."""

    functionality: str
    cases: int
    unique_cases: int
    test_cases: int
    """In the reference split by id."""
    test_cases_in_training: int
    """Those identical to a training case of the same functionality."""


@dataclass(frozen=True, slots=True)
class Hygiene:
    """The findings on a suite, most important first, with their counts."""

    findings: tuple[Finding, ...]
    functionalities: tuple[Counts, ...]
    labels: Mapping[str, int]
    """Judged examples per expected label."""

    def total(self, count: str) -> int:
        """Return a count summed over functionalities, such as "cases"."""
        return sum(getattr(row, count) for row in self.functionalities)

    def of(self, severity: Severity) -> list[Finding]:
        """Return the findings of one severity."""
        return [finding for finding in self.findings if finding.severity == severity]

    def as_json(self) -> dict[str, Any]:
        """Return the part of `shoal check --json` about hygiene."""
        names = ("cases", "unique_cases", "test_cases", "test_cases_in_training")
        return {
            "findings": [{**asdict(finding), "fix": finding.fix} for finding in self.findings],
            "hygiene": {
                **{name: self.total(name) for name in names},
                "labels": dict(self.labels),
                "functionalities": [asdict(row) for row in self.functionalities],
            },
        }


def tell(n: int, total: int, singular: str, plural: str, noun: str = "cases") -> str:
    """Return a count with its share and verb.

    >>> tell(30, 120, "is lost", "are lost"), tell(1, 8000, "is lost", ""), tell(7, 7, "", "are lost")
    ('30 of 120 cases (25.0 %) are lost', '1 of 8,000 cases (under 0.1 %) is lost', 'all 7 cases are lost')
    """
    share = f"{100 * n / total:.1f} %" if n / total >= 0.0005 else "under 0.1 %"
    count = f"all {total:,} {noun}" if n == total > 1 else f"{n:,} of {total:,} {noun} ({share})"
    return f"{count} {singular if n == 1 else plural}"


def ids(cases: Sequence[Case]) -> tuple[str, ...]:
    """Return the first few ids."""
    return tuple(case.id for case in cases[:EXAMPLES])


def finding(
    kind: str,
    name: str,
    bad: Sequence[Case],
    total: int,
    verbs: Sequence[str],
    rest: str = "",
    severity: Severity | None = None,
) -> Finding:
    """Return a finding about some cases of a functionality; by default a warning if they are many, else a note."""
    share = len(bad) / total
    severity = severity or ("warning" if share >= MUCH else "note")
    what = tell(len(bad), total, *verbs) + rest
    return Finding(kind, severity, (name,), what, ids(bad), len(bad), share)


def by_importance(finding: Finding) -> tuple[int, bool, float, int]:
    """Return the sort key of a finding: its severity, whole suite first, then the largest share and count."""
    severity, share = SEVERITIES.index(finding.severity), finding.share or 0
    return severity, bool(finding.where), -share, -finding.count if share else 0
