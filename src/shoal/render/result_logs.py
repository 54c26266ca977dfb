"""A result as a table of its cases, or as the log of another tool, so that its viewers and statistics can read it.

    csv, parquet   a row per case: ids, texts, expected and predicted labels, passed
    lm-eval        samples as --log_samples writes them
    inspect        a log as JSON, for `inspect view` and `read_eval_log`
    eee            Every Eval Ever 0.2.2: averages, and a line per case in a file beside them

Every log has one sample per case, because shoal judges cases. Its id is the case's id. A case without an answer has its
error and no score; a case that does not apply has no score.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from .. import __version__
from ..core.errors import MissingExtra
from ..core.files import replacing, writing
from ..core.records import Case, Measure
from .tables import rows_as_csv

NOT_APPLICABLE = "the case does not apply to this answer"


@dataclass(frozen=True, slots=True)
class AnsweredCase:
    """A case, the model's answers to its texts, and the verdict."""

    case: Case
    predicted: tuple[str | None, ...]
    """The label of each text, or the answer in words; None without an answer."""
    probabilities: tuple[float | None, ...]
    """The probability of each predicted label; None if the model gave none."""
    passed: bool | None
    error: str


@dataclass(frozen=True, slots=True)
class AnsweredResult:
    """A result with the answers behind it."""

    job_id: str
    model: str
    suite: str
    answered_at: float
    """Seconds since 1970, in UTC."""
    cases: Sequence[AnsweredCase]
    measures: Sequence[Measure]


# Tables


def case_table(cases: Iterable[AnsweredCase]) -> Iterator[dict[str, Any]]:
    """Yield a row per case. Lists have an entry per text of the case."""
    for row in cases:
        case = row.case
        yield {
            "id": case.id,
            "functionality": case.groups["functionality"],
            "capability": case.groups["capability"],
            "test type": case.groups["test type"],
            "texts": [texts[0] if len(texts) == 1 else list(texts) for texts in case.examples],
            "expected": None if case.labels is None else [str(label) for label in case.labels],
            "predicted": list(row.predicted),
            "probability": list(row.probabilities),
            "passed": None if row.passed is None else int(row.passed),
            "error": row.error,
        }


def write_csv(result: AnsweredResult, out: Path) -> None:
    """Write a row per case as CSV; lists are JSON."""
    with writing(out) as stream:
        stream.write(rows_as_csv(list(case_table(result.cases))))


def write_parquet(result: AnsweredResult, out: Path) -> None:
    """Write a row per case as Parquet."""
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtra("pyarrow", needed_for="Parquet files") from None
    rows = list(case_table(result.cases))
    text, texts = arrow.string(), arrow.list_(arrow.string())
    is_pair = bool(rows) and isinstance(rows[0]["texts"][0], list)
    kinds = {"texts": arrow.list_(texts) if is_pair else texts, "expected": texts, "predicted": texts}
    kinds |= {"probability": arrow.list_(arrow.float64()), "passed": arrow.int8()}
    schema = arrow.schema([(name, kinds.get(name, text)) for name in rows[0]])
    with replacing(out) as temporary:
        parquet.write_table(arrow.Table.from_pylist(rows, schema), temporary)


# Logs


def write_lm_eval(result: AnsweredResult, out: Path) -> None:
    """Write samples as lm-evaluation-harness logs them."""
    _write_lines(out, map(_lm_eval_sample, range(len(result.cases)), result.cases))


def _lm_eval_sample(number: int, row: AnsweredCase) -> dict[str, Any]:
    doc = {"id": row.case.id, "text": _text(row), **_case_metadata(row)}
    passed = {} if row.passed is None else {"acc": float(row.passed)}
    why = row.error or ("" if passed else NOT_APPLICABLE)
    return {
        "doc_id": number,
        "doc": doc,
        "target": _expected(row),
        "arguments": {
            f"gen_args_{place}": {"arg_0": "\n".join(texts), "arg_1": ""}
            for place, texts in enumerate(row.case.examples)
        },
        "resps": [[answer] for answer in _answers(row)],
        "filtered_resps": _answers(row),
        "filter": "none",
        "metrics": list(passed),
        "doc_hash": _hash(json.dumps(doc, ensure_ascii=False)),
        "prompt_hash": _hash(_text(row)),
        "target_hash": _hash(_expected(row)),
        **passed,
        **({"error": why} if why else {}),
    }


def write_inspect(result: AnsweredResult, out: Path) -> None:
    """Write a log of inspect, version 2, as JSON."""
    scored = [row.passed for row in result.cases if row.passed is not None]
    accuracy = {"name": "accuracy", "value": sum(scored) / max(1, len(scored))}
    score = {
        "name": "shoal",
        "scorer": "shoal",
        "scored_samples": len(scored),
        "unscored_samples": len(result.cases) - len(scored),
        "metrics": {"accuracy": accuracy},
    }
    log = {
        "version": 2,
        "status": "success",
        "eval": _inspect_eval(result),
        "plan": {"name": "plan", "steps": []},
        "results": {
            "total_samples": len(result.cases),
            "completed_samples": sum(not row.error for row in result.cases),
            "scores": [score],
        },
        "stats": {"started_at": _answered_at(result), "completed_at": _answered_at(result)},
        "samples": [_inspect_sample(result, row) for row in result.cases],
    }
    with writing(out) as stream:
        stream.write(json.dumps(log, ensure_ascii=False, indent=1) + "\n")


