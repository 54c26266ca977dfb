"""How long a plan will take, told before it runs: a few real steps of each kind of training, and one real batch asked.

trainings   stages that are not kept yet, each once, however many jobs share it
tries       of searches that are not made yet, each search once, however many jobs go by what it finds
time        their steps by what a step takes here, and the examples to ask by what one takes
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ..models.batching import batch_plan, distinct, make_questions
from ..models.interface import Prompted, RemoteModel
from ..models.prompted.spending import spec_price
from ..models.selfcheck import PAID_QUESTIONS
from ..protocols import find_protocol
from ..protocols.base import Built
from ..training.stage import Stage, silent
from .execute import model_of
from .plan import Job
from .store import RunStore, ThrownAway
from .training import Training, checkpoint, is_found, search_name, threads, training_of

MEASURED_STEPS = 12
WARM_STEPS = 2
MEASURED_BATCHES = 3


class _EnoughSeenError(Exception):
    """Stops a training that is only timed."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is left to do of a plan, and how long that takes in one process on this machine."""

    jobs: int
    trainings: int
    tries: int
    """Trainings more, to find settings."""
    steps: int
    """Of all trainings, those of tries too."""
    questions: int
    seconds: float


def estimate(jobs: Sequence[Job], store: RunStore | None = None) -> Estimate | None:
    """For the jobs that are not done; None where none of them trains."""
    left = [job for job in jobs if store is None or not store.is_done(job.id)]
    found = [(job, training) for job in left if (training := training_of(job)) is not None]
    if not found:
        return None
    stages: dict[str, tuple[Job, Training, Stage]] = {}
    for job, training in found:
        for name, stage in zip(training.names, training.recipe.stages, strict=True):
            if store is None or not checkpoint(store, name).exists():
                stages.setdefault(name, (job, training, stage))
    pace = _Pace()
    seconds, tries, steps = 0.0, 0, 0
    searched: set[str] = set()
    for job, training, stage in stages.values():
        new = [search for search in stage.searches if search_name(search) not in searched]
        new = [search for search in new if store is None or not is_found(store, search)]
        searched |= {search_name(search) for search in new}
        tries += sum(len(search.tries) for search in new)
        count = stage.steps + sum(search.steps for search in new)
        steps += count
        seconds += count * pace.of_step(job, training, stage)
    asked = 0
    for job, training in found:
        count, each = pace.of_asking(job, training)
        asked += count * len(training.marks)
        seconds += count * len(training.marks) * each
    return Estimate(len(left), len(stages), tries, steps, asked, seconds)


@dataclass(frozen=True, slots=True)
class Bill:
    """What the models that are asked over a network may cost; an estimate, rather too high."""

    requests: int
    read: int
    written: int
    cost: float | None
    """None where a model names no price."""


def bill(jobs: Sequence[Job], store: RunStore | None = None) -> Bill | None:
    """For the jobs that are not done; None where none of them asks over a network. Nothing is sent."""
    rows: list[tuple[int, int, int, float | None]] = []
    with ThrownAway() as for_now:
        models = {job.model: model_of(job, for_now) for job in {job.model: job for job in jobs}.values()}
        for job in jobs:
            model = None if store is not None and store.is_done(job.id) else models[job.model]
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
    """The first prompts of a job, as they would be sent; none of a model that is not asked in words."""
    with ThrownAway() as for_now:
        model = model_of(job, for_now)
        if not isinstance(model, Prompted):
            return []
        return [
            model.shown(example) for example in distinct(for_now.built(job, silent).cases).examples[:count]
        ]


class _Pace:
    """Seconds per step of each kind of training and per question, each measured once."""

    def __init__(self) -> None:
        self.steps: dict[Any, float] = {}
        self.asking: dict[Any, float] = {}
        self.questions: dict[str, int] = {}

    def of_step(self, job: Job, training: Training, stage: Stage) -> float:
        """A kind of training is a model with a method and a batch size."""
        how = stage.identity.get("how", {})
        kind = (job.model, job.protocol, stage.identity.get("method"), how.get("batch"), stage.frozen is None)
        if kind not in self.steps:
            self.steps[kind] = _time_steps(training, stage)
        return self.steps[kind]

    def of_asking(self, job: Job, training: Training) -> tuple[int, float]:
        """How many questions the job's cases hold, and what one takes."""
        kind = (job.model, job.protocol)  # a few of these cases take as long as a few of others
        if job.cases not in self.questions or kind not in self.asking:
            with ThrownAway() as store:
                built = store.built(job, silent)
            self.questions[job.cases] = len(distinct(built.cases).ids)
            if kind not in self.asking:
                self.asking[kind] = _time_asking(job, training, built)
        return self.questions[job.cases], self.asking[kind]


def _time_steps(training: Training, stage: Stage) -> float:
    """Seconds per step: a few real ones, the first left out."""
    moments: list[float] = []

    def watch(step: str, done: int, total: int) -> None:
        moments.append(time.perf_counter())
        if len(moments) >= MEASURED_STEPS:
            raise _EnoughSeenError

    with threads(training.recipe.threads), suppress(_EnoughSeenError):
        model = training.recipe.base(training.seed)
        stage.prepare(model, training.seed)
        stage.train(model, training.seed, watch, lambda name: None)
    first = min(WARM_STEPS, len(moments) - 1)
    return (moments[-1] - moments[first]) / max(1, len(moments) - 1 - first) if len(moments) > 1 else 0.0


def _time_asking(job: Job, training: Training, built: Built) -> float:
    """Seconds per question: a few real batches."""
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
