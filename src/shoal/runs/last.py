"""The result of the latest `shoal try`, kept as `last`.

.shoal/
  .gitignore   the folder is a cache: git ignores it
  last/        a store with one job; the next `try` replaces it
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.errors import ShoalError
from ..core.files import for_owner_only
from ..core.records import Result
from ..models import is_remote
from ..protocols import find_protocol
from ..protocols.base import only_part
from ..training.stage import Progress, silent
from .execute import execute
from .plan import Job, make_job
from .scoring import is_dead, write_result
from .settings import make_settings
from .store import MemoryStore, RunStore

CACHE = Path(".shoal")
LAST = "last"


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
        job = make_job(protocol, model, chosen, {"spec": model})  # for now only: needs no fingerprint
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
    CACHE.mkdir(exist_ok=True)
    ignored = CACHE / ".gitignore"
    if not ignored.exists():
        ignored.write_text("*\n")
    new, old = CACHE / "new", CACHE / "old"
    with RunStore(CACHE).lock(LAST, wait=True):
        for left in (new, old):  # by a process that was killed
            shutil.rmtree(left, ignore_errors=True)
        memory.save_job(job, RunStore(new))
        write_result(job, result, RunStore(new))
        if (CACHE / LAST).exists():
            (CACHE / LAST).rename(old)
        new.rename(CACHE / LAST)
        shutil.rmtree(old, ignore_errors=True)
