"""Echo: does a model say a word back? A sixth protocol in one folder, to show how little one needs.

Each case is a word that the model should call "long" or "short". The score is the share it gets right, by length and
over all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shoal import Answers, Case, Finding, Measure, Measures, Outcome, Result
from shoal.core.measures import quantity
from shoal.core.records import Answer, Basis, Example
from shoal.core.views import Column, Number, Row, Section, Table, Words
from shoal.models.asking import answer_batch
from shoal.protocols.base import Built, Compared, Profiled, Scored, changes
from shoal.stats.intervals import wilson
from shoal.training.stage import Progress, Recipe

LABELS = ("long", "short")


@dataclass(frozen=True, slots=True)
class Settings(Profiled):
    """What `[echo]` in a plan may say."""

    words: tuple[str, ...] = changes("cases", ("a", "to", "elephant", "dictionary", "of", "hippopotamus"))
    limit: int = changes("scoring", 3)
    """Words of more letters are long."""
    seed: int = changes("scoring", 0)


def parts(settings: Settings) -> list[Settings]:
    """One job."""
    return [settings]


def title(settings: Settings) -> str:
    """How many words."""
    return f"{len(settings.words)} words"


def build(settings: Settings, progress: Progress) -> Built:
    """A case per word."""
    cases = []
    for number, word in enumerate(settings.words):
        label = LABELS[len(word) <= settings.limit]
        cases.append(Case(f"{label}/{number}", ((word,),), (label,), {"length": label}))
        progress("building", number + 1, len(settings.words))
    return Built(cases, LABELS)


def recipe(settings: Settings, model: str) -> Recipe | None:
    """Nothing is trained."""
    return None


def ask(settings: Settings, model: object, built: Built, examples: Sequence[Example]) -> Sequence[Answer]:
    """Long or short."""
    return answer_batch(model, built, examples)


def score(settings: Settings, built: Built, answers: Mapping[str, Answers]) -> Scored:
    """The share that is right, over all and by length."""
    said = answers[""]
    outcomes = []
    for row, case in enumerate(built.cases):
        right = (said.labels[said.predictions[row]],) == case.labels
        passed = None if row in said.errors else right
        outcomes.append(Outcome(case.id, passed, 1.0 if right else -1.0, said.errors.get(row, "")))
    return Scored(
        outcomes, [_share(built.cases, outcomes, groups) for groups in ({}, *_lengths(built.cases))]
    )


def _lengths(cases: Sequence[Case]) -> list[dict[str, str]]:
    return [{"length": name} for name in dict.fromkeys(case.groups["length"] for case in cases)]


def _share(cases: Sequence[Case], outcomes: Sequence[Outcome], groups: Mapping[str, str]) -> Measure:
    chosen = [
        outcome
        for case, outcome in zip(cases, outcomes, strict=True)
        if groups.items() <= case.groups.items() and outcome.passed is not None
    ]
    right, n = sum(bool(outcome.passed) for outcome in chosen), len(chosen)
    value, interval = (right / n, wilson(right, n)) if n else (None, None)
    errors = sum(bool(outcome.error) for outcome in outcomes)
    method, basis = "wilson" if n else "", Basis("cases")
    return Measure("accuracy", value, n, groups, interval, method, 0, errors, basis=basis)


def compare(settings: Settings, results: Sequence[Result]) -> Compared:
    """Which model is best."""
    if len(results) < 2:
        return Compared()
    rows = [result.measures.where("accuracy")[0] for result in results]
    models = [result.job["model"] for result in results]
    measures = [
        Measure("accuracy", row.value, row.n, {"model": model}, row.interval, row.interval_method)
        for model, row in zip(models, rows, strict=True)
    ]
    best = max(measures, key=lambda row: row.value or 0.0)
    return Compared(measures, [Finding("best", f"{best.groups['model']} is right most often", (best,), 1.0)])


def view(
    settings: Settings, results: Sequence[Result], measures: Sequence[Measure], findings: Sequence[Finding]
) -> list[Section]:
    """A line per measure."""
    rows = Measures(measures or [row for result in results for row in result.measures])
    assert quantity(rows[0]).unit == "share"
    columns = [Column("what", "left"), Column("right"), Column("95 % interval"), Column("n")]
    lines = [
        Row([Words(" ".join(row.groups.values()) or "all"), Number(row), Number(row, part="interval"),
             Number(row, part="n")])
        for row in rows
    ]  # fmt: skip
    text = " ".join(finding.text for finding in findings)
    return [Section("echo", text, [Table(columns, lines, name="echo")])]
