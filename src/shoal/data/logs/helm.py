"""HELM: `per_instance_stats.json`, a list of the statistics of each instance, training trial and perturbation."""

from collections.abc import Iterable
from typing import Any

from ...core.errors import DataError
from .samples import Log, Question, Row, Sample, Summary, is_object

UNSCORED = (
    *(
        "num_",
        "inference_",
        "batch_size",
        "finish_reason",
        "training_",
        "max_prob",
        "logprob",
        "prompt_truncated",
    ),
    *("request_", "estimated_", "predicted_index", "logits", "perplexity", "bits_per_byte"),
)
"""Counts, durations and likelihoods, which grade no answer."""


def _fits(document: Any) -> bool:
    return isinstance(document, list) and bool(document) and is_object(document[0], "instance_id", "stats")


def _sample(row: Row) -> Sample:
    changed = row.get("perturbation") or {}
    name = f" ({changed.get('name')})" if changed else ""
    scores = {
        stat["name"]["name"]: stat.get("mean", stat["sum"] / stat["count"] if stat.get("count") else None)
        for stat in row["stats"]
    }
    run = str(row.get("train_trial_index", ""))
    return Sample(f"{row['instance_id']}{name}", scores, run=run, error="" if scores else "no score")


def _question(row: Row) -> Question:
    raise DataError(
        "HELM's statistics have no texts and no answers", fix="scores:FILE, or scenario_state.json as a table"
    )


def _rows(document: Any) -> Iterable[Any]:
    return document  # type: ignore[no-any-return]


def _is_aggregate(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and is_object(value[0], "name", "count", "sum")
        and isinstance(value[0]["name"], dict)
    )


LOG = Log(
    "HELM",
    _fits,
    _sample,
    _question,
    _rows,
    Summary(
        _is_aggregate, "HELM's averages, without instances", "give per_instance_stats.json of the same folder"
    ),
    unscored=UNSCORED,
)
