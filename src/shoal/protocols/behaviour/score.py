"""Answers to outcomes and measures: pass rates and the suite score (`docs/method/beluga.md` 1.5)."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from ...core.case_table import CaseTable, by_group
from ...core.claims import ENOUGH_TEMPLATES
from ...core.records import Answers, Basis, Case, Finding, Measure, Outcome, verdicts_of
from ...models.answer_rows import NO_ANSWER as REPLY_UNREAD
from ...models.prompted.replies import REFUSES, is_refusal
from ...stats.intervals import cluster_wilson, macro_wilson, wilson
from ...stats.resampling import cluster_table, errors_of, hits_of, macro_mean, sharing
from ..base import Built, Scored
from ..degeneracy import DEGENERATE, degenerate, swapped
from .judge import changes, expect_of, judge, lacks_neutral, rows_of, with_neutral_band
from .rules import Floats, Integers, judges_free_text
from .settings import Settings
from .wording import NO_ANSWER, NO_CASE_ANSWERED, NO_CASE_APPLIES, NOTHING, caveats_note, dead_words

SAID = "said"
"""The column with the model's answers to the examples of each case."""
CHANGE = "change"
"""The column with the change of each failing INV or DIR case, in words."""
REFUSED = "refused"
"""The column with 1 for each case in which the model refuses to answer."""
CHOSEN = ("chosen", "not asked")
"""Facts of building if only a part of the suite is queried."""
DEAD = "dead"
WEIGHTS = {DEAD: 100.0, DEGENERATE: 50.0}


def score(settings: Settings, built: Built, answers: Mapping[str, Answers]) -> Scored:
    """Return an outcome for every case, and the measures of the suite."""
    final = final_answers(settings, answers)
    scored = score_suite(settings, built.cases, final, built.about)
    return replace(scored, findings=[*scored.findings, *swapped(built.cases, final)])


def final_answers(settings: Settings, answers: Mapping[str, Answers]) -> Answers:
    """Return the answers at the end of training; unparsed answers count as the settings say."""
    given = list(answers.values())[-1]
    return replace(given, unparsed=frozenset()) if settings.unparsed == "error" else given


def score_suite(
    settings: Settings,
    cases: Sequence[Case],
    answers: Answers,
    about: Mapping[str, Any],
    without: Mapping[str, str] | None = None,
) -> Scored:
    """Return outcomes and measures of the suite's cases; `without` names groups of the result that no mean covers."""
    outcomes, refused = judge(settings, cases, answers), refusals(cases, answers)
    facts = about_answers(settings, cases, answers) | {name: about[name] for name in CHOSEN if name in about}
    measures = [*measure(cases, outcomes, facts, without or {}), *refusal_rate(refused)]
    shown = with_neutral_band(answers, cases, settings.resolved("band"))
    findings = [*dead(outcomes), *degenerate(cases, shown, set(shown.labels) - set(answers.labels))]
    moved = changes(settings, cases, answers, shown, outcomes)
    columns: dict[str, Sequence[Any]] = {SAID: said(cases, answers, shown), CHANGE: moved}
    columns |= {REFUSED: refused} if refused else {}
    return Scored(outcomes, measures, columns, findings)


def refusals(cases: Sequence[Case], answers: Answers) -> list[int]:
    """Return for each case whether the model refuses to answer an example of it; empty if it gives no replies."""
    rows = {row for row, text in enumerate(answers.texts) if is_refusal(text)}
    rows |= {row for row, why in answers.errors.items() if why.startswith(f"{REPLY_UNREAD}: {REFUSES}")}
    is_free = any(judges_free_text(expect_of(case)) for case in cases[:1])
    if not (rows or is_free or answers.facts.get("read")):
        return []
    ends = np.cumsum(CaseTable.of(cases).sizes)
    owners = set(np.searchsorted(ends, sorted(rows), side="right").tolist())
    return [int(place in owners) for place in range(len(cases))]


def refusal_rate(refused: Sequence[int]) -> list[Measure]:
    """Return the share of cases in which the model refuses to answer, whatever their outcome."""
    n, count = len(refused), sum(refused)
    if not n:
        return []
    basis = Basis("cases", column=REFUSED)
    return [Measure("refusal rate", count / n, n, {}, wilson(count, n), "wilson", basis=basis)]


