"""Read and write text files; every error names file and line, and no file is left half written.

All readers use this module, so that a truncated gzip file or a stray byte gives the same message everywhere. Lines are
streamed.
"""

import csv
import gc
import gzip
import hashlib
import io
import json
import os
import re
import tomllib
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain, repeat
from pathlib import Path
from typing import IO, Any, BinaryIO, NoReturn, TextIO

from .errors import DataError, PlanError, StoreError

LONGEST_LINE = 8 * 2**20
"""Bytes. A longer line means another kind of file, and would fill the memory."""
LARGEST_WHOLE = 256 * 2**20
"""Bytes of a file that must be read whole, such as a JSON array."""
MOST_EMPTY_LINES = 1_000_000
"""In a row. A small gzip file can hold billions."""
LONGEST_SHEET = 1_048_576
"""Rows of an Excel sheet; a damaged one may claim more."""
DEEPEST = 100
"""Nesting of lists and objects."""
USUAL_SWELLING, SMALL = 200, 32 * 2**20
"""Largest compression ratio of a gzip file of text; files below SMALL bytes, unzipped, may exceed it."""

csv.field_size_limit(
    LONGEST_LINE
)  # a text may be longer than the 131,072 letters that Python takes by default

BROKEN_GZIP = (EOFError, gzip.BadGzipFile, zlib.error)
GZIP_MAGIC = b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield each line with its number from 1, without its line end; gzip is recognised by its first bytes."""
    number = empty = 0
    with _open(path) as stream:
        while raw := _next_line(stream, path, number):
            number += 1
            line = _decode(raw, path, number)
            empty = 0 if line else empty + 1
            if empty > MOST_EMPTY_LINES:
                raise DataError(
                    f"{path}, line {number}: over {MOST_EMPTY_LINES:,} empty lines in a row",
                    fix="check that this is the file you meant, and that it was written to the end",
                )
            yield number, line


def _next_line(stream: BinaryIO, path: Path, number: int) -> bytes:
    try:
        return stream.readline(LONGEST_LINE + 1)
    except BROKEN_GZIP as problem:
        raise _broken_gzip(f"{path}, after line {number}", problem) from None


def first_bytes(path: Path, count: int) -> bytes:
    """Return the first bytes of a file, unzipped."""
    with _open(path) as stream:
        try:
            return stream.read(count)
        except BROKEN_GZIP as problem:
            raise _broken_gzip(str(path), problem) from None


def _broken_gzip(where: str, problem: Exception) -> DataError:
    return DataError(
        f"{where}: the gzip file is broken",
        why=str(problem),
        fix="fetch or write the file again; it was probably cut short",
    )


def is_file(path: Path) -> bool:
    """Return whether a file of this name exists; False for names that are too long."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_folder(path: Path) -> bool:
    """Return whether a folder of this name exists."""
    try:
        return path.is_dir()
    except OSError:
        return False


def _open(path: Path) -> BinaryIO:
    """Open a file of lines, unzipped, with newlines as line ends."""
    stream = _open_bytes(path)
    try:
        start = _start(stream)
    except BROKEN_GZIP as problem:
        raise _broken_gzip(f"{path}, after line 0", problem) from None
    # Some spreadsheets end lines with a carriage return alone.
    only_returns = b"\r" in start[:-1] and b"\n" not in start
    return io.BufferedReader(_Returns(stream), 2**16) if only_returns else stream


def _open_bytes(path: Path) -> BinaryIO:
    """Open a file, unzipped."""
    if not is_file(path):
        raise _no_file(path)
    try:
        stream: BinaryIO = path.open("rb", buffering=2**16)
    except OSError as problem:
        raise DataError(
            f"{path}: cannot be read",
            why=problem.strerror or str(problem),
            fix="make it readable, or name another file",
        ) from None
    if _start(stream)[:2] == GZIP_MAGIC:
        stream.close()
        stream = io.BufferedReader(_Unzipped(path), 2**20)
    return stream


def _start(stream: Any) -> bytes:
    start: bytes = stream.peek()
    return start


def _no_file(path: Path) -> DataError:
    try:
        if path.is_dir():
            return DataError(f"{path}: a folder, not a file", fix="the name of a file in it")
        if path.exists():
            return DataError(
                f"{path}: not a plain file", why="it is read more than once", fix="save it to a file first"
            )
    except OSError as problem:
        return DataError(
            f"{str(path)[:80]}…: no such file", why=problem.strerror or str(problem), fix="a shorter name"
        )
    return DataError(f"{path}: no such file", fix="check the name, and the folder you are in")


