"""Check a model on a few examples before the first full run; takes a second or two.

Each check passes, fails, or cannot be decided. Checks that rest on labelled cases say "likely": a model may simply be
wrong on the suite.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress

import numpy as np
import scipy  # its parts are imported at their first use
from numpy.typing import NDArray

from ..core.case_table import CaseTable
from ..core.records import Answer, Answers, Case, Example, Label
from .answer_rows import answer_columns, take_rows
from .asking import ask_examples, stack
from .batching import distinct, example_id, is_reading
from .interface import RemoteModel, StoredAnswers
from .labels import respell
from .validate import check_numbers, number_labels

TOLERANCE = 1e-4
"""The largest change of a probability with the batch."""
BATCH, ALONE, LABELLED = 32, 16, 64
"""Examples in the first batch, asked alone, and with a known label."""
PAID_QUESTIONS = 12
"""Questions to a model behind an endpoint."""
RARE = 0.001
"""The p value below which a result is called likely wrong."""
EXPLAINED = 0.5
"""The least Cohen's kappa of another label order before shoal suggests it."""
MIN_FOR_ORDER = 20
"""The fewest labelled answers for suggesting another label order."""
MIN_EXAMPLES = 8
"""The fewest examples for any conclusion."""
ERROR_LENGTH = 200
REPEATED = 8
"""Examples to ask again when comparing a model with stored answers."""
MAX_DRIFT = 1e-3
"""The largest change of a probability between runs: other batches, other library versions."""

Labelled = tuple[Example, str]
"""An example and its expected label."""


@dataclass(frozen=True, slots=True)
class Check:
    """A check and its outcome; `ok` is None if it cannot be decided."""

    name: str
    ok: bool | None
    detail: str


def self_check(model: object, cases: Sequence[Case], labels: Sequence[str] | None) -> list[Check]:
    """Return checks of a model's answers to a few examples of the cases.

    A model that cannot be loaded, or with other labels than the suite's, raises as in a full run.
    """
    if not cases:
        return []
    if isinstance(model, RemoteModel):
        return _check_remote(model, cases, labels)
    reading = is_reading(cases)
    examples = sample(distinct(cases).examples, BATCH)
    answers = ask_examples(model, (examples * BATCH)[:BATCH], labels, reading=reading)
    answered = _check_answered(answers)
    if len(answers.errors) == len(answers.predictions):
        return [answered]
    batching = _check_batching(model, examples, answers, labels, reading)
    if reading:
        return [answered, batching]
    if labels is None:
        check_numbers(answers, number_labels(cases), repr(model))
    marked = labelled(cases, answers.labels, labels)
    expected = [label for _, label in marked]
    predicted = _words(ask_examples(model, [example for example, _ in marked], labels)) if marked else []
    words = dict(zip(examples, _words(answers), strict=False))
    words |= {example: word for (example, _), word in zip(marked, predicted, strict=True)}
    taken = answers.label_map
    order = tuple(taken.values()) if len(taken) == len(answers.labels) else answers.labels
    checks = [
        _check_names(answers, labels),
        answered,
        _check_varied(list(words.values()), expected),
        *_check_engine(model, examples, answers, labels),
        batching,
        check_label_order(predicted, expected, answers.labels, order, fixed=hasattr(model, "prompt")),
    ]
    if len(examples[0]) == 2:
        checks.append(_check_pair_order(model, marked, predicted, labels))
    return checks


def _check_remote(model: RemoteModel, cases: Sequence[Case], labels: Sequence[str] | None) -> list[Check]:
    """Return the checks that a few paid requests allow."""
    reading = is_reading(cases)
    marked = [] if reading or labels is None else labelled(cases, labels, labels, PAID_QUESTIONS)
    examples = [example for example, _ in marked] or sample(distinct(cases).examples, PAID_QUESTIONS)
    answers = ask_examples(model, examples, labels, reading=reading)
    checks = [Check("asked in mode", None, model.how), _check_answered(answers)]
    if reading or len(answers.errors) == len(examples):
        return checks
    checks.append(_check_names(answers, labels))
    if marked:
        expected = [label for _, label in marked]
        checks.append(check_label_order(_words(answers), expected, answers.labels, fixed=True))
    return checks


