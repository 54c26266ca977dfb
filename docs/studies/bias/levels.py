"""Simulate through `compare` how often the statements of `shoal run` about recipes are wrong.

    python docs/studies/bias/levels.py 400 > docs/studies/bias/levels.csv

Each pair and each checkpoint has a random effect (the SD of the stereotype score is about 8 points). The script counts
intervals that miss the true value and, for equal recipes, p values of at most .05.
"""

import csv
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from shoal.core.records import Answer, Case, Measure, Measures, Result
from shoal.protocols import bias
from shoal.protocols.base import Built
from shoal.runs.settings import make_settings

Floats = NDArray[np.float64]
CHECKPOINTS = (3, 4, 5)
PAIRS, SPREAD = 60, 0.4


def settings(**given: Any) -> bias.Settings:
    """Return the settings of a plan."""
    return make_settings(bias.Settings, {"data": "example", **given}, "simulation")


def crows(differences: Floats, group: str) -> list[Result]:
    """Return results of checkpoints from differences of log-likelihood, an array (pairs, checkpoints)."""
    chosen = settings()
    groups = {"diagnostic": "crows", "category": "age", "direction": "stereo"}
    cases = [Case(str(number), (("a",), ("b",)), None, groups) for number in range(len(differences))]
    results = []
    for run, column in enumerate(differences.T.tolist()):
        answers = [[Answer("", "tokens", {"score": score}) for score in (value, 0.0)] for value in column]
        scored = bias.score(chosen, Built(cases, None, "tokens"), {"": answers})
        job = {"model": f"{group}{run}", "settings": asdict(chosen), "group": group}
        results.append(Result(job, cases, scored.outcomes, Measures(scored.measures), dict(scored.columns)))
    return results


def scores(name: str, values: Sequence[float], group: str, **groups: str) -> list[Result]:
    """Return results of checkpoints with one number each."""
    diagnostic = "crows" if name == "stereotype score" else "seat"
    return [
        Result(
            {"model": f"{group}{run}", "settings": {**asdict(settings()), "diagnostic": [diagnostic]}, "group": group},
            [], [], Measures([Measure(name, value, 16, {"diagnostic": diagnostic, **groups})]),
        )
        for run, value in enumerate(values)
    ]  # fmt: skip


def told(results: Sequence[Result], **given: Any) -> Measures:
    """Return the measures of the plan's comparison."""
    return Measures(bias.compare(settings(**given), results).measures)


def held(row: Measure, truth: float) -> bool:
    """Return whether an interval contains the true value."""
    return row.interval is not None and row.interval[0] <= truth <= row.interval[1]


# Promises: each function returns whether its promise was broken.


def leanings(rng: Generator, runs: int, shared: Floats) -> Floats:
    """Draw new checkpoints of one recipe on pairs with these effects."""
    return shared + rng.normal(0, SPREAD, (1, runs)) + rng.normal(size=(PAIRS, runs))


def _difference(rows: Measures) -> tuple[Measure, Measure]:
    """Return the difference over all items and its p value."""
    names = ("difference between recipes", "p value")
    whole = [row for row in rows if "of" in row.groups and row.groups.get("category", "all") == "all"]
    row, p = (next(row for row in whole if row.name == name) for name in names)
    return row, p


def equal_recipes(rng: Generator, runs: int) -> dict[str, bool]:
    shared = rng.normal(size=(PAIRS, 1))
    row, p = _difference(
        told([*crows(leanings(rng, runs, shared), "base"), *crows(leanings(rng, runs, shared), "large")])
    )
    return {
        "two equal recipes, p at most .05": (p.value or 0.0) <= 0.05,
        "their difference, 95 %": not held(row, 0.0),
    }


def equal_effects(rng: Generator, runs: int) -> dict[str, bool]:
    rows = [
        scores("effect size", rng.normal(0.4, 0.3, runs).tolist(), group, test="weat6")
        for group in ("base", "large")
    ]
    _, p = _difference(told([*rows[0], *rows[1]]))
    return {"two equal recipes, effect sizes, p at most .05": (p.value or 0.0) <= 0.05}


def nothing_done(rng: Generator, runs: int) -> dict[str, bool]:
    before = leanings(rng, runs, rng.normal(size=(PAIRS, 1)))
    old, new = crows(before, "base"), crows(leanings(rng, runs, before), "after")
    made = [
        Result({**after.job, "before": "base", "before model": first.job["model"]}, *_rest(after))
        for first, after in zip(old, new, strict=True)
    ]
    row, p = _difference(told([*old, *made]))
    return {
        "before and after nothing, p at most .05": (p.value or 0.0) <= 0.05,
        "the change, 95 %": not held(row, 0.0),
    }


def _rest(result: Result) -> tuple[Any, ...]:
    return result.cases, result.outcomes, result.measures, result.columns


PROMISES: tuple[Callable[[Generator, int], dict[str, bool]], ...] = (
    equal_recipes, equal_effects, nothing_done,
)  # fmt: skip


def count(trials: int) -> Iterator[dict[str, Any]]:
    """Yield how often each promise is broken."""
    for promise in PROMISES:
        for runs in CHECKPOINTS:
            rng = np.random.default_rng([runs, *promise.__name__.encode()])
            broken: dict[str, int] = {}
            for _ in range(trials):
                for name, wrong in promise(rng, runs).items():
                    broken[name] = broken.get(name, 0) + wrong
            for name, times in broken.items():
                yield {"promise": name, "checkpoints": runs, "trials": trials, "broken": times}


def main(trials: int) -> None:
    """Print the table."""
    rows = csv.DictWriter(sys.stdout, ("promise", "checkpoints", "trials", "broken"), lineterminator="\n")
    rows.writeheader()
    for row in count(trials):
        rows.writerow(row)


if __name__ == "__main__":
    main(int(sys.argv[1]))
