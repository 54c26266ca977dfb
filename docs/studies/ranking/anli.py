"""Rank eight models on ANLI, rounds 1 and 2, overall and by the annotators' tags.

    python docs/studies/ranking/anli.py DATA > docs/studies/ranking/anli.csv
    python docs/studies/ranking/anli.py DATA models > docs/studies/ranking/anli-models.csv

DATA is the folder with `anli_dev_8models/`. A tag is a subset of the examples; the models' accuracies on that subset
define the true order. The second command writes the models with all labels, and the gain of combining confidence
with accuracy at t = 10.
"""

import ast
import csv
import gzip
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.core.records import Measures, Result
from shoal.protocols import ranking
from shoal.protocols.ranking.score import accuracy
from shoal.runs.results import audit_all

MODELS = (
    "roberta-from-r2", "roberta-from-r3", "bert-r1", "anli-roberta-large", "anli-bart-large", "anli-xlnet-large",
    "anli-electra-large", "anli-albert-xxlarge",
)  # fmt: skip
TAGS = ("Basic", "Numerical", "Reasoning", "Reference", "Tricky")
FACTORS = ("ACC", "CONF", "CONF-GT")
NAMES = (("factor", "model"), ("against", "than"))
"""Groups that name the subject of a measure and its baseline."""


def results_of(path: Path, **more: Any) -> list[Result]:
    """Return the results of every model on one round."""
    specs = [
        f"predictions:{path}?id=uid&label=preds-{name}PredLabel&probabilities=preds-{name}&labels=e,n,c"
        for name in MODELS
    ]
    settings = {
        "data": (str(path),), "text": ("context", "statement"), "label": "gold_label",
        "labels": ("e", "n", "c"), "factors": FACTORS, "probe_sizes": (5, 10, 20),
        **more,
    }  # fmt: skip
    return audit_all(specs, "ranking", settings)


def tags_of(path: Path) -> dict[str, set[str]]:
    """Return the example ids of each tag."""
    by_tag: dict[str, set[str]] = {tag: set() for tag in TAGS}
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            for tag in set(ast.literal_eval(row["tags"] or "[]")) & set(TAGS):
                by_tag[tag].add(f"labelled/{row['uid']}")
    return by_tag


def narrowed(results: Sequence[Result], ids: set[str]) -> list[Result]:
    """Return the results restricted to some examples."""
    parts = []
    for result in results:
        places = [place for place, case in enumerate(result.cases) if case.id in ids]
        cases, outcomes = ([rows[place] for place in places] for rows in (result.cases, result.outcomes))
        columns = {name: [column[place] for place in places] for name, column in result.columns.items()}
        measures = Measures([accuracy(cases, outcomes)])  # type: ignore[arg-type]
        parts.append(replace(result, cases=cases, outcomes=outcomes, columns=columns, measures=measures))  # type: ignore[arg-type]
    return parts


def main(data: Path) -> None:
    """Print a line per round, tag, size and factor."""
    print("round,tag,examples,t,factor,right order,low,high,better direction")
    for number in (1, 2):
        path = data / "anli_dev_8models" / f"ANLI_analysis_r{number}_dev.csv.gz"
        results = results_of(path)
        everything = {case.id for case in results[0].cases}
        for tag, ids in {"all": everything, **tags_of(path)}.items():
            measures = Measures(ranking.compare(results[0].settings, narrowed(results, ids)).measures)
            for row in measures.where("few-shot accuracy"):
                numbers = [
                    row.value,
                    *(row.interval or ("", "")),
                    max(row.value or 0.0, 1 - (row.value or 0.0)),
                ]
                words = [f"{value:.4f}" if isinstance(value, float) else "" for value in numbers]
                print(number, tag, len(ids), row.groups["probe size"], row.groups["factor"], *words, sep=",")


def models(data: Path) -> None:
    """Print the models and pairs with all labels, and the gain of factors over ACC."""
    print("round,measure,of,against,value,low,high")
    for number in (1, 2):
        path = data / "anli_dev_8models" / f"ANLI_analysis_r{number}_dev.csv.gz"
        results = results_of(path, probe_sizes=(10,))
        for row in ranking.compare(results[0].settings, results).measures:
            groups = row.groups
            of_factors = row.name == "difference" and "factor" in groups
            if of_factors or row.name in ("accuracy", "probability better"):
                of, against = (groups.get(one) or groups.get(other, "") for one, other in NAMES)
                words = [f"{value:.4f}" for value in (row.value, *(row.interval or ())) if value is not None]
                print(number, row.name, of, against, *words, *[""] * (3 - len(words)), sep=",")


if __name__ == "__main__":
    (models if sys.argv[2:] == ["models"] else main)(Path(sys.argv[1]))
