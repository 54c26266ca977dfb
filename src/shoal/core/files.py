"""Read and write text files; every error names file and line, and no file is left half written.

All readers use this module, so that a truncated gzip file or a stray byte gives the same message everywhere. Lines are
streamed.
"""

import errno
import gc
import gzip
import hashlib
import json
import os
import re
import tomllib
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BufferedIOBase
from itertools import repeat
from pathlib import Path
from typing import IO, Any, NoReturn, TextIO, TypeVar

from .errors import DataError, OnInvalid, PlanError, StoreError, errors_at

LONGEST_LINE = 8 * 2**20
"""Bytes. A longer line means another kind of file, and would fill the memory."""
LARGEST_WHOLE = 256 * 2**20
"""Bytes of a file that must be read whole, such as a JSON array."""
CHUNK = 2**16
"""Bytes of lines that are decoded at a time."""
DEEPEST = 100
"""The most parts of a TOML key."""
LONGEST_SHEET = 1_048_576
"""Rows of an Excel sheet; a damaged one may claim more."""
USUAL_SWELLING, SMALL = 200, 32 * 2**20
"""Largest compression ratio of a gzip file of text; files below SMALL bytes, unzipped, may exceed it."""

BROKEN_GZIP = (EOFError, gzip.BadGzipFile, zlib.error)
GZIP_MAGIC = b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"


T = TypeVar("T")
Raw = TypeVar("Raw")
Row = TypeVar("Row")


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield each line with its number from 1, without its line end; gzip is recognised by its first bytes."""
    for first, lines in line_blocks(path):
        yield from enumerate(lines, first)


def line_blocks(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines of `read_lines` by the block, each block with the number of its first line."""
    number, rest = 1, b""
    with _open(path) as stream:
        while chunk := _read(stream, CHUNK, path):
            whole, newline, rest = (rest + chunk).rpartition(b"\n")
            if newline:
                lines = _split(whole, path, number)
                yield number, lines
                number += len(lines)
            if len(rest) > LONGEST_LINE:
                raise DataError(
                    f"{path}, line {number}: longer than {LONGEST_LINE // 2**20} MB",
                    why="one record per line is expected",
                    fix="check that this is the file you meant, and that its lines end in a newline",
                )
    if rest:
        yield number, _split(rest, path, number)


def _split(raw: bytes, path: Path, first: int) -> list[str]:
    lines = _text(raw.removeprefix(BOM) if first == 1 else raw, path, first).split("\n")
    return [line.rstrip("\r") for line in lines] if b"\r" in raw else lines


def first_bytes(path: Path, size: int) -> bytes:
    with _open(path) as stream:
        return _read(stream, size, path)


is_file, is_folder, _exists = os.path.isfile, os.path.isdir, os.path.exists
"""Unlike the methods of a path, False for names that no file can have, such as one that is too long."""
SPLIT = "?split="


def split_name(name: Path | str) -> tuple[Path, str]:
    """Return the folder and the split in `FOLDER?split=NAME`; any other name is a path without a split.

    >>> split_name("reviews?split=test")[1], split_name("reviews.csv")[1]
    ('test', '')
    """
    folder, _, split = str(name).partition(SPLIT)
    return Path(folder), split


def is_data(name: Path | str) -> bool:
    """Return whether a name is a file, or a folder that may hold a dataset, with or without its split."""
    path, split = split_name(name)
    return is_folder(path) or (is_file(path) and not split)


def stamp(name: str) -> tuple[int, int]:
    """Return the time and size of a file or of a dataset's files, which change with the content."""
    path = split_name(name)[0] if name else Path()
    if not name or not is_data(name):
        return (0, 0)
    files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    stats = [file.stat() for file in files]
    return (max((stat.st_mtime_ns for stat in stats), default=0), sum(stat.st_size for stat in stats))


@contextmanager
def _open(path: Path) -> Iterator[BufferedIOBase]:
    """Open a file of text for `_read`, unzipped."""
    if is_folder(path):
        raise DataError(f"{path}: a folder, not a file", fix="the name of a file in it")
    if not is_file(path):
        refuse_special(path)
        raise DataError(f"{str(path)[:500]}: no such file", fix="check the name, and the folder you are in")
    try:
        with path.open("rb") as raw:
            is_zipped = raw.read(2) == GZIP_MAGIC
    except OSError as problem:
        raise DataError(
            f"{path}: cannot be read",
            why=problem.strerror or str(problem),
            fix="make it readable, or name another file",
        ) from None
    try:
        with gzip.open(path) if is_zipped else path.open("rb") as stream:
            yield stream
    except BROKEN_GZIP as problem:
        raise DataError(
            f"{path}: the gzip file is broken",
            why=str(problem),
            fix="fetch or write the file again; it was probably cut short",
        ) from None


