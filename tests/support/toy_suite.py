"""A suite in which every text should be positive, and predictions with chosen mistakes."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from small_world import Row, lines

TOY: Row = {"suite": "toy", "label_names": ["negative", "positive"]}


def rows_of(sizes: Mapping[str, int]) -> list[Row]:
    """Return the given number of cases for each functionality."""
    about = {"capability": "c", "type": "MFT", "labels": 1}
    return [
        {**about, "functionality": name, "case_id": at, "examples": [{"text": f"{name} {at}"}]}
        for name, size in sizes.items()
        for at in range(size)
    ]


def write_suite(path: Path, rows: Sequence[Row]) -> Path:
    path.write_bytes(lines([TOY, *rows]))
    return path


def write_answers(path: Path, rows: Sequence[Row], said: Iterable[int]) -> str:
    """Write the number of a label for each case and return the spec of the model."""
    answers = [
        {"functionality": row["functionality"], "case_id": row["case_id"], "pred": p, "conf": [1 - p, p]}
        for row, p in zip(rows, map(int, said), strict=True)
    ]
    path.write_bytes(lines(answers))
    return f"predictions:{path}"
