"""Parse a model's replies and turn them into answers (`docs/method/prompted.md` 8.3).

Parsing tries in this order: the reply is a verbaliser; it begins with one; a short reply that does not refuse contains
exactly one, without a negation before it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import ModelError, some
from ...core.files import read_toml
from ...core.records import Answers, Example
from ..answer_rows import NO_ANSWER
from ..labels import extreme_labels, in_suite_order, matches, respell
from .likelihood import Floats
from .prompt import Prompt

AROUND = " \t\r\n\f\v\u00a0\"'`“”‘’«»*_"
"""White space, quotes and markdown emphasis."""
LONGEST, LONGEST_TEXT = 20, 400
"""The most words, and characters, of a reply in which a verbaliser may stand anywhere."""
DENIALS = ("not", "no", "never", "neither", "nor")
BEFORE = 3
"""The words before a verbaliser in which a negation counts."""
AFTER_A_LETTER = ".,:)"
THOUGHT, THINKING = "</think>", "<think>"
SHOWN = 60
"""Characters of a reply in an error message; the details keep the whole reply."""
FIRST = 200
"""Characters of a reply in which it may refuse."""
REFUSES = "the model refuses"
"""Begins the reason why a reply has no label."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply to one example."""

    label: int | None = None
    """The index among the prompt's labels."""
    probabilities: Floats | None = None
    text: str = ""
    """In reading comprehension."""
    error: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Stored with the answer: the full reply, the probability mass of the labels, flags."""


class PromptAnswers:
    """Turns the replies of a prompted model into answers."""

    prompt: Prompt

    def replies(self, examples: Sequence[Example]) -> list[Reply]:
        """Return the reply to each example."""
        raise NotImplementedError

    def classify(self, examples: Sequence[Example], labels: Sequence[str] | None) -> Answers:
        """Return a label of the suite for each example, with probabilities if the mode gives them."""
        self._check_task(in_words=False)
        to_answers([], self.prompt, labels, repr(self))  # raises for wrong labels before a request is paid
        return to_answers(self.replies(examples), self.prompt, labels, repr(self))

    def extract(self, examples: Sequence[Example]) -> Answers:
        """Return answers to questions, in the model's own words."""
        self._check_task(in_words=True)
        return to_answers(self.replies(examples), self.prompt, None, repr(self))

    def _check_task(self, *, in_words: bool) -> None:
        """Raise if the prompt's task does not fit the suite."""
        why, fix = "the suite has labels", 'a prompt with task = "text" or "pair", and [labels]'
        if in_words:
            why = "the suite expects answers in words"
            fix = 'prompt=reply-plain, or a prompt with task = "reply" or "reading"'
        if self.prompt.in_words != in_words:
            raise ModelError(
                f"{self!r}: prompt {self.prompt.name} is for {self.prompt.task}", why=why, fix=fix
            )


def no_answer(why: str, **details: Any) -> Reply:
    """Return a reply without an answer: an error that counts against the model."""
    return Reply(error=f"{NO_ANSWER}: {why}", details={**details, NO_ANSWER: why})


def text_reply(said: str, prompt: Prompt, **details: Any) -> Reply:
    """Return a text reply as a label or as the answer to a question."""
    kept = {"said": said, **details}
    answer = without_thinking(said)
    if answer is None:
        return no_answer("the thinking never ended", **kept)
    if prompt.in_words:
        return Reply(
            text=answer.strip() if prompt.task == "reply" else _first_line(answer, prompt), details=kept
        )
    label = parse(answer, prompt.verbalisers)
    return unread_reply(answer, prompt.verbalisers, **kept) if label is None else Reply(label, details=kept)


def unread_reply(answer: str, names: Sequence[str], **details: Any) -> Reply:
    """Return the error for a reply from which no label was read: a refusal, or other words."""
    shown = answer.strip() if len(answer) <= SHOWN else f"{answer.strip()[:SHOWN]}…"
    why = f"{REFUSES}: {shown!r}" if is_refusal(answer) else f"{shown!r} is not one of {', '.join(names)}"
    return no_answer(why, **details)


