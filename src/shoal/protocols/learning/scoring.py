"""Answers of a trained model to outcomes and measures: those of the suite, the i.i.d. score, signs of degeneracy.

Degenerate models learnt nothing, give one answer, or are too confident to fail a directional test
(`docs/method/beyond.md` 7.8 and 7.9).

    shares of answers   against those of the right ones, on i.i.d. rows and on minimum functionality tests; of answers
                        in words, one answer to many questions, none, or wherever the context begins
    i.i.d. score        against always giving the commonest label
    directional tests   how much room there is to fail; what equation 6 would have to learn from
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...core.records import Answers, Basis, Case, Example, Finding, Measure, Outcome
from ...stats.intervals import wilson
from ..base import Built, Scored
from ..behaviour.judge import expect_of
from ..behaviour.rules import Floats, directional_error, label_index, squad_normalise, token_f1
from ..behaviour.score import DEAD, SAID, WEIGHTS, dead, final_answers, part_of, said, score_suite
from ..behaviour.wording import NO_CASE_ANSWERED
from ..degeneracy import DEGENERATE
from . import wording
from .iid import IID, is_iid
from .settings import Settings

SATURATED, LEANING = "saturated", "leaning"
FORGOTTEN, UNTRAINED = "forgotten", "untrained"
IID_ROWS = "i.i.d. rows"
SHIFTED = 0.25
"""Total variation between the shares of predicted and right answers from which a model is reported."""
NEARLY_ALL = 0.9
"""Share of one label from which a model is called constant."""
ENOUGH = 30
"""Fewest examples for a statement about shares."""
MANY_TIMES, RARE = 3.0, 0.1
"""One answer in words is too common above this multiple of the commonest right answer, and above this share."""
CAN_FAIL = 0.2
"""Share of cases with room to fail below which a directional test is uninformative."""
WITHOUT_READING = ("nothing", "how the context begins")
"""Answers that can be given to every question."""

Sign = Measure | Finding


def score_job(settings: Settings, built: Built, answers: Mapping[str, Answers]) -> Scored:
    """Return outcomes, measures and findings of one job; labelled rows come after the suite and are scored apart."""
    given = final_answers(settings, answers)
    suite = [case for case in built.cases if not is_iid(case)]
    rows = built.cases[len(suite) :]
    examples = sum(len(case.examples) for case in suite)
    of_suite, of_rows = part_of(given, 0, examples), part_of(given, examples, len(given.predictions))
    scored = score_suite(settings, suite, of_suite, built.about, without={"capability": IID})
    outcomes = row_outcomes(rows, of_rows)
    measures = [*scored.measures, iid_score(outcomes)]
    measures += [iid_f1(outcomes)] if given.texts else []
    every = [*scored.outcomes, *outcomes]
    findings = [*dead(every), *(finding for finding in scored.findings if finding.kind != DEAD)]
    kinds = {finding.kind for finding in findings}
    if DEAD not in kinds:
        signs = list(degeneracy_of(settings, suite, of_suite, rows, of_rows, outcomes))
        measures += [sign for sign in signs if isinstance(sign, Measure)]
        findings += [sign for sign in signs if isinstance(sign, Finding) and sign.kind not in kinds]
    columns = {SAID: [*scored.columns[SAID], *said(rows, of_rows, of_rows)]}
    return Scored(every, measures, columns, findings)


def row_outcomes(cases: Sequence[Case], answers: Answers) -> list[Outcome]:
    """Return whether each prediction is the row's label, without neutral band or tolerance; of texts, exact match."""
    outcomes = []
    for row, case in enumerate(cases):
        error = answers.errors.get(row, "")
        if error and (answers.texts or row not in answers.unparsed):
            outcomes.append(Outcome(case.id, None, None, error))
        elif answers.texts:  # the value is the largest F1 with any right answer (`docs/method/beluga.md` 1.5)
            right, text = case.meta["answers"], answers.texts[row]
            matches = squad_normalise(text) in map(squad_normalise, right)
            outcomes.append(Outcome(case.id, matches, max(token_f1(text, answer) for answer in right)))
        else:
            wanted = label_index(str((case.labels or ("",))[0]), answers.labels)
            is_right = not error and int(answers.predictions[row]) == wanted
            outcomes.append(Outcome(case.id, is_right, 1.0 if is_right else -1.0))
    return outcomes


def iid_score(outcomes: Sequence[Outcome]) -> Measure:
    """Return the share of i.i.d. rows that the model gets right."""
    known = [outcome.passed for outcome in outcomes if outcome.passed is not None]
    right, n = sum(known), len(known)
    basis = Basis("cases", only={"capability": IID})
    row = Measure("iid score", None, n, errors=len(outcomes) - n, basis=basis)
    if not known:
        return replace(row, reason=NO_CASE_ANSWERED, note=NO_CASE_ANSWERED)
    return replace(row, value=right / n, interval=wilson(right, n), interval_method="wilson")


