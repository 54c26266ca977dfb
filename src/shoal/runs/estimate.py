"""Estimate the time and the cost of a plan before it runs.

trainings   stages; a stage that several jobs share counts once
tries       trainings of searches for settings; a shared search counts once
seconds     the number of steps and of questions, times the duration of a few that are run here
"""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ..models import parse_spec
from ..models.batching import batch_plan, distinct, make_questions
from ..models.interface import Prompted, RemoteModel
from ..models.prompted.spending import spec_price
from ..models.selfcheck import PAID_QUESTIONS
from ..protocols import find_protocol
from ..protocols.base import Built
from ..training.stage import Progress, Stage, silent
from .plan import Job, short_hash
from .scoring import load_for
from .store import MemoryStore
from .training import Training, search_name, threads, training_of

TRIALS = 4
"""Requests by which an endpoint's mode is chosen."""
MEASURED_STEPS = 12
WARM_STEPS = 2
ENOUGH = 1.0
"""Seconds after which one timed step is enough."""
MEASURED_BATCHES = 3


class _EnoughSeenError(Exception):
    """Stops a training that is only timed."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The trainings of a plan, and its duration in one process on this machine."""

    jobs: int
    trainings: int
    tries: int
    """Additional trainings that search for settings."""
    steps: int
    """Steps of all trainings, searches included."""
    questions: int
    seconds: float


def estimate(jobs: Sequence[Job], progress: Progress = silent) -> Estimate | None:
    """Return the estimate for the jobs; None if none of them trains."""
    trainings = [(job, training) for job in jobs if (training := training_of(job)) is not None]
    if not trainings:
        return None
    stages: dict[str, tuple[Job, Training, Stage]] = {}
    for job, training in trainings:
        for name, stage in zip(training.names, training.recipe.stages, strict=True):
            stages.setdefault(name, (job, training, stage))
    step_times: dict[Any, float] = {}
    question_times: dict[Any, float] = {}
    counts: dict[str, int] = {}
    seconds, tries, steps, questions = 0.0, 0, 0, 0
    searched: set[str] = set()
    for number, (job, training, stage) in enumerate(stages.values(), start=1):
        progress("timing trainings", number, len(stages))
        new = [search for search in stage.searches if search_name(search) not in searched]
        searched |= {search_name(search) for search in new}
        tries += sum(len(search.tries) for search in new)
        count = stage.count_steps() + sum(search.count_steps() for search in new)
        steps += count
        how = stage.identity.get("how", {})
        kind = (job.model, job.protocol, stage.identity.get("method"), how.get("batch"), stage.frozen is None)
        if kind not in step_times:
            step_times[kind] = _time_steps(training, stage)
        seconds += count * step_times[kind]
    for number, (job, training) in enumerate(trainings, start=1):
        progress("timing questions", number, len(trainings))
        protocol = (job.model, job.protocol)  # cases of one protocol take about the same time
        if job.cases not in counts or protocol not in question_times:
            with MemoryStore() as store:
                built = store.built(job, progress)
            counts[job.cases] = len(distinct(built.cases).ids)
            if protocol not in question_times:
                question_times[protocol] = _time_asking(job, training, built)
        questions += counts[job.cases] * len(training.marks)
        seconds += counts[job.cases] * len(training.marks) * question_times[protocol]
    return Estimate(len(jobs), len(stages), tries, steps, questions, seconds)


@dataclass(frozen=True, slots=True)
class Bill:
    """An upper estimate of the cost of querying endpoints."""

    requests: int
    read: int
    written: int
    costs: Mapping[str, float]
    """By currency; empty if a model has no price."""


def bill(jobs: Sequence[Job], progress: Progress = silent) -> Bill | None:
    """Return the cost of the jobs, self-checks included; None if none of them queries an endpoint."""
    worst: list[tuple[int, int]] = []
    costs: dict[str, float] = {}
    unpriced = False
    with MemoryStore() as for_now:
        models: dict[str, Any] = {}
        for number, job in enumerate(jobs, start=1):
            # By fingerprint: prompts that teach differ from job to job.
            name = short_hash(job.identity["model"])
            model = models[name] = models.get(name) or load_for(job)
            if isinstance(model, RemoteModel):
                progress("counting tokens", number, len(jobs))
                examples = distinct(for_now.built(job, progress).cases).examples
                asked = [*examples, *examples[: model.again], *examples[:PAID_QUESTIONS], *examples[:TRIALS]]
                tokens = [model.worst(example) for example in asked]
                price = spec_price(parse_spec(job.model))
                read, written = sum(read for read, _ in tokens), sum(written for _, written in tokens)
                unpriced |= price is None
                if price:
                    costs[price.currency] = costs.get(price.currency, 0.0) + price.cost(read, written)
                worst += tokens
    if not worst:
        return None
    read, written = sum(read for read, _ in worst), sum(written for _, written in worst)
    return Bill(len(worst), read, written, {} if unpriced else costs)


def prompts_shown(job: Job, count: int) -> list[str]:
    """Return the first prompts of a job; none if its model is not prompted."""
    with MemoryStore() as for_now:
        model = load_for(job)
        if not isinstance(model, Prompted):
            return []
        examples = distinct(for_now.built(job, silent).cases).examples
    return [model.shown(example) for example in examples[:count]]


def _time_steps(training: Training, stage: Stage) -> float:
    """Return the seconds per step, from a few steps without the first ones."""
    moments: list[float] = []

    def watch(step: str, done: int, total: int) -> None:
        moments.append(time.perf_counter())
        is_slow = len(moments) > WARM_STEPS + 1 and moments[-1] - moments[0] > ENOUGH
        if is_slow or len(moments) >= MEASURED_STEPS:
            raise _EnoughSeenError

    with threads(training.recipe.threads), suppress(_EnoughSeenError):
        model = training.recipe.base(training.seed)
        stage.prepare(model, training.seed)
        stage.train(model, training.seed, watch, lambda name: None)
    first = min(WARM_STEPS, len(moments) - 1)
    return (moments[-1] - moments[first]) / max(1, len(moments) - 1 - first) if len(moments) > 1 else 0.0


def _time_asking(job: Job, training: Training, built: Built) -> float:
    """Return the seconds per question, from a few batches."""
    module = find_protocol(job.protocol)
    with threads(training.recipe.threads):
        model = training.recipe.base(training.seed)
        questions = make_questions(model, built.cases)
        plan = batch_plan(model, questions)
        middle = plan[len(plan) // 2 :][:MEASURED_BATCHES]
        started, asked = time.perf_counter(), 0
        for batch in middle:
            module.ask(job.settings, model, built, [questions.examples[position] for position in batch])
            asked += len(batch)
        return (time.perf_counter() - started) / max(1, asked)
