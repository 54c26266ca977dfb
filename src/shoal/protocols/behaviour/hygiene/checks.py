"""The checks: each looks at the suite's `Material` and returns findings."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

from ....core.errors import DataError, some
from ....core.measures import FEW_CASES
from ....core.records import Case, Example
from ....stats.intervals import wilson
from ..build import half_half
from ..expect import Expect
from ..settings import SPLITS
from ..templated import few_templates
from .findings import FIXES, MANY, SEVERITIES, Finding, finding, ids, tell, worst_first
from .material import (
    LUKEWARM,
    OTHER_LABEL,
    SMALL,
    Constant,
    Material,
    Reply,
    Verdict,
    first,
    is_perturbation,
    is_vacuous,
    judge_all,
    named,
    only,
    sayable,
    shape,
    spoken_labels,
    wanted,
)

# Rules that cannot pass, fail or apply


SHAPES = 12
"""Cases of a functionality that are tried, each of another shape."""


def check_rules(material: Material) -> list[Finding]:
    """Each rule on every combination of predictions for a small case: can it pass, fail and apply at all?"""
    findings = []
    tried: dict[object, tuple[set[Verdict], Settled | None]] = {}
    for name, shapes in material.shapes.items():
        if name in material.problems:
            cases, problem = material.by_name[name], material.problems[name]
            what = f"no answer to its {len(cases):,} cases can be judged: {problem}"
            findings.append(finding("rule cannot judge", name, cases, len(cases), what, "error"))
        elif not is_vacuous(material.by_name[name]):
            few = [cases[0] for cases in islice(shapes.values(), SHAPES)]
            results = [_try_rule(first(case, SMALL), material.labels, tried) for case in few]
            rule = material.by_name[name][0].meta["expect"].rule
            findings += _one_sided(name, rule, set().union(*(verdicts for verdicts, _ in results)))
            findings += [_unreachable(name, rule, settled) for _, settled in results if settled][:1]
    return worst_first(findings)


@dataclass(frozen=True, slots=True)
class Settled:
    """Predictions that decide a case before its last example is looked at, though only that could."""

    passes: tuple[str, ...]
    fails: tuple[str, ...]
    never_apply: tuple[str, ...]


def _try_rule(
    case: Case, labels: tuple[str, ...], tried: dict[object, tuple[set[Verdict], Settled | None]]
) -> tuple[set[Verdict], Settled | None]:
    key = shape(case)
    if key not in tried:
        verdicts = set(judge_all(case, sayable(case, labels, (1.0, 0.75, 1 / len(labels) + 0.05))).values())
        tried[key] = verdicts, settled_early(case, sayable(case, labels, (1.0,)))
    return tried[key]


def settled_early(case: Case, palette: Sequence[Reply]) -> Settled | None:
    """Predictions for all but the last example that pass, or fail, whatever the last is.

    That is in order where the case without its last example goes the same way: an earlier variant has changed. It
    is a slip in a rule that is about the last example, and lets it decide under other predictions.
    """
    if len(case.examples) < 2:
        return None
    ends: dict[tuple[int, ...], set[Verdict]] = defaultdict(set)
    for picks, verdict in judge_all(case, palette).items():
        ends[picks[:-1]].add(verdict)
    if not any({True, False} <= verdicts for verdicts in ends.values()):
        return None
    try:
        before = judge_all(first(case, len(case.examples) - 1), palette)
    except DataError:
        before = {}  # the rule needs every example

    def those(verdict: Verdict) -> tuple[str, ...]:
        known = [picks for picks, verdicts in ends.items() if verdicts == {verdict}]
        early = [picks for picks in known if verdict is None or before.get(picks) != verdict]
        return tuple(f"({', '.join(palette[position].word for position in picks)}, any)" for picks in early)

    settled = Settled(those(True), those(False), those(None))
    return settled if settled.passes or settled.fails else None


def _unreachable(name: str, rule: str, settled: Settled) -> Finding:
    always = [
        *(f"always passes with {pattern}" for pattern in settled.passes),
        *(f"always fails with {pattern}" for pattern in settled.fails),
    ]
    never = [f"never applies with {some(settled.never_apply, PATTERNS)}"] if settled.never_apply else []
    kind, better = "unreachable branch", BETTER_RULES.get(rule)
    fix = f'expect rule "{better}", as profile recommended does (edits=repaired)' if better else FIXES[kind]
    what = f"rule {rule!r} is about the last prediction, but some others decide without it: "
    what += "; ".join([*always[:PATTERNS], *never])
    return Finding(kind, "error", (name,), what, fix, count=len(settled.passes) + len(settled.fails))


PATTERNS = 4
"""Combinations of predictions that a finding spells out."""
BETTER_RULES = {"implication_triplet": "implication"}


def _one_sided(name: str, rule: str, verdicts: set[Verdict]) -> list[Finding]:
    """A rule that cannot go more than one way."""
    if {True, False} <= verdicts:
        return []
    how = "fails" if True in verdicts else "passes" if False in verdicts else "applies"
    kind, what = f"rule never {how}", f"whatever is predicted for a case of up to {SMALL} examples"
    return [Finding(kind, "error", (name,), f"rule {rule!r} never {how}, {what}", FIXES[kind])]


# Cases that test nothing


NEARLY_ALL = 0.95
"""Pass rate of a constant prediction from which a functionality hardly tests anything by itself."""


def check_vacuous(material: Material) -> list[Finding]:
    """Perturbation cases without a variant, and variants in which nothing was changed."""
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
    """Variants that are their original again: they test nothing, or cannot be passed."""
    known: dict[object, bool] = {}
    harmless: list[Case] = []
    hopeless: list[Case] = []
    for case in cases:
        if case.examples[0] in case.examples[1:]:
            again = case.examples.index(case.examples[0], 1)
            # The same text gets the same answer: where the rule asks for another, no model can pass.
            alike = can_be_answered_alike(only(case, [0, again]), labels, known)
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
    """Whether an original and a copy of it, with one answer for both, can pass; true where the rule cannot say."""
    key = shape(pair)
    if key not in known:
        try:
            verdicts = judge_all(pair, sayable(pair, labels, (LUKEWARM,)))
        except DataError:
            verdicts = {}
        alike = {verdict for (answer, again), verdict in verdicts.items() if answer == again}
        known[key] = True in alike or False not in alike
    return known[key]


def check_constants(material: Material) -> list[Finding]:
    """Find functionalities that one constant answer passes, if nothing in their capability fails that answer.

    Rules that only ask that predictions do not move pass with any constant by nature; they are left out.
    """
    findings = []
    failing = _failing(material)
    for name, cases in material.by_name.items():
        best = material.best_constant(name)
        if best is None or best.rate < NEARLY_ALL or is_vacuous(cases):
            continue
        if compares_with_original(cases[0].meta["expect"]):
            continue
        if failing[cases[0].groups["capability"], best.answer] <= {name}:
            findings.append(_one_answer(name, best))
    return worst_first(findings)


def compares_with_original(expect: Expect) -> bool:
    """Whether a rule looks only at how a prediction moved, never at which it is."""
    if expect.parts:
        return all(map(compares_with_original, expect.parts))
    return expect.rule.startswith(MOVES)


MOVES = (
    "same_pred",
    "conf_of_",
    "positive_shift",
    "direction ",
    "exact_string_equal_to_original",
    "answer_equals_original",
)


def _failing(material: Material) -> dict[tuple[str, str], set[str]]:
    """By capability and constant answer: the functionalities that a model with this answer fails."""
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
    """The same example, asked to be answered in two ways that no model can satisfy at once."""
    asked: dict[Example, dict[tuple[str, str], Case]] = defaultdict(dict)
    """By example: each label and functionality that ask for it, with the first case."""
    for case in material.cases:
        for example, label in zip(case.examples, wanted(case, material.labels), strict=True):
            if label is not None:
                asked[example].setdefault((label, case.groups["functionality"]), case)
    pairs: dict[tuple[str, ...], dict[Example, tuple[str, Case, str, Case]]] = defaultdict(dict)
    for example, askers in asked.items():
        for pair, conflict in _conflicts(askers):
            pairs[pair].setdefault(example, conflict)
    return worst_first(_conflict(pair, conflicts) for pair, conflicts in pairs.items())


def _conflicts(
    asked: Mapping[tuple[str, str], Case],
) -> Iterator[tuple[tuple[str, ...], tuple[str, Case, str, Case]]]:
    """Every two that contradict each other; of very many, only the first functionality that asks for each label."""
    rows = sorted(asked.items(), key=lambda row: (row[0][1], row[0][0]))
    if len(rows) > MANY:
        firsts = {row[0][0]: row for row in reversed(rows)}
        rows = [row for row in rows if firsts[row[0][0]] is row][:MANY]
    for ((label, name), case), ((other, there), second) in combinations(rows, 2):
        if not compatible(label, other):
            yield tuple(dict.fromkeys([name, there])), (label, case, other, second)


def compatible(label: str, other: str) -> bool:
    """Whether one answer can be right for both.

    >>> [compatible(label, "not negative") for label in ("positive", "negative", "not positive")]
    [True, False, True]
    >>> compatible("not negative", "negative"), compatible("negative", "negative")
    (False, True)
    """
    unlike = [word.removeprefix("not ") for word in (label, other) if word.startswith("not ")]
    if not unlike:
        return label == other
    return len(unlike) == 2 or unlike[0] not in (label, other)


def _conflict(where: tuple[str, ...], conflicts: Mapping[Example, tuple[str, Case, str, Case]]) -> Finding:
    example, (label, case, other, second) = min(
        conflicts.items(), key=lambda row: (len(row[1][1].id), row[1][1].id, row[0])
    )
    several = f"{len(conflicts):,} examples are" if len(conflicts) > 1 else "1 example is"
    kind = "label conflict"
    what = f"{several} to be answered in two ways: {quoted(example)} is {label!r} and {other!r}"
    return Finding(
        kind, "error", where, what, FIXES[kind], tuple(dict.fromkeys([case.id, second.id])), len(conflicts)
    )


def quoted(example: Example, length: int = 60) -> str:
    """An example's texts for a message, the middle left out where they are long."""
    text = " ".join(" ¦ ".join(example).split())
    half = length // 2
    return f'"{text if len(text) <= length else f"{text[:half]} … {text[-half:]}"}"'


