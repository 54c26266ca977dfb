"""One audit here and now, on the one path of every job; nothing is kept."""

from collections.abc import Mapping
from typing import Any

from ..protocols import find_protocol
from ..protocols.base import only_part
from ..records import Result
from ..training.stage import Progress, silent
from .doing import do
from .plan import Job, make_job
from .settings import make_settings
from .store import RunStore, ThrownAway


def audit(protocol: str, model: Any, **settings: Any) -> Result:
    """Audit a model by one protocol, here and now; nothing is kept.

    `model` is what `load_model` gives, or the spec to load it from.
    """
    return audit_with(protocol, model, settings)


def audit_with(
    protocol: str,
    model: Any,
    settings: Mapping[str, Any],
    where: str = "",
    progress: Progress = silent,
    store: RunStore | None = None,
) -> Result:
    """`audit` for settings that come as a table; with a store, what was done is kept there."""
    module = find_protocol(protocol)
    chosen = only_part(module, make_settings(module.Settings, settings, where or protocol))
    if store is not None:
        return do(make_job(protocol, model, chosen), store, progress)
    with ThrownAway() as store_for_now:
        return do(job_for_now(protocol, model, chosen), store_for_now, progress)


def job_for_now(protocol: str, model: Any, settings: Any) -> Job:
    """A job that is not kept: what its model is need not be known beyond its name."""
    if isinstance(model, str):
        return make_job(protocol, model, settings, {"spec": model})
    return make_job(protocol, "python:given:here", settings, {"object": repr(model)}, model)
