"""Results of bias jobs made from chosen scores."""

# Made-up inputs here are looser than the types they are made up for.
# mypy: disable-error-code="list-item"

import io
from dataclasses import asdict
from typing import Any

import numpy as np
from rich.console import Console

from shoal.core.records import Answer, Case, Measure, Measures, Outcome, Result
from shoal.protocols import bias
from shoal.protocols.base import Built
from shoal.render.terminal import print_sections
from shoal.runs.settings import make_settings

GROUPS = {"diagnostic": "crows", "category": "age", "direction": "stereo"}


def settings(**given: Any) -> bias.Settings:
    chosen: bias.Settings = make_settings(bias.Settings, {"data": "example", **given}, "test")
    return chosen


def crows_results(differences: Any, group: str = "base", cases: Any = None, **job: Any) -> list[Result]:
    """A result per checkpoint, from score differences of pairs × checkpoints."""
    chosen = settings()
    table = np.asarray(differences, dtype=float)
    cases = cases or [Case(str(number), (("a",), ("b",)), None, GROUPS) for number in range(len(table))]
    results = []
    for run, column in enumerate(table.T.tolist()):
        answers = [[Answer("", "tokens", {"score": score}) for score in (value, 0.0)] for value in column]
        scored = bias.score(chosen, Built(cases, None, "tokens"), {"": answers})
        about = {"model": f"{group}{run}{job or ''}", "settings": asdict(chosen), "group": group, **job}
        about |= {"run": run} if "step" in job else {}
        results.append(Result(about, cases, scored.outcomes, Measures(scored.measures), dict(scored.columns)))
    return results


def letters(*checkpoints: str, times: int = 1) -> Any:
    """Score differences from one string per checkpoint: 1 prefers the stereotype, 0 the other, - neither."""
    values = {"1": 1.0, "0": -1.0, "-": 0.0}
    return np.array([[values[letter] for letter in row * times] for row in checkpoints]).T


def score_results(rows: Any, group: str = "base", diagnostic: str = "seat", **given: Any) -> list[Result]:
    """A result per checkpoint that has these measures only."""
    chosen = settings(diagnostic=diagnostic, **given)
    return [
        Result(
            {"model": f"{group}{run}", "settings": asdict(chosen), "group": group, "protocol": "bias"},
            [Case("t", ())], [Outcome("t", None)], Measures(measures), settings=chosen,
        )
        for run, measures in enumerate(rows)
    ]  # fmt: skip


def seat_results(effects: Any, ps: Any, group: str = "base", representation: str = "cls") -> list[Result]:
    """A result per checkpoint, from effect sizes and p values by test."""
    runs = range(len(next(iter(effects.values()))))
    rows = []
    for run in runs:
        groups = [{"diagnostic": "seat", "test": test, "representation": representation} for test in effects]
        rows.append(
            [
                Measure(name, table[about["test"]][run], 16, about)
                for about in groups
                for name, table in (("effect size", effects), ("p value", ps))
            ]
        )
    return score_results(rows, group, representation=representation)


def compare(results: Any, **given: Any) -> Measures:
    return Measures(bias.compare(settings(**given), results).measures)


def sections(results: Any, **given: Any) -> Any:
    compared = bias.compare(settings(**given), results)
    return bias.view(settings(**given), results, compared.measures, compared.findings)


def printed(shown: Any, width: int = 120) -> str:
    console = Console(record=True, width=width, highlight=False, file=io.StringIO())
    print_sections(shown, console)
    return console.export_text()