def check_labels(material: Material) -> list[Finding]:
    """Find labels of the suite that no case and no rule asks for."""
    asked = material.label_counts
    mentioned = {label.removeprefix("not ") for label, n in asked.items() if n}
    for expect in {case.meta["expect"] for case, *_ in material.by_name.values()}:
        mentioned |= {named(word, material.labels) for word in spoken_labels(expect)}
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
    """Test cases that are letter by letter in the training part of a split by id (`docs/method/beluga.md` 1.2)."""
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
"""Fewer cases than this can leave a part of the double split empty (`docs/method/beluga.md` 1.12)."""


def check_size(material: Material) -> list[Finding]:
    """Functionalities with so few different cases that their pass rate says little."""
    findings = []
    for name, n in material.unique_cases.items():
        if n >= FEW_CASES:
            continue
        low, high = (100 * end for end in wilson(n / 2, n))
        different = "different " if n < len(material.by_name[name]) else ""
        plural = "s" if n > 1 else ""
        small = f"; a split gives {_split(n)}" if n < SPLITTABLE else ""
        kind, severity = "too few cases", SEVERITIES[1 if n < SPLITTABLE else 2]
        what = f"{n} {different}case{plural}: a pass rate of 50 % would mean {low:.0f} to {high:.0f} % (95 % Wilson)"
        findings.append(Finding(kind, severity, (name,), what + small, FIXES[kind], count=n))
    return sorted(findings, key=lambda row: (row.count, row.where))


def check_templates(material: Material) -> list[Finding]:
    """Functionalities whose cases look like fillings of a few templates, and whose suite does not say which."""
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


def _split(n: int) -> str:
    parts = Counter(half_half(n))
    return ", ".join(f"{parts[part]} {part}" for part in SPLITS)


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
