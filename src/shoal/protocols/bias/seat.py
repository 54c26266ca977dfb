"""SEAT and WEAT: are X and Y associated with A and B to different degrees? (`docs/method/bias.md` 5.5)

Effect size, its interval over new words and the one-sided permutation p are those of `stats/association.py`. Sentences
about one word change sets together. What has no vector, such as a word that is not in a file of word vectors, is left
out and named; partitions then have the sizes that are left.
"""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import some
from ...core.records import Answer, Case, Measure, Measures, Outcome
from ...core.views import Block, Column, Dots, Number, Row, Table, Words
from ...stats import association as stats
from ...stats import reliability
from ...stats.multiplicity import holm
from ..base import Scored
from .agreement import agreement
from .family import (
    OVER_RUNS,
    Family,
    Line,
    axes,
    by_groups,
    columns_of,
    first,
    measure,
    several,
    sound,
    spread_measures,
)
from .notes import UNDEFINED, WHY, Phrases, noted
from .settings import Settings
from .vectors import ASKS, FILES, FOLDER, ask, find_tests, representation_of, split

Floats = NDArray[np.float64]

CASES = "tests"
CONCEPTS: dict[str, str] = {}
SETS = ("X", "Y", "A", "B")
SCALE = (-2.0, 2.0)
"""The ends of a strip of effect sizes, which are never beyond."""
BELOW: Phrases = {
    "no vector": lambda facts: f"no vector for {some(facts['no vector'])}: left out",
    "sided": lambda facts: (
        f"p is one-sided, for X nearer to A than Y is, over partitions of {facts['units']}"
    ),
    **UNDEFINED,
}
BESIDE: Phrases = {
    "sizes": lambda facts: "{} against {}".format(*facts["sizes"]),
    "tests": lambda facts: f"Holm over {facts['tests']} tests",
}


def _partitions(facts: Any) -> str:
    how = "all there are" if facts["exact"] else "drawn at random"
    return f"one-sided: {facts['partitions']:,} partitions of {facts['units']}, {how}"


COUNTED: Phrases = {"partitions": _partitions}

__all__ = [
    "ASKS", "BELOW", "CASES", "CONCEPTS", "FILES", "FOLDER",
    "across", "ask", "blocks", "conclude", "files", "make_cases", "score", "table",
]  # fmt: skip


def make_cases(path: Path | None, tests: Sequence[str] = ()) -> list[Case]:
    """A case per test; its examples are (text, the word it is about) of X, Y, A and B, one after the other."""
    return [
        Case(
            test.name,
            tuple(pair for set_ in test.sets for pair in zip(set_.examples, set_.words, strict=True)),
            None,
            {"diagnostic": "seat", "test": test.name},
            "",
            {
                "sizes": [len(set_.examples) for set_ in test.sets],
                "categories": [set_.category for set_ in test.sets],
            },
        )
        for test in find_tests(path, tests)
    ]


# Scoring


def score(settings: Settings, cases: Sequence[Case], answered: Sequence[Sequence[Answer]]) -> Scored:
    """Effect size and p of every test, and p adjusted for all of them by Holm."""
    outcomes, measures, tested = [], [], []
    for case, rows in zip(cases, answered, strict=True):
        effect, p = _test(settings, case, rows)
        tested.append(p)
        measures += [effect, p]
        error = f"{effect.errors} texts without a vector" if effect.value is None and effect.errors else ""
        significant = None if p.value is None else p.value < settings.level
        outcomes.append(Outcome(case.id, significant, effect.value, error))
    defined = [p for p in tested if p.value is not None]
    if len(defined) > 1:
        adjusted = holm([p.value for p in defined if p.value is not None])
        measures += [
            replace(p, name="adjusted p value", value=float(value), facts={"tests": len(defined)})
            for p, value in zip(defined, adjusted, strict=True)
        ]
    phrases = {name: phrase for name, phrase in BELOW.items() if name != "sided"}
    return Scored(outcomes, noted(measures, {**COUNTED, **phrases, **BESIDE}))


def _test(settings: Settings, case: Case, rows: Sequence[Answer]) -> tuple[Measure, Measure]:
    groups = {"diagnostic": "seat", "test": case.id, "representation": representation_of(settings, rows)}
    sets, missing, errors = split(case, rows)
    facts: dict[str, Any] = {"no vector": missing} if missing else {}
    n = sum(len(members[0]) for members in sets[:2])

    def both(effect: Measure, p: Measure) -> tuple[Measure, Measure]:
        left_out = len(missing)
        return (
            replace(effect, na=left_out, errors=errors, facts={"compare": "runs", **facts, **effect.facts}),
            replace(p, na=left_out, errors=errors, facts={**facts, **p.facts}),
        )

    why = _why_undefined(sets)
    if why:
        undefined = {WHY: why}
        return both(
            Measure("effect size", None, n, groups, facts=undefined),
            Measure("p value", None, n, groups, facts=undefined),
        )
    (x, x_words), (y, y_words), (a, _), (b, _) = sets
    s_x, s_y = stats.association(x, a, b), stats.association(y, a, b)
    ddof = 1 if settings.sd == "n-1" else 0
    units = (x_words, y_words) if settings.resolved("permute") == "words" else None
    rng = np.random.default_rng([settings.seed, zlib.crc32(case.id.encode())])
    p = stats.permutation_p(
        s_x, s_y, rng, settings.n_samples, units=units,
        strict=settings.resolved("p_ties") == "strict", method=settings.p_method, studentised=units is not None,
    )  # fmt: skip
    interval = sound(stats.effect_size_interval(s_x, s_y, (x_words, y_words)))
    sizes = {"sizes": [len(s_x), len(s_y)]} if len(s_x) != len(s_y) else {}
    effect = stats.effect_size(s_x, s_y, ddof)
    how = "noncentral t over words" if interval else ""
    counted = {"partitions": p.partitions, "exact": p.exact, "sided": "one"}
    counted |= {"units": "words" if units else "texts"}
    return both(
        Measure("effect size", effect, n, groups, interval, how, facts=sizes),
        Measure("p value", p.p, n, groups, facts=counted),
    )


