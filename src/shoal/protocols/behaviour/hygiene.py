"""Suite hygiene: defects of a suite that show before any model is queried (`docs/method/beyond.md` 7.13).

    error     the pass rate is wrong or meaningless for every model
    warning   the pass rate misleads a reader who does not know about it
    note      worth knowing

`Material` lays the suite out; each check returns findings. To add a check: write one function, add one line to CHECKS
and its kind to FIXES.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from ...core.measures import FEW_CASES
from ...core.records import Case, Example
from ...data.templates import templates
from ...stats.intervals import wilson
from .expect import Expect
from .hygiene_material import Counts, Material, expected_labels, is_perturbation
from .suite import Suite

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


def tell(n: int, total: int, singular: str = "", plural: str = "", noun: str = "cases") -> str:
    """Return a count with its share and verb.

    >>> tell(30, 120, "is lost", "are lost"), tell(1, 8000, "is lost", ""), tell(7, 7, "", "are lost")
    ('30 of 120 cases (25.0 %) are lost', '1 of 8,000 cases (under 0.1 %) is lost', 'all 7 cases are lost')
    """
    share = f"{100 * n / total:.1f} %" if n / total >= 0.0005 else "under 0.1 %"
    count = f"all {total:,} {noun}" if n == total > 1 else f"{n:,} of {total:,} {noun} ({share})"
    return f"{count} {singular if n == 1 else plural}".strip()


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


# Rules

SLIP = "always fails with ({0}, {1}, any) and never applies with ({1}, {0}, any)"
"""The slip of the released rule "implication_triplet", for the labels 0 and 1."""


def check_rules(material: Material) -> Iterator[Finding]:
    """Find rules that cannot judge their cases, and the released rule with a known slip."""
    for name, cases in material.by_name.items():
        rule = cases[0].meta["expect"].rule
        if name in material.problems:
            what = f"no answer to its {len(cases):,} cases can be judged: {material.problems[name]}"
            yield Finding("rule cannot judge", "error", (name,), what, ids(cases), len(cases), 1.0)
        if rule == "implication_triplet":
            what = f"rule {rule!r} is about the last prediction, but {SLIP.format(*material.labels)}"
            yield Finding("unreachable branch", "error", (name,), what, count=1)


# Cases that test nothing

HAVE = ("has", "have")
NEARLY_ALL = 0.95
"""Pass rate of a constant answer from which a functionality tests next to nothing by itself."""
MOVES = (
    "same_pred",
    "conf_of_",
    "positive_shift",
    "direction ",
    "exact_string_equal_to_original",
    "answer_equals_original",
    "same_text",
    "token_f1",
)
"""Prefixes of rules that any constant answer passes, because they only look at changes."""


def check_vacuous(material: Material) -> Iterator[Finding]:
    """Find perturbation cases without a variant, and variants equal to their original."""
    for name, cases in material.by_name.items():
        if not is_perturbation(cases[0]):
            continue
        alone = [case for case in cases if len(case.examples) == 1]
        if alone:
            severity: Severity = "error" if len(alone) == len(cases) else "warning"
            rest = " one example only: every model passes"
            yield finding("nothing to compare with", name, alone, len(cases), HAVE, rest, severity)
        unchanged = [case for case in cases if case.examples[0] in case.examples[1:]]
        if unchanged:
            copies = sum(case.examples.count(case.examples[0]) - 1 for case in unchanged)
            variants = sum(len(case.examples) - 1 for case in unchanged)
            rest = f" a variant that equals its original ({copies:,} of {variants:,} variants)"
            yield finding("nothing changed", name, unchanged, len(cases), HAVE, rest)


def check_constants(material: Material) -> Iterator[Finding]:
    """Find functionalities that one constant answer passes, if nothing in their capability fails that answer.

    Rules about changes pass with any constant answer and are left out.
    """
    failing = _failing(material)
    for name, cases in material.by_name.items():
        best = max(material.constants.get(name, ()), key=lambda constant: constant.rate, default=None)
        is_vacuous = is_perturbation(cases[0]) and all(len(case.examples) == 1 for case in cases)
        if best is None or best.rate < NEARLY_ALL or is_vacuous:
            continue
        contrasts = failing[cases[0].groups["capability"], best.answer] - {name}
        if not contrasts and not compares_with_original(cases[0].meta["expect"]):
            answer = repr(best.answer) if best.answer else "nothing"
            what = f"a model that always says {answer} passes {tell(best.passes, best.n)}"
            yield Finding("one answer passes", "warning", (name,), what, (), best.passes, best.rate)


def compares_with_original(expect: Expect) -> bool:
    """Return whether a rule looks only at changes of the prediction."""
    if expect.parts:
        return all(map(compares_with_original, expect.parts))
    return expect.rule.startswith(MOVES)


def _failing(material: Material) -> dict[tuple[str, str], set[str]]:
    """Return the functionalities that a constant answer fails, by capability and answer."""
    failing: dict[tuple[str, str], set[str]] = defaultdict(set)
    for name, constants in material.constants.items():
        for constant in constants:
            if constant.n and constant.rate <= 1 - NEARLY_ALL:
                failing[material.by_name[name][0].groups["capability"], constant.answer].add(name)
    return failing


# Labels


def check_conflicts(material: Material) -> Iterator[Finding]:
    """Find examples with two expected answers that no model can satisfy together."""
    expected: dict[Example, dict[tuple[str, str], Case]] = defaultdict(dict)
    for case in material.cases:
        for example, label in zip(case.examples, expected_labels(case, material.labels), strict=True):
            if label is not None:
                expected[example].setdefault((case.groups["functionality"], label), case)
    by_place: dict[tuple[str, ...], list[Finding]] = defaultdict(list)
    for example, askers in expected.items():
        rows = sorted(
            (name, label, case.id)
            for (name, label), case in askers.items()
            if not all(compatible(label, other) for _, other in askers)
        )
        if rows:
            where = tuple(dict.fromkeys(name for name, _, _ in rows))
            _, label, first = rows[0]
            other, second = next(row[1:] for row in rows if not compatible(label, row[1]))
            what = f"two expected answers: {quoted(example)} is {label!r} and {other!r}"
            places = tuple(dict.fromkeys([first, second]))
            by_place[where].append(Finding("label conflict", "error", where, what, places))
    for conflicts in sorted(by_place.values(), key=len, reverse=True):
        examples = f"{len(conflicts):,} examples have" if len(conflicts) > 1 else "1 example has"
        yield replace(conflicts[0], what=f"{examples} {conflicts[0].what}", count=len(conflicts))


def compatible(label: str, other: str) -> bool:
    """Return whether one answer can be right for both.

    >>> [compatible(label, "not negative") for label in ("positive", "negative", "not positive")]
    [True, False, True]
    >>> compatible("not negative", "negative"), compatible("negative", "negative")
    (False, True)
    """
    unlike = [word.removeprefix("not ") for word in (label, other) if word.startswith("not ")]
    if not unlike:
        return label == other
    return len(unlike) == 2 or unlike[0] not in (label, other)


def quoted(example: Example, length: int = 60) -> str:
    """Return an example for a message, shortened in the middle."""
    text = " ".join(" ¦ ".join(example).split())
    half = length // 2
    return f'"{text if len(text) <= length else f"{text[:half]} … {text[-half:]}"}"'


# Duplicates


def check_duplicates(material: Material) -> Iterator[Finding]:
    """Find cases whose examples occur before in the same functionality."""
    for name, cases in material.by_name.items():
        first_cases = {case.examples: case for case in reversed(cases)}
        repeats = [case for case in cases if first_cases[case.examples] is not case]
        if repeats:
            verbs, rest = ("repeats another", "repeat another"), f", leaving {len(cases) - len(repeats):,}"
            yield finding("repeated cases", name, repeats, len(cases), verbs, rest)


def check_split(material: Material) -> Iterator[Finding]:
    """Find test cases that are also in the training part of a split by id (`docs/method/beluga.md` 1.2)."""
    kind = "test cases seen in training"
    copies = ("is a copy of a training case", "are copies of a training case", "test cases")
    parts = material.test_cases.items()
    places = [finding(kind, name, seen, tested, copies) for name, (tested, seen) in parts if seen]
    yield from places
    if places:
        tested = sum(n for n, _ in material.test_cases.values())
        seen = [case for _, cases in material.test_cases.values() for case in cases]
        what, share = tell(len(seen), tested, *copies), len(seen) / tested
        severity = min(places, key=by_importance).severity
        yield Finding(kind, severity, (), what, ids(seen), len(seen), share)


# Size and texts


SPLITTABLE = 4
"""With fewer cases a part of the double split can be empty (`docs/method/beluga.md` 1.12)."""


def check_size(material: Material) -> Iterator[Finding]:
    """Find functionalities with too few distinct cases for a useful pass rate."""
    for name, n in sorted(material.unique_cases.items(), key=lambda row: row[1]):
        if n >= FEW_CASES:
            continue
        low, high = (100 * end for end in wilson(n / 2, n))
        different = "different " if n < len(material.by_name[name]) else ""
        what = f"only {n} {different}case{'s' if n > 1 else ''}"
        what += f": at a pass rate of 50 %, the 95 % interval would be {low:.0f} to {high:.0f} %"
        severity: Severity = "warning" if n < SPLITTABLE else "note"
        yield Finding("too few cases", severity, (name,), what, count=n)


LOOKED_AT = 200
"""Cases of a functionality whose texts are compared."""
FEW = 1 / 3
"""Templates per case, below which cases are not independent."""


def check_templates(material: Material) -> Iterator[Finding]:
    """Find functionalities whose cases look like fillings of a few unnamed templates."""
    few: dict[str, tuple[int, int]] = {}
    for name, cases in material.by_name.items():
        looked_at = [case for case in cases[:: -(-len(cases) // LOOKED_AT)] if not case.cluster]
        number = len(set(templates([" | ".join(case.examples[0]) for case in looked_at])))
        if len(looked_at) >= FEW_CASES and number < FEW * len(looked_at):
            few[name] = len(looked_at), number
    if few:
        name, (n, number) = min(few.items(), key=lambda row: (row[1][1] / row[1][0], row[0]))
        what = f"{n} cases look like {number} template{'s' if number > 1 else ''}, in {name!r}"
        what += f"; the same holds for {len(few) - 1} more functionalities" if len(few) > 1 else ""
        yield Finding("templates without a cluster", "note", tuple(few), what, count=len(few))


CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd\ud800-\udfff]")
TEXT_DEFECTS: dict[str, tuple[str, Callable[[str], object]]] = {
    "empty texts": ("an empty text", lambda text: not text.strip()),
    "control characters": ("a control character or a damaged character", CONTROL.search),
}
"""Kind of finding to its words and the texts that have it."""


def check_texts(material: Material) -> Iterator[Finding]:
    """Find texts that are empty or damaged."""
    for kind, (words, has) in TEXT_DEFECTS.items():
        for name, cases in material.by_name.items():
            bad = [case for case in cases if any(has(text) for texts in case.examples for text in texts)]
            if bad:
                yield finding(kind, name, bad, len(cases), ("holds", "hold"), f" {words}", "warning")


CHECKS: tuple[Callable[[Material], Iterator[Finding]], ...] = (
    check_rules,
    check_vacuous,
    check_conflicts,
    check_split,
    check_duplicates,
    check_constants,
    check_size,
    check_templates,
    check_texts,
)
"""Every check, the most important first."""


def examine(suite: Suite | Iterable[Case]) -> Hygiene:
    """Return the findings of every check, errors first; the order of the cases does not matter."""
    material = Material(suite.cases if isinstance(suite, Suite) else suite)
    findings = [finding for check in CHECKS for finding in sorted(check(material), key=by_importance)]
    findings.sort(key=lambda row: SEVERITIES.index(row.severity))  # stable: CHECKS decides within a severity
    return Hygiene(tuple(findings), tuple(material.counts()), material.label_counts)