def iid_f1(outcomes: Sequence[Outcome]) -> Measure:
    """Return the mean F1 of answers to i.i.d. questions."""
    known = [outcome.value for outcome in outcomes if outcome.value is not None]
    value = math.fsum(known) / len(known) if known else None
    return Measure("iid F1", value, len(known), errors=len(outcomes) - len(known))


# Degenerate models


def degeneracy_of(
    settings: Settings,
    suite: Sequence[Case],
    given: Answers,
    iid: Sequence[Case],
    of_iid: Answers,
    outcomes: Sequence[Outcome],
) -> Iterator[Sign]:
    """Yield measures and findings of answers to a suite and to i.i.d. rows; `outcomes` are of the rows."""
    if not iid:
        return
    signs = _words if given.texts else _shares
    for name, cases, answers in ((IID_ROWS, iid, of_iid), ("minimum functionality tests", suite, given)):
        yield from signs(name, cases, answers)
    yield from _untrained(settings, iid, outcomes)
    if settings.trains and given.probabilities is not None and of_iid.probabilities is not None:
        sure = float(np.nanmean(given.probabilities.max(axis=1)))
        yield Measure("mean confidence", sure, len(given.predictions))
        yield from _directions(suite, given, given.probabilities)


# Shares of answers


def _shares(name: str, cases: Sequence[Case], answers: Answers) -> Iterator[Sign]:
    """Yield how far the shares of predicted labels are from those of the right ones."""
    code = {label: position for position, label in enumerate(answers.labels)}
    predicted, right = [], []  # of each example that has one right label among the model's own
    for case, _, row, word in _answered(cases, answers):
        names = case.meta.get("labels") or answers.labels
        word = str(names[int(word)]) if word.isdecimal() and int(word) < len(names) else word
        if word in code:
            predicted.append(int(answers.predictions[row]))
            right.append(code[word])
    if len(right) < ENOUGH:
        return
    theirs, ours = (np.bincount(codes, minlength=len(code)) / len(codes) for codes in (right, predicted))
    shift = float(np.abs(ours - theirs).sum() / 2)
    measure = Measure("prediction shift", shift, len(right), {"slice": name})
    yield measure
    if shift <= SHIFTED:
        return
    label = int(np.argmax(ours - theirs))
    word, share = answers.labels[label], float(ours[label])
    # Tests are hard on purpose: a model that errs to one side only may know the task.
    is_constant = share >= NEARLY_ALL
    text = wording.label_shift(word, share, theirs[label], len(right), name, is_constant=is_constant)
    kind, weight = (DEGENERATE, WEIGHTS[DEGENERATE]) if is_constant else (LEANING, 1.0)
    yield Finding(kind, text, (measure,), weight, disqualifies=is_constant)


def _answered(cases: Sequence[Case], answers: Answers) -> Iterator[tuple[Case, Example, int, str]]:
    """Yield the answered examples of minimum functionality tests: case, example, row of the answers, right label."""
    start = 0
    for case in cases:
        for offset, label in enumerate(case.labels or () if case.groups["test type"] == "MFT" else ()):
            if start + offset not in answers.errors:
                yield case, case.examples[offset], start + offset, str(label)
        start += len(case.examples)


# Answers in words


def _words(name: str, cases: Sequence[Case], answers: Answers) -> Iterator[Sign]:
    """Yield how often answers need no reading or are the same, against right ones (`docs/method/beyond.md` 7.9)."""
    rows = _answered(cases, answers)
    questions = [(example[0], answers.texts[row], right) for _, example, row, right in rows]
    n = len(questions)
    if n < ENOUGH:
        return
    contexts, answered, right = zip(*questions, strict=True)
    ours, theirs = (_whereabouts(contexts, texts) for texts in (answered, right))
    shift = sum(abs(ours[place] - theirs[place]) for place in ours) / 2
    measure = Measure("prediction shift", shift, n, {"slice": name})
    yield measure
    (words, times), usual = Counter(answered).most_common(1)[0], Counter(right).most_common(1)[0][1] / n
    excess = {place: ours[place] - theirs[place] for place in WITHOUT_READING}
    place = max(WITHOUT_READING, key=excess.__getitem__)
    if excess[place] > SHIFTED:
        right_ones = f"{wording.percent(theirs[place])} of the right answers are"
        text = wording.answer_shift(place, ours[place], right_ones, n, name)
    elif times / n > max(MANY_TIMES * usual, RARE):
        commonest = f"the commonest right answer has {wording.percent(usual)}"
        text = wording.answer_shift(repr(words), times / n, commonest, n, name)
    else:
        return
    yield Finding(DEGENERATE, text, (measure,), WEIGHTS[DEGENERATE], disqualifies=True)


