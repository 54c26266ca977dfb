"""Answers to outcomes and measures: pass rates and the suite score (`docs/method/beluga.md` 1.5).

Pure: nothing here asks a model, reads a file or keeps state. All cases of one functionality are judged at once.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, overload

import numpy as np

from ...core.claims import ENOUGH_TEMPLATES
from ...core.errors import DataError
from ...core.records import Answers, Basis, Case, Finding, Label, Measure, Outcome, Outcomes, verdicts_of
from ...stats.hits import errors_of, hits_of
from ...stats.intervals import cluster_wilson, macro_wilson, wilson
from ...stats.resampling import cluster_table, macro_mean, sharing
from ..base import Built, Scored
from ..degeneracy import DEGENERATE, degenerate
from .rules import (
    NO_LABEL,
    SPAN_RULES,
    Block,
    Expect,
    Floats,
    Integers,
    aggregate,
    label_index,
    values_of,
)
from .settings import Settings
from .templated import templated
from .wording import NO_ANSWER, NO_CASE_ANSWERED, NO_CASE_APPLIES, NOTHING, dead_words, note_of

SAID = "said"
"""The column with what the model said of each example of a case."""
CHOSEN = ("chosen", "not asked")
"""What building says where a part of the suite is left out: every mean is one of the rest."""
DEAD = "dead"
WEIGHTS = {DEAD: 100.0, DEGENERATE: 50.0}


def score(settings: Settings, built: Built, answers: Mapping[str, Answers]) -> Scored:
    """Return an outcome for every case, and the measures of the suite."""
    return score_suite(settings, built.cases, final_answers(settings, answers), built.about)


def final_answers(settings: Settings, answers: Mapping[str, Answers]) -> Answers:
    """Return the answers at the end of training, with unparsed ones as the settings count them."""
    given = list(answers.values())[-1]
    return replace(given, unparsed=frozenset()) if settings.unparsed == "error" else given


def score_suite(
    settings: Settings,
    cases: Sequence[Case],
    given: Answers,
    about: Mapping[str, Any],
    without: Mapping[str, str] | None = None,
) -> Scored:
    """Return outcomes and measures of the suite's cases; `without` names groups of the result that no mean covers."""
    judged = list(judge_examples(settings, cases, given))
    outcomes = case_outcomes(cases, judged, given)
    facts = about_answers(settings, cases, given)
    facts |= {name: about[name] for name in CHOSEN if name in about}
    measures = measure(cases, outcomes, facts, without or {})
    shown = with_neutral_band(given, cases, settings.resolved("band"))
    findings = [*dead(outcomes), *degenerate(cases, shown, set(shown.labels) - set(given.labels))]
    return Scored(outcomes, measures, {SAID: Said(cases, given, shown)}, [*findings, *templated(cases)])


def about_answers(settings: Settings, cases: Sequence[Case], answers: Answers) -> dict[str, Any]:
    """Facts about the answers that a reader of the suite score should know."""
    facts = dict(answers.facts)
    unsure = answers.probabilities is None and answers.confidences is None and not answers.texts
    if unsure and any(case.groups["test type"] == "DIR" for case in cases):
        facts["no confidences"] = True
    if lacks_neutral(answers, cases):
        neutral = cases[0].meta["labels"][1]
        banded = {"band": settings.resolved("band"), "band of": answers.labels[1], "neutral": neutral}
        facts |= {"never": neutral} if answers.probabilities is None else banded
    renamed = {name: label for name, label in answers.label_map.items() if name != label}
    return facts | ({"label map": renamed} if renamed else {})


