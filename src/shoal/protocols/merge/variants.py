"""Variants as a JSON Lines file: exported once and read by any number of audits (4.5).

The first line describes the draws; then each original follows, and after it its variants:

    {"shoal variants": 1, "draws": 10, "labels": ["contradiction", …]}
    {"problem_id": "17", "texts": ["A man plays.", "A man rests."], "label": "contradiction"}
    {"problem_id": "17", "filter": "default", "class": "noun", "w": "man", "s": "woman", "source": ["bert"], …,
     "rep": [0, 3], "texts": ["A woman plays.", "A woman rests."]}

`rep` lists the draws that a variant is in, `source_rep` those of its source.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from ...core.errors import DataError
from ...core.files import read_json_lines, writing
from ...core.records import Case, Large, Measure
from ..base import Built
from .draws import source_name
from .problems import Problem
from .settings import Settings

FORMAT = 1
MOST_DRAWS = 10_000
NAMES = {
    "word class": "class", "word": "w", "replacement": "s", "source": "source", "proposers": "proposers",
    "p": "p_s", "p of word": "p_w", "ranks": "ranks", "scrambled from": "scrambled_from", "texts alike": "texts_alike",
}  # fmt: skip
"""Key of a variant's provenance to its key in the file."""
FUNNEL = ("name", "value", "n", "groups")
"""Fields of a count in the first line."""


def write_variants(built: Built, path: Path) -> None:
    """Write all originals and variants."""
    draws = max((_draws_of(case) for case in built.cases), default=1)
    header = {
        "shoal variants": FORMAT,
        "draws": draws,
        "labels": list(built.labels or ()),
        "about": dict(built.about),
        "funnel": [{key: getattr(row, key) for key in FUNNEL} for row in built.measures],
    }
    with writing(path) as stream:
        stream.write(json.dumps(header, ensure_ascii=False) + "\n")
        seen: set[str] = set()
        for case in built.cases:
            for row in _rows(case, seen):
                stream.write(json.dumps(row, ensure_ascii=False) + "\n")


def _draws_of(case: Case) -> int:
    return max((len(pattern["draws"]) for pattern in case.meta.get("patterns", ())), default=0)


def _rows(case: Case, seen: set[str]) -> Iterator[dict[str, Any]]:
    _, _, problem = case.id.partition("/")
    labels = case.labels or ()
    if problem not in seen:
        seen.add(problem)
        yield {
            "problem_id": problem,
            "texts": list(case.examples[0]),
            "label": labels[0],
            "cluster": case.cluster,
        }
    reps, source_reps = _repetitions(case)
    provenances = case.meta.get("made") or [{}] * len(case.examples)
    for number, (example, made) in enumerate(zip(case.examples[1:], provenances, strict=False), start=1):
        row: dict[str, Any] = {"problem_id": problem, "filter": case.groups.get("filter", "default")}
        row |= {NAMES.get(key, key): value for key, value in made.items()}
        row["rep"] = reps.get(number, [])
        row |= {"source_rep": source_reps[number]} if number in source_reps else {}
        yield {**row, "texts": list(example), "label": labels[number]}


def _repetitions(case: Case) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Return the draws of each variant, and those of its source."""
    reps: dict[int, list[int]] = {}
    source_reps: dict[int, list[int]] = {}
    for pattern in case.meta.get("patterns", ()):
        chosen = reps if not pattern["groups"] else source_reps if "source" in pattern["groups"] else {}
        for repetition, positions in enumerate(pattern["draws"]):
            for position in positions:
                chosen.setdefault(position, []).append(repetition)
    return reps, source_reps


# Reading


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a file."""

    draws: int
    labels: tuple[str, ...]
    about: Mapping[str, Any]
    funnel: Sequence[Measure]
    """The counts per step of the search that wrote the file."""

    @property
    def suggesters(self) -> Sequence[str]:
        """The models that suggested replacements."""
        names: Sequence[str] = self.about["suggesters"]
        return names


def read_variants(settings: Settings) -> Built:
    """Read the cases of a file of variants."""
    path = Path(settings.variants)
    if not path.is_file():
        raise DataError(f"variants = {settings.variants!r}: no such file", fix="check the path")
    lines = read_json_lines(path)
    header = _read_header(next(lines, (1, {}))[1], path)
    cases: list[Case] = []
    seen: set[str] = set()
    for name, rows in groupby(lines, key=lambda item: str(item[1].get("problem_id"))):
        cases += _problem_cases(list(rows), header, path, is_repeated=name in seen)
        seen.add(name)
    if not any(len(case.examples) > 1 for case in cases):
        raise DataError(f"{path}: no variants", fix="export them again")
    about = {**header.about, "data": settings.variants}
    return Built(cases, header.labels, measures=header.funnel, about=about)


