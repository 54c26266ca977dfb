"""Variants as a JSON Lines file: exported once and read by any number of audits, or made elsewhere (4.5).

The first line describes the draws; then each original follows, and after it its variants:

    {"shoal variants": 1, "draws": 10, "sample": 20, "labels": ["contradiction", …]}
    {"problem_id": "17", "texts": ["A man plays.", "A man rests."], "label": "contradiction"}
    {"problem_id": "17", "filter": "default", "class": "noun", "w": "man", "s": "woman", "source": ["bert"], …,
     "rep": [0, 3], "texts": ["A woman plays.", "A woman rests."]}

`rep` lists the draws that a variant is in; without it, all variants of a problem form one draw. A variant may have its
own label.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...core.errors import DataError, nearest
from ...core.files import read_json_lines, writing
from ...core.records import Case, Example, Large, Measure
from ..base import Built
from .draws import source_name
from .problems import Problem, label_order
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


@dataclass(slots=True)
class _Original:
    problem: Problem
    cluster: str
    _lines: list[str] = field(default_factory=list)

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a variant as text, which takes less memory than its objects."""
        self._lines.append(json.dumps(row, ensure_ascii=False))

    def rows(self) -> dict[str, list[Mapping[str, Any]]]:
        """Return the variants by filter condition."""
        rows: dict[str, list[Mapping[str, Any]]] = {}
        for row in map(json.loads, self._lines):
            rows.setdefault(str(row.get("filter", "default")), []).append(row)
        return rows


def read_variants(settings: Settings) -> Built:
    """Read the cases of a file of variants."""
    path = Path(settings.variants)
    if not path.is_file():
        raise DataError(f"variants = {settings.variants!r}: no such file", fix="check the path")
    header: Mapping[str, Any] = {}
    problems: dict[str, _Original] = {}
    for line, row in read_json_lines(path):
        if "shoal variants" in row:
            if problems or header:
                raise DataError(
                    f"{path}, line {line}: a second header",
                    why="draws are numbered per file",
                    fix="one file of variants at a time",
                )
            header = _checked(row, f"{path}, line {line}")
            continue
        try:
            _add(row, problems, int(header.get("draws", 1)))
        except DataError as problem:
            raise problem.at(f"{path}, line {line}") from None
    cases = list(_cases(problems.values(), int(header.get("draws", 1)), _suggesters(header)))
    count = sum(len(case.examples) - 1 for case in cases)
    if not count:
        raise DataError(f"{path}: no variants", fix="lines with a replacement `s`")
    used = dict.fromkeys(str(label) for case in cases for label in case.labels or ())
    labels = tuple(header.get("labels") or ()) or label_order(settings, used)
    for label in used:
        if label not in labels:
            raise DataError(
                f"{path}: label {label!r}",
                why=f"labels are {', '.join(labels)}",
                fix=nearest(label, labels) or "list all labels in the first line or in label_names",
            )
    measures = _funnel(header, f"{path}, line 1") or [
        Measure("problems", float(len(problems)), len(problems), {"step": "read"}),
        Measure("variants", float(count), count, {"step": "read"}),
    ]
    about = {"rows": len(problems), "dropped": {}, **_about(header), "suggesters": _suggesters(header)}
    about |= {"data": settings.variants, "label_names": list(labels)}
    return Built(cases, labels, measures=measures, about=about)


