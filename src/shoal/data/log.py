"""A log of another tool as a suite: the texts and targets of its samples (`logs/`)."""

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..core.errors import DataError
from . import Glimpse, SuiteRows
from .columns import PAIRS
from .invalid import InvalidRows
from .logs import OpenLog, open_log
from .logs.samples import Question, choice_letter, with_choices

TASK = re.compile(r"samples_(.+)_\d{4}-\d\d-\d\dT.*|\d{4}-\d\d-\d\dT[\d+-]+_(.+)_[^_]+")
"""The name that lm-eval and inspect give to a file: task and time."""
FEW, OFTEN = 10, 5
"""Targets of generated answers are labels if there are few, or if each occurs often on average."""
RULES = {
    "one_of": "the target as the whole answer",
    "number": "the target as the answer's last number",
    "contains": "the target within the answer",
}
NUMBER = re.compile(r"-?\d+(\.\d+)?")


def fits(look: Glimpse) -> bool:
    """Return whether a log was recognised."""
    return look.log is not None


def read(path: Path) -> SuiteRows:
    """Return a case per sample; of several epochs or filters the first."""
    log = open_log(path)
    assert log is not None
    choices, invalid = common_choices(log), InvalidRows()
    header: dict[str, Any] = {"suite": _name(path)}
    if choices:
        header["label_names"] = list(choices)
    rule = "" if choices else _rule(log)
    rows = _cases(log, choices, invalid, rule)
    grades = f"the tool's grades (scores:{path} has them); the suite expects {RULES[rule]}" if rule else ""
    return SuiteRows(header, rows, lost=[grades] if rule else [], unit=log.unit, invalid=invalid)


def _rule(log: OpenLog) -> str:
    """Return the rule for answers to open questions; empty if the targets are few enough for labels.

    If no answer equals its target, the answers are sentences, in which the target must occur.
    """
    samples = {sample.id: question for _, sample, question in log.questions() if question.label}.values()
    distinct = {question.label for question in samples}
    if len(distinct) <= FEW or OFTEN * len(distinct) <= len(samples):
        return ""
    if any(question.answer.strip().casefold() == question.label.strip().casefold() for question in samples):
        return "one_of"
    return "number" if all(NUMBER.fullmatch(label.strip()) for label in distinct) else "contains"


def _name(path: Path) -> str:
    """Return the task in the name of a file, else the name.

    >>> _name(Path("samples_my_task_2026-01-02T03-04-05.678.jsonl")), _name(Path("results.json"))
    ('my_task', 'results')
    """
    name = path.name.partition(".")[0]
    task = TASK.fullmatch(name)
    return next(filter(None, task.groups())) if task else name


def _cases(
    log: OpenLog, choices: tuple[str, ...], invalid: InvalidRows, rule: str
) -> Iterator[tuple[int, dict[str, Any]]]:
    seen, name = set(), _name(log.path)
    for number, sample, question in log.questions():
        if sample.id in seen:
            continue
        seen.add(sample.id)
        question = lettered(question, choices)
        label = question.label
        if not label or not all(question.texts):
            what = "target" if question.texts and all(question.texts) else "text"
            invalid.add(number, DataError(f"no {what}", fix=f"give each sample a {what}"))
            continue
        yield (
            number,
            {
                "functionality": name,
                "capability": name,
                "type": "MFT",
                "case_id": sample.id,
                "examples": [dict(zip(PAIRS[len(question.texts)], question.texts, strict=True))],
                "labels": label,
                "cluster": "",
                **({"expect": {"rule": rule}} if rule else {}),
            },
        )


def common_choices(log: OpenLog) -> tuple[str, ...]:
    """Return the choices that every sample has; letters if they differ, nothing for answers in words."""
    lists = {question.choices for _, sample, question in log.questions() if not sample.error}
    if len(lists) < 2:
        return next(iter(lists), ())
    longest = max(map(len, lists))
    return tuple(map(choice_letter, range(longest))) if longest else ()


def lettered(question: Question, choices: tuple[str, ...]) -> Question:
    """Return a question with the letters of its choices, if those of the file differ."""
    if not question.choices or question.choices == choices:
        return question
    letters = {choice: choice_letter(place) for place, choice in enumerate(question.choices)}
    label, answer = (letters.get(word, word) for word in (question.label, question.answer))
    texts = with_choices(question.texts, question.choices)
    return Question(texts, label, answer, choices, question.likelihoods)


def probabilities(likelihoods: tuple[float, ...]) -> list[float]:
    """Return the softmax of log-likelihoods.

    >>> [round(share, 3) for share in probabilities((-1.0, -2.0))]
    [0.731, 0.269]
    """
    most = max(likelihoods)
    weights = [math.exp(each - most) for each in likelihoods]
    total = math.fsum(weights)
    return [weight / total for weight in weights]