def check_answers(answers: Answers, cases: Sequence[Case], labels: Sequence[str] | None) -> list[Check]:
    """Return the checks of stored answers: whether they vary, and whether the label order is right."""
    if answers.texts:
        return []
    words = _words(answers)
    table = CaseTable.of(cases)
    columns = (table.group_values("test type"), table.labels, table.sizes.tolist())
    names = {kind: _expected(*kind, labels or answers.labels) for kind in set(zip(*columns, strict=True))}
    expected = list(chain.from_iterable(map(names.__getitem__, zip(*columns, strict=True))))
    marked = [bool(word) and label in answers.labels for word, label in zip(words, expected, strict=True)]
    predicted, right = list(compress(words, marked)), list(compress(expected, marked))
    return [_check_varied(words, right), check_label_order(predicted, right, answers.labels)]


def sample(examples: Sequence[Example], size: int) -> list[Example]:
    """Return some examples, from the longest to the shortest, whatever their order."""
    order = sorted(examples, key=lambda example: (-sum(map(len, example)), example))
    chosen = np.linspace(0, len(order) - 1, min(size, len(order))).round().astype(int)
    return [order[place] for place in chosen]


def labelled(
    cases: Sequence[Case], known: Sequence[str], labels: Sequence[str] | None, at_most: int = LABELLED
) -> list[Labelled]:
    """Return examples of minimum functionality tests with a label that the model knows, balanced over labels."""
    by_label: dict[str, dict[Example, None]] = {name: {} for name in known}
    for case in cases:
        names = _expected(case.groups.get("test type"), case.labels, len(case.examples), labels or known)
        for example, label in zip(case.examples, names, strict=True):
            if label in by_label:
                by_label[label][example] = None
    each = at_most // max(1, len(known))
    # Ordered by a hash of the text, so that neither the first functionality nor the shortest texts prevail.
    chosen = {name: sorted(examples, key=example_id)[:each] for name, examples in by_label.items()}
    return [(example, name) for name, examples in chosen.items() for example in examples]


def _expected(
    test_type: str | None, labels: tuple[Label, ...] | None, size: int, names: Sequence[str]
) -> list[str]:
    """Return the expected label of each example of a minimum functionality test, "" in other cases."""
    labels = labels or () if test_type == "MFT" else ()
    known = {str(number): name for number, name in enumerate(names)} | {name: name for name in names}
    expected = [known.get(str(label), str(label)) for label in labels]
    return [*expected, *[""] * size][:size]


def _words(answers: Answers, *, errors: bool = False) -> list[str]:
    """Return the answers as words; for errors "", or with `errors` their message."""
    words = list(answers.texts or [answers.labels[code] for code in answers.predictions.tolist()])
    for row, message in answers.errors.items():
        words[row] = f"an error ({message})" if errors else ""
    return words


# Single checks


def _check_names(answers: Answers, labels: Sequence[str] | None) -> Check:
    if labels is None:
        names = ", ".join(answers.label_map or answers.labels)
        return Check("label names", None, f"the suite has no label names; the model's are {names}")
    taken = answers.label_map or dict(zip(answers.labels, respell(answers.labels, labels), strict=True))
    pairs = [f"{name} is {theirs}" for name, theirs in taken.items()]
    absent = [label for label in labels if label not in answers.labels]
    between = f"; {', '.join(absent)}: between the two" if absent else ""
    return Check("label names", True, ", ".join(pairs) + between)


def _check_answered(answers: Answers) -> Check:
    title, n, failed = "every example is answered", len(answers.predictions), len(answers.errors)
    if not failed:
        return Check(title, True, f"{n} of {n}")
    first = answers.errors[min(answers.errors)][:ERROR_LENGTH]
    if failed == n:
        return Check(title, False, f"the model answers none of {n}: {first}")
    return Check(title, False, f"{failed} of {n} have no answer, such as: {first}")


