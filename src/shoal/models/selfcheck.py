"""Check a model on a few examples before the first full run; takes a second or two.

Each check passes, fails, or cannot be decided. Checks that rest on labelled cases say "likely": a model may simply be
wrong on the suite.
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
from .answer_rows import answer_columns, span_text
from .asking import answer_examples, classify_safely
from .batching import distinct, example_id, is_reading
from .interface import Classifier, RemoteModel, StoredAnswers
from .labels import respell
from .validate import check_numbers, number_labels

TOLERANCE = 1e-4
"""The largest change of a probability with the batch."""
BATCH, ALONE, WITH_LONG, LABELLED = 32, 16, 8, 64
"""Examples in the first batch, asked alone, asked with a long example, and with a known label."""
PAID_QUESTIONS = 12
"""Questions to a model behind an endpoint."""
LONG_TEXT = 500
"""Characters of an example that makes others be padded."""
MIN_SPREAD = 0.1
"""An untrained head moves no probability by more over all examples."""
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


@dataclass(frozen=True, slots=True)
class Check:
    """A check and its outcome; `ok` is None if it cannot be decided."""

    name: str
    ok: bool | None
    detail: str


@dataclass(frozen=True, slots=True)
class Labelled:
    """An example and its expected label."""

    example: Example
    label: str


def self_check(
    model: object, cases: Sequence[Case], labels: Sequence[str] | None, whole: Sequence[Case] | None = None
) -> list[Check]:
    """Return checks of a model's answers to a few examples of the cases.

    Stored answers get only the checks without queries. A model that cannot be loaded, or with other labels than the
    suite's, raises as in a full run.
    """
    if isinstance(model, StoredAnswers):
        return check_answers(model.answer_cases(cases, whole or cases, labels), cases, labels)
    if not cases:
        return []
    if isinstance(model, RemoteModel):
        return _check_remote(model, cases, labels)
    reading = is_reading(cases)
    examples = sample(distinct(cases).examples, BATCH)
    answers = _ask(model, (examples * BATCH)[:BATCH], labels, reading)
    if len(answers.errors) == len(answers.predictions):
        return [_check_answered(answers)]
    if reading:
        return [_check_answered(answers), _check_batching(model, examples, answers, None, reading)]
    if labels is None:
        check_numbers(answers, number_labels(cases), repr(model))
    marked = labelled(cases, answers.labels, labels)
    expected = [mark.label for mark in marked]
    predicted = _predictions(model, marked, labels) if marked else []
    words = dict(zip(examples, _words(answers), strict=False))
    words |= dict(zip((mark.example for mark in marked), predicted, strict=True))
    taken = answers.label_map
    order = tuple(taken.values()) if len(taken) == len(answers.labels) else answers.labels
    checks = [
        _check_names(answers, labels),
        _check_answered(answers),
        *_check_late_reads(model),
        _check_head(model, answers, expected),
        _check_varied(list(words.values()), expected),
        *_check_engine(model, examples, answers, labels),
        _check_batching(model, examples, answers, labels, reading),
        check_label_order(predicted, expected, answers.labels, order, fixed=hasattr(model, "prompt")),
    ]
    if len(examples[0]) == 2:
        checks.append(_check_pair_order(model, marked, predicted, labels))
    return checks


def _check_remote(model: RemoteModel, cases: Sequence[Case], labels: Sequence[str] | None) -> list[Check]:
    """Return the checks that a few paid requests allow."""
    reading = is_reading(cases)
    marked = [] if reading or labels is None else labelled(cases, labels, labels, PAID_QUESTIONS)
    examples = [mark.example for mark in marked] or sample(distinct(cases).examples, PAID_QUESTIONS)
    answers = _ask(model, examples, labels, reading)
    checks = [Check("asked in mode", None, model.how), _check_answered(answers)]
    if reading or len(answers.errors) == len(examples):
        return checks
    words, expected = _words(answers), [mark.label for mark in marked]
    order = [check_label_order(words, expected, answers.labels, fixed=True)] if marked else []
    return [*checks, _check_names(answers, labels), *order]


def check_answers(answers: Answers, cases: Sequence[Case], labels: Sequence[str] | None) -> list[Check]:
    """Return the checks of stored answers: whether they vary, and whether the label order is right."""
    if answers.texts:
        return []
    names = list(labels or answers.labels)
    words = _words(answers)
    predicted, expected, row = [], [], 0
    for case in cases:
        for offset, label in enumerate(case.labels or ()):
            name = _label_name(label, names)
            if case.groups.get("test type") == "MFT" and words[row + offset] and name in answers.labels:
                predicted.append(words[row + offset])
                expected.append(name)
        row += len(case.examples)
    return [_check_varied(words, expected), check_label_order(predicted, expected, answers.labels)]


def sample(examples: Sequence[Example], size: int) -> list[Example]:
    """Return some examples, from the longest to the shortest, whatever their order."""
    order = sorted(examples, key=lambda example: (-sum(map(len, example)), example))
    chosen = np.linspace(0, len(order) - 1, min(size, len(order))).round().astype(int)
    return [order[place] for place in chosen]


def labelled(
    cases: Sequence[Case], known: Sequence[str], labels: Sequence[str] | None, at_most: int = LABELLED
) -> list[Labelled]:
    """Return examples of minimum functionality tests with a label that the model knows, balanced over labels."""
    names = list(labels or known)
    by_label: dict[str, dict[Example, None]] = {name: {} for name in known}
    for case in cases:
        if case.groups.get("test type") == "MFT":
            for example, label in zip(case.examples, case.labels or (), strict=False):
                name = _label_name(label, names)
                if name in by_label:
                    by_label[name][example] = None
    each = at_most // max(1, len(known))
    # Ordered by a hash of the text, so that neither the first functionality nor the shortest texts prevail.
    chosen = {name: sorted(examples, key=example_id)[:each] for name, examples in by_label.items()}
    return [Labelled(example, name) for name, examples in chosen.items() for example in examples]


def _label_name(label: int | str, names: Sequence[str]) -> str:
    word = str(label)
    if word.isdigit() and word not in names:
        return names[int(word)] if int(word) < len(names) else word
    return word


def _ask(
    model: object, examples: Sequence[Example], labels: Sequence[str] | None, reading: bool = False
) -> Answers:
    if isinstance(model, Classifier) and not reading:
        return classify_safely(model, examples, labels)
    ids = [str(row) for row in range(len(examples))]
    return answer_columns(answer_examples(model, examples, ids, labels, reading=reading), labels)


def _predictions(model: object, marked: Sequence[Labelled], labels: Sequence[str] | None) -> list[str]:
    """Return the predicted label of each example, "" for errors."""
    words: list[str] = []
    for start in range(0, len(marked), BATCH):
        words += _words(_ask(model, [mark.example for mark in marked[start : start + BATCH]], labels))
    return words


def _words(answers: Answers) -> list[str]:
    """Return the answers as words, "" for errors."""
    return ["" if row in answers.errors else _word(answers, row) for row in range(len(answers.predictions))]


def _word(answers: Answers, row: int) -> str:
    return answers.texts[row] if answers.texts else answers.labels[answers.predictions[row]]


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


def _check_late_reads(model: object) -> list[Check]:
    """Report files that a `python:` model opens only on a request: the fingerprint does not include them."""
    late = [path.name for path in getattr(model, "late_reads", ())]
    if not late or getattr(model, "version", None) is not None:
        return []
    detail = f"the first request opened {some(late, 3)}: shoal will not notice changes of it. Open it when the module "
    return [Check("known by what it reads", False, detail + "is imported, or set ?version=")]


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


def _check_head(model: object, answers: Answers, expected: Sequence[str]) -> Check:
    """Check for an untrained head, whose probabilities hardly move."""
    title = "head is trained"
    loaded = "every weight is from the checkpoint" if hasattr(model, "checkpoint") else ""
    if answers.probabilities is None or len(answers.predictions) < 2:
        return Check(title, None, loaded or "undecided without probabilities")
    spread = float(
        np.nanmax(np.nanmax(answers.probabilities, axis=0) - np.nanmin(answers.probabilities, axis=0))
    )
    if spread < MIN_SPREAD and len(set(expected)) == 1:
        return Check(title, None, f"undecided: {expected[0]} is the only expected label")
    if spread < MIN_SPREAD:
        n = len(answers.predictions)
        return Check(
            title, False, f"likely not: over {n} examples no probability moves by more than {spread:.3f}"
        )
    detail = f"probabilities move by up to {spread:.2f}"
    return Check(title, True, f"{loaded}; {detail}" if loaded else detail)


def _check_engine(
    model: object, examples: Sequence[Example], answers: Answers, labels: Sequence[str] | None
) -> list[Check]:
    """Compare a converted model with the original."""
    original = model.eager() if hasattr(model, "eager") else None
    if original is None or answers.probabilities is None:
        return []
    wanted = _ask(original, examples, labels, False)
    assert wanted.probabilities is not None
    n = len(examples)
    difference = float(np.nanmax(np.abs(answers.probabilities[:n] - wanted.probabilities)))
    same = int((answers.predictions[:n] == wanted.predictions).sum())
    detail = f"{same} of {n} labels the same, probabilities within {difference:.1e}"
    return [Check("converted model agrees with the original", same == n and difference <= TOLERANCE, detail)]


def _check_batching(
    model: object, examples: Sequence[Example], batched: Answers, labels: Sequence[str] | None, reading: bool
) -> Check:
    """Compare answers to the same examples alone, in a batch of 32, and padded by a long example."""
    rows = list(range(len(examples)))[:: max(1, len(examples) // ALONE)][:ALONE]
    few = [examples[row] for row in rows]
    alone = [_ask(model, [example], labels, reading) for example in few]
    check = _same_answers(few, alone, batched, rows)
    if not check.ok:
        return check
    last = few[-WITH_LONG:]
    with_long = _ask(model, [*last, _lengthened(few[0])], labels, reading)
    padded = _same_answers(last, alone[-WITH_LONG:], with_long, range(WITH_LONG))
    return check if padded.ok else padded


def _lengthened(example: Example) -> Example:
    """Return an example that makes all others be padded."""
    first = example[0] or "word"
    times = max(2, LONG_TEXT // len(first))
    return ((first + " ") * times if len(first) < LONG_TEXT else first + " " + first[:200], *example[1:])


def _same_answers(
    examples: Sequence[Example], alone: Sequence[Answers], other: Answers, rows: Sequence[int]
) -> Check:
    """Compare each example's answer alone with its row of the other answers."""
    name = "same answer in every batch"
    moved = 0.0
    for example, single, row in zip(examples, alone, rows, strict=False):
        if 0 in single.errors or row in other.errors:
            if (0 in single.errors) != (row in other.errors):
                return Check(name, False, f"{_shown(example)} is an error in only one of them")
            continue
        before, after = _word(single, 0), _word(other, row)
        if single.probabilities is not None and other.probabilities is not None:
            moved = max(moved, float(np.abs(single.probabilities[0] - other.probabilities[row]).max()))
        if before != after:
            return Check(name, False, f"{_shown(example)} is {before!r} alone and {after!r} in the batch")
    within = "" if other.probabilities is None else f"; probabilities within {moved:.1e}"
    return Check(name, moved <= TOLERANCE, f"{len(examples)} examples{within}")