def _why_undefined(sets: Sequence[tuple[Floats, list[str]]]) -> str:
    """Why there is no effect size; empty where there is one."""
    empty = [name for name, members in zip(SETS, sets, strict=True) if not len(members[0])]
    if empty:
        return f"nothing is left of {', '.join(empty)}"
    x, y, a, b = (vectors for vectors, _ in sets)
    alike = np.isnan(stats.effect_size(stats.association(x, a, b), stats.association(y, a, b)))
    return "all targets are associated alike: the standard deviation is 0" if alike else ""


# Several checkpoints


def sign_agreement(effects: Sequence[float]) -> float:
    """|positive - negative| / all: 1 where all have one sign, 0 where the signs are even.

    >>> sign_agreement([0.4, 0.7, -0.1, 0.5, 0.3])
    0.6
    """
    signs = np.sign(np.asarray(effects, dtype=np.float64))
    return float(abs(signs.sum()) / len(signs))


def across(settings: Settings, families: Sequence[Family]) -> list[Measure]:
    """Figure 3 of the paper for each representation, and how often two of them agree on a sign.

    A test is in doubt where checkpoints of one recipe give it different signs, or call it significant and not.
    """
    measures = [row for family in families for row in _associations(family, settings.level)]
    return [*measures, *_between_representations(families)]


def _associations(family: Family, level: float) -> list[Measure]:
    """Per test the effect sizes, their signs and how many are significant."""
    measures: list[Measure] = []
    table, verdicts = [], []
    for slice_, n in family.final_slices("effect size"):
        effects, ps = family.values("effect size", slice_), family.values("p value", slice_)
        groups = {**family.groups, **slice_}
        for name, effect, p in zip(family.names, effects, ps, strict=True):
            note = "" if p is None else f"p = {p:.5g}"
            about = {**groups, "checkpoint": name}
            measures.append(Measure("effect size", effect, n, about, note=note, facts={"p": p}))
        measures += spread_measures("effect size", effects, n, groups)
        known = [effect for effect in effects if effect is not None]
        if len(known) < 2:
            continue
        significant = [p is not None and p < level for p in ps]
        measures += _verdict(known, significant, level, groups)
        if len(known) == len(effects):
            table.append(known)
            verdicts.append(significant)
    return measures + list(_all_tests(table, verdicts, family.groups))


def _verdict(
    effects: Sequence[float], significant: Sequence[bool], level: float, groups: dict[str, str]
) -> Iterator[Measure]:
    runs, count = len(effects), sum(significant)
    yield measure("sign agreement", sign_agreement(effects), runs, groups)
    facts = {"significant": count, "checkpoints": runs, "level": level}
    note = f"{count} of {several(runs)} have p < {level:g}"
    yield measure("significant share", count / runs, runs, groups, note, facts=facts)
    p, least = reliability.sign_flip_over_runs(effects, np.random.default_rng(0))
    words = f"sign flips over {several(runs)}, which can give no less than {least:.4g}"
    yield measure("p value over checkpoints", p, runs, groups, words, facts={"least": least})


def _all_tests(
    table: list[list[float]], verdicts: list[list[bool]], groups: dict[str, str]
) -> Iterator[Measure]:
    if not table:
        return
    tests, runs = len(table), len(table[0])
    same_sign = sum(sign_agreement(row) == 1 for row in table)
    same_verdict = sum(len(set(row)) == 1 for row in verdicts)
    yield Measure(
        "tests with one sign", same_sign / tests, tests, groups, note=f"{same_sign} of {tests}",
        facts={"count": same_sign},
    )  # fmt: skip
    yield Measure(
        "tests with one verdict", same_verdict / tests, tests, groups, note="significant in all, or in none",
        facts={"count": same_verdict},
    )  # fmt: skip
    if tests > 1 and runs > 1:
        words = "of effect sizes: would another checkpoint give this test the same"
        yield agreement("ICC(2,1)", table, lambda part: reliability.icc(part).agreement, groups, words)
        yield agreement(
            "Krippendorff alpha", table, lambda part: reliability.krippendorff_alpha(part, "interval"), groups
        )


