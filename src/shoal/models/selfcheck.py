"""Can a model's answers be trusted? Asked before the first full run; a second or two.

Each check says yes, no, or that it cannot be told from outside. What rests on labelled cases is worded as likely: a
model may be wrong, and a suite may be made of nothing but traps.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc

from ..core.errors import some
from ..core.records import Answer, Answers, Case, Example
from .ask import (
    Classifier,
    HasAnswered,
    RemoteModel,
    answer_columns,
    answer_examples,
    classify_safely,
    distinct,
    example_id,
    is_reading,
    span_text,
)
from .labels import familiar
from .validate import check_numbers, number_labels

TOLERANCE = 1e-4
"""How far a probability may move with the company an example keeps."""
TOGETHER = 32
ALONE = 16
BESIDE = 8
LABELLED = 64
A_DOZEN = 12
"""Questions to a model whose every answer is paid for."""
LONG_LETTERS = 500
ALIKE = 0.1
"""If no probability moves by more over all examples asked, the head says nothing about them."""
RARE = 0.001
"""How improbable a result must be before it is called likely to be a mistake."""
EXPLAINED = 0.5
"""How far another order must explain a model's answers, from 0 (not at all) to 1, before its own is doubted."""
ENOUGH = 20
"""Of fewer labelled answers no other label order is suggested."""
SHOWN = 200
"""Letters of an error, in a line."""
FEW = 8
"""Of fewer examples nothing is said."""
AGAIN = 8
"""How many examples are asked again to see whether a model has changed."""
MOVED = 1e-3
"""How far a probability may move from one day to the next: other batches, other versions of a library."""


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
    if isinstance(model, RemoteModel):
        return _few_questions(model, cases, labels)
    reading = is_reading(cases)
    examples = sample(distinct(cases).examples, TOGETHER)
    answers = _ask(model, (examples * TOGETHER)[:TOGETHER], labels, reading)
    if len(answers.errors) == len(answers.predictions):
        return [_answered(answers)]  # there is nothing else to look at
    if reading:
        return [_answered(answers), *_company(model, examples, answers, None, reading)]
    if labels is None:
        check_numbers(answers, number_labels(cases), repr(model))
    taken = answers.label_map
    marked = labelled(cases, answers.labels, labels)
    expected = [mark.label for mark in marked]
    labels_given = _labels_given(model, marked, labels) if marked else []
    checks = [_names(answers, labels), _answered(answers), *_read_late(model)]
    words = dict(zip(examples, _words(answers), strict=False))
    words |= dict(zip((mark.example for mark in marked), labels_given, strict=True))
    checks += [_head(model, answers, expected), _varied(list(words.values()), expected)]
    checks += _engine(model, examples, answers, labels)
    checks += _company(model, examples, answers, labels, reading)
    order = tuple(taken.values()) if len(taken) == len(answers.labels) else answers.labels
    checks.append(label_order(labels_given, expected, answers.labels, order, fixed=hasattr(model, "prompt")))
    if len(examples[0]) == 2:
        checks.append(_pair_order(model, marked, labels_given, labels))
    return checks


def _few_questions(model: RemoteModel, cases: Sequence[Case], labels: Sequence[str] | None) -> list[Check]:
    """Of a model whose every answer is paid for: whether it answers, and whether its labels are the suite's."""
    reading = is_reading(cases)
    marked = [] if reading or labels is None else labelled(cases, labels, labels, A_DOZEN)
    examples = [mark.example for mark in marked] or sample(distinct(cases).examples, A_DOZEN)
    answers = _ask(model, examples, labels, reading)
    checks = [Check("asked in mode", None, model.how), _answered(answers)]
    if reading or len(answers.errors) == len(examples):
        return checks
    words, expected = _words(answers), [mark.label for mark in marked]
    order = [label_order(words, expected, answers.labels, fixed=True)] if marked else []
    return [*checks, _names(answers, labels), *order]


def check_answers(answers: Answers, cases: Sequence[Case], labels: Sequence[str] | None) -> list[Check]:
    """What can be told of answers that were given before we could ask."""
    return [] if answers.texts else _stored_labels(answers, cases, labels)