class Said(Sequence[list[str]]):
    """What the model said of each example of each case, put into words when it is looked at.

    A label with its own probability, or words. Where the label is read otherwise than the model means it (`shown`),
    what it is read as comes first.
    """

    def __init__(self, cases: Sequence[Case], answers: Answers, shown: Answers) -> None:
        # Arrays of Python's own: looking up one number is several times as quick as in one of numpy's.
        self._ends = array("q", accumulate(len(case.examples) for case in cases))
        self._answers, self._shown = answers, shown
        self._codes = array("q", answers.predictions.astype(np.int64).tobytes())
        self._chances = array("d", confidence_of(answers).astype(np.float64).tobytes())

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, place: int) -> list[str]: ...
    @overload
    def __getitem__(self, place: slice) -> list[list[str]]: ...
    def __getitem__(self, place: int | slice) -> list[str] | list[list[str]]:
        if isinstance(place, slice):
            return [self[position] for position in range(len(self))[place]]
        position = range(len(self))[place]
        return [
            self._words(row)
            for row in range(self._ends[position - 1] if position else 0, self._ends[position])
        ]

    def _words(self, row: int) -> str:
        answers, shown = self._answers, self._shown
        if row in answers.errors:
            return NO_ANSWER
        if answers.texts:
            return answers.texts[row] or NOTHING
        name = answers.labels[self._codes[row]]
        text = with_chance(name, self._chances[row])
        label = name if shown is answers else shown.labels[shown.predictions[row]]
        return text if label == name else f"{label} ({text})"


def confidence_of(answers: Answers) -> Floats:
    """The probability of each prediction; NaN where there is none."""
    rows = np.arange(len(answers.predictions))
    if answers.probabilities is not None:
        return answers.probabilities[rows, answers.predictions]
    return np.full(len(rows), np.nan) if answers.confidences is None else answers.confidences


def with_chance(name: str, chance: float) -> str:
    """A label with its probability, if there is one.

    >>> with_chance("positive", 0.98), with_chance("positive", 1.0), with_chance("positive", float("nan"))
    ('positive .98', 'positive 1.00', 'positive')
    """
    return name if chance != chance else f"{name} {f'{chance:.2f}'.removeprefix('0')}"


# What to say of the whole


def dead(outcomes: Sequence[Outcome]) -> Iterator[Finding]:
    """A model that answers nothing has no behaviour, good or bad."""
    if set(verdicts_of(outcomes)) != {"e"}:
        return
    errors = Counter(str(outcome.error) for outcome in outcomes)
    facts = {"cases": len(outcomes), "error": errors.most_common(1)[0][0]}
    yield Finding(DEAD, dead_words(errors), (), WEIGHTS[DEAD], facts=facts, disqualifies=True)


# Rows of answers


def part_of(answers: Answers, start: int, stop: int) -> Answers:
    """The answers to some of the examples."""
    rows = slice(start, stop)
    return replace(
        answers,
        predictions=answers.predictions[rows],
        probabilities=None if answers.probabilities is None else answers.probabilities[rows],
        confidences=None if answers.confidences is None else answers.confidences[rows],
        texts=answers.texts[rows],
        errors={row - start: message for row, message in answers.errors.items() if start <= row < stop},
        unparsed=frozenset(row - start for row in answers.unparsed if start <= row < stop),
    )


# Outcomes


@dataclass(frozen=True, slots=True)
class Judged:
    """What a functionality's rule says of each example of its cases."""

    members: Integers  # (cases,) positions among all cases
    starts: Integers  # (cases,) row of each case's first example
    values: Floats  # (examples,) above 0 is a pass, NaN does not apply
    expect: Expect


def judge(settings: Settings, cases: Sequence[Case], answers: Answers) -> Outcomes:
    """Pass, fail, not applicable or error, for each case."""
    return case_outcomes(cases, list(judge_examples(settings, cases, answers)), answers)


