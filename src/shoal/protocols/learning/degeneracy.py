"""What the answers of one trained model give away: that it learnt nothing, or one answer, or to be too sure to fail.

`docs/method/beyond.md` 7.8 and 7.9. Only where i.i.d. rows were asked beside the suite. Pure.

    shares of answers   against those of the right ones, on i.i.d. rows and on minimum functionality tests; of answers
                        in words, one answer to many questions, none, or wherever the context begins
    i.i.d. score        against always giving the commonest label
    directional tests   how much room there is to fail; on log-odds; with calibrated confidence; what equation 6 would
                        have to learn from, were the model trained on them from here
    confidence          how sure the model is of its answers to the suite
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...core.errors import some
from ...core.measures import quantity, shown
from ...core.records import Answers, Case, Finding, Measure, Outcome
from ...stats.intervals import wilson
from ...stats.paired import sign_test
from ..behaviour.rules import Floats, Integers, directional_error
from ..behaviour.score import WEIGHTS, case_outcomes, expect_of, judge_examples
from ..behaviour.settings import Settings
from ..degeneracy import DEGENERATE
from .retention import FORGOTTEN, UNTRAINED

SATURATED, LEANING = "saturated", "leaning"
IID_ROWS = "i.i.d. rows"
SHIFTED = 0.25
"""Total variation between the answers' shares and the right ones' above which that is said."""
NEARLY_ALL = 0.9
"""One label to such a share is an answer to nearly everything."""
ENOUGH = 30
"""Fewer examples than this say nothing of shares."""
MANY_TIMES, RARE = 3.0, 0.1
"""One answer in words is too common above so many times the commonest right one, and above this share."""
CAN_FAIL = 0.2
"""Below this share of cases with room to fail a directional test is uninformative."""
WITHOUT_READING = ("nothing", "how the context begins")
"""Answers that can be given to every question."""
LOG_ODDS_TOLERANCE = 0.2
SMALLEST = 1e-6


@dataclass(frozen=True, slots=True)
class Signs:
    """What was measured, and what it comes to."""

    measures: list[Measure]
    findings: list[Finding]


def signs_of(
    settings: Settings,
    suite: Sequence[Case],
    given: Answers,
    iid: Sequence[Case],
    of_iid: Answers,
    outcomes: Sequence[Outcome],
) -> Signs:
    """Of a model's answers to a suite and to i.i.d. rows, as it gave them; `outcomes` are those of the i.i.d. rows."""
    signs = Signs([], [])
    if not iid:
        return signs
    add = _add_words if given.texts else _add_shares
    for name, cases, answers in ((IID_ROWS, iid, of_iid), ("minimum functionality tests", suite, given)):
        add(signs, name, cases, answers)
    signs.findings.extend(_untrained(settings, iid, of_iid, outcomes))
    if given.probabilities is not None and of_iid.probabilities is not None:
        sure = float(np.nanmean(given.probabilities.max(axis=1)))
        signs.measures.append(Measure("mean confidence", sure, len(given.predictions)))
        _add_directions(signs, settings, suite, given, _temperature(iid, of_iid))
    return signs


# Shares of answers


