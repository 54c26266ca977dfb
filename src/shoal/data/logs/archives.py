"""Members of a zip archive, with the limits of other compressed files.

inspect compresses with Zstandard (method 93), which `zipfile` reads from Python 3.14 on. Here `zipfile` reads the
directory, and the bytes of a member are decompressed by the `zstandard` package. Nothing is written to disk, so names
of members are only looked up.
"""

import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ...core.errors import DataError, MissingExtra
from ...core.files import LARGEST_WHOLE, Swelling

ZIP = b"PK\x03\x04"
ZSTANDARD = 93
ENCRYPTED = 0x1
LOCAL_HEADER = 30
AT_ONCE = 2**20
START = "_journal/start.json"
HEADER = "header.json"


def is_inspect_archive(path: Path) -> bool:
    """Return whether a zip archive has the members of an inspect log."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, struct.error, NotImplementedError):
        return path.suffix == ".eval"  # a damaged log is an error of its own, not a workbook
    return not names.isdisjoint((HEADER, START))


class Members:
    """The members of an archive, read one by one."""

    def __init__(self, path: Path) -> None:
        self._path, self._swelling = path, Swelling(path)
        try:
            with zipfile.ZipFile(path) as archive:
                self._members = dict(archive.NameToInfo)
        except (zipfile.BadZipFile, OSError, ValueError, struct.error, NotImplementedError) as problem:
            raise self._broken(str(problem)) from None

    def names(self) -> list[str]:
        return list(self._members)

    def read(self, name: str) -> bytes:
        """Return the content of a member, checked against its size and checksum."""
        member = self._members[name]
        if member.flag_bits & ENCRYPTED:
            raise self._broken(f"{name} is encrypted")
        if member.file_size > LARGEST_WHOLE:
            raise DataError(
                f"{self._path}: {name} is larger than {LARGEST_WHOLE // 2**20} MB, unzipped",
                fix="inspect log dump, and keep the samples without their events",
            )
        content = bytearray()
        try:
            for piece in self._pieces(member):
                self._swelling.take(len(piece))
                content += piece
                if len(content) > member.file_size:
                    raise self._broken(f"{name} is longer than the archive says")
        except (zipfile.BadZipFile, OSError, ValueError, struct.error, EOFError, zlib.error) as problem:
            raise self._broken(f"{name}: {problem}") from None
        if len(content) != member.file_size or zlib.crc32(content) != member.CRC:
            raise self._broken(f"{name} is not what its checksum says")
        return bytes(content)

    def _pieces(self, member: zipfile.ZipInfo) -> Iterator[bytes]:
        if member.compress_type == ZSTANDARD:
            with self._path.open("rb") as stream:
                yield from _zstandard(stream, member)
            return
        try:
            with zipfile.ZipFile(self._path) as archive, archive.open(member) as stream:
                while piece := stream.read(AT_ONCE):
                    yield piece
        except NotImplementedError:
            raise self._broken(f"{member.filename}: compression method {member.compress_type}") from None

    def _broken(self, why: str) -> DataError:
        return DataError(
            f"{self._path}: not a whole inspect log", why=why, fix="copy the file again, or run inspect again"
        )


def _zstandard(stream: BinaryIO, member: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield the content of a member in pieces: its local header has a length of its own."""
    try:
        import zstandard
    except ImportError:
        raise MissingExtra(
            "zstandard", needed_for="inspect's .eval files; inspect log dump FILE writes JSON"
        ) from None
    stream.seek(member.header_offset)
    header = stream.read(LOCAL_HEADER)
    if len(header) < LOCAL_HEADER or not header.startswith(ZIP):
        raise ValueError("no such member at its place")
    stream.seek(sum(struct.unpack("<HH", header[26:30])), 1)
    unzipped = zstandard.ZstdDecompressor().decompressobj(read_across_frames=True)
    left = member.compress_size
    try:
        while left > 0 and (piece := stream.read(min(left, AT_ONCE // 16))):
            left -= len(piece)
            yield unzipped.decompress(piece)
    except zstandard.ZstdError as problem:
        raise ValueError(str(problem)) from None
    if left:
        raise EOFError("cut short")