def sample(examples: Sequence[Example], size: int) -> list[Example]:
    """Some examples, from the longest to the shortest, whatever the order they came in."""
    order = sorted(examples, key=lambda example: (-sum(map(len, example)), example))
    chosen = np.linspace(0, len(order) - 1, min(size, len(order))).round().astype(int)
    return [order[place] for place in chosen]


def labelled(
    cases: Sequence[Case], given: Sequence[str], labels: Sequence[str] | None, at_most: int = LABELLED
) -> list[Labelled]:
    """Examples of minimum functionality tests whose label the model can give, as many of each label as can be."""
    names = list(labels or given)
    examples_of: dict[str, dict[Example, None]] = {name: {} for name in given}
    for case in cases:
        if case.groups.get("test type") == "MFT":
            for example, label in zip(case.examples, case.labels or (), strict=False):
                name = _name(label, names)
                if name in examples_of:
                    examples_of[name][example] = None
    each = at_most // max(1, len(given))
    # By a hash of the text: neither the first functionality nor the shortest.
    chosen = {name: sorted(examples, key=example_id)[:each] for name, examples in examples_of.items()}
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
    if isinstance(model, Classifier) and not reading:
        return classify_safely(model, examples, labels)
    ids = [str(row) for row in range(len(examples))]
    return answer_columns(answer_examples(model, examples, ids, labels, reading=reading), labels)


def _labels_given(model: object, marked: Sequence[Labelled], labels: Sequence[str] | None) -> list[str]:
    """The label given to each, "" where the model failed."""
    words: list[str] = []
    for start in range(0, len(marked), TOGETHER):
        words += _words(_ask(model, [mark.example for mark in marked[start : start + TOGETHER]], labels))
    return words


def _words(answers: Answers) -> list[str]:
    """The answers as words, "" where there is none."""
    return [
        "" if row in answers.errors else _verdict(answers, row) for row in range(len(answers.predictions))
    ]


# One check each


def _names(answers: Answers, labels: Sequence[str] | None) -> Check:
    if labels is None:
        names = ", ".join(answers.label_map or answers.labels)
        return Check("label names", None, f"the suite names no labels; the model's: {names}")
    taken = answers.label_map or dict(zip(answers.labels, familiar(answers.labels, labels), strict=True))
    pairs = [f"{name} is {theirs}" for name, theirs in taken.items()]
    absent = [label for label in labels if label not in answers.labels]
    between = f"; {', '.join(absent)}: where neither end is clear" if absent else ""
    return Check("label names", True, ", ".join(pairs) + between)


def _answered(answers: Answers) -> Check:
    title, n, failed = "every example is answered", len(answers.predictions), len(answers.errors)
    if not failed:
        return Check(title, True, f"{n} of {n}")
    first = answers.errors[min(answers.errors)][:SHOWN]
    if failed == n:
        return Check(title, False, f"the model answers none of {n}: {first}")
    return Check(title, False, f"{failed} of {n} have no answer, such as: {first}")


def _read_late(model: object) -> list[Check]:
    """Files that a `python:` model opens only when asked are no part of what its answers are kept by."""
    late = [path.name for path in getattr(model, "read_late", ())]
    if not late or getattr(model, "version", None) is not None:
        return []
    return [
        Check(
            "known by what it reads",
            False,
            f"{some(late, 3)} was opened only when the model was asked: a change of it will not be noticed. Open it "
            "when the module is imported, or give ?version= with the model",
        )
    ]


def _varied(words: Sequence[str], expected: Sequence[str]) -> Check:
    """A model that says the same of everything passes every test of invariance."""
    title = "not the same label for everything"
    given = [word for word in words if word]
    if len(given) < FEW:
        return Check(title, None, f"cannot be told: fewer than {FEW} examples")
    if len(set(given)) > 1:
        return Check(title, True, f"{len(set(given))} labels over {len(given):,} examples")
    if len(set(expected)) == 1:
        return Check(title, None, f"cannot be told: {expected[0]} is the only label that is expected")
    return Check(title, False, f"{given[0]} is its answer to all {len(given):,} examples")


