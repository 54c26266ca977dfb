"""From kept answers to results, scored anew or read back; and what a plan says across its jobs."""

import json
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from .. import __version__
from ..files import sweep
from ..models import load_model
from ..models.ask import questions_of
from ..protocols import find_protocol
from ..records import Measure, Measures, Outcome, Result, as_json
from .auditing import checks_after
from .plan import Job, Plan
from .settings import make_settings
from .store import RunStore, making


def built_cases(job: Job, store: RunStore) -> Any:
    """The cases of a job, built unless they are kept, and read once for all jobs that share them."""
    path = store.cases_file(job)
    if not path.exists():  # else nothing is written: a finished store may be read-only
        with making(path.parent), store.lock(job.cases, wait=True):
            sweep(path.parent, path.name)
            if not path.exists():
                module = find_protocol(job.protocol)
                module.save(module.build(job.settings), path)
    return _load_cases(job.protocol, path, path.stat().st_mtime_ns)


@lru_cache(maxsize=2)
def _load_cases(protocol: str, path: Path, _changed: int) -> Any:
    return find_protocol(protocol).load(path)


def result_of(job: Job, store: RunStore) -> Result:
    """The result of a job that is done: scored anew from what was kept, which takes seconds and asks nothing."""
    module, built = find_protocol(job.protocol), built_cases(job, store)
    model = None if "training" in job.identity else load_model(job.model)
    answers = module.gather(job.settings, built, store.read_answers(job.id), questions_of(model, built.cases))
    outcomes, measures = module.score(job.settings, built.cases, answers)
    checks = store.read_checks(job.id) + checks_after(module, model, answers, built)
    return Result(job.as_json() | {"checks": checks}, built.cases, outcomes, Measures(measures))


def score_job(job: Job, store: RunStore) -> None:
    """Write the measures, unless they are there and were made under the same settings."""
    if kept_score(job, store) is not None:
        return
    result = result_of(job, store)
    store.write_measures(
        job.id,
        {
            "scoring": scoring_of(job),
            "outcomes": "".join(map(verdict, result.outcomes)),
            **_values(job, result),
            "measures": [as_json(row) for row in result.measures],
        },
    )


def _values(job: Job, result: Result) -> dict[str, Any]:
    """How far each outcome was from being another, where comparing needs to know: diagnostics are no mere passes."""
    asks_labels = find_protocol(job.protocol).asks_labels
    return {} if asks_labels else {"values": [outcome.value for outcome in result.outcomes]}


def kept_score(job: Job, store: RunStore) -> dict[str, Any] | None:
    """What `measures.json` says, if it is there and was made under these settings from these answers."""
    path = store.job_folder(job.id) / "measures.json"
    if not path.exists():
        return None
    kept: dict[str, Any] = json.loads(path.read_text())
    current = kept.get("scoring") == json.loads(json.dumps(scoring_of(job)))
    return kept if current and path.stat().st_mtime_ns >= _answered(job, store) else None


def scoring_of(job: Job) -> dict[str, Any]:
    """Everything that decides the measures, beside the answers."""
    only = {k: v for k, v in asdict(job.settings).items() if k in _scoring(job.settings)}
    return {"shoal": __version__, **only}


VERDICTS = {True: "1", False: "0", None: "-"}


def verdict(outcome: Outcome) -> str:
    """An outcome as one letter: 1 pass, 0 fail, - not applicable, e error."""
    return "e" if outcome.error else VERDICTS[outcome.passed]


def brief_result(job: Job, store: RunStore) -> Result:
    """A result as comparing needs it: cases, who passed, measures; read in no time where it was scored before."""
    kept = kept_score(job, store)
    if kept is None:
        return result_of(job, store)
    built = built_cases(job, store)
    passed = {letter: value for value, letter in VERDICTS.items()}
    values = kept.get("values") or [None] * len(built.cases)
    outcomes = [
        Outcome(case.id, passed.get(letter), value, "error" if letter == "e" else "")
        for case, letter, value in zip(built.cases, kept["outcomes"], values, strict=True)
    ]
    measures = [
        Measure(**{**row, "interval": row["interval"] and tuple(row["interval"])}) for row in kept["measures"]
    ]
    return Result(job.as_json(), built.cases, outcomes, Measures(measures))


def compare_jobs(plan: Plan, jobs: Sequence[Job], store: RunStore) -> dict[str, Measures]:
    """What each protocol of a plan says across its jobs, from those that are done."""
    found = {}
    for protocol, settings in plan.tables.items():
        done = [job for job in jobs if job.protocol == protocol and store.is_done(job.id)]
        results = [grouped(brief_result(job, store), plan) for job in done]
        measures = find_protocol(protocol).compare(settings, results) if results else []
        if measures:
            found[protocol] = Measures(measures)
    return found


def grouped(result: Result, plan: Plan) -> Result:
    """A result that says to which group of checkpoints its model belongs."""
    return replace(result, job={**result.job, "group": plan.group_of(result.job["model"])})


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
