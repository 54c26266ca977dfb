"""A sample of any log, and the description of a log format."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = Mapping[str, Any]


@dataclass(slots=True)
class Sample:
    """One graded answer of a model."""

    id: str
    scores: Mapping[str, Any]
    """By metric, as the file has them; empty if nothing was graded."""
    text: str = ""
    """The question, to compare with the other side's and to show."""
    target: str = ""
    """The expected answer; of multiple choice the text, number or letter of a choice."""
    answer: str = ""
    run: str = ""
    """The epoch or repeat; empty if the file has only one."""
    model: str = ""
    """The model, where a file can hold several."""
    error: str = ""
    case: tuple[str, int] | None = None
    """The case and the number of its text, where `shoal export --to` wrote the task."""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A sample as a labelled case with the model's answer, for `import` and `predictions:`."""

    texts: tuple[str, ...]
    label: str = ""
    answer: str = ""
    choices: tuple[str, ...] = ()
    likelihoods: tuple[float, ...] = ()
    """The log-likelihood of each choice."""


@dataclass(frozen=True, slots=True)
class Log:
    """A format: how it is recognised, and how a row of it is read."""

    title: str
    fits: Callable[[Any], bool]
    """Whether the first object of JSON Lines, or the whole document, has this format."""
    sample: Callable[[Any], Sample]
    rows: Callable[[Any], Iterable[Any]] | None = None
    """The rows of a document; None for JSON Lines."""
    is_summary: Callable[[Any], bool] = lambda value: False
    """Whether a document is a file of the same tool that has only averages."""
    summary_fix: str = ""
    """How to get the file with the samples."""
    metric: str = ""
    """The metric that is meant where a file has several."""
    unscored: Sequence[str] = field(default=())
    """Beginnings of the names of numbers that grade nothing, such as counts of tokens."""
    of_lines: bool = False
    """Whether `rows` takes the objects of JSON Lines."""
    question: Callable[[Any, Sample], Question] = lambda row, sample: question_of(sample)
    """Reads a row and its sample as a labelled case."""


def is_object(value: Any, *keys: str) -> bool:
    """Return whether a JSON value is an object with these keys."""
    return isinstance(value, dict) and all(key in value for key in keys)


def case_of(about: Any) -> tuple[str, int] | None:
    """Return the case and the number of the text in a sample's data, if shoal exported it; see `harness_tasks`."""
    if not is_object(about, "case_id", "example_idx", "passing"):
        return None
    identity, place = about["case_id"], about["example_idx"]
    return (identity, place) if isinstance(identity, str) and type(place) is int and place >= 0 else None


def choice_letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else str(place)


def with_choices(texts: tuple[str, ...], choices: Sequence[str]) -> tuple[str, ...]:
    r"""Return the texts with the choices that the letters name.

    >>> with_choices(("How?",), ("well", "badly"))
    ('How?\nA. well\nB. badly',)
    """
    listed = [f"{choice_letter(place)}. {choice}" for place, choice in enumerate(choices)]
    return (*texts[:-1], "\n".join([*texts[-1:], *listed]))


def question_of(sample: Sample, *, lettered: bool = False) -> Question:
    """Return a sample of one text as a labelled case; its target is a choice's text, number from 0, or letter.

    A letter that is also the text of a choice is the text, or with `lettered` the letter.
    """
    choices, answer = sample.choices, sample.answer.strip()
    own = {choice: choice for choice in choices}
    numbers = {str(at): choice for at, choice in enumerate(choices)}
    letters = {choice_letter(at): choice for at, choice in enumerate(choices)}
    named = own | letters if lettered else letters | own
    label = (numbers | named).get(sample.target.strip(), sample.target)
    return Question((sample.text,), label, named.get(answer, answer), choices)


def as_text(value: Any) -> str:
    """Return a value of a log as one text; texts of chat messages and entries of a list are joined by line ends."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return as_text(value.get("content", value.get("text", "")))
    if isinstance(value, list):
        return "\n".join(filter(None, map(as_text, value)))
    return "" if value is None else str(value)
