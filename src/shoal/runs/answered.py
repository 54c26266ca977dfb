"""The cases of a stored result with the model's answers, for logs and tables that other programs read."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import PlanError
from ..core.records import Case, Measure
from ..protocols.behaviour.judge import with_neutral_band
from ..protocols.behaviour.score import confidence_of, final_answers
from ..training.stage import Progress, silent
from .plan import Job
from .scoring import answers_of, brief_result, load_for
from .store import RunStore


@dataclass(frozen=True, slots=True)
class AnsweredCase:
    """A case, the model's answers to its texts, and the verdict."""

    case: Case
    predicted: tuple[str | None, ...]
    """The label of each text, or the answer in words; None without an answer."""
    probabilities: tuple[float | None, ...]
    """The probability of each predicted label; None if the model gave none."""
    passed: bool | None
    error: str


@dataclass(frozen=True, slots=True)
class AnsweredResult:
    """A result with the answers behind it."""

    job_id: str
    model: str
    suite: str
    answered_at: float
    """Seconds since 1970, in UTC."""
    cases: Sequence[AnsweredCase]
    measures: Sequence[Measure]


def answered_result(job: Job, store: RunStore, progress: Progress = silent) -> AnsweredResult:
    """Return the cases of a finished job of `behaviour`, in the order of its suite, with their answers."""
    if job.protocol != "behaviour":
        raise PlanError(
            f"{job.id}: results of {job.protocol} have no form of other tools",
            why="a log of lm-eval, inspect or Every Eval Ever holds graded answers to single cases",
            fix=f"shoal show {job.id} --csv",
        )
    built = store.built(job, progress)
    model = None if "training" in job.identity else load_for(job)
    answers = final_answers(job.settings, answers_of(job, store, built, model))
    shown = with_neutral_band(answers, built.cases, job.settings.resolved("band"))
    words = list(shown.texts) or [shown.labels[code] for code in shown.predictions.tolist()]
    chances = [None] * len(words) if shown.texts else confidence_of(shown).tolist()
    result = brief_result(job, store, progress)
    rows, place = [], 0
    for case, outcome in zip(built.cases, result.outcomes, strict=True):
        places = range(place, place + len(case.examples))
        predicted = tuple(None if row in answers.errors else words[row] for row in places)
        sure = tuple(
            None if row in answers.errors or not _is_number(chances[row]) else chances[row] for row in places
        )
        rows.append(AnsweredCase(case, predicted, sure, outcome.passed, outcome.error))
        place = places.stop
    answered_at = (store.job_folder(job.id) / "answers.jsonl").stat().st_mtime
    suite = Path(job.settings.suite).name.split(".")[0]
    return AnsweredResult(job.id, job.model, suite, answered_at, rows, result.measures)


def _is_number(chance: float | None) -> bool:
    return chance is not None and chance == chance
