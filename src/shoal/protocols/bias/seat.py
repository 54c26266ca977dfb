"""SEAT and WEAT: whether X and Y are associated with A and B to different degrees (`docs/method/bias.md` 5.5).

Texts without a vector, such as words that a file of word vectors lacks, are left out and named.
"""

import math
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...core.records import Answer, Basis, Case, Finding, Measure, Outcome
from ...stats import association
from ...stats.multiplicity import holm
from ..base import Asks, Scored
from . import wording
from .asking import ask as ask
from .asking import find_tests, representation_name, split_sets
from .family import LEVEL, Family, defined
from .settings import Settings

FOLDER, FILES = "seat", ()
ASKS: Asks = "vectors"
CONCEPTS: dict[str, str] = {}
SETS = ("X", "Y", "A", "B")


def make_cases(path: Path | None, settings: Settings) -> list[Case]:
    """Return a case per test; its examples are (text, the word it is about) of X, Y, A and B in turn."""
    cases = []
    for test in find_tests(path, settings.tests):
        pairs = tuple(pair for set_ in test.sets for pair in zip(set_.examples, set_.words, strict=True))
        sizes = [len(set_.examples) for set_ in test.sets]
        groups = {"diagnostic": "seat", "test": test.name}
        cases.append(Case(test.name, pairs, None, groups, "", {"sizes": sizes}))
    return cases


# Scoring


def score(settings: Settings, cases: Sequence[Case], answered: Sequence[Sequence[Answer]]) -> Scored:
    """Return effect size and p of every test, and p adjusted for all tests by Holm."""
    outcomes, measures, known = [], [], []
    for case, rows in zip(cases, answered, strict=True):
        effect, p = _test(settings, case, rows)
        known += [p] if p.value is not None else []
        measures += [effect, p]
        error = f"{effect.errors} texts without a vector" if effect.value is None and effect.errors else ""
        significant = None if p.value is None else p.value < LEVEL
        outcomes.append(Outcome(case.id, significant, effect.value, error))
    values = [p.value or 0.0 for p in known]
    adjusted = holm(values).tolist()
    for p, value in zip(known, adjusted, strict=True) if len(known) > 1 else ():
        measures.append(
            replace(p, name="adjusted p value", value=value, note=f"Holm over {len(known)} tests")
        )
    count, after_holm = (sum(value < LEVEL for value in row) for row in (values, adjusted))
    text = wording.significant_tests(count, after_holm, len(values), LEVEL)
    return Scored(outcomes, measures, findings=[Finding("conclusion", text)])


def _test(settings: Settings, case: Case, rows: Sequence[Answer]) -> tuple[Measure, Measure]:
    groups = {"diagnostic": "seat", "test": case.id, "representation": representation_name(settings, rows)}
    sets, missing, errors = split_sets(case, rows)
    x, y, a, b = sets
    n, note = len(x.words) + len(y.words), wording.no_vector(missing)
    p = Measure("p value", None, n, groups, na=len(missing), errors=errors, note=note)
    effect = replace(p, name="effect size", basis=Basis(runs=True))
    if empty := [name for name, members in zip(SETS, sets, strict=True) if not len(members.vectors)]:
        reason = f"no vectors for {', '.join(empty)}"
        return replace(effect, reason=reason), replace(p, reason=reason)
    s_x, s_y = (association.association(side.vectors, a.vectors, b.vectors) for side in (x, y))
    effect_size = association.effect_size(s_x, s_y)
    if math.isnan(effect_size):
        return replace(effect, reason=wording.NO_VARIANCE), replace(p, reason=wording.NO_VARIANCE)
    interval = defined(association.effect_size_interval(s_x, s_y, (x.words, y.words)))
    move_words = settings.conventions.move_words
    permutation = association.permutation_p(
        s_x, s_y, np.random.default_rng([settings.seed, zlib.crc32(case.id.encode())]), settings.n_samples,
        units=(x.words, y.words) if move_words else None, strict=settings.conventions.strict_ties,
        studentised=move_words,
    )  # fmt: skip
    method = "noncentral t over words" if interval else ""
    note = wording.partitions(permutation.partitions, permutation.exact, move_words)
    return (
        replace(effect, value=effect_size, interval=interval, interval_method=method),
        replace(p, value=permutation.p, note=note).with_note(wording.no_vector(missing)),
    )


# Several checkpoints


def sign_agreement(effects: Sequence[float]) -> float:
    """Return |positive - negative| / all: 1 if all signs agree, 0 if they are even."""
    signs = np.sign(np.asarray(effects, dtype=np.float64))
    return float(abs(signs.sum()) / len(signs))


def across(family: Family) -> list[Measure]:
    """Return Figure 3 of the paper: effect sizes, sign agreement and significance per test."""
    measures: list[Measure] = []
    table, verdicts = [], []
    for slice_, n in family.final_slices("effect size"):
        groups = {**family.groups, **slice_}
        measures += family.spread("effect size", slice_, n)
        known = list(family.defined_values("effect size", slice_).values())
        if len(known) < 2:
            continue
        significant = [p is not None and p < LEVEL for p in family.values("p value", slice_)]
        measures += [
            Measure("sign agreement", sign_agreement(known), len(known), groups),
            Measure("significant share", sum(significant) / len(known), len(known), groups),
        ]
        if len(known) == len(family.results):
            table.append(known)
            verdicts.append(significant)
    if tests := len(table):
        same_sign = sum(sign_agreement(row) == 1 for row in table) / tests
        same_verdict = sum(len(set(row)) == 1 for row in verdicts) / tests
        note = "significant in all, or in none"
        measures += [
            Measure("tests with one sign", same_sign, tests, family.groups),
            Measure("tests with one verdict", same_verdict, tests, family.groups, note=note),
        ]
    return measures
