"""Any table whose columns the user names: labelled texts (MFT), or originals with their variants (INV, DIR)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..core.errors import DataError
from ..core.files import split_name, valid_rows
from . import Glimpse, SuiteRows
from .cells import filled_cell, is_blank, such_as, value_at
from .invalid import InvalidRows
from .tables import open_rows

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
    """The rule of the cases; empty for the test type's default."""

    def all(self) -> list[str]:
        """Return every named column."""
        groups = (self.label, self.functionality, self.capability, self.id, self.cluster)
        return [name for name in (*self.texts, self.original, *self.variants, *groups) if name]


def fits(look: Glimpse) -> bool:
    """Return False: the user has to name the columns."""
    return False


def read(path: Path, named: Named) -> SuiteRows:
    """Return a case per row."""
    _check_named(path, named)
    invalid = InvalidRows()
    table = open_rows(path, invalid.add)
    if not table.columns and invalid.count:
        raise invalid.error(path, table.unit, invalid.count)
    chosen = named.all()
    table.require(path, chosen)
    tops = {name if name in table.columns else name.partition(".")[0] for name in chosen}
    lost = [f"column {name!r}" for name in table.columns if name and name not in tops]
    header: dict[str, Any] = {"suite": split_name(path)[0].name.split(".")[0]}
    if named.label in table.names:
        header["label_names"] = list(table.names[named.label])
    numbered = ((number, (number, row)) for number, row in table.rows)
    cases = valid_rows(numbered, partial(_case, path, named), "", invalid.add)
    return SuiteRows(header, cases, lost, table.unit, invalid=invalid)


def _check_named(path: Path, named: Named) -> None:
    """Raise if the named columns do not make a test of this type."""
    compares = bool(named.original or named.variants)
    if named.test_type == "MFT" and compares:
        problem, fix = "an original and a variant make an INV or a DIR test", "--type INV, or --type DIR"
    elif named.test_type == "MFT" and len(named.texts) not in PAIRS:
        problem, fix = "name one text column, or two for pairs", "--text COLUMN"
    elif named.test_type == "MFT" and not named.label:
        problem, fix = "no label column named", "--label COLUMN"
    elif named.test_type != "MFT" and (named.texts or not named.original or not named.variants):
        problem = f"{named.test_type} compares an original with its variants"
        fix = "--original COLUMN --variant COLUMN, instead of --text"
    elif named.test_type == "DIR" and not named.expect:
        problem = "DIR needs to know which way confidence may move"
        fix = '--expect "not more confident"; all rules: shoal list rules'
    else:
        return
    raise DataError(f"{path}: {problem}", fix=fix)


def _case(path: Path, named: Named, numbered: tuple[int, Mapping[str, Any]]) -> dict[str, Any]:
    number, row = numbered
    name = _word(row, named.functionality, split_name(path)[0].name.split(".")[0])
    if named.test_type == "MFT":
        fields, columns = PAIRS[len(named.texts)], named.texts
        examples = [{key: filled_cell(row, column, str) for key, column in zip(fields, columns, strict=True)}]
    else:
        examples = [{"text": filled_cell(row, column, str)} for column in (named.original, *named.variants)]
    return {
        "functionality": name,
        "capability": _word(row, named.capability, name),
        "type": named.test_type,
        "case_id": _word(row, named.id, str(number)),
        "examples": examples,
        "labels": _label(row, named.label) if named.label else None,
        "expect": {"rule": named.expect} if named.expect else None,
        "cluster": _word(row, named.cluster, ""),
    }


def _word(row: Mapping[str, Any], column: str, default: str) -> str:
    return str(filled_cell(row, column)).strip() if column else default


def _label(row: Mapping[str, Any], column: str) -> Any:
    value = value_at(row, column)
    if isinstance(value, list | dict):
        raise DataError(
            f"column {column!r} holds {type(value).__name__}, one label is expected",
            fix=f"name a column with one label in each row{such_as(column, value)}",
        )
    return "" if is_blank(value) else value
