"""By what models are ranked: a number per example, averaged over a probe set, and which way is better.

A factor is a file with one function:

    values(cases, answers)          a number for each case, None where there is none
    explained(case, attribution)    the same, from how much each word counted (`explaining/`)
    order(models, sets, rng)        no numbers: how often each model comes before each other one
    expected(truth)                 no examples at all: the accuracy to expect

To add one: write `factors/<name>.py`, and add a line to FACTORS. One of your own needs neither: "module:function=worse"
names a function `(case, prediction, probabilities)`, or one with `attribution` too, that gives one number.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from ....core.errors import PlanError, nearest
from ....core.files import digest
from ....core.records import Answers, Case
from ....explaining.attributions import Attribution
from . import given

Direction = Literal["better", "worse", ""]
"""What a high value means for accuracy; empty where there are no values."""

FACTORS: dict[str, tuple[str, Direction, str]] = {
    "ACC": ("acc", "better", "accuracy on the probe set"),
    "CONF": ("conf", "better", "probability of the predicted label"),
    "CONF-GT": ("conf_gt", "better", "probability of the right label"),
    "IRREG": ("window", "worse", "little weight around the irregular verb that an example names"),
    "VERB": ("window", "worse", "little weight around the main verb that an example names"),
    "ADJ": ("window", "worse", "little weight around the adjective that an example names"),
    "SUM-DIFF": ("sum_diff", "worse", "weight of the first text of a pair less that of the second"),
    "MAX-DIFF": ("max_diff", "worse", "largest weight in the first text less that in the second"),
    "INDEX-DIFF": ("index_diff", "worse", "weight of shared words in the first text less that in the second"),
    "SUBSEQUENCE": ("subsequence", "worse", "weight of the words that stand in the first text as the second"),
    "FIRST-TOK": ("first_tok", "worse", "weight of the first separator of a pair"),
    "CONST": ("const", "worse", "little weight on words such as unless, if, or"),
    "SWAP-AVG": ("swap_avg", "worse", "little weight on the words that two texts swap"),
    "SWAP-MAX-DIFF": (
        "swap_max_diff",
        "worse",
        "largest weight of a swapped word in the first text less the second",
    ),
    "RANDOM": ("coin", "", "a coin flip for each pair and probe set"),
    "GUESS": ("guess", "", "one model is taken for the best, the others come in any order"),
}
"""Name to its module, what a high value means, and what it is."""

Values = list[float | None]
Attributions = Sequence[Attribution | None]


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor as the settings name it."""

    name: str
    direction: Direction
    module: ModuleType | None = None
    """None for a function of the user's."""
    function: str = ""
    explainer: str = ""
    """Whose attributions it is computed from; empty where it needs none."""

    @property
    def has_values(self) -> bool:
        """Whether it is a number per example."""
        return self.module is None or hasattr(self.module, "values") or self.needs_attributions

    @property
    def needs_attributions(self) -> bool:
        """Whether it is computed from how much each word counted."""
        if self.module is None:
            return given.wants_attribution(self.function)
        return hasattr(self.module, "explained")

    def values(self, cases: Sequence[Case], answers: Answers, attributions: Attributions = ()) -> Values:
        """Its number for each case; `attributions` are those of its explainer, None where there is none."""
        if self.module is None:
            return given.values(self.function, cases, answers, attributions)
        if not self.needs_attributions:
            computed: Values = self.module.values(cases, answers)
            return computed
        pairs = zip(cases, attributions, strict=True)
        return [None if row is None else self.module.explained(case, row) for case, row in pairs]


def factors_of(written: Sequence[str], explainers: Sequence[str]) -> list[Factor]:
    """The factors that settings mean: one that needs attributions once for each explainer, named after it."""
    factors: list[Factor] = []
    for factor in map(find_factor, written):
        if not factor.needs_attributions:
            factors.append(factor)
            continue
        if not explainers:
            raise PlanError(
                f"factor {factor.name!r} is computed from how much each word counts",
                why="no explainer is named",
                fix='explainers = ["shapley"]; on the command line --set explainers=shapley',
            )
        for explainer in explainers:
            factors.append(replace(factor, name=f"{factor.name} ({explainer})", explainer=explainer))
    return factors


def find_factor(written: str) -> Factor:
    """The factor that a setting means: a name of the table, or `module:function=worse` (or `=better`)."""
    name, equals, word = written.partition("=")
    if equals and word not in ("better", "worse"):
        raise PlanError(
            f"factor {written!r}: {word!r} is no direction",
            why="what a high value means for a model's accuracy is expected",
            fix=f"{name}=worse, or {name}=better",
        )
    direction: Any = word
    if ":" in name:
        if not equals:
            raise PlanError(
                f"factor {name!r} does not say which way is better",
                why="a direction that is chosen after the fact makes every factor look good",
                fix=f"{name}=worse, if high values are worse, or {name}=better",
            )
        return Factor(name, direction, function=name)
    if name not in FACTORS:
        raise PlanError(
            f"factor {name!r} is not known",
            why=f"known: {', '.join(FACTORS)}",
            fix=nearest(name, FACTORS) or "a name of these, or module:function=worse for one of your own",
        )
    module, usual, _ = FACTORS[name]
    if equals and not usual:
        raise PlanError(f"factor {written!r}: {name} has no direction", fix=name)
    return Factor(name, direction or usual, import_module(f".{module}", __name__))


def identity(written: str) -> Any:
    """What decides a factor's values: its name, and the code of the user's own."""
    factor = find_factor(written)
    if factor.module is not None:
        return written
    module = given.module_of(factor.function)
    return {"factor": written, "code": digest(Path(module.__file__)) if module.__file__ else ""}


__all__ = ["FACTORS", "Direction", "Factor", "Values", "factors_of", "find_factor", "identity"]
