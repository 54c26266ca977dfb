"""From kept answers to results, scored anew or read back; and what a plan says across its jobs."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from .. import __version__
from ..core.errors import StoreError
from ..core.files import collector_paused
from ..core.records import (
    Case,
    Measures,
    Outcomes,
    Result,
    as_json,
    finding_as_json,
    finding_from_json,
    from_json,
    values_of,
    verdicts_of,
)
from ..models import load_model
from ..models.answer_rows import NoAnswerError, answers_by_mark
from ..models.batching import make_questions
from ..models.interface import StoredAnswers
from ..models.selfcheck import check_answers
from ..protocols import find_protocol
from ..protocols.base import Built, Compared, identity
from ..training.stage import Progress, silent
from .columns import VALUES, KeptColumn, KeptColumns, KeptValues
from .plan import Job, Plan
from .settings import make_settings
from .store import RunStore

RULES = 5
"""Raised where the same answers come to other measures or findings within one version: they are scored again, once."""


def result_of(job: Job, store: RunStore, progress: Progress = silent) -> Result:
    """The result of a job that is done: scored anew from what was kept, which takes seconds and asks nothing."""
    module, built = find_protocol(job.protocol), store.built(job, progress)
    model = _asked(job)
    try:
        with collector_paused():
            answers = answers_by_mark(store.answers(job.id), make_questions(model, built.cases), built)
    except (NoAnswerError, KeyError) as problem:
        path = store.job_folder(job.id) / "answers.jsonl"
        why = f"label {problem} is unknown" if isinstance(problem, KeyError) else str(problem)
        raise StoreError(
            f"{path}: not whole", why=why, fix=f"rm {path}, then shoal run PLAN asks {job.id} again"
        ) from None
    with collector_paused():
        scored = module.score(job.settings, built, answers)
    checks = store.read_checks(job.id) + _checks(model, answers, built)
    return Result(
        _described(job, built.about, checks),
        built.cases,
        scored.outcomes,
        Measures([*built.measures, *scored.measures]),
        scored.columns,
        scored.findings,
        job.settings,
    )


def _described(job: Job, about: Mapping[str, Any], checks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a result says about its job."""
    return job.as_json() | {"shoal": __version__, "about": dict(about), "checks": list(checks)}


def _asked(job: Job) -> Any:
    """The model that was asked as it is; None where it was trained first."""
    if "training" in job.identity:
        return None
    return load_model(job.model) if job.given is None else job.given


def _checks(model: object, answers: Mapping[str, Any], built: Built) -> list[dict[str, Any]]:
    """What can be told of answers that were given before we could ask."""
    if not isinstance(model, StoredAnswers) or built.asks not in ("labels", "spans"):
        return []
    last = list(answers.values())[-1]
    return [asdict(check) for check in check_answers(last, built.cases, built.labels)]


def is_dead(result: Result) -> bool:
    """Whether the model answered nothing at all."""
    return bool(result.outcomes) and set(verdicts_of(result.outcomes)) == {"e"}


def failing_of(result: Result, positions: Iterable[int]) -> list[Case]:
    """Of the cases at these positions those that failed, worst first."""
    failed = [
        (result.outcomes[position].value or 0.0, position)
        for position in map(int, positions)
        if result.outcomes[position].passed is False
    ]
    return [result.cases[position] for _, position in sorted(failed)]


def score_job(job: Job, store: RunStore, progress: Progress = silent) -> Result:
    """The result of a job, its measures kept; read back where they are there and were made under the same settings."""
    kept = kept_score(job, store)
    if kept is not None and (columns := store.read_columns(job.id, kept)) is not None:
        store.mend_cases(job, progress)
        return _read_back(job, store, kept, columns, progress)
    result = result_of(job, store, progress)
    store.write_measures(
        job.id,
        {
            "scoring": scoring_of(job),
            "about": result.job["about"],
            "outcomes": verdicts_of(result.outcomes),
            "measures": [as_json(measure) for measure in result.measures],
            "findings": [finding_as_json(finding) for finding in result.findings],
            "checks": result.job["checks"],
        },
        {
            VALUES: [None if value != value else value for value in values_of(result.outcomes)],
            **result.columns,
        },
    )
    return result


