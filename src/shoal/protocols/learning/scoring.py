"""Answers of a trained model to outcomes and measures: those of the suite, and the i.i.d. score beside them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...core.case_table import by_group
from ...core.records import Answers, Basis, Case, Finding, Measure, Outcome
from ...stats.intervals import wilson
from ..base import Built, Scored
from ..behaviour.rules import label_index, squad_normalise, token_f1
from ..behaviour.score import DEAD, SAID, dead, final_answers, part_of, said, score_suite
from ..behaviour.wording import NO_CASE_ANSWERED
from .degeneracy import degeneracy_of
from .iid import IID, OOD, is_iid, is_labelled_row
from .settings import Settings


def score_job(settings: Settings, built: Built, answers: Mapping[str, Answers]) -> Scored:
    """Return outcomes, measures and findings of one job; labelled rows come after the suite and are scored apart."""
    given = final_answers(settings, answers)
    suite = [case for case in built.cases if not is_labelled_row(case)]
    rows = built.cases[len(suite) :]
    examples = sum(len(case.examples) for case in suite)
    of_suite, of_rows = part_of(given, 0, examples), part_of(given, examples, len(given.predictions))
    scored = score_suite(settings, suite, of_suite, built.about, without={"capability": IID})
    outcomes = row_outcomes(rows, of_rows)
    count = sum(map(is_iid, rows))
    measures = [*scored.measures, iid_score(outcomes[:count])]
    measures += [iid_f1(outcomes[:count])] if given.texts else []
    measures += ood_scores(rows[count:], outcomes[count:])
    every = [*scored.outcomes, *outcomes]
    findings = [*dead(every), *(finding for finding in scored.findings if finding.kind != DEAD)]
    kinds = {finding.kind for finding in findings}
    if DEAD not in kinds:
        of_iid = part_of(of_rows, 0, count)
        signs = list(degeneracy_of(settings, suite, of_suite, rows[:count], of_iid, outcomes[:count]))
        measures += [sign for sign in signs if isinstance(sign, Measure)]
        findings += [sign for sign in signs if isinstance(sign, Finding) and sign.kind not in kinds]
    columns = {SAID: [*scored.columns[SAID], *said(rows, of_rows, of_rows)]}
    return Scored(every, measures, columns, findings)


def row_outcomes(cases: Sequence[Case], answers: Answers) -> list[Outcome]:
    """Return whether each prediction is the row's label, without neutral band or tolerance; of texts, exact match."""
    if answers.texts:
        return [_exact_match(case, answers, row) for row, case in enumerate(cases)]
    outcomes = []
    for row, case in enumerate(cases):
        assert case.labels is not None
        right = int(answers.predictions[row]) == label_index(str(case.labels[0]), answers.labels)
        right = right and row not in answers.errors
        error = "" if row in answers.unparsed else answers.errors.get(row, "")
        value = None if error else 1.0 if right else -1.0
        outcomes.append(Outcome(case.id, None if error else right, value, error))
    return outcomes


def _exact_match(case: Case, answers: Answers, row: int) -> Outcome:
    """Return the exact match with any right answer; the value is the largest F1 (`docs/method/beluga.md` 1.5)."""
    if row in answers.errors:
        return Outcome(case.id, None, None, answers.errors[row])
    right, text = case.meta["answers"], answers.texts[row]
    matches = squad_normalise(text) in map(squad_normalise, right)
    return Outcome(case.id, matches, max(token_f1(text, answer) for answer in right))


def iid_score(outcomes: Sequence[Outcome]) -> Measure:
    """Return the share of i.i.d. rows that the model gets right."""
    known = [outcome.passed for outcome in outcomes if outcome.passed is not None]
    errors = len(outcomes) - len(known)
    row = Measure(
        "iid score", None, len(known), errors=errors, basis=Basis("cases", only={"capability": IID})
    )
    if not known:
        return replace(row, reason=NO_CASE_ANSWERED, note=NO_CASE_ANSWERED)
    right, n = sum(known), len(known)
    return replace(row, value=right / n, interval=wilson(right, n), interval_method="wilson")


def iid_f1(outcomes: Sequence[Outcome]) -> Measure:
    """Return the mean F1 of answers to i.i.d. questions."""
    known = [outcome.value for outcome in outcomes if outcome.value is not None]
    value = math.fsum(known) / len(known) if known else None
    return Measure("iid F1", value, len(known), errors=len(outcomes) - len(known))


def ood_scores(cases: Sequence[Case], outcomes: Sequence[Outcome]) -> list[Measure]:
    """Return the share of rows that the model gets right in each further data set."""
    scores = []
    for name, members in by_group(cases, "functionality").items():
        basis = Basis("cases", only={"capability": OOD, "functionality": name})
        score = iid_score([outcomes[place] for place in members])
        scores.append(replace(score, name="ood score", groups={"data": name}, basis=basis))
    return scores
