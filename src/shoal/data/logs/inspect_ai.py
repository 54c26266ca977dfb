"""inspect: a log as JSON (`inspect log dump`), or the `.eval` archive with a member for each sample and epoch.

Letters are graded as inspect's own `value_to_float` does: C 1, P 0.5, I and N 0. NaN marks an unscored sample.
Samples that the log announces and does not have, because the run was stopped, are errors.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...core.errors import DataError, errors_at
from ...core.files import parse_json
from .archives import HEADER, START, Members
from .samples import Log, Question, Row, Sample, Summary, as_text, case_of, is_object

SAMPLE = re.compile(r"samples/.+\.json")  # ids may have slashes
ATTACHMENT = "attachment://"
MOST_EPOCHS = 10_000
"""A damaged log may announce more."""


class Archive(Mapping[str, Any]):
    """An `.eval` archive as the object that the JSON log is; samples are read on demand."""

    def __init__(self, path: Path) -> None:
        self._path, self._members = path, Members(path)
        names = self._members.names()
        self._header = self._json(HEADER if HEADER in names else START)
        self._samples = sorted(filter(SAMPLE.fullmatch, names))
        if not isinstance(self._header, dict):
            raise DataError(
                f"{path}: not an inspect log", why=f"{HEADER} is not an object", fix="run inspect again"
            )

    def __getitem__(self, name: str) -> Any:
        return map(self._json, self._samples) if name == "samples" else self._header[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._header, "samples": ()})

    def __len__(self) -> int:
        return len({**self._header, "samples": ()})

    def _json(self, name: str) -> Any:
        content = self._members.read(name)
        with errors_at(f"{self._path}: {name}"):
            return parse_json(content, "run inspect again", nan=True)


def _rows(log: Any) -> Iterable[Any]:
    """Yield the samples, then a line for each that is announced and not there."""
    plan = log["eval"] or {}
    dataset, config = plan.get("dataset") or {}, plan.get("config") or {}
    epochs = config.get("epochs") or 1
    if not 1 <= epochs <= MOST_EPOCHS:
        raise ValueError(f"{epochs} epochs")
    seen = set()
    for row in log["samples"] or ():
        seen.add((str(row["id"]), row.get("epoch", 1)))
        yield {**row, "several epochs": epochs > 1}
    status = log.get("status", "started")
    for identity in dataset.get("sample_ids") or ():
        for epoch in range(1, epochs + 1):
            if (str(identity), epoch) not in seen:
                why = f"not in the log (status: {status})"
                yield {"id": identity, "epoch": epoch, "error": why, "several epochs": epochs > 1}


def _sample(row: Row) -> Sample:
    error = row.get("error")
    error = as_text(error.get("message")) if isinstance(error, dict) else as_text(error)
    scores = {} if error else dict(_scores(row.get("scores") or {}))
    epoch = str(row.get("epoch", 1)) if row.get("several epochs") or row.get("epoch", 1) != 1 else ""
    return Sample(
        str(row["id"]),
        scores,
        _text(row),
        as_text(row.get("target")),
        _answer(row),
        epoch,
        error=error or ("" if scores else "no score"),
        case=case_of(row.get("metadata")),
    )


def _scores(scorers: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each score by its scorer; those of a scorer with several by scorer and name."""
    for scorer, score in scorers.items():
        value = score.get("value") if isinstance(score, dict) else score
        if isinstance(value, dict):
            yield from ((f"{scorer}.{name}", part) for name, part in value.items())
        elif not isinstance(value, list):
            yield scorer, value


def _text(row: Row) -> str:
    """Return the input; of chat messages those of the user. Long texts are stored as attachments."""
    given = row.get("input")
    if isinstance(given, list):
        user = [part for part in given if isinstance(part, dict) and part.get("role") == "user"]
        given = user or given
    text, kept = as_text(given), row.get("attachments") or {}
    return str(kept.get(text.removeprefix(ATTACHMENT), text)) if text.startswith(ATTACHMENT) else text


def _answer(row: Row) -> str:
    """Return the answer that the only scorer took, else the reply."""
    answers = [score.get("answer") for score in (row.get("scores") or {}).values() if isinstance(score, dict)]
    output = row.get("output") or {}
    reply = output.get("completion")
    if reply is None and output.get("choices"):
        reply = (output["choices"][0].get("message") or {}).get("content")
    return as_text(answers[0]) if len(answers) == 1 and answers[0] else as_text(reply)


def _question(row: Row) -> Question:
    sample, choices = _sample(row), tuple(map(str, row.get("choices") or ()))
    label, answer = sample.target, sample.answer.strip()
    if choices:  # multiple_choice() asks for letters
        letters = {chr(ord("A") + place): choice for place, choice in enumerate(choices)}
        label, answer = letters.get(label, label), letters.get(answer, answer)
    return Question((sample.text,), label, answer, choices)


def _is_header(value: Any) -> bool:
    return is_object(value, "eval", "status") and "samples" not in value


LOG = Log(
    "inspect",
    lambda value: isinstance(value, Mapping) and "eval" in value and "samples" in value,
    _sample,
    _question,
    _rows,
    Summary(
        _is_header,
        "the header of an inspect log, without samples",
        "inspect log dump FILE, without --header-only",
    ),
)