def _shown(example: Example) -> str:
    text = " | ".join(example)
    return repr(text if len(text) <= 60 else text[:57] + "...")


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
        return Check(
            title, None, f"undecided: fewer than {MIN_EXAMPLES} labelled examples, or only one label"
        )
    may_differ = not fixed and n >= MIN_FOR_ORDER and right / n <= 0.5
    best, meaning = _best_order(table, names) if may_differ else (right, {})
    # Swapping two of three labels leaves a third right: at chance, not below it.
    suspect = best > right and (bdtr(right, n, 1 / k) < RARE or best / n >= 0.8)
    if suspect and _is_better(table, names, meaning) and _kappa(table, names, meaning) >= EXPLAINED:
        changes = [f"{name} meant {meant}" for name, meant in meaning.items() if name != meant]
        return Check(
            title,
            False,
            f"likely wrong: {right} of {n} labelled examples right ({n / k:.0f} by chance), {best} if "
            f"{', '.join(changes)}. If so, set ?labels={','.join(meaning[name] for name in order or names)}",
        )
    counts = f"{right} of {n} labelled examples right"
    if bdtrc(right - 1, n, 1 / k) >= RARE:
        note = "; no other order explains its answers" if suspect else ""
        return Check(title, None, f"undecided: {counts}, {n / k:.0f} by chance{note}")
    return Check(title, True, f"{counts} ({n / k:.0f} by chance)")


