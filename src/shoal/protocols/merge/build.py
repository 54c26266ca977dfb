"""Problems to cases: originals with variants, and a funnel of what became of the rest (`docs/method/merge.md` 4.3).

A case is a problem under a filter condition. Problems without variants are cases of the original alone: accuracy on all
originals is one of the measures.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import DataError
from ...models.ask import WordFiller
from ...records import Case, Measure
from ...training.stage import Progress, silent
from ..base import Built
from .draws import Drawn, draw
from .filters import STEPS
from .keeping import KeptPools
from .pools import Pool, pools_of
from .problems import Group, Problem, Read, read_groups, read_problems
from .settings import Settings
from .suggest import load_suggesters
from .tagger import Tagger, load_tagger
from .variants import read_variants, write_variants


def generate(settings: Settings, path: Path, progress: Progress = silent) -> None:
    """Find variants and write them to a file (`variants.py`); a search that was stopped goes on where it was."""
    kept = path.with_name(f"{path.name}.partial")
    write_variants(_generated(settings, progress, kept), path)
    kept.unlink()


def build(settings: Settings, progress: Progress = silent) -> Built:
    """The cases: from groups that are there, from a file of variants, or generated."""
    if settings.variants:
        return read_variants(settings)
    if settings.group or settings.paraphrase:
        return _built_of_groups(settings)
    return _generated(settings, progress)


# Groups that are there


def _built_of_groups(settings: Settings) -> Built:
    groups, read = read_groups(settings)
    cases = [_group_case(group) for group in groups]
    sizes = sum(len(group.problems) for group in groups)
    about = _about(settings, read)
    measures = [
        Measure("variants", float(read.rows), read.rows, {"step": "read"}),
        Measure("variants", float(sizes), read.rows, {"step": "in groups"}),
        Measure("problems", float(len(groups)), sizes, {"step": "groups"}),
    ]
    return Built(cases, read.labels, measures=measures, about=about)


def _group_case(group: Group) -> Case:
    positions = list(range(1, len(group.problems)))
    return Case(
        f"group/{group.id}",
        tuple(problem.texts for problem in group.problems),
        tuple(problem.label for problem in group.problems),
        {"label": group.problems[0].label, "variants": "some"},
        f"group {group.id}",
        {"patterns": [{"groups": {}, "draws": [positions]}]},
    )


def _about(settings: Settings, read: Read) -> dict[str, Any]:
    return {
        "data": settings.data,
        "rows": read.rows,
        "dropped": dict(read.dropped),
        "label_names": list(read.labels),
    }


# Generated variants


def _generated(settings: Settings, progress: Progress, kept: Path | None = None) -> Built:
    read, tagger = read_problems(settings), load_tagger()
    suggesters = load_suggesters(settings.suggesters)
    funnel = Funnel(settings, read)
    cases: list[Case] = []
    for pool in _pools(read.problems, suggesters, settings, tagger, progress, kept):
        drawn = draw(pool, settings, tagger, list(suggesters))
        funnel.add(pool, drawn)
        cases += [variant_case(each) for each in drawn] or [seed_case(pool.problem)]
    if not funnel.varied:
        raise funnel.nothing_left()
    about = {
        **_about(settings, read),
        "suggesters": list(suggesters),
        "words left out": dict(funnel.left_out),
    }
    return Built(cases, read.labels, measures=list(funnel.measures()), about=about)


def _pools(
    problems: Sequence[Problem],
    suggesters: Mapping[str, WordFiller],
    settings: Settings,
    tagger: Tagger,
    progress: Progress,
    path: Path | None,
) -> Iterator[Pool]:
    """Every pool, those that a file has already from there; what is found is added to it."""
    kept = KeptPools(path, settings, problems) if path else None
    if kept is not None:
        yield from kept.read()
    start = kept.done if kept is not None else 0
    for pools in pools_of(problems, suggesters, settings, tagger, progress, start):
        if kept is not None:
            kept.add(pools)
        yield from pools


def seed_case(problem: Problem) -> Case:
    """An original alone."""
    groups = {"label": problem.label, "variants": "none"}
    return Case(f"seed/{problem.id}", (problem.texts,), (problem.label,), groups, problem.cluster)


def variant_case(drawn: Drawn) -> Case:
    """An original with its variants under one condition."""
    problem = drawn.problem
    return Case(
        f"{drawn.condition}/{problem.id}",
        (problem.texts, *(variant.texts for variant in drawn.variants)),
        (problem.label,) * (1 + len(drawn.variants)),
        {"label": problem.label, "filter": drawn.condition, "variants": "some"},
        problem.cluster,
        {"patterns": drawn.patterns, "made": [variant.provenance() for variant in drawn.variants]},
    )


class Funnel:
    """How many problems, words and variants are left after each step."""

    def __init__(self, settings: Settings, read: Read) -> None:
        self.settings, self.read = settings, read
        self.words: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()
        self.shared = self.suggested = self.varied = 0
        self.steps: dict[str, Counter[str]] = {name: Counter() for name in ("", *settings.word_classes)}
        self.units: dict[str, Counter[str]] = {name: Counter() for name in settings.word_classes}
        self.asked = 0
        self.most = (0, "")

    def add(self, pool: Pool, drawn: Sequence[Drawn]) -> None:
        """Count one problem."""
        self.left_out += pool.left_out
        self.shared += bool(pool.words or pool.left_out)
        self.suggested += bool(pool.words)
        self.varied += bool(drawn)
        for word in pool.words:
            self.words[word.target.word_class] += 1
            self.most = max(self.most, (word.counts[STEPS[-1]], word.target.word))
            for name in ("", word.target.word_class):
                self.steps[name].update(word.counts)
        for each in drawn:
            self.asked += len(each.variants)
            if each.condition == drawn[0].condition:
                for pattern in each.patterns:
                    if "word class" in pattern["groups"]:
                        self.units[pattern["groups"]["word class"]][each.problem.label] += 1

    def measures(self) -> Iterator[Measure]:
        """The counts, each with the one before it as its n."""
        problems = {
            "read": self.read.rows,
            "with a gold label": self.read.rows - self.read.dropped.get("no gold label", 0),
            "taken": len(self.read.problems),
            "with a word to replace": self.shared,
            "with suggestions": self.suggested,
            f"with {self.settings.minimum} suggestions for a class": self.varied,
        }
        yield from _counts("problems", problems, {})
        kept = {step: self.steps[""][step] for step in STEPS}
        yield from _counts("variants", {**kept, "drawn": self.asked}, {})
        for name in self.settings.word_classes:
            yield from _counts(
                "variants", {step: self.steps[name][step] for step in STEPS}, {"word class": name}
            )
            labels = self.units[name]
            yield Measure("problems", float(labels.total()), self.varied, {"word class": name})
            for label in self.read.labels:
                groups = {"word class": name, "label": label}
                yield Measure("problems", float(labels[label]), labels.total(), groups)

    def nothing_left(self) -> DataError:
        """What to say where no problem has enough variants."""
        settings = self.settings
        most, word = self.most
        if not self.suggested:
            why = (
                "no problem has a word to replace"
                if not self.shared
                else "the suggesters know none of the words"
            )
            fix = (
                "targets = any, or other data"
                if not self.shared
                else "suggesters that know the words of the data"
            )
        else:
            why = f"a class of words needs {settings.minimum} suggestions; at most {most} are left, for {word!r}"
            fix = "a lower minimum and sample, more suggestions, or more suggesters"
        return DataError(
            f'"{settings.data}": no problem of {len(self.read.problems):,} has variants', why=why, fix=fix
        )


def _counts(name: str, counts: Mapping[str, int], groups: Mapping[str, str]) -> Iterable[Measure]:
    before = next(iter(counts.values()))
    for step, count in counts.items():
        yield Measure(name, float(count), before, {**groups, "step": step})
        before = count
