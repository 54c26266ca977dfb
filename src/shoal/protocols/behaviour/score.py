"""Answers to outcomes and measures: pass rates and the suite score (`docs/method/beluga.md` 1.5).

Pure: nothing here asks a model, reads a file or keeps state. All cases of one functionality are judged at once.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, overload

import numpy as np

from ...core.claims import ENOUGH_TEMPLATES
from ...core.records import Answers, Basis, Case, Finding, Measure, Outcome, verdicts_of
from ...stats.hits import errors_of, hits_of
from ...stats.intervals import cluster_wilson, macro_wilson, wilson
from ...stats.resampling import cluster_table, macro_mean, sharing
from ..base import Built, Scored
from ..degeneracy import DEGENERATE, degenerate
from .judge import by_functionality, case_outcomes, judge_examples, lacks_neutral, with_neutral_band
from .rules import Floats
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


# The neutral band (`docs/method/beluga.md` 1.5)


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
    over = Basis("functionality", without=without or {})
    means = [
        _mean("pass rate", [tally for tally in every if tally.groups[group] == value], {group: value}, over)
        for group in ("capability", "test type")
        for value in dict.fromkeys(tally.groups[group] for tally in every)
    ]
    means.append(_pass_rate(every, {}, without))
    chosen = {name: fact for name, fact in (about or {}).items() if name in CHOSEN}
    whole = replace(_mean("suite score", every, {}, over), headline=True)
    return [
        *(_pass_rate([tally], tally.groups) for tally in every),
        *(_with_facts(row, chosen) for row in means),
        _with_facts(whole, {**_left_out(every), **_unanswered(every), **(about or {})}),
    ]


def _with_facts(row: Measure, facts: Mapping[str, Any]) -> Measure:
    """Return a mean with further facts, and with them in words."""
    note = "; ".join(filter(None, [row.reason, note_of(facts)]))
    return replace(row, facts={**row.facts, **facts}, note=note)


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
