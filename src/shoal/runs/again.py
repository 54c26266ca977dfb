"""New answers for the jobs of a plan that are done: `shoal run PLAN --again`.

    runs/again/                the new results so far, as a store; the same command resumes
    runs/again/complete.json   the jobs whose new results are all there: from now on they only move

Old results stay until the new ones are complete.
"""

import json
import shutil
from collections.abc import Sequence

from ..core.files import writing
from ..core.records import Result
from .plan import Job
from .scoring import brief_result, is_dead, result_of
from .store import RunStore
from .store_files import is_kept, seal

COMPLETE = "complete.json"


def store_for_again(jobs: Sequence[Job], store: RunStore) -> RunStore:
    """Return the store of the new results, with the cases that exist already: they are the same."""
    fresh = RunStore(store.folder / "again")
    for job in jobs:
        known, path = store.cases_file(job), fresh.cases_file(job)
        if is_kept(known) and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(seal(known), seal(path))
            shutil.copy2(known, path)
    return fresh


def replace_results(jobs: Sequence[Job], store: RunStore, fresh: RunStore) -> list[Result]:
    """Replace the results of these jobs with their new ones, which are complete.

    If a model answered nothing, keep every old result, forget that model's new one and return it.
    """
    dead = [result_of(job, fresh) for job in jobs if is_dead(brief_result(job, fresh))]
    for result in dead:
        shutil.rmtree(fresh.job_folder(result.job["id"]))
    if dead:
        return dead
    with writing(store.folder / "again" / COMPLETE) as stream:
        json.dump([job.id for job in jobs], stream)
    finish_replacing(store)
    return []


def finish_replacing(store: RunStore) -> None:
    """Move new results that are complete to their place, also if an earlier attempt was interrupted."""
    fresh = RunStore(store.folder / "again")
    marker = fresh.folder / COMPLETE
    if not marker.exists():
        return
    with store.lock("again", wait=True):
        for job_id in json.loads(marker.read_text()) if marker.exists() else ():
            place, new = store.job_folder(job_id), fresh.job_folder(job_id)
            with store.lock(job_id, wait=True):
                if new.exists():  # else moved already
                    shutil.rmtree(place, ignore_errors=True)
                    place.parent.mkdir(exist_ok=True)
                    new.rename(place)
        marker.unlink(missing_ok=True)
        if not fresh.job_ids():  # else another plan is not complete
            shutil.rmtree(fresh.folder, ignore_errors=True)