def _read(stream: BufferedIOBase, size: int, path: Path) -> bytes:
    content = stream.read(size)
    if isinstance(stream, gzip.GzipFile) and stream.tell() > most_unzipped(path):
        raise swollen(path)
    return content


def refuse_special(path: Path) -> None:
    """Raise an error for a named pipe or a device, which can be read only once."""
    if _is_special(path):
        raise DataError(
            f"{path}: a pipe or a device, not a regular file",
            why="shoal reads a file more than once",
            fix=f"cat {path} > FILE, then give FILE",
        )


def most_unzipped(*files: Path) -> int:
    """Return the most bytes that compressed files of text may unfold to."""
    return max(SMALL, USUAL_SWELLING * sum(file.stat().st_size for file in files))


def swollen(path: Path) -> DataError:
    return DataError(
        f"{path}: unzipped, it is more than {USUAL_SWELLING} times as large",
        why="text does not compress that well; the content may be a few characters repeated",
        fix="unzip it, look into it, and give the unzipped file if it is the one you meant",
    )


def _text(raw: bytes, path: Path, first: int) -> str:
    """Return bytes as text; `first` is the number of their first line."""
    try:
        text, place = raw.decode(), raw.find(b"\0")
    except UnicodeDecodeError as problem:
        text, place = "", problem.start
    if place < 0:
        return text
    line, column = first + raw.count(b"\n", 0, place), place - raw.rfind(b"\n", 0, place)
    raise DataError(
        f"{path}, line {line}: not UTF-8 text (byte 0x{raw[place]:02x} at column {column})",
        fix="save the file as UTF-8 (in Excel: CSV UTF-8), or iconv -t utf-8",
    )


# JSON

ROWS = "one JSON object on each line, or one array of objects"