def _first_line(answer: str, prompt: Prompt) -> str:
    """Return the first line; empty if it is the prompt's reply for unanswerable questions."""
    first = (answer.strip().splitlines() or [""])[0].strip()
    none = prompt.unanswerable
    return "" if none and stripped(first).casefold() == stripped(none).casefold() else first


def to_answers(replies: Sequence[Reply], prompt: Prompt, labels: Sequence[str] | None, who: str) -> Answers:
    """Return replies as columns, with the suite's labels in its order."""
    errors = {row: reply.error for row, reply in enumerate(replies) if reply.error}
    details = [reply.details for reply in replies]
    if prompt.in_words:
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
        label_map={prompt.labels[label]: theirs[list(prompt.labels).index(label)] for label in prompt.listed},
        band=tuple(names) == extreme_labels(labels or ()),
        details=details,
    )


def _suite_names(prompt: Prompt, labels: Sequence[str] | None, who: str) -> tuple[str, ...]:
    """Return the suite's name of each of the prompt's labels."""
    theirs = respell(tuple(prompt.labels), labels) if labels else tuple(prompt.labels)
    if labels and not matches(theirs, labels):
        raise ModelError(
            f"{who}: the labels of prompt {prompt.name} are {some(prompt.labels)}; the suite's are {some(labels)}",
            fix="a prompt file with the suite's labels under [labels]",
        )
    return theirs


# Parsing


def parse(said: str, verbalisers: Sequence[str]) -> int | None:
    """Return the index of the verbaliser in a reply; None for no answer, such as a refusal that names a label."""
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
    if len(text) > LONGEST_TEXT or len(text.split()) > LONGEST or is_refusal(said):
        return None
    occurrences = list(_occurrences(text, long))
    denied = any(_is_negated(text[:start]) for start, _ in occurrences)
    meant = {at for _, at in occurrences}
    return meant.pop() if len(meant) == 1 and not denied else None


def stripped(said: str) -> str:
    """Return a reply without surrounding white space, quotes and full stops."""
    return said.lstrip(AROUND).rstrip(AROUND + ".")


def without_thinking(said: str) -> str | None:
    """Return the reply after the thinking; None if that does not end.

    >>> without_thinking("<think>Bad? No.</think> positive"), without_thinking("<think>Well,")
    (' positive', None)
    """
    if THOUGHT in said:
        return said.rpartition(THOUGHT)[2]
    return None if THINKING in said else said


def _occurrences(text: str, longest_first: Sequence[tuple[str, int]]) -> Iterator[tuple[int, int]]:
    """Yield position and index of verbalisers that occur as whole words; overlaps count for the longest."""
    taken: list[tuple[int, int]] = []
    for word, at in longest_first:
        for match in re.finditer(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", text):
            if all(match.end() <= start or match.start() >= end for start, end in taken):
                taken.append(match.span())
                yield match.start(), at


def _is_negated(before: str) -> bool:
    words = [word.strip(AROUND + ".,;:!?()") for word in before.split()[-BEFORE:]]
    return any(word in DENIALS or word.endswith(("n't", "n’t")) for word in words)


# Refusals


def is_refusal(reply: str) -> bool:
    """Return whether a reply refuses to answer, by the list in `refusals.toml`.

    >>> is_refusal("I’m sorry, but I can’t help with that."), is_refusal("I can't help but love this film.")
    (True, False)
    """
    words = " ".join(reply[: 2 * FIRST].lower().replace("’", "'").split())[:FIRST]
    return _expression().search(words) is not None


@cache
def _expression() -> "re.Pattern[str]":
    table = read_toml(Path(__file__).parents[1] / "refusals.toml", "the list of refusals")
    openings, continuations, alone = (
        "|".join(map(re.escape, table[name])) for name in ("openings", "continuations", "alone")
    )
    return re.compile(rf"(?<!\w)(?:(?:{openings}) (?:{continuations})|{alone})(?!\w)")
