"""A table of what models get right of each kind of example: a row per model, a column per kind, shares from 0 to 1.

    model,   kind a, kind b     how many examples each share is of: a number for all kinds, or a file with a row per
    run 0,   0.415,  0.998      example, in which one column names the kinds

Tables come with rows and columns that say nothing new: blank ones, a mean or a standard deviation below the models, the
mean over several kinds. A row is left out if it is called a mean, a minimum and so on *and* is that of the rows above
it, cell by cell; only one of the two is refused. A column that is the mean of others would count them twice, and is
refused. Whoever names the rows and columns is believed.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import DataError, nearest, some
from ...data.tables import open_rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CLOSE = 1e-6
"""Cells this close are the same number, written with more or fewer digits."""
MOST_ROWS = 1_000
FEWEST = 3
"""Of fewer rows, or fewer columns, one may be the mean or the largest of the others by accident."""
DECIMALS = re.compile(r"\d*\.(\d*)$")
SUMMARY = re.compile(
    r"(the )?(min(imum)?|max(imum)?|mean|average|avg\.?|median|total|overall|all|range"
    r"|sd|std\.?|stdev|standard deviation|st\. ?dev\.?)", re.IGNORECASE,
)  # fmt: skip
"""What rows are called that sum up others."""


@dataclass(frozen=True, slots=True)
class Rates:
    """What models get right of each kind of example."""

    models: list[str]
    kinds: list[str]
    sizes: Ints
    """How many examples there are of each kind."""
    right: Ints
    """How many of them each model gets right: (models, kinds)."""
    summaries: list[str]
    """Rows that were left out: they say what the rows above them say."""
    columns: list[str]
    """Columns that were left out: no kind of example."""

    @property
    def shares(self) -> Floats:
        """What each model gets right of each kind."""
        return np.asarray(self.right / self.sizes, np.float64)

    @property
    def accuracies(self) -> Floats:
        """What each model gets right of everything."""
        return np.asarray(self.right.sum(axis=1) / self.sizes.sum(), np.float64)


def read_rates(path: Path, examples: str, models: Sequence[str] = (), kinds: Sequence[str] = ()) -> Rates:
    """The table, with the number of examples of each kind: `examples` is a number or a file.

    `models` and `kinds` name rows and columns, `*` standing for any letters; without them all that are no summary.
    """
    columns, rows = _read(path)
    chosen = _chosen_columns(path, columns, kinds)
    if examples.isdecimal():
        sizes = dict.fromkeys(chosen, _whole(int(examples)))
    else:
        sizes = _counted(Path(examples), chosen, path)
    used = sorted(name for name in chosen if name in sizes)
    words = {name: [row[column] for column in used] for name, row in rows.items()}
    names, summaries = _split(path, used, words, models)
    if not kinds and examples.isdecimal():
        side_by_side = [name for name in chosen if name in sizes]
        table = np.array([_numbers([rows[name][column] for column in side_by_side]) for name in names])
        _refuse_means(path, side_by_side, table)
    sized = np.array([sizes[column] for column in used], np.int64)
    right = [_right(path, name, used, words[name], sized) for name in names]
    others = [name for name in columns if name not in used]
    return Rates(names, used, sized, np.array(right, np.int64), summaries, others)


# The table


def _read(path: Path) -> tuple[list[str], dict[str, Mapping[str, str]]]:
    """The columns but for the first, which names models, and the rows by name; blank rows are none."""
    table = open_rows(path)
    naming, *columns = [name for name in table.columns if name]
    rows: dict[str, Mapping[str, str]] = {}
    for line, row in table.rows:
        cells = {
            column: str(row.get(column) if row.get(column) is not None else "").strip() for column in columns
        }
        name = str(row.get(naming) or "").strip()
        if not name and not any(cells.values()):
            continue
        if not name:
            raise DataError(
                f"{path}, {table.unit} {line}: nothing in column {naming!r}", fix="name the model"
            )
        if name in rows:
            raise DataError(f"{path}, {table.unit} {line}: {name!r} is there twice", fix="a row per model")
        rows[name] = cells
        if len(rows) > MOST_ROWS:
            raise DataError(
                f"{path}: more than {MOST_ROWS:,} rows",
                why="a row per model is expected, and in it what the model gets right of each kind of example",
                fix="a table of shares; answers to examples are predictions:FILE",
            )
    if not columns or not rows:
        raise DataError(
            f"{path}: no table of shares",
            why="a row per model and a column per kind of example are expected, the models' names in the first column",
            fix="check that this is the file you meant",
        )
    return columns, rows


def _chosen_columns(path: Path, columns: Sequence[str], kinds: Sequence[str]) -> list[str]:
    for pattern in kinds:
        if not any(fnmatchcase(column, pattern) for column in columns):
            raise DataError(
                f"{path}: no column {pattern!r}",
                why=f"found: {some(columns, 12)}",
                fix=nearest(pattern, columns) or "one of those; * stands for any letters",
            )
    return [column for column in columns if not kinds or any(fnmatchcase(column, one) for one in kinds)]


def _whole(number: int) -> int:
    if number < 1:
        raise DataError("--examples 0", why="each share is of one example or more", fix="--examples 1000")
    return number


def _counted(path: Path, columns: Sequence[str], table: Path) -> dict[str, int]:
    """How many examples there are of each kind, by the one column of a file whose values are the table's columns."""
    counts: dict[str, Counter[str]] = {}
    for _, row in open_rows(path).rows:
        for column, value in row.items():
            counts.setdefault(column, Counter())[str(value)] += 1
    naming = [column for column, values in counts.items() if len(values.keys() & set(columns)) > 1]
    if len(naming) != 1:
        raise DataError(
            f"{path}: which column names the kinds of examples cannot be told",
            why=f"it may be {' or '.join(naming)}"
            if naming
            else f"none of {some(counts, 12)} holds names of columns of {table}: {some(columns, 6)}",
            fix="a file with a row per example and one column of kinds, or --examples NUMBER",
        )
    values = counts[naming[0]]
    missing = [kind for kind in values if kind not in columns]
    if missing:
        raise DataError(
            f"{table}: no share for {missing[0]!r}",
            why=f"{values[missing[0]]:,} examples of {path} are of that kind, in column {naming[0]!r}",
            fix=nearest(missing[0], columns) or "a column for every kind of example",
        )
    return dict(values)


