"""lm-evaluation-harness: `samples_TASK_DATE.jsonl`, written by --log_samples.

A line per document and filter. `resps` and `filtered_resps` are (log-likelihood, is greedy) for each choice, or texts;
older versions write numbers as texts and `arguments` as lists.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...core.errors import DataError
from .samples import Log, Question, Row, Sample, case_of, choice_letter, is_object, question_of, with_choices

NO_METRICS = {
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "error"),
    *("doc_hash", "prompt_hash", "target_hash"),
}
"""Fields of a line in older versions, which do not name the metrics."""
TEXTS = (
    ("premise", "hypothesis"), ("sentence1", "sentence2"), ("question1", "question2"), ("passage", "question"),
    ("question",), ("text",), ("sentence",), ("input",), ("query",), ("prompt",), ("problem",), ("goal",), ("ctx",),
    ("instruction",),
)  # fmt: skip
"""Usual names of a document's texts."""
CHOICES = ("choices", "options", "endings", "answers")


def _sample(row: Row) -> Sample:
    names = row.get("metrics") or [name for name in row if name not in NO_METRICS]
    ending = "" if row.get("filter") in (None, "", "none") else f",{row['filter']}"
    scores = {f"{name}{ending}": row.get(name) for name in names}
    error = row.get("error") or ("" if any([value is not None for value in scores.values()]) else "no score")
    reply, likelihoods, text = _reply(row), _likelihoods(row), "\n".join(texts_of(row))
    choices = _choices(row, len(likelihoods)) if likelihoods else ()
    if reply is None:
        reply = choices[likelihoods.index(max(likelihoods))] if likelihoods else ""
    case = case_of(row.get("doc"))
    return Sample(
        _identity(row), scores, text, _target(row), reply, error=str(error), case=case, choices=choices
    )


def _identity(row: Row) -> str:
    """Return the id of a sample: of a task or log that shoal wrote the document's own, else its place."""
    doc: Any = row.get("doc")
    return str(doc["id"] if is_object(doc, "id", "case_id", "test_type") else row["doc_id"])


def texts_of(row: Row) -> tuple[str, ...]:
    """Return the texts of a document: its usual fields, else the prompt, else all of it."""
    doc = row.get("doc")
    if isinstance(doc, dict):
        for names in TEXTS:
            texts: tuple[Any, ...] = tuple([doc.get(name) for name in names])
            if all([isinstance(text, str) and text.strip() for text in texts]):
                return texts
        if doc:
            return (json.dumps(doc, ensure_ascii=False, sort_keys=True),)
    prompts = _arguments(row)
    return (str(prompts[0][0]),) if prompts and prompts[0] else (str(doc or ""),)


def _arguments(row: Row) -> list[list[Any]]:
    """Return the arguments of each request: the prompt, and the continuation or the settings."""
    arguments = row.get("arguments") or []
    requests = arguments.values() if isinstance(arguments, dict) else arguments
    return [list(each.values()) if isinstance(each, dict) else list(each) for each in requests]


def _reply(row: Row) -> str | None:
    """Return the reply in words; None for log-likelihoods."""
    arguments = row.get("arguments") or ()
    first = next(iter(arguments.values() if isinstance(arguments, dict) else arguments), "no")
    if len(first) == 1:  # rolling: a log-likelihood of the prompt itself
        return None
    reply = (row.get("filtered_resps") or row.get("resps") or [""])[0]
    while isinstance(reply, list) and len(reply) == 1:
        reply = reply[0]
    return reply if isinstance(reply, str) else None


def _target(row: Row) -> str:
    target = "" if row.get("target") is None else row["target"]
    return str(target[0] if isinstance(target, list) and len(target) == 1 else target)


def _likelihoods(row: Row) -> tuple[float, ...]:
    """Return the log-likelihood of each choice; empty for replies in words."""
    numbers = []
    for reply in row.get("filtered_resps") or row.get("resps") or ():
        while isinstance(reply, list) and len(reply) == 1:
            reply = reply[0]
        if not isinstance(reply, list) or len(reply) != 2:
            return ()
        numbers.append(float(reply[0]))
    return tuple(numbers) if len(numbers) > 1 else ()


def _choices(row: Row, count: int) -> tuple[str, ...]:
    """Return the choices: the continuations that were scored, unless they are alike."""
    continuations = [str(request[1]).strip() for request in _arguments(row)[:count] if len(request) > 1]
    if len(set(continuations)) == count:
        return tuple(continuations)
    return _listed(row, count) or tuple(map(str, range(count)))


def _listed(row: Row, count: int) -> tuple[str, ...]:
    """Return the choices that the document lists; empty if it lists none."""
    doc: Any = row.get("doc")
    for name in CHOICES if isinstance(doc, dict) else ():
        listed = doc.get(name)
        listed = listed.get("text") if isinstance(listed, dict) else listed
        if isinstance(listed, list) and len(listed) == count:
            return tuple(map(str, listed))
    return ()


def _question(row: Row, sample: Sample) -> Question:
    likelihoods, texts, count = _likelihoods(row), texts_of(row), len(_likelihoods(row))
    if not likelihoods and _reply(row) is None:
        raise DataError(
            "log-likelihoods of given texts, and no answer",
            fix="scores:FILE, which takes their metrics; or a task with choices or answers in words",
        )
    if sample.choices == tuple(map(choice_letter, range(count))):
        texts = with_choices(texts, _listed(row, count))
    return replace(question_of(sample), texts=texts, likelihoods=likelihoods)


LOG = Log(
    "lm-eval",
    lambda row: is_object(row, "doc_id") and ("resps" in row or "filtered_resps" in row),
    _sample,
    is_summary=lambda value: is_object(value, "results", "configs") and isinstance(value["results"], Mapping),
    summary_fix="run lm-eval again with --log_samples, and give its samples_TASK_DATE.jsonl",
    question=_question,
)
