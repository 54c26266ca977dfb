"""From problems to cases: originals with their variants, and counts of what each step dropped (4.3).

A case is a problem under one filter condition. A problem without variants is a case of its original alone, since
accuracy on all originals is one of the measures. Problems are searched in blocks, so that all blanks of a block go to a
suggester together; a progress file keeps finished problems, and a stopped search resumes from it.
"""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...core.errors import DataError, StoreError
from ...core.files import settle
from ...core.records import Case, Large, Measure
from ...models.interface import WordFiller
from ...training.stage import Progress, silent
from ..base import Built, identity
from .draws import Drawn, Pool, draw
from .filters import STEPS, filter_suggestions
from .problems import Group, Problem, ProblemSet, read_groups, read_problems
from .settings import Settings, WordClass
from .suggest import Suggestion, load_suggesters, suggest
from .tagger import Tagger, load_tagger
from .targets import find_targets
from .variants import read_variants, write_variants

BLOCK = 64
"""Problems whose blanks go to a model together."""


def generate(settings: Settings, path: Path, progress: Progress = silent) -> None:
    """Generate variants and write them to a file; a stopped search resumes."""
    partial = path.with_name(f"{path.name}.partial")
    write_variants(_generate_cases(settings, progress, partial), path)
    partial.unlink()


def build(settings: Settings, progress: Progress = silent, so_far: Path | None = None) -> Built:
    """Build the cases from a file of variants, from existing groups, or by generating variants."""
    if settings.variants:
        return read_variants(settings)
    if settings.group or settings.paraphrase:
        return _build_groups(settings)
    return _generate_cases(settings, progress, so_far)


# Existing groups


def _build_groups(settings: Settings) -> Built:
    groups, problem_set = read_groups(settings)
    cases = [_group_case(group) for group in groups]
    size = sum(len(group.problems) for group in groups)
    measures = [
        Measure("variants", float(problem_set.rows), problem_set.rows, {"step": "read"}),
        Measure("variants", float(size), problem_set.rows, {"step": "in groups"}),
        Measure("problems", float(len(groups)), size, {"step": "groups"}),
    ]
    return Built(cases, problem_set.labels, measures=measures, about=_about(settings, problem_set))


def _group_case(group: Group) -> Case:
    positions = list(range(1, len(group.problems)))
    original = group.problems[0]
    return Case(
        f"group/{group.id}",
        tuple(problem.texts for problem in group.problems),
        tuple(problem.label for problem in group.problems),
        {"label": original.label, "variants": "some" if positions else "none"},
        original.cluster if original.texts[1:] else f"group {group.id}",
        {"patterns": [{"groups": {}, "draws": [positions]}]},
    )


def _about(settings: Settings, problem_set: ProblemSet) -> dict[str, Any]:
    return {
        "data": settings.data,
        "rows": problem_set.rows,
        "dropped": dict(problem_set.dropped),
        "label_names": list(problem_set.labels),
    }


# Generated variants


def _generate_cases(settings: Settings, progress: Progress, partial: Path | None = None) -> Built:
    problem_set, tagger = read_problems(settings), load_tagger()
    suggesters = load_suggesters(settings.suggesters)
    funnel = Funnel(settings, problem_set)
    cases: list[Case] = []
    searched = _search(problem_set.problems, suggesters, settings, tagger, progress, partial)
    for problem, entry in zip(problem_set.problems, searched, strict=True):
        funnel.add(problem, entry)
        cases += [variant_case(problem, drawn) for drawn in entry.drawn] or [seed_case(problem)]
    if not funnel.varied:
        raise funnel.nothing_left()
    about = {
        **_about(settings, problem_set),
        "suggesters": list(suggesters),
        "words left out": dict(funnel.rejected),
    }
    return Built(cases, problem_set.labels, measures=list(funnel.measures()), about=about)


def seed_case(problem: Problem) -> Case:
    """Return the case of an original without variants."""
    groups = {"label": problem.label, "variants": "none"}
    return Case(f"seed/{problem.id}", (problem.texts,), (problem.label,), groups, problem.cluster)


def variant_case(problem: Problem, drawn: Mapping[str, Any]) -> Case:
    """Return the case of an original with its variants under one condition."""
    return Case(
        f"{drawn['condition']}/{problem.id}",
        (problem.texts, *map(tuple, drawn["texts"])),
        (problem.label,) * (1 + len(drawn["texts"])),
        {"label": problem.label, "filter": drawn["condition"], "variants": "some"},
        problem.cluster,
        Large({"patterns": drawn["patterns"], "made": drawn["made"]}),
    )