def _about(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counts of the header, if they have the expected types."""
    about = header.get("about")
    if not isinstance(about, Mapping):
        return {}
    counts = {
        name: about[name]
        for name in ("dropped", "words left out")
        if isinstance(about.get(name), Mapping) and all(map(_is_count, about[name].values()))
    }
    return counts | ({"rows": about["rows"]} if _is_count(about.get("rows")) else {})


def _funnel(header: Mapping[str, Any], where: str) -> list[Measure]:
    """Return the counts per step of the search that wrote the file."""
    rows = header.get("funnel") or []
    try:
        return [Measure(*(row[key] for key in FUNNEL)) for row in rows]
    except (TypeError, KeyError):
        raise DataError(f"{where}: invalid funnel", fix="delete it, or export the variants again") from None


def _suggesters(header: Mapping[str, Any]) -> list[str]:
    about = header.get("about")
    names = about.get("suggesters", []) if isinstance(about, Mapping) else []
    return [str(name) for name in names] if isinstance(names, list) else []


def _checked(row: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    if row["shoal variants"] != FORMAT:
        raise DataError(
            f"{where}: format {row['shoal variants']!r}",
            why=f"this version reads format {FORMAT}",
            fix="export them again",
        )
    if not _is_count(row.get("draws", 1)) or row.get("draws", 1) > MOST_DRAWS:
        raise DataError(f"{where}: draws = {row['draws']!r}", fix=f"a number from 0 to {MOST_DRAWS:,}")
    labels = row.get("labels") or []
    if not isinstance(labels, list) or not all(isinstance(label, str) and label for label in labels):
        raise DataError(f"{where}: labels = {labels!r}", fix="a list of names, or no entry")
    return row


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _check_variant(row: Mapping[str, Any], draws: int) -> None:
    """Raise an error for values that would be miscounted."""
    for name in ("rep", "source_rep"):
        numbers = row.get(name, [])
        if not isinstance(numbers, list) or not all(_is_count(n) and n < draws for n in numbers):
            raise DataError(
                f"{name} = {numbers!r}",
                why=f"expected a list of draws from 0 to {draws - 1}",
                fix='"draws": 10 in the first line, "rep": [0, 1] in a variant',
            )
    if "drawn" in row:
        raise DataError(
            "a file of draws = 0, which this version cannot read", fix="export the variants again"
        )
    sources = row.get("source", [])
    if not isinstance(sources, list) or not all(isinstance(source, str) for source in sources):
        raise DataError(f"source = {sources!r}", fix='a list of names: "source": ["bert"]')
    for name in ("filter", "class", "label"):
        word = row.get(name, "-")
        if not isinstance(word, str) or not word or "/" in word:
            raise DataError(f"{name} = {word!r}", fix="a word without a slash, or no entry")


def _add(row: Mapping[str, Any], problems: dict[str, _Original], draws: int) -> None:
    name, texts, label = str(row.get("problem_id") or ""), _texts(row), row.get("label")
    if not name:
        raise DataError("no problem_id", fix="add the id of its problem")
    if "s" not in row:
        if name in problems:
            raise DataError(f"problem {name!r} occurs twice", fix="one line per original")
        if not isinstance(label, str) or not label:
            raise DataError(f"problem {name!r} has no label", fix='add "label": "entailment"')
        problem = Problem(name, texts, label)
        problems[name] = _Original(problem, str(row.get("cluster") or problem.cluster))
        return
    if name not in problems:
        raise DataError(
            f"variant of unknown problem {name!r}",
            fix=nearest(name, problems) or "put the original before its variants",
        )
    _check_variant(row, draws)
    original = problems[name]
    if len(texts) != len(original.problem.texts):
        raise DataError(
            f"variant with {len(texts)} texts, original with {len(original.problem.texts)}",
            fix="the same number of texts in both",
        )
    original.add(row)


def _texts(row: Mapping[str, Any]) -> Example:
    texts = row.get("texts")
    if (
        not isinstance(texts, list)
        or not 1 <= len(texts) <= 2
        or not all(isinstance(t, str) and t for t in texts)
    ):
        raise DataError(f"texts = {texts!r}", why="expected one or two texts", fix='"texts": ["…", "…"]')
    return tuple(texts)


def _cases(problems: Iterable[_Original], draws: int, suggesters: Sequence[str]) -> Iterator[Case]:
    for original in problems:
        problem, by_condition = original.problem, original.rows()
        if not by_condition:
            yield seed_case(problem, original.cluster)
        for condition, rows in by_condition.items():
            variants = [
                {**_provenance(row), "texts": _texts(row), "label": str(row.get("label", problem.label))}
                for row in rows
            ]
            yield variant_case(
                problem, original.cluster, condition, variants, _patterns(rows, draws, suggesters)
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


def _provenance(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: row[name] for key, name in NAMES.items() if name in row}


def _patterns(
    rows: Sequence[Mapping[str, Any]], draws: int, suggesters: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the patterns over all variants, by class and by source."""
    classes = list(dict.fromkeys(str(row["class"]) for row in rows if "class" in row))
    has_draws = any("rep" in row for row in rows)
    key, draws = ("rep", draws) if has_draws else ("", 1)
    patterns = [{"groups": {}, "draws": _positions(rows, draws, key)}]
    patterns += [
        {"groups": {"word class": name}, "draws": _positions(rows, draws, key, "class", name)}
        for name in classes
    ]
    return [*patterns, *_by_source(rows, draws, suggesters)] if has_draws else patterns


def _by_source(
    rows: Sequence[Mapping[str, Any]], draws: int, suggesters: Sequence[str]
) -> Iterator[dict[str, Any]]:
    named = [{**row, "source": source_name(row["source"], suggesters)} for row in rows if row.get("source")]
    if len(named) < len(rows) or not any("source_rep" in row for row in rows):
        return
    for name in [*(f"{model} only" for model in suggesters), source_name(suggesters, suggesters)]:
        yield {"groups": {"source": name}, "draws": _positions(named, draws, "source_rep", "source", name)}


def _positions(
    rows: Sequence[Mapping[str, Any]], draws: int, key: str, field_name: str = "", value: str = ""
) -> list[list[int]]:
    """Return the positions of each draw's variants whose field has a value."""
    return [
        [
            number
            for number, row in enumerate(rows, start=1)
            if (not key or repetition in row.get(key, ()))
            and (not field_name or row.get(field_name) == value)
        ]
        for repetition in range(draws)
    ]