def _inspect_eval(result: AnsweredResult) -> dict[str, Any]:
    ids = [row.case.id for row in result.cases]
    return {
        "eval_id": result.job_id,
        "run_id": result.job_id,
        "created": _answered_at(result),
        "task": result.suite,
        "task_id": result.suite,
        "task_version": 0,
        "dataset": {"name": result.suite, "samples": len(ids), "sample_ids": ids},
        "model": result.model,
        "config": {"epochs": 1},
        "packages": {"shoal": __version__},
    }


def _inspect_sample(result: AnsweredResult, row: AnsweredCase) -> dict[str, Any]:
    message = {"role": "assistant", "content": _answer(row)}
    sample: dict[str, Any] = {
        "id": row.case.id,
        "epoch": 1,
        "input": _text(row),
        "target": _expected(row),
        "messages": [{"role": "user", "content": _text(row)}, message],
        "output": {"model": result.model, "choices": [{"message": message, "stop_reason": "stop"}]},
        "metadata": _case_metadata(row),
    }
    if row.passed is not None:
        sample["scores"] = {"shoal": {"value": "C" if row.passed else "I", "answer": _answer(row)}}
    if row.error:
        sample["error"] = {"message": row.error, "traceback": "", "traceback_ansi": ""}
    return sample


def write_eee(result: AnsweredResult, out: Path) -> None:
    """Write the averages as an Every Eval Ever record, and the cases beside it as PATH_samples.jsonl."""
    beside = samples_file(out)
    rows = [row for row in result.cases if row.passed is not None or row.error]
    identity = f"{result.suite}/{result.model}/{result.answered_at:.0f}"
    _write_lines(beside, (_eee_sample(result, row, identity) for row in rows))
    record = {
        "schema_version": "0.2.2",
        "evaluation_id": identity,
        "evaluation_timestamp": _answered_at(result),
        "retrieved_timestamp": f"{result.answered_at:.0f}",
        "source_metadata": {
            "source_name": "shoal",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "shoal", "version": __version__},
        "model_info": {"name": result.model, "id": result.model},
        "evaluation_results": [_eee_result(result, row) for row in result.measures if row.value is not None],
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": beside.name,
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(beside.read_bytes()).hexdigest(),
            "total_rows": len(rows),
        },
    }
    with writing(out) as stream:
        stream.write(json.dumps(record, ensure_ascii=False, indent=1) + "\n")


def samples_file(out: Path) -> Path:
    """Return the file beside an Every Eval Ever record that holds the cases."""
    return out.with_name(f"{out.stem}_samples.jsonl")


def _eee_result(result: AnsweredResult, measure: Measure) -> dict[str, Any]:
    uncertainty: dict[str, Any] = {"num_samples": measure.n}
    if measure.interval:
        low, high = measure.interval
        interval = {"lower": low, "upper": high, "confidence_level": 0.95, "method": measure.interval_method}
        uncertainty["confidence_interval"] = interval
    groups = [f"{group}={value}" for group, value in measure.groups.items()]
    details = {**measure.groups, "not applicable": str(measure.na), "errors": str(measure.errors)}
    return {
        "evaluation_result_id": "/".join([measure.name, *groups]),
        "evaluation_name": "/".join([result.suite, *measure.groups.values()]),
        "source_data": {"dataset_name": result.suite, "source_type": "other"},
        "metric_config": {
            "metric_name": measure.name,
            "metric_unit": "proportion",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0,
        },
        "score_details": {"score": measure.value, "details": details, "uncertainty": uncertainty},
    }


def _eee_sample(result: AnsweredResult, row: AnsweredCase, identity: str) -> dict[str, Any]:
    text, expected = _text(row), _expected(row)
    return {
        "schema_version": "instance_level_eval_0.2.2",
        "evaluation_id": identity,
        "model_id": result.model,
        "evaluation_name": result.suite,
        "evaluation_result_id": "pass rate",
        "sample_id": row.case.id,
        "sample_hash": _hash(text + expected),
        "interaction_type": "single_turn",
        "input": {"raw": text, "reference": [expected] if expected else []},
        "output": {"raw": _answers(row)},
        "answer_attribution": [],
        "evaluation": {"score": float(bool(row.passed)), "is_correct": bool(row.passed)},
        **({"error": row.error} if row.error else {}),
        "metadata": {name: str(value) for name, value in _case_metadata(row).items()},
    }


# Parts of a sample


def _text(row: AnsweredCase) -> str:
    return "\n".join("\n".join(texts) for texts in row.case.examples)


def _expected(row: AnsweredCase) -> str:
    labels = dict.fromkeys(str(label) for label in row.case.labels or ())
    return ", ".join(labels)


def _answer(row: AnsweredCase) -> str:
    return "\n".join(filter(None, row.predicted))


def _answers(row: AnsweredCase) -> list[str]:
    return [answer or "" for answer in row.predicted]


def _case_metadata(row: AnsweredCase) -> dict[str, str]:
    groups = {name.replace(" ", "_"): value for name, value in row.case.groups.items()}
    return {"case_id": row.case.id, **groups}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _answered_at(result: AnsweredResult) -> str:
    return datetime.fromtimestamp(result.answered_at, UTC).isoformat(timespec="seconds")


def _write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    with writing(path) as stream:
        stream.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


# The table


RESULT_FORMS: dict[str, tuple[str, Callable[[AnsweredResult, Path], None]]] = {
    "lm-eval": ("-lm-eval.jsonl", write_lm_eval),
    "inspect": ("-inspect.json", write_inspect),
    "eee": ("-eee.json", write_eee),
    "csv": (".csv", write_csv),
    "parquet": (".parquet", write_parquet),
}
"""Target to the ending of its file, and the function that writes it."""