# Searching


@dataclass(frozen=True, slots=True)
class Entry:
    """The search result of one problem, in plain values."""

    words: Sequence[tuple[str, WordClass, Mapping[str, int]]]
    """Words with suggestions, their class, and the number of suggestions after each filter."""
    left_out: Mapping[str, int]
    """Rejected words by reason."""
    drawn: Sequence[Mapping[str, Any]]
    """Variants and patterns of each condition; empty if there are too few variants."""

    def as_json(self) -> dict[str, Any]:
        """Return the entry as a line of the progress file holds it."""
        return {"words": self.words, "left_out": self.left_out, "drawn": self.drawn}


def _entry(pool: Pool, drawn: Sequence[Drawn]) -> Entry:
    return Entry(
        [(word.target.word, word.target.word_class, word.counts) for word in pool.words],
        dict(pool.rejected),
        [
            {
                "condition": each.condition,
                "texts": [list(variant.texts) for variant in each.variants],
                "patterns": each.patterns,
                "made": [variant.provenance() for variant in each.variants],
            }
            for each in drawn
        ],
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
    log = ProgressFile(path, settings, problems) if path else None
    if log is not None:
        yield from log.read()
    start = log.done if log is not None else 0
    for first in range(start - start % BLOCK, len(problems), BLOCK):
        block = problems[first : first + BLOCK]
        pools = list(search_block(block, suggesters, settings, tagger))[max(0, start - first) :]
        entries = [_entry(pool, draw(pool, settings, tagger, list(suggesters))) for pool in pools]
        if log is not None:
            log.add(entries)
        yield from entries
        progress("finding variants", first + len(block), len(problems))


def search_block(
    problems: Sequence[Problem], suggesters: Mapping[str, WordFiller], settings: Settings, tagger: Tagger
) -> Iterator[Pool]:
    """Yield the pool of each problem; all blanks go to a suggester together."""
    pools, words = [], []
    for problem in problems:
        targets, rejected = find_targets(problem.texts, settings, tagger)
        pools.append((Pool(problem, rejected=rejected), targets))
        words += [(problem.texts, target) for target in targets]
    suggested = iter(suggest(suggesters, words, settings))
    for pool, targets in pools:
        for target in targets:
            usable: dict[str, list[Suggestion]] = {}
            for name, suggestions in next(suggested).items():
                if isinstance(suggestions, str):
                    pool.rejected[f"{suggestions} for {name}"] += 1
                else:
                    usable[name] = suggestions
            if usable:
                pool.words.append(filter_suggestions(pool.problem.texts, target, usable, settings, tagger))
        yield pool


class ProgressFile:
    """Finished problems on disk, one per line, so that a stopped search resumes.

    The first line identifies settings and problems; lines of another search, and a partial last line, are dropped.
    """

    def __init__(self, path: Path, settings: Settings, problems: Sequence[Problem]) -> None:
        self.path = path
        self._head = json.dumps({"variants of": _search_id(settings, problems)}).encode() + b"\n"
        self.done = self._truncate()
        """Number of problems already in the file."""

    def read(self) -> Iterator[Entry]:
        """Yield the entries already in the file, in order."""
        with self.path.open(encoding="utf-8") as stream:
            next(stream)
            for _, line in zip(range(self.done), stream, strict=False):
                yield Entry(**json.loads(line))

    def add(self, entries: Sequence[Entry]) -> None:
        """Append the entries of a block; a crash leaves at most a partial block at the end."""
        try:
            with self.path.open("a", encoding="utf-8") as stream:
                stream.writelines(json.dumps(entry.as_json(), ensure_ascii=False) + "\n" for entry in entries)
                settle(stream)
        except OSError as problem:
            raise StoreError(
                f"{self.path}: write failed",
                why=problem.strerror or str(problem),
                fix="free disk space and run the same command to resume",
            ) from None

    def _truncate(self) -> int:
        """Cut the file after its last complete line of this search and return the number of entries."""
        done = end = 0
        if self.path.exists():
            with self.path.open("rb") as stream:
                if stream.readline() == self._head:
                    end = stream.tell()
                    for line in stream:
                        if not _is_complete(line):
                            break
                        done, end = done + 1, end + len(line)
        if not end:
            self.path.write_bytes(self._head)
        else:
            os.truncate(self.path, end)
        return done


def _is_complete(line: bytes) -> bool:
    try:
        return line.endswith(b"\n") and Entry(**json.loads(line)) is not None
    except (ValueError, TypeError):
        return False


def _search_id(settings: Settings, problems: Sequence[Problem]) -> str:
    content = [settings.VERSION, identity(settings, "cases"), [asdict(problem) for problem in problems]]
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()[:16]


# Counts


class Funnel:
    """Numbers of problems, words and variants left after each step."""

    def __init__(self, settings: Settings, problem_set: ProblemSet) -> None:
        self.settings, self.problem_set = settings, problem_set
        self.rejected: Counter[str] = Counter()
        self.shared = self.suggested = self.varied = 0
        self.steps: dict[str, Counter[str]] = {name: Counter() for name in ("", *settings.word_classes)}
        self.labels: dict[str, Counter[str]] = {name: Counter() for name in ("", *settings.word_classes)}
        """Problems with variants by label, over all and by word class."""
        self.left: Counter[str] = Counter()
        """Suggestions of these problems after the last filter, over all and by word class."""
        self.drawn_first = self.drawn = 0
        self.most = (0, "")

    def add(self, problem: Problem, entry: Entry) -> None:
        """Count one problem."""
        self.rejected.update(entry.left_out)
        self.shared += bool(entry.words or entry.left_out)
        self.suggested += bool(entry.words)
        self.varied += bool(entry.drawn)
        for word, word_class, counts in entry.words:
            self.most = max(self.most, (counts[STEPS[-1]], word))
            for name in ("", word_class):
                self.steps[name].update(counts)
        self.drawn += sum(len(drawn["texts"]) for drawn in entry.drawn)
        for drawn in entry.drawn[:1]:
            self.drawn_first += len(drawn["texts"])
            groups = [pattern["groups"] for pattern in drawn["patterns"]]
            classes = [each["word class"] for each in groups if "word class" in each]
            for name in ("", *classes):
                self.labels[name][problem.label] += 1
                chosen = [name] if name else classes
                self.left[name] += sum(counts[STEPS[-1]] for _, each, counts in entry.words if each in chosen)

    def measures(self) -> Iterator[Measure]:
        """Yield the counts, each with the previous one as its n."""
        problems = {
            "read": self.problem_set.rows,
            "with a gold label": self.problem_set.rows - self.problem_set.dropped.get("no gold label", 0),
            "taken": len(self.problem_set.problems),
            "with a word to replace": self.shared,
            "with suggestions": self.suggested,
            f"with {self.settings.minimum} suggestions for a class": self.varied,
        }
        yield from _counts("problems", problems, {})
        several = len(self.settings.filters) > 1
        first = {"drawn under the first filter": self.drawn_first} if several else {}
        left = {step: self.steps[""][step] for step in STEPS}
        yield from _counts("variants", {**left, **first, "drawn": self.drawn}, {})
        for word_class in self.settings.word_classes:
            steps = {step: self.steps[word_class][step] for step in STEPS}
            yield from _counts("variants", steps, {"word class": word_class})
        for name, labels in self.labels.items():
            yield from self._statistics({"word class": name} if name else {}, labels, self.left[name])

    def _statistics(self, groups: dict[str, str], labels: Counter[str], left: int) -> Iterator[Measure]:
        """Yield a row of the poster's Table 1: problems, suggestions per problem, labels, variants in a draw."""
        problems = labels.total()
        if groups:
            yield Measure("problems", float(problems), self.varied, groups)
        patterns = problems if groups else sum(each.total() for name, each in self.labels.items() if name)
        in_a_draw = {**groups, "step": "in a draw"}
        yield Measure("variants", float(patterns * self.settings.sample), problems, in_a_draw)
        yield Measure("suggestions per problem", left / problems if problems else None, problems, groups)
        for label in self.problem_set.labels:
            yield Measure("problems", float(labels[label]), problems, {**groups, "label": label})

    def nothing_left(self) -> DataError:
        """Return the error for data in which no problem has enough variants."""
        most, word = self.most
        if not self.shared:
            why, fix = "no problem has a word to replace", "targets = any, or other data"
        elif not self.suggested:
            why, fix = "the suggesters know none of the words", "suggesters that know the words of the data"
        else:
            why = f"a word class needs {self.settings.minimum} suggestions; at most {most} are left, for {word!r}"
            fix = "a lower minimum and sample, more suggestions, or more suggesters"
        number = len(self.problem_set.problems)
        return DataError(
            f'"{self.settings.data}": none of {number:,} problems has variants', why=why, fix=fix
        )


def _counts(name: str, counts: Mapping[str, int], groups: Mapping[str, str]) -> Iterable[Measure]:
    previous = next(iter(counts.values()))
    for step, count in counts.items():
        yield Measure(name, float(count), previous, {**groups, "step": step})
        previous = count
