"""A worker that the kernel kills: the run goes on, its job is done again once, then it counts as failed."""

import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from shoal import RunStore, read_plan
from shoal.runs import executors as local
from shoal.runs.executors import run_jobs
from shoal.runs.plan import check_plan

MODELS = """
import os, signal, time
from pathlib import Path

HERE = Path(__file__).parent


def fine(texts):
    return ["positive" for text in texts]


def killed_once(texts):
    if not (HERE / "killed").exists():
        (HERE / "killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return ["positive" for text in texts]


def killed_always(texts):
    with (HERE / "deaths").open("a") as stream:
        stream.write("x")
    os.kill(os.getpid(), signal.SIGKILL)


def exits(texts):
    raise SystemExit(5)


def forks_and_is_killed(texts):
    if os.fork() == 0:
        time.sleep(30)
        os._exit(0)
    os.kill(os.getpid(), signal.SIGKILL)


def ignores_the_end(texts):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    (HERE / "asked").touch()
    time.sleep(60)

"""


@pytest.fixture
def plan_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    name = f"models_to_kill_{os.getpid()}"
    (tmp_path / f"{name}.py").write_text(MODELS)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.syspath_prepend(str(tmp_path))

    def plan(*names: str) -> Path:
        models = ", ".join(f'"python:{name}:{model}"' for model in names)
        path = tmp_path / "plan.toml"
        path.write_text(f'models = [{models}]\n[behaviour]\nsuite = "sentiment"\nlimit = 20\n')
        return path

    return plan


@pytest.mark.slow
def test_a_killed_worker_is_noticed_replaced_and_its_job_done_again_once(plan_of, tmp_path):
    jobs = check_plan(read_plan(plan_of("fine", "killed_once", "killed_always", "exits")))
    store = RunStore(tmp_path / "runs")
    ended = {job.model.rpartition(":")[2]: problem for job, problem in run_jobs(jobs, store, workers=2)}
    assert ended["fine"] is None and ended["killed_once"] is None
    assert ended["killed_always"] is not None and signal.SIGKILL.name in ended["killed_always"]
    assert "try: fewer --workers" in ended["killed_always"]
    assert (tmp_path / "deaths").read_text() == "xx"
    assert ended["exits"] is not None and "Traceback" not in ended["exits"]
    assert [store.is_done(job.id) for job in jobs] == [True, True, False, False]


@pytest.mark.slow
def test_a_killed_worker_is_noticed_although_its_child_keeps_the_pipe_open(plan_of, tmp_path):
    jobs = check_plan(read_plan(plan_of("forks_and_is_killed", "fine")))
    began = time.monotonic()
    ended = {
        job.model.rpartition(":")[2]: problem
        for job, problem in run_jobs(jobs, RunStore(tmp_path), workers=2)
    }
    assert ended["fine"] is None and signal.SIGKILL.name in (ended["forks_and_is_killed"] or "")
    assert time.monotonic() - began < 25  # the children live 30 seconds


@pytest.mark.slow
def test_a_run_that_is_interrupted_ends_although_a_model_ignores_sigterm(plan_of, tmp_path, monkeypatch):
    monkeypatch.setattr(local, "GRACE", 0.3)
    jobs = check_plan(read_plan(plan_of("fine", "ignores_the_end")))
    ended = run_jobs(jobs, RunStore(tmp_path / "runs"), workers=2)
    next(ended)
    while not (tmp_path / "asked").exists():
        time.sleep(0.05)
    workers = multiprocessing.active_children()
    ended.close()  # type: ignore[attr-defined]  # a generator, declared as an iterator
    assert not any(worker.is_alive() for worker in workers)
