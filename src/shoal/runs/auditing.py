"""One audit here and now, on the one path of every job; nothing is kept."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.records import Result
from ..models.python import as_model
from ..protocols import find_protocol
from ..protocols.base import only_part
from ..training.stage import Progress, silent
from .answer_cache import Memory
from .execute import do
from .plan import Job, fingerprint_of, make_job, slug
from .settings import make_settings
from .store import RunStore, ThrownAway


def audit(protocol: str, model: Any, **settings: Any) -> Result:
    """Audit a model by one protocol, here and now; nothing is kept.

    `model` is a spec, what `load_model` gives, or any object that a `python:` spec could name: a function from a list
    of texts to labels or probabilities, a scikit-learn classifier, a pipeline. A setting that names a file may be a
    `Path`, or the thing itself: `suite=Suite(...)`.
    """
    return audit_with(protocol, model, settings)


def audit_with(
    protocol: str,
    model: Any,
    settings: Mapping[str, Any],
    where: str = "",
    progress: Progress = silent,
    store: RunStore | None = None,
    memory: Memory | None = None,
) -> Result:
    """`audit` for settings that come as a table; with a store, what was done is kept there.

    With a memory, a model is asked for no example twice, whatever the number of audits.
    """
    module = find_protocol(protocol)
    if store is not None:
        chosen = only_part(module, make_settings(module.Settings, settings, where or protocol))
        return do(make_job(protocol, model, chosen), store, progress)
    with ThrownAway(memory) as store_for_now:
        values = as_files(settings, store_for_now.folder)
        chosen = only_part(module, make_settings(module.Settings, values, where or protocol))
        return do(job_for_now(protocol, model, chosen, memory), store_for_now, progress)


def as_files(settings: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The settings with what can save itself written to files, and paths as text."""
    values: dict[str, Any] = {}
    for name, value in settings.items():
        if hasattr(value, "save") and not isinstance(value, type):
            path = folder / f"{slug(str(getattr(value, 'name', name)))}.jsonl"
            value.save(path)
            value = path
        values[name] = str(value) if isinstance(value, Path) else value
    return values


def job_for_now(protocol: str, model: Any, settings: Any, memory: Memory | None = None) -> Job:
    """A job that is not kept: what its model is need not be known beyond its name, but for what is remembered of it."""
    if isinstance(model, str):
        known_by = fingerprint_of(model) if memory else {"spec": model}
        return make_job(protocol, model, settings, known_by)
    asked = as_model(model)
    known_by = memory.identity_of(model) if memory else {"object": repr(model)}
    name = getattr(model, "__name__", type(model).__name__)
    return make_job(protocol, f"python:given:{name}", settings, known_by, asked)
