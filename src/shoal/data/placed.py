"""Values of a YAML file or a spreadsheet with their places, so that every error names line and column.

Every scalar is text, exactly as in the file: `no` is the word no, `1.10` keeps its zero. Aliases, which can
grow without limit, are an error.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ..core.errors import DataError, nearest, some
from ..core.files import whole_bytes
from .tables import open_rows

DEEPEST = 20
"""Nesting of lists and tables."""
LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Builds texts, lists and tables, nothing else; in C where PyYAML comes with it."""


class PlacedError(DataError):
    """An error that already names line and column."""

    def at(self, where: str) -> "PlacedError":
        """Return the error itself: the innermost place is the one to correct."""
        return self


@contextmanager
def errors_in(where: str) -> Iterator[None]:
    """Put a place in front of errors in the block that name none."""
    try:
        yield
    except PlacedError:
        raise
    except DataError as problem:
        raise PlacedError(f"{where}: {problem}") from None


@dataclass(frozen=True, slots=True)
class Placed:
    """A text, list or table, and where it is."""

    value: Any
    """A text, a list of `Placed`, or a dictionary from text to `Placed`."""
    where: str

    def error(self, problem: str, fix: str, why: str = "") -> DataError:
        """Return an error at this place."""
        return PlacedError(f"{self.where}: {problem}", why=why, fix=fix)

    def text(self, what: str) -> str:
        """Return a text that is not blank."""
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.error(f"{what} must be a text, found {self.kind}", f"{what}: …")
        return self.value

    def texts(self, what: str) -> list[str]:
        """Return a list of texts; a single text is a list of one."""
        return [part.text(what) for part in self.parts(what)]

    def parts(self, what: str) -> "list[Placed]":
        """Return the entries of a list; a single text is a list of one."""
        parts = [self] if isinstance(self.value, str) else self.value
        if not isinstance(parts, list) or not parts:
            raise self.error(f"{what} must be a list, found {self.kind}", f"{what}: [first, second]")
        return parts

    def table(self, what: str, known: tuple[str, ...] = ()) -> "dict[str, Placed]":
        """Return a table; with known names, another name is an error."""
        if not isinstance(self.value, dict):
            fix = 'indent the lines that belong to it, without "-" before the names'
            raise self.error(f"{what} needs lines of the form name: value, found {self.kind}", fix)
        for name, part in self.value.items():
            if known and name not in known:
                raise part.error(
                    f"unknown name {name!r} in {what}",
                    nearest(name, known) or "take it out, or quote it if it is part of a text",
                    f"known names: {', '.join(known)}",
                )
        return self.value

    def number(self, what: str, least: int) -> int:
        """Return a whole number."""
        text = self.text(what).strip()
        if not text.isascii() or not text.isdecimal() or len(text) > 9 or int(text) < least:
            raise self.error(f"{what} must be a whole number from {least}, found {text!r}", f"{what}: 60")
        return int(text)

    def plain(self) -> Any:
        """Return texts, lists and tables without their places."""
        if isinstance(self.value, dict):
            return {name: part.plain() for name, part in self.value.items()}
        return [part.plain() for part in self.value] if isinstance(self.value, list) else self.value

    @property
    def kind(self) -> str:
        """Return what this is, for a message."""
        if isinstance(self.value, str):
            return repr(self.value[:60]) if self.value.strip() else "nothing"
        return "a list" if isinstance(self.value, list) else "a table"


# YAML


def read_yaml(path: Path) -> Placed:
    """Return the content of a YAML file."""
    content = whole_bytes(path)
    try:
        _check_events(path, content)
        node = yaml.compose(content, LOADER)
    except yaml.MarkedYAMLError as problem:
        raise DataError(
            f"{_where(path, problem.problem_mark or problem.context_mark)}: not valid YAML",
            why="; ".join(filter(None, [problem.context, problem.problem])),
            fix="indent with spaces, put a space after a colon, quote texts that contain ': ', '#' or braces",
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError) as problem:
        reason = str(problem).splitlines()[0]
        raise DataError(f"{path}: not valid YAML", why=reason, fix="save it as UTF-8 text") from None
    if node is None:
        raise DataError(f"{path}: the file is empty", fix="shoal new suite NAME writes a file to start from")
    return _placed(path, node, content.decode().splitlines())


def _check_events(path: Path, content: bytes) -> None:
    """Raise at an alias, or at nesting that would take long to read."""
    depth = 0
    for event in yaml.parse(content, LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        where = _where(path, event.start_mark)
        if isinstance(event, yaml.AliasEvent):
            raise DataError(
                f"{where}: the alias *{event.anchor}",
                why="shoal reads files without aliases",
                fix="write the value out, or name a word list under words",
            )
        if depth > DEEPEST:
            raise DataError(f"{where}: nested too deeply", fix=f"at most {DEEPEST} levels")


def _placed(path: Path, node: yaml.Node, lines: Sequence[str]) -> Placed:
    where = _where(path, node.start_mark)
    if isinstance(node, yaml.ScalarNode):
        _check_unquoted(node, lines, where)
        return Placed(node.value, where)
    if isinstance(node, yaml.SequenceNode):
        return Placed([_placed(path, part, lines) for part in node.value], where)
    table: dict[str, Placed] = {}
    for key, part in node.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else None
        if name is None or name in table:
            problem = "a name must be a text" if name is None else f"{name!r} occurs twice"
            raise DataError(
                f"{_where(path, key.start_mark)}: {problem}",
                fix='keep one of them; quote a text that begins with a brace: "{thing} is …"',
            )
        placed = _placed(path, part, lines)
        table[name] = Placed(placed.value, _where(path, key.start_mark))
    return Placed(table, where)


def _check_unquoted(node: yaml.ScalarNode, lines: Sequence[str], where: str) -> None:
    """Raise if a text without quotes is cut off at "#", or has typographic quotes around it."""
    end = node.end_mark
    is_plain = not node.style and end.line < len(lines)
    if is_plain and re.match(r"\s+#\S", lines[end.line][end.column :]):
        raise DataError(f"{where}: the text ends before #", fix='quote it: "We are #1."')
    if is_plain and re.fullmatch(r"[„“”].*[“”]", node.value):
        raise DataError(f"{where}: typographic quotes around a text", fix=f'"{node.value[1:-1]}"')


def _where(path: Path, mark: "yaml.Mark | None") -> str:
    return f"{path}, line {mark.line + 1}, column {mark.column + 1}" if mark else str(path)


# Spreadsheets


def sheet_rows(path: Path, known: tuple[str, ...]) -> Iterator[dict[str, Placed]]:
    """Yield the filled cells of each row of a table by column."""
    table = open_rows(path)
    for name in map(column_name, table.columns):
        if name and name not in known:
            raise DataError(
                f"{path}: unknown column {name!r}",
                why=f"known columns: {some(known, 20)}",
                fix=nearest(name, known) or "take it out",
            )
    for number, row in table.rows:
        cells = {column_name(name): "" if value is None else _cell(value) for name, value in row.items()}
        filled = {
            name: Placed(text, f"{path}, {table.unit} {number}, column {name}")
            for name, text in cells.items()
            if text.strip()
        }
        if filled:
            yield filled


def column_name(name: str) -> str:
    """Return a column's name without capitals and white space around it."""
    return name.strip().lower()


def _cell(value: Any) -> str:
    """Return a cell as text; spreadsheets store whole numbers as 60.0."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