class Swelling:
    """Counts the output of a compressed file, and raises when it exceeds the compression ratio of text."""

    def __init__(self, path: Path) -> None:
        self._path = path
        files = path.iterdir() if path.is_dir() else [path]
        self._room = max(SMALL, USUAL_SWELLING * sum(file.stat().st_size for file in files))

    def take(self, count: int) -> None:
        """Count bytes or characters."""
        self._room -= count
        if self._room < 0:
            raise DataError(
                f"{self._path}: unzipped, it is more than {USUAL_SWELLING} times as large",
                why="text does not shrink that much: the same few letters are there again and again",
                fix="unzip it, look into it, and give the unzipped file if it is the one you meant",
            )

    def take_row(self, row: Mapping[str, Any]) -> None:
        """Count the texts of a row."""
        self.take(sum(len(value) if isinstance(value, str | bytes) else 1 for value in row.values()))


class _Unzipped(io.RawIOBase):
    """The content of a gzip file."""

    def __init__(self, path: Path) -> None:
        self._file = gzip.GzipFile(path)
        self._swelling = Swelling(path)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._file.readinto(buffer)
        self._swelling.take(count)
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


class _Returns(io.RawIOBase):
    """A file with its carriage returns replaced by newlines."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = self._stream.read(len(buffer)).replace(b"\r", b"\n")
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        self._stream.close()
        super().close()


def _decode(raw: bytes, path: Path, number: int) -> str:
    """Return a line as text, without its line end."""
    text = _text(raw.removeprefix(BOM) if number == 1 else raw, path, number)
    if len(raw) > LONGEST_LINE:
        raise DataError(
            f"{path}, line {number}: longer than {LONGEST_LINE // 2**20} MB",
            why="one record per line is expected",
            fix="check that this is the file you meant, and that its lines end in a newline",
        )
    return text.rstrip("\r\n")


def _text(raw: bytes, path: Path, first: int) -> str:
    """Return bytes as text; `first` is the number of their first line."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as problem:
        number = first + raw.count(b"\n", 0, problem.start)
        column = problem.start - raw.rfind(b"\n", 0, problem.start)
        raise DataError(
            f"{path}, line {number}: not UTF-8 (byte 0x{raw[problem.start]:02x} at column {column})",
            fix=f"save the file as UTF-8, for example: iconv -f {_likely_encoding(raw)} -t utf-8",
        ) from None
    if "\0" in text:
        raise DataError(
            f"{path}, line {first + text.count(chr(10), 0, text.index(chr(0)))}: holds a NUL byte",
            why="text is expected",
            fix="save the file as UTF-8 text",
        )
    return text


def _likely_encoding(raw: bytes) -> str:
    return "utf-16" if raw[:2] in UTF_16 else "latin1"


# JSON

ROWS = "one JSON object on each line, or one array of objects"


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each object of a JSON Lines file with its line number; blank lines are skipped."""
    for number, line in read_lines(path):
        if not line or line.isspace():
            continue
        try:
            row = json_object(line)
        except DataError as problem:
            raise problem.at(f"{path}, line {number}") from None
        except (ValueError, RecursionError) as problem:
            why = why_not_json(problem)
            raise DataError(f"{path}, line {number}: not JSON", why=why, fix=ROWS) from None
        yield number, row


def json_object(line: str) -> dict[str, Any]:
    """Return the JSON object on a line; raise ValueError if it is not JSON."""
    return _object(_parse(line), line)


def is_json_array(path: Path) -> bool:
    """Return whether a file begins like a JSON array of objects."""
    return bool(re.match(rb"\s*\[\s*[{\]]", first_bytes(path, 512).removeprefix(BOM)))


def read_json_array(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each object of a JSON array with its number from 1."""
    text = _whole(path)
    number, position = 0, _after_space(text, text.index("[") + 1)
    if text[position : position + 1] == "]":
        return
    while True:
        number += 1
        where = f"{path}, row {number}"
        try:
            row, end = _DECODER.raw_decode(text, position)
            _object(row, text[position:end])
        except DataError as problem:
            raise problem.at(where) from None
        except (ValueError, RecursionError) as problem:
            raise DataError(f"{where}: not JSON", why=why_not_json(problem), fix=ROWS) from None
        yield number, row
        end = _after_space(text, end)
        if text[end : end + 1] == "]" and _after_space(text, end + 1) == len(text):
            return
        if text[end : end + 1] != ",":
            raise DataError(
                f"{where}: not JSON",
                why="behind it a comma, or the end of the array, is expected",
                fix=ROWS,
            )
        position = _after_space(text, end + 1)


