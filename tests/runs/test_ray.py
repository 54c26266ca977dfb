"""Plans on a cluster of three nodes: the same bytes as here, whatever is lost on the way."""

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import studies
from stores import files

from shoal.core.errors import PlanError
from shoal.runs.executors import run_here
from shoal.runs.object_transfer import (
    Workplace,
    inputs_of,
    kept_for,
    put_in_place,
    tidy,
)
from shoal.runs.plan import check_plan, make_plan, read_plan
from shoal.runs.store import RunStore
from shoal.runs.tasks import run_task, tasks_of

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
SOURCE = ROOT / "src"
PATIENCE = 1800
"""Seconds: a cluster takes one minute on a quiet machine, and many on a busy one."""


scaling = studies.load(ROOT / "benchmarks" / "scaling.py")


def carry_out(task, store: RunStore, place: Workplace) -> str | None:
    """What the driver and a worker do, in one process."""
    paths = {name: store.folder / name for name in kept_for(task, store)}
    place.lay_out({name: path.read_bytes for name, path in paths.items()})
    place.refuse_other(task.job)
    problem = run_task(task, place.store)
    put_in_place(place.news(done=True), store)
    tidy(task, store)
    return problem


def test_a_task_done_elsewhere_leaves_the_same_files_as_one_done_here(plan_of, tmp_path, monkeypatch):
    monkeypatch.setenv("SHOAL_TEST_LOG", str(tmp_path / "asked.log"))
    jobs = check_plan(read_plan(plan_of("plain", "other")))
    here, there = RunStore(tmp_path / "here"), RunStore(tmp_path / "there")
    assert [problem for _, problem in run_here(jobs, here)] == [None, None]
    place = Workplace(tmp_path / "work")
    assert [carry_out(task, there, place) for task in tasks_of(jobs, there)] == [None, None]
    assert files(there.folder) == files(here.folder)


def test_what_a_worker_has_asked_so_far_is_sent_piece_by_piece_and_gone_on_from(plan, tmp_path, monkeypatch):
    monkeypatch.setenv("SHOAL_TEST_SLEEP", "0")
    (job,) = check_plan(read_plan(plan))
    here, there = RunStore(tmp_path / "here"), RunStore(tmp_path / "there")
    list(run_here([job], here))
    (task,) = tasks_of([job], there)
    partial = there.job_folder(job.id) / "answers.partial.jsonl"
    answers = (here.job_folder(job.id) / "answers.jsonl").read_bytes()
    lost = Workplace(tmp_path / "lost")
    lost.lay_out({})
    lost.store.built(job, lambda *_: None)
    working = lost.store.job_folder(job.id) / "answers.partial.jsonl"
    working.parent.mkdir(parents=True)
    for end in (500, 501, 9_000):
        working.write_bytes(answers[:end])
        put_in_place(lost.news(done=False), there)
        assert partial.read_bytes() == answers[:end]
    log = tmp_path / "asked.log"
    monkeypatch.setenv("SHOAL_TEST_LOG", str(log))
    assert carry_out(task, there, Workplace(tmp_path / "next")) is None
    assert files(there.folder) == files(here.folder)
    batches = [line for line in log.read_text().splitlines() if len(json.loads(line)[1]) == 4]
    kept = answers[:9_000].count(b"\n") // 4
    assert kept > 0 and len(batches) <= 40 - kept + 1, "what was sent is asked again"


def test_a_file_that_was_begun_again_is_not_taken_for_one_that_grew(tmp_path, plan):
    (job,) = check_plan(read_plan(plan))
    place, store = Workplace(tmp_path / "work"), RunStore(tmp_path / "store")
    folder = place.store.job_folder(job.id)
    folder.mkdir(parents=True)
    with place.store.partial(job.id, [1] * 9) as partial:
        partial._lines._stream.write(b'{"example_id": "a"}\n')
        put_in_place(place.news(done=False), store)
        partial.restart()
        partial._lines._stream.write(b'{"example_id": "b"}\n{"example_id": "c"}\n')
        put_in_place(place.news(done=False), store)
    sent = store.job_folder(job.id).joinpath("answers.partial.jsonl").read_text()
    assert sent == '{"example_id": "b"}\n{"example_id": "c"}\n'


