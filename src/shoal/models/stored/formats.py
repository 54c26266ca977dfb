"""Which format a predictions file has, and who reads it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ...core.errors import DataError, ModelError, nearest
from ...core.files import BOM, first_bytes
from . import arrow, checklist, json_rows, stereoset, table, workbook
from .asked import Options, Request
from .columns import Columns

RECORDS = ("id", "label", "labels", "probabilities", "normalise", "contradictions")
TEXT = ("labels", "normalise", "contradictions", "header")


@dataclass(frozen=True, slots=True)
class Format:
    """A reader, and the options that mean something to it."""

    read: Callable[[Request], Columns]
    options: tuple[str, ...]


READERS: dict[str, Format] = {
    "jsonl": Format(json_rows.read_lines, RECORDS),
    "json": Format(json_rows.read_list, (*RECORDS, "rows")),
    "csv": Format(table.read, RECORDS),
    "parquet": Format(arrow.read_parquet, RECORDS),
    "arrow": Format(arrow.read_arrow, RECORDS),
    "dataset": Format(arrow.read_dataset, RECORDS),
    "xlsx": Format(workbook.read, (*RECORDS, "sheet")),
    "pred_only": Format(checklist.read_pred_only, TEXT),
    "binary_conf": Format(checklist.read_binary_conf, TEXT),
    "softmax": Format(checklist.read_softmax, TEXT),
    "pred_and_conf": Format(checklist.read_pred_and_conf, TEXT),
    "pred_and_softmax": Format(checklist.read_pred_and_softmax, TEXT),
    "stereoset": Format(stereoset.read, ()),
}
TEXT_FORMATS = tuple(name for name, known in READERS.items() if known.options == TEXT)
BY_FIRST_BYTES = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",  # a stream, as datasets caches it
    b"PK\x03\x04": "xlsx",
    b"[": "json",
}


def read_file(request: Request) -> Columns:
    """The whole file, checked line by line."""
    path, options = request.path, request.options
    name = options.format or told_format(path, options)
    if name not in READERS:
        raise ModelError(
            f"{path}: unknown format {name!r}",
            why=f"known: {', '.join(READERS)}",
            fix=nearest(name, READERS) or "one of these, or none to have it told from the file",
        )
    idle = [option for option in options.given if option not in ("format", *READERS[name].options)]
    if idle:
        raise ModelError(
            f"predictions:{path}: {idle[0]!r} means nothing in format {name}",
            why=f"it takes {', '.join(READERS[name].options) or 'no option'}",
            fix=f"leave {idle[0]!r} out, or name the file's own format: ?format=…",
        )
    columns = READERS[name].read(request)
    if not columns.lines:
        raise DataError(f"{path}: no predictions", fix="check that this is the file you meant")
    columns.check(normalise=options.normalise)
    return columns


def told_format(path: Path, options: Options) -> str:
    """The format of a file, as it begins and as it is called."""
    if path.is_dir():
        return "dataset"
    start = first_bytes(path, 4096).removeprefix(BOM)
    for sign, name in BY_FIRST_BYTES.items():
        if start.startswith(sign) or (name == "json" and start.lstrip().startswith(sign)):
            return name
    if start.lstrip().startswith(b"{"):
        return _told_object(path, start.lstrip(), options)
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix != ".gz"]
    return "csv" if suffixes[-1:] in ([".csv"], [".tsv"]) else "pred_and_softmax"


def _told_object(path: Path, start: bytes, options: Options) -> str:
    if b'"intrasentence"' in start or b'"intersentence"' in start:
        return "stereoset"
    first, ends, _ = start.partition(b"\n")
    indented = bool(ends) and not first.rstrip().endswith(b"}")
    return "json" if options.rows or indented else "jsonl"
