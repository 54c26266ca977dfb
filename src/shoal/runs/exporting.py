"""What a protocol built, written in a form of its own; nobody is asked."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.errors import PlanError, some
from ..protocols import PROTOCOLS, find_protocol
from ..protocols.base import Form, WritesForms, identity, only_part
from ..training.stage import Progress, silent
from .plan import Job, unasked_job
from .scoring import stored_job
from .settings import make_settings
from .store import RunStore


def export(
    name: str, given: Mapping[str, Any], out: Path, store: RunStore, progress: Progress = silent
) -> str:
    """Write the cases of a protocol under given settings, or of a job; gives what was written, in words.

    Cases are built in the store unless they are there: what was stopped goes on, and a run of a plan with the same
    settings finds them.
    """
    protocol = name if name in PROTOCOLS else stored_job(store, name).protocol
    form = _form_of(protocol, out)
    job = _protocols_job(name, given) if name in PROTOCOLS else _stored(store, name, given)
    number = form.write(job.settings, store.built(job, progress), out)
    return f"{number:,} {form.what}"


def _form_of(protocol: str, out: Path) -> Form:
    """What the ending of a file says is to be written; refused before anything is built."""
    module = find_protocol(protocol)
    if not isinstance(module, WritesForms):
        able = [name for name in PROTOCOLS if isinstance(find_protocol(name), WritesForms)]
        raise PlanError(f"{protocol} has nothing to export", fix=f"{some(able)}, or the name of a suite")
    if out.suffix not in module.FORMS:
        known = "; ".join(f"{suffix}: {form.what}" for suffix, form in module.FORMS.items())
        raise PlanError(
            f"{out}: the suffix says what to write",
            why=known,
            fix=f"--out {out.stem or 'cases'}{next(iter(module.FORMS))}",
        )
    return module.FORMS[out.suffix]


def _protocols_job(protocol: str, given: Mapping[str, Any]) -> Job:
    module = find_protocol(protocol)
    return unasked_job(protocol, only_part(module, make_settings(module.Settings, given, "--set")))


def _stored(store: RunStore, name: str, given: Mapping[str, Any]) -> Job:
    """A job as it was run, but for settings that leave its cases as they are."""
    job = stored_job(store, name)
    values = {**store.read_job(job.id)["settings"], **given}
    settings = make_settings(type(job.settings), values, "--set")
    if identity(settings, "cases") != identity(job.settings, "cases"):
        raise PlanError(
            f"--set {some(given)}: other cases than those of {job.id}",
            why="its cases are built, and its answers are to them",
            fix=f"shoal export {job.protocol} --set …, with all settings",
        )
    return Job(job.id, job.protocol, job.model, settings, job.identity, job.cases)
