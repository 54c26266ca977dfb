"""Several models in one file: `label=preds-*` stands for every column of that form, a model each."""

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote_plus

from ...core.errors import ModelError, some
from ...core.files import first_bytes
from ...core.tables import read_table
from .. import parse_spec

ANY = "*"


def every_model(specs: Sequence[str]) -> list[str]:
    """The specs, each that has a `*` in the name of a column as often as the file has such columns.

    What `*` stands for is the same in all options of a spec: `label=*_label&probabilities=*_p` are pairs of columns,
    and only a model that has both is one.
    """
    return [one for spec in specs for one in _every(spec)]


def _every(spec: str) -> list[str]:
    head, _, query = spec.partition("?")
    parsed = parse_spec(spec)
    starred = [value for value in parsed.options.values() if ANY in value]
    if parsed.scheme != "predictions" or not starred:
        return [spec]
    columns = _columns(Path(parsed.name), spec)
    by_option = [_middles(value, columns) for value in starred]
    names = [name for name in by_option[0] if all(name in found for found in by_option[1:])]
    if not names:
        raise ModelError(
            f"{parsed.name}: no columns {' and '.join(map(repr, starred))}",
            why=f"found: {some(columns, 12)}",
            fix="names of columns with * for what differs from model to model",
        )
    return [f"{head}?{query.replace(ANY, quote_plus(name))}" for name in names]


def _middles(pattern: str, columns: Sequence[str]) -> list[str]:
    before, _, after = pattern.partition(ANY)
    form = re.compile(re.escape(before) + "(.+)" + re.escape(after))
    return [found[1] for column in columns if (found := form.fullmatch(column))]


def _columns(path: Path, spec: str) -> list[str]:
    if first_bytes(path, 1) in (b"{", b"["):
        raise ModelError(
            f"{spec}: * stands for columns of a table",
            why=f"{path} is JSON",
            fix="a spec for each model, without *",
        )
    return read_table(path)[0]
