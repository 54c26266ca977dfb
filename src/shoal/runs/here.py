"""Running jobs on this machine, one after another; several processes may share a store."""

import json
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from .. import __version__
from ..errors import ShoalError
from ..files import sweep
from ..models import load_model
from ..models.ask import (
    HasAnswered,
    answer_batches,
    answer_examples,
    ask_cases,
    batch_plan,
    distinct,
    gather,
    is_reading,
    questions_of,
)
from ..models.selfcheck import check_answers, self_check
from ..protocols import find_protocol
from ..records import Answers, Case, Measures, Result, as_json
from .plan import Job
from .settings import make_settings
from .store import PartialAnswers, RunStore, making

Progress = Callable[[str, int, int], None]
"""Told which step is at how many of how many."""


def silent(step: str, done: int, total: int) -> None:
    """No progress shown."""


def audit(protocol: str, model: Any, **settings: Any) -> Result:
    """Audit a model by one protocol, here and now; nothing is kept.

    `model` is what `load_model` gives, or the spec to load it from.
    """
    return audit_with(protocol, model, settings)


def audit_with(
    protocol: str, model: Any, settings: Mapping[str, Any], where: str = "", progress: Progress = silent
) -> Result:
    """`audit` for settings that come as a table."""
    module = find_protocol(protocol)
    chosen = make_settings(module.Settings, settings, where or protocol)
    asked = load_model(model) if isinstance(model, str) else model
    built = module.build(chosen)
    checks = checks_before(asked, built.cases, built.labels)
    answers = ask_cases(
        asked, built.cases, built.whole, built.labels, lambda done, total: progress("asking", done, total)
    )
    checks += checks_after(asked, answers, built.cases, built.labels)
    outcomes, measures = module.score(chosen, built.cases, answers)
    job = {"protocol": protocol, "model": str(model), "settings": asdict(chosen), "shoal": __version__}
    return Result(job | {"checks": checks}, built.cases, outcomes, Measures(measures))


def checks_before(model: object, cases: Sequence[Case], labels: Sequence[str] | None) -> list[dict[str, Any]]:
    """Whether a model's answers can be trusted, as far as a few questions tell."""
    return (
        []
        if isinstance(model, HasAnswered)
        else [asdict(check) for check in self_check(model, cases, labels)]
    )


def checks_after(
    model: object, answers: Answers, cases: Sequence[Case], labels: Sequence[str] | None
) -> list[dict[str, Any]]:
    """The same for answers that were given before we could ask."""
    return (
        [asdict(check) for check in check_answers(answers, cases, labels)]
        if isinstance(model, HasAnswered)
        else []
    )


# Jobs of a plan


def run_here(
    jobs: Sequence[Job], store: RunStore, progress: Progress = silent, *, retry_errors: bool = False
) -> Iterator[tuple[Job, str | None]]:
    """Do every job that is not done, and say how each went: None, or what it failed with.

    A job that another process is at is left to it and looked at again later.
    """
    waiting = list(jobs)
    started = time.time()
    while waiting:
        busy = []
        for job in waiting:
            with store.lock(job.id, wait=False) as mine:
                if not mine:
                    busy.append(job)
                    continue
                if not store.is_done(job.id) and _failed_elsewhere(store, job, started):
                    yield job, store.error(job.id).strip().splitlines()[-1]
                    continue
                problem = _try(job, store, progress, retry_errors)
            yield job, problem
        if len(busy) == len(waiting):
            time.sleep(0.2)
        waiting = busy


def _failed_elsewhere(store: RunStore, job: Job, since: float) -> bool:
    """Whether another process tried this job while we waited, and failed."""
    path = store.job_folder(job.id) / "error.txt"
    return path.exists() and path.stat().st_mtime > since


def _try(job: Job, store: RunStore, progress: Progress, retry_errors: bool) -> str | None:
    try:
        sweep(store.job_folder(job.id))
        if retry_errors and store.is_done(job.id):
            retry(job, store, progress)
        if not store.is_done(job.id):
            run_job(job, store, progress)
        score_job(job, store)
    except ShoalError as problem:
        store.write_error(job.id, f"{problem}\n")
        return str(problem)
    except Exception as problem:
        store.write_error(job.id, traceback.format_exc())
        return f"{type(problem).__name__}: {problem} (see error.txt)"
    (store.job_folder(job.id) / "error.txt").unlink(missing_ok=True)
    return None