def _check_varied(words: Sequence[str], expected: Sequence[str]) -> Check:
    """Check for a constant answer, which passes every invariance test."""
    title = "not the same label for everything"
    answered = [word for word in words if word]
    if len(answered) < MIN_EXAMPLES:
        return Check(title, None, f"undecided: fewer than {MIN_EXAMPLES} examples")
    if len(set(answered)) > 1:
        return Check(title, True, f"{len(set(answered))} labels over {len(answered):,} examples")
    if len(set(expected)) == 1:
        return Check(title, None, f"undecided: {expected[0]} is the only expected label")
    return Check(title, False, f"predicts {answered[0]} for all {len(answered):,} examples")


def _check_engine(
    model: object, examples: Sequence[Example], answers: Answers, labels: Sequence[str] | None
) -> list[Check]:
    original = model.eager() if hasattr(model, "eager") else None
    if original is None:
        return []
    changed, moved = _difference(examples, answers, ask_examples(original, examples, labels))
    title = "converted model agrees with the original"
    return [Check(title, moved <= TOLERANCE, changed or f"probabilities within {moved:.1e}")]


def _check_batching(
    model: object, examples: Sequence[Example], batched: Answers, labels: Sequence[str] | None, reading: bool
) -> Check:
    """Compare answers to the same examples alone and in a batch of 32 of different lengths."""
    rows = range(0, len(examples), max(1, len(examples) // ALONE))[:ALONE]
    few = [examples[row] for row in rows]
    alone = stack([ask_examples(model, [example], labels, reading=reading) for example in few])
    changed, moved = _difference(few, alone, take_rows(batched, rows))
    detail = changed or f"{len(few)} examples; probabilities within {moved:.1e}"
    return Check("same answer in every batch", moved <= TOLERANCE, detail)


def _difference(examples: Sequence[Example], first: Answers, second: Answers) -> tuple[str, float]:
    """Return an example with another answer, and the largest change of a probability or confidence.

    The change is infinite if there is such an example, or if only one of both has probabilities.
    """
    words = zip(_words(first, errors=True), _words(second, errors=True), strict=False)
    for example, (before, after) in zip(examples, words, strict=False):
        if before != after:
            return f"{' | '.join(example)[:60]!r}: first {before}, then {after}", np.inf
    moved = 0.0
    for old, new in ((first.probabilities, second.probabilities), (first.confidences, second.confidences)):
        if old is not None and new is not None and old.shape[1:] == new.shape[1:]:
            n = len(examples)
            moved = max(moved, float(np.nanmax(np.abs(old[:n] - new[:n]), initial=0.0)))
        elif old is not None or new is not None:
            return "probabilities came only once, or of other labels", np.inf
    return "", moved


# Label order


def check_label_order(
    predicted: Sequence[str],
    expected: Sequence[str],
    names: Sequence[str],
    order: Sequence[str] | None = None,
    *,
    fixed: bool = False,
) -> Check:
    """Check whether another order of the model's labels would explain its answers far better.

    `order` has the names in the model's order, if it has one. `fixed`: a prompt defines the labels, so their order
    cannot be wrong.

    >>> check_label_order(["no"] * 12 + ["yes"] * 12, ["yes"] * 12 + ["no"] * 12, ["no", "yes"]).ok
    False
    """
    title, k = "label order", len(names)
    table = _confusion(predicted, expected, names)
    n, right = int(table.sum()), int(np.trace(table))
    if n < MIN_EXAMPLES or len(set(expected)) < 2:
        problem = f"undecided: fewer than {MIN_EXAMPLES} labelled examples, or only one label"
        return Check(title, None, problem)
    counts = f"{right} of {n} labelled examples right ({n / k:.0f} by chance)"
    meaning = [] if fixed or n < MIN_FOR_ORDER or right / n > 0.5 else _better_order(table)
    if meaning:
        changes = [f"{names[at]} meant {names[meant]}" for at, meant in enumerate(meaning) if at != meant]
        suggested = ",".join(names[meaning[list(names).index(name)]] for name in order or names)
        best = int(table[range(k), meaning].sum())
        # A model that ignores negation looks the same on a suite of negations: this is no proof.
        detail = (
            f"possibly wrong: {counts}, {best} if {', '.join(changes)}. A model that ignores negation looks the same. "
            f"Set ?labels={suggested} only if the model's documentation says so"
        )
        return Check(title, False, detail)
    if scipy.special.bdtrc(right - 1, n, 1 / k) >= RARE:
        return Check(title, None, f"undecided: {counts}")
    return Check(title, True, counts)


def _better_order(table: NDArray[np.int64]) -> list[int]:
    """Return the label that each label means in the best order, if that explains the answers far better.

    An exact sign test, corrected for the number of orders, compares the two orders. Cohen's kappa must be high too: a
    model that calls nearly everything harmless is wrong on most cases of a hate-speech suite, and right on most with
    swapped labels, but its answers hardly depend on the cases.
    """
    meaning = np.asarray(scipy.optimize.linear_sum_assignment(-table)[1])
    moved = np.flatnonzero(meaning != np.arange(len(table)))
    losses, gains = int(table[moved, moved].sum()), int(table[moved, meaning[moved]].sum())
    orders = math.factorial(len(table)) - 1
    relabelled, n = table[:, meaning], table.sum()
    chance = float(relabelled.sum(0) @ relabelled.sum(1)) / n
    kappa = (np.trace(relabelled) - chance) / (n - chance) if n > chance else 0.0
    is_better = orders * scipy.special.bdtrc(gains - 1, gains + losses, 0.5) < RARE and kappa >= EXPLAINED
    return meaning.tolist() if is_better else []


def _confusion(predicted: Sequence[str], expected: Sequence[str], names: Sequence[str]) -> NDArray[np.int64]:
    table, places = np.zeros((len(names), len(names)), np.int64), {name: i for i, name in enumerate(names)}
    for (word, label), times in Counter(zip(predicted, expected, strict=True)).items():
        if word in places and label in places:
            table[places[word], places[label]] += times
    return table


def _check_pair_order(
    model: object, marked: Sequence[Labelled], predicted: Sequence[str], labels: Sequence[str] | None
) -> Check:
    """Check whether swapping the two texts of a pair makes more predictions right."""
    title = "order of the texts in a pair"
    if not marked:
        return Check(title, None, "undecided: no labelled pairs")
    turned = _words(ask_examples(model, [example[::-1] for example, _ in marked], labels))
    expected = np.array([label for _, label in marked])
    as_is, swapped = np.array(predicted) == expected, np.array(turned) == expected
    better, worse = int((as_is & ~swapped).sum()), int((swapped & ~as_is).sum())
    counts = f"{as_is.sum()} of {len(marked)} right as given, {swapped.sum()} swapped"
    if 2 * scipy.special.bdtr(min(better, worse), better + worse, 0.5) >= RARE:  # exact sign test
        return Check(title, None, f"undecided: {counts}")
    return Check(title, False, f"likely wrong: {counts}") if worse > better else Check(title, True, counts)


# Comparison with stored answers


def answers_match(
    model: object,
    stored: Sequence[Answer],
    examples: Mapping[str, Example],
    labels: Sequence[str] | None,
) -> Check:
    """Ask a model some stored questions again and compare the answers.

    `examples` has the example of each id. Without anything to compare, `ok` is None and the model is not queried.
    """
    title = "same answers as stored"
    usable = [row for row in stored if not row.error and row.kind in ("label", "probabilities", "span")]
    chosen = sorted((row for row in usable if row.example_id in examples), key=lambda row: row.example_id)
    before = chosen[:: max(1, len(chosen) // REPEATED)][:REPEATED]
    if not before or isinstance(model, StoredAnswers):
        return Check(title, None, "undecided: nothing to compare")
    asked = [examples[row.example_id] for row in before]
    after = ask_examples(model, asked, labels, reading=before[0].kind == "span")
    changed, moved = _difference(asked, answer_columns(before, labels), after)
    if moved <= MAX_DRIFT:
        return Check(title, True, f"{len(before)} examples asked again, same answers")
    detail = changed or f"a probability moved by {moved:.4f}"
    return Check(title, False, f"{detail}: the model has changed, or its answers are not deterministic")