def read_as(place: Path, name: Path) -> dict[str, bytes]:
    return {str(name): place.read_bytes()}


def test_files_named_from_the_plans_folder_travel_and_other_ones_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "answering.py").write_text(
        "def predict(texts):\n    return [[0.5, 0.5]] * len(texts)\n"
    )
    suite = '{"suite": "s", "task": "t", "label_names": ["no", "yes"]}\n'
    row = '{"case_id": "1", "functionality": "f", "capability": "c", "type": "MFT", "examples": ["a"]}\n'
    (tmp_path / "suite.jsonl").write_text(suite + row)
    monkeypatch.syspath_prepend(tmp_path)
    model = "python:mine.answering:predict?labels=no,yes"
    (job,) = check_plan(make_plan({"models": [model], "behaviour": {"suite": "suite.jsonl"}}))
    assert set(inputs_of(job)) == {Path("suite.jsonl"), Path("mine/answering.py")}
    place = Workplace(tmp_path / "work")
    sent = {str(path): (0, partial(read_as, tmp_path / path, path)) for path in inputs_of(job)}
    place.go_to(str(tmp_path), sent)
    assert Path.cwd() == tmp_path / "work" / "here" / str(tmp_path).strip("/")
    place.refuse_other(job)
    Path("suite.jsonl").write_text(suite + row.replace('"a"', '"b"'))
    with pytest.raises(PlanError, match="the cases here are not those"):
        place.refuse_other(job)


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ({"cors": 2}, 'unknown setting "cors"'),
        ({"gpus": 1.5}, "a whole number, or a fraction below 1"),
        ({"bias": {"cores": -1}}, r"\[resources\].bias: cores = -1"),
        (3, "must be a table"),
    ],
)
def test_resources_that_make_no_sense_are_refused(table, problem):
    with pytest.raises(PlanError, match=problem):
        make_plan({"models": ["tiny:sentiment"], "behaviour": {}, "resources": table})