def _best_order(table: NDArray[np.int64], names: Sequence[str]) -> tuple[int, dict[str, str]]:
    """Return the most examples that some relabelling gets right, and that relabelling."""
    # Imported here: it takes a third of a second, and most audits do not need it.
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(-table)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return int(table[rows, columns].sum()), {names[row]: names[column] for row, column in pairs}


def _is_better(table: NDArray[np.int64], names: Sequence[str], meaning: Mapping[str, str]) -> bool:
    """Test whether a relabelling is right more often: exact sign test, corrected for the number of orders."""
    moved = [place for place, name in enumerate(names) if meaning[name] != name]
    losses = int(sum(table[place, place] for place in moved))
    gains = int(sum(table[place, list(names).index(meaning[names[place]])] for place in moved))
    orders = math.factorial(len(names)) - 1
    return bool(orders * bdtrc(gains - 1, gains + losses, 0.5) < RARE)


def _kappa(table: NDArray[np.int64], names: Sequence[str], meaning: Mapping[str, str]) -> float:
    """Return Cohen's kappa of the relabelled answers.

    A model that calls nearly everything harmless is wrong on most cases of a hate-speech suite, and right on most with
    swapped labels. In both cases its answers hardly depend on the cases: kappa is low.
    """
    order = [list(names).index(meaning[name]) for name in names]
    relabelled = table[:, order]
    n = relabelled.sum()
    chance = float(relabelled.sum(0) @ relabelled.sum(1)) / n
    return float((np.trace(relabelled) - chance) / (n - chance)) if n > chance else 0.0