def whole_bytes(path: Path) -> bytes:
    """Return the content of a file, unzipped."""
    with _open_bytes(path) as stream:
        try:
            raw = stream.read(LARGEST_WHOLE + 1)
        except BROKEN_GZIP as problem:
            raise _broken_gzip(str(path), problem) from None
    if len(raw) > LARGEST_WHOLE:
        raise DataError(
            f"{path}: more than {LARGEST_WHOLE // 2**20} MB",
            why="a JSON array, a workbook and the like are read whole",
            fix="one object per line (JSON Lines), for example: jq -c '.[]'; or CSV",
        )
    return raw


def _whole(path: Path) -> str:
    return _text(whole_bytes(path).removeprefix(BOM), path, 1)


def _after_space(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    assert found is not None
    return found.end()


def read_json(path: Path) -> Any:
    """Return the JSON value in a file."""
    text = _whole(path)
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError) as problem:
        fix = "write the file again; it was probably cut short"
        raise DataError(f"{path}: not JSON", why=why_not_json(problem), fix=fix) from None
    try:
        _check_letters(value, text)
    except DataError as problem:
        raise problem.at(str(path)) from None
    return value


def _object(row: Any, text: str) -> dict[str, Any]:
    """Return a parsed value; raise if it is not an object, or has incomplete characters."""
    if not isinstance(row, dict):
        raise DataError(f"an object is expected, found {type(row).__name__}", fix=ROWS)
    if text.count("{") + text.count("[") > DEEPEST and _is_deep(row):
        raise DataError("not a record", why=f"nested more than {DEEPEST} deep", fix=ROWS)
    _check_letters(row, text)
    return row


def _check_letters(value: Any, text: str) -> None:
    """Raise if a value has a lone surrogate, which JSON can spell out."""
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


def _is_deep(row: Any) -> bool:
    level = [row]
    for _ in range(DEEPEST):
        inside = [value.values() if isinstance(value, dict) else value for value in level]
        level = [value for values in inside for value in values if isinstance(value, dict | list)]
    return bool(level)


def _parse(line: str) -> Any:
    """Return the same as `json.loads`, in two thirds of its time for objects without surrounding white space."""
    if line[:1] == "{" and line[-1] == "}":
        row, end = _DECODER.raw_decode(line)
        if end == len(line):
            return row
    return _DECODER.decode(line)


def why_not_json(problem: ValueError | RecursionError) -> str:
    """Return why a text is not JSON or TOML, without Python's terms."""
    if isinstance(problem, RecursionError):
        return "nested too deeply"
    return "a number of more than 4,300 digits" if "integer string" in str(problem) else str(problem)


def refuse_constant(text: str) -> NoReturn:
    """Raise ValueError: NaN and Infinity are not JSON."""
    raise ValueError(f"{text} is not a JSON number")


_DECODER = json.JSONDecoder(parse_constant=refuse_constant)
_SPACE = re.compile(r"[ \t\r\n]*")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


# TOML


def read_toml(path: Path, looks: str) -> dict[str, Any]:
    """Return a plan or a file of rules as plain data; `looks` describes such a file for the error."""
    lines = [line for _, line in read_lines(path)]
    for number, line in enumerate(lines, start=1):
        # The parser takes quadratic time in the number of a key's parts.
        key = line.partition("=")[0]
        if key.count(".") > DEEPEST and not set(key) & set("'\",#"):
            why = f"a key of more than {DEEPEST} parts"
            raise PlanError(
                f"{path}, line {number}: not TOML", why=why, fix="check that this is the file you meant"
            )
    try:
        return tomllib.loads("\n".join(lines))
    except tomllib.TOMLDecodeError as problem:
        raise PlanError(f"{path}: not TOML", why=str(problem), fix=looks) from None
    except (ValueError, RecursionError) as problem:
        why = why_not_json(problem)
        raise PlanError(f"{path}: not TOML", why=why, fix="check that this is the file you meant") from None


# Tables


