"""Excel workbooks (.xlsx): one sheet, with the names of the columns in its first row."""

import io
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

from ...core.errors import DataError, MissingExtra, nearest
from ...core.files import LARGEST_WHOLE, LONGEST_SHEET, whole_bytes
from .asked import Request
from .columns import Columns, shown
from .records import Records, read_records


def read(request: Request) -> Columns:
    """The only sheet, or the one that `?sheet=` names."""
    book = _open(request)
    names = book.sheetnames
    if request.options.sheet not in names and (request.options.sheet or len(names) != 1):
        raise DataError(
            f"{request.path}: which sheet is meant cannot be told",
            why=f"it has {', '.join(names) or 'none'}",
            fix=nearest(request.options.sheet, names)
            or (f"?sheet={names[0]}" if names else "save it again as .xlsx, or as CSV"),
        )
    cells = _cells(request, book[request.options.sheet or names[0]])
    columns = tuple("" if name is None else str(name) for name in next(cells, ()))
    twice = [name for name, times in Counter(columns).items() if times > 1 and name]
    if twice or not any(columns):
        problem = f"column {twice[0]!r} is there twice" if twice else "no column names"
        raise DataError(
            f"{request.path}, row 1: {problem}", fix="name the columns in the first row, each once"
        )
    rows = ((number, dict(zip(columns, row, strict=False))) for number, row in enumerate(cells, start=2))
    filled = ((number, row) for number, row in rows if any(cell is not None for cell in row.values()))
    return read_records(request, Records("row", filled, columns))


def _open(request: Request) -> Any:
    try:
        import openpyxl
    except ImportError:
        raise MissingExtra("openpyxl", needed_for="Excel workbooks") from None
    content = io.BytesIO(whole_bytes(request.path))
    try:
        with zipfile.ZipFile(content) as parts:
            size = sum(part.file_size for part in parts.infolist())
        if size > LARGEST_WHOLE:
            raise DataError(
                f"{request.path}: over {LARGEST_WHOLE // 2**20:,} MB once unpacked", fix="save it as CSV"
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and drop-down lists
            return openpyxl.load_workbook(content, read_only=True, data_only=True)
    except DataError:
        raise
    except Exception as problem:  # openpyxl lets through whatever its parsers raise
        raise _broken(request, problem) from None


def _cells(request: Request, sheet: Any) -> Iterator[tuple[Any, ...]]:
    sheet.reset_dimensions()  # what the sheet says of its size may be a lie of 16,384 columns
    rows = islice(sheet.iter_rows(values_only=True), LONGEST_SHEET)
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except Exception as problem:
            raise _broken(request, problem) from None
        yield row


def _broken(request: Request, problem: Exception) -> DataError:
    return DataError(
        f"{request.path}: cannot be read as an Excel workbook",
        why=shown(str(problem)),
        fix="save it again as .xlsx, or as CSV",
    )
