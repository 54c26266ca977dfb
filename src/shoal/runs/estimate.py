"""Estimate the cost of a plan that queries endpoints, and show its prompts, before it runs. No request is sent."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..models.batching import distinct
from ..models.interface import Prompted, RemoteModel
from ..models.prompted.spending import spec_price
from ..models.selfcheck import PAID_QUESTIONS
from ..training.stage import silent
from .execute import load_for
from .plan import Job
from .store import MemoryStore


@dataclass(frozen=True, slots=True)
class Bill:
    """An upper estimate of the cost of querying endpoints."""

    requests: int
    read: int
    written: int
    cost: float | None
    """None if a model has no price."""


def bill(jobs: Sequence[Job]) -> Bill | None:
    """Return the cost of the jobs; None if none of them queries an endpoint."""
    rows: list[tuple[int, int, int, float | None]] = []
    with MemoryStore() as for_now:
        models = {job.model: load_for(job, for_now) for job in {job.model: job for job in jobs}.values()}
        for job in jobs:
            model = models[job.model]
            if isinstance(model, RemoteModel):
                examples = distinct(for_now.built(job, silent).cases).examples
                again = min(model.again, len(examples))
                asked = [*examples, *examples[:again], *examples[:PAID_QUESTIONS]]
                worst = [model.worst(example) for example in asked]
                read, written = sum(read for read, _ in worst), sum(written for _, written in worst)
                price = spec_price(job.model)
                rows.append((len(asked), read, written, price.cost(read, written) if price else None))
    if not rows:
        return None
    known = [cost for *_, cost in rows if cost is not None]
    requests, reads, writes = (sum(int(row[place] or 0) for row in rows) for place in range(3))
    return Bill(requests, reads, writes, sum(known) if len(known) == len(rows) else None)


def prompts_shown(job: Job, count: int) -> list[str]:
    """Return the first prompts of a job; none if its model is not prompted."""
    with MemoryStore() as for_now:
        model = load_for(job, for_now)
        if not isinstance(model, Prompted):
            return []
        return [
            model.shown(example) for example in distinct(for_now.built(job, silent).cases).examples[:count]
        ]
