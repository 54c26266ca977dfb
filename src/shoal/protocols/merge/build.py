"""Problems to cases: originals with variants, and a funnel of what became of the rest (`docs/method/merge.md` 4.3).

A case is a problem under a filter condition. Problems without variants are cases of the original alone: accuracy on all
originals is one of the measures.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...core.errors import DataError
from ...core.records import Case, Large, Measure
from ...models.interface import WordFiller
from ...training.stage import Progress, silent
from ..base import Built
from .draws import draw
from .filters import STEPS
from .keeping import Found, SoFar, found_of
from .pools import pools_of
from .problems import Group, Problem, Read, read_groups, read_problems
from .references import with_hard_variants
from .settings import Settings
from .suggest import load_suggesters
from .tagger import Tagger, load_tagger
from .variants import read_variants, write_variants


def generate(settings: Settings, path: Path, progress: Progress = silent) -> None:
    """Find variants and write them to a file (`variants.py`); a search that was stopped goes on where it was."""
    so_far = path.with_name(f"{path.name}.partial")
    write_variants(_generated(settings, progress, so_far), path)
    so_far.unlink()


def build(settings: Settings, progress: Progress = silent, so_far: Path | None = None) -> Built:
    """The cases, from where the settings say; with references, what these fail is marked."""
    return with_hard_variants(settings.references, _built(settings, progress, so_far), progress)


def _built(settings: Settings, progress: Progress, so_far: Path | None) -> Built:
    """From groups that are there, from a file of variants, or generated."""
    if settings.variants:
        return read_variants(settings)
    if settings.group or settings.paraphrase:
        return _built_of_groups(settings)
    return _generated(settings, progress, so_far)


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
    original = group.problems[0]
    return Case(
        f"group/{group.id}",
        tuple(problem.texts for problem in group.problems),
        tuple(problem.label for problem in group.problems),
        {"label": original.label, "variants": "some" if positions else "none"},
        original.cluster if original.texts[1:] else f"group {group.id}",
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


def _generated(settings: Settings, progress: Progress, so_far: Path | None = None) -> Built:
    read, tagger = read_problems(settings), load_tagger()
    suggesters = load_suggesters(settings.suggesters)
    funnel = Funnel(settings, read)
    cases: list[Case] = []
    searched = _searched(read.problems, suggesters, settings, tagger, progress, so_far)
    for problem, found in zip(read.problems, searched, strict=True):
        funnel.add(problem, found)
        cases += [variant_case(problem, drawn) for drawn in found.drawn] or [seed_case(problem)]
    if not funnel.varied:
        raise funnel.nothing_left()
    about = {
        **_about(settings, read),
        "suggesters": list(suggesters),
        "words left out": dict(funnel.left_out),
    }
    return Built(cases, read.labels, measures=list(funnel.measures()), about=about)


def _searched(
    problems: Sequence[Problem],
    suggesters: Mapping[str, WordFiller],
    settings: Settings,
    tagger: Tagger,
    progress: Progress,
    path: Path | None,
) -> Iterator[Found]:
    """What became of every problem, from a file what that has already; what is found is added to it."""
    kept = SoFar(path, settings, problems) if path else None
    if kept is not None:
        yield from kept.read()
    start = kept.done if kept is not None else 0
    for pools in pools_of(problems, suggesters, settings, tagger, progress, start):
        found = [found_of(pool, draw(pool, settings, tagger, list(suggesters))) for pool in pools]
        if kept is not None:
            kept.add(found)
        yield from found


def seed_case(problem: Problem) -> Case:
    """An original alone."""
    groups = {"label": problem.label, "variants": "none"}
    return Case(f"seed/{problem.id}", (problem.texts,), (problem.label,), groups, problem.cluster)


def variant_case(problem: Problem, drawn: Mapping[str, Any]) -> Case:
    """An original with its variants under one condition."""
    return Case(
        f"{drawn['condition']}/{problem.id}",
        (problem.texts, *map(tuple, drawn["texts"])),
        (problem.label,) * (1 + len(drawn["texts"])),
        {"label": problem.label, "filter": drawn["condition"], "variants": "some"},
        problem.cluster,
        Large({"patterns": drawn["patterns"], "made": drawn["made"]}),
    )


class Funnel:
    """How many problems, words and variants are left after each step."""

    def __init__(self, settings: Settings, read: Read) -> None:
        self.settings, self.read = settings, read
        self.left_out: Counter[str] = Counter()
        self.shared = self.suggested = self.varied = 0
        self.steps: dict[str, Counter[str]] = {name: Counter() for name in ("", *settings.word_classes)}
        self.units: dict[str, Counter[str]] = {name: Counter() for name in ("", *settings.word_classes)}
        """Problems with variants by label, over all and by class of words."""
        self.left: Counter[str] = Counter()
        """Suggestions behind the last filter of these problems and classes."""
        self.drawn = self.asked = 0
        self.most = (0, "")

    def add(self, problem: Problem, found: Found) -> None:
        """Count one problem."""
        self.left_out.update(found.left_out)
        self.shared += bool(found.words or found.left_out)
        self.suggested += bool(found.words)
        self.varied += bool(found.drawn)
        for word, word_class, counts in found.words:
            self.most = max(self.most, (counts[STEPS[-1]], word))
            for name in ("", word_class):
                self.steps[name].update(counts)
        self.asked += sum(len(drawn["texts"]) for drawn in found.drawn)
        for drawn in found.drawn[:1]:
            self.drawn += len(drawn["texts"])
            classes = [
                made["groups"]["word class"] for made in drawn["patterns"] if "word class" in made["groups"]
            ]
            for name in ("", *classes):
                self.units[name][problem.label] += 1
                these = [name] if name else classes
                self.left[name] += sum(counts[STEPS[-1]] for _, each, counts in found.words if each in these)

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
        several = {"drawn under the first filter": self.drawn} if len(self.settings.filters) > 1 else {}
        kept = {step: self.steps[""][step] for step in STEPS}
        yield from _counts("variants", {**kept, **several, "drawn": self.asked}, {})
        for name in self.settings.word_classes:
            steps = {step: self.steps[name][step] for step in STEPS}
            yield from _counts("variants", steps, {"word class": name})
        for unit, labels in self.units.items():
            yield from self._statistics({"word class": unit} if unit else {}, labels, self.left[unit])

    def _statistics(self, groups: dict[str, str], labels: Counter[str], left: int) -> Iterator[Measure]:
        """A line of the poster's Table 1: problems, suggestions for each, labels, variants in a draw."""
        problems = labels.total()
        if groups:
            yield Measure("problems", float(problems), self.varied, groups)
        units = problems if groups else sum(each.total() for name, each in self.units.items() if name)
        in_a_draw = {**groups, "step": "in a draw"}
        yield Measure("variants", float(units * self.settings.sample), problems, in_a_draw)
        yield Measure("suggestions per problem", left / problems if problems else None, problems, groups)
        for label in self.read.labels:
            yield Measure("problems", float(labels[label]), problems, {**groups, "label": label})

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