def kept_score(job: Job, store: RunStore) -> dict[str, Any] | None:
    """What `measures.json` says, if it is there and was made under these settings from these answers."""
    kept = store.read_measures(job.id)
    if kept is None or "checks" not in kept:
        return None
    return kept if kept.get("scoring") == json.loads(json.dumps(scoring_of(job))) else None


def scoring_of(job: Job) -> dict[str, Any]:
    """Everything that decides the measures, beside the answers."""
    return {
        "shoal": __version__,
        "rules": RULES,
        **identity(job.settings, "scoring"),
        "seed": job.settings.seed,
    }


def brief_result(job: Job, store: RunStore, progress: Progress = silent) -> Result:
    """A result as comparing needs it, read in no time where it was scored before; nothing is written."""
    kept = kept_score(job, store)
    try:
        if kept is not None and (columns := store.read_columns(job.id, kept)) is not None:
            return _read_back(job, store, kept, columns, progress)
    except (TypeError, ValueError, KeyError):
        pass  # edited by hand, digest included: scored again
    return result_of(job, store, progress)


def _read_back(
    job: Job, store: RunStore, kept: Mapping[str, Any], columns: KeptColumns, progress: Progress
) -> Result:
    cases = store.cases_later(job, len(kept["outcomes"]), progress)
    return Result(
        _described(job, kept["about"], kept["checks"]),
        cases,
        Outcomes(
            cases, kept["outcomes"], KeptValues(columns), {}
        ),  # what an error said stands in the answers
        Measures(map(from_json, kept["measures"])),
        {name: KeptColumn(columns, name) for name in columns.names if name != VALUES},
        [finding_from_json(finding) for finding in kept["findings"]],
        job.settings,
    )


def dead_results(jobs: Iterable[Job], store: RunStore) -> list[Result]:
    """The results of jobs whose model answered nothing at all."""
    suspect = [
        job for job in jobs if (kept := kept_score(job, store)) is None or set(kept["outcomes"]) <= {"e"}
    ]
    # Scored anew: what the model died of is not kept with the outcomes.
    return [result for job in suspect if is_dead(result := result_of(job, store))]


def compare_jobs(plan: Plan, jobs: Sequence[Job], store: RunStore) -> dict[str, Compared]:
    """What each protocol of a plan says across its jobs, from those that are done."""
    return compare_results(plan, results_by_protocol(plan, jobs, store))


def compare_results(plan: Plan, results: Mapping[str, Sequence[Result]]) -> dict[str, Compared]:
    """What each protocol of a plan says across its results, where it says anything."""
    compared = {
        protocol: find_protocol(protocol).compare(plan.tables[protocol], rows)
        for protocol, rows in results.items()
        if rows
    }
    return {protocol: together for protocol, together in compared.items() if together.measures}


def results_by_protocol(plan: Plan, jobs: Sequence[Job], store: RunStore) -> dict[str, list[Result]]:
    """The results of each protocol of a plan: read once, however often they are looked at."""
    return {protocol: results_of(plan, jobs, store, protocol) for protocol in plan.tables}


def results_of(plan: Plan, jobs: Sequence[Job], store: RunStore, protocol: str) -> list[Result]:
    """The results of one protocol's jobs that are done, each with the group of its checkpoint."""
    finished = [job for job in jobs if job.protocol == protocol and store.is_done(job.id)]
    return [grouped(brief_result(job, store), plan) for job in finished]


def grouped(result: Result, plan: Plan) -> Result:
    """A result that says to which group of checkpoints its model belongs, and of which step and run it is."""
    return replace(result, job={**result.job, **plan.group_of(result.job["model"])})


def stored_job(store: RunStore, name: str) -> Job:
    """A job of a store by its name, as it was run."""
    job = store.read_job(store.find(name))
    settings = make_settings(find_protocol(job["protocol"]).Settings, job["settings"], job["id"])
    return Job(job["id"], job["protocol"], job["model"], settings, job["identity"], job["cases"])
