"""Trainings killed in the middle of a stage go on from there: the same files, few steps twice, nothing left behind."""

import multiprocessing
import os
import random
import signal
from pathlib import Path
from typing import Any

import pytest
from stores import files

pytest.importorskip("transformers", reason="needs shoal[hf]")

from shoal.runs.executors import run_here, run_jobs
from shoal.runs.plan import check_plan, make_plan
from shoal.runs.store import RunStore
from shoal.training import checkpointing

FORK = multiprocessing.get_context("fork")
LEARNING = {
    "models": ["tiny:sentiment"],
    "resources": {"checkpoints": 0.00001},
    "learning": {
        "suite": "sentiment",
        "limit": 60,
        "iid": "sentiment",
        "iid_limit": 60,
        "hold_out": ["none"],
        "train": {"on": ["iid", "iid>suite"], "method": ["vanilla", "group-dro"], "epochs": 0.5},
        "resamples": 50,
    },
}
"""A stage that several jobs share, and one of each job's own."""
MARKED: dict[str, Any] = {
    "models": ["tiny:sentiment"],
    "resources": {"checkpoints": 0.00001},
    "cood": {
        "per_label": 30,
        "test_per_label": 12,
        "validation_per_label": 8,
        "train": {"epochs": 3, "batch": 8},
    },
}
"""A stage that is asked on its way."""


@pytest.fixture(params=["learning", "marked"])
def table(request):
    return LEARNING if request.param == "learning" else MARKED


def run_up_to(steps: int, trained: Any, table: dict[str, Any], store: Path) -> None:
    """The body of a process that is killed after so many steps of training."""
    checkpointing.SHARE = 1e9  # at every step, however long that takes
    begun = trained.value

    def progress(what: str, done: int, total: int) -> None:
        if what == "training":
            trained.value += 1
            if trained.value - begun == steps:
                os.kill(os.getpid(), signal.SIGKILL)

    plan = make_plan(table)
    list(run_jobs(check_plan(plan), RunStore(store), progress, on="here", resources=plan.resources))


@pytest.mark.slow
def test_killed_again_and_again_a_plan_ends_with_the_same_files(table, tmp_path):
    counted: list[int] = []
    plan = make_plan(table)
    undisturbed = RunStore(tmp_path / "here")
    for _, problem in run_here(
        check_plan(plan), undisturbed, lambda what, done, total: counted.append(what == "training")
    ):
        assert problem is None
    trained, rng, kills = FORK.Value("i", 0), random.Random(0), 0
    while kills < 60:
        process = FORK.Process(
            target=run_up_to, args=(rng.randrange(4, 20), trained, table, tmp_path / "there")
        )
        process.start()
        process.join()
        if process.exitcode == 0:
            break
        assert process.exitcode == -signal.SIGKILL
        kills += 1
    assert kills >= 3
    assert files(tmp_path / "there") == files(tmp_path / "here")
    assert not list((tmp_path / "there" / "midway").iterdir()), "left behind"
    assert trained.value <= sum(counted) + kills, (
        "more than the step at which it was killed was trained again"
    )
