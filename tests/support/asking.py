"""Asking a model about cases that a test has made, by the steps that every job takes."""

from collections.abc import Sequence

from shoal.core.records import Answers, Case
from shoal.models.answer_rows import answers_by_mark
from shoal.models.asking import answer_batch, ask_batches
from shoal.models.batching import make_questions
from shoal.protocols.base import Built


def built_of(cases: Sequence[Case], labels: Sequence[str] | None, whole: Sequence[Case] = ()) -> Built:
    """Cases as a protocol would build them."""
    reading = bool(cases and cases[0].meta.get("reading"))
    names = None if labels is None else tuple(labels)
    return Built(cases, names, "spans" if reading else "labels", chosen_from=whole)


def ask_cases(
    model: object, cases: Sequence[Case], whole: Sequence[Case], labels: Sequence[str] | None
) -> Answers:
    """The answers of any model to every example of the cases, in order."""
    built, questions = built_of(cases, labels, whole), make_questions(model, cases)
    batches = ask_batches(lambda examples: answer_batch(model, built, examples), model, questions)
    answers = answers_by_mark([row for batch in batches for row in batch], questions, built)[""]
    assert isinstance(answers, Answers)
    return answers
