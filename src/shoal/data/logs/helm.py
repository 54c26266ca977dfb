"""HELM: `per_instance_stats.json`, the statistics of each instance, training trial and perturbation.

`scenario_state.json` of the same folder has the texts and answers.
"""

from typing import Any

from ...core.errors import DataError
from .samples import Log, Question, Row, Sample, as_text, is_object

UNSCORED = (
    "num_", "inference_", "batch_size", "finish_reason", "training_", "max_prob", "logprob", "prompt_truncated",
    "request_", "estimated_", "predicted_index", "logits", "perplexity", "bits_per_byte",
)  # fmt: skip
"""Counts, durations and likelihoods, which grade no answer."""
SIGNS = (b'"instance_id"', b'"sum_squared"')
"""Keys at the beginning of its files."""


def _identity(instance: str, perturbation: Row | None) -> str:
    return f"{instance} ({perturbation.get('name')})" if perturbation else instance


def _sample(row: Row) -> Sample:
    scores = {
        stat["name"]["name"]: stat.get("mean", stat["sum"] / stat["count"] if stat.get("count") else None)
        for stat in row["stats"]
    }
    run = str(row.get("train_trial_index", ""))
    identity = _identity(row["instance_id"], row.get("perturbation"))
    return Sample(identity, scores, run=run, error="" if scores else "no score")


def _question(row: Row, sample: Sample) -> Question:
    raise DataError(
        "HELM's statistics have no texts and no answers", fix="give scenario_state.json of the same folder"
    )


def _state_sample(row: Row) -> Sample:
    instance, result = row["instance"], row.get("result") or {}
    correct = [part["output"]["text"] for part in instance["references"] if "correct" in part["tags"]]
    answer = as_text((result.get("completions") or [""])[0])
    mapped: Any = row.get("output_mapping") or {}
    error = "" if result.get("success") else as_text(result.get("error")) or "no answer"
    return Sample(
        _identity(instance["id"], instance.get("perturbation")),
        {},
        as_text(instance["input"]),
        as_text(correct[:1]),
        mapped.get(answer.strip(), answer),
        str(row.get("train_trial_index", "")),
        error=error,
    )


STATE = Log(
    "HELM",
    lambda value: is_object(value, "adapter_spec", "request_states"),
    _state_sample,
    lambda document: document["request_states"],
)
LOG = Log(
    "HELM",
    lambda value: isinstance(value, list) and is_object((*value, None)[0], "instance_id", "stats"),
    _sample,
    lambda document: document,
    lambda value: isinstance(value, list) and is_object((*value, None)[0], "name", "count", "sum"),
    "give per_instance_stats.json of the same folder",
    unscored=UNSCORED,
    question=_question,
)