def judge_examples(settings: Settings, cases: Sequence[Case], answers: Answers) -> Iterator[Judged]:
    """Each functionality's rule, put to all its cases at once."""
    sizes = np.fromiter((len(case.examples) for case in cases), np.int64, len(cases))
    starts = np.cumsum(sizes) - sizes
    if sizes.sum() != len(answers.predictions):
        raise DataError(
            f"{len(answers.predictions):,} answers for {sizes.sum():,} examples",
            fix="ask the model again: shoal run PLAN",
        )
    raw, shown = answers, with_neutral_band(answers, cases, settings.resolved("band"))
    if settings.profile == "reference" and shown.probabilities is None and shown.confidences is None:
        # CheckList gives a bare prediction confidence 1.
        shown = replace(shown, confidences=np.ones(len(shown.predictions)))
    for members in by_functionality(cases).values():
        expect = as_set(cases[members[0]], settings)
        source = raw if expect.rule.startswith("direction ") else shown
        block = _block(source, cases, members, starts[members], sizes[members], expect)
        values = values_of(block, expect, settings.slack)
        if answers.unparsed:
            values[np.isin(_rows(starts[members], sizes[members]), list(answers.unparsed))] = -1.0
        yield Judged(members, block.starts, values, expect)


def case_outcomes(cases: Sequence[Case], judged: Sequence[Judged], answers: Answers) -> Outcomes:
    """From what was said of examples to what holds of cases; an example without an answer makes its case an error.

    Where what a model says instead counts as failing (`answers.unparsed`), its case fails, of whatever type.
    """
    verdicts = np.full(len(cases), ord("-"), np.uint8)
    values = np.full(len(cases), np.nan)
    for group in judged:
        passed, applies, worst = aggregate(group.values, group.starts, group.expect.aggregate)
        verdicts[group.members] = np.where(applies, np.where(passed, ord("1"), ord("0")), ord("-"))
        values[group.members] = np.where(applies, worst, np.nan)
    sizes = np.fromiter((len(case.examples) for case in cases), np.int64, len(cases))
    starts = np.cumsum(sizes) - sizes
    silent = _cases_with_errors({row: answers.errors[row] for row in answers.unparsed}, starts)
    verdicts[list(silent)], values[list(silent)] = ord("0"), -1.0
    heard = {row: message for row, message in answers.errors.items() if row not in answers.unparsed}
    errors = _cases_with_errors(heard, starts)
    verdicts[list(errors)], values[list(errors)] = ord("e"), np.nan
    return Outcomes(cases, verdicts.tobytes().decode(), array("d", values), errors)


def by_functionality(cases: Sequence[Case]) -> dict[str, Integers]:
    """The positions of each functionality's cases, in the order they came."""
    members: dict[str, list[int]] = {}
    for position, case in enumerate(cases):
        members.setdefault(case.groups["functionality"], []).append(position)
    return {name: np.array(positions) for name, positions in members.items()}


def expect_of(case: Case) -> Expect:
    """A case's expectation, of a suite or as it was built."""
    expect = case.meta["expect"]
    return expect if isinstance(expect, Expect) else Expect.parse(expect, default=None)


def as_set(case: Case, settings: Settings) -> Expect:
    """The case's expectation, with what the settings say about tolerance and directional tests."""
    expect = expect_of(case)
    tolerance = settings.resolved("tolerance")
    direction = case.meta.get("direction")
    if settings.resolved("directional") == "paper" and direction and direction != "label":
        return Expect(f"direction {direction}", tolerance or 0.0, expect.aggregate)
    return expect if tolerance is None else _with_tolerance(expect, tolerance)


def _with_tolerance(expect: Expect, tolerance: float) -> Expect:
    return replace(
        expect,
        tolerance=tolerance,
        parts=tuple(_with_tolerance(part, tolerance) for part in expect.parts),
    )


def _cases_with_errors(errors: Mapping[int, str], starts: Integers) -> dict[int, str]:
    """Which cases hold an example that the model could not answer, and what it said."""
    rows = sorted(errors, reverse=True)  # the first of a case's errors is kept
    owners = np.searchsorted(starts, rows, side="right") - 1
    return {int(case): errors[row] for case, row in zip(owners, rows, strict=True)}


