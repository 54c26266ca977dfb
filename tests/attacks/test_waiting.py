"""A process that finds its work taken waits, and says for whom: which process, where, since when, at what."""

import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from shoal import RunStore, read_plan
from shoal.cli import main
from shoal.render import progress
from shoal.runs import store as stores
from shoal.runs import tasks
from shoal.runs.executors import run_jobs
from shoal.runs.plan import Job, check_plan

FORK = multiprocessing.get_context("fork")


@pytest.fixture(autouse=True)
def _little_patience(monkeypatch):
    for module in (stores, tasks):
        monkeypatch.setattr(module, "PATIENCE", 0.3)


@pytest.fixture
def job(tmp_path) -> Job:
    plan = tmp_path / "plan.toml"
    plan.write_text('models = ["predictions:example"]\n[behaviour]\nsuite = "sentiment"\n')
    (made,) = check_plan(read_plan(plan))
    return made


def hold(folder: Path, name: str, taken: Any, over: Any) -> None:
    with RunStore(folder).lock(name, wait=True):
        taken.set()
        over.wait(60)


@contextmanager
def held(folder: Path, name: str) -> Iterator[tuple[int, Any]]:
    """A process that has the lock of this name: its id, and what lets it go."""
    taken, over = FORK.Event(), FORK.Event()
    process = FORK.Process(target=hold, args=(folder, name, taken, over))
    process.start()
    assert taken.wait(60) and process.pid
    try:
        yield process.pid, over
    finally:
        over.set()
        process.join()


@pytest.mark.parametrize("what", ["job", "cases"])
def test_who_waits_says_at_what_the_other_process_works(job, tmp_path, what):
    store = RunStore(tmp_path / "runs")
    name = job.id if what == "job" else job.cases
    words = []

    def tell(step: str, done: int, total: int) -> None:
        if not total:
            words.append(step)
            over.set()

    with held(store.folder, name) as (_, over):
        assert [problem for _, problem in run_jobs([job], store, tell)] == [None]
    (said,) = words
    assert said == f"waiting for another process, which works on {name}"


def test_status_does_not_wait(job, tmp_path, capsys):
    plan = tmp_path / "plan.toml"
    with held(tmp_path / "runs", job.id):
        main(["status", str(plan), "--into", str(tmp_path / "runs")], standalone_mode=False)
    assert "1 to do" in capsys.readouterr().out


def test_a_minute_without_a_word_is_said_once_with_what_helps(tmp_path, monkeypatch, capsys):
    (tmp_path / "dreamers.py").write_text(
        "import time\n\ndef dreams(texts):\n    time.sleep(0.8)\n    return ['positive' for _ in texts]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(progress, "SILENCE", 0.3)
    command = ["try", "behaviour", "python:dreamers:dreams", "--set", "suite=sentiment", "--set", "limit=2"]
    main(command, standalone_mode=False)
    output = capsys.readouterr()
    assert (
        "No progress for" in output.err
        and "?timeout=SECONDS" in output.err
        and "No progress" not in output.out
    )