def _read_header(row: Mapping[str, Any], path: Path) -> Header:
    if row.get("shoal variants") != FORMAT:
        raise DataError(
            f"{path}, line 1: not the first line of a file of variants",
            why=f"this version reads format {FORMAT}, which shoal export writes",
            fix="shoal export merge --out variants.jsonl; your own variants: group = COLUMN of a table",
        )
    try:
        about = row["about"]
        funnel = [Measure(*(count[key] for key in FUNNEL)) for count in row["funnel"]]
        header = Header(row["draws"], tuple(row["labels"]), about, funnel)
        counts = [about["rows"], *about["dropped"].values(), *about["words left out"].values()]
        is_valid = all(map(_is_count, [header.draws, *counts])) and header.draws <= MOST_DRAWS
        is_valid &= all(isinstance(name, str) for name in (*header.labels, *header.suggesters))
    except (AttributeError, KeyError, TypeError):
        is_valid = False
    if not is_valid:
        raise _damaged(path, 1)
    return header


def _damaged(path: Path, line: int) -> DataError:
    return DataError(
        f"{path}, line {line}: not a line that shoal export writes", fix="export the variants again"
    )


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _problem_cases(
    lines: Sequence[tuple[int, Mapping[str, Any]]], header: Header, path: Path, *, is_repeated: bool
) -> Iterator[Case]:
    """Yield the cases of an original and the variants after it, one per filter condition."""
    (first, original), *others = lines
    if is_repeated or "s" in original or not _is_example(original, header):
        raise _damaged(path, first)
    problem = Problem(str(original["problem_id"]), tuple(original["texts"]), original["label"])
    cluster = str(original.get("cluster") or problem.cluster)
    by_condition: dict[str, list[Mapping[str, Any]]] = {}
    for line, row in others:
        if not _is_variant(row, len(problem.texts), header):
            raise _damaged(path, line)
        by_condition.setdefault(row["filter"], []).append(row)
    if not by_condition:
        yield seed_case(problem, cluster)
    for condition, rows in by_condition.items():
        variants = [
            {key: row[name] for key, name in NAMES.items() if name in row}
            | {"texts": row["texts"], "label": row["label"]}
            for row in rows
        ]
        yield variant_case(problem, cluster, condition, variants, _patterns(rows, header))


def _is_example(row: Mapping[str, Any], header: Header) -> bool:
    texts = row.get("texts")
    is_texts = isinstance(texts, list) and all(isinstance(text, str) and text for text in texts)
    return is_texts and 1 <= len(row["texts"]) <= 2 and row.get("label") in header.labels


def _is_variant(row: Mapping[str, Any], width: int, header: Header) -> bool:
    """Return whether a row has everything that it is counted by."""
    lists = [row.get(name, []) for name in ("rep", "source_rep", "source")]
    if "s" not in row or "rep" not in row or not all(isinstance(values, list) for values in lists):
        return False
    reps, source_reps, sources = lists
    return (
        _is_example(row, header)
        and len(row["texts"]) == width
        and all(_is_count(draw) and draw < header.draws for draw in (*reps, *source_reps))
        and all(isinstance(name, str) for name in (row.get("filter"), row.get("class"), *sources))
        and "/" not in row["filter"]
    )


def seed_case(problem: Problem, cluster: str) -> Case:
    """Return the case of an original without variants."""
    groups = {"label": problem.label, "variants": "none"}
    return Case(f"seed/{problem.id}", (problem.texts,), (problem.label,), groups, cluster)


def variant_case(
    problem: Problem,
    cluster: str,
    condition: str,
    variants: Sequence[Mapping[str, Any]],
    patterns: Sequence[Mapping[str, Any]],
) -> Case:
    """Return the case of an original with its variants under one condition.

    A variant has its texts and label, and its provenance under all other keys.
    """
    made = [{key: row[key] for key in row if key not in ("texts", "label")} for row in variants]
    return Case(
        f"{condition}/{problem.id}",
        (problem.texts, *(tuple(row["texts"]) for row in variants)),
        (problem.label, *(row.get("label", problem.label) for row in variants)),
        {"label": problem.label, "filter": condition, "variants": "some"},
        cluster,
        Large({"patterns": patterns, "made": made}),
    )


def _patterns(rows: Sequence[Mapping[str, Any]], header: Header) -> list[dict[str, Any]]:
    """Return the patterns over all variants, by class and by source."""
    classes = dict.fromkeys(row["class"] for row in rows)
    patterns: list[dict[str, Any]] = [{"groups": {}, "draws": _positions(rows, header.draws, "rep")}]
    patterns += [
        {"groups": {"word class": name}, "draws": _positions(rows, header.draws, "rep", "class", name)}
        for name in classes
    ]
    if not any("source_rep" in row for row in rows):
        return patterns
    suggesters = header.suggesters
    named = [{**row, "source": source_name(row["source"], suggesters)} for row in rows]
    for name in [*(f"{model} only" for model in suggesters), source_name(suggesters, suggesters)]:
        draws = _positions(named, header.draws, "source_rep", "source", name)
        patterns.append({"groups": {"source": name}, "draws": draws})
    return patterns


def _positions(
    rows: Sequence[Mapping[str, Any]], draws: int, key: str, column: str = "", value: str = ""
) -> list[list[int]]:
    """Return the positions of each draw's variants whose column has a value."""
    chosen = [
        (number, row.get(key, ()))
        for number, row in enumerate(rows, start=1)
        if not column or row[column] == value
    ]
    return [[number for number, reps in chosen if repetition in reps] for repetition in range(draws)]
