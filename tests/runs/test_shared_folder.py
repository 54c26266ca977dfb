"""One folder for many machines: a SLURM array."""

import errno
import fcntl
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from stores import asked, files

from shoal.runs.executors import run_here
from shoal.runs.plan import check_plan, read_plan
from shoal.runs.store import RunStore

pytestmark = pytest.mark.slow
FORK = multiprocessing.get_context("fork")
ROOT = Path(__file__).parent.parent.parent
NAMES = ("slow_a", "slow_b", "slow_c", "slow_d", "slow_e")


def each_once_by_several(log: Path) -> None:
    calls = asked(log)
    counts = {texts: sum(texts == other for _, other in calls) for _, texts in calls}
    assert set(counts.values()) == {len(NAMES)}, "a batch was asked twice, or not at all"
    assert len({pid for pid, _ in calls}) >= 2, "one process did everything"


@pytest.fixture
def undisturbed(plan_of, tmp_path, monkeypatch) -> tuple[Path, dict[str, bytes]]:
    monkeypatch.setenv("SHOAL_TEST_LOG", str(tmp_path / "before.log"))
    plan = plan_of(*NAMES)
    list(run_here(check_plan(read_plan(plan)), RunStore(tmp_path / "here")))
    monkeypatch.setenv("SHOAL_TEST_LOG", str(tmp_path / "asked.log"))
    (tmp_path / "meeting").mkdir()
    monkeypatch.setenv("SHOAL_TEST_MEETING", str(tmp_path / "meeting"))
    return plan, files(tmp_path / "here")


def test_the_elements_of_a_slurm_array_do_a_plan_together(undisturbed, tmp_path):
    plan, expected = undisturbed
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "shoal"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -c "from shoal.cli import main; main()" "$@"\n')
    command.chmod(0o755)
    elements = [
        subprocess.Popen(
            ["bash", str(ROOT / "examples" / "slurm-array.sh")],
            env={
                **os.environ,
                "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
                "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{os.environ['PYTHONPATH']}",
                "SLURM_ARRAY_TASK_ID": str(number),
                "SLURM_CPUS_PER_TASK": "1",
                "PLAN": str(plan),
                "STORE": str(tmp_path / "shared"),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for number in range(3)
    ]
    for number, element in enumerate(elements):
        out, _ = element.communicate(timeout=120)
        assert element.returncode == 0 and f"element {number} on" in out, out
    assert files(tmp_path / "shared") == expected
    each_once_by_several(tmp_path / "asked.log")


@pytest.fixture
def no_locks(monkeypatch) -> None:
    """A file system that answers every wish for a lock with an error, as NFS without its lock service does."""

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)


def run(plan: Path, store: Path) -> None:
    list(run_here(check_plan(read_plan(plan)), RunStore(store)))


def test_without_locks_what_a_killed_process_held_is_taken_over_on_the_same_machine(
    plan, tmp_path, no_locks, monkeypatch
):
    log = tmp_path / "asked.log"
    monkeypatch.setenv("SHOAL_TEST_LOG", str(log))
    monkeypatch.setenv("SHOAL_TEST_SLEEP", "0.2")
    worker = FORK.Process(target=run, args=(plan, tmp_path / "shared"))
    worker.start()
    while not log.exists() or len(asked(log)) < 2:
        time.sleep(0.01)
    assert worker.pid
    os.kill(worker.pid, signal.SIGKILL)
    worker.join()
    assert list((tmp_path / "shared" / "locks").glob("*.held"))
    monkeypatch.setenv("SHOAL_TEST_SLEEP", "0")
    (job,) = check_plan(read_plan(plan))
    assert [problem for _, problem in run_here([job], RunStore(tmp_path / "shared"))] == [None]