def read_table(path: Path) -> tuple[list[str], Iterator[tuple[int, dict[str, str]]]]:
    """Return the column names of a CSV (comma or semicolon) or TSV file, and its rows with their line numbers."""
    lines = read_lines(path)
    first = next(lines, (1, ""))
    if not first[1].strip():
        raise DataError(
            f"{path}, line 1: no column names",
            why="the first line must name the columns",
            fix="a first line such as: id,label",
        )
    rows = _fields(path, chain([first], lines), delimiter_of(first[1]))
    columns = next(rows)[1]
    twice = [name for name, count in Counter(columns).items() if count > 1]
    if twice:
        raise DataError(
            f"{path}, line 1: column {min(twice)!r} is there twice", fix="give each column a name of its own"
        )
    return columns, _table_rows(path, columns, rows)


def delimiter_of(first: str) -> str:
    """Return the separator of a table from its header line.

    >>> [delimiter_of(line) for line in ("id\\tlabel", "id;label", '"a;b;c",label')]
    ['\\t', ';', ',']
    """
    if "\t" in first:
        return "\t"
    bare = re.sub(r'"[^"]*"?', "", first)
    return ";" if bare.count(";") > bare.count(",") else ","


def _table_rows(
    path: Path, columns: list[str], rows: Iterator[tuple[int, list[str]]]
) -> Iterator[tuple[int, dict[str, str]]]:
    for start, row in rows:
        if len(row) != len(columns):
            raise DataError(
                f"{path}, line {start}: {len(row)} fields where the first line names {len(columns)}",
                fix="quote fields that hold the separator or a line end",
            )
        yield start, dict(zip(columns, row, strict=True))


