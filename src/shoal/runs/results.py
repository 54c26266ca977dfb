"""Results by any name: audit a model, find a stored job, read a result file, export cases.

    predictions:answers.jsonl   a model, scored here on the suite that `--suite` names
    3f9c1a2b                    a job of a store; any unique part of its name works
    last                        the result of the latest `shoal try` in this folder, kept in the store .shoal/last
    result.json                 the output of `shoal try … --json`: rates, no outcomes

The first three bring every case with its outcome. A result file has rates only: enough for a gate, a baseline or an
unpaired comparison.
"""

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from ..core.errors import DataError, ModelError, PlanError, ShoalError, StoreError, some
from ..core.files import for_owner_only, is_file, read_json
from ..core.records import Finding, Measure, Measures, Result
from ..models import SCHEMES, is_remote, parse_spec
from ..models.python import GivenLabels, PythonModel, as_model, as_option
from ..protocols import PROTOCOLS, find_protocol
from ..protocols.base import Form, WritesForms, only_part
from ..protocols.scores import graded_results, is_graded
from ..training.stage import Progress, silent
from .execute import execute
from .plan import Job, cases_job, make_job, slug, with_option
from .scoring import brief_result, is_dead, stored_job, write_result
from .settings import make_settings
from .store import MemoryStore, RunStore

CACHE, LAST = Path(".shoal"), "last"
SPEC = re.compile(rf"({'|'.join(SCHEMES)}):")


# Models


def audit(protocol: str, model: Any, *, labels: GivenLabels | None = None, **settings: Any) -> Result:
    """Audit a model with one protocol and return the result; nothing is stored.

    `model` is a spec, a function from a list of texts to labels or probabilities, a fitted scikit-learn classifier or
    pipeline, a Transformers `pipeline("text-classification")`, or a model from `load_model`. Pairs of texts come as
    tuples; a Transformers pipeline gets them as text and text_pair.

    `labels` gives the suite's names for outputs without names, or with other names: a list in the order of the columns
    or numbers, or a dictionary from the model's names. shoal never guesses an order. Other keywords are settings of the
    protocol; one that names a file may be a `Path`, or the object itself: `suite=Suite(...)`.

    >>> def bad_words(texts):
    ...     return [[0.9, 0.1] if "bad" in text or "not" in text else [0.2, 0.8] for text in texts]
    >>> audit("behaviour", bad_words, suite="sentiment", labels=["negative", "positive"])
    <Result: behaviour of python:bad_words>
    1,754 of 2,516 cases pass
    suite score 71.7 % (95 % CI 70.7 – 72.6), n = 2,516
    Look at: .failing(), .measures, .to_pandas()
    """
    labels, settings = labels_and_settings(protocol, labels, settings)
    (result,) = audit_all([labelled(model, labels)], protocol, settings, where=protocol)
    return result


def labels_and_settings(
    protocol: str, labels: GivenLabels | None, settings: Mapping[str, Any]
) -> tuple[GivenLabels | None, dict[str, Any]]:
    """Return the labels of the models and the settings; `labels` of ranking is a setting, of its examples."""
    if labels is None or "labels" not in {field.name for field in fields(find_protocol(protocol).Settings)}:
        return labels, dict(settings)
    return None, {**settings, "labels": labels}


def labelled(model: Any, labels: GivenLabels | None) -> Any:
    """Return a model with names for its outputs: a spec with `?labels=`, or a wrapped object."""
    if not isinstance(model, str):
        return as_model(model, labels)
    if labels is None:
        return model
    if "labels" in parse_spec(model).options:
        raise ModelError(
            f"{model}: labels are given twice, in the spec and beside it", fix="keep one of them"
        )
    return with_option(model, "labels", as_option(labels))


def audit_all(
    models: Sequence[Any],
    protocol: str,
    settings: Mapping[str, Any],
    progress: Progress = silent,
    store: RunStore | None = None,
    where: str = "--set",
) -> list[Result]:
    """Audit several models under the same settings; shared steps run once."""
    if not models:
        return []
    module = find_protocol(protocol)
    with MemoryStore() as temporary:
        values = _as_files(settings, temporary.folder)
        chosen = only_part(module, make_settings(module.Settings, values, where))
        if store is not None:
            jobs = [make_job(protocol, model, chosen) for model in models]
            with for_owner_only(any(is_remote(job.model) for job in jobs)):
                return [execute(job, store, progress) for job in jobs]
        return [execute(_temporary_job(protocol, model, chosen), temporary, progress) for model in models]


