"""A result by any name: a model spec, a job of a store, or a result file.

    predictions:answers.jsonl   a model, scored here on the suite that `--set suite=…` names
    3f9c1a2b                    a job of a store, or any part of its name that no other has
    result.json                 what `shoal try … --json` printed: rates, no outcomes

The first two bring every case with its outcome. A result file brings rates: enough for a gate and for a baseline, not
for a paired comparison.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from ..core.errors import DataError, PlanError, StoreError, some
from ..core.files import is_file, read_lines
from ..core.records import Finding, Measure, Measures, Result, verdicts_of
from ..models import SCHEMES
from ..protocols import PROTOCOLS, find_protocol
from ..protocols.base import only_part
from ..training.stage import Progress, silent
from .auditing import job_for_now
from .execute import do
from .plan import make_job
from .scoring import brief_result, result_of, stored_job
from .settings import make_settings
from .store import RunStore, ThrownAway

T = TypeVar("T")
SPEC = re.compile(rf"({'|'.join(SCHEMES)}):")


def find_results(
    names: Sequence[str],
    protocol: str,
    settings: Mapping[str, Any],
    into: Path,
    progress: Progress = silent,
    *,
    keep: bool = False,
) -> list[Result]:
    """The results that these names mean, in order; models are asked here, on cases built once for all.

    A model whose settings say so is trained first, as in a run. With `keep`, what was done is kept in `into`.
    """
    specs = [name for name in names if SPEC.match(name)]
    if settings and not specs:
        raise PlanError(
            "--set is for models that are scored here; a job or a result file was scored already",
            fix="leave out --set",
        )
    store = RunStore(into)
    asked = iter(audit_all(specs, protocol, settings, progress, store if keep else None))
    return [next(asked) if SPEC.match(name) else find_stored(name, store) for name in names]


def audit_all(
    models: Sequence[Any],
    protocol: str,
    settings: Mapping[str, Any],
    progress: Progress = silent,
    store: RunStore | None = None,
    where: str = "--set",
) -> list[Result]:
    """Audit several models under the same settings, on one store: what they share is done once."""
    if not models:
        return []
    module = find_protocol(protocol)
    chosen = only_part(module, make_settings(module.Settings, settings, where))
    if store is not None:
        return [do(make_job(protocol, model, chosen), store, progress) for model in models]
    with ThrownAway() as store_for_now:
        return [do(job_for_now(protocol, model, chosen), store_for_now, progress) for model in models]


def find_stored(name: str, store: RunStore) -> Result:
    """A result file, or a job of a store."""
    path = Path(name)
    if is_file(path):
        return read_result(path)
    known = store.job_ids()
    if not any(name in one for one in known):
        if path.suffix in (".json", ".jsonl", ".csv", ".gz"):
            raise DataError(f"{path}: no such file", fix="check the name, and the folder you are in")
        raise StoreError(
            f"{name!r} is neither a model, nor a result file, nor a job of {store.folder}",
            why=f"its jobs are {some(known, 3)}" if known else f"{store.folder} has no job",
            fix=f"predictions:FILE, python:module:name or hf:{name} for a model; --into for another store",
        )
    job = stored_job(store, name)
    if not store.is_done(job.id):
        raise StoreError(f"{job.id} is not done", fix="shoal run PLAN")
    brief = brief_result(job, store)
    # What an error said stands in the answers, which a brief result does not read.
    return result_of(job, store) if "e" in verdicts_of(brief.outcomes) else brief


def read_result(path: Path) -> Result:
    """What `shoal try … --json` or `shoal show JOB --json` printed: a job and its measures, no outcomes."""
    text = "\n".join(line for _, line in read_lines(path))
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as problem:
        fix = (
            f"predictions:{path}, if it holds predictions"
            if path.suffix != ".json"
            else f"shoal try … --json > {path}"
        )
        raise DataError(f"{path}: not a result file", why=f"not JSON: {problem}", fix=fix) from None
    if not isinstance(found, dict) or not {"jobs", "measures"} <= found.keys():
        raise DataError(
            f"{path}: not a result file",
            why='an object with "jobs" and "measures" is expected',
            fix=f"shoal try … --json > {path}",
        )
    jobs = found["jobs"]
    if not isinstance(jobs, list) or len(jobs) != 1 or not isinstance(jobs[0], dict):
        raise DataError(f"{path}: one job is expected", fix="a file per model")
    measures = Measures(_checked(list[Measure], found["measures"], "measures", path))
    findings = _checked(list[Finding], found.get("findings", []), "findings", path)
    return Result(jobs[0], (), (), measures, findings=findings, settings=_settings(jobs[0], path))


def _settings(job: Mapping[str, Any], path: Path) -> Any:
    """The settings that a result file says it was made under; None where it does not say."""
    if job.get("protocol") not in PROTOCOLS or not isinstance(job.get("settings"), Mapping):
        return None
    return make_settings(find_protocol(job["protocol"]).Settings, job["settings"], f"{path}: settings")


def _checked(kind: type[T], rows: Any, name: str, path: Path) -> T:
    """Return the rows of a result file as measures or findings; an error that names the first that is not."""
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_python(rows)
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise DataError(
            f"{path}: {name}.{where}: {first['msg'].lower()}",
            fix="write the file again: shoal try … --json",
        ) from None


def has_outcomes(result: Result) -> bool:
    """Whether a result knows how each case went."""
    return bool(result.outcomes)


def with_outcomes(result: Result, name: str) -> Result:
    """The result itself, if it can be compared case by case."""
    if not has_outcomes(result):
        raise DataError(
            f"{name}: a result file holds rates, not outcomes; a paired comparison needs to know how each case went",
            fix="the model itself (predictions:FILE with --set suite=…), or the job of a store (--into)",
        )
    return result
