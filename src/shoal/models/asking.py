"""Query a model batch by batch.

    cases ──► Questions ──► batches ──► Answer rows ──► Answers
              distinct      by length    stored as       columns, one row
              examples                   they arrive     per example of the cases

A batch that exceeds the memory is halved until it fits. An example on which the model raises becomes an error of its
own and does not affect the others.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ModelError
from ..core.records import Answer, Answers, Example
from .answer_rows import AnswerRows
from .batching import Questions, batch_plan
from .interface import Asked, Classifier, Extractor, HasTokens, StoredAnswers
from .validate import exception_text, validated


def ask_batches(
    ask: Callable[[Sequence[Example]], Sequence[Answer]],
    model: object,
    questions: Questions,
    plan: Sequence[Sequence[int]] | None = None,
    *,
    labels: bool = False,
) -> Iterator[Sequence[Answer]]:
    """Yield the answers of each batch of the plan, in order.

    With `labels`, models with `parallel_batches` compute several batches at a time.
    """

    def answer(batch: Sequence[int]) -> Sequence[Answer]:
        is_stored = isinstance(model, StoredAnswers)
        rows = ask(questions.examples if is_stored else [questions.examples[n] for n in batch])
        if is_stored and isinstance(rows, AnswerRows):
            return AnswerRows(rows.answers, questions.ids)
        return [replace(row, example_id=questions.ids[n]) for n, row in zip(batch, rows, strict=True)]

    batches = batch_plan(model, questions) if plan is None else plan
    parallel = getattr(model, "parallel_batches", 1) if labels else 1
    yield from map(answer, batches) if parallel < 2 else _in_threads(answer, batches, parallel)


def _in_threads(
    answer: Callable[[Sequence[int]], Sequence[Answer]], batches: Sequence[Sequence[int]], parallel: int
) -> Iterator[Sequence[Answer]]:
    """Yield the answers in order, computing several batches at a time with one core each.

    One core per batch makes the answers independent of the number of cores, and uses two cores better than splitting
    every batch between them.
    """
    from .checkpoint import libraries

    torch, _ = libraries()
    cores, waiting, left = torch.get_num_threads(), deque[Future[Sequence[Answer]]](), iter(batches)
    pool = ThreadPoolExecutor(parallel, "asking", torch.set_num_threads, (1,))
    try:
        waiting.extend(pool.submit(answer, batch) for batch in islice(left, 1))
        while waiting:
            rows = waiting.popleft().result()
            # The first batch runs alone because it loads the weights. After it, a queue keeps every core busy.
            waiting.extend(pool.submit(answer, batch) for batch in islice(left, 2 * parallel - len(waiting)))
            yield rows
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(cores)  # for threads that start later


def answer_batch(model: object, built: Asked, examples: Sequence[Example]) -> Sequence[Answer]:
    """Return labels or spans for one batch, truncated examples marked; stored answers come all at once, by case."""
    if isinstance(model, StoredAnswers):
        answers = model.answer_cases(built.cases, built.whole, built.labels)
        return AnswerRows(answers, [""] * len(answers.predictions))
    reading = built.asks == "spans"
    rows = list(
        AnswerRows(ask_examples(model, examples, built.labels, reading=reading), [""] * len(examples))
    )
    if isinstance(model, HasTokens) and not reading:
        for row, length in zip(rows, model.lengths(examples), strict=True):
            if length > model.longest and not row.error:
                row.data["cut"] = length - model.longest
    return rows


def ask_examples(
    model: object, examples: Sequence[Example], labels: Sequence[str] | None, *, reading: bool = False
) -> Answers:
    """Return the answers to some examples, labels or for `reading` texts; one that raises becomes an error."""
    if reading:
        if not isinstance(model, Extractor):
            raise ModelError(
                f"{model!r} cannot answer in words",
                why="the suite expects texts, not labels",
                fix="predictions:FILE, python:module:name, an LLM with prompt=, or hf:MODEL with a span extractor",
            )
        failed = Answers((), np.zeros(1, np.int64), texts=[""])
        extract = model.extract
        return _safely(lambda part: validated(extract(part), len(part), None, repr(model)), examples, failed)
    if not isinstance(model, Classifier):
        if hasattr(model, "refuse"):  # a model that a plan has yet to train
            raise model.refuse()
        raise ModelError(
            f"{model!r} cannot predict labels", fix="predictions:FILE, hf:MODEL or python:module:name"
        )
    return classify_safely(model, examples, labels)


def classify_safely(model: Classifier, examples: Sequence[Example], labels: Sequence[str] | None) -> Answers:
    """Return the labels of a batch; an example on which the model raises becomes an error."""

    def ask(part: Sequence[Example]) -> Answers:
        return validated(model.classify(part, labels), len(part), labels, repr(model))

    return _safely(ask, examples, Answers(tuple(labels or ("0", "1")), np.zeros(1, np.int64)))


def _safely(
    ask: Callable[[Sequence[Example]], Answers], examples: Sequence[Example], failed: Answers
) -> Answers:
    """Ask for all examples at once, by halves if memory runs out, one by one after any other exception."""
    try:
        return ask(examples)
    except ModelError:
        raise  # about the model, not about an example
    except Exception as problem:
        if len(examples) == 1:
            return replace(failed, errors={0: exception_text(problem)})
        size = (len(examples) + 1) // 2 if is_out_of_memory(problem) else 1
    # Outside the handler, so that the exception and the tensors that it holds are freed before the next try.
    parts = [examples[start : start + size] for start in range(0, len(examples), size)]
    return stack([_safely(ask, part, failed) for part in parts])


def is_out_of_memory(problem: BaseException) -> bool:
    """Return whether a smaller batch may help; does not import torch."""
    if isinstance(problem, MemoryError) or type(problem).__name__ == "OutOfMemoryError":
        return True
    phrases = ("out of memory", "allocate memory", "not enough memory")
    return isinstance(problem, RuntimeError) and any(phrase in str(problem).lower() for phrase in phrases)


def stack(parts: Sequence[Answers]) -> Answers:
    """Concatenate answers; a part without probabilities gets NaN."""
    labels = next((part.labels for part in parts if part.probabilities is not None), parts[0].labels)
    sizes = [len(part.predictions) for part in parts]
    starts = np.cumsum([0, *sizes[:-1]]).tolist()
    pairs = list(zip(starts, parts, strict=True))
    details = [row for part in parts for row in part.details or [{}] * len(part.predictions)]
    return Answers(
        labels,
        np.concatenate([part.predictions for part in parts]),
        _stacked([part.probabilities for part in parts], [(size, len(labels)) for size in sizes]),
        _stacked([part.confidences for part in parts], [(size,) for size in sizes]),
        [text for part in parts for text in part.texts],
        {start + row: message for start, part in pairs for row, message in part.errors.items()},
        details=details if any(details) else (),
    )


def _stacked(
    columns: Sequence[NDArray[np.float64] | None], shapes: Sequence[tuple[int, ...]]
) -> NDArray[np.float64] | None:
    if all(column is None for column in columns):
        return None
    pairs = zip(columns, shapes, strict=True)
    return np.concatenate([np.full(shape, np.nan) if column is None else column for column, shape in pairs])
