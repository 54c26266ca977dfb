"""How often what `shoal run` says of checkpoints, recipes and downstream tasks is wrong: simulated through `compare`.

    python docs/studies/bias/levels.py 400 > docs/studies/bias/levels.csv

Pairs have a leaning of their own, checkpoints one of theirs (their stereotype scores have an SD of about 8 points), and
every preference is drawn beside both. Downstream scores are drawn, or made of examples that are right or wrong.
What is counted is what the table of the plan would say: an interval that misses the truth, a p of at most .05 where
there is nothing, an equivalence that is claimed where the truth lies at the margin.
"""

import csv
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from shoal.core.records import Answer, Case, Measure, Measures, Outcome, Result
from shoal.protocols import bias
from shoal.protocols.base import Built
from shoal.runs.settings import make_settings

Floats = NDArray[np.float64]
CHECKPOINTS = (3, 4, 5)
PAIRS, SPREAD = 60, 0.4
MARGIN = 0.01
EXAMPLES = 2_000


def settings(**given: Any) -> bias.Settings:
    """Those of a plan."""
    return make_settings(bias.Settings, {"data": "example", **given}, "simulation")


def crows(differences: Floats, group: str) -> list[Result]:
    """Checkpoints of a group, asked about pairs whose two sentences differ by so much: (pairs, checkpoints)."""
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
    """Checkpoints of a group that have one number each."""
    diagnostic = "crows" if name == "stereotype score" else "seat"
    return [
        Result(
            {"model": f"{group}{run}", "settings": {**asdict(settings()), "diagnostic": [diagnostic]}, "group": group},
            [], [], Measures([Measure(name, value, 16, {"diagnostic": diagnostic, **groups})]),
        )
        for run, value in enumerate(values)
    ]  # fmt: skip


def told(results: Sequence[Result], **given: Any) -> Measures:
    """What the plan's comparison says."""
    return Measures(bias.compare(settings(**given), results).measures)


def with_scores(results: Sequence[Result], by_model: dict[str, float]) -> Measures:
    """The same with a table of downstream scores."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "scores.csv"
        lines = [f"{model},RTE,{score}\n" for model, score in by_model.items()]
        table.write_text("checkpoint,task,score\n" + "".join(lines), encoding="utf-8")
        return told(results, downstream=str(table), margin=MARGIN)


def fine_tuned(right: Sequence[NDArray[np.bool_]]) -> list[Result]:
    """Checkpoints that were fine-tuned here and get these examples right."""
    results = []
    for run, hits in enumerate(right):
        row = Measure("downstream score", float(hits.mean()), len(hits), {"task": "RTE"})
        job = {"model": f"base{run}", "group": "base", "settings": {**asdict(settings()), "diagnostic": []}}
        outcomes = [Outcome(str(at), bool(hit)) for at, hit in enumerate(hits)]
        results.append(Result(job, [], outcomes, Measures([row])))
    return results


def held(row: Measure, truth: float) -> bool:
    """Whether an interval holds what is true."""
    return row.interval is not None and row.interval[0] <= truth <= row.interval[1]


# What is promised. Each gives whether the promise was broken.


def leanings(rng: Generator, runs: int, shared: Floats) -> Floats:
    """New checkpoints of one recipe on pairs with these leanings."""
    return shared + rng.normal(0, SPREAD, (1, runs)) + rng.normal(size=(PAIRS, runs))


def _difference(rows: Measures) -> tuple[Measure, Measure]:
    """The difference of all items, and its p value."""
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


def recipes_at_the_margin(rng: Generator, runs: int) -> dict[str, bool]:
    results = [*scores("stereotype score", [0.5] * runs, "base", category="all")]
    results += scores("stereotype score", [0.5] * runs, "large", category="all")
    drawn = {f"base{run}": rng.normal(0.9, 0.004) for run in range(runs)}
    drawn |= {f"large{run}": rng.normal(0.9 + MARGIN, 0.004) for run in range(runs)}
    (row,) = with_scores(results, drawn).where("p value", test="equivalence", recipe="base and large")
    return {"two recipes a margin apart, called equivalent": row.verdict == "equivalent"}


def spread_at_the_margin(rng: Generator, runs: int) -> dict[str, bool]:
    results = scores("stereotype score", [0.5] * runs, "base", category="all")
    drawn = {f"base{run}": rng.normal(0.9, MARGIN) for run in range(runs)}
    (row,) = with_scores(results, drawn).where("p value", test="equivalence", recipe="base")
    return {"checkpoints with an SD of the margin, called alike": row.verdict == "equivalent"}


def a_pair_at_the_margin(rng: Generator, runs: int) -> dict[str, bool]:
    draw = rng.random(EXAMPLES)
    right = [draw < 0.9] * (runs - 1)
    (row,) = told(
        [*fine_tuned([*right, (draw < 0.88) | (draw > 0.99)])], margin=MARGIN
    ).where("p value", test="pairwise equivalence")  # fmt: skip
    return {"one of them a margin from the others, every pair called alike": row.verdict == "equivalent"}


def correlated(rng: Generator, runs: int) -> dict[str, bool]:
    wrong = {}
    for truth in (0.0, 0.6):
        downstream = rng.normal(size=runs)
        diagnosed = truth * downstream + np.sqrt(1 - truth**2) * rng.normal(size=runs)
        values = np.clip(0.5 + diagnosed / 20, 0, 1).tolist()
        results = scores("stereotype score", values, "base", category="all")
        table = {f"base{run}": float(np.clip(0.5 + score / 20, 0, 1)) for run, score in enumerate(downstream)}
        (row,) = with_scores(results, table).where("correlation with downstream", downstream="RTE")
        if runs > 3:  # three have no interval
            wrong[f"correlation with downstream {truth:g}, 95 %"] = not held(row, truth)
        elif row.interval is not None:
            raise AssertionError("three checkpoints have no interval of a correlation")
    return wrong


PROMISES: tuple[Callable[[Generator, int], dict[str, bool]], ...] = (
    equal_recipes, equal_effects, nothing_done, recipes_at_the_margin, spread_at_the_margin, a_pair_at_the_margin,
    correlated,
)  # fmt: skip


def count(trials: int) -> Iterator[dict[str, Any]]:
    """How often each promise is broken."""
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
    """The table, to standard output."""
    rows = csv.DictWriter(sys.stdout, ("promise", "checkpoints", "trials", "broken"), lineterminator="\n")
    rows.writeheader()
    for row in count(trials):
        rows.writerow(row)


if __name__ == "__main__":
    main(int(sys.argv[1]))
