"""Every Eval Ever: instance-level JSON Lines (schema `instance_level_eval`), a line per sample, epoch and metric."""

from .samples import Log, Row, Sample, as_text, is_object


def _sample(row: Row) -> Sample:
    graded, question = row.get("evaluation") or {}, row.get("input") or {}
    score = graded.get("score", graded.get("is_correct"))
    metadata = row.get("metadata") or {}
    error = as_text(row.get("error")) or ("" if score is not None else "no score")
    name = str(row.get("evaluation_result_id") or row.get("evaluation_name") or "score")
    return Sample(
        str(row["sample_id"]),
        {} if error else {name: score},
        as_text(question.get("raw")),
        as_text(question.get("reference")),
        _answer(row),
        str(metadata.get("epoch") or metadata.get("repeat") or ""),
        str(row.get("model_id") or ""),
        error,
        choices=tuple(map(str, question.get("choices") or ())),
    )


def _answer(row: Row) -> str:
    last = [part for part in row.get("answer_attribution") or () if part.get("is_terminal")]
    if last:
        return str(last[-1].get("extracted_value", ""))
    return as_text((row.get("output") or {}).get("raw"))


LOG = Log(
    "Every Eval Ever",
    lambda row: is_object(row, "sample_id", "evaluation") and "evaluation_id" in row,
    _sample,
    is_summary=lambda value: is_object(value, "schema_version", "evaluation_results"),
    summary_fix="give its instance-level file, which detailed_evaluation_results names (.jsonl)",
)
