"""Which examples of the pool to label next: those that tell models apart (`docs/method/beyond.md` 7.16).

Two models differ by what they get right where they disagree, and by nothing else. Where they disagree needs no labels.
Examples are drawn with replacement, the likelier the more pairs of models disagree on them: by the square root of that
number. The chance of each is written down with it, since what was drawn otherwise than all alike must be weighed.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.records import Case, Finding
from .build import CHANCE, CHOSEN, LEAST, POOL, TIMES, in_pool
from .order import Field, draws_of
from .settings import Settings

NEXT = "label next"
"""The kind of the finding that lists what to label."""


def disagreeing_pairs(predictions: Sequence[Sequence[str]]) -> NDArray[np.int64]:
    """For each example how many pairs of models give different labels; one that gave none is in no pair.

    >>> disagreeing_pairs([["a", "a"], ["a", "b"], ["b", "c"]]).tolist()
    [2, 3]
    """
    table = np.array(predictions)
    answered = (table != "").sum(axis=0)
    pairs = answered * (answered - 1) // 2
    for label in np.unique(table[table != ""]):
        same = (table == label).sum(axis=0)
        pairs = pairs - same * (same - 1) // 2
    return np.asarray(pairs, np.int64)


def label_next(settings: Settings, field: Field) -> Finding | None:
    """What to label next; None without a pool."""
    places = [place for place, case in enumerate(field.cases) if in_pool(case)]
    if not places or not settings.label_next:
        return None
    cases = [field.cases[place] for place in places]
    apart = disagreeing_pairs([[given[place] for place in places] for given in field.predictions])
    so_far = int(draws_of(field.cases).times.sum())
    rng = np.random.default_rng([settings.seed, so_far])
    facts = {"pool": len(cases), "models disagree on": int((apart > 0).sum())}
    is_uniform = settings.draw == "uniform"
    if is_uniform and not any(case.groups["part"] == CHOSEN for case in cases):
        return _uniform(settings, cases, rng, facts)
    if not is_uniform and not apart.any():
        text = f"The models agree on all {len(cases):,} examples of the pool: labels there cannot tell them apart."
        return Finding("agree", text, (), 1.0, facts=facts)
    # What is left of a pool after examples were chosen is no plain sample of it: draw from all of it again.
    weights = np.ones(len(cases)) if is_uniform else np.sqrt(apart)
    chances = weights / weights.sum()
    times = rng.multinomial(settings.label_next, chances)
    relative = chances * len(cases)
    least = float(relative[chances > 0].min())
    examples = [
        _example(
            cases[place],
            apart[place],
            {CHANCE: float(relative[place]), LEAST: least, TIMES: int(times[place])},
        )
        for place in sorted(
            np.flatnonzero(times).tolist(), key=lambda place: (-apart[place], cases[place].id)
        )
    ]
    text = (
        f"Label next: {len(examples)} examples, drawn alike from all {len(cases):,} of the pool."
        if is_uniform
        else f"Label next: {len(examples)} examples, drawn where the models disagree "
        f"(on {facts['models disagree on']:,} of {len(cases):,} of the pool)."
    )
    return Finding(NEXT, text, (), 1.0, facts={**facts, "examples": examples})


def _uniform(
    settings: Settings, cases: Sequence[Case], rng: np.random.Generator, facts: dict[str, Any]
) -> Finding:
    """All alike, and none that has a label: what is drawn is a plain sample, and needs no chances."""
    open_cases = [case for case in cases if case.groups["part"] == POOL]
    number = min(settings.label_next, len(open_cases))
    chosen = sorted(rng.choice(len(open_cases), number, replace=False).tolist())
    examples = [_example(open_cases[place], None, {}) for place in chosen]
    text = f"Label next: {number} examples, all of the pool being equally likely."
    return Finding(NEXT, text, (), 1.0, facts={**facts, "examples": examples})


def _example(case: Case, apart: Any, draw: dict[str, Any]) -> dict[str, Any]:
    label = str(case.labels[0]) if case.labels else ""
    pairs = {} if apart is None else {"pairs that disagree": int(apart)}
    return {"case": case.id, "texts": list(case.examples[0]), "label": label, **pairs, **draw}
