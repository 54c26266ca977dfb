"""Answers to outcomes: each functionality's rule on all its cases at once (`docs/method/beluga.md` 1.5)."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...core.case_table import CaseTable, by_group
from ...core.errors import DataError
from ...core.records import Answers, Case, Label, Outcomes
from ...stats.resampling import hits_of
from .expect import Expect
from .rules import NO_LABEL, Block, Floats, Integers, aggregate, judges_text, label_index, values_of
from .settings import Settings

ON_OWN_LABELS = "direction "
"""How the rules begin that judge the model's own labels, without a neutral band."""


def judge(settings: Settings, cases: Sequence[Case], answers: Answers) -> Outcomes:
    """Return pass, fail, not applicable or error for each case; an example without an answer makes its case an error.

    An answer that parses as no label but counts as failing (`answers.unparsed`) fails its case, of whatever type.
    """
    table = CaseTable.of(cases)
    sizes = table.sizes
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
    verdicts = np.full(len(cases), ord("-"), np.uint8)
    values = np.full(len(cases), np.nan)
    for members in by_group(table, "functionality").values():
        expect = as_set(table[int(members[0])], settings)
        source = raw if expect.rule.startswith(ON_OWN_LABELS) else shown
        rows = rows_of_cases(starts[members], sizes[members])
        block = block_of(source, table, members, rows, sizes[members], expect)
        by_example = values_of(block, expect, settings.slack)
        if answers.unparsed:
            by_example[np.isin(rows, list(answers.unparsed))] = -1.0
        passed, applies, worst = aggregate(by_example, block.starts, expect.aggregate)
        verdicts[members] = np.where(applies, np.where(passed, ord("1"), ord("0")), ord("-"))
        values[members] = np.where(applies, worst, np.nan)
    unparsed = _cases_with_errors({row: answers.errors[row] for row in answers.unparsed}, starts)
    verdicts[list(unparsed)], values[list(unparsed)] = ord("0"), -1.0
    rest = {row: message for row, message in answers.errors.items() if row not in answers.unparsed}
    errors = _cases_with_errors(rest, starts)
    verdicts[list(errors)], values[list(errors)] = ord("e"), np.nan
    return Outcomes(cases, verdicts.tobytes().decode(), array("d", values), errors)


def expect_of(case: Case) -> Expect:
    """Return a case's expectation, of a suite or as the store has it."""
    expect = case.meta["expect"]
    return expect if isinstance(expect, Expect) else Expect.parse(expect, default=None)


def as_set(case: Case, settings: Settings) -> Expect:
    """Return the case's expectation, with the settings for tolerance and directional tests."""
    expect = expect_of(case)
    tolerance = settings.resolved("tolerance")
    direction = case.meta.get("direction")
    if settings.resolved("directional") == "paper" and direction and direction != "label":
        return Expect(f"direction {direction}", tolerance or 0.0, expect.aggregate)
    return expect if tolerance is None else expect.with_tolerance(tolerance)


def _cases_with_errors(errors: Mapping[int, str], starts: Integers) -> dict[int, str]:
    """Return the cases with an unanswered example, each with the message of the first."""
    rows = sorted(errors, reverse=True)  # the first of a case's errors is kept
    owners = np.searchsorted(starts, rows, side="right") - 1
    return {int(case): errors[row] for case, row in zip(owners, rows, strict=True)}


def block_of(
    answers: Answers, table: CaseTable, members: Integers, rows: Integers, sizes: Integers, expect: Expect
) -> Block:
    """Return the answers in these rows as a block: those to one functionality's cases, the members of the table."""
    reading = judges_text(expect)
    if reading and not answers.texts:
        raise DataError(
            f"rule {expect.rule!r} needs answers in words, the answers are labels",
            fix="a model that answers questions, or a suite of labels",
        )
    own, starts = rows_of(answers, rows), np.cumsum(sizes) - sizes
    labels = [table.labels[place] for place in members.tolist()]
    expected = np.zeros(0, np.int64) if reading else _expected(labels, sizes, own.labels)
    block = Block(own.labels, starts, own.predictions, own.probabilities, own.confidences, expected)
    if not reading:
        return block
    return replace(
        block,
        texts=own.texts,
        expected_texts=[str(label) for each in labels for label in each or ()],
        substitutions=[swap for place in members.tolist() for swap in _substitutions(table[place])],
    )


