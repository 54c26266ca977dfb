"""Answers to outcomes: each functionality's rule on all its cases at once (`docs/method/beluga.md` 1.5)."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...core.errors import DataError
from ...core.records import Answers, Case, Label, Outcomes
from .expect import Expect
from .rules import NO_LABEL, SPAN_RULES, Block, Floats, Integers, aggregate, label_index, values_of
from .settings import Settings


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
