"""inspect: a log as JSON (`inspect log dump`), or the `.eval` archive with a member for each sample and epoch.

Letters are graded as inspect's own `value_to_float` does: C 1, P 0.5, I and N 0. NaN marks an unscored sample.
Samples that the log announces and does not have, because the run was stopped, are errors.
"""

import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...core.errors import DataError, errors_at, import_library
from ...core.files import LARGEST_WHOLE, most_unzipped, parse_json, swollen
from ..tables import named_errors
from .samples import Log, Row, Sample, as_text, case_of, is_object, question_of

ZIP = b"PK\x03\x04"
ZSTANDARD = 93
LOCAL_HEADER = 30
START = "_journal/start.json"
HEADER = "header.json"
SAMPLE = re.compile(r"samples/.+\.json")  # ids may have slashes
ATTACHMENT = "attachment://"
MOST_EPOCHS = 10_000
"""A damaged log may announce more."""


def is_archive(path: Path) -> bool:
    """Return whether a zip archive has the members of an inspect log."""
    try:
        with zipfile.ZipFile(path) as archive:
            return not {HEADER, START}.isdisjoint(archive.namelist())
    except Exception:  # of any kind in a damaged archive
        return path.suffix == ".eval"  # a damaged log is an error of its own, not a workbook


def read_archive(path: Path) -> dict[str, Any]:
    """Return an `.eval` archive as the object that the JSON log is; samples are read on demand."""
    with named_errors(path, "inspect log", "run inspect again"):
        with zipfile.ZipFile(path) as archive:
            members = dict(archive.NameToInfo)
        if sum(member.file_size for member in members.values()) > most_unzipped(path):
            raise swollen(path)
        header = _member(path, members[HEADER if HEADER in members else START])
        return {**header, "samples": Samples(path, members)}


class Samples:
    """The samples of an archive; names of members are only looked up."""

    def __init__(self, path: Path, members: Mapping[str, zipfile.ZipInfo]) -> None:
        self._path = path
        self._members = [members[name] for name in sorted(filter(SAMPLE.fullmatch, members))]

    def __iter__(self) -> Iterator[Any]:
        for member in self._members:
            with named_errors(self._path, "inspect log", "run inspect again"):
                row = _member(self._path, member)
            yield row


def _member(path: Path, member: zipfile.ZipInfo) -> Any:
    """Return the JSON value in a member of an archive, checked against its size and checksum."""
    name = member.filename
    if member.file_size > LARGEST_WHOLE:
        raise DataError(
            f"{path}: {name} is larger than {LARGEST_WHOLE // 2**20} MB, unzipped",
            fix="inspect log dump, and keep the samples without their events",
        )
    if member.compress_type == ZSTANDARD:
        content = _zstandard(path, member)
    else:
        with zipfile.ZipFile(path) as archive, archive.open(member) as stream:
            content = stream.read(member.file_size + 1)
    if len(content) != member.file_size or zlib.crc32(content) != member.CRC:
        raise ValueError(f"{name} is not what its checksum says")
    with errors_at(f"{path}: {name}"):
        return parse_json(content, "run inspect again", nan=True)


def _zstandard(path: Path, member: zipfile.ZipInfo) -> bytes:
    """Return the content of a member that inspect compressed; `zipfile` reads this from Python 3.14 on."""
    zstandard = import_library("zstandard", "inspect's .eval files; inspect log dump FILE writes JSON")
    with path.open("rb") as stream:
        stream.seek(member.header_offset)
        header = stream.read(LOCAL_HEADER)  # its names have lengths of their own
        stream.seek(sum(struct.unpack("<HH", header[26:30])), 1)
        packed = stream.read(member.compress_size)
    try:
        reader = zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True)
        return bytes(reader.read(member.file_size + 1))
    except zstandard.ZstdError as problem:
        raise ValueError(str(problem)) from None


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
        choices=tuple(map(str, row.get("choices") or ())),
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


LOG = Log(
    "inspect",
    lambda value: is_object(value, "eval", "samples"),
    _sample,
    _rows,
    lambda value: is_object(value, "eval", "status") and "samples" not in value,
    "inspect log dump FILE, without --header-only",
    question=lambda row, sample: question_of(sample, lettered=True),  # multiple_choice() asks for letters
)