def _as_files(settings: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the settings with paths as text, and objects that have `save` written to files."""
    values: dict[str, Any] = {}
    for name, value in settings.items():
        if hasattr(value, "save") and not isinstance(value, type):
            path = folder / f"{slug(str(getattr(value, 'name', name)))}.jsonl"
            value.save(path)
            value = path
        values[name] = str(value) if isinstance(value, Path) else value
    return values


def _temporary_job(protocol: str, model: Any, settings: Any) -> Job:
    """Return a job that is not stored, so that the model needs no fingerprint."""
    if isinstance(model, str):
        return make_job(protocol, model, settings, {"spec": model})
    wrapped = as_model(model)
    name = repr(wrapped) if isinstance(wrapped, PythonModel) else type(model).__name__
    spec = name if SPEC.match(name) else f"python:{name}"
    return make_job(protocol, spec, settings, {"object": repr(model)}, wrapped)


# The latest result of `try`


def last_store() -> RunStore:
    """Return the store whose only job is the latest result of this folder."""
    return RunStore(CACHE / LAST)


def audit_and_keep(
    protocol: str, model: str, settings: Mapping[str, Any], progress: Progress = silent
) -> tuple[Result, str, dict[str, int]]:
    """Audit a model and keep the result as `last`.

    Return it with the reason why it could not be kept, and the requests and tokens that it took.
    """
    module = find_protocol(protocol)
    with MemoryStore() as memory:
        chosen = only_part(module, make_settings(module.Settings, settings, "--set"))
        job = _temporary_job(protocol, model, chosen)
        result = execute(job, memory, progress)
        spent = memory.spent(job.id)
        if is_dead(result):  # an error: the result before it is worth more
            return result, "", spent
        try:
            # Texts sent to an endpoint and its answers may be confidential.
            with for_owner_only(is_remote(model)):
                _keep(job, result, memory)
        except (OSError, ShoalError) as problem:
            return result, str(problem).splitlines()[0], spent
    return result, "", spent


def _keep(job: Job, result: Result, memory: MemoryStore) -> None:
    """Replace the store of the latest result; git ignores its folder."""
    CACHE.mkdir(exist_ok=True)
    (CACHE / ".gitignore").write_text("*\n")
    new = CACHE / "new"
    with RunStore(CACHE).lock(LAST, wait=True):
        shutil.rmtree(new, ignore_errors=True)  # left by a process that was killed
        memory.save_job(job, RunStore(new))
        write_result(job, result, RunStore(new))
        shutil.rmtree(CACHE / LAST, ignore_errors=True)
        new.rename(CACHE / LAST)


# Any name


def find_results(
    things: Sequence[Any],
    protocol: str,
    settings: Mapping[str, Any],
    into: Path,
    progress: Progress = silent,
    *,
    labels: GivenLabels | None = None,
    keep: bool = False,
    where: str = "--set",
) -> list[Result]:
    """Return the result of each thing: a name, a result, graded samples; models are audited on the same cases.

    Without a name, the protocol is that of the first result. Models are trained first if the settings say so. With
    `keep`, their results are stored in `into`.
    """
    store = RunStore(into)
    known = known_results(things, store)
    models = [thing for thing, result in zip(things, known, strict=True) if result is None]
    if not models and (settings or labels is not None):
        names = [*settings, *(["labels"] if labels is not None else [])]
        raise PlanError(
            f"{where}: {some(names)} is for models that are audited here",
            why="results, jobs and result files are scored already",
            fix="leave it out, or give the model instead of its result",
        )
    first = next((str(result.job.get("protocol")) for result in known if result is not None), "")
    protocol = protocol or (first if first in PROTOCOLS else "") or next(iter(PROTOCOLS))
    labels, values = labels_and_settings(protocol, labels, settings)
    specs = [labelled(model, labels) for model in models]
    audited = iter(audit_all(specs, protocol, values, progress, store if keep else None, where))
    return [next(audited) if result is None else result for result in known]


def known_results(things: Sequence[Any], store: RunStore) -> list[Result | None]:
    """Return the result of each thing that has one: a result, a file, a job, graded samples; None for a model."""
    graded = iter(graded_results(list(filter(is_graded, things))))

    def known(thing: Any) -> Result | None:
        if is_graded(thing):
            return next(graded)
        if not isinstance(thing, Path) and (not isinstance(thing, str) or SPEC.match(thing)):
            return thing if isinstance(thing, Result) else None
        return (
            read_result(Path(thing)) if is_file(Path(thing)) else brief_result(*find_job(str(thing), store))
        )

    return list(map(known, things))


def find_job(name: str, store: RunStore) -> tuple[Job, RunStore]:
    """Return a finished job of a store, or the job of the latest `try`, and the store that holds it."""
    path = Path(name)
    if name == LAST and (jobs := last_store().job_ids()):
        return stored_job(last_store(), jobs[0]), last_store()
    known = store.job_ids()
    if not any(name in job_id for job_id in known):
        if path.suffix in (".json", ".jsonl", ".csv", ".gz"):
            raise DataError(f"{path}: no such file", fix="check the name, and the folder you are in")
        if name == LAST:
            why = "shoal try keeps its result in the folder in which it runs"
            raise StoreError("no result was kept here", why=why, fix="shoal try PROTOCOL MODEL")
        raise StoreError(
            f"{name!r} is neither a model, nor a result file, nor a job of {store.folder}",
            why=f"its jobs are {some(known, 3)}" if known else f"{store.folder} has no job",
            fix=f"predictions:FILE, python:module:name or hf:{name} for a model; --into for another store",
        )
    job = stored_job(store, name)
    if not store.is_done(job.id):
        raise StoreError(f"{job.id} is not done", fix="shoal run PLAN")
    return job, store


def read_result(path: Path) -> Result:
    """Read the output of `shoal try … --json` or `shoal show JOB --json`: a job and its measures, no outcomes."""
    try:
        content = TypeAdapter(_ResultFile).validate_python(read_json(path, nan=True))
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise DataError(
            f"{path}: not a result file: {where}: {first['msg'].lower()}",
            why="an object with one job and its measures is expected",
            fix=f"shoal try … --json > {path}",
        ) from None
    (job,) = content.jobs
    settings = None
    if job.get("protocol") in PROTOCOLS and isinstance(job.get("settings"), Mapping):
        kind = find_protocol(job["protocol"]).Settings
        settings = make_settings(kind, job["settings"], f"{path}: settings")
    return Result(job, (), (), Measures(content.measures), findings=content.findings, settings=settings)


@dataclass
class _ResultFile:
    jobs: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=1)]
    measures: list[Measure]
    findings: list[Finding] = field(default_factory=list)


def with_outcomes(result: Result, name: str) -> Result:
    """Return the result; raise if it has no cases."""
    if not result.outcomes:
        raise DataError(
            f"{name}: a result file has rates, not outcomes",
            why="this needs the outcome of each case",
            fix="the model itself (predictions:FILE with --suite), its job (--into), or last after a new shoal try",
        )
    return result


FROM_RATES = ("behaviour", "scores")
"""Protocols whose view needs no cases, so that a result file is enough."""


def viewable(result: Result, name: str) -> Result:
    """Return the result; raise if it has no cases and its protocol needs them to show it."""
    return result if result.job["protocol"] in FROM_RATES else with_outcomes(result, name)


# Export


def export(
    name: str, values: Mapping[str, Any], out: Path, store: RunStore, progress: Progress = silent
) -> str:
    """Write the cases of a protocol or of a job to a file; return what was written, in words.

    Cases are built in the store, so that an interrupted build resumes and a later run finds them.
    """
    job = None if name in PROTOCOLS else stored_job(store, name)
    if job is not None and values:
        raise PlanError(
            f"--set {some(values)}: {job.id} has its settings", fix=f"shoal export {job.protocol} --set …"
        )
    protocol = name if job is None else job.protocol
    form = _form_of(protocol, out)
    if job is None:
        module = find_protocol(protocol)
        job = cases_job(protocol, only_part(module, make_settings(module.Settings, values, "--set")))
    number = form.write(job.settings, store.built(job, progress), out)
    return f"{number:,} {form.what}"


def _form_of(protocol: str, out: Path) -> Form:
    """Return the format that the suffix of a file names, before anything is built."""
    module = find_protocol(protocol)
    if not isinstance(module, WritesForms):
        able = [name for name in PROTOCOLS if isinstance(find_protocol(name), WritesForms)]
        raise PlanError(f"{protocol} has nothing to export", fix=f"{some(able)}, or the name of a suite")
    if out.suffix not in module.FORMS:
        raise PlanError(
            f"{out}: unknown suffix",
            why="; ".join(f"{suffix}: {form.what}" for suffix, form in module.FORMS.items()),
            fix=f"--out {out.stem or 'cases'}{next(iter(module.FORMS))}",
        )
    return module.FORMS[out.suffix]