def rows_of(answers: Answers, rows: Integers) -> Answers:
    """Return the answers in these rows, without errors."""
    return replace(
        answers,
        predictions=answers.predictions[rows],
        probabilities=None if answers.probabilities is None else answers.probabilities[rows],
        confidences=None if answers.confidences is None else answers.confidences[rows],
        texts=[answers.texts[row] for row in rows] if answers.texts else (),
        errors={},
        unparsed=frozenset(),
    )


def rows_of_cases(starts: Integers, sizes: Integers) -> Integers:
    """Return the rows of the examples of some cases, case by case."""
    own_starts = np.cumsum(sizes) - sizes
    return np.repeat(starts - own_starts, sizes) + np.arange(sizes.sum())


def _expected(
    labels: Sequence[tuple[Label, ...] | None], sizes: Integers, names: tuple[str, ...]
) -> Integers:
    """Return the expected label of each example as a code."""
    pairs = zip(labels, sizes.tolist(), strict=True)
    flat = [label for own, size in pairs for label in own or (None,) * size]
    codes: dict[Label | None, int] = {None: NO_LABEL}
    for label in filter(lambda label: label is not None, dict.fromkeys(flat)):
        word = str(label)
        is_unlike = word.startswith("not_") and word not in names
        code = label_index(word.removeprefix("not_") if is_unlike else word, names)
        codes[label] = -1 - code if is_unlike else code  # anything but X is -1 - X
    return np.fromiter(map(codes.__getitem__, flat), np.int64, len(flat))


def _substitutions(case: Case) -> Iterator[tuple[str, str] | None]:
    """Yield the old and the new word of each example, where the suite gives them."""
    details = case.meta.get("details")
    if not isinstance(details, list) or len(details) != len(case.examples):
        details = [None] * len(case.examples)
    for swap in details:
        yield (str(swap[0]), str(swap[1])) if isinstance(swap, list | tuple) and len(swap) == 2 else None


def neutral_band(positive: Floats, edges: str = "inclusive") -> tuple[Floats, Integers]:
    """Return three-way vectors and labels (negative, neutral, positive) from a two-class model's positive probability.

    From 1/3 to 2/3 counts as neutral. "inclusive" includes the edges, as in the paper; "strict" follows the reference
    code, in which 2/3 itself belongs nowhere: (0, 0, 0), label 0.

    >>> vectors, labels = neutral_band(np.array([0.2, 0.4, 0.5, 0.7]))
    >>> vectors.round(2).tolist(), labels.tolist()
    ([[0.8, 0.0, 0.2], [0.3, 0.7, 0.0], [0.0, 1.0, 0.0], [0.3, 0.0, 0.7]], [0, 1, 1, 2])
    """
    r = positive
    noise = 1e-12 if edges == "inclusive" else 0.0  # 1/3 and 2/3 have no exact double
    negative, certain = r < 1 / 3 - noise, r > 2 / 3 + noise
    is_strict = edges == "strict"
    negative |= is_strict & (r == 1 / 3)
    nowhere = is_strict & (r == 2 / 3)
    neutral = ~(negative | certain | nowhere)
    q = 1 - 3 * np.abs(r - 0.5)
    low, high = neutral & (r < 0.5), neutral & (r >= 0.5)
    sided = negative | certain
    below = np.where(sided, 1 - r, np.where(low, 1 - q, 0.0))
    above = np.where(sided, r, np.where(high, 1 - q, 0.0))
    vectors = np.stack([below, np.where(neutral, q, 0.0), above], axis=1)
    return vectors, np.where(certain, 2, np.where(neutral, 1, 0))


def with_neutral_band(answers: Answers, cases: Sequence[Case], edges: str) -> Answers:
    """Return the answers in three labels: a two-class sentiment model is neutral where P(positive) is near one half."""
    if answers.probabilities is None or not lacks_neutral(answers, cases):
        return answers
    vectors, labels = neutral_band(answers.probabilities[:, 1], edges)
    return replace(answers, labels=tuple(cases[0].meta["labels"]), predictions=labels, probabilities=vectors)