def _add_shares(signs: Signs, name: str, cases: Sequence[Case], answers: Answers) -> None:
    """How far the shares of the answers are from those of the right ones, where these are the model's own labels."""
    predicted, right = _pairs(cases, answers)
    if len(right) < ENOUGH:
        return
    count = len(answers.labels)
    theirs, ours = (np.bincount(codes, minlength=count) / len(codes) for codes in (right, predicted))
    shift = float(np.abs(ours - theirs).sum() / 2)
    measure = Measure("prediction shift", shift, len(right), {"slice": name})
    signs.measures.append(measure)
    if shift <= SHIFTED:
        return
    label = int(np.argmax(ours - theirs))
    word, share = answers.labels[label], float(ours[label])
    text = f"It predicts {word} for {_percent(share)} of {len(right):,} {name}; {_percent(theirs[label])} are {word}."
    # Tests are hard on purpose: a model that errs to one side only may know the task.
    kind = DEGENERATE if share >= NEARLY_ALL else LEANING
    text += " A constant answer passes every invariance test." if kind == DEGENERATE else ""
    facts = {"slice": name, "label": word, "predicted": share}
    signs.findings.append(
        Finding(kind, text, (measure,), WEIGHTS.get(kind, 1.0), facts=facts, disqualifies=kind == DEGENERATE)
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _pairs(cases: Sequence[Case], answers: Answers) -> tuple[Integers, Integers]:
    """What was answered and what was right, for each example with one right label among the model's own."""
    code = {label: position for position, label in enumerate(answers.labels)}
    predicted, right, row = [], [], 0
    for case in cases:
        names = case.meta.get("labels") or answers.labels
        for offset, label in enumerate(case.labels or ()):
            word = str(label)
            word = str(names[int(word)]) if word.isdecimal() and int(word) < len(names) else word
            known = case.groups["test type"] == "MFT" and word in code and row + offset not in answers.errors
            if known:
                predicted.append(int(answers.predictions[row + offset]))
                right.append(code[word])
        row += len(case.examples)
    return np.array(predicted, np.int64), np.array(right, np.int64)


# Answers in words


def _add_words(signs: Signs, name: str, cases: Sequence[Case], answers: Answers) -> None:
    """Where answers stand, and how often one is given, against the right ones (`docs/method/beyond.md` 7.9)."""
    contexts, said, right = _questions(cases, answers)
    n = len(right)
    if n < ENOUGH:
        return
    ours, theirs = (_whereabouts(contexts, texts) for texts in (said, right))
    shift = sum(abs(ours[place] - theirs[place]) for place in ours) / 2
    (words, times), usual = Counter(said).most_common(1)[0], Counter(right).most_common(1)[0][1] / n
    facts = {"distinct answers": len(set(said)) / n, "commonest answer": times / n, "commonest right": usual}
    measure = Measure("prediction shift", shift, n, {"slice": name}, facts=facts)
    signs.measures.append(measure)
    excess = {place: ours[place] - theirs[place] for place in WITHOUT_READING}
    place = max(WITHOUT_READING, key=excess.__getitem__)
    if excess[place] > SHIFTED:
        answered = f"{_percent(ours[place])} with {place}; {_percent(theirs[place])} of the right answers are"
    elif times / n > max(MANY_TIMES * usual, RARE):
        answered = f"{_percent(times / n)} with {words!r}; the commonest right answer has {_percent(usual)}"
    else:
        return
    text = f"It answers {answered} ({n:,} {name}). A constant answer passes every invariance test."
    about = {"slice": name, "place": place, "answer": words}
    signs.findings.append(
        Finding(DEGENERATE, text, (measure,), WEIGHTS[DEGENERATE], facts=about, disqualifies=True)
    )


def _questions(cases: Sequence[Case], answers: Answers) -> tuple[list[str], list[str], list[str]]:
    """Context, answer and right answer of every question that has one; nothing where the model failed."""
    contexts, said, right, row = [], [], [], 0
    for case in cases:
        known = case.labels if case.groups["test type"] == "MFT" else None
        for offset, label in enumerate(known or ()):
            if row + offset not in answers.errors:
                contexts.append(case.examples[offset][0])
                said.append(answers.texts[row + offset])
                right.append(str(label))
        row += len(case.examples)
    return contexts, said, right


def _whereabouts(contexts: Sequence[str], answers: Sequence[str]) -> dict[str, float]:
    """The shares of answers that are nothing, that begin with the context, and of all others."""
    pairs = list(zip(contexts, answers, strict=True))
    empty = sum(not answer.strip() for answer in answers)
    first = sum(bool(answer.strip()) and context.startswith(answer) for context, answer in pairs)
    counts = dict(zip(WITHOUT_READING, (empty, first), strict=True)) | {
        "something else": len(pairs) - empty - first
    }
    return {place: count / len(pairs) for place, count in counts.items()}


def _untrained(
    settings: Settings, iid: Sequence[Case], answers: Answers, outcomes: Sequence[Outcome]
) -> Iterator[Finding]:
    """A model that is right no more often than one that always gives the commonest label does not do the task."""
    labels = [
        str((case.labels or ("",))[0])
        for case, row in zip(iid, outcomes, strict=True)
        if row.passed is not None
    ]
    n = len(labels)
    if n < ENOUGH:
        return
    commonest = max(sorted(set(labels)), key=labels.count)
    usual, value = labels.count(commonest) / n, sum(bool(row.passed) for row in outcomes) / n
    if value > usual:
        return
    opposite = " It predicts the opposite label." if _is_turned(iid, answers, usual) else ""
    knew = settings.train is not None and settings.train.on[0].startswith("iid>")
    kind, words = (FORGOTTEN, "lost") if knew else (UNTRAINED, "did not learn")
    text = (
        f"It {words} the task: i.i.d. score {100 * value:.1f} on {n:,} rows; always {commonest} has "
        f"{100 * usual:.1f}.{opposite}"
    )
    measure = Measure("iid score", value, n, {}, wilson(round(value * n), n), "wilson")
    yield Finding(
        kind, text, (measure,), WEIGHTS[DEGENERATE] + 1, facts={"commonest": usual}, disqualifies=True
    )


def _is_turned(iid: Sequence[Case], answers: Answers, usual: float) -> bool:
    """Whether it gives, of two labels, the wrong one: for sure nearer to always than one that always gives the same."""
    if answers.texts:
        return False
    predicted, right = _pairs(iid, answers)
    other = int(np.sum(np.isin(predicted, right) & (predicted != right)))
    return len(set(right.tolist())) == 2 and wilson(other, len(right))[0] > (1 + usual) / 2


# Directional tests (`docs/method/beyond.md` 7.8)


def _add_directions(
    signs: Signs, settings: Settings, suite: Sequence[Case], given: Answers, temperature: float
) -> None:
    assert given.probabilities is not None
    directed: dict[str, list[int]] = {}
    sizes = np.fromiter((len(case.examples) for case in suite), np.int64, len(suite))
    starts = np.cumsum(sizes) - sizes
    answered = np.logical_and.reduceat(np.isfinite(given.probabilities).all(axis=1), starts)
    for position, case in enumerate(suite):
        if case.meta.get("direction") not in (None, "label") and answered[position]:
            directed.setdefault(case.groups["functionality"], []).append(position)
    if not directed:
        return
    calibrated = _calibrated_rates(settings, suite, given, temperature)
    tight, losses = [], []
    sure: list[float] = []  # of each original of those that can hardly fail
    for name, members in directed.items():
        case = suite[members[0]]
        groups = dict(case.groups)
        originals = given.probabilities[starts[members]]
        room = headroom(case.meta["direction"], originals)
        free = float((room > expect_of(case).tolerance).mean())
        signs.measures.append(
            Measure("headroom", float(room.mean()), len(room), groups, facts={"can fail": free})
        )
        answers = [given.probabilities[starts[at] : starts[at] + sizes[at]] for at in members]
        changes = [log_odds_changes(case.meta["direction"], vectors) for vectors in answers]
        passes = [bool((moved <= LOG_ODDS_TOLERANCE).all()) for moved in changes]
        signs.measures.append(_rate("pass rate on log-odds", passes, groups, {}))
        signs.measures.append(_balance([float(moved.mean()) for moved in changes if len(moved)], groups))
        lost = [loss for vectors in answers for loss in losses_of_pairs(case.meta["direction"], vectors)]
        still = {"without a gradient": float(np.mean(np.array(lost) == 0))} if lost else {}
        value = float(np.mean(lost)) if lost else None
        signs.measures.append(Measure("directional loss", value, len(lost), groups, facts=still))
        signs.measures.append(
            _rate("pass rate if calibrated", calibrated[name], groups, {"temperature": temperature})
        )
        if free < CAN_FAIL:
            tight.append((name, free))
            sure += originals.max(axis=1).tolist()
            losses += lost
    if tight:
        signs.findings.append(_saturated(tight, len(directed), sure, losses))


def headroom(direction: str, before: Floats) -> Floats:
    """How far the probability that is watched could go the wrong way, for each original.

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


def log_odds_changes(direction: str, probabilities: Floats) -> Floats:
    """How far the log-odds of each variant moved the wrong way; below 0, the right way.

    >>> log_odds_changes("not_more_conf", np.array([[0.5, 0.5], [0.5, 0.5], [0.1, 0.9]])).round(2).tolist()
    [0.0, -2.2]
    """
    odds = np.clip(probabilities, SMALLEST, 1 - SMALLEST)
    odds = np.log(odds) - np.log1p(-odds)
    watched = {"not_less_2": 0, "not_less_0": -1}.get(direction, int(probabilities[0].argmax()))
    sign = -1.0 if direction == "not_less_conf" else 1.0
    changes: Floats = sign * (odds[1:, watched] - odds[0, watched])
    return changes


def _balance(changes: Sequence[float], groups: Mapping[str, str]) -> Measure:
    """Cases that moved the right way less those that moved the wrong way, of all, and whether that is chance."""
    wrong, right = (sum(side * change > LOG_ODDS_TOLERANCE for change in changes) for side in (1, -1))
    n = len(changes)
    if not n:
        return Measure("directional balance", None, 0, groups)
    facts = {
        "right": right,
        "wrong": wrong,
        "p": sign_test(right, wrong),
        "mean change": -float(np.mean(changes)),
    }
    return Measure("directional balance", (right - wrong) / n, n, groups, facts=facts)


def _calibrated_rates(
    settings: Settings, suite: Sequence[Case], given: Answers, temperature: float
) -> dict[str, list[bool | None]]:
    """The outcomes of directional cases if the model were as sure as it is right on i.i.d. rows."""
    assert given.probabilities is not None
    softened = at_temperature(given.probabilities, temperature)
    answers = replace(given, probabilities=softened)
    judged = list(judge_examples(settings, suite, answers))
    outcomes = case_outcomes(suite, judged, answers)
    rates: dict[str, list[bool | None]] = {}
    for case, outcome in zip(suite, outcomes, strict=True):
        if case.meta.get("direction") not in (None, "label"):
            rates.setdefault(case.groups["functionality"], []).append(outcome.passed)
    return rates


def _rate(
    name: str, passes: Sequence[bool | None], groups: Mapping[str, str], facts: Mapping[str, Any]
) -> Measure:
    known = [passed for passed in passes if passed is not None]
    n, right = len(known), sum(known)
    if not n:
        return Measure(name, None, 0, groups, na=len(passes), facts=facts)
    return Measure(name, right / n, n, groups, wilson(right, n), "wilson", len(passes) - n, facts=facts)


def _temperature(iid: Sequence[Case], of_iid: Answers) -> float:
    """The temperature at which the model is as sure of i.i.d. rows as it is right: the best log-likelihood."""
    assert of_iid.probabilities is not None
    _, right = _pairs(iid, of_iid)
    rows = [row for row in range(len(of_iid.predictions)) if row not in of_iid.errors]
    if len(rows) != len(right) or not rows:
        return 1.0
    logs = np.log(np.clip(of_iid.probabilities[rows], 1e-12, 1.0))
    grid = np.exp(np.linspace(np.log(0.2), np.log(20.0), 200))
    losses = []
    for temperature in grid:
        cold = logs / temperature
        cold -= cold.max(axis=1, keepdims=True)
        losses.append(float((np.log(np.exp(cold).sum(axis=1)) - cold[np.arange(len(right)), right]).mean()))
    return float(grid[int(np.argmin(losses))])


def at_temperature(probabilities: Floats, temperature: float) -> Floats:
    """softmax(z / T), from the probabilities at T = 1.

    >>> at_temperature(np.array([[0.97, 0.03]]), 2.0).round(4).tolist()
    [[0.8504, 0.1496]]
    """
    logs = np.log(np.clip(probabilities, 1e-12, 1.0)) / temperature
    raised = np.exp(logs - logs.max(axis=1, keepdims=True))
    softened: Floats = raised / raised.sum(axis=1, keepdims=True)
    return softened


def losses_of_pairs(direction: str, probabilities: Floats) -> Floats:
    """Equation 6 for an original and each of its variants: -log(1 - ε), ε how far the answer moved the wrong way.

    Of the model that a training starts from it is the loss at step 0.

    >>> losses_of_pairs("not_more_conf", np.array([[0.3, 0.7], [0.1, 0.9], [0.8, 0.2]])).round(6).tolist()
    [0.223144, 0.0]
    """
    before = np.repeat(probabilities[:1], len(probabilities) - 1, axis=0)
    error = directional_error(direction, before, probabilities[1:])
    with np.errstate(divide="ignore"):
        losses: Floats = np.minimum(-np.log1p(-error), 100.0) + 0.0  # no -0.0
    return losses


def _saturated(
    tight: Sequence[tuple[str, float]], total: int, sure: Sequence[float], losses: Sequence[float]
) -> Finding:
    confidence = Measure("mean confidence", float(np.mean(sure)), len(sure))
    words = some([f"{name} {_percent(free)}" for name, free in tight], 3)
    text = (
        f"{len(tight)} of {total} directional functionalities can hardly fail: the model is too confident in their "
        f"originals (mean {shown(confidence.value, quantity(confidence))} %). Cases with room to fail: {words}."
    )
    facts: dict[str, Any] = {"functionalities": [name for name, _ in tight]}
    if losses:
        loss, still = float(np.mean(losses)), float(np.mean(np.array(losses) == 0))
        text += (
            f" At step 0 equation 6 gives a loss of {loss:.4f}, and {_percent(still)} of pairs have no gradient; "
            'train.direction = "margin" gives them one.'
        )
        facts |= {"loss at step 0": loss, "without a gradient": still}
    return Finding(SATURATED, text, (confidence,), 1.0, facts=facts)
