"""Made-up answers, and how cases go under them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from ....core.records import Answers, Case
from ..score import judge
from ..settings import Settings
from .asked import spoken_labels, wanted

LUKEWARM = 0.6
"""Confidence of a constant prediction. At 1, tests of confidence would not apply: it could not rise."""
AS_WRITTEN = Settings(edits="none")

Verdict = bool | None
Verdicts = dict[tuple[int, ...], Verdict]
"""By what is answered to each example, as positions in a list of answers."""

SMALL = 3
"""Examples of a case that are tried: every combination of predictions must be looked at."""
OTHER_ANSWER = "something else"


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer to one example, made up."""

    word: str
    labels: tuple[str, ...] = ()
    index: int = 0
    probabilities: tuple[float, ...] = ()

    @classmethod
    def label(cls, index: int, labels: tuple[str, ...], confidence: float) -> "Reply":
        """A label with this confidence, the rest shared evenly."""
        rest = (1 - confidence) / max(len(labels) - 1, 1)
        vector = tuple(confidence if other == index else rest for other in range(len(labels)))
        return cls(labels[index], labels, index, vector)

    @classmethod
    def text(cls, answer: str) -> "Reply":
        """An answer in words."""
        return cls(answer)


def answers_of(replies: Sequence[Reply], picked: Sequence[int]) -> Answers:
    """Made-up answers as a model's: to each example, the reply picked."""
    labels, picks = replies[0].labels, np.asarray(picked)
    return Answers(
        labels,
        np.array([reply.index for reply in replies])[picks],
        np.array([reply.probabilities for reply in replies])[picks] if labels else None,
        texts=() if labels else [replies[position].word for position in picked],
    )


def sayable(case: Case, labels: tuple[str, ...], confidences: Sequence[float]) -> list[Reply]:
    """Answers that a rule could tell apart: labels it may look at, or texts that are right, wrong or empty."""
    if case.meta.get("reading"):
        swaps = [swap for swap in case.meta.get("details") or () if isinstance(swap, list | tuple)]
        words = [*(case.labels or ()), *(word for swap in swaps for word in swap), "", OTHER_ANSWER]
        return [Reply.text(text) for text in dict.fromkeys(map(str, words))]
    near = told_apart([case], labels)
    return [Reply.label(index, labels, min(sure, 1.0)) for sure in confidences for index in near]


def told_apart(cases: Iterable[Case], labels: tuple[str, ...]) -> list[int]:
    """The labels that these cases ask for or their rules name, and the first few, which stand for all others."""
    spoken: set[str] = set()
    for case in cases:
        spoken |= {label for label in wanted(case, labels) if label} | set(spoken_labels(case.meta["expect"]))
    return [
        index
        for index, label in enumerate(labels)
        if index < SMALL or {label, str(index), f"not {label}"} & spoken
    ]


def judge_all(case: Case, palette: Sequence[Reply]) -> Verdicts:
    """How the case goes under every combination of answers."""
    combinations = list(product(range(len(palette)), repeat=len(case.examples)))
    answers = answers_of(palette, [position for picks in combinations for position in picks])
    outcomes = judge(AS_WRITTEN, [case] * len(combinations), answers)
    return {picks: outcome.passed for picks, outcome in zip(combinations, outcomes, strict=True)}


def only(case: Case, positions: Sequence[int]) -> Case:
    """The case with these of its examples."""
    details = case.meta.get("details")
    if isinstance(details, list) and len(details) == len(case.examples):
        details = [details[position] for position in positions]
    return replace(
        case,
        examples=tuple(case.examples[position] for position in positions),
        labels=case.labels and tuple(case.labels[position] for position in positions),
        meta={**case.meta, "details": details},
    )


def first(case: Case, n: int) -> Case:
    """The case with its first examples only."""
    return only(case, range(min(n, len(case.examples))))
