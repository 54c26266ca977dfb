"""Can a model's answers be trusted? Asked before the first full run; a second or two.

Each check says yes, no, or that it cannot be told from outside. What rests on labelled cases is worded as likely: a
model may be wrong, and a suite may be made of nothing but traps.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc

from ..records import Answers, Case, Example
from .ask import HasAnswered, answer_columns, answer_examples, distinct, example_id, is_reading
from .labels import familiar

TOLERANCE = 1e-4
"""How far a probability may move with the company an example keeps."""
TOGETHER = 32
ALONE = 16
BESIDE = 8
LABELLED = 64
LONG_LETTERS = 500
ALIKE = 0.1
"""If no probability moves by more over all examples asked, the head says nothing about them."""
RARE = 0.001
"""How improbable a result must be before it is called likely to be a mistake."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at. `ok` is None where it cannot be told."""

    name: str
    ok: bool | None
    detail: str


@dataclass(frozen=True, slots=True)
class Labelled:
    """An example and the label it should get."""

    example: Example
    label: str


def self_check(
    model: object, cases: Sequence[Case], labels: Sequence[str] | None, whole: Sequence[Case] | None = None
) -> list[Check]:
    """What can be told about a model's answers from a few examples of the cases.

    Of stored predictions only what needs no asking. A model that cannot be loaded, or whose labels are not the
    suite's, raises as it would when asked in earnest.
    """
    if isinstance(model, HasAnswered):
        return check_answers(model.answer_cases(cases, whole or cases, labels), cases, labels)
    if not cases:
        return []
    reading = is_reading(cases)
    examples = sample(distinct(cases).examples, TOGETHER)
    answers = _ask(model, (examples * TOGETHER)[:TOGETHER], labels, reading)
    if reading:
        return [_answered(answers), *_company(model, examples, answers, None, reading)]
    marked = labelled(cases, answers.labels, labels)
    checks = [_names(model, answers, labels), _answered(answers), _head(model, answers), *_sums(answers)]
    checks += _engine(model, examples, answers, labels)
    checks += _company(model, examples, answers, labels, reading)
    said = _said(model, marked, labels) if marked else []
    own = familiar(getattr(model, "own_labels", None) or answers.labels, labels or answers.labels)
    checks.append(label_order(said, [one.label for one in marked], answers.labels, own))
    if len(examples[0]) == 2:
        checks.append(_pair_order(model, marked, said, labels))
    return checks


def check_answers(answers: Answers, cases: Sequence[Case], labels: Sequence[str] | None) -> list[Check]:
    """What can be told of answers that were given before we could ask."""
    return [] if answers.texts else [*_sums(answers), *_stored_order(answers, cases, labels)]


def sample(examples: Sequence[Example], size: int) -> list[Example]:
    """Some examples, from the longest to the shortest, whatever the order they came in."""
    order = sorted(examples, key=lambda example: (-sum(map(len, example)), example))
    chosen = np.linspace(0, len(order) - 1, min(size, len(order))).round().astype(int)
    return [order[at] for at in chosen]


def labelled(cases: Sequence[Case], own: Sequence[str], labels: Sequence[str] | None) -> list[Labelled]:
    """Examples of minimum functionality tests whose label is one of the model's, as many of each label as can be."""
    names = list(labels or own)
    found: dict[str, dict[Example, None]] = {name: {} for name in own}
    for case in cases:
        if case.groups.get("test type") == "MFT":
            for example, label in zip(case.examples, case.labels or (), strict=False):
                name = _name(label, names)
                if name in found:
                    found[name][example] = None
    each = LABELLED // max(1, len(own))
    # By a hash of the text: neither the first functionality nor the shortest.
    chosen = {name: sorted(examples, key=example_id)[:each] for name, examples in found.items()}
    return [Labelled(example, name) for name, examples in chosen.items() for example in examples]


def _name(label: int | str, names: Sequence[str]) -> str:
    word = str(label)
    if word.isdigit() and word not in names:
        return names[int(word)] if int(word) < len(names) else word
    return word


# Asking


def _ask(
    model: object, examples: Sequence[Example], labels: Sequence[str] | None, reading: bool = False
) -> Answers:
    ids = [str(row) for row in range(len(examples))]
    return answer_columns(answer_examples(model, examples, ids, labels, reading=reading), labels)


def _said(model: object, marked: Sequence[Labelled], labels: Sequence[str] | None) -> list[str]:
    """The label given to each, "" where the model failed."""
    said: list[str] = []
    for start in range(0, len(marked), TOGETHER):
        answers = _ask(model, [one.example for one in marked[start : start + TOGETHER]], labels)
        said += [
            "" if row in answers.errors else answers.labels[code]
            for row, code in enumerate(answers.predictions)
        ]
    return said