def _head(model: object, answers: Answers, expected: Sequence[str]) -> Check:
    """A head that was never trained says nearly the same of everything."""
    loaded = "every weight is from the checkpoint" if hasattr(model, "checkpoint") else ""
    if answers.probabilities is None or len(answers.predictions) < 2:
        return Check("head is trained", None, loaded or "cannot be told without probabilities")
    spread = float(
        np.nanmax(np.nanmax(answers.probabilities, axis=0) - np.nanmin(answers.probabilities, axis=0))
    )
    if spread < ALIKE and len(set(expected)) == 1:
        return Check(
            "head is trained", None, f"cannot be told: {expected[0]} is the only label that is expected"
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
    given: Sequence[str],
    expected: Sequence[str],
    names: Sequence[str],
    order: Sequence[str] | None = None,
    *,
    fixed: bool = False,
) -> Check:
    """Whether another order of the model's labels would explain its answers far better.

    `order` has the same names in the model's order, where it has one. `fixed`: a prompt defines the labels, so that
    their order cannot be wrong.

    >>> label_order(["no"] * 12 + ["yes"] * 12, ["yes"] * 12 + ["no"] * 12, ["no", "yes"]).ok
    False
    """
    title = "label order"
    k = len(names)
    table = _confusion(given, expected, names)
    n = int(table.sum())
    if n < FEW or len(set(expected)) < 2:
        return Check(title, None, f"cannot be told: fewer than {FEW} labelled examples, or all of one label")
    right = int(np.trace(table))
    may_differ = not fixed and n >= ENOUGH and right / n <= 0.5
    best, meaning = _best_order(table, names) if may_differ else (right, {})
    # Two of three labels swapped leave a third right: at chance, not below it.
    suspect = best > right and (bdtr(right, n, 1 / k) < RARE or best / n >= 0.8)
    if suspect and _is_better(table, names, meaning) and _explained(table, names, meaning) >= EXPLAINED:
        changes = [f"{name} meant {meant}" for name, meant in meaning.items() if name != meant]
        return Check(
            title,
            False,
            f"likely wrong: {right} of {n} labelled examples right ({n / k:.0f} by chance), {best} if "
            f"{', '.join(changes)}. If so, give ?labels={','.join(meaning[name] for name in order or names)}",
        )
    if bdtrc(right - 1, n, 1 / k) >= RARE:
        bad = "; no other order would explain its answers" if suspect else ""
        return Check(
            title, None, f"cannot be told: {right} of {n} labelled examples right, {n / k:.0f} by chance{bad}"
        )
    return Check(title, True, f"{right} of {n} labelled examples right ({n / k:.0f} by chance)")


def _best_order(table: NDArray[np.int64], names: Sequence[str]) -> tuple[int, dict[str, str]]:
    """How many would be right if each label meant another, at the best, and what each would mean then."""
    # Loaded here: most audits never come to this point, and it takes a third of a second.
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(-table)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return int(table[rows, columns].sum()), {names[row]: names[column] for row, column in pairs}


def _is_better(table: NDArray[np.int64], names: Sequence[str], meaning: Mapping[str, str]) -> bool:
    """Whether labels of these meanings are right more often: exact sign test, corrected for the number of orders."""
    moved = [place for place, name in enumerate(names) if meaning[name] != name]
    losses = int(sum(table[place, place] for place in moved))
    gains = int(sum(table[place, list(names).index(meaning[names[place]])] for place in moved))
    orders = math.factorial(len(names)) - 1
    return bool(orders * bdtrc(gains - 1, gains + losses, 0.5) < RARE)


def _explained(table: NDArray[np.int64], names: Sequence[str], meaning: Mapping[str, str]) -> float:
    """How far labels of these meanings agree with what is expected, beyond what their frequencies do: Cohen's kappa.

    A model that calls nearly everything harmless is wrong on most cases of a suite full of harm, and under the other
    order right on most; either way its answers say nothing of the cases.
    """
    order = [list(names).index(meaning[name]) for name in names]
    turned = table[:, order]
    n = turned.sum()
    chance = float(turned.sum(0) @ turned.sum(1)) / n
    return float((np.trace(turned) - chance) / (n - chance)) if n > chance else 0.0


def _confusion(given: Sequence[str], expected: Sequence[str], names: Sequence[str]) -> NDArray[np.int64]:
    """How often (given, expected)."""
    table, places = np.zeros((len(names), len(names)), np.int64), {name: i for i, name in enumerate(names)}
    for (word, label), times in Counter(zip(given, expected, strict=True)).items():
        if word in places and label in places:
            table[places[word], places[label]] += times
    return table


