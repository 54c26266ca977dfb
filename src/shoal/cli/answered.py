"""The cases of a stored result with the model's answers, for logs and tables that other programs read."""

from pathlib import Path

from ..core.errors import PlanError
from ..protocols.behaviour.judge import with_neutral_band
from ..protocols.behaviour.score import confidence_of, final_answers
from ..render.result_logs import AnsweredCase, AnsweredResult
from ..runs.plan import Job
from ..runs.scoring import answers_of, brief_result, load_for
from ..runs.store import RunStore
from ..training.stage import Progress, silent


def answered_result(job: Job, name: str, store: RunStore, progress: Progress = silent) -> AnsweredResult:
    """Return the cases of a finished job of `behaviour`, in the order of its suite, with their answers.

    `name` is how the user called the job.
    """
    if job.protocol != "behaviour":
        raise PlanError(
            f"{name}: no other tool has a format for results of {job.protocol}",
            why="a log of lm-eval, inspect or Every Eval Ever holds graded answers to single cases",
            fix=f"shoal show {name} --csv",
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