# Cells


def _numbers(words: Sequence[str]) -> Floats:
    return np.array([_number(word) for word in words], np.float64)


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return float("nan")


def _decimals(word: str) -> int:
    """How many digits stand behind the point."""
    found = DECIMALS.fullmatch(word)
    return len(found[1]) if found else 0


def _check_shares(path: Path, model: str, kinds: Sequence[str], words: Sequence[str]) -> None:
    for kind, word in zip(kinds, words, strict=True):
        if not 0 <= _number(word) <= 1:
            raise DataError(
                f"{path}: {word!r} for {model!r} in column {kind!r}",
                why="a share from 0 to 1 is expected",
                fix="shares, not per cent; or name the models and the kinds: shoal rank 'run*' --kinds 'a_*'",
            )


def _right(path: Path, model: str, kinds: Sequence[str], words: Sequence[str], sizes: Ints) -> list[int]:
    """How many examples of each kind a model gets right."""
    _check_shares(path, model, kinds, words)
    counts = []
    for kind, word, size in zip(kinds, words, sizes.tolist(), strict=True):
        share = _number(word)
        rounded = size * 0.5 * 10.0 ** -_decimals(word) + CLOSE
        if abs(share * size - round(share * size)) > rounded:
            raise DataError(
                f"{path}: {word} for {model!r} in column {kind!r} is no share of {size:,} examples",
                why=f"it would be {share * size:.2f} of them",
                fix="--examples with how many there are of each kind",
            )
        counts.append(round(share * size))
    return counts


# What says nothing new


def _split(
    path: Path, kinds: Sequence[str], words: Mapping[str, Sequence[str]], models: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The rows that are models, by name, and those that sum them up."""
    for pattern in models:
        if not any(fnmatchcase(name, pattern) for name in words):
            raise DataError(
                f"{path}: no row {pattern!r}",
                why=f"found: {some(list(words), 12)}",
                fix=nearest(pattern, list(words)) or "one of those; * stands for any letters",
            )
    if models:
        return sorted(name for name in words if any(fnmatchcase(name, one) for one in models)), []
    names: list[str] = []
    summaries: list[str] = []
    for name, row in words.items():
        is_called = bool(SUMMARY.fullmatch(name))
        if not is_called:
            _check_shares(path, name, kinds, row)
        is_one = _sums_up(row, [words[other] for other in names], fewest=1 if is_called else FEWEST)
        if is_called != is_one:
            raise DataError(
                f"{path}: is {name!r} a model, or does it sum up those above it?",
                why="it is called so, and is not their least, largest, mean, median or standard deviation"
                if is_called
                else "it is their least, largest, mean, median or standard deviation in every column",
                fix=f"name the models: shoal rank {names[0]!r} … --rates {path}; * stands for any letters"
                if names
                else "name the models",
            )
        (summaries if is_one else names).append(name)
    return sorted(names), summaries


def _sums_up(words: Sequence[str], others: Sequence[Sequence[str]], fewest: int) -> bool:
    """Whether a row is the least, the largest, the mean, the median or the standard deviation of those above it."""
    if min(len(others), len(words)) < fewest:
        return False
    row, above = _numbers(words), np.array([_numbers(other) for other in others])
    sums = (above.min(axis=0), above.max(axis=0), above.mean(axis=0), np.median(above, axis=0),
            above.std(axis=0), *([above.std(axis=0, ddof=1)] if len(above) > 1 else []))  # fmt: skip
    reach = 0.5 * 10.0 ** -max(map(_decimals, words)) + CLOSE
    return any(np.allclose(row, one, rtol=0, atol=reach) for one in sums)


def _refuse_means(path: Path, columns: Sequence[str], shares: Floats) -> None:
    """A column that is the mean of columns side by side counts them again."""
    if len(shares) < FEWEST:
        return
    sums = np.concatenate([np.zeros((len(shares), 1)), shares.cumsum(axis=1)], axis=1)
    for place, column in enumerate(columns):
        for first, end in _runs(len(columns), place):
            mean = (sums[:, end] - sums[:, first]) / (end - first)
            if np.allclose(shares[:, place], mean, rtol=0, atol=CLOSE):
                raise DataError(
                    f"{path}: column {column!r} is the mean of {columns[first]!r} to {columns[end - 1]!r}",
                    why="their examples would count twice",
                    fix=f"name the kinds: --kinds {columns[first]!r} …, * stands for any letters",
                )


def _runs(count: int, without: int) -> Iterator[tuple[int, int]]:
    """Columns side by side, two or more, none of them being this one."""
    for first in range(count):
        for end in range(first + 2, count + 1):
            if not first <= without < end:
                yield first, end


def about(rates: Rates) -> dict[str, Any]:
    """What was read and what was not, as plain values."""
    return {
        "models": len(rates.models),
        "kinds": rates.kinds,
        "examples": int(rates.sizes.sum()),
        "rows left out": rates.summaries,
        "columns left out": rates.columns,
    }
