"""CSV and TSV, with commas, semicolons or tabs between the columns."""

from ...core.files import read_lines
from ...core.tables import delimiter_of, read_table
from .asked import Request
from .columns import Columns
from .records import Records, read_records


def read(request: Request) -> Columns:
    """A table with an id column, and a label column, probability columns or both.

    Where semicolons part the columns, a comma is taken for a decimal point: programs write both or neither.
    """
    columns, rows = read_table(request.path)
    semicolons = delimiter_of(next(read_lines(request.path))[1]) == ";"
    return read_records(request, Records("line", rows, tuple(columns), decimal_comma=semicolons))
