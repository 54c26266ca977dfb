"""Across checkpoints: what is stable, what is not, and what may be concluded."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from ...core.records import Finding, Measure, Measures, Result
from ...stats.paired import smallest_sign_flip_p
from ..base import Compared
from .between import between_recipes
from .build import module_of
from .concepts import between_diagnostics
from .downstream import compare_downstream, with_finetuned
from .family import WANTED, Family, families, moment, several
from .moments import over_training
from .settings import Settings

CONCLUSION, LIMITS = "conclusion", "limits"
"""The kind of finding about a diagnostic, and about a recipe."""


def compare_checkpoints(settings: Settings, results: Sequence[Result]) -> Compared:
    """Everything that several checkpoints say together, and a conclusion for each diagnostic and recipe."""
    every = families(results)
    measures: list[Measure] = []
    for diagnostic, members in by_diagnostic(every):
        measures += module_of(diagnostic).across(settings, members)
    measures += [row for family in every for row in over_training(family)]
    measures += between_recipes(every)
    recipes = _checkpoints(every)
    for recipe in recipes:
        pairs = combinations([family for family in every if family.recipe == recipe], 2)
        measures += [row for pair in pairs for row in between_diagnostics(*pair)]
    recipes = with_finetuned(recipes, results)
    measures += compare_downstream(settings.downstream, settings.margin, results, every, recipes)
    ends = [conclusion(family, measures) for family in every if len(family.results) > 1]
    ends += [limits(recipe, names) for recipe, names in recipes.items()]
    return Compared(measures, ends)


def by_diagnostic(every: Sequence[Family]) -> list[tuple[str, list[Family]]]:
    """The families of one recipe and diagnostic together: one for each representation."""
    together: dict[tuple[str, str], list[Family]] = {}
    for family in every:
        together.setdefault((family.recipe, family.diagnostic), []).append(family)
    return [(diagnostic, members) for (_, diagnostic), members in together.items()]


def _checkpoints(every: Sequence[Family]) -> dict[str, list[str]]:
    """The names of the checkpoints of each recipe."""
    names: dict[str, dict[str, None]] = {}
    for family in every:
        names.setdefault(family.recipe, {}).update(dict.fromkeys(family.names))
    return {recipe: list(known) for recipe, known in names.items()}


def of_family(family: Family, measures: Sequence[Measure]) -> Measures:
    """The measures that are about a family at the end of its training."""
    return Measures(row for row in about(family, measures) if not moment(row.groups))


def about(family: Family, measures: Sequence[Measure]) -> Measures:
    """The measures that are about a family, at whatever moment."""
    groups = family.groups.items()
    return Measures(row for row in measures if all(row.groups.get(key) == value for key, value in groups))


# In words


def conclusion(family: Family, measures: Sequence[Measure]) -> Finding:
    """What may be said of the checkpoints of a recipe under one diagnostic."""
    own = of_family(family, measures)
    sentences = module_of(family.diagnostic).conclude(own, len(family.results))
    return Finding(CONCLUSION, " ".join(sentences), tuple(_evidence(own)), 1.0, family.groups)


def _evidence(measures: Measures) -> Iterator[Measure]:
    """The numbers that a conclusion is about: tests that say one thing everywhere, or the mean and how it spreads."""
    tests = [
        row for name in ("tests with one sign", "tests with one verdict") for row in measures.where(name)
    ]
    if tests:
        yield from tests
        return
    whole = [
        row for row in measures if {row.groups.get(key, "all") for key in ("category", "task")} == {"all"}
    ]
    spreads = [row for row in whole if row.name == "sd over checkpoints" and row.value is not None]
    widest = max(spreads, key=lambda row: row.value or 0.0, default=None)
    if any("category" in row.groups for row in spreads):
        widest = spreads[0]  # of the score itself, which comes first
    if widest is not None:
        yield from (
            row for row in whole if row.name == "mean over checkpoints" and row.groups == widest.groups
        )
        yield widest
    yield from [row for row in whole if row.name == "share of items"][:1]


def limits(recipe: str, names: Sequence[str]) -> Finding:
    """Of what anything may be said at all: a checkpoint, or a recipe."""
    runs = len(names)
    least = smallest_sign_flip_p(runs)
    if runs == 1:
        words = [
            f"One checkpoint, {names[0]}: what it says holds for this checkpoint only, not for its recipe."
        ]
    else:
        enough = "what they share may be said of the recipe, nothing else."
        too_few = f"too few for a claim about it, {WANTED} are the least; what is said holds for these."
        words = [f"{several(runs)} of one recipe: {too_few if runs < WANTED else enough}"]
        words += (
            [f"No test over them can reach p = 0.01: the smallest possible is {least:.4g}."]
            if least > 0.01
            else []
        )
    facts = {"checkpoints": runs}
    return Finding(LIMITS, " ".join(words), weight=2.0, groups={"recipe": recipe}, facts=facts)