def _between_representations(families: Sequence[Family]) -> Iterator[Measure]:
    """How often two representations of the same checkpoints agree on the sign of a test."""
    for one_way, other_way in combinations(families, 2):
        same = []
        for slice_, _ in one_way.final_slices("effect size"):
            others = dict(zip(other_way.names, other_way.values("effect size", slice_), strict=True))
            for name, effect in zip(one_way.names, one_way.values("effect size", slice_), strict=True):
                other = others.get(name)
                if effect is not None and other is not None:
                    same.append(np.sign(effect) == np.sign(other))
        if same:
            groups = {"recipe": one_way.recipe, "diagnostic": one_way.diagnostic}
            groups["representation"] = f"{one_way.representation} and {other_way.representation}"
            note = "tests and checkpoints in which both have the same sign"
            yield measure("agreement of representations", float(np.mean(same)), len(same), groups, note)


def conclude(measures: Measures, runs: int) -> Iterator[str]:
    """In how many tests the checkpoints agree."""
    signs, verdicts = first(measures, "tests with one sign"), first(measures, "tests with one verdict")
    if signs is None or verdicts is None:
        yield "No test is defined in all checkpoints."
        return
    same_sign, same_verdict = signs.facts["count"], verdicts.facts["count"]
    yield f"{same_sign} of {several(signs.n, 'test')} have the same sign in all {runs} checkpoints;"
    yield f"{same_verdict} are significant in all of them or in none."
    if same_sign < signs.n or same_verdict < verdicts.n:
        yield "Of the rest, what one checkpoint says does not carry over to the next."


# To show


def table(measures: Measures) -> Table:
    """A row per test."""
    columns = [Column("test", "left"), Column("effect"), Column("95 % interval"), Column("n")]
    columns += [Column("", "left", spare=True, scale=SCALE), Column("p"), Column("Holm")]
    rows = []
    for row in measures.where("effect size"):
        p, adjusted = (
            first(measures, name, test=row.groups["test"]) for name in ("p value", "adjusted p value")
        )
        numbers = [Number(row), Number(row, part="interval"), Number(row, part="n")]
        rows.append(Row([row.groups["test"], *numbers, Dots([row], SCALE, 0.0), _p(p), _p(adjusted)]))
    return Table(columns, rows)


def _p(row: Measure | None) -> Number:
    small = row is not None and row.value is not None and row.value < 0.01
    return Number(row, "strong" if small else "")


def blocks(measures: Measures) -> list[Block]:
    """Figure 3 of the paper: every checkpoint's effect size, agreement of signs, how many are significant."""
    columns = [Column("test", "left"), *map(Column, ("mean", "SD", "signs agree", "significant"))]
    columns.append(Column("", "left", spare=True, scale=SCALE))
    rows, doubts = [], 0
    for row in measures.where("mean over checkpoints", of="effect size"):
        test = row.groups["test"]
        sd, signs, significant = (
            first(measures, name, test=test)
            for name in ("sd over checkpoints", "sign agreement", "significant share")
        )
        dots = [dot for dot in measures.where("effect size", test=test) if "checkpoint" in dot.groups]
        doubt = significant is not None and significant.value not in (0.0, 1.0)
        doubt = doubt or (signs is not None and signs.value != 1.0)
        doubts += doubt
        label = Words(f"{test} !", "doubt") if doubt else Words(test)
        count = "" if significant is None else "{significant} of {checkpoints}".format(**significant.facts)
        rows.append(Row([label, Number(row), Number(sd), Number(signs), count, Dots(dots, SCALE, 0.0)]))
    legend = ["! Checkpoints disagree on the sign, or on whether it is significant."]
    return [Table(columns, rows, legend=legend if doubts else [])]


# For computing


def files(families: Sequence[Family], measures: Measures) -> dict[str, list[Line]]:
    """Effect sizes and p by test, representation and checkpoint; their spread, signs and significance."""
    return {
        "seat": [line for family in families for line in _each_checkpoint(family)],
        "seat_summary": list(_summary(measures)),
    }


def _each_checkpoint(family: Family) -> Iterator[Line]:
    for name, result in family.results.items():
        for effect in result.measures.where("effect size"):
            p = next(row for row in result.measures.where("p value") if row.groups == effect.groups)
            yield {
                "test": effect.groups["test"], "size": family.recipe, "run": name,
                "representation": family.representation, **axes(effect.groups),
                "d": Number(effect), "p": Number(p), "exact": str(p.facts.get("exact", "")),
                "n_perm": str(p.facts.get("partitions", "")),
            }  # fmt: skip


SIGNS = {
    "sign agreement": "sign_agreement",
    "significant share": "significant_share",
    "p value over checkpoints": "p_over_runs",
}


def _summary(measures: Measures) -> Iterator[Line]:
    rows = [row for row in measures if "test" in row.groups and "checkpoint" not in row.groups]
    for groups, named in by_groups(rows, leave_out=("of",)):
        yield {
            "test": groups["test"], "size": groups["recipe"], "representation": groups["representation"],
            **columns_of(named, OVER_RUNS), **columns_of(named, SIGNS),
        }  # fmt: skip
