"""Which pool examples to label next, and the file to label them in (`docs/method/beyond.md` 7.16).

Two models differ only in what they get right where they disagree, and that they disagree needs no labels. Examples are
drawn with replacement, with probability proportional to the square root of the number of disagreeing pairs of models.
The file states these probabilities, because the order must weigh such examples.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import DataError
from ...core.files import writing
from ...core.records import Case, Finding
from ...core.text import csv_lines, is_formula, json_line
from . import wording
from .build import CHANCE, LEAST, TIMES, in_pool
from .order import AnswerTable, labelled_draws
from .settings import Settings

NEXT = "label next"
"""The kind of the finding that lists what to label."""
SUFFIXES = (".csv", ".jsonl")


def disagreeing_pairs(predictions: Sequence[Sequence[str]]) -> NDArray[np.int64]:
    """Return for each example how many pairs of models give different labels; empty answers form no pair.

    >>> disagreeing_pairs([["a", "a"], ["a", "b"], ["b", "c"]]).tolist()
    [2, 3]
    """
    table = np.array(predictions)
    answered = (table != "").sum(axis=0)
    pairs = answered * (answered - 1) // 2
    for label in np.unique(table[table != ""]):
        same = (table == label).sum(axis=0)
        pairs = pairs - same * (same - 1) // 2
    return np.asarray(pairs, np.int64)


def label_next(settings: Settings, table: AnswerTable) -> Finding | None:
    """Return what to label next; None without a pool."""
    positions = [position for position, case in enumerate(table.cases) if in_pool(case)]
    if not positions or not settings.label_next:
        return None
    cases = [table.cases[position] for position in positions]
    apart = disagreeing_pairs([[row[position] for position in positions] for row in table.predictions])
    differing = int((apart > 0).sum())
    facts = {"pool": len(cases), "models disagree on": differing}
    if not differing:
        return Finding("agree", wording.POOL_AGREES.format(len(cases)), (), 1.0, facts=facts)
    rng = np.random.default_rng([settings.seed, int(labelled_draws(table.cases).times.sum())])
    examples = _draw(settings.label_next, cases, apart, rng)
    text = wording.LABEL_NEXT.format(len(examples), differing, len(cases))
    return Finding(NEXT, text, (), 1.0, facts={**facts, "examples": examples})


def _draw(
    number: int, cases: Sequence[Case], apart: NDArray[np.int64], rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Return the drawn examples, with how they were drawn; the label is empty unless an example has one already."""
    weights = np.sqrt(apart)
    chances = weights / weights.sum()
    times = rng.multinomial(number, chances)
    relative = chances * len(cases)
    least = float(relative[chances > 0].min())
    drawn = sorted(np.flatnonzero(times).tolist(), key=lambda place: (-apart[place], cases[place].id))
    return [
        {
            "case": cases[place].id,
            "texts": list(cases[place].examples[0]),
            "label": str((cases[place].labels or ("",))[0]),
            "pairs that disagree": int(apart[place]),
            CHANCE: float(relative[place]),
            LEAST: least,
            TIMES: int(times[place]),
        }
        for place in drawn
    ]


# The file


def export(findings: Sequence[Finding], columns: Mapping[str, Sequence[str]], out: Path) -> int:
    """Write the examples to label next to a file, and return their number."""
    if out.suffix not in SUFFIXES:
        raise DataError(
            f"{out}: unknown format",
            why="known formats are .csv and .jsonl",
            fix=f"--out {out.stem or 'to_label'}.csv",
        )
    if out.exists():
        raise DataError(
            f"{out} exists already", why="it may hold labels", fix="another name, or remove it first"
        )
    drawn = [finding.facts["examples"] for finding in findings if finding.kind == NEXT]
    rows = [_row(example, columns) for examples in drawn for example in examples]
    if not rows:
        why = "the models agree on the pool, or label_next is 0"
        raise DataError(f"{out}: nothing to label next", why=why, fix="another pool")
    if out.suffix == ".csv":
        _check_formulas(rows, out)
        lines = csv_lines([list(rows[0]), *(list(row.values()) for row in rows)], verbatim=True)
    else:
        lines = map(json_line, rows)
    with writing(out) as stream:
        stream.writelines(lines)
    return len(rows)


def _row(example: Mapping[str, Any], columns: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    (label,) = columns.get("label") or ("label",)
    return {
        "id": example["case"].partition("/")[2],
        **dict(zip(columns.get("texts") or ("text", "text2"), example["texts"], strict=False)),
        label: example["label"],
        **{name: example[name] for name in (CHANCE, LEAST, TIMES)},
    }


def _check_formulas(rows: Sequence[Mapping[str, Any]], out: Path) -> None:
    cells = (cell for row in rows for cell in row.values() if isinstance(cell, str))
    formulas = [cell for cell in cells if is_formula(cell)]
    if formulas:
        raise DataError(
            f"{out}: {len(formulas):,} texts start like a formula, the first is {formulas[0][:60]!r}",
            why="a spreadsheet may run them, and escaping would change the text that the model sees",
            fix=f"--out {out.stem}.jsonl",
        )
