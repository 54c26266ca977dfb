"""The checks: each looks at the suite's `Material` and returns findings."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from ....core.errors import DataError
from ....core.measures import FEW_CASES
from ....core.records import Case, Example
from ....data.templates import templates
from ....stats.intervals import wilson
from ..expect import Expect
from .findings import FIXES, Finding, Severity, finding, ids, tell, worst_first
from .material import (
    LUKEWARM,
    OTHER_LABEL,
    SMALL,
    Constant,
    Material,
    Verdict,
    expected_labels,
    first,
    is_perturbation,
    is_vacuous,
    judge_all,
    named,
    palette_of,
    rule_labels,
    shape,
    with_examples,
)

# Rules that cannot pass, fail or apply

SHAPES = 12
"""Cases of a functionality that are tried, each of another shape."""
SLIPS = {
    "implication_triplet": (
        "implication",
        "is about the last prediction, but always fails with ({0}, {1}, any) and never applies with ({1}, {0}, any)",
    )
}
"""Released rules with a slip: the corrected rule, and the slip for the labels 0 and 1."""


def check_rules(material: Material) -> list[Finding]:
    """Find rules with a known slip, and rules that cannot pass, fail or apply, whatever is predicted."""
    findings = []
    for name, cases in material.by_name.items():
        rule = cases[0].meta["expect"].rule
        if name in material.problems:
            what = f"no answer to its {len(cases):,} cases can be judged: {material.problems[name]}"
            findings.append(finding("rule cannot judge", name, cases, len(cases), what, "error"))
        elif not is_vacuous(cases):
            tried = (first(alike[0], SMALL) for alike in islice(material.shapes[name].values(), SHAPES))
            verdicts = set().union(*(_verdicts(case, material.labels) for case in tried))
            findings += _one_sided(name, rule, verdicts)
        if rule in SLIPS:
            better, slip = SLIPS[rule]
            fix = f'expect rule "{better}", as profile recommended does (edits=repaired)'
            what = f"rule {rule!r} {slip.format(*material.labels)}"
            findings.append(Finding("unreachable branch", "error", (name,), what, fix, count=1))
    return worst_first(findings)


def _verdicts(case: Case, labels: tuple[str, ...]) -> set[Verdict]:
    """Return the verdicts on a case under every combination of predictions with several confidences."""
    return set(judge_all(case, palette_of(case, labels, (1.0, 0.75, 1 / len(labels) + 0.05))).values())


def _one_sided(name: str, rule: str, verdicts: set[Verdict]) -> list[Finding]:
    if {True, False} <= verdicts:
        return []
    never = "fails" if True in verdicts else "passes" if False in verdicts else "applies"
    kind, what = f"rule never {never}", f"whatever is predicted for a case of up to {SMALL} examples"
    return [Finding(kind, "error", (name,), f"rule {rule!r} never {never}, {what}", FIXES[kind])]


# Cases that test nothing


NEARLY_ALL = 0.95
"""Pass rate of a constant answer from which a functionality tests next to nothing by itself."""
MOVES = (
    "same_pred",
    "conf_of_",
    "positive_shift",
    "direction ",
    "exact_string_equal_to_original",
    "answer_equals_original",
)
"""Prefixes of rules that any constant answer passes, because they only look at changes."""


def check_vacuous(material: Material) -> list[Finding]:
    """Find perturbation cases without a variant, and variants equal to their original."""
    findings = []
    for name, cases in material.by_name.items():
        if not is_perturbation(cases[0]):
            continue
        alone = [case for case in cases if len(case.examples) == 1]
        if alone:
            severity = "error" if len(alone) == len(cases) else "warning"
            what = tell(len(alone), len(cases), "has", "have") + " one example only: every model passes"
            findings.append(finding("nothing to compare with", name, alone, len(cases), what, severity))
        findings += _unchanged(name, cases, material.labels)
    return worst_first(findings)


def _unchanged(name: str, cases: list[Case], labels: tuple[str, ...]) -> Iterator[Finding]:
    """Yield findings on variants equal to their original: they test nothing, or cannot be passed."""
    known: dict[object, bool] = {}
    harmless: list[Case] = []
    hopeless: list[Case] = []
    for case in cases:
        if case.examples[0] in case.examples[1:]:
            again = case.examples.index(case.examples[0], 1)
            # The same text gets the same answer: where the rule asks for another, no model can pass.
            alike = can_be_answered_alike(with_examples(case, [0, again]), labels, known)
            (harmless if alike else hopeless).append(case)
    if hopeless:
        what = tell(len(hopeless), len(cases), "has", "have") + " a variant that is the original again"
        what += ", to be answered in another way"
        yield finding("cases that cannot be passed", name, hopeless, len(cases), what, "error")
    if harmless:
        copies = sum(case.examples.count(case.examples[0]) - 1 for case in harmless)
        variants = sum(len(case.examples) - 1 for case in harmless)
        what = tell(len(harmless), len(cases), "has", "have") + " a variant that is the original again"
        what += f" ({copies:,} of their {variants:,})"
        yield finding("nothing changed", name, harmless, len(cases), what)


def can_be_answered_alike(pair: Case, labels: tuple[str, ...], known: dict[object, bool]) -> bool:
    """Return whether one answer to an original and its copy can pass; True if the rule cannot judge them."""
    key = shape(pair)
    if key not in known:
        try:
            verdicts = judge_all(pair, palette_of(pair, labels, (LUKEWARM,)))
        except DataError:
            verdicts = {}
        alike = {verdict for (answer, again), verdict in verdicts.items() if answer == again}
        known[key] = True in alike or False not in alike
    return known[key]


def check_constants(material: Material) -> list[Finding]:
    """Find functionalities that one constant answer passes, if nothing in their capability fails that answer.

    Rules about changes pass with any constant answer and are left out.
    """
    findings = []
    failing = _failing(material)
    for name, cases in material.by_name.items():
        best = material.best_constant(name)
        if best is None or best.rate < NEARLY_ALL or is_vacuous(cases):
            continue
        contrasts = failing[cases[0].groups["capability"], best.answer] - {name}
        if not contrasts and not compares_with_original(cases[0].meta["expect"]):
            findings.append(_one_answer(name, best))
    return worst_first(findings)


def compares_with_original(expect: Expect) -> bool:
    """Return whether a rule looks only at changes of the prediction."""
    if expect.parts:
        return all(map(compares_with_original, expect.parts))
    return expect.rule.startswith(MOVES)


def _failing(material: Material) -> dict[tuple[str, str], set[str]]:
    """Return the functionalities that a constant answer fails, by capability and answer."""
    failing: dict[tuple[str, str], set[str]] = defaultdict(set)
    for name, constants in material.constants.items():
        capability = material.by_name[name][0].groups["capability"]
        for constant in constants:
            if constant.n and constant.rate <= 1 - NEARLY_ALL:
                failing[capability, constant.answer].add(name)
    return failing


def _one_answer(name: str, best: Constant) -> Finding:
    answer = repr(best.answer) if best.answer else "nothing"
    kind = "one answer passes"
    what = f"a model that always says {answer} passes " + tell(best.passes, best.n, "", "").strip()
    return Finding(kind, "warning", (name,), what, FIXES[kind], (), best.passes, best.rate)


# Labels


def check_conflicts(material: Material) -> list[Finding]:
    """Find examples with two expected answers that no model can satisfy together."""
    expected: dict[Example, dict[tuple[str, str], Case]] = defaultdict(dict)
    for case in material.cases:
        for example, label in zip(case.examples, expected_labels(case, material.labels), strict=True):
            if label is not None:
                expected[example].setdefault((case.groups["functionality"], label), case)
    by_place: dict[tuple[str, ...], list[tuple[Example, dict[str, Case]]]] = defaultdict(list)
    for example, askers in expected.items():
        labels = {label for _, label in askers}
        torn = {label for label in labels if not all(compatible(label, other) for other in labels)}
        if torn:
            rows = sorted((row for row in askers.items() if row[0][1] in torn), key=lambda row: row[0])
            cases = {label: case for (_, label), case in reversed(rows)}
            by_place[tuple(dict.fromkeys(name for (name, _), _ in rows))].append((example, cases))
    return worst_first(_conflict(where, conflicts) for where, conflicts in by_place.items())


def _conflict(where: tuple[str, ...], conflicts: list[tuple[Example, dict[str, Case]]]) -> Finding:
    """Return the finding on all conflicts between the same functionalities."""
    example, cases = min(conflicts, key=lambda row: min((len(case.id), case.id) for case in row[1].values()))
    label = min(cases, key=lambda word: (cases[word].groups["functionality"], word))
    other = next(word for word in sorted(cases) if not compatible(label, word))
    examples = f"{len(conflicts):,} examples have" if len(conflicts) > 1 else "1 example has"
    what = f"{examples} two expected answers: {quoted(example)} is {label!r} and {other!r}"
    places = tuple(dict.fromkeys([cases[label].id, cases[other].id]))
    return Finding("label conflict", "error", where, what, FIXES["label conflict"], places, len(conflicts))


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


def check_labels(material: Material) -> list[Finding]:
    """Find labels that no case expects and no rule names."""
    asked = material.label_counts
    mentioned = {label.removeprefix("not ") for label, n in asked.items() if n}
    for expect in {case.meta["expect"] for case, *_ in material.by_name.values()}:
        mentioned |= {named(word, material.labels) for word in rule_labels(expect)}
    unused = [label for label in material.labels if label not in {*mentioned, OTHER_LABEL}]
    if not asked or not unused:
        return []
    kind = "labels never asked for"
    what = f"no case asks for {', '.join(map(repr, unused))}, of {len(material.labels)} labels"
    return [Finding(kind, "warning", (), what, FIXES[kind], count=len(unused))]


# Duplicates


def check_duplicates(material: Material) -> list[Finding]:
    """Find cases whose examples occur before in the same functionality."""
    findings = []
    for name, cases in material.by_name.items():
        seen: set[object] = set()
        repeats = []
        for case in cases:
            if case.examples in seen:
                repeats.append(case)
            seen.add(case.examples)
        if repeats:
            what = tell(len(repeats), len(cases), "repeats another", "repeat another")
            what += f", leaving {len(cases) - len(repeats):,}"
            findings.append(finding("repeated cases", name, repeats, len(cases), what))
    return worst_first(findings)


def check_split(material: Material) -> list[Finding]:
    """Find test cases that are also in the training part of a split by id (`docs/method/beluga.md` 1.2)."""
    kind = "test cases seen in training"
    copies = ("is a copy of a training case", "are copies of a training case", "test cases")
    places = worst_first(
        finding(kind, name, seen, tested, tell(len(seen), tested, *copies))
        for name, (tested, seen) in material.test_cases.items()
        if seen
    )
    if not places:
        return []
    tested = sum(n for n, _ in material.test_cases.values())
    seen = [case for _, cases in material.test_cases.values() for case in cases]
    what, share = tell(len(seen), tested, *copies), len(seen) / tested
    entirely = sum(row.share == 1 for row in places)
    what += f"; in {entirely} functionalities all are" if entirely > 1 else ""
    return [Finding(kind, places[0].severity, (), what, FIXES[kind], ids(seen), len(seen), share), *places]


# Size and texts


SPLITTABLE = 4
"""With fewer cases a part of the double split can be empty (`docs/method/beluga.md` 1.12)."""


def check_size(material: Material) -> list[Finding]:
    """Find functionalities with too few distinct cases for a useful pass rate."""
    findings = []
    for name, n in material.unique_cases.items():
        if n >= FEW_CASES:
            continue
        low, high = (100 * end for end in wilson(n / 2, n))
        different = "different " if n < len(material.by_name[name]) else ""
        what = f"{n} {different}case{'s' if n > 1 else ''}"
        what += f": a pass rate of 50 % would mean {low:.0f} to {high:.0f} % (95 % Wilson)"
        kind = "too few cases"
        severity: Severity = "warning" if n < SPLITTABLE else "note"
        findings.append(Finding(kind, severity, (name,), what, FIXES[kind], count=n))
    return sorted(findings, key=lambda row: (row.count, row.where))


LOOKED_AT = 200
"""Cases of a functionality whose texts are compared."""
FEW = 1 / 3
"""Templates per case, below which cases are not independent."""


def few_templates(cases: Sequence[Case]) -> tuple[int, int] | None:
    """Return how many cases look like how few templates; None if templates are named, or cases few or independent."""
    if len(cases) < FEW_CASES or any(case.cluster for case in cases):
        return None
    looked_at = cases[:: -(-len(cases) // LOOKED_AT)]
    number = len(set(templates([" | ".join(case.examples[0]) for case in looked_at])))
    return (len(looked_at), number) if number < FEW * len(looked_at) else None


def check_templates(material: Material) -> list[Finding]:
    """Find functionalities whose cases look like fillings of a few unnamed templates."""
    kind, named = "templates without a cluster", []
    for name, cases in material.by_name.items():
        found = few_templates(cases)
        if found:
            named.append((name, *found))
    if not named:
        return []
    name, n, number = min(named, key=lambda row: (row[2] / row[1], row[0]))
    what = f"{n} cases look like {number} template{'s' if number > 1 else ''}, in {name!r}"
    more = f"; the like in {len(named) - 1} more functionalities" if len(named) > 1 else ""
    where = tuple(name for name, _, _ in named)
    return [Finding(kind, "note", where, what + more, FIXES[kind], count=len(named))]


CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd\ud800-\udfff]")


TEXT_DEFECTS: dict[str, tuple[str, Callable[[str], object]]] = {
    "empty texts": ("a text with nothing in it", lambda text: not text.strip()),
    "control characters": ("a control character or a damaged one", CONTROL.search),
}
"""Kind of finding to its words and the texts that have it."""


def check_texts(material: Material) -> list[Finding]:
    """Find texts that are empty or damaged."""
    findings = []
    for kind, (words, has) in TEXT_DEFECTS.items():
        for name, cases in material.by_name.items():
            bad = [case for case in cases if any(has(text) for texts in case.examples for text in texts)]
            if bad:
                what = tell(len(bad), len(cases), "holds", "hold") + f" {words}"
                findings.append(finding(kind, name, bad, len(cases), what, "warning"))
    return worst_first(findings)


CHECKS: tuple[Callable[[Material], list[Finding]], ...] = (
    check_rules,
    check_vacuous,
    check_conflicts,
    check_split,
    check_duplicates,
    check_labels,
    check_constants,
    check_size,
    check_templates,
    check_texts,
)
"""Every check, the most important first."""
