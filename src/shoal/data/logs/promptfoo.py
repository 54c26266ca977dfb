"""promptfoo: `promptfoo eval --output results.json` (or .jsonl): each prompt and provider on each test.

The number of the test is the id; the text is its variables. `success` is promptfoo's verdict; `score` and the named
scores can be chosen. A result that failed with an error, not by an assertion, has `failureReason` 2.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .samples import Log, Question, Row, Sample, as_text, is_object

ERROR = 2


def _is_line(row: Any) -> bool:
    return is_object(row, "testIdx", "promptIdx", "success")


def _fits(document: Any) -> bool:
    inside: Any = document.get("results") if isinstance(document, dict) else None
    return is_object(inside, "results", "stats") and isinstance(inside["results"], list)


def _rows(document: Any) -> Iterable[Any]:
    rows = document["results"]["results"]
    prompts = {row.get("promptIdx") for row in rows}
    several = len(prompts) > len({_provider(row) for row in rows})
    repeated = (document.get("runtimeOptions") or {}).get("repeat", 1) > 1
    for row, test, repeat in _tests(rows) if repeated else ((row, row["testIdx"], "") for row in rows):
        prompt = as_text((row.get("prompt") or {}).get("label")) or f"prompt {row.get('promptIdx')}"
        model = f"{_provider(row)}, {prompt}" if several else _provider(row)
        yield {**row, "testIdx": test, "repeat": repeat, "several": model}


def _tests(rows: Sequence[Any]) -> Iterator[tuple[Any, int, str]]:
    """Yield each row with its test and its repeat: --repeat numbers the copies of a test like other tests."""
    tests: dict[str, int] = {}
    copies: Counter[str] = Counter()
    for row in sorted(rows, key=lambda row: (row["testIdx"], row["promptIdx"])):
        case = row.get("testCase") or {}
        test = json.dumps([row.get("vars"), case.get("assert"), case.get("metadata")], sort_keys=True)
        copies[key := f"{row['promptIdx']} {test}"] += 1
        yield row, tests.setdefault(test, len(tests)), str(copies[key])


def _provider(row: Row) -> str:
    provider = row.get("provider") or {}
    return provider if isinstance(provider, str) else str(provider.get("label") or provider.get("id") or "")


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
        model=str(row.get("several") or _provider(row)),
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
LINES = Log("promptfoo", _is_line, _sample, _question, metric="success")
