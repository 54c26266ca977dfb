"""Rules that cannot pass, fail or apply, and predictions that decide before the rule looks."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from ....core.errors import DataError, some
from ....core.records import Case
from .asked import is_vacuous, shape
from .findings import FIXES, Finding, finding, worst_first
from .made_up import SMALL, Reply, Verdict, first, judge_all, sayable
from .material import Material

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