def _block(
    answers: Answers,
    cases: Sequence[Case],
    members: Integers,
    starts: Integers,
    sizes: Integers,
    expect: Expect,
) -> Block:
    rows, own_starts = _rows(starts, sizes), np.cumsum(sizes) - sizes
    reading = expect.rule in SPAN_RULES
    if reading and not answers.texts:
        raise DataError(
            f"rule {expect.rule!r} needs answers in words, the answers are labels",
            fix="a model that answers questions, or a suite of labels",
        )
    return Block(
        labels=answers.labels,
        starts=own_starts,
        predictions=answers.predictions[rows],
        probabilities=None if answers.probabilities is None else answers.probabilities[rows],
        confidences=None if answers.confidences is None else answers.confidences[rows],
        expected=np.zeros(0, np.int64) if reading else _expected(cases, members, sizes, answers.labels),
        texts=[answers.texts[row] for row in rows] if reading else (),
        expected_texts=[str(label) for position in members for label in cases[position].labels or ()]
        if reading
        else (),
        substitutions=[swap for position in members for swap in _substitutions(cases[position])]
        if reading
        else (),
    )


def _rows(starts: Integers, sizes: Integers) -> Integers:
    """The rows of the examples of some cases, case by case."""
    own_starts = np.cumsum(sizes) - sizes
    rows: Integers = np.repeat(starts - own_starts, sizes) + np.arange(sizes.sum())
    return rows


def _expected(cases: Sequence[Case], members: Integers, sizes: Integers, labels: tuple[str, ...]) -> Integers:
    codes: dict[Label, int] = {}
    expected = np.full(sizes.sum(), NO_LABEL)
    row = 0
    for position, size in zip(members.tolist(), sizes.tolist(), strict=True):
        for offset, label in enumerate(cases[position].labels or ()):
            if label not in codes:
                codes[label] = _label_code(label, labels)
            expected[row + offset] = codes[label]
        row += size
    return expected


def _label_code(label: Label, labels: tuple[str, ...]) -> int:
    """A label as an index; "not_X", anything but X, as -1 - X."""
    word = str(label)
    if word.startswith("not_") and word not in labels:
        return -1 - label_index(word.removeprefix("not_"), labels)
    return label_index(word, labels)


def _substitutions(case: Case) -> Iterator[tuple[str, str] | None]:
    """What was put in the place of what in each example, where the suite says."""
    details = case.meta.get("details")
    each = (
        details
        if isinstance(details, list) and len(details) == len(case.examples)
        else [None] * len(case.examples)
    )
    for swap in each:
        yield (str(swap[0]), str(swap[1])) if isinstance(swap, list | tuple) and len(swap) == 2 else None


# The neutral band (`docs/method/beluga.md` 1.5)


def neutral_band(positive: Floats, edges: str = "inclusive") -> tuple[Floats, Integers]:
    """Three-way vectors and labels (negative, neutral, positive) from a two-class model's positive probability.

    Between 1/3 and 2/3 the model is called neutral. "inclusive" takes the edges in, as the paper says; "strict" is
    the reference code, in which 2/3 itself belongs nowhere: (0, 0, 0), label 0.

    >>> vectors, labels = neutral_band(np.array([0.2, 0.4, 0.5, 0.7]))
    >>> vectors.round(2).tolist(), labels.tolist()
    ([[0.8, 0.0, 0.2], [0.3, 0.7, 0.0], [0.0, 1.0, 0.0], [0.3, 0.0, 0.7]], [0, 1, 1, 2])
    """
    r = positive
    noise = 1e-12 if edges == "inclusive" else 0.0  # 1/3 and 2/3 have no exact double
    negative, certain = r < 1 / 3 - noise, r > 2 / 3 + noise
    if edges == "strict":
        negative |= r == 1 / 3
        nowhere = r == 2 / 3
    else:
        nowhere = np.zeros(len(r), dtype=bool)
    neutral = ~(negative | certain | nowhere)
    q = 1 - 3 * np.abs(r - 0.5)
    low, high = neutral & (r < 0.5), neutral & (r >= 0.5)
    sided = negative | certain
    vectors = np.stack(
        [np.where(sided, 1 - r, np.where(low, 1 - q, 0.0)), np.where(neutral, q, 0.0),
         np.where(sided, r, np.where(high, 1 - q, 0.0))], axis=1
    )  # fmt: skip
    return vectors, np.where(certain, 2, np.where(neutral, 1, 0))


