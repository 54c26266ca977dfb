"""Any table whose columns you name: labelled texts (MFT), or originals with their variants (INV, DIR)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.errors import DataError, nearest, some
from . import Glimpse, SuiteRows
from .missing import is_blank
from .tables import Rows, open_rows

PAIRS = {1: ("text",), 2: ("question1", "question2")}


@dataclass(frozen=True, slots=True)
class Named:
    """Which column holds what. One text column makes single texts, two make pairs."""

    texts: tuple[str, ...] = ()
    label: str = ""
    functionality: str = ""
    capability: str = ""
    id: str = ""
    cluster: str = ""
    original: str = ""
    variants: tuple[str, ...] = ()
    test_type: str = "MFT"
    expect: str = ""
    """The rule that the cases are judged by, where it is not the test type's own."""

    def all(self) -> list[str]:
        """Every column that was named."""
        return [
            name
            for name in (
                *self.texts,
                self.original,
                *self.variants,
                self.label,
                self.functionality,
                self.capability,
                self.id,
                self.cluster,
            )
            if name
        ]


def fits(look: Glimpse) -> bool:
    """Never by itself: somebody has to name the columns."""
    return False


def read(path: Path, named: Named) -> SuiteRows:
    """A case per row."""
    _check_named(path, named)
    table = open_rows(path)
    for name in named.all():
        if name not in table.columns:
            raise DataError(
                f"{path}{', line 1' if table.unit == 'line' else ''}: no column {name!r}",
                why=f"found: {some(table.columns, 12)}",
                fix=nearest(name, table.columns) or "one of those",
            )
    chosen = set(named.all())
    lost = [f"column {name!r}" for name in table.columns if name and name not in chosen]
    header: dict[str, Any] = {"suite": path.name.split(".")[0]}
    if named.label in table.names:
        header["label_names"] = list(table.names[named.label])
    return SuiteRows(header, _cases(path, table, named), lost, table.unit)


def _check_named(path: Path, named: Named) -> None:
    """Stop at columns that do not go together."""
    if named.test_type == "MFT":
        if named.original or named.variants:
            raise DataError(
                f"{path}: an original and a variant make an INV or a DIR test",
                fix="--type INV, or --type DIR",
            )
        if len(named.texts) not in PAIRS:
            raise DataError(
                f"{path}: name one text column, or two for pairs, not {len(named.texts)}",
                fix="--text COLUMN",
            )
        if not named.label:
            raise DataError(
                f"{path}: no label column named", why="a case needs its label", fix="--label COLUMN"
            )
        return
    if named.texts or not named.original or not named.variants:
        raise DataError(
            f"{path}: {named.test_type} compares an original with its variants",
            fix="--original COLUMN --variant COLUMN, instead of --text",
        )
    if named.test_type == "DIR" and not named.expect:
        raise DataError(
            f"{path}: DIR needs to know which way confidence may move",
            fix='--expect "not more confident"; all rules: shoal list rules',
        )


def _cases(path: Path, table: Rows, named: Named) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, row in table.rows:
        try:
            yield number, _case(path, number, row, named)
        except DataError as problem:
            raise problem.at(f"{path}, {table.unit} {number}") from None


def _case(path: Path, number: int, row: Mapping[str, Any], named: Named) -> dict[str, Any]:
    stem = path.name.split(".")[0]
    name = _word(row, named.functionality) if named.functionality else stem
    if named.test_type == "MFT":
        fields = PAIRS[len(named.texts)]
        examples = [dict(zip(fields, (_text(row, column) for column in named.texts), strict=True))]
    else:
        examples = [{"text": _text(row, column)} for column in (named.original, *named.variants)]
    return {
        "functionality": name,
        "capability": _word(row, named.capability) if named.capability else name,
        "type": named.test_type,
        "case_id": _word(row, named.id) if named.id else str(number),
        "examples": examples,
        "labels": _label(row, named.label) if named.label else None,
        "expect": {"rule": named.expect} if named.expect else None,
        "cluster": _word(row, named.cluster) if named.cluster else "",
    }


def _cell(row: Mapping[str, Any], column: str) -> Any:
    """What stands in a column, if anything does."""
    value = row.get(column)
    if is_blank(value):
        raise DataError(f"nothing in column {column!r}", fix="fill it in, or take the row out")
    return value


def _text(row: Mapping[str, Any], column: str) -> str:
    value = _cell(row, column)
    if not isinstance(value, str):
        raise DataError(
            f"column {column!r} holds {type(value).__name__}, text is expected",
            fix="name the column that holds the text",
        )
    return value


def _word(row: Mapping[str, Any], column: str) -> str:
    return str(_cell(row, column)).strip()


def _label(row: Mapping[str, Any], column: str) -> Any:
    value = row.get(column)
    if is_blank(value):
        return ""  # the suite names all rows without a label at once
    if isinstance(value, list | dict):
        raise DataError(
            f"column {column!r} holds {type(value).__name__}, one label is expected",
            why="cases with several labels at a time are not built here",
            fix="name a column with one label in each row",
        )
    return value.strip() if isinstance(value, str) else value