def _fields(path: Path, lines: Iterator[tuple[int, str]], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each non-blank row with the line it starts on."""
    last = 0  # a quoted field may span several lines

    def text() -> Iterator[str]:
        nonlocal last
        for number, line in lines:
            last = number
            yield line + "\n"

    reader = _split(text(), delimiter)
    while True:
        start = last + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as problem:
            why, fix = next(
                (words for sign, words in CROOKED.items() if sign in str(problem)), (str(problem), QUOTING)
            )
            raise DataError(f"{path}, line {start}: not a table row", why=why, fix=fix) from None
        if row:
            yield start, row


QUOTING = "quote fields that hold the separator, a quote or a line end; double the quotes inside"
CROOKED = {
    "unexpected end of data": ("a quote is never closed", "close the quote that is opened in this row"),
    "larger than field limit": (
        f"a field is longer than {LONGEST_LINE // 2**20} MB",
        "close the quote that is opened in this row, or cut the text",
    ),
    "new-line character": ("a carriage return stands outside quotes", QUOTING),
}
"""Errors of the csv module: cause and remedy."""


def _split(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    """Yield the fields of each row. In TSV a quote is a plain character unless it wraps the whole field."""
    if delimiter != "\t":
        return csv.reader(lines, delimiter=delimiter, strict=True)
    return (
        [_unwrap(field) for field in line.rstrip("\n").split("\t")] if line != "\n" else [] for line in lines
    )


def _unwrap(field: str) -> str:
    inner = field[1:-1].replace('""', "")
    return (
        field[1:-1].replace('""', '"')
        if len(field) > 1 and field == f'"{field[1:-1]}"' and '"' not in inner
        else field
    )


# Many rows


class Alike:
    """Keeps one copy of each recurring text."""

    def __init__(self) -> None:
        self._known: dict[Any, Any] = {}

    def text(self, text: str) -> str:
        """Return the first copy of a text."""
        return str(self._known.setdefault(text, text))

    def texts(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the first copy of a tuple of texts; other tuples unchanged, because 1 equals True."""
        plain = all(isinstance(value, str) for value in values)
        known: tuple[Any, ...] = self._known.setdefault(values, values) if plain else values
        return known

    def groups(self, groups: dict[str, str]) -> dict[str, str]:
        """Return the first copy of a mapping of texts."""
        known: dict[str, str] = self._known.setdefault(tuple(groups.items()), groups)
        return known


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
    is_special = path.exists() and not path.is_file() and not path.is_dir()
    return is_special or any(path.absolute().is_relative_to(system) for system in ("/dev", "/proc"))


def sweep(folder: Path, name: str = "*") -> None:
    """Remove temporary files that a crash left; the caller holds their lock."""
    for left in folder.glob(f".{name}.*.tmp"):
        left.unlink(missing_ok=True)


@contextmanager
def writing(path: Path) -> Iterator[TextIO]:
    """Open a text file for writing that replaces the old one when complete; an error keeps the old one.

    What is no plain file (a device, a named pipe) is written to as it is.
    """
    with refusing(path):
        is_special = path.exists() and not path.is_file() and not path.is_dir()
        if is_special:
            with path.open("w", encoding="utf-8", newline="\n") as stream:
                yield stream
            return
    with replacing(path) as beside, beside.open("w", encoding="utf-8", newline="\n") as stream:
        yield stream
        settle(stream)


_fsync: ContextVar[bool] = ContextVar("fsync", default=True)


@contextmanager
def without_fsync() -> Iterator[None]:
    """Write files without waiting for the disk; for temporary files that are sent elsewhere."""
    token = _fsync.set(False)
    try:
        yield
    finally:
        _fsync.reset(token)


def settle(stream: IO[Any]) -> None:
    """Flush a stream to disk, so that its content survives a crash of the machine."""
    stream.flush()
    if _fsync.get():
        os.fsync(stream.fileno())


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path whose content replaces the file when the block ends.

    A symbolic link stays one: what it leads to is replaced.
    """
    with refusing(path):
        place = Path(os.path.realpath(path)) if path.is_symlink() else path
        if path.is_dir():
            raise StoreError(f"{path}: a folder, not a file", fix="the name of a file in it")
        if place.is_symlink() or (place.exists() and not place.is_file()):
            raise StoreError(f"{path}: not a plain file", fix="name another place")
        beside = place.with_name(f".{place.name}.{os.getpid()}.tmp")
        try:
            yield beside
            beside.replace(place)
        finally:
            beside.unlink(missing_ok=True)


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """Raise a StoreError that names this path if the block fails to write."""
    try:
        yield
    except OSError as problem:
        absent = isinstance(problem, FileNotFoundError) and not path.parent.exists()
        raise StoreError(
            f"{path}: cannot be written",
            why=f"there is no folder {path.parent}" if absent else problem.strerror or str(problem),
            fix=f"mkdir -p {path.parent}" if absent else "free some space, or name another place",
        ) from None


@contextmanager
def private_files() -> Iterator[None]:
    """Create files that only their owner can read, in this process and its children."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


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
                    if not all([_is_line(stream.readline(), is_valid) for _ in range(size)]):
                        break
                    self.blocks, end = self.blocks + 1, stream.tell()
        os.truncate(self.path, end)

    def read(self) -> Iterator[bytes]:
        """Yield every line behind the head."""
        with self.path.open("rb") as stream:
            stream.seek(len(self._head))
            yield from stream

    def append(self, lines: Iterable[str]) -> None:
        """Add a block; a crash leaves at most a part of it at the end."""
        try:
            content = memoryview("".join(lines).encode())
            while content:
                content = content[self._stream.write(content) :]
        except OSError as problem:
            raise no_space(self.path, problem) from None

    def restart(self) -> None:
        """Continue with an empty file, and a new inode, so that a reader notices that the old one ended."""
        before, beside = self._stream, self.path.with_name(f".{self.path.name}.{os.getpid()}.tmp")
        self._stream = beside.open("ab", buffering=0)
        beside.replace(self.path)
        before.close()
        self.blocks = 0

    def settle(self) -> None:
        """Flush to disk and close."""
        settle(self._stream)
        self._stream.close()

    def close(self) -> None:
        """Close; the content stays."""
        self._stream.close()


def _is_line(raw: bytes, is_valid: Callable[[bytes], bool]) -> bool:
    return raw.endswith(b"\n") and is_valid(raw)


def no_space(path: Path, problem: OSError) -> StoreError:
    """Return the error for a file that could not be written to the end."""
    return StoreError(
        f"{path}: cannot be written",
        why=problem.strerror or str(problem),
        fix="free some space, then run the same command again: it resumes",
    )


def digest(path: Path) -> str:
    """Return a short hash of a file, or of all files in a folder with their names."""
    whole = hashlib.sha256()
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    for file in files:
        with file.open("rb") as stream:
            name = str(file.relative_to(path)) if path.is_dir() else ""
            whole.update(name.encode() + b"\0" + hashlib.file_digest(stream, "sha256").digest())
    return whole.hexdigest()[:16]
