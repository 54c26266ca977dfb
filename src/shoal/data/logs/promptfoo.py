"""promptfoo: `promptfoo eval --output results.json` (or .jsonl): each prompt and provider on each test.

The number of the test is the id. `success` is promptfoo's verdict; `score` and the named scores can be chosen. A result
that failed with an error, not by an assertion, has `failureReason` 2.
"""

import json
from collections.abc import Iterable
from typing import Any

from .samples import Log, Question, Row, Sample, as_text, is_object

ERROR = 2


def _fits(document: Any) -> bool:
    if is_object(document, "testIdx", "promptIdx", "success"):  # a line of results.jsonl
        return True
    inside = document.get("results") if isinstance(document, dict) else None
    return is_object(inside, "results") and isinstance(inside["results"], list) and "stats" in inside


def _rows(document: Any) -> Iterable[Any]:
    rows = document["results"]["results"]
    prompts = {row.get("promptIdx") for row in rows}
    providers = {_provider(row) for row in rows}
    repeats = _repeats(rows)
    for row, repeat in zip(rows, repeats, strict=True):
        label = as_text((row.get("prompt") or {}).get("label")) or f"prompt {row.get('promptIdx')}"
        several = len(prompts) > len(providers)
        yield {
            **row,
            "shoal model": f"{_provider(row)} {label}" if several else _provider(row),
            "repeat": repeat,
        }


def _provider(row: Row) -> str:
    provider = row.get("provider") or {}
    return provider if isinstance(provider, str) else str(provider.get("label") or provider.get("id") or "")


def _repeats(rows: Any) -> list[str]:
    """Return the repeat of each row (`--repeat`): promptfoo numbers the repeats of a test one after the other."""
    return [str(row.get("repeatIndex", "")) for row in rows]


def _sample(row: Row) -> Sample:
    named = row.get("namedScores") or {}
    failed = row.get("failureReason") == ERROR or (row.get("error") and not row.get("gradingResult"))
    error = (as_text(row.get("error")) or "error") if failed else ""
    scores = {"success": row.get("success"), "score": row.get("score"), **named}
    variables = row.get("vars") or (row.get("testCase") or {}).get("vars") or {}
    return Sample(
        str(row["testIdx"]),
        {} if error else scores,
        _text(variables) or as_text((row.get("prompt") or {}).get("raw")),
        answer=as_text((row.get("response") or {}).get("output")),
        run=str(row.get("repeat", "")),
        model=str(row.get("shoal model") or _provider(row)),
        error=error,
    )


def _text(variables: Row) -> str:
    if len(variables) == 1:
        return as_text(next(iter(variables.values())))
    return json.dumps(variables, ensure_ascii=False, sort_keys=True) if variables else ""


def _question(row: Row) -> Question:
    sample = _sample(row)
    asserted = (row.get("testCase") or {}).get("assert") or ()
    labels = [
        part.get("value") for part in asserted if part.get("type") in ("equals", "icontains", "contains")
    ]
    return Question((sample.text,), as_text(labels[0]) if len(labels) == 1 else "", sample.answer.strip())


LOG = Log("promptfoo", _fits, _sample, _question, _rows, metric="success")
