"""How long a plan will take, told before it runs: a few real steps of each kind of training, and one real batch asked.

trainings   stages that are not kept yet, each once, however many jobs share it
time        their steps by what a step takes here, and the examples to ask by what one takes
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ..models.ask import batch_plan, questions_of
from ..protocols import find_protocol
from ..training.stage import Stage, silent
from .plan import Job
from .store import RunStore, ThrownAway
from .training import Training, checkpoint, threads, training_of

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
    steps: int
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
    seconds = sum(
        stage.steps * pace.of_step(job, training, stage) for job, training, stage in stages.values()
    )
    asked = 0
    for job, training in found:
        count, each = pace.of_asking(job, training)
        asked += count * len(training.marks)
        seconds += count * len(training.marks) * each
    return Estimate(len(left), len(stages), sum(stage.steps for *_, stage in stages.values()), asked, seconds)


class _Pace:
    """Seconds per step of each kind of training and per question, each measured once."""

    def __init__(self) -> None:
        self.steps: dict[Any, float] = {}
        self.asking: dict[Any, tuple[int, float]] = {}

    def of_step(self, job: Job, training: Training, stage: Stage) -> float:
        """A kind of training is a model with a method and a batch size."""
        how = stage.identity.get("how", {})
        kind = (job.model, job.protocol, stage.identity.get("method"), how.get("batch"), stage.frozen is None)
        if kind not in self.steps:
            self.steps[kind] = _time_steps(training, stage)
        return self.steps[kind]

    def of_asking(self, job: Job, training: Training) -> tuple[int, float]:
        """How many questions the job's cases hold, and what one takes."""
        kind = (job.model, job.cases)
        if kind not in self.asking:
            self.asking[kind] = _time_asking(job, training)
        return self.asking[kind]


def _time_steps(training: Training, stage: Stage) -> float:
    """Seconds per step: a few real ones, the first left out."""
    moments: list[float] = []

    def watch(step: str, done: int, total: int) -> None:
        moments.append(time.perf_counter())
        if len(moments) >= MEASURED_STEPS:
            raise _EnoughSeenError

    with threads(training.recipe.threads), suppress(_EnoughSeenError):
        stage.train(training.recipe.base(training.seed), training.seed, watch, lambda name: None)
    first = min(WARM_STEPS, len(moments) - 1)
    return (moments[-1] - moments[first]) / max(1, len(moments) - 1 - first) if len(moments) > 1 else 0.0


def _time_asking(job: Job, training: Training) -> tuple[int, float]:
    module = find_protocol(job.protocol)
    with ThrownAway() as store:
        built = store.built(job, silent)
    with threads(training.recipe.threads):
        model = training.recipe.base(training.seed)
        questions = questions_of(model, built.cases)
        plan = batch_plan(model, questions)
        middle = plan[len(plan) // 2 :][:MEASURED_BATCHES]
        started, asked = time.perf_counter(), 0
        for batch in middle:
            module.ask(job.settings, model, built, [questions.examples[position] for position in batch])
            asked += len(batch)
        return len(questions.ids), (time.perf_counter() - started) / max(1, asked)