def _confusion(predicted: Sequence[str], expected: Sequence[str], names: Sequence[str]) -> NDArray[np.int64]:
    """Return the counts of (predicted, expected)."""
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
    turned = _predictions(model, [Labelled(mark.example[::-1], mark.label) for mark in marked], labels)
    as_is = [word == mark.label for word, mark in zip(predicted, marked, strict=True)]
    swapped = [word == mark.label for word, mark in zip(turned, marked, strict=True)]
    better = sum(a and not b for a, b in zip(as_is, swapped, strict=True))
    worse = sum(b and not a for a, b in zip(as_is, swapped, strict=True))
    counts = f"{sum(as_is)} of {len(marked)} right as given, {sum(swapped)} swapped"
    if 2 * bdtr(min(better, worse), better + worse, 0.5) >= RARE:  # exact sign test
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
    reading = before[0].kind == "span"
    after = answer_examples(model, asked, [row.example_id for row in before], labels, reading=reading)
    changed = "the model has changed, or its answers are not deterministic"
    moved = 0.0
    for example, old, new in zip(asked, before, after, strict=True):
        if new.error:
            return Check(title, False, f"{_shown(example)} had an answer and is now an error: {new.error}")
        first, second = (
            span_text(row) if row.kind == "span" else str(row.data["label"]) for row in (old, new)
        )
        if first != second:
            return Check(title, False, f"{_shown(example)}: stored {first!r}, now {second!r}: {changed}")
        moved = max(moved, _difference(_numbers(old), _numbers(new)))
    if moved > MAX_DRIFT:
        return Check(title, False, f"a probability moved by {moved:.4f}: {changed}")
    return Check(title, True, f"{len(before)} examples asked again, same answers")


def _difference(old: Mapping[str, float], new: Mapping[str, float]) -> float:
    """Return the largest difference of two sets of numbers; infinite if their names differ."""
    if old.keys() != new.keys():
        return np.inf
    return max((abs(old[name] - new[name]) for name in old), default=0.0)


def _numbers(row: Answer) -> Mapping[str, float]:
    if not isinstance(row.data, Mapping):
        return {}
    if "confidence" in row.data:
        return {"confidence": row.data["confidence"]}
    return row.data.get("probabilities") or {}
