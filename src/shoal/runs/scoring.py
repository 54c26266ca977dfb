"""From stored answers to results, and from the results of a plan to what its protocols compare."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from .. import __version__
from ..core.errors import StoreError
from ..core.files import collector_paused, digest
from ..core.records import (
    Lazy,
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
from .plan import Job, Plan, plain, replaced_model, short_hash
from .settings import make_settings
from .store import RunStore
from .store_files import VALUES, make_folder, read_sealed_json, write_sealed_json

RULES = 10
"""Raised when scoring changes within one version of shoal: stored measures are then computed again."""


def result_of(job: Job, store: RunStore, progress: Progress = silent) -> Result:
    """Return the result of a finished job, scored from the stored answers."""
    module, built = find_protocol(job.protocol), store.built(job, progress)
    model = None if "training" in job.identity else load_for(job)
    answers = answers_of(job, store, built, model)
    with collector_paused():
        scored = module.score(job.settings, built, answers)
    checks = store.read_checks(job.id)
    if isinstance(model, StoredAnswers) and built.asks in ("labels", "spans"):  # they cannot be queried
        last = list(answers.values())[-1]
        checks += [asdict(check) for check in check_answers(last, built.cases, built.labels)]
    return Result(
        _described(job, built.about, checks),
        built.cases,
        scored.outcomes,
        Measures([*built.measures, *scored.measures]),
        scored.columns,
        scored.findings,
        job.settings,
    )


def answers_of(job: Job, store: RunStore, built: Built, model: Any) -> dict[str, Any]:
    """Return the stored answers of a job in the form that scoring takes, by moment of training."""
    try:
        with collector_paused():
            return answers_by_mark(store.answers(job.id), make_questions(model, built.cases), built)
    except (NoAnswerError, KeyError) as problem:
        path = store.job_folder(job.id) / "answers.jsonl"
        why = f"label {problem} is unknown" if isinstance(problem, KeyError) else str(problem)
        raise StoreError(
            f"{path}: incomplete",
            why=why,
            fix=f"rm {path}; then `shoal run PLAN`, which asks {job.id} again",
        ) from None


def _described(job: Job, about: Mapping[str, Any], checks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the job of a result, with the version of shoal and the checks."""
    return job.as_json() | {"shoal": __version__, "about": dict(about), "checks": list(checks)}


def load_for(job: Job) -> Any:
    """Return the model of a job: an object, what its settings query in place of the spec, or the spec's."""
    if job.given is not None:
        return job.given
    other = replaced_model(job.protocol, job.settings, job.model)
    return load_model(job.model) if other is None else other


def is_dead(result: Result) -> bool:
    return bool(result.outcomes) and set(verdicts_of(result.outcomes)) == {"e"}


def write_result(job: Job, result: Result, store: RunStore) -> None:
    """Store the measures and outcomes of a job."""
    verdicts, outcomes = verdicts_of(result.outcomes), result.outcomes
    store.write_measures(
        job.id,
        {
            "scoring": scoring_of(job),
            "about": result.job["about"],
            "outcomes": verdicts,
            "errors": {str(i): outcomes[i].error for i, letter in enumerate(verdicts) if letter == "e"},
            "measures": [as_json(measure) for measure in result.measures],
            "findings": [finding_as_json(finding) for finding in result.findings],
            "checks": result.job["checks"],
        },
        {VALUES: [None if v != v else v for v in values_of(result.outcomes)], **result.columns},
    )


def scoring_of(job: Job) -> dict[str, Any]:
    """Return everything that decides the measures, apart from the answers."""
    settings = identity(job.settings, "scoring")
    return plain({"shoal": __version__, "rules": RULES, **settings, "seed": job.settings.seed})


def brief_result(job: Job, store: RunStore, progress: Progress = silent, *, keep: bool = False) -> Result:
    """Return a result with lazy cases and outcomes, from stored measures if possible; with `keep`, store new ones."""
    if (known := _stored_result(job, store, progress)) is not None:
        return known
    result = result_of(job, store, progress)
    if keep:
        write_result(job, result, store)
    return result


def _stored_result(job: Job, store: RunStore, progress: Progress) -> Result | None:
    """Return the stored result; None if it was made under other settings, from other answers, or is damaged."""
    kept = store.read_measures(job.id)
    if kept is None or kept.get("scoring") != scoring_of(job):
        return None
    columns = store.read_columns(job.id, kept)
    if columns is None:
        return None
    cases = Lazy(len(kept["outcomes"]), lambda: store.built(job, progress).cases)
    errors = {int(place): message for place, message in kept["errors"].items()}
    return Result(
        _described(job, kept["about"], kept["checks"]),
        cases,
        Outcomes(cases, kept["outcomes"], columns[VALUES], errors),
        Measures(map(from_json, kept["measures"])),
        {name: column for name, column in columns.items() if name != VALUES},
        [finding_from_json(finding) for finding in kept["findings"]],
        job.settings,
    )


def compare_results(
    plan: Plan, results: Mapping[str, Sequence[Result]], store: RunStore | None = None, *, keep: bool = False
) -> dict[str, Compared]:
    """Return the comparison of each protocol across its results; protocols without one are left out.

    Comparisons are read from the store if nothing that decides them has changed; with `keep`, new ones are stored.
    """
    compared = {
        protocol: _compared(protocol, plan.tables[protocol], rows, store, keep=keep)
        for protocol, rows in results.items()
        if rows
    }
    return {protocol: together for protocol, together in compared.items() if together.measures}


def _compared(
    protocol: str, settings: Any, results: Sequence[Result], store: RunStore | None, *, keep: bool
) -> Compared:
    jobs = [{**result.job, "rules": RULES} for result in results]
    path = None
    if store:  # named by everything that decides it
        folders = [store.job_folder(job["id"]) for job in jobs]
        files = [folder / name for folder in folders for name in ("measures.json", "answers.digest")]
        digests = [digest(file) if file.exists() else "" for file in files]
        key = plain({"settings": asdict(settings), "jobs": jobs, "files": digests})
        path = store.folder / "comparisons" / f"{short_hash(key, 32)}.json"
    if path and (stored := read_sealed_json(path)) is not None:
        return _comparison_from_json(stored)
    compared = find_protocol(protocol).compare(settings, results)
    if path and keep and compared.measures:
        measures, findings = map(as_json, compared.measures), map(finding_as_json, compared.findings)
        content = plain({"measures": list(measures), "findings": list(findings)})
        read_back = _comparison_from_json(content)
        if (read_back.measures, read_back.findings) == (list(compared.measures), list(compared.findings)):
            make_folder(path.parent)
            write_sealed_json(path, content)
    return compared


def _comparison_from_json(content: Mapping[str, Any]) -> Compared:
    measures, findings = content["measures"], content["findings"]
    return Compared(list(map(from_json, measures)), list(map(finding_from_json, findings)))


def results_by_protocol(plan: Plan, jobs: Sequence[Job], store: RunStore) -> dict[str, list[Result]]:
    """Return the results of the finished jobs, each with the group of its checkpoint."""
    results: dict[str, list[Result]] = {protocol: [] for protocol in plan.tables}
    with collector_paused():
        for job in jobs:
            if store.is_done(job.id):
                result = brief_result(job, store)
                grouped = replace(result, job={**result.job, **plan.group_of(job.model)})
                results[job.protocol].append(grouped)
    return results


def stored_job(store: RunStore, name: str) -> Job:
    job = store.read_job(store.find(name))
    settings = make_settings(find_protocol(job["protocol"]).Settings, job["settings"], job["id"])
    return Job(job["id"], job["protocol"], job["model"], settings, job["identity"], job["cases"])