def test_resources_are_of_all_jobs_or_of_a_protocols_and_change_no_job():
    table: dict[str, Any] = {"models": ["tiny:sentiment"], "behaviour": {"limit": 3}}
    plain = make_plan(table)
    table["resources"] = {"cores": 2, "memory": "1.5 GB", "behaviour": {"gpus": 0.25}}
    plan = make_plan(table)
    of = plan.resources["behaviour"]
    assert (of.cores, of.gpus, of.memory) == (2.0, 0.25, 1_500_000_000)
    assert (plan.resources["bias"].cores, plan.resources["bias"].gpus) == (2.0, 0.0)
    assert check_plan(plan) == check_plan(plain)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the processes of every node see, of those that come later too."""
    return {
        "PYTHONPATH": f"{SOURCE}{os.pathsep}{HERE}",
        **scaling.BUSY,
        "SHOAL_TEST_LOG": str(tmp_path_factory.mktemp("log") / "asked.log"),
        "SHOAL_TEST_SLEEP": "0.8",
    }


@pytest.fixture(autouse=True)
def seen(importable: None, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def cluster(environment: dict[str, str]) -> Iterator[Any]:
    """Three nodes of one core; their processes see the models of these tests."""
    pytest.importorskip("ray")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        nodes = scaling.Cluster()
        yield nodes
        nodes.shutdown()


def wait_until(what: Callable[[], object], process: subprocess.Popen[str], seconds: float = PATIENCE) -> None:
    limit = time.monotonic() + seconds
    while not what():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < limit, "nothing happens"
        time.sleep(0.02)


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param("learning", marks=pytest.mark.slow),  # about a minute; the others by `make cluster`
        pytest.param("prompted", marks=pytest.mark.cluster),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_on_three_nodes_a_plan_gives_the_bytes_of_one_process_though_a_node_and_the_driver_are_killed(
    plan, cluster, tmp_path, monkeypatch
):
    """Learning with shared stages and folds, checkpoints made and asked on the way, a model asked in words."""
    scaling.lay_out(plan, tmp_path)
    scaling.shoal("run", "plan.toml", "--into", "here", folder=tmp_path)
    on = ("--on", f"ray:{cluster.address}")
    process = scaling.start(tmp_path, "there", *on)
    wait_until(partial(has_begun, tmp_path / "there"), process)
    before = scaling.refuse_again(tmp_path / "there", {})
    cluster.lose(random.Random(0))
    cluster.add()
    if plan == "prompted":
        process.send_signal(signal.SIGKILL)
        process.communicate()
        monkeypatch.setenv("RAY_ADDRESS", cluster.address)  # as Ray has it for a job that was handed in
        process = scaling.start(tmp_path, "there", "--on", "ray")
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, out
    assert files(tmp_path / "there") == files(tmp_path / "here")
    scaling.refuse_again(tmp_path / "there", before)
    # Ray cleans up after a driver when it notices that it is gone.
    limit = time.monotonic() + 60
    while " 0 objects" not in cluster.objects() or scaling.left_behind():
        assert time.monotonic() < limit, (cluster.objects(), scaling.left_behind())
        time.sleep(1)


def has_begun(store: Path) -> bool:
    """Whether there is something to lose: a job that is done, answers, a training in its middle."""
    return any(
        path.stat().st_size
        for found in ("jobs/*/answers*.jsonl", "midway/*.safetensors")
        for path in store.glob(found)
    )


@pytest.mark.cluster
@pytest.mark.filterwarnings("ignore")
def test_one_large_job_is_asked_by_several_copies_and_goes_on_when_nodes_and_the_driver_are_lost(
    cluster, plan, tmp_path, environment, monkeypatch
):
    monkeypatch.setenv("SHOAL_TEST_SLEEP", "0")
    (job,) = check_plan(read_plan(plan))
    assert [problem for _, problem in run_here([job], RunStore(tmp_path / "here"))] == [None]
    monkeypatch.setenv("SHOAL_TEST_SLEEP", environment["SHOAL_TEST_SLEEP"])
    store, log = RunStore(tmp_path / "there"), Path(environment["SHOAL_TEST_LOG"])
    log.unlink()
    plan.rename(tmp_path / "plan.toml")
    on = ("--on", f"ray:{cluster.address}")
    process = scaling.start(tmp_path, "there", *on)
    wait_until(lambda: store.kept(job.id) >= 4, process)
    cluster.lose(random.Random(1))
    asked = log.read_text().count("\n")
    # Three blocks of batches; answers are kept in order, and the lost block may be the next one.
    wait_until(lambda: log.read_text().count("\n") >= asked + 12, process)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    cluster.add()
    kept = store.kept(job.id)
    assert 0 < kept < 160 and not store.is_done(job.id)
    process = scaling.start(tmp_path, "there", *on)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, out
    assert files(store.folder) == files(tmp_path / "here")
    workers = {line.partition(",")[0] for line in log.read_text().splitlines()}
    assert len(workers) >= 3, "one copy asked everything"
    assert not scaling.left_behind()


@pytest.mark.parametrize("address", ["nowhere", "HOST:", "host:port", "ray://host"])
def test_an_address_that_is_none_is_refused_with_those_that_are_ones(address):
    pytest.importorskip("ray")
    from shoal.runs.ray_cluster import execute

    with pytest.raises(PlanError, match="is not HOST:PORT") as caught:
        list(execute([], RunStore(HERE), lambda *_: None, address=address))
    assert "--on ray:HOST:6379" in str(caught.value) and "--on ray:ray" not in str(caught.value)
