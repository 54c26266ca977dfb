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
from pathlib import Path
from typing import Any

from ...core.errors import DataError
from ...core.files import ResumableLines
from ...core.records import Case, Measure
from ...models.interface import WordFiller
from ...training.stage import Progress, silent
from ..base import Built, identity
from .draws import Drawn, Pool, draw
from .filters import STEPS, filter_suggestions
from .problems import Group, Problem, ProblemSet, read_groups, read_problems
from .settings import WORD_CLASSES, Settings, WordClass
from .suggest import Suggestion, load_suggesters, suggest
from .tagger import Tagger, find_targets, load_tagger
from .variants import read_variants, seed_case, variant_case, write_variants

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
        cases += [
            variant_case(problem, problem.cluster, drawn["condition"], drawn["variants"], drawn["patterns"])
            for drawn in entry.drawn
        ] or [seed_case(problem, problem.cluster)]
    if not funnel.varied:
        raise funnel.nothing_left()
    about = {
        **_about(settings, problem_set),
        "suggesters": list(suggesters),
        "words left out": dict(funnel.rejected),
    }
    return Built(cases, problem_set.labels, measures=list(funnel.measures()), about=about)


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


def _entry(pool: Pool, drawn: Sequence[Drawn]) -> Entry:
    return Entry(
        [(word.target.word, word.target.word_class, word.counts) for word in pool.words],
        dict(pool.rejected),
        [
            {
                "condition": each.condition,
                "patterns": each.patterns,
                "variants": [{**row.provenance(), "texts": list(row.texts)} for row in each.variants],
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
    lines = _progress_file(path, settings, problems) if path else None
    start = lines.blocks if lines else 0
    try:
        for line in lines.read() if lines else ():
            yield Entry(**json.loads(line))
        for first in range(start - start % BLOCK, len(problems), BLOCK):
            block = problems[first : first + BLOCK]
            pools = list(search_block(block, suggesters, tagger))[max(0, start - first) :]
            entries = [_entry(pool, draw(pool, settings, tagger, list(suggesters))) for pool in pools]
            if lines:
                lines.append(json.dumps(asdict(entry), ensure_ascii=False) + "\n" for entry in entries)
            yield from entries
            progress("finding variants", first + len(block), len(problems))
    finally:
        if lines:
            lines.close()


def search_block(
    problems: Sequence[Problem], suggesters: Mapping[str, WordFiller], tagger: Tagger
) -> Iterator[Pool]:
    """Yield the pool of each problem; all blanks go to a suggester together."""
    pools, words = [], []
    for problem in problems:
        targets, rejected = find_targets(problem.texts, tagger)
        pools.append((Pool(problem, rejected=rejected), targets))
        words += [(problem.texts, target) for target in targets]
    suggested = iter(suggest(suggesters, words))
    for pool, targets in pools:
        for target in targets:
            usable: dict[str, list[Suggestion]] = {}
            for name, suggestions in next(suggested).items():
                if isinstance(suggestions, str):
                    pool.rejected[f"{suggestions} for {name}"] += 1
                else:
                    usable[name] = suggestions
            if usable:
                pool.words.append(filter_suggestions(pool.problem.texts, target, usable, tagger))
        yield pool


def _progress_file(path: Path, settings: Settings, problems: Sequence[Problem]) -> ResumableLines:
    """Return the finished problems on disk, one per line; the first line identifies settings and problems."""
    head = json.dumps({"variants of": _search_id(settings, problems)}).encode() + b"\n"
    return ResumableLines(path, _is_entry, head=head)


def _is_entry(line: bytes) -> bool:
    try:
        return Entry(**json.loads(line)) is not None
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
        self.steps: dict[str, Counter[str]] = {name: Counter() for name in ("", *WORD_CLASSES)}
        self.labels: dict[str, Counter[str]] = {name: Counter() for name in ("", *WORD_CLASSES)}
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
        self.drawn += sum(len(drawn["variants"]) for drawn in entry.drawn)
        for drawn in entry.drawn[:1]:
            self.drawn_first += len(drawn["variants"])
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
            f"with {self.settings.sample} suggestions for a class": self.varied,
        }
        yield from _counts("problems", problems, {})
        several = len(self.settings.filters) > 1
        first = {"drawn under the first filter": self.drawn_first} if several else {}
        left = {step: self.steps[""][step] for step in STEPS}
        yield from _counts("variants", {**left, **first, "drawn": self.drawn}, {})
        for word_class in WORD_CLASSES:
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
            why, fix = "no problem has a word to replace", "other data"
        elif not self.suggested:
            why, fix = "the suggesters know none of the words", "suggesters that know the words of the data"
        else:
            why = f"a word class needs {self.settings.sample} suggestions; at most {most} are left, for {word!r}"
            fix = "a smaller sample, or more suggesters"
        number = len(self.problem_set.problems)
        return DataError(
            f'"{self.settings.data}": none of {number:,} problems has variants', why=why, fix=fix
        )


def _counts(name: str, counts: Mapping[str, int], groups: Mapping[str, str]) -> Iterable[Measure]:
    previous = next(iter(counts.values()))
    for step, count in counts.items():
        yield Measure(name, float(count), previous, {**groups, "step": step})
        previous = count