def about_answers(settings: Settings, cases: Sequence[Case], answers: Answers) -> dict[str, Any]:
    """Return facts about the answers that a reader of the suite score should know."""
    facts = dict(answers.facts)
    unsure = answers.probabilities is None and answers.confidences is None and not answers.texts
    if unsure and "DIR" in by_group(cases, "test type"):
        facts["no confidences"] = True
    if lacks_neutral(answers, cases):
        neutral = cases[0].meta["labels"][1]
        banded = {"band": settings.resolved("band"), "band of": answers.labels[1], "neutral": neutral}
        facts |= {"never": neutral} if answers.probabilities is None else banded
    names = list(cases[0].meta.get("labels") or ()) if len(cases) else []
    listed = list(answers.label_map.values())
    if sorted(listed) == sorted(names) and listed != names:
        facts["listed"] = listed  # the order in a prompt
    renamed = {name: label for name, label in answers.label_map.items() if name != label}
    return facts | ({"label map": renamed} if renamed else {})


def said(cases: Sequence[Case], answers: Answers, shown: Answers) -> list[list[str]]:
    """Return the model's answer to each example of each case: a label with its probability, or words.

    Where the neutral band changes a label (`shown`), the changed label comes first.
    """
    words = [text or NOTHING for text in answers.texts] if answers.texts else _label_words(answers, shown)
    for row in answers.errors:
        words[row] = NO_ANSWER
    sizes = CaseTable.of(cases).sizes
    if (sizes == 1).all():
        lists = {word: [word] for word in words}
        return [lists[word] for word in words]
    rows = iter(words)
    return [list(islice(rows, size)) for size in sizes.tolist()]


def _label_words(answers: Answers, shown: Answers) -> list[str]:
    """Return each label with its probability; equal ones are one text."""
    columns = (answers.predictions, shown.predictions, confidence_of(answers))
    words, texts = [], dict[tuple[int, int, str], str]()
    for code, other, chance in zip(*(column.tolist() for column in columns), strict=True):
        key = code, other, f"{chance:.2f}"
        if key not in texts:
            name, label = answers.labels[code], shown.labels[other]
            sure = "" if key[2] == "nan" else f" {key[2].removeprefix('0')}"
            texts[key] = f"{name}{sure}" if label == name else f"{label} (P({name}){sure})"
        words.append(texts[key])
    return words


def confidence_of(answers: Answers) -> Floats:
    """Return the probability of each prediction; NaN if there is none."""
    rows = np.arange(len(answers.predictions))
    if answers.probabilities is not None:
        return answers.probabilities[rows, answers.predictions]
    return np.full(len(rows), np.nan) if answers.confidences is None else answers.confidences


def dead(outcomes: Sequence[Outcome]) -> Iterator[Finding]:
    """Yield a finding if the model answered no case."""
    if set(verdicts_of(outcomes)) != {"e"}:
        return
    errors = Counter(str(outcome.error) for outcome in outcomes)
    facts = {"cases": len(outcomes), "error": errors.most_common(1)[0][0]}
    yield Finding(DEAD, dead_words(errors), (), WEIGHTS[DEAD], facts=facts, disqualifies=True)


def part_of(answers: Answers, start: int, stop: int) -> Answers:
    """Return the answers to some of the examples."""
    return replace(
        rows_of(answers, np.arange(start, stop)),
        errors={row - start: message for row, message in answers.errors.items() if start <= row < stop},
        unparsed=frozenset(row - start for row in answers.unparsed if start <= row < stop),
    )


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
    table = CaseTable.of(cases)
    templates = table.cluster_codes()
    every = [
        _Tally(table, members, hits[members], int(failed[members].sum()), templates[members])
        for members in by_group(table, "functionality").values()
    ]
    over = Basis("functionality", without=without or {})
    means = [
        _mean("pass rate", [tally for tally in every if tally.groups[group] == value], {group: value}, over)
        for group in ("capability", "test type")
        for value in dict.fromkeys(tally.groups[group] for tally in every)
    ]
    means.append(_pass_rate(every, {}, without))
    chosen = {name: fact for name, fact in (about or {}).items() if name in CHOSEN}
    names = [tally.groups["functionality"] for tally in every if not tally.n]
    left_out = {"left out": names} if names and len(names) < len(every) else {}
    whole = replace(_mean("suite score", every, {}, over), headline=True)
    return [
        *(_pass_rate([tally], tally.groups) for tally in every),
        *(_with_facts(row, chosen) for row in means),
        _with_facts(whole, {**left_out, **_unanswered(every), **(about or {})}),
    ]


def _with_facts(row: Measure, facts: Mapping[str, Any]) -> Measure:
    """Return a mean with further facts, and with them in words."""
    note = "; ".join(filter(None, [row.reason, caveats_note(facts)]))
    return replace(row, facts={**row.facts, **facts}, note=note)