def with_neutral_band(answers: Answers, cases: Sequence[Case], edges: str) -> Answers:
    """The answers as the suite's labels ask for: a two-class sentiment model gets a neutral band."""
    if answers.probabilities is None or not lacks_neutral(answers, cases):
        return answers
    vectors, labels = neutral_band(answers.probabilities[:, 1], edges)
    return replace(answers, labels=tuple(cases[0].meta["labels"]), predictions=labels, probabilities=vectors)


def lacks_neutral(answers: Answers, cases: Sequence[Case]) -> bool:
    """Whether a model of two labels is asked for three."""
    suite_labels = cases[0].meta.get("labels") if cases else None
    return suite_labels is not None and (len(answers.labels), len(suite_labels)) == (2, 3)


# Measures


def measure(
    cases: Sequence[Case],
    outcomes: Sequence[Outcome],
    about: Mapping[str, Any] | None = None,
    without: Mapping[str, str] | None = None,
) -> list[Measure]:
    """Return pass rates by functionality, capability and test type, and the suite score.

    `about` are facts for the suite score; `without` names groups of the result that no mean covers.
    """
    hits, failed = hits_of(verdicts_of(outcomes)), errors_of(verdicts_of(outcomes))
    every = [
        _Tally([cases[place] for place in members.tolist()], hits[members], int(failed[members].sum()))
        for members in by_functionality(cases).values()
    ]
    rows = [_pass_rate([tally], tally.groups) for tally in every]
    over = Basis("functionality", without=without or {})
    for group in ("capability", "test type"):
        for value in dict.fromkeys(tally.groups[group] for tally in every):
            members = [tally for tally in every if tally.groups[group] == value]
            rows.append(_mean("pass rate", members, {group: value}, over))
    rows.append(_pass_rate(every, {}, without))
    whole = _mean("suite score", every, {}, over)
    facts = {**whole.facts, **_left_out(every), **_unanswered(every), **(about or {})}
    note = note_of(facts) if whole.value is not None else whole.note
    return [*rows, replace(whole, headline=True, facts=facts, note=note)]


class _Tally:
    """One functionality's outcomes, counted."""

    def __init__(self, cases: Sequence[Case], hits: Floats, errors: int) -> None:
        self.groups: Mapping[str, str] = cases[0].groups
        self.n = int((~np.isnan(hits)).sum())
        self.passes = int(np.nansum(hits))
        self.errors = errors
        self.na = len(cases) - self.n - self.errors
        self.hits = hits
        self.by_case = cluster_table(hits)
        self.has_templates = any(case.cluster for case in cases)
        name = self.groups["functionality"] + " "
        self.templates = [
            case.cluster or f"{name if not self.has_templates else ''}case {case.id}" for case in cases
        ]
        """The template of each case; a case that names none is one by itself."""

    @property
    def by_template(self) -> Any:
        """Return passes and cases by template."""
        codes = {name: code for code, name in enumerate(dict.fromkeys(self.templates))}
        return cluster_table(self.hits, np.array([codes[name] for name in self.templates]))


def _left_out(tallies: Sequence[_Tally]) -> dict[str, Any]:
    """Return the functionalities that have no pass rate."""
    names = [tally.groups["functionality"] for tally in tallies if not tally.n]
    return {"left out": names} if names and len(names) < len(tallies) else {}


