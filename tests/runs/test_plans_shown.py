"""What `run`, `status` and `report` say where something is wrong with one of several models."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from shoal import RunStore, read_plan
from shoal.cli import main
from shoal.runs.executors import run_jobs
from shoal.runs.plan import check_plan

SUITE: list[dict[str, Any]] = [
    {"suite": "toy", "label_names": ["negative", "positive"]},
    *(
        {
            "functionality": f,
            "capability": "c",
            "type": "MFT",
            "case_id": n,
            "examples": [{"text": f"{f} {n}"}],
            "labels": y,
        }
        for f, y in (("good", 1), ("bad", 0))
        for n in range(4)
    ),
]
MODELS = """
def steady(texts):
    return ["positive" for _ in texts]
def dead(texts):
    raise RuntimeError("the licence has \\x1b[2Jexpired")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("suite.jsonl").write_text("".join(json.dumps(row) + "\n" for row in SUITE))
    answers = [
        {"case_id": f"{row['functionality']}/{row['case_id']}", "pred": "positive"} for row in SUITE[1:]
    ]
    Path("answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answers))
    Path("shown_models.py").write_text(MODELS)
    return tmp_path


def plan(*models: str) -> None:
    Path("plan.toml").write_text(
        f'models = {json.dumps(models)}\n[behaviour]\nsuite = "suite.jsonl"\nresamples = 10\n'
    )


def shoal(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "120"}).invoke(main, arguments)


def test_a_dead_model_says_what_it_died_of_and_steers_no_terminal(folder):
    plan("predictions:answers.jsonl", "python:shown_models:dead")
    done = shoal("run", "plan.toml")
    assert done.exit_code == 1
    assert "python:shown_models:dead answered none of 8 cases" in done.output
    assert "why: RuntimeError: the licence has \\x1b[2Jexpired" in done.output and "\x1b" not in done.output


def test_a_model_that_has_gone_does_not_hide_the_others(folder):
    plan("predictions:answers.jsonl", "python:shown_models:steady")
    assert shoal("run", "plan.toml").exit_code == 0
    Path("answers.jsonl").unlink()
    for verb in ("status", "report"):
        done = shoal(verb, "plan.toml")
        assert done.exit_code == 1
        assert (
            "1 of the plan's models cannot be found" in done.output
            and "answers.jsonl: no such file" in done.output
        )
    told = json.loads(shoal("status", "plan.toml", "--json").stdout)
    assert [job["state"] for job in told["jobs"]] == ["done"] and [*told["not found"]] == [
        "predictions:answers.jsonl"
    ]
    assert "python:shown_models:steady" in Path("report.html").read_text()
    assert "no such file" in shoal("run", "plan.toml").output  # nothing is run where something is missing
    plan("predictions:answers.jsonl")
    assert "plan.toml: answers.jsonl: no such file" in shoal("status", "plan.toml").output


def test_nothing_is_written_beside_a_page_that_goes_into_a_device(folder):
    plan("predictions:answers.jsonl")
    assert shoal("run", "plan.toml").exit_code == 0
    done = shoal("report", "plan.toml", "--out", "/dev/null")
    assert done.exit_code == 0
    assert not Path("/dev/null.json").exists()


def test_jobs_that_were_done_are_counted_apart(folder):
    """They take no time, and the time left of the others would follow from theirs."""

    def told(workers: int) -> list[tuple[str, int, int]]:
        steps: list[tuple[str, int, int]] = []
        list(run_jobs(jobs, store, lambda *step: steps.append(step), workers=workers))
        return [step for step in steps if step[0].endswith("jobs")]

    Path("more_answers.jsonl").write_text(Path("answers.jsonl").read_text())
    plan("python:shown_models:steady", "predictions:answers.jsonl", "predictions:more_answers.jsonl")
    jobs, store = check_plan(read_plan(Path("plan.toml"))), RunStore(Path("runs"))
    list(run_jobs(jobs[:1], store))
    assert told(1) == [("finished jobs", 1, 1), ("jobs", 1, 2), ("jobs", 2, 2)]
    assert told(2) == [("finished jobs", number, 3) for number in (1, 2, 3)]
