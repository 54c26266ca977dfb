"""promptfoo: `promptfoo eval --output results.json` (or .jsonl): each prompt and provider on each test.

The number of the test is the id; the text is its variables. `success` is promptfoo's verdict; `score` and the named
scores can be chosen. A result that failed with an error, not by an assertion, has `failureReason` 2.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from .samples import Log, Question, Row, Sample, as_text, is_object

ERROR = 2


def _fits(document: Any) -> bool:
    inside: Any = document.get("results") if isinstance(document, dict) else None
    return is_object(inside, "results", "stats") and isinstance(inside["results"], list)


def _rows(results: Iterable[Any]) -> Iterator[Any]:
    """Yield the results with test, repeat and model: --repeat numbers the copies of a test like other tests."""
    rows = sorted(results, key=lambda row: (row["testIdx"], row["promptIdx"]))
    several = len({row["promptIdx"] for row in rows}) > len({_provider(row) for row in rows})
    tests: dict[str, int] = {}
    copies: Counter[tuple[int, str]] = Counter()
    repeats: dict[tuple[int, int, str], int] = {}
    numbered = []
    for row in rows:
        case = row.get("testCase") or {}
        test = json.dumps([row.get("vars"), case.get("assert"), case.get("metadata")], sort_keys=True)
        cell = row["testIdx"], row["promptIdx"], _provider(row)
        if cell not in repeats:  # a repeat has its own number; the same number again is a copy of its row
            copies[key := (row["promptIdx"], test)] += 1
            repeats[cell] = copies[key]
        numbered.append((row, tests.setdefault(test, len(tests)), repeats[cell]))
    for row, place, repeat in numbered:
        prompt = as_text((row.get("prompt") or {}).get("label")) or f"prompt {row['promptIdx']}"
        model = f"{_provider(row)}, {prompt}" if several else _provider(row)
        is_repeated = max(copies.values()) > 1
        about = {"testIdx": place, "repeat": str(repeat)} if is_repeated else {}
        yield {**row, **about, "model": model}


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
        run=row.get("repeat", ""),
        model=row["model"],
        error=error,
    )


def _text(variables: Row) -> str:
    if len(variables) == 1:
        return as_text(next(iter(variables.values())))
    return json.dumps(variables, ensure_ascii=False, sort_keys=True) if variables else ""


def _question(row: Row, sample: Sample) -> Question:
    asserted = (row.get("testCase") or {}).get("assert") or ()
    labels = [
        part.get("value") for part in asserted if part.get("type") in ("equals", "icontains", "contains")
    ]
    return Question((sample.text,), as_text(labels[0]) if len(labels) == 1 else "", sample.answer.strip())


LOG = Log(
    "promptfoo",
    _fits,
    _sample,
    lambda document: _rows(document["results"]["results"]),
    metric="success",
    question=_question,
)
LINES = replace(
    LOG, fits=lambda row: is_object(row, "testIdx", "promptIdx", "success"), rows=_rows, of_lines=True
)