def _stored_labels(answers: Answers, cases: Sequence[Case], labels: Sequence[str] | None) -> list[Check]:
    """Whether answers that were given before we could ask vary, and whether their labels are the suite's."""
    names = list(labels or answers.labels)
    words = _words(answers)
    given, expected, row = [], [], 0
    for case in cases:
        for offset, label in enumerate(case.labels or ()):
            name = _name(label, names)
            if case.groups.get("test type") == "MFT" and words[row + offset] and name in answers.labels:
                given.append(words[row + offset])
                expected.append(name)
        row += len(case.examples)
    return [_varied(words, expected), label_order(given, expected, answers.labels)]


def _pair_order(
    model: object, marked: Sequence[Labelled], given: Sequence[str], labels: Sequence[str] | None
) -> Check:
    """Whether the texts of a pair come in the order of the model's training, as far as their labels betray it."""
    title = "order of the texts in a pair"
    if not marked:
        return Check(title, None, "cannot be told: no labelled pairs")
    turned = _labels_given(model, [Labelled(mark.example[::-1], mark.label) for mark in marked], labels)
    as_is = [word == mark.label for word, mark in zip(given, marked, strict=True)]
    swapped = [word == mark.label for word, mark in zip(turned, marked, strict=True)]
    better = sum(a and not b for a, b in zip(as_is, swapped, strict=True))
    worse = sum(b and not a for a, b in zip(as_is, swapped, strict=True))
    counts = f"{sum(as_is)} of {len(marked)} right as given, {sum(swapped)} the other way round"
    if 2 * bdtr(min(better, worse), better + worse, 0.5) >= RARE:  # the exact sign test
        return Check(title, None, f"cannot be told: {counts}")
    if worse > better:
        return Check(title, False, f"likely wrong: {counts}")
    return Check(title, True, counts)


# Whether kept answers are still the model's


def still_says(
    model: object,
    kept: Sequence[Answer],
    examples: Mapping[str, Example],
    labels: Sequence[str] | None,
) -> Check:
    """Whether a model answers as it did when these rows were kept: a few of them are asked again.

    `examples` has the example of each id. Where nothing can be compared, nothing is asked and `ok` is None.
    """
    title = "answers as it did before"
    usable = [row for row in kept if not row.error and row.kind in ("label", "probabilities", "span")]
    chosen = sorted((row for row in usable if row.example_id in examples), key=lambda row: row.example_id)
    before = chosen[:: max(1, len(chosen) // AGAIN)][:AGAIN]
    if not before or isinstance(model, HasAnswered):
        return Check(title, None, "cannot be told: there is nothing to ask again")
    asked = [examples[row.example_id] for row in before]
    reading = before[0].kind == "span"
    after = answer_examples(model, asked, [row.example_id for row in before], labels, reading=reading)
    moved = 0.0
    for example, old, new in zip(asked, before, after, strict=True):
        if new.error:
            return Check(title, False, f"{_shown(example)} had an answer and is an error now: {new.error}")
        if _word(old) != _word(new):
            return Check(
                title, False, f"{_shown(example)} was {_word(old)!r} and is {_word(new)!r} now: {CHANGED}"
            )
        moved = max(moved, _apart(old, new))
    if moved > MOVED:
        return Check(title, False, f"a probability moved by {moved:.4f}: {CHANGED}")
    return Check(title, True, f"{len(before)} examples asked again, the same answers")


CHANGED = "the model has changed, or answers differently each time"


def _word(row: Answer) -> str:
    return span_text(row) if row.kind == "span" else str(row.data["label"])


def _apart(old: Answer, new: Answer) -> float:
    """How far the numbers of two answers are apart; infinitely if only one has any, or other names."""
    numbers = [_numbers(row) for row in (old, new)]
    if numbers[0].keys() != numbers[1].keys():
        return np.inf
    return max((abs(numbers[0][name] - numbers[1][name]) for name in numbers[0]), default=0.0)


def _numbers(row: Answer) -> Mapping[str, float]:
    if not isinstance(row.data, Mapping):
        return {}
    if "confidence" in row.data:
        return {"confidence": row.data["confidence"]}
    return row.data.get("probabilities") or {}