class _Tally:
    """One functionality's outcomes, counted."""

    def __init__(
        self, table: CaseTable, members: Integers, hits: Floats, errors: int, templates: Integers
    ) -> None:
        self.groups: Mapping[str, str] = table.headings[members[0]].groups
        self.n = int((~np.isnan(hits)).sum())
        self.passes = int(np.nansum(hits))
        self.errors = errors
        self.na = len(hits) - self.n - self.errors
        self.hits = hits
        self.by_case = cluster_table(hits)
        self.has_templates = any(table.clusters[place] for place in members.tolist())
        self.templates = templates
        """The template of each case as a number; a case without one is its own template."""


def _unanswered(tallies: Sequence[_Tally]) -> dict[str, Any]:
    """Return the suite score if every case without an answer were a failure, and if it were a pass."""
    unanswered = sum(tally.errors for tally in tallies)
    if not unanswered or not any(tally.n for tally in tallies):
        return {}
    known = [tally for tally in tallies if tally.n + tally.errors]
    low = sum(t.passes / (t.n + t.errors) for t in known) / len(known)
    high = sum((t.passes + t.errors) / (t.n + t.errors) for t in known) / len(known)
    return {"unanswered": unanswered, "bounds": [low, high]}


def _mean(name: str, tallies: Sequence[_Tally], groups: Mapping[str, str], basis: Basis) -> Measure:
    """Return the unweighted mean over the functionalities with a pass rate, with an effective-n Wilson interval."""
    row, known = _counted(name, tallies, groups, basis), [tally for tally in tallies if tally.n]
    if not known:
        return row
    tables = [tally.by_case for tally in known]
    method = "wilson" if len(known) == 1 else "macro wilson"
    # New cases of the same templates: the case is the unit (decision 0003).
    row = replace(row, value=macro_mean(tables), interval=macro_wilson(tables), interval_method=method)
    named = [tally for tally in known if tally.has_templates]
    alike = [tally.templates for tally in named], [tally.hits for tally in named]
    shared = sharing(*alike) if len(named) > 1 else 1.0
    by_template = [cluster_table(tally.hits, tally.templates) for tally in known]
    return _with_templates(row, known, lambda: macro_wilson(by_template, shared=shared))


def _pass_rate(
    tallies: Sequence[_Tally], groups: Mapping[str, str], without: Mapping[str, str] | None = None
) -> Measure:
    """Return the share of applicable cases that pass: each case counts once, whatever its functionality."""
    row = _counted("pass rate", tallies, groups, Basis("cases", without=without or {}))
    known = [tally for tally in tallies if tally.n]
    if not known:
        return row
    passes = sum(tally.passes for tally in known)
    row = replace(row, value=passes / row.n, interval=wilson(passes, row.n), interval_method="wilson")
    hits = np.concatenate([tally.hits for tally in known])
    templates = np.concatenate([tally.templates for tally in known])
    return _with_templates(row, known, lambda: cluster_wilson(cluster_table(hits, templates)))


def _counted(name: str, tallies: Sequence[_Tally], groups: Mapping[str, str], basis: Basis) -> Measure:
    """Return a measure without a value: its counts, and the reason if no case has an outcome."""
    n, na, errors = (sum(counts) for counts in zip(*((t.n, t.na, t.errors) for t in tallies), strict=True))
    reason = "" if n else NO_CASE_APPLIES if na else NO_CASE_ANSWERED
    return Measure(name, None, n, groups, None, "", na, errors, reason, basis=basis, reason=reason)


def _with_templates(
    row: Measure, known: Sequence[_Tally], interval: Callable[[], tuple[float, float]]
) -> Measure:
    """Return the measure with its number of templates, and the interval for new templates where they are enough.

    The effective number is Kish's: a template with most of the cases counts for little more than one.
    """
    if not any(tally.has_templates for tally in known):
        return row
    judged = np.concatenate([tally.templates[~np.isnan(tally.hits)] for tally in known])
    sizes = np.unique(judged, return_counts=True)[1].tolist()
    facts: dict[str, Any] = {"effective templates": row.n**2 / sum(size**2 for size in sizes)}
    basis = replace(row.basis, templates=len(sizes))
    if len(sizes) >= ENOUGH_TEMPLATES and not np.isnan((ends := interval())[0]):
        facts["interval over templates"] = list(ends)
        basis = replace(basis, interval_over_templates=ends)
    return replace(row, basis=basis, facts=facts)
