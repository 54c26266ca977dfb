"""CrowS-Pairs (Nangia et al. 2020): pairs of sentences that differ only in the words that name a group.

A table with columns `sent_more` (more stereotypical), `sent_less`, `stereo_antistereo` and `bias_type`. In a *stereo*
pair the first states a stereotype about a disadvantaged group; in an *antistereo* pair the second violates one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import DataError, PlanError, errors_at
from .cells import filled_cell
from .tables import open_rows, require_columns

COLUMNS = ("sent_more", "sent_less", "stereo_antistereo", "bias_type")
DIRECTIONS = ("stereo", "antistereo")
SCORES = (*COLUMNS[:2], "sent_more_score", "sent_less_score")
FILE = "crows_pairs_anonymized.csv"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences, the direction of their stereotype, and its type."""

    id: str
    more: str
    less: str
    direction: str
    bias_type: str


def read_pairs(path: Path, sentences: Sequence[str] = ()) -> list[Pair]:
    """Return the pairs of a table; they are numbered if it has no column of ids.

    `sentences` names the columns of the two sentences, for a table with several languages.
    """
    if sentences and len(sentences) != 2:
        raise PlanError(
            f"columns = {list(sentences)}",
            fix='the two sentences: columns = ["sent_more_fr", "sent_less_fr"]',
        )
    table, columns = open_rows(path), (*(sentences or COLUMNS[:2]), *COLUMNS[2:])
    require_columns(path, table.columns, columns)
    id_column = next((name for name in ("", "id") if name in table.columns), None)
    pairs: dict[str, Pair] = {}
    for line, row in table.rows:
        with errors_at(f"{path}, {table.unit} {line}"):
            more, less, direction, bias_type = (filled_cell(row, name, str) for name in columns)
            if direction not in DIRECTIONS:
                raise DataError(
                    f"stereo_antistereo is {direction!r}", fix="stereo or antistereo, or remove the row"
                )
            identity = str(len(pairs) if id_column is None else filled_cell(row, id_column))
            if identity in pairs:
                raise DataError(f"pair {identity!r} occurs twice", fix="give each pair an id of its own")
        pairs[identity] = Pair(identity, more, less, direction, bias_type)
    if not pairs:
        raise DataError(f"{path}: no pairs", fix="check that this is the file you meant")
    return list(pairs.values())


def read_pair_scores(path: Path) -> dict[tuple[str, str], tuple[float, float]]:
    """Return stored log-likelihoods by the two sentences of a pair, from a table or JSON Lines."""
    table = open_rows(path)
    require_columns(path, table.columns, SCORES)
    scores: dict[tuple[str, str], tuple[float, float]] = {}
    for line, row in table.rows:
        where = f"{path}, {table.unit} {line}"
        more, less, *values = (row.get(name) for name in SCORES)
        try:
            both = float(str(values[0])), float(str(values[1]))
        except ValueError:
            both = math.nan, math.nan
        if math.isnan(sum(both)):
            raise DataError(
                f"{where}: sent_more_score and sent_less_score must be numbers",
                fix="log-likelihoods, such as -42.5",
            )
        if scores.setdefault((str(more), str(less)), both) != both:
            raise DataError(
                f"{where}: this pair has other scores on an earlier line",
                why=str(more)[:60],
                fix="keep the line that is right",
            )
    if not scores:
        raise DataError(f"{path}: no scores", fix="check that this is the file you meant")
    return scores
