"""Cases and functionalities that test nothing."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from ....core.errors import DataError
from ....core.records import Case
from ..rules import Expect
from .asked import is_perturbation, is_vacuous, shape
from .findings import FIXES, Finding, finding, tell, worst_first
from .made_up import LUKEWARM, judge_all, only, sayable
from .material import Constant, Material

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
    """Functionalities that a model passes by always giving the same answer (`docs/method/beyond.md` 7.9)."""
    by_nature, one_answer = [], []
    failing = _failing(material)
    for name, cases in material.by_name.items():
        best = material.best_constant(name)
        if best is None or best.rate < NEARLY_ALL or is_vacuous(cases):
            continue
        if compares_with_original(cases[0].meta["expect"]):
            by_nature.append(name)
        else:
            one_answer.append(_one_answer(name, best, cases[0].groups["capability"], failing))
    return worst_first(one_answer) + ([_by_nature(material, by_nature)] if by_nature else [])


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


def _one_answer(
    name: str, best: Constant, capability: str, failing: Mapping[tuple[str, str], set[str]]
) -> Finding:
    answer = repr(best.answer) if best.answer else "nothing"
    kind, what = "one answer passes", f"a model that always says {answer} passes "
    what += tell(best.passes, best.n, "", "").strip()
    others = failing.get((capability, best.answer), set())
    if len(others) == (name in others):
        return Finding(kind, "warning", (name,), what, FIXES[kind], (), best.passes, best.rate)
    what += f"; capability {capability!r} has tests that this fails"
    fix = "read it beside the tests of its capability that ask for another label"
    return Finding(kind, "note", (name,), what, fix, (), best.passes, best.rate)


def _by_nature(material: Material, names: list[str]) -> Finding:
    types = Counter(material.by_name[name][0].groups["test type"] for name in names)
    kinds = " and ".join(f"{n} {kind}" for kind, n in sorted(types.items(), reverse=True))
    total = len(material.by_name)
    what = f"{kinds} functionalities of {total} ask only that predictions do not move: "
    what += "a model that never changes its mind passes them all"
    kind = "any constant passes"
    return Finding(kind, "note", tuple(names), what, FIXES[kind], (), len(names), len(names) / total)
