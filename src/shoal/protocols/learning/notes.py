"""Facts of behavioural learning in words: the one place that writes its notes."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ...core.claims import reach, reach_so_far
from ...core.records import Measure

Facts = Mapping[str, Any]

NO_CASE, NO_ANSWER = "no applicable case", "the model answered no case"
NO_FUNCTIONALITY = "no functionality has a pass rate in every row"
NO_EFFECT = "no difference can be promised to be found 8 times in 10"


def with_facts(measure: Measure, facts: Facts) -> Measure:
    """A measure with further facts, and its note written anew."""
    every = {**measure.facts, **facts}
    return replace(measure, facts=every, note=note_of(every))


def note_of(facts: Facts) -> str:
    """What a reader should know, in the order of WORDS."""
    return "; ".join(words(facts) for name, words in WORDS.items() if name in facts)


def _waiting(facts: Facts) -> str:
    done, folds = facts["folds done"], facts["folds"]
    if done >= folds:
        return "waits for the training on the whole suite"
    return f"{done} of {folds} folds done" if folds > 1 else "not trained yet"


def _family(facts: Facts) -> str:
    if facts["adjustment"] == "none":
        return "not adjusted"
    words = f"{facts['adjustment']} over the {facts['tests']} tests of this column"
    if "too few shuffles" in facts:
        words += f"; {facts['too few shuffles']:,} shuffles are too few for so many"
    return words


WORDS: dict[str, Callable[[Facts], str]] = {
    "left out": lambda facts: f"left out, no case applies in some row: {', '.join(facts['left out'])}",
    "folds": _waiting,
    "undefined": lambda facts: str(facts["undefined"]),
    "common seeds": lambda facts: f"on the {facts['common seeds']} seeds that both have",
    "both on": lambda facts: f"both on the {facts['both on']} functionalities drawn",
    "drawn": lambda facts: f"{facts['drawn']} of {facts['drawn from']} functionalities, drawn at random",
    "fold": lambda facts: f"only without {facts['fold']}",
    "asked fold": lambda facts: f"only on {facts['asked fold']}",
    "seeds": lambda facts: "; ".join(reach_so_far(facts["seeds"], facts["seeds known"])),
    "runs": lambda facts: reach(facts["runs"]),
    "iid of held-out models": lambda facts: "i.i.d. score: mean over the held-out models",
    "interval for these runs": lambda facts: (
        f"not estimable for the recipe from {facts['interval for these runs']} seeds: the interval is for these runs"
    ),
    "seed share": lambda facts: f"seeds: {facts['seed share']:.0%} of the variance",
    "applies": lambda facts: "applies to {:.0%} of the cases, for iid to {:.0%}".format(*facts["applies"]),
    "tasks": lambda facts: f"over {facts['tasks']} tasks",
    "test": lambda facts: str(facts["test"]),
    "tests": _family,
    "power": lambda facts: f"{100 * facts['power']:.0f} % power at the level {facts['level']:.2g}",
}
"""Fact to its words."""
