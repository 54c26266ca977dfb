"""Any CSV, TSV or JSON Lines file whose columns you name."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import DataError, nearest
from ..files import read_json_lines, read_table
from . import Glimpse, SuiteRows, glimpse

PAIRS = {1: ("text",), 2: ("question1", "question2")}


@dataclass(frozen=True, slots=True)
class Named:
    """Which column holds what. One text column makes single texts, two make pairs."""

    texts: tuple[str, ...]
    label: str = ""
    functionality: str = ""
    capability: str = ""
    id: str = ""
    cluster: str = ""

    def all(self) -> list[str]:
        """Every column that was named."""
        return [
            name
            for name in (
                *self.texts,
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
    """A labelled case per row."""
    if len(named.texts) not in PAIRS:
        raise DataError(
            f"{path}: name one text column, or two for pairs, not {len(named.texts)}",
            fix="--text COLUMN",
        )
    if not named.label:
        raise DataError(f"{path}: no label column named", why="a case needs its label", fix="--label COLUMN")
    columns, rows = _rows(path)
    for name in named.all():
        if name not in columns:
            raise DataError(
                f"{path}, line 1: no column {name!r}",
                why=f"found: {', '.join(columns)}",
                fix=nearest(name, columns),
            )
    lost = [f"column {name!r}" for name in columns if name and name not in named.all()]
    return SuiteRows({"suite": path.name.split(".")[0]}, _cases(path, rows, named), lost)


def _rows(path: Path) -> tuple[list[str], Iterator[tuple[int, Mapping[str, Any]]]]:
    first = glimpse(path).first_object
    return (list(first), read_json_lines(path)) if first else read_table(path)


def _cases(
    path: Path, rows: Iterator[tuple[int, Mapping[str, Any]]], named: Named
) -> Iterator[tuple[int, dict[str, Any]]]:
    fields = PAIRS[len(named.texts)]
    for line, row in rows:
        missing = next((name for name in named.all() if name not in row), None)
        if missing:
            raise DataError(f"{path}, line {line}: no {missing!r}")
        name = str(row[named.functionality]) if named.functionality else path.name.split(".")[0]
        yield (
            line,
            {
                "functionality": name,
                "capability": str(row[named.capability]) if named.capability else name,
                "type": "MFT",
                "case_id": str(row[named.id]) if named.id else str(line),
                "examples": [dict(zip(fields, (row[column] for column in named.texts), strict=True))],
                "labels": row[named.label],
                "cluster": str(row[named.cluster]) if named.cluster else "",
            },
        )