# One check each


def _names(model: object, answers: Answers, labels: Sequence[str] | None) -> Check:
    own = getattr(model, "own_labels", None) or answers.labels
    if labels is None:
        return Check("label names", None, f"the suite names no labels; the model's: {', '.join(own)}")
    pairs = [f"{name} is {theirs}" for name, theirs in zip(own, familiar(own, labels), strict=True)]
    absent = [label for label in labels if label not in answers.labels]
    between = f"; {', '.join(absent)}: where neither end is clear" if absent else ""
    return Check("label names", True, ", ".join(pairs) + between)


def _answered(answers: Answers) -> Check:
    n = len(answers.predictions)
    if answers.errors:
        first = next(iter(answers.errors.values()))
        return Check(
            "every example is answered", False, f"{len(answers.errors)} of {n} raised, such as: {first}"
        )
    return Check("every example is answered", True, f"{n} of {n}")


def _head(model: object, answers: Answers) -> Check:
    """A head that was never trained says nearly the same of everything."""
    loaded = "every weight is from the checkpoint" if hasattr(model, "checkpoint") else ""
    if answers.probabilities is None or len(answers.predictions) < 2:
        return Check("head is trained", None, loaded or "cannot be told without probabilities")
    spread = float(
        np.nanmax(np.nanmax(answers.probabilities, axis=0) - np.nanmin(answers.probabilities, axis=0))
    )
    if spread < ALIKE:
        return Check(
            "head is trained",
            False,
            f"likely not: over {len(answers.predictions)} different examples no probability moves by more than "
            f"{spread:.3f}",
        )
    detail = f"probabilities move by up to {spread:.2f}"
    return Check("head is trained", True, f"{loaded}; {detail}" if loaded else detail)


def _sums(answers: Answers) -> list[Check]:
    if answers.probabilities is None:
        return []
    worst = float(np.nanmax(np.abs(answers.probabilities.sum(axis=1) - 1), initial=0.0))
    return [Check("probabilities sum to 1", worst <= 1e-3, f"within {worst:.1e}")]


def _engine(
    model: object, examples: Sequence[Example], answers: Answers, labels: Sequence[str] | None
) -> list[Check]:
    """A compiled model against itself uncompiled."""
    plain = model.uncompiled() if hasattr(model, "uncompiled") else None
    if plain is None or answers.probabilities is None:
        return []
    wanted = _ask(plain, examples, labels, False)
    assert wanted.probabilities is not None
    n = len(examples)
    apart = float(np.nanmax(np.abs(answers.probabilities[:n] - wanted.probabilities)))
    same = int((answers.predictions[:n] == wanted.predictions).sum())
    detail = f"{same} of {n} labels the same, probabilities within {apart:.1e}"
    return [Check("compiled agrees with fp32 as it is", same == n and apart <= TOLERANCE, detail)]


