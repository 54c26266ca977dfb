"""Graded files as results of `ranking`: their samples are the labelled examples."""

from collections.abc import Sequence
from dataclasses import replace

from ...core.errors import DataError
from ...core.records import Measures, Result
from ..ranking.build import LABELLED
from ..ranking.score import PREDICTION, accuracy
from ..ranking.settings import Settings
from .result import PASS_RATE


def ranked(results: Sequence[Result]) -> list[Result]:
    """Return results that `ranking.compare` orders; scores must be pass or fail, in one run."""
    settings, first = Settings(probe_sizes=()), results[0]
    (whole,) = [row for row in first.measures if row.headline]
    if whole.name != PASS_RATE or any(
        row.headline and row.basis.column for r in results for row in r.measures
    ):
        raise DataError(
            "rank needs samples that pass or fail, in one run",
            why="it counts the samples that only one of two models gets right",
            fix="shoal compare, two files at a time",
        )
    cases = [replace(case, groups={"part": LABELLED}) for case in first.cases]
    about = {"data": [], "pool": "", "examples": {LABELLED: len(cases)}}
    ordered = []
    for result in results:
        said = result.columns.get("said", [("",)] * len(cases))
        ordered.append(
            Result(
                {**result.job, "protocol": "ranking", "about": {**about, "data": [result.job["model"]]}},
                cases,
                result.outcomes,
                Measures([accuracy(cases, result.outcomes)]),
                {PREDICTION: [answer for (answer,) in said]},
                settings=settings,
            )
        )
    return ordered
