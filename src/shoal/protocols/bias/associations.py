"""Vector diagnostics over checkpoints: Figures 2 and 3 of the paper.

A test is in doubt where checkpoints of one recipe give it different signs, or call it significant and not.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from ...records import Measure
from ...stats import reliability as r
from .family import Family, measure, several, spread_measures


def sign_agreement(effects: Sequence[float]) -> float:
    """|positive - negative| / all: 1 where all have one sign, 0 where the signs are even.

    >>> sign_agreement([0.4, 0.7, -0.1, 0.5, 0.3])
    0.6
    """
    signs = np.sign(np.asarray(effects, dtype=np.float64))
    return float(abs(signs.sum()) / len(signs))


def associations(family: Family, level: float) -> list[Measure]:
    """Figure 3: per test the effect sizes, their signs and how many are significant."""
    found: list[Measure] = []
    table, verdicts = [], []
    for slice_, n in family.slices("effect size"):
        if "epoch" in slice_:
            continue
        effects, ps = family.values("effect size", slice_), family.values("p value", slice_)
        groups = {**family.groups, **slice_}
        found += [
            Measure(
                "effect size", d, n, {**groups, "checkpoint": name}, note="" if p is None else f"p = {p:.5g}"
            )
            for name, d, p in zip(family.names, effects, ps, strict=True)
        ]
        found += spread_measures("effect size", effects, n, groups)
        known = [d for d in effects if d is not None]
        if len(known) < 2:
            continue
        significant = [p is not None and p < level for p in ps]
        found += _verdict(known, significant, level, groups)
        if len(known) == len(effects):
            table.append(known)
            verdicts.append(significant)
    return found + list(_all_tests(table, verdicts, family.groups))


def _verdict(
    effects: Sequence[float], significant: Sequence[bool], level: float, groups: dict[str, str]
) -> Iterator[Measure]:
    runs = len(effects)
    yield measure("sign agreement", sign_agreement(effects), runs, groups)
    count = sum(significant)
    note = f"{count} of {several(runs)} have p < {level:g}"
    yield measure("significant share", count / runs, runs, groups, note)
    p, least = r.sign_flip_over_runs(effects, np.random.default_rng(0))
    words = f"sign flips over {several(runs)}, which can give no less than {least:.4g}"
    yield measure("p value over checkpoints", p, runs, groups, words)


def _all_tests(
    table: list[list[float]], verdicts: list[list[bool]], groups: dict[str, str]
) -> Iterator[Measure]:
    if not table:
        return
    tests, runs = len(table), len(table[0])
    one_sign = [sign_agreement(row) == 1 for row in table]
    one_verdict = [len(set(row)) == 1 for row in verdicts]
    yield measure("tests with one sign", sum(one_sign) / tests, tests, groups, f"{sum(one_sign)} of {tests}")
    yield measure(
        "tests with one verdict", sum(one_verdict) / tests, tests, groups, "significant in all, or in none"
    )
    if tests > 1 and runs > 1:
        words = "of effect sizes: would another checkpoint give this test the same"
        yield measure("ICC(2,1)", r.icc(table).agreement, tests, groups, words)
        yield measure("Krippendorff alpha", r.krippendorff_alpha(table, "interval"), tests, groups)


def between_representations(found: Sequence[Family]) -> Iterator[Measure]:
    """How often two representations of the same checkpoints agree on the sign of a test."""
    for one, two in combinations(found, 2):
        names = [name for name in one.names if name in two.results]
        same = [
            np.sign(a) == np.sign(b)
            for slice_, _ in one.slices("effect size")
            if "epoch" not in slice_
            for name, a, b in zip(
                one.names,
                one.values("effect size", slice_),
                _in_order(two, one.names, slice_),
                strict=True,
            )
            if name in names and a is not None and b is not None
        ]
        if same:
            groups = {"recipe": one.recipe, "diagnostic": "seat"}
            groups["representation"] = f"{one.representation} and {two.representation}"
            note = "tests and checkpoints in which both have the same sign"
            yield measure("agreement of representations", float(np.mean(same)), len(same), groups, note)


def _in_order(family: Family, names: Sequence[str], slice_: dict[str, str]) -> list[float | None]:
    known = dict(zip(family.names, family.values("effect size", slice_), strict=True))
    return [known.get(name) for name in names]


def separability(family: Family) -> list[Measure]:
    """Figure 2: accuracy of clusters per pair of concepts beside its chance level, and over epochs where asked."""
    found: list[Measure] = []
    for slice_, n in family.slices("cluster accuracy"):
        accuracies = family.values("cluster accuracy", slice_)
        chances = [value for value in family.values("chance accuracy", slice_) if value is not None]
        groups = {**family.groups, **slice_}
        found += [
            Measure("cluster accuracy", value, n, {**groups, "checkpoint": name})
            for name, value in zip(family.names, accuracies, strict=True)
        ]
        found += spread_measures("cluster accuracy", accuracies, n, groups)
        if chances:
            found.append(
                measure("chance accuracy", float(np.mean(chances)), n, groups, "labels put on at random")
            )
    return found
