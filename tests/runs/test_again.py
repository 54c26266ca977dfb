"""`run` ends with results and the next command; `--again` queries finished jobs anew and loses nothing."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from toy_suite import rows_of, write_suite

from shoal import RunStore, read_plan
from shoal.cli import main
from shoal.runs.again import COMPLETE, store_for_again
from shoal.runs.executors import run_here

MODEL = """
from pathlib import Path

def {name}(texts):
    said = Path("answer.txt").read_text()
    if said == "raise" or said == "{name} raises":
        raise RuntimeError("the model is ill")
    return [said if "raises" not in said else "positive"] * len(texts)
"""


def shoal(*arguments: object, code: int = 0) -> str:
    done = CliRunner().invoke(main, [str(argument) for argument in arguments], env={"COLUMNS": "200"})
    assert done.exit_code == code, done.output
    assert not done.exception or isinstance(done.exception, SystemExit), done.exception
    return done.output


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A plan with two models that answer what a file says at the moment of the query."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    write_suite(tmp_path / "suite.jsonl", rows_of({"good": 3}))
    for name in ("first", "second"):
        Path(f"moody_{name}.py").write_text(MODEL.format(name=name))
    specs = [f"python:moody_{name}:{name}?labels=negative,positive" for name in ("first", "second")]
    for plan, models in (("one.toml", specs[:1]), ("two.toml", specs)):
        Path(plan).write_text(f"models = {json.dumps(models)}\n[behaviour]\nsuite = 'suite.jsonl'\n")
    answers("negative")
    return tmp_path


def answers(word: str) -> None:
    Path("answer.txt").write_text(word)


def rate(plan: str = "one.toml") -> list[float]:
    found = json.loads(shoal("status", plan, "--json"))["measures"]
    return [row["value"] for row in found if row["name"] == "suite score"]


def test_a_plan_of_one_job_ends_with_its_result_and_the_next_command(folder):
    output = shoal("run", "one.toml")
    assert "0 of 3 cases pass" in output
    job = read_plan(Path("one.toml")).jobs()[0].id
    short = job.rpartition("-")[2]
    assert output.endswith(f"Next: shoal show {short} --failing\n      shoal report one.toml\n")
    assert "0 of 3 cases pass" in shoal("show", short)


def test_a_finished_plan_says_when_and_how_to_query_again(folder):
    shoal("run", "two.toml", "--into", "kept")
    output = shoal("run", "two.toml", "--into", "kept")
    assert "Finished on 20" in output and "shoal run two.toml --again" in output


def test_again_replaces_the_results(folder):
    shoal("run", "one.toml")
    answers("positive")
    assert "3 of 3 cases pass" in shoal("run", "one.toml", "--again")
    assert rate() == [1.0]
    assert not Path("runs/again").exists()


def test_old_results_stay_until_all_new_ones_are_complete(folder):
    shoal("run", "two.toml")
    answers("second raises")
    refused = shoal("run", "two.toml", "--again", code=1)
    assert "answered none of 3 cases" in refused
    assert rate("two.toml") == [0.0, 0.0]
    answers("positive")
    shoal("run", "two.toml", "--again")
    assert rate("two.toml") == [1.0, 1.0]


def test_an_interrupted_move_is_finished_by_the_next_run(folder):
    shoal("run", "two.toml")
    jobs, store = read_plan(Path("two.toml")).jobs(), RunStore(Path("runs"))
    answers("positive")
    list(run_here(jobs, fresh := store_for_again(jobs, store)))
    (fresh.folder / COMPLETE).write_text(json.dumps([job.id for job in jobs]))
    shutil.rmtree(store.job_folder(jobs[0].id))  # killed between removing and renaming
    assert "2 jobs: 2 done" in shoal("run", "two.toml")
    assert rate("two.toml") == [1.0, 1.0] and not fresh.folder.exists()
