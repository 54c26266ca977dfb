"""What came of each example, put together into the answers that every model gives."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...core.errors import ModelError, some
from ...core.records import Answers
from ..answer_rows import NO_ANSWER
from ..labels import extreme_labels, in_suite_order, matches, respell
from .likelihood import Floats
from .prompt import Prompt

AROUND = " \t\r\n\f\v\u00a0\"'`“”‘’«»*_"
"""White space, quotes and markdown emphasis."""
LONGEST = 20
"""Words of an answer in which a verbaliser may stand anywhere."""
DENIALS = ("not", "no", "never", "neither", "nor")
BEFORE = 3
"""How many words before a verbaliser may deny it."""
AFTER_A_LETTER = ".,:)"
THOUGHT, THINKING = "</think>", "<think>"
SHOWN = 60
"""Letters of what was said, in an error; the whole is kept beside it."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said of one example."""

    label: int | None = None
    """Its place among the prompt's labels."""
    probabilities: Floats | None = None
    text: str = ""
    """In reading comprehension."""
    error: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What is kept beside the answer: what was said in full, the mass of the labels, flags."""


def no_answer(why: str, **details: Any) -> Reply:
    """Asked, and not answered: an error that is counted and never dropped."""
    return Reply(error=f"{NO_ANSWER}: {why}", details={**details, NO_ANSWER: why})


def spoken(said: str, prompt: Prompt, **details: Any) -> Reply:
    """A reply in words, as a label or as the answer to a question."""
    kept = {"said": said, **details}
    answer = without_thinking(said)
    if answer is None:
        return no_answer("the thinking never ended", **kept)
    if prompt.task == "reading":
        return Reply(text=_read(answer, prompt), details=kept)
    label = parse(answer, prompt.verbalisers)
    if label is None:
        shown = answer.strip() if len(answer) <= SHOWN else f"{answer.strip()[:SHOWN]}…"
        return no_answer(f"{shown!r} is none of {', '.join(prompt.verbalisers)}", **kept)
    return Reply(label, details=kept)


def _read(answer: str, prompt: Prompt) -> str:
    """The first line; nothing where the model says, as it was told to, that there is no answer."""
    first = (answer.strip().splitlines() or [""])[0].strip()
    told = prompt.unanswerable
    return "" if told and stripped(first).casefold() == stripped(told).casefold() else first


def to_answers(replies: Sequence[Reply], prompt: Prompt, labels: Sequence[str] | None, who: str) -> Answers:
    """Replies in columns, under the suite's names of the labels and in its order."""
    errors = {row: reply.error for row, reply in enumerate(replies) if reply.error}
    details = [reply.details for reply in replies]
    if prompt.task == "reading":
        texts = [reply.text for reply in replies]
        return Answers((), np.zeros(len(replies), np.int64), texts=texts, errors=errors, details=details)
    theirs = _suite_names(prompt, labels, who)
    names = in_suite_order(theirs, labels)
    codes = [names.index(theirs[reply.label]) if reply.label is not None else 0 for reply in replies]
    probabilities = None
    if any(reply.probabilities is not None for reply in replies):
        nothing = np.full(len(theirs), np.nan)
        rows = [nothing if reply.probabilities is None else reply.probabilities for reply in replies]
        probabilities = np.array(rows)[:, [theirs.index(name) for name in names]]
    return Answers(
        tuple(names),
        np.array(codes, np.int64),
        probabilities,
        errors=errors,
        label_map=dict(zip(prompt.verbalisers, theirs, strict=True)),
        band=tuple(names) == extreme_labels(labels or ()),
        details=details,
    )


def _suite_names(prompt: Prompt, labels: Sequence[str] | None, who: str) -> tuple[str, ...]:
    """The suite's name of each of the prompt's labels."""
    theirs = respell(tuple(prompt.labels), labels) if labels else tuple(prompt.labels)
    if labels and not matches(theirs, labels):
        raise ModelError(
            f"{who}: the labels of prompt {prompt.name} are {some(prompt.labels)}; the suite's are {some(labels)}",
            fix="a prompt of your own whose [labels] are the suite's, each with what the model is to say",
        )
    return theirs


def check_task(prompt: Prompt, who: str, *, reading: bool) -> None:
    """Words are asked for by a prompt for reading, labels by another."""
    if (prompt.task == "reading") != reading:
        raise ModelError(
            f"{who}: prompt {prompt.name} is for {prompt.task}",
            why="the suite is one of reading comprehension" if reading else "the suite wants labels",
            fix='a prompt with task = "reading"'
            if reading
            else 'a prompt with task = "text" or "pair", and [labels]',
        )


# Parsing


def parse(said: str, verbalisers: Sequence[str]) -> int | None:
    """Which of the verbalisers was said; None for no answer.

    >>> [parse(said, ("positive", "negative")) for said in ("**Positive.**", "I'd say negative", "not positive")]
    [0, 1, None]
    """
    bare = stripped(said)
    long = sorted((v.casefold(), at) for at, v in enumerate(verbalisers) if len(v) > 1)
    long.sort(key=lambda pair: -len(pair[0]))
    letters = [(v, at) for at, v in enumerate(verbalisers) if len(v) == 1]
    text = bare.casefold()
    for word, at in long:
        if text == word or (text.startswith(word) and not text[len(word)].isalnum()):
            return at
    for letter, at in letters:
        if bare == letter or (bare.startswith(letter) and bare[1] in AFTER_A_LETTER):
            return at
    if len(text.split()) > LONGEST:
        return None
    found = list(_occurrences(text, long))
    denied = any(_is_denied(text[:start]) for start, _ in found)
    meant = {at for _, at in found}
    return meant.pop() if len(meant) == 1 and not denied else None


def stripped(said: str) -> str:
    """Without what stands around an answer and says nothing."""
    while True:
        bare = said.strip(AROUND)
        bare = bare.removesuffix(".")
        if bare == said:
            return bare
        said = bare


def without_thinking(said: str) -> str | None:
    """What was said behind the thinking; None where that never ended.

    >>> without_thinking("<think>Bad? No.</think> positive"), without_thinking("<think>Well,")
    (' positive', None)
    """
    if THOUGHT in said:
        return said.rpartition(THOUGHT)[2]
    return None if THINKING in said else said


def _occurrences(text: str, longest_first: Sequence[tuple[str, int]]) -> Iterator[tuple[int, int]]:
    """Where a verbaliser stands as a whole word, and which; a stretch counts for the longest alone."""
    taken: list[tuple[int, int]] = []
    for word, at in longest_first:
        for match in re.finditer(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", text):
            if all(match.end() <= start or match.start() >= end for start, end in taken):
                taken.append(match.span())
                yield match.start(), at


def _is_denied(before: str) -> bool:
    words = [word.strip(AROUND + ".,;:!?()") for word in before.split()[-BEFORE:]]
    return any(word in DENIALS or word.endswith(("n't", "n’t")) for word in words)
