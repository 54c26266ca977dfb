"""The readers of predictions files: how each format is recognised and read.

JSON and tables have named fields (`records.py`); `data/logs` opens logs of other tools. CheckList's five text formats
have one line per example, in the suite's order (docs/method/checklist.md 2.5): a number counts the suite's labels
from 0, and so does the place of a probability.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from ...core.errors import DataError, ModelError, some
from ...core.files import (
    BOM,
    first_bytes,
    is_json_array,
    read_json,
    read_json_array,
    read_json_lines,
    read_lines,
)
from ...core.records import Example
from ...data.cells import value_at
from ...data.log import common_choices, lettered, probabilities
from ...data.logs import open_log
from ...data.stereoset import TASKS
from ...data.tables import is_table, open_rows
from .columns import Columns, Key, Options, Request, number_from, shown
from .matching import SINGLE, refuse_other_texts
from .records import IDS, read_records

TEXT = ("labels",)
RECORDS = ("id", "label", "labels", "probabilities")

# JSON


def read_json_objects(request: Request) -> Columns:
    """Read JSON Lines; a first line `{"label_names": […]}` names the numbers and probabilities."""
    lines = read_json_lines(request.path)
    first = next(lines, None)
    if first is None or "label_names" not in first[1] or not IDS.isdisjoint(first[1]):
        return read_records(request, lines if first is None else chain([first], lines))
    names = first[1]["label_names"]
    are_names = isinstance(names, list) and all(isinstance(name, str) and name.strip() for name in names)
    if not are_names or len(set(names)) < max(len(names), 2):
        raise DataError(
            f"{request.path}, line 1: label_names must be a list of different names, found {shown(names)}",
            fix='{"label_names": ["negative", "positive"]}, in the order of the numbers and probabilities',
        )
    return read_records(request, lines, label_names=tuple(names))


def read_json_list(request: Request) -> Columns:
    """Read a JSON file that is a list of objects, or has one at the path `?rows=`."""
    path, place = request.path, request.options.rows
    if not place and is_json_array(path):
        return read_records(request, read_json_array(path), "row")
    document = read_json(path)
    rows = value_at(document, place) if place else document
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        inside = document if isinstance(document, dict) else {}
        lists = [name for name, value in inside.items() if isinstance(value, list)]
        raise DataError(
            f"{path}: expected a list of objects" + (f" at rows={place}" if place else ""),
            why=f"found: {some(map(shown, inside), 8)}" if inside else "",
            fix=f"?rows={lists[0] if lists else 'PATH'}, the path of the list",
        )
    return read_records(request, enumerate(rows, start=1), "row")


# Tables


def read_table(request: Request) -> Columns:
    """Read CSV, TSV, Parquet, Arrow, an Excel workbook, or a folder that `Dataset.save_to_disk` wrote."""
    table = open_rows(request.path)
    return read_records(request, table.rows, table.unit, is_table=True)


# CheckList's text formats


def read_text(request: Request, *, label: bool, least: int, most: int = 10**6) -> Columns:
    """Read lines with a label, probabilities, or both: from `least` to `most` numbers.

    One number without a label is the probability of class 1.
    """
    columns = Columns(request.path, numbered=True, ordered=True)
    for line, text in read_lines(request.path):
        words = text.split()
        if most == 0:  # a label may contain spaces
            columns.add(line, text.strip(), ())
            continue
        numbers = words[1:] if label else words
        if not least <= len(numbers) <= most:
            raise DataError(
                f"{request.path}, line {line}: {shown(text)} does not fit the format",
                fix="set the file's format: ?format=" + ", ?format=".join(TEXT_FORMATS),
            )
        try:
            values = [number_from(number) for number in numbers]
        except DataError as problem:
            raise problem.at(f"{request.path}, line {line}") from None
        is_binary = not label and most == 1
        columns.add(line, words[0] if label else None, [1 - values[0], values[0]] if is_binary else values)
    return columns


# Logs of other tools


def is_log(request: Request, start: bytes) -> bool:
    """Return whether a file is a log, and no option but `labels` makes it a table or JSON like any other."""
    is_bare = request.options == Options(labels=request.options.labels)
    return is_bare and not request.path.is_dir() and open_log(request.path) is not None


def read_log(request: Request) -> Columns:
    """Return the answer to each sample."""
    log = open_log(request.path)
    if log is None:
        raise DataError(f"{request.path}: not a log of a tool that shoal knows", fix="remove format=log")
    choices = common_choices(log)
    columns = Columns(request.path, log.unit, column_names=choices)
    seen: dict[str, tuple[str, str]] = {}
    texts: list[str] = []
    for number, sample, question in log.questions():
        answered = lettered(question, choices)
        same = sample.run, answered.answer
        if seen.setdefault(sample.id, same) != same:
            filtered = f'one filter: grep \'"filter": "NAME"\' {log.path} > one.jsonl'
            raise DataError(
                f"{log.path}: several answers to sample {sample.id!r}",
                why="predictions have one answer per case; epochs, repeats and filters give more",
                fix=f"scores:{log.path}, which takes them as runs" if sample.run else filtered,
            )
        if len(seen) == len(texts):  # the same answer, graded by another metric or filter
            continue
        texts.append("\n".join(answered.texts))
        key = Key(None, *(sample.case or (sample.id, 0)))
        if not answered.answer:
            columns.add(number, None, (), key, sample.error or "the answer is empty")
        else:
            fits = len(question.likelihoods) == len(choices) > 1
            shares = probabilities(question.likelihoods) if fits else ()
            columns.add(number, answered.answer, shares, key)
    columns.texts = {"text": texts} if any(texts) else {}
    columns.generated = not any(columns.widths)
    return columns


# StereoSet's scores of sentences, for the bias protocol


def read_scores(path: Path, sentences: Mapping[str, str] | None = None) -> dict[str, dict[str, float]]:
    """Return the scores of a StereoSet file: task to sentence id to score.

    `sentences` are the data's by id; a row with another sentence is an error.
    """
    document = read_json(path)
    known = sentences or {}
    scores: dict[str, dict[str, float]] = {}
    texts: dict[str, list[tuple[str, object, Example]]] = {name: [] for name in SINGLE}
    for task in TASKS:
        rows = document.get(task, []) if isinstance(document, dict) else []
        for row in rows if isinstance(rows, list) else [rows]:
            name, score = _score(row, f"{path}: {task}")
            if name in scores.setdefault(task, {}):
                raise DataError(f"{path}: {task}: sentence {name!r} is scored twice", fix="keep one of them")
            scores[task][name] = score
            for column in texts.keys() & row.keys() if name in known else ():
                texts[column].append((name, row[column], (known[name],)))
    for column, carried in texts.items():
        refuse_other_texts(path, column, carried)
    if not scores:
        raise DataError(
            f"{path}: no scores under 'intrasentence' or 'intersentence'",
            fix='{"intrasentence": [{"id": …, "score": …}]}, as the authors\' code writes it',
        )
    return scores


def _score(row: Any, where: str) -> tuple[str, float]:
    name, score = (row.get("id"), row.get("score")) if isinstance(row, dict) else (None, None)
    is_number = isinstance(score, int | float) and not isinstance(score, bool)
    if not isinstance(name, str) or not is_number or not abs(score) < math.inf:  # type: ignore[arg-type]
        raise DataError(
            f"{where}: expected an object with an id and a finite score, found {shown(row)}",
            fix='{"id": "…", "score": 0.5}',
        )
    return name, float(score)  # type: ignore[arg-type]


# The table


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads one format."""

    read: Callable[[Request], Columns]
    recognises: Callable[[Request, bytes], bool] = lambda request, start: False
    """Whether a file with these first bytes has this format; the first reader that says so reads it."""
    options: tuple[str, ...] = RECORDS


