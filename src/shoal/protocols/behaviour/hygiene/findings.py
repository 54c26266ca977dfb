"""What a check can find, how bad it is, and how it is said."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, Literal

from ....core.measures import FEW_CASES
from ....core.records import Case

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")

EXAMPLES = 5
"""How many case ids a finding names."""
MUCH = 0.05
"""Share of a functionality from which copies are a warning, no longer a note."""

MANY = 20
"""Functionalities that share a content: beyond them no pair is named, for there are as many as their number squared."""

FIXES = {
    "rule cannot judge": "mend the cases or expect another rule; shoal list rules shows all",
    "rule never passes": "mend its filter, tolerance or parts: as it is, every model fails",
    "rule never fails": "mend its filter, tolerance or parts: as it is, every model passes",
    "rule never applies": "mend its filter: as it is, there is no pass rate",
    "unreachable branch": "let the last prediction decide, or let the case not apply",
    "nothing to compare with": "give each original a variant, or, where a label is known, make it a minimum "
    "functionality test (MFT)",
    "cases that cannot be passed": "leave those variants out: to pass, a model would have to contradict itself",
    "nothing changed": "leave those variants out: nothing is tested by them",
    "label conflict": "decide which label is right: no model can pass both",
    "test cases seen in training": "split by content (split_by=content, profile recommended): by id, as BELUGA does, "
    "a model that trained on the suite is tested on what it has seen",
    "repeated cases": "keep each once (duplicates=drop does): copies weight a few cases heavily and make intervals too "
    "narrow",
    "nearly repeated cases": "keep one of each, unless case and spacing are what is tested",
    "cases in two functionalities": "keep them in one, or the two pass rates rise and fall together",
    "labels never asked for": "add cases of that label, or take it out of label_names: a model that never gives it "
    "loses nothing",
    "one label dominates": "add cases of the other labels, or read pass rates beside those of a model that always "
    "says this",
    "one answer passes": "pair it with a contrast: cases alike in form that ask for another label",
    "any constant passes": "read them beside tests whose label must change (sensitivity), never alone",
    "templates without a cluster": "name them in `cluster`, or let shoal import --templates do it: as it is, intervals "
    "are for new words in these templates, not for new templates",
    "too few cases": f"write more, {FEW_CASES} at least; some 100 for an interval of ± 10 points",
    "empty texts": "fill them or take the cases out: a model has nothing to go by",
    "control characters": "mend the encoding: tokenizers drop or split such characters, each in its own way",
    "white space at the edges": "strip it, unless white space is what is tested: some tokenizers see it, some do not",
    "very long texts": "shorten them: most encoders cut them off, and what decides the case may be in the rest",
}
"""Every kind of finding, and what to do about it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, where, and what to do about it."""

    kind: str
    severity: Severity
    where: tuple[str, ...]
    """Functionalities; none where it is about the suite as a whole."""
    what: str
    fix: str
    cases: tuple[str, ...] = ()
    """Ids of a few of them."""
    count: int = 0
    share: float | None = None
    """Of the cases there are, between 0 and 1."""


@dataclass(frozen=True, slots=True)
class Counts:
    """One functionality in numbers."""

    functionality: str
    cases: int
    unique_cases: int
    test_cases: int
    """Under the reference split, by id."""
    test_cases_in_training: int
    """Of those, letter by letter the same as a training case of the same functionality."""
    best_constant: str
    """The one prediction that passes most if a model always gives it."""
    constant_pass_rate: float | None
    """Of the best constant; None where no case applies to a constant."""


@dataclass(frozen=True, slots=True)
class Hygiene:
    """The findings on a suite, most important first, and the numbers behind them."""

    findings: tuple[Finding, ...]
    functionalities: tuple[Counts, ...]
    labels: Mapping[str, int]
    """How many judged examples ask for each label."""

    @property
    def cases(self) -> int:
        """How many there are."""
        return sum(row.cases for row in self.functionalities)

    @property
    def unique_cases(self) -> int:
        """How many differ from every other of their functionality."""
        return sum(row.unique_cases for row in self.functionalities)

    @property
    def test_cases(self) -> int:
        """How many the reference split keeps for testing."""
        return sum(row.test_cases for row in self.functionalities)

    @property
    def test_cases_in_training(self) -> int:
        """How many of those stand in the training part as well."""
        return sum(row.test_cases_in_training for row in self.functionalities)

    def of(self, severity: Severity) -> list[Finding]:
        """The findings of one severity."""
        return [finding for finding in self.findings if finding.severity == severity]

    def as_json(self) -> dict[str, Any]:
        """What `shoal check --json` adds to the description."""
        names = ("cases", "unique_cases", "test_cases", "test_cases_in_training")
        return {
            "findings": [_listed(asdict(finding)) for finding in self.findings],
            "hygiene": {
                **{name: getattr(self, name) for name in names},
                "labels": dict(self.labels),
                "functionalities": [asdict(row) for row in self.functionalities],
            },
        }


def _listed(row: dict[str, Any]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in row.items()}


def tell(n: int, total: int, singular: str, plural: str, noun: str = "cases") -> str:
    """A count as a share of what there is, with its verb.

    >>> tell(30, 120, "is lost", "are lost"), tell(1, 8000, "is lost", ""), tell(7, 7, "", "are lost")
    ('30 of 120 cases (25.0 %) are lost', '1 of 8,000 cases (under 0.1 %) is lost', 'all 7 cases are lost')
    """
    share = f"{100 * n / total:.1f} %" if n / total >= 0.0005 else "under 0.1 %"
    count = f"all {total:,} {noun}" if n == total > 1 else f"{n:,} of {total:,} {noun} ({share})"
    return f"{count} {singular if n == 1 else plural}"


def ids(cases: Iterable[Case]) -> tuple[str, ...]:
    """The first few."""
    return tuple(case.id for case in islice(cases, EXAMPLES))


def finding(kind: str, name: str, bad: Sequence[Case], of: int, what: str, severity: str = "") -> Finding:
    """Something about some of a functionality's cases: a warning where they are many, unless said otherwise."""
    share = len(bad) / of
    how: Any = severity or ("warning" if share >= MUCH else "note")
    return Finding(kind, how, (name,), what, FIXES[kind], ids(bad), len(bad), share)


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """By severity, then the largest share first."""
    return sorted(
        findings, key=lambda f: (SEVERITIES.index(f.severity), -(f.share or 0), -f.count, f.where, f.kind)
    )
