"""CrowS-Pairs (Nangia et al. 2020): pairs of sentences that differ only in the words that name a group.

A table with columns `sent_more` (more stereotypical), `sent_less`, `stereo_antistereo` and `bias_type`. In a *stereo*
pair the first states a stereotype about a disadvantaged group; in an *antistereo* pair the second violates one.
"""

from dataclasses import dataclass
from pathlib import Path

from ..core.errors import DataError, nearest
from ..core.files import first_bytes, read_json_lines
from ..core.tables import read_table

COLUMNS = ("sent_more", "sent_less", "stereo_antistereo", "bias_type")
DIRECTIONS = ("stereo", "antistereo")
SCORES = ("sent_more_score", "sent_less_score")
FILE = "crows_pairs_anonymized.csv"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences, which of them is more stereotypical, and about what."""

    id: str
    more: str
    less: str
    direction: str
    bias_type: str


def read_pairs(path: Path) -> list[Pair]:
    """The pairs of a CSV or TSV file, named by the file's own numbers where its first column has none."""
    columns, rows = read_table(path)
    _need(path, columns, COLUMNS)
    numbered = next((name for name in ("", "id") if name in columns), None)
    pairs: list[Pair] = []
    seen = set()
    for line, row in rows:
        where = f"{path}, line {line}"
        if row["stereo_antistereo"] not in DIRECTIONS:
            raise DataError(
                f"{where}: stereo_antistereo is {row['stereo_antistereo']!r}",
                why="stereo or antistereo is expected",
                fix="write one of the two, or take the row out",
            )
        empty = next((name for name in COLUMNS if not row[name].strip()), None)
        if empty:
            raise DataError(f"{where}: {empty} is empty", fix="fill it in, or take the row out")
        identity = str(len(pairs)) if numbered is None else row[numbered]
        if identity in seen:
            raise DataError(
                f"{where}: pair {identity!r} is there twice",
                fix="give each pair an id of its own, or take one out",
            )
        seen.add(identity)
        more, less, direction, bias_type = (row[name] for name in COLUMNS)
        pairs.append(Pair(identity, more, less, direction, bias_type))
    if not pairs:
        raise DataError(f"{path}: no pairs", fix="check that this is the file you meant")
    return pairs


def read_pair_scores(path: Path) -> dict[tuple[str, str], tuple[float, float]]:
    """Stored scores by their two sentences: CSV or JSON Lines with `sent_more_score` and `sent_less_score`."""
    if first_bytes(path, 64).lstrip().startswith(b"{"):
        rows = ((line, row) for line, row in read_json_lines(path))
    else:
        columns, rows = read_table(path)  # type: ignore[assignment]
        _need(path, columns, (*COLUMNS[:2], *SCORES))
    scores: dict[tuple[str, str], tuple[float, float]] = {}
    for line, row in rows:
        where = f"{path}, line {line}"
        _need(where, list(row), (*COLUMNS[:2], *SCORES))
        key = str(row["sent_more"]), str(row["sent_less"])
        try:
            both = float(row["sent_more_score"]), float(row["sent_less_score"])
        except (TypeError, ValueError):
            raise DataError(
                f"{where}: sent_more_score and sent_less_score must be numbers",
                fix="log-likelihoods, such as -42.5",
            ) from None
        if scores.setdefault(key, both) != both:
            raise DataError(
                f"{where}: this pair has other scores on an earlier line",
                why=key[0][:60],
                fix="keep the line that is right",
            )
    if not scores:
        raise DataError(f"{path}: no scores", fix="check that this is the file you meant")
    return scores


def _need(where: object, found: list[str], wanted: tuple[str, ...]) -> None:
    missing = [name for name in wanted if name not in found]
    if missing:
        place = f"{where}, line 1" if isinstance(where, Path) else where
        raise DataError(
            f"{place}: no column {missing[0]!r}",
            why=f"found: {', '.join(found)}",
            fix=nearest(missing[0], found) or "check that this is the file you meant",
        )