def _whereabouts(contexts: Sequence[str], answers: Sequence[str]) -> dict[str, float]:
    """Return the shares of empty answers, of beginnings of the context, and of all others."""
    n, pairs = len(answers), zip(contexts, answers, strict=True)
    empty = sum(not answer.strip() for answer in answers) / n
    first = sum(bool(answer.strip()) and context.startswith(answer) for context, answer in pairs) / n
    return dict(zip((*WITHOUT_READING, "something else"), (empty, first, 1 - empty - first), strict=True))


def _untrained(settings: Settings, iid: Sequence[Case], outcomes: Sequence[Outcome]) -> Iterator[Finding]:
    """Yield a finding if the model is right no more often than one that always predicts the commonest label."""
    pairs = zip(iid, outcomes, strict=True)
    labels = [str((case.labels or ("",))[0]) for case, row in pairs if row.passed is not None]
    n = len(labels)
    if n < ENOUGH:
        return
    commonest = max(sorted(set(labels)), key=labels.count)
    usual, value = labels.count(commonest) / n, sum(bool(row.passed) for row in outcomes) / n
    if value > usual:
        return
    knew = settings.trains and settings.train.on[0].startswith("iid>")
    text = wording.below_chance(value, n, commonest, usual, knew=knew)
    measure = Measure("iid score", value, n, {}, wilson(round(value * n), n), "wilson")
    kind, weight = FORGOTTEN if knew else UNTRAINED, WEIGHTS[DEGENERATE] + 1
    yield Finding(kind, text, (measure,), weight, disqualifies=True)


# Directional tests (`docs/method/beyond.md` 7.8)


def _directions(suite: Sequence[Case], given: Answers, probabilities: Floats) -> Iterator[Sign]:
    """Yield the loss of each directional functionality, and a finding on those that can hardly fail."""
    directed: dict[str, list[int]] = {}
    sizes = np.fromiter((len(case.examples) for case in suite), np.int64, len(suite))
    starts = np.cumsum(sizes) - sizes
    answered = np.logical_and.reduceat(np.isfinite(probabilities).all(axis=1), starts)
    for position, case in enumerate(suite):
        if case.meta.get("direction") not in (None, "label") and answered[position]:
            directed.setdefault(case.groups["functionality"], []).append(position)
    if not directed:
        return
    tight = []
    sure: list[float] = []  # of each original of those that can hardly fail
    for name, members in directed.items():
        case = suite[members[0]]
        direction, originals = case.meta["direction"], probabilities[starts[members]]
        free = float((headroom(direction, originals) > expect_of(case).tolerance).mean())
        answers = [probabilities[starts[at] : starts[at] + sizes[at]] for at in members]
        lost = np.concatenate([losses_of_pairs(direction, vectors) for vectors in answers])
        facts = {"without a gradient": float((lost == 0).mean())} if lost.size else {}
        value = float(lost.mean()) if lost.size else None
        yield Measure("directional loss", value, len(lost), dict(case.groups), facts=facts)
        if free < CAN_FAIL:
            tight.append((name, free))
            sure += originals.max(axis=1).tolist()
    if tight:
        confidence = Measure("mean confidence", float(np.mean(sure)), len(sure))
        text = wording.saturated(tight, len(directed), float(np.mean(sure)))
        yield Finding(SATURATED, text, (confidence,), 1.0)


def headroom(direction: str, before: Floats) -> Floats:
    """Return how far the probability that matters could move the wrong way, for each original.

    >>> headroom("not_more_conf", np.array([[0.03, 0.97]])).round(2).tolist()
    [0.03]
    """
    top = before.max(axis=1)
    room: dict[str, Floats] = {
        "not_more_conf": 1 - top,
        "not_less_conf": top,
        "not_less_2": 1 - before[:, 0],
        "not_less_0": 1 - before[:, -1],
    }
    return room[direction]


def losses_of_pairs(direction: str, probabilities: Floats) -> Floats:
    """Return equation 6 for an original and each variant: -log(1 - ε), ε how far it moved the wrong way.

    Of the model that a training starts from it is the loss at step 0.

    >>> losses_of_pairs("not_more_conf", np.array([[0.3, 0.7], [0.1, 0.9], [0.8, 0.2]])).round(6).tolist()
    [0.223144, 0.0]
    """
    before = np.repeat(probabilities[:1], len(probabilities) - 1, axis=0)
    error = directional_error(direction, before, probabilities[1:])
    with np.errstate(divide="ignore"):
        losses: Floats = np.minimum(-np.log1p(-error), 100.0) + 0.0  # no -0.0
    return losses