def lacks_neutral(answers: Answers, cases: Sequence[Case]) -> bool:
    """Return whether a model of two labels answers a suite of three."""
    suite_labels = cases[0].meta.get("labels") if cases else None
    return suite_labels is not None and (len(answers.labels), len(suite_labels)) == (2, 3)


# How far the answer to a failing INV or DIR case moved: P(positive) .90 → .40 (limit ±.10)

SIGNS = {"lower": "−", "less_conf": "−", "higher": "+", "more_conf": "+", "-tol": "−", "tol": "+"}
"""The end of a rule's name, to the direction in which it limits a change."""
LIMITS = ("positive_shift", "direction ", "conf_of_", "same_pred_or_conf_change_within_tol")
"""How the rules begin that limit a change of probability."""


def changes(
    settings: Settings, cases: Sequence[Case], answers: Answers, shown: Answers, outcomes: Outcomes
) -> list[str | None]:
    """Return in words the change of the worst example of each failing INV or DIR case; None for other cases.

    Models without probabilities and rules about labels alone have none. `shown` are the answers in the suite's labels.
    """
    made: list[str | None] = [None] * len(cases)
    if answers.probabilities is None:
        return made
    table, has_failed = CaseTable.of(cases), hits_of(outcomes.verdicts) == 0
    banded = f"as {len(shown.labels)} labels: "  # the neutral band changes a model's probabilities
    starts = np.cumsum(sizes := table.sizes) - sizes
    for members in by_group(table, "functionality").values():
        places = members[has_failed[members]]
        expect = as_set(table[int(members[0])], settings)
        if not len(places) or not expect.rule.startswith(LIMITS):
            continue
        rows = rows_of_cases(starts[places], sizes[places])
        source = answers if expect.rule.startswith(ON_OWN_LABELS) else shown
        block = block_of(source, table, places, rows, sizes[places], expect)
        values = np.nan_to_num(values_of(block, expect, settings.slack), nan=1.0)
        for place, start, size in zip(places, block.starts, sizes[places], strict=True):
            worst = start + np.argmin(values[start : start + size])
            made[place] = banded * (source is not answers) + _change(block, expect, int(start), int(worst))
    return made


def _change(block: Block, expect: Expect, original: int, row: int) -> str:
    rule, probabilities = expect.rule, block.probabilities
    assert probabilities is not None
    first, last = 0, probabilities.shape[1] - 1
    sign = next((sign for end, sign in SIGNS.items() if rule.endswith(end)), "+")
    columns = [int(block.predictions[original])]
    if rule.startswith("positive_shift"):
        columns = [last, first]
    elif rule.startswith("direction not_less_") and not rule.endswith("conf"):
        columns = [first if rule.endswith("2") else last]
    elif rule.startswith("conf_of_"):
        word = rule.removeprefix("conf_of_").rpartition("_not_")[0]
        columns = columns if word == "original_pred" else [label_index(word, block.labels)]
    elif rule == "same_pred_or_conf_change_within_tol":
        sign = "±"
    known = [column if column <= last else -1 for column in columns]
    # 0 for a label that the model does not know
    padded = np.pad(probabilities[[original, row]], ((0, 0), (0, 1)))
    before, after = (float(chances[0] - chances[1:].sum()) for chances in padded[:, known])
    name = " − ".join(f"P({block.labels[column]})" for column in columns)
    return f"{name} {change_words(before, after, expect.tolerance, sign)}"


def change_words(low: float, high: float, tolerance: float, sign: str) -> str:
    """Return a value before and after, with as many digits as show that the limit (+, − or ±) is exceeded."""
    visible = (n for n in (2, 3, 4) if round(abs(round(high, n) - round(low, n)), 6) > tolerance)
    digits = next(visible, 2)

    def number(value: float) -> str:
        return f"{value:.{digits}f}".replace("0.", ".", 1).replace("-", "−")

    limit = f"{sign}{number(tolerance)}" if tolerance else "0"
    return f"{number(low)} → {number(high)} (limit {limit})"