def _unanswered(tallies: Sequence[_Tally]) -> dict[str, Any]:
    """Return the suite score if every case without an answer were a failure, and if it were a pass."""
    unanswered = sum(tally.errors for tally in tallies)
    if not unanswered or not any(tally.n for tally in tallies):
        return {}
    known = [
        (tally.passes, tally.errors, tally.n + tally.errors) for tally in tallies if tally.n + tally.errors
    ]
    low = sum(passes / n for passes, _, n in known) / len(known)
    high = sum((passes + errors) / n for passes, errors, n in known) / len(known)
    return {"unanswered": unanswered, "bounds": [low, high]}


def _mean(name: str, tallies: Sequence[_Tally], groups: Mapping[str, str], basis: Basis) -> Measure:
    """Return the unweighted mean over the functionalities with a pass rate, with an effective-n Wilson interval."""
    known = [tally for tally in tallies if tally.n]
    if not known:
        return _undefined(name, tallies, groups, basis)
    tables = [tally.by_case for tally in known]
    row = Measure(
        name,
        macro_mean(tables),
        sum(tally.n for tally in known),
        groups,
        macro_wilson(tables),  # new cases of the same templates: the case is the unit (decision 0003)
        "wilson" if len(known) == 1 else "macro wilson",
        sum(tally.na for tally in tallies),
        sum(tally.errors for tally in tallies),
        basis=basis,
    )
    named = [tally for tally in known if tally.has_templates]
    shared = (
        sharing([tally.templates for tally in named], [tally.hits for tally in named])
        if len(named) > 1
        else 1.0
    )
    return _with_templates(
        row, known, lambda: macro_wilson([tally.by_template for tally in known], shared=shared)
    )


def _pass_rate(
    tallies: Sequence[_Tally], groups: Mapping[str, str], without: Mapping[str, str] | None = None
) -> Measure:
    """Return the share of applicable cases that pass: each case counts once, whatever its functionality."""
    known, basis = [tally for tally in tallies if tally.n], Basis("cases", without=without or {})
    if not known:
        return _undefined("pass rate", tallies, groups, basis)
    passes, n = sum(tally.passes for tally in known), sum(tally.n for tally in known)
    na, errors = sum(tally.na for tally in tallies), sum(tally.errors for tally in tallies)
    row = Measure("pass rate", passes / n, n, groups, wilson(passes, n), "wilson", na, errors, basis=basis)
    hits = np.concatenate([tally.hits for tally in known])
    return _with_templates(
        row,
        known,
        lambda: cluster_wilson(cluster_table(hits, [name for tally in known for name in tally.templates])),
    )


def _undefined(name: str, tallies: Sequence[_Tally], groups: Mapping[str, str], basis: Basis) -> Measure:
    na, errors = sum(tally.na for tally in tallies), sum(tally.errors for tally in tallies)
    reason = NO_CASE_APPLIES if na else NO_CASE_ANSWERED
    return Measure(name, None, 0, groups, None, "", na, errors, reason, basis=basis, reason=reason)


def _with_templates(
    row: Measure, known: Sequence[_Tally], interval: Callable[[], tuple[float, float]]
) -> Measure:
    """Return the measure with its number of templates, and the interval for new templates where they are enough.

    The effective number is Kish's: a template with most of the cases counts for little more than one.
    """
    if not any(tally.has_templates for tally in known):
        return row
    sizes = Counter(
        name
        for tally in known
        for name, hit in zip(tally.templates, tally.hits.tolist(), strict=True)
        if not np.isnan(hit)
    )
    facts: dict[str, Any] = {"effective templates": row.n**2 / sum(size**2 for size in sizes.values())}
    if len(sizes) >= ENOUGH_TEMPLATES and not np.isnan((ends := interval())[0]):
        facts["interval over templates"] = list(ends)
    return replace(row, basis=replace(row.basis, templates=len(sizes)), facts=facts)
