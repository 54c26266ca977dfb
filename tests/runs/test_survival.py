"""Runs that survive: killed, shared, out of space, read-only; nothing is lost and nothing is asked twice."""

import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from stores import asked, files

from shoal.cli import main
from shoal.models.batching import batches, distinct
from shoal.runs.executors import run_here
from shoal.runs.plan import check_plan, read_plan
from shoal.runs.store import RunStore

FORK = multiprocessing.get_context("fork")  # a real process, without the second it takes to import numpy


def run_plan(plan: Path, store: Path, user: int | None = None, out: Path | None = None) -> None:
    """What `shoal run` does, as the body of a process."""
    sys.stdout = sys.stderr = Path(out or os.devnull).open("a")  # noqa: SIM115
    if user is not None:
        import rich.console  # noqa: F401 (now: another user may not be let into the folder of the libraries)

        os.setuid(user)
    main(["run", str(plan), "--into", str(store)])


def run_plan_up_to(moment: int, calls: Any, plan: Path, store: Path) -> None:
    """The same, counting calls, and killed at one of them: a moment by what was done, whatever the time it took."""

    def count(*_: object) -> None:
        calls.value += 1
        if calls.value == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(count)
    run_plan(plan, store)


def whole_batches(store: Path, sizes: list[int]) -> int:
    """How many batches are wholly kept."""
    lines = sum(path.read_bytes().count(b"\n") for path in store.glob("jobs/*/answers*.jsonl"))
    done = 0
    while done < len(sizes) and sum(sizes[: done + 1]) <= lines:
        done += 1
    return done


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SHOAL_TEST_LOG", str(tmp_path / "asked.log"))
    return tmp_path / "asked.log"


@pytest.fixture
def reference(plan: Path, tmp_path: Path, log: Path) -> dict[str, bytes]:
    """The files of a run that nobody disturbed."""
    (job,) = check_plan(read_plan(plan))
    assert [problem for _, problem in run_here([job], RunStore(tmp_path / "undisturbed"))] == [None]
    log.unlink()
    return files(tmp_path / "undisturbed")


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [40, pytest.param(200, marks=pytest.mark.nightly)])
def test_killed_at_random_moments_the_files_are_the_same_and_no_finished_batch_is_asked_again(
    wanted, plan, tmp_path, log, reference, monkeypatch
):
    monkeypatch.setenv("SHOAL_TEST_SLEEP", "0")
    (job,) = check_plan(read_plan(plan))
    cases = tmp_path / "undisturbed" / "cases" / f"{job.cases}.jsonl"
    from shoal.runs.store_files import load_built

    examples = distinct(load_built(cases).cases).examples
    order = [tuple(examples[index][0][:12] for index in batch) for batch in batches(examples)]
    sizes = [len(batch) for batch in order]
    calls = FORK.RawValue("q", 0)

    def run_up_to(moment: int, store: Path) -> int | None:
        calls.value = 0
        process = FORK.Process(target=run_plan_up_to, args=(moment, calls, plan, store))
        process.start()
        process.join()
        return process.exitcode

    assert run_up_to(0, tmp_path / "counted") == 0
    rng, whole = random.Random(0), calls.value
    kills = kills_while_asking = finished = 0
    while kills < wanted:
        store = tmp_path / f"store{finished}"
        while not RunStore(store).is_done(job.id) or not (store / "jobs" / job.id / "measures.json").exists():
            before, already = whole_batches(store, sizes), len(asked(log))
            ending = run_up_to(rng.randrange(1, whole), store)
            assert ending in (0, -signal.SIGKILL)
            # Checks of the model ask samples of their own, now and then as many as a batch has.
            again = [texts for _, texts in asked(log)[already:] if texts in order]
            assert again == (order[before:] if ending == 0 else order[before : before + len(again)])
            kills += ending != 0
            kills_while_asking += ending != 0 and 0 < whole_batches(store, sizes) < len(sizes)
        assert files(store) == reference
        finished += 1
    assert finished >= 1 and kills_while_asking >= wanted // 20


def test_a_read_only_store_is_a_clear_error(plan, tmp_path, log, reference):
    store, out = tmp_path / "store", tmp_path / "out.txt"
    store.mkdir()
    store.chmod(0o555)
    for folder in (tmp_path, *tmp_path.parents):
        if "pytest" in str(folder):
            folder.chmod(0o755)
    user = 65534 if os.getuid() == 0 else None  # nothing is read-only to root
    process = FORK.Process(target=run_plan, args=(plan, store, user, out))
    process.start()
    process.join()
    assert process.exitcode == 1
    assert "cannot be" in out.read_text() and "--into another folder" in out.read_text()
    assert "Traceback" not in out.read_text()


@pytest.mark.slow
def test_an_interrupt_stops_cleanly_and_the_next_run_goes_on(plan, tmp_path, log, reference, monkeypatch):
    monkeypatch.setenv("SHOAL_TEST_SLEEP", "0.2")  # time enough to be interrupted
    store, out = tmp_path / "store", tmp_path / "out.txt"
    # Not forked: unwinding in a copy of a process whose libraries had threads can end in SIGSEGV.
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from shoal.cli import main; main()"
    )
    with out.open("w") as written:
        command = [sys.executable, "-c", code, "run", str(plan), "--into", str(store)]
        process = subprocess.Popen(command, stdout=written, stderr=subprocess.STDOUT, cwd=plan.parent)
    while len(asked(log)) < 3:
        assert process.poll() is None, out.read_text()
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    assert "Progress saved" in out.read_text() and "Traceback" not in out.read_text()
    monkeypatch.delenv("SHOAL_TEST_SLEEP")
    (job,) = check_plan(read_plan(plan))
    assert [problem for _, problem in run_here([job], RunStore(store))] == [None]
    assert files(store) == reference


@pytest.mark.slow
def test_scoring_settings_score_again_and_ask_nothing(plan, tmp_path, log, reference):
    store = RunStore(tmp_path / "store")
    (job,) = check_plan(read_plan(plan))
    list(run_here([job], store))
    calls = len(asked(log))
    plan.write_text(plan.read_text() + "tolerance = 0.9\n")
    (other,) = check_plan(read_plan(plan))
    assert other.id == job.id
    list(run_here([other], store))
    assert len(asked(log)) == calls
    kept = json.loads((store.job_folder(job.id) / "measures.json").read_text())
    assert kept["scoring"]["tolerance"] == 0.9
    assert kept["measures"] != json.loads(reference[f"jobs/{job.id}/measures.json"])["measures"]