def _is_json_document(request: Request, start: bytes) -> bool:
    """Return whether the file is one JSON value: a list, an indented object, or one with a path of rows."""
    first, newline, _ = start.lstrip().partition(b"\n")
    indented = bool(newline) and not first.rstrip().endswith(b"}")
    return first.startswith(b"[") or (first.startswith(b"{") and (bool(request.options.rows) or indented))


def _has_table_suffix(request: Request, start: bytes) -> bool:
    suffixes = [suffix.lower() for suffix in request.path.suffixes if suffix != ".gz"]
    return suffixes[-1:] in ([".csv"], [".tsv"])


READERS: dict[str, Reader] = {
    "log": Reader(read_log, is_log, ("labels",)),
    "table": Reader(read_table, lambda request, start: is_table(request.path)),
    "json": Reader(read_json_list, _is_json_document, (*RECORDS, "rows")),
    "jsonl": Reader(read_json_objects, lambda request, start: start.lstrip().startswith(b"{")),
    "csv": Reader(read_table, _has_table_suffix),
    "pred_only": Reader(lambda r: read_text(r, label=True, least=0, most=0), options=TEXT),
    "binary_conf": Reader(lambda r: read_text(r, label=False, least=1, most=1), options=TEXT),
    "softmax": Reader(lambda r: read_text(r, label=False, least=2), options=TEXT),
    "pred_and_conf": Reader(lambda r: read_text(r, label=True, least=1, most=1), options=TEXT),
    "pred_and_softmax": Reader(
        lambda r: read_text(r, label=True, least=2), lambda request, start: True, TEXT
    ),
}
"""Format to its reader, in the order in which a file is tried. CheckList's default, the last, takes the rest."""
TEXT_FORMATS = tuple(name for name, reader in READERS.items() if reader.options == TEXT)


def read_file(request: Request, given: Mapping[str, str]) -> Columns:
    """Read the whole file and check it line by line; `given` are the options of the spec."""
    path, name = request.path, request.options.format
    if not name:
        start = b"" if path.is_dir() else first_bytes(path, 4096).removeprefix(BOM)
        name = next(name for name, reader in READERS.items() if reader.recognises(request, start))
    if name not in READERS:
        fix = "remove format: shoal recognises most files by their content"
        raise ModelError.unknown(f"{path}: unknown format {name!r}", name, READERS, fix)
    reader = READERS[name]
    idle = [option for option in given if option not in ("format", *reader.options)]
    if idle:
        raise ModelError(
            f"predictions:{path}: {idle[0]!r} has no meaning in format {name}",
            why=f"its options are {', '.join(reader.options) or 'none'}",
            fix=f"remove {idle[0]!r}, or set the file's format: ?format=…",
        )
    columns = reader.read(request)
    if not columns.lines:
        raise DataError(f"{path}: no predictions", fix="check that this is the right file")
    return columns