def _company(
    model: object, examples: Sequence[Example], among: Answers, labels: Sequence[str] | None, reading: bool
) -> list[Check]:
    """The same examples alone, `among` 32, and beside a long one."""
    rows = list(range(len(examples)))[:: max(1, len(examples) // ALONE)][:ALONE]
    few = [examples[row] for row in rows]
    alone = [_ask(model, [example], labels, reading) for example in few]
    beside = _ask(model, [*few[-BESIDE:], _long(few[0])], labels, reading)
    return [
        _same("same answer in batches of 1 and 32", few, alone, among, rows),
        _same("same answer beside a long example", few[-BESIDE:], alone[-BESIDE:], beside, range(BESIDE)),
    ]


def _long(example: Example) -> Example:
    """An example that makes all others be padded."""
    first = example[0] or "word"
    times = max(2, LONG_LETTERS // len(first))
    return ((first + " ") * times if len(first) < LONG_LETTERS else first + " " + first[:200], *example[1:])


def _same(
    name: str, examples: Sequence[Example], alone: Sequence[Answers], other: Answers, rows: Sequence[int]
) -> Check:
    """Whether each example's answer alone is that in its row of the other answers."""
    moved = 0.0
    for example, single, row in zip(examples, alone, rows, strict=False):
        if 0 in single.errors or row in other.errors:
            if (0 in single.errors) != (row in other.errors):
                return Check(name, False, f"{_shown(example)} is an error in one and not in the other")
            continue
        before, after = _verdict(single, 0), _verdict(other, row)
        if single.probabilities is not None and other.probabilities is not None:
            moved = max(moved, float(np.abs(single.probabilities[0] - other.probabilities[row]).max()))
        if before != after:
            return Check(name, False, f"{_shown(example)} is {before!r} alone and {after!r} in company")
    detail = f"{len(examples)} examples; probabilities within {moved:.1e}"
    if other.probabilities is None:
        detail = f"{len(examples)} examples"
    return Check(name, moved <= TOLERANCE, detail)


def _verdict(answers: Answers, row: int) -> str:
    return answers.texts[row] if answers.texts else answers.labels[answers.predictions[row]]


def _shown(example: Example) -> str:
    text = " | ".join(example)
    return repr(text if len(text) <= 60 else text[:57] + "...")


# What labelled cases tell


def label_order(
    said: Sequence[str], expected: Sequence[str], names: Sequence[str], own: Sequence[str] | None = None
) -> Check:
    """Whether another order of the model's labels would explain its answers far better.

    `own` are the same names in the model's order, where it has one.

    >>> label_order(["no"] * 12 + ["yes"] * 12, ["yes"] * 12 + ["no"] * 12, ["no", "yes"]).ok
    False
    """
    title = "label order"
    n, k = len(said), len(names)
    if n < 8 or len(set(expected)) < 2:
        return Check(title, None, "cannot be told: fewer than 8 labelled examples, or all of one label")
    table = _confusion(said, expected, names)
    right = int(np.trace(table))
    best, meaning = _best_order(table, names) if right / n <= 0.5 else (right, {})
    # Two of three labels swapped leave a third right: at chance, not below it.
    if best > right and (bdtr(right, n, 1 / k) < RARE or best / n >= 0.8):
        changes = [f"{name} meant {meant}" for name, meant in meaning.items() if name != meant]
        return Check(
            title,
            False,
            f"likely wrong: {right} of {n} labelled examples right ({n / k:.0f} by chance), {best} if "
            f"{', '.join(changes)}. If so, give ?labels={','.join(meaning[name] for name in own or names)}",
        )
    if bdtrc(right - 1, n, 1 / k) >= RARE:
        return Check(
            title, None, f"cannot be told: {right} of {n} labelled examples right, {n / k:.0f} by chance"
        )
    return Check(title, True, f"{right} of {n} labelled examples right ({n / k:.0f} by chance)")


def _best_order(table: NDArray[np.int64], names: Sequence[str]) -> tuple[int, dict[str, str]]:
    """How many would be right if each label meant another, at the best, and what each would mean then."""
    # Loaded here: most audits never come to this point, and it takes a third of a second.
    from scipy.optimize import linear_sum_assignment

    given, meant = linear_sum_assignment(-table)
    pairs = zip(given.tolist(), meant.tolist(), strict=True)
    return int(table[given, meant].sum()), {names[said]: names[at] for said, at in pairs}


def _confusion(said: Sequence[str], expected: Sequence[str], names: Sequence[str]) -> NDArray[np.int64]:
    """How often (said, expected)."""
    table = np.zeros((len(names), len(names)), np.int64)
    for one, other in zip(said, expected, strict=True):
        if one in names and other in names:
            table[list(names).index(one), list(names).index(other)] += 1
    return table


def _stored_order(answers: Answers, cases: Sequence[Case], labels: Sequence[str] | None) -> list[Check]:
    names = list(labels or answers.labels)
    said, expected, row = [], [], 0
    for case in cases:
        for offset, label in enumerate(case.labels or ()):
            if case.groups.get("test type") == "MFT" and row + offset not in answers.errors:
                said.append(answers.labels[answers.predictions[row + offset]])
                expected.append(_name(label, names))
        row += len(case.examples)
    pairs = [(one, other) for one, other in zip(said, expected, strict=True) if other in answers.labels]
    return [label_order([one for one, _ in pairs], [other for _, other in pairs], answers.labels)]


def _pair_order(
    model: object, marked: Sequence[Labelled], said: Sequence[str], labels: Sequence[str] | None
) -> Check:
    """Whether the texts of a pair come in the order of the model's training, as far as their labels betray it."""
    title = "order of the texts in a pair"
    if not marked:
        return Check(title, None, "cannot be told: no labelled pairs")
    turned = _said(model, [Labelled(one.example[::-1], one.label) for one in marked], labels)
    as_is = [answer == one.label for answer, one in zip(said, marked, strict=True)]
    swapped = [answer == one.label for answer, one in zip(turned, marked, strict=True)]
    better = sum(a and not b for a, b in zip(as_is, swapped, strict=True))
    worse = sum(b and not a for a, b in zip(as_is, swapped, strict=True))
    counts = f"{sum(as_is)} of {len(marked)} right as given, {sum(swapped)} the other way round"
    if 2 * bdtr(min(better, worse), better + worse, 0.5) >= RARE:  # the exact sign test
        return Check(title, None, f"cannot be told: {counts}")
    if worse > better:
        return Check(title, False, f"likely wrong: {counts}")
    return Check(title, True, counts)
