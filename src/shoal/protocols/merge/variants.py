"""Variants as a JSON Lines file: exported once and read by any number of audits (4.5).

The first line has the labels and the counts of the search; then follows a line per problem and filter condition, with
the original as its first example. Patterns list the positions of the variants of each draw:

    {"shoal variants": 2, "labels": ["contradiction", …], "about": {…}, "measures": […]}
    {"id": "default/17", "examples": [["A man plays.", "A man rests."], ["A woman plays.", "A woman rests."], …], …,
     "meta": {"patterns": [{"groups": {"word class": "noun"}, "draws": [[1, 4, …], …]}], "made": [{"word": "man", …}]}}
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ...core.errors import DataError
from ...core.files import read_json_lines, writing
from ...core.records import Case, Example, Large, Measure, as_json
from ..base import Built
from .settings import Settings

FORMAT = 2
FIELDS = ("id", "examples", "labels", "groups", "cluster")


@dataclass(frozen=True)
class Pattern:
    """The variants of each draw, under one filter and perhaps of one word class or source."""

    groups: dict[str, str]
    draws: list[list[int]]


@dataclass(frozen=True)
class Line:
    """A line of the file: a problem under one filter condition."""

    id: str
    examples: list[Example]
    labels: list[str]
    groups: dict[str, str]
    cluster: str
    patterns: list[Pattern] = field(default_factory=list)
    made: list[dict[str, Any]] = field(default_factory=list)

    def is_sound(self, labels: tuple[str, ...]) -> bool:
        """Return whether texts, labels and draws fit together, so that the case can be counted."""
        widths = {len(example) for example in self.examples}
        positions = {place for pattern in self.patterns for draw in pattern.draws for place in draw}
        return (
            widths in ({1}, {2})
            and all(text for example in self.examples for text in example)
            and len(self.labels) == len(self.examples) == len(self.made) + 1
            and {*self.labels} <= {*labels}
            and positions <= {*range(1, len(self.examples))}
        )

    def case(self) -> Case:
        patterns = [asdict(pattern) for pattern in self.patterns]
        meta = Large({"patterns": patterns, "made": self.made}) if patterns else {}
        return Case(self.id, tuple(self.examples), tuple(self.labels), self.groups, self.cluster, meta)


@dataclass(frozen=True)
class Header:
    """The first line of the file."""

    labels: tuple[str, ...]
    rows: int
    dropped: dict[str, int]
    suggesters: list[str]
    measures: list[Measure]


def write_variants(built: Built, path: Path) -> None:
    """Write all originals and variants."""
    header = {
        "shoal variants": FORMAT,
        "labels": built.labels,
        "about": dict(built.about),
        "measures": [as_json(measure) for measure in built.measures],
    }
    rows = ({**{name: getattr(case, name) for name in FIELDS}, **case.meta} for case in built.cases)
    with writing(path) as stream:
        for row in (header, *rows):
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")


def read_variants(settings: Settings) -> Built:
    """Read the cases of a file of variants."""
    from pydantic import TypeAdapter  # slow to import

    path = Path(settings.variants)
    lines = read_json_lines(path)
    number, first = next(lines, (1, {}))
    if first.get("shoal variants") != FORMAT:
        raise DataError(
            f"{path}, line 1: not the first line of a file of variants",
            why=f"this version reads format {FORMAT}, which shoal export writes",
            fix="shoal export merge --out variants.jsonl; your own variants: group = COLUMN of a table",
        )
    cases: dict[str, Case] = {}
    try:
        about = {**first["about"], "data": settings.variants}
        header = TypeAdapter(Header).validate_python({**about, **first})
        read = TypeAdapter(Line).validate_python
        for number, row in lines:  # noqa: B007 (named by the error)
            line = read(row)
            if line.id in cases or not line.is_sound(header.labels):
                raise ValueError
            cases[line.id] = line.case()
    except (KeyError, TypeError, ValueError):
        raise DataError(
            f"{path}, line {number}: not a line that shoal export writes", fix="export the variants again"
        ) from None
    if not any(len(case.examples) > 1 for case in cases.values()):
        raise DataError(f"{path}: no variants", fix="export them again")
    return Built(list(cases.values()), header.labels, measures=header.measures, about=about)