def read_json_lines(path: Path, on_invalid: OnInvalid | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each object of a JSON Lines file with its line number; blank lines are skipped."""
    for first, lines in line_blocks(path):
        rows = _plain_objects(lines)
        if rows is None:
            numbered = ((at, line) for at, line in enumerate(lines, first) if line and not line.isspace())
            yield from valid_rows(numbered, json_object, f"{path}, line", on_invalid)
        else:
            yield from enumerate(rows, first)


def _plain_objects(lines: Sequence[str]) -> list[dict[str, Any]] | None:
    """Return the objects on these lines; None if one of them needs a closer look.

    The scanner of the standard library, called without its wrapper, takes 0.8 s for a million cases; orjson and
    pyarrow take 1.4 s.
    """
    try:
        pairs = list(map(_SCAN, lines, repeat(0)))
    except (ValueError, RecursionError):
        return None
    # A blank line ends `map` early.
    is_whole = [end for _, end in pairs] == list(map(len, lines))
    rows = [row for row, _ in pairs]
    return rows if is_whole and set(map(type, rows)) <= {dict} and "\\u" not in "".join(lines) else None


def valid_rows(
    rows: Iterable[tuple[int, Raw]], convert: Callable[[Raw], Row], where: str, on_invalid: OnInvalid | None
) -> Iterator[tuple[int, Row]]:
    """Yield the converted rows; an invalid one goes to `on_invalid`, or is raised with its place."""
    for number, row in rows:
        try:
            converted = convert(row)
        except DataError as problem:
            if on_invalid is None:
                raise problem.at(f"{where} {number}") from None
            on_invalid(number, problem)
        else:
            yield number, converted


def json_object(line: str) -> dict[str, Any]:
    """Return the JSON object on a line."""
    return _object(_parse(line, ROWS))


def _parse(text: str, fix: str, *, nan: bool = False) -> Any:
    """Return a JSON value; raise if it is not JSON, or has a lone surrogate, which JSON can spell out."""
    try:
        value = (_NAN_IS_NULL if nan else _DECODER).decode(text)
    except (ValueError, RecursionError) as problem:
        raise DataError("not JSON", why=why_not_json(problem), fix=fix) from None
    if "\\u" in text and _SURROGATE.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as problem:
            half = ascii(problem.object[problem.start])[1:-1]
            raise DataError(
                f"{half} is half of a character",
                why="a lone surrogate cannot be written, printed or asked",
                fix="write the file again, with whole characters",
            ) from None
    return value


def is_json_array(path: Path) -> bool:
    """Return whether a file begins like a JSON array of objects."""
    return bool(re.match(rb"\s*\[\s*[{\]]", first_bytes(path, 512).removeprefix(BOM)))


def read_json_array(path: Path, on_invalid: OnInvalid | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each object of a JSON array with its number from 1."""
    return valid_rows(enumerate(read_json(path), start=1), _object, f"{path}, row", on_invalid)


def whole_bytes(path: Path) -> bytes:
    """Return the content of a file, unzipped."""
    raw = first_bytes(path, LARGEST_WHOLE + 1)
    if len(raw) > LARGEST_WHOLE:
        raise DataError(
            f"{path}: more than {LARGEST_WHOLE // 2**20} MB",
            why="a JSON array, a workbook and the like are read whole",
            fix="one object per line (JSON Lines), for example: jq -c '.[]'; or CSV",
        )
    return raw


def read_json(path: Path, *, nan: bool = False) -> Any:
    """Return the JSON value in a file; with `nan`, NaN is read as null."""
    text = _text(whole_bytes(path).removeprefix(BOM), path, 1)
    with errors_at(str(path)):
        return _parse(text, "write the file again; it was probably cut short", nan=nan)


def parse_json(raw: bytes, fix: str, *, nan: bool = False) -> Any:
    """Return the JSON value in a part of a file, such as a member of an archive."""
    try:
        return _parse(raw.decode(), fix, nan=nan)
    except UnicodeDecodeError as problem:
        raise DataError("not UTF-8", why=str(problem), fix=fix) from None


def _object(row: Any) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise DataError(f"an object is expected, found {type(row).__name__}", fix=ROWS)
    return row


def why_not_json(problem: ValueError | RecursionError) -> str:
    """Return why a text is not JSON or TOML, without Python's terms."""
    if isinstance(problem, RecursionError):
        return "nested too deeply"
    if isinstance(problem, json.JSONDecodeError) and problem.lineno == 1:  # also in line 7 of JSON Lines
        return f"{problem.msg} at column {problem.colno}"
    return str(problem)


def refuse_constant(text: str) -> NoReturn:
    """Raise ValueError: NaN and Infinity are not JSON."""
    raise ValueError(f"{text} is not a JSON number")


_DECODER = json.JSONDecoder(parse_constant=refuse_constant)
_NAN_IS_NULL = json.JSONDecoder(parse_constant=lambda text: None if text == "NaN" else refuse_constant(text))
_SCAN: Callable[[str, int], tuple[Any, int]] = _DECODER.scan_once  # type: ignore[attr-defined]
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


# TOML


def read_toml(path: Path, looks: str) -> dict[str, Any]:
    """Return a plan or a file of rules as plain data; `looks` describes such a file for the error."""
    lines = [line for _, line in read_lines(path)]
    try:
        # The parser takes quadratic time in the number of a key's parts.
        if any(line.partition("=")[0].count(".") > DEEPEST and line[0] not in "'\"#" for line in lines):
            raise ValueError(f"a key of more than {DEEPEST} parts")
        return tomllib.loads("\n".join(lines))
    except (ValueError, RecursionError) as problem:
        raise PlanError(f"{path}: not TOML", why=why_not_json(problem), fix=looks) from None


# Many rows


class UnusualError(Exception):
    """Rows need a closer look, one by one."""


class Cells:
    """The cells of rows by column; a row without a column has None in it."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self._rows, keys = rows, set(map(tuple, rows))
        # Rows with the same columns, as nearly always, are turned around at once.
        values = zip(*map(dict.values, rows), strict=True) if len(keys) == 1 else ()  # type: ignore[arg-type]
        self._columns = dict(zip(keys.pop(), values, strict=True)) if len(keys) == 1 else None

    def column(self, name: str, *kinds: type) -> Sequence[Any]:
        """Return a column; with `kinds`, raise UnusualError if a value has another type."""
        if self._columns is None:
            values: Sequence[Any] = [row.get(name) for row in self._rows]
        else:
            values = self._columns.get(name) or (None,) * len(self._rows)
        if kinds and not set(map(type, values)) <= set(kinds):
            raise UnusualError
        return values


class Alike:
    """Keeps one copy of each recurring text."""

    def __init__(self) -> None:
        self._known: dict[Any, Any] = {}

    def text(self, text: str) -> str:
        return str(self._known.setdefault(text, text))

    def each(self, texts: Iterable[T]) -> Iterator[T]:
        """Yield the first copy of each text; among them may be numbers and None, but no True, which equals 1."""
        texts = list(texts)
        return map(self._known.setdefault, texts, texts)

    def texts(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the first copy of a tuple of texts; other tuples unchanged, because 1 equals True."""
        plain = all(isinstance(value, str) for value in values)
        known: tuple[Any, ...] = self._known.setdefault(values, values) if plain else values
        return known

    def groups(self, groups: dict[str, str]) -> dict[str, str]:
        known: dict[str, str] = self._known.setdefault(tuple(groups.items()), groups)
        return known


@contextmanager
def for_owner_only(wanted: bool = True) -> Iterator[None]:
    """Create files that only their owner can read, in this process and its children, while the block runs."""
    if not wanted:
        yield
        return
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the garbage collector, which takes a third of the time while many rows are created."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


# Writing


def stands_alone(path: Path) -> bool:
    """Return whether a path is a device, a named pipe or an open file, next to which nothing can be written."""
    return _is_special(path) or any(path.absolute().is_relative_to(system) for system in ("/dev", "/proc"))


def _is_special(path: Path) -> bool:
    return _exists(path) and not is_file(path) and not is_folder(path)


def sweep(folder: Path, name: str = "*") -> None:
    """Remove temporary files that a crash left; the caller holds their lock."""
    for left in folder.glob(f".{name}.*.tmp"):
        left.unlink(missing_ok=True)


@contextmanager
def writing(path: Path) -> Iterator[TextIO]:
    """Open a text file for writing that replaces the old one when complete; an error keeps the old one.

    Devices and named pipes are written to directly.
    """
    with refusing(path):
        if _is_special(path):
            with path.open("w", encoding="utf-8", newline="\n") as stream:
                yield stream
            return
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        yield stream
        settle(stream)


def settle(stream: IO[Any]) -> None:
    """Flush a stream to disk, so that its content survives a crash of the machine."""
    stream.flush()
    os.fsync(stream.fileno())


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path whose content replaces the file when the block ends.

    A symbolic link stays; its target is replaced.
    """
    with refusing(path):
        place = Path(os.path.realpath(path)) if path.is_symlink() else path
        if path.is_dir():
            raise StoreError(f"{path}: a folder, not a file", fix="the name of a file in it")
        if place.is_symlink() or (place.exists() and not place.is_file()):
            raise StoreError(f"{path}: not a plain file", fix="name another place")
        temporary = place.with_name(f".{place.name}.{os.getpid()}.tmp")
        try:
            yield temporary
            temporary.replace(place)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """Raise a StoreError that names this path if the block fails to write."""
    try:
        yield
    except OSError as problem:
        why, fix = problem.strerror or str(problem), "name another folder"
        if isinstance(problem, FileNotFoundError) and not path.parent.exists():
            why, fix = f"the folder {path.parent} does not exist", f"mkdir -p {path.parent}"
        elif problem.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
            fix = "free some space and run the same command again"
        raise StoreError(f"{path}: cannot be written", why=why, fix=fix) from None


class ResumableLines:
    """A file of lines that grows block by block, and can be resumed after a crash.

    Opening it cuts off an unfinished block at the end, and everything if `head`, its first line, is another one.
    """

    def __init__(
        self, path: Path, is_valid: Callable[[bytes], bool], sizes: Iterable[int] = (), head: bytes = b""
    ) -> None:
        self.path, self._head = path, head
        self.blocks = 0
        """Number of whole blocks that the file had when it was opened."""
        with refusing(path):
            self._cut(is_valid, sizes or repeat(1))
            # Unbuffered: closing the file must not retry a write that failed.
            self._stream = path.open("ab", buffering=0)
            if head and not self._stream.tell():
                self._stream.write(head)

    def _cut(self, is_valid: Callable[[bytes], bool], sizes: Iterable[int]) -> None:
        if not self.path.exists():
            return
        end = 0
        with self.path.open("rb") as stream:
            if not self._head or stream.readline() == self._head:
                end = stream.tell()
                for size in sizes:
                    lines = (stream.readline() for _ in range(size))
                    if not all([line.endswith(b"\n") and is_valid(line) for line in lines]):
                        break
                    self.blocks, end = self.blocks + 1, stream.tell()
        os.truncate(self.path, end)

    def lines(self) -> Iterator[bytes]:
        """Yield every line after the head."""
        with self.path.open("rb") as stream:
            stream.seek(len(self._head))
            yield from stream

    def append(self, lines: Iterable[str]) -> None:
        """Add a block; a crash leaves at most a part of it at the end."""
        content = memoryview("".join(lines).encode())
        with refusing(self.path):
            while content:
                content = content[self._stream.write(content) :]

    def restart(self) -> None:
        """Continue with an empty file, and a new inode, so that a reader notices that the old one ended."""
        before, temporary = self._stream, self.path.with_name(f".{self.path.name}.{os.getpid()}.tmp")
        self._stream = temporary.open("ab", buffering=0)
        temporary.replace(self.path)
        before.close()
        self.blocks = 0

    def settle(self) -> None:
        """Flush to disk and close."""
        settle(self._stream)
        self._stream.close()

    def close(self) -> None:
        self._stream.close()


def digest(path: Path) -> str:
    """Return a short hash of a file, or of all files in a folder with their names."""
    whole = hashlib.sha256()
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    for file in files:
        with file.open("rb") as stream:
            name = str(file.relative_to(path)) if path.is_dir() else ""
            whole.update(name.encode() + b"\0" + hashlib.file_digest(stream, "sha256").digest())
    return whole.hexdigest()[:16]
