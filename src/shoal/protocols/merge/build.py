"""From problems to cases: originals with their variants, and counts of what each step dropped (4.3).

A case is a problem under one filter condition. A problem without variants is a case of its original alone, since
accuracy on all originals is one of the measures. Problems are searched in blocks, so that all blanks of a block go to a
suggester together; a progress file keeps finished problems, and a stopped search resumes from it.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from ...core.errors import DataError
from ...core.files import ResumableLines
from ...core.records import Case, Large, Measure
from ...models.interface import WordFiller
from ...training.stage import Progress, silent
from ..base import Built, identity
from .draws import STEPS, Drawn, draw, filter_suggestions
from .problems import Problem, ProblemSet, read_groups, read_problems
from .settings import WORD_CLASSES, Settings, WordClass
from .suggest import load_suggesters, suggest
from .tagger import Tagger, find_targets, load_tagger
from .variants import read_variants

BLOCK = 64
"""Problems whose blanks go to a model together."""


def build(settings: Settings, progress: Progress = silent, so_far: Path | None = None) -> Built:
    """Build the cases from a file of variants, from existing groups, or by generating variants."""
    if settings.variants:
        return read_variants(settings)
    return _generate(settings, progress, so_far) if settings.generates else _build_groups(settings)


def _built(
    settings: Settings, problem_set: ProblemSet, cases: Sequence[Case], counts: Iterable[Measure], **more: Any
) -> Built:
    about = {
        "data": settings.data,
        "rows": problem_set.rows,
        "dropped": dict(problem_set.dropped),
        "label_names": list(problem_set.labels),
    }
    return Built(cases, problem_set.labels, measures=list(counts), about=about | more)


def _build_groups(settings: Settings) -> Built:
    problem_set = read_groups(settings)
    cases = [_group_case(name, problems) for name, problems in problem_set.groups.items()]
    rows, size = problem_set.rows, sum(len(case.examples) for case in cases)
    counts = [
        Measure("variants", float(rows), rows, {"step": "read"}),
        Measure("variants", float(size), rows, {"step": "in groups"}),
        Measure("problems", float(len(cases)), size, {"step": "groups"}),
    ]
    return _built(settings, problem_set, cases, counts)


def _group_case(name: str, problems: Sequence[Problem]) -> Case:
    original, *others = problems
    return Case(
        f"group/{name}",
        tuple(problem.texts for problem in problems),
        tuple(problem.label for problem in problems),
        {"label": original.label, "variants": "some" if others else "none"},
        original.cluster if original.texts[1:] else f"group {name}",
        {"patterns": [{"groups": {}, "draws": [list(range(1, len(problems)))]}]},
    )


# Generated variants


@dataclass(frozen=True, slots=True)
class Entry:
    """The search result of one problem, in plain values: a line of the progress file."""

    words: Sequence[tuple[str, WordClass, Mapping[str, int]]]
    """Words with suggestions, their class, and the number of suggestions after each filter."""
    shared: int
    """The number of shared open-class words."""
    drawn: Sequence[Drawn]
    """Variants and patterns of each condition; empty if there are too few variants."""

    @property
    def classes(self) -> set[str]:
        """Return the word classes with variants, and "" for all; empty without variants."""
        patterns = self.drawn[0]["patterns"] if self.drawn else ()
        return {pattern["groups"].get("word class", "") for pattern in patterns}


def _generate(settings: Settings, progress: Progress, so_far: Path | None) -> Built:
    problem_set, tagger = read_problems(settings), load_tagger()
    suggesters = load_suggesters(settings.suggesters)
    problems = problem_set.problems
    entries = list(_search(problems, suggesters, settings, tagger, progress, so_far))
    if not any(entry.drawn for entry in entries):
        raise _no_variants(settings, entries)
    cases: list[Case] = []
    for problem, entry in zip(problems, entries, strict=True):
        cases += [_variant_case(problem, drawn) for drawn in entry.drawn] or [_seed_case(problem)]
    rows = [_statistics(settings, problem_set, entries, name) for name in ("", *WORD_CLASSES)]
    counts = [*_funnel(settings, problem_set, entries), *chain(*rows)]
    return _built(settings, problem_set, cases, counts, suggesters=list(suggesters))


def _seed_case(problem: Problem) -> Case:
    """Return the case of an original without variants."""
    groups = {"label": problem.label, "variants": "none"}
    return Case(f"seed/{problem.id}", (problem.texts,), (problem.label,), groups, problem.cluster)


def _variant_case(problem: Problem, drawn: Drawn) -> Case:
    """Return the case of an original with its variants under one condition, and their provenance."""
    examples = (problem.texts, *(tuple(row["texts"]) for row in drawn["variants"]))
    made = [{key: value for key, value in row.items() if key != "texts"} for row in drawn["variants"]]
    return Case(
        f"{drawn['condition']}/{problem.id}",
        examples,
        (problem.label,) * len(examples),
        {"label": problem.label, "filter": drawn["condition"], "variants": "some"},
        problem.cluster,
        Large({"patterns": drawn["patterns"], "made": made}),
    )


def _search(
    problems: Sequence[Problem],
    suggesters: Mapping[str, WordFiller],
    settings: Settings,
    tagger: Tagger,
    progress: Progress,
    path: Path | None,
) -> Iterator[Entry]:
    """Yield the entry of every problem: finished ones from the progress file, then new ones, which are added to it."""
    lines = None
    if path:
        # What decides variants, with the content of the data and the suggesters' weights.
        search = [settings.VERSION, identity(settings, "cases"), [asdict(problem) for problem in problems]]
        key = hashlib.sha256(json.dumps(search, sort_keys=True, default=str).encode()).hexdigest()[:16]
        lines = ResumableLines(path, _is_entry, head=json.dumps({"variants of": key}).encode() + b"\n")
    start = lines.blocks if lines else 0
    try:
        yield from map(_read_entry, lines.lines() if lines else ())
        for first in range(start - start % BLOCK, len(problems), BLOCK):
            block = problems[first : first + BLOCK]
            entries = list(search_block(block, suggesters, settings, tagger))[max(0, start - first) :]
            if lines:
                lines.append(json.dumps(asdict(entry), ensure_ascii=False) + "\n" for entry in entries)
            yield from entries
            progress("finding variants", first + len(block), len(problems))
    finally:
        if lines:
            lines.close()


def search_block(
    problems: Sequence[Problem], suggesters: Mapping[str, WordFiller], settings: Settings, tagger: Tagger
) -> Iterator[Entry]:
    """Yield the entry of each problem; all blanks go to a suggester together."""
    found = [find_targets(problem.texts, tagger) for problem in problems]
    words = [
        (problem.texts, each)
        for problem, (targets, _) in zip(problems, found, strict=True)
        for each in targets
    ]
    suggested = iter(suggest(suggesters, words))
    for problem, (targets, shared) in zip(problems, found, strict=True):
        usable = [(target, next(suggested)) for target in targets]
        filtered = [
            filter_suggestions(problem.texts, target, each, tagger) for target, each in usable if each
        ]
        counts = [(word.target.word, word.target.word_class, word.counts) for word in filtered]
        yield Entry(counts, shared, draw(problem, filtered, settings, tagger, list(suggesters)))


def _read_entry(line: bytes) -> Entry:
    return Entry(**json.loads(line))


def _is_entry(line: bytes) -> bool:
    try:
        return _read_entry(line) is not None
    except (ValueError, TypeError, KeyError):
        return False


# Counts


def _funnel(settings: Settings, problem_set: ProblemSet, entries: Sequence[Entry]) -> Iterator[Measure]:
    """Yield the numbers of problems, words and variants left after each step, each with the previous one as its n."""
    read = problem_set.rows
    problems = {
        "read": read,
        "with a gold label": read - problem_set.dropped.get("no gold label", 0),
        "taken": len(entries),
        "with a word to replace": sum(bool(entry.shared) for entry in entries),
        "with suggestions": sum(bool(entry.words) for entry in entries),
        f"with {settings.sample} suggestions for a class": sum(bool(entry.drawn) for entry in entries),
    }
    yield from _counts("problems", problems, {})
    drawn: Counter[str] = Counter()
    for each in (each for entry in entries for each in entry.drawn):
        drawn[each["condition"]] += len(each["variants"])
    first, *others = settings.filters
    under_first = {"drawn under the first filter": drawn[first]} if others else {}
    for name in ("", *WORD_CLASSES):
        words = [row for entry in entries for _, word_class, row in entry.words if name in ("", word_class)]
        left = {step: sum(row[step] for row in words) for step in STEPS}
        more = {} if name else {**under_first, "drawn": drawn.total()}
        yield from _counts("variants", {**left, **more}, {"word class": name} if name else {})


def _statistics(
    settings: Settings, problem_set: ProblemSet, entries: Sequence[Entry], word_class: str
) -> Iterator[Measure]:
    """Yield a row of the poster's Table 1: problems, suggestions per problem, labels, variants in a draw."""
    rows = [
        (problem.label, entry)
        for problem, entry in zip(problem_set.problems, entries, strict=True)
        if word_class in entry.classes
    ]
    problems, groups = len(rows), {"word class": word_class} if word_class else {}
    if word_class:
        yield Measure("problems", float(problems), sum(bool(entry.drawn) for entry in entries), groups)
    patterns = problems if word_class else sum(len(entry.classes - {""}) for entry in entries)
    in_a_draw = {**groups, "step": "in a draw"}
    yield Measure("variants", float(patterns * settings.sample), problems, in_a_draw)
    left = sum(
        counts[STEPS[-1]]
        for _, entry in rows
        for _, name, counts in entry.words
        if name in entry.classes and word_class in ("", name)
    )
    yield Measure("suggestions per problem", left / problems if problems else None, problems, groups)
    for label in problem_set.labels:
        count = sum(other == label for other, _ in rows)
        yield Measure("problems", float(count), problems, {**groups, "label": label})


def _no_variants(settings: Settings, entries: Sequence[Entry]) -> DataError:
    """Return the error for data in which no problem has enough variants."""
    left = [(counts[STEPS[-1]], word) for entry in entries for word, _, counts in entry.words]
    most, word = max(left, default=(0, ""))
    why = f"a word class needs {settings.sample} suggestions; at most {most} are left, for {word!r}"
    return DataError(
        f'"{settings.data}": none of {len(entries):,} problems has variants',
        why=why if any(entry.shared for entry in entries) else "no problem has a word to replace",
        fix="a smaller sample, more suggesters, or other data",
    )


def _counts(name: str, counts: Mapping[str, int], groups: Mapping[str, str]) -> Iterator[Measure]:
    previous = next(iter(counts.values()))
    for step, count in counts.items():
        yield Measure(name, float(count), previous, {**groups, "step": step})
        previous = count