def run_job(job: Job, store: RunStore, progress: Progress = silent) -> None:
    """Build the cases unless they are there, ask the model, and keep its answers batch by batch."""
    module = find_protocol(job.protocol)
    path, folder = store.cases_file(job), store.job_folder(job.id)
    with making(path.parent), store.lock(job.cases, wait=True):
        sweep(path.parent, path.name)
        if not path.exists():
            module.save(module.build(job.settings), path)
    store.write_job(job)
    cases, labels = (built := module.load(path)).cases, built.labels
    model = load_model(job.model)
    whole = module.build(job.settings).whole if isinstance(model, HasAnswered) else cases
    if not (folder / "checks.json").exists():
        store.write_checks(job.id, checks_before(model, cases, labels))
    questions = questions_of(model, cases)
    sizes = [len(batch) for batch in batch_plan(model, questions)]
    with PartialAnswers(folder, sizes) as partial:
        kept = sum(sizes[: partial.done])
        for batch in answer_batches(model, questions, cases, whole, labels, partial.done):
            partial.add(batch)
            kept += len(batch)
            progress("asking", kept, len(questions.ids))
        partial.finish()


def retry(job: Job, store: RunStore, progress: Progress = silent) -> None:
    """Ask again what the model failed to answer, and only that."""
    rows = store.read_answers(job.id)
    failed = [at for at, row in enumerate(rows) if row.error]
    model = load_model(job.model)
    if not failed or isinstance(model, HasAnswered):
        return
    built = find_protocol(job.protocol).load(store.cases_file(job))
    questions = distinct(built.cases)
    example = dict(zip(questions.ids, questions.examples, strict=True))
    for count, at in enumerate(failed, start=1):
        identity = rows[at].example_id
        (rows[at],) = answer_examples(
            model, [example[identity]], [identity], built.labels, reading=is_reading(built.cases)
        )
        progress("asking again", count, len(failed))
    store.replace_answers(job.id, rows)


def result_of(job: Job, store: RunStore) -> Result:
    """The result of a job that is done: scored anew from what was kept, which takes seconds and asks nothing."""
    module = find_protocol(job.protocol)
    built = module.load(store.cases_file(job))
    model = load_model(job.model)
    answers = gather(store.read_answers(job.id), questions_of(model, built.cases), built.labels)
    outcomes, measures = module.score(job.settings, built.cases, answers)
    checks = store.read_checks(job.id) + checks_after(model, answers, built.cases, built.labels)
    return Result(job.as_json() | {"checks": checks}, built.cases, outcomes, Measures(measures))


def score_job(job: Job, store: RunStore) -> None:
    """Write the measures, unless they are there and were made under the same settings."""
    path = store.job_folder(job.id) / "measures.json"
    scoring = {
        "shoal": __version__,
        **{k: v for k, v in asdict(job.settings).items() if k in _scoring(job.settings)},
    }
    if path.exists():
        kept = json.loads(path.read_text())
        if kept.get("scoring") == scoring and path.stat().st_mtime_ns >= _answered(job, store):
            return
    result = result_of(job, store)
    store.write_measures(job.id, {"scoring": scoring, "measures": [as_json(row) for row in result.measures]})


def _answered(job: Job, store: RunStore) -> int:
    return (store.job_folder(job.id) / "answers.jsonl").stat().st_mtime_ns


def _scoring(settings: Any) -> set[str]:
    """The settings that only change how answers are scored."""
    return {one.name for one in fields(settings) if one.metadata.get("changes") == "scoring"}


def stored_job(store: RunStore, name: str) -> Job:
    """A job of a store by its name, as it was run."""
    found = store.read_job(store.find(name))
    settings = make_settings(find_protocol(found["protocol"]).Settings, found["settings"], found["id"])
    return Job(found["id"], found["protocol"], found["model"], settings, found["identity"], found["cases"])
