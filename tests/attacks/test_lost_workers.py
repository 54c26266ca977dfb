"""A worker that the kernel kills: the run goes on, its job is done again once, then it counts as failed."""

import os
import signal
from pathlib import Path

import pytest

from shoal import RunStore, read_plan
from shoal.runs.executors import run_jobs
from shoal.runs.plan import check_plan

MODELS = """
import os, signal
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
"""


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    name = f"models_to_kill_{os.getpid()}"
    (tmp_path / f"{name}.py").write_text(MODELS)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.syspath_prepend(str(tmp_path))
    plan = tmp_path / "plan.toml"
    models = ", ".join(
        f'"python:{name}:{model}"' for model in ("fine", "killed_once", "killed_always", "exits")
    )
    plan.write_text(f'models = [{models}]\n[behaviour]\nsuite = "sentiment"\nlimit = 20\n')
    return check_plan(read_plan(plan))


@pytest.mark.slow
def test_a_killed_worker_is_noticed_replaced_and_its_job_done_again_once(jobs, tmp_path):
    store = RunStore(tmp_path / "runs")
    ended = {job.model.rpartition(":")[2]: problem for job, problem in run_jobs(jobs, store, workers=2)}
    assert ended["fine"] is None and ended["killed_once"] is None
    assert ended["killed_always"] is not None and signal.SIGKILL.name in ended["killed_always"]
    assert "try: fewer --workers" in ended["killed_always"]
    assert (tmp_path / "deaths").read_text() == "xx"
    assert ended["exits"] is not None and "Traceback" not in ended["exits"]
    assert [store.is_done(job.id) for job in jobs] == [True, True, False, False]
