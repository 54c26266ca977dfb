"""Models over a network, through the one path: kept as they come, resumed, asked again, paid for once."""

import functools
import json
import os
import re
import subprocess
import sys
import traceback
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("aiohttp", reason="needs shoal[llm]")

from fake_server import by_words, error, serving

import shoal
from shoal import RunStore, ShoalError, audit, read_plan
from shoal.cli import main
from shoal.models.prompted.spending import Spending, read_spending
from shoal.runs.executors import run_here
from shoal.runs.plan import make_plan

SOURCE = Path(shoal.__file__).parent.parent
PLAN = """
models = ["openai:fake?url={url}&prompt=sentiment-plain{more}"]
[behaviour]
suite = "sentiment"
limit = 40
"""


@pytest.fixture
def server():
    with serving() as running:
        yield running


def plan_of(folder, server, more=""):
    (folder / "plan.toml").write_text(PLAN.format(url=server.url, more=more))
    return folder / "plan.toml"


def run(plan, store, **how):
    jobs = read_plan(plan).jobs()
    return jobs, [problem for _, problem in run_here(jobs, store, **how)]


def asked(server):
    return [body["messages"][-1]["content"] for body in server.bodies]


@pytest.mark.slow
def test_answers_are_in_the_order_of_the_examples_whatever_the_order_of_arrival(server, tmp_path):
    plan = plan_of(tmp_path, server, "&again=5")
    (job,), problems = run(plan, RunStore(tmp_path / "one"))
    assert problems == [None]
    run(plan_of(tmp_path, server, "&again=5&concurrency=1"), RunStore(tmp_path / "two"))
    one, two = ((tmp_path / name / "jobs" / job.id / "answers.jsonl").read_bytes() for name in ("one", "two"))
    assert one == two and one.count(b'"taken"') == 1
    rows = [json.loads(line) for line in one.splitlines()]
    assert all(row["data"]["said"] and row["data"]["mode"] == "first token" for row in rows)
    checks = {check["name"]: check for check in RunStore(tmp_path / "one").read_checks(job.id)}
    assert checks["same answer when asked again"]["detail"] == "0 of 5 changed (0.0% to 43.4%)"
    assert checks["asked in mode"]["detail"] == "first token: the server gives the 20 likeliest tokens"
    assert job.identity["model"]["url"] == server.url


@pytest.mark.slow
def test_errors_are_counted_and_only_they_are_asked_again(server, tmp_path):
    server.rule = lambda question: "who knows?" if "film" in question else by_words(question)
    plan, store = (
        plan_of(tmp_path, server, "&mode=generate&again=0&tries=1&concurrency=1"),
        RunStore(tmp_path / "runs"),
    )
    server.troubles = [None] * 14 + [error(500, "oops")] * 3
    (job,), _ = run(plan, store)
    rows = list(store.answers(job.id))
    failed = [row for row in rows if row.error == "the server says 500: oops"]
    silent = [row for row in rows if row.error.startswith("no answer")]
    assert len(failed) == 3 and len(silent) > 3
    assert all(row.data["said"] == "who knows?" for row in silent)
    before = len(server.bodies)
    run(plan, store, retry_errors=True)
    assert len(server.bodies) - before == 3 + 1  # and the trial; what was said stays said
    again = list(store.answers(job.id))
    assert [row.example_id for row in again] == [row.example_id for row in rows]
    assert store.errors(job.id) == len(silent) + sum(
        row.error.startswith("no answer") for row in again if row.example_id in {f.example_id for f in failed}
    )


@pytest.mark.slow
def test_two_processes_share_one_budget(server, tmp_path):
    server.delay = 0.01
    plan = plan_of(tmp_path, server, "&mode=generate&again=0&price=input:1000,output:1000&budget=2")
    command = [sys.executable, "-c", "from shoal.cli import main; main()", "run", str(plan), "--into", "runs"]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    start = functools.partial(subprocess.Popen, command, env=environment, cwd=tmp_path)
    both = [start(stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(2)]
    outputs = [process.communicate(timeout=60)[0] for process in both]
    assert any("might exceed the budget of 2" in output for output in outputs)
    assert [process.returncode for process in both] == [1, 1]
    (job,) = read_plan(plan).jobs()
    spent = RunStore(tmp_path / "runs").spent(job.id)
    assert spent["requests"] == len(server.bodies) > 20
    assert 1.5 < (spent["input"] + spent["output"]) / 1000 <= 2


@pytest.mark.slow
def test_a_planted_key_is_nowhere_to_be_found(tmp_path, monkeypatch):
    key = "sk-planted-0123456789"
    monkeypatch.setenv("PLANTED", key)
    with serving(key="sk-another") as server:  # so that the server repeats the wrong key
        plan = plan_of(tmp_path, server, "&key_from=PLANTED")
        said = CliRunner().invoke(main, ["run", str(plan), "--into", str(tmp_path / "runs")])
        assert said.exit_code == 1 and "401" in said.output and key not in said.output
        with pytest.raises(ShoalError, match="401") as caught:
            audit("behaviour", f"openai:m?url={server.url}&prompt=sentiment-plain&key_from=PLANTED", limit=5)
        assert key not in "".join(traceback.format_exception(caught.value))
        assert caught.value.__context__ is None and caught.value.__cause__ is None
    with serving(key=key) as server:
        plan = plan_of(tmp_path, server, "&key_from=PLANTED")
        assert CliRunner().invoke(main, ["run", str(plan), "--into", str(tmp_path / "runs")]).exit_code == 0
        page = tmp_path / "page.html"
        CliRunner().invoke(main, ["report", str(plan), "--into", str(tmp_path / "runs"), "--out", str(page)])
        assert page.exists()
    holding = [path for path in tmp_path.rglob("*") if path.is_file() and key.encode() in path.read_bytes()]
    assert holding == []


def test_a_line_of_spending_that_was_cut_off_does_not_swallow_the_next(tmp_path):
    path = tmp_path / "spent.jsonl"
    path.write_text('{"input": 5, "output": 1}\n{"input": 7, "out')
    spending = Spending()
    spending.keep_in(path)
    spending.count(3, 1)
    assert read_spending(path) == {"input": 8, "output": 2, "requests": 2, "estimated": 0}
    assert (spending.read, spending.requests) == (8, 2)


def test_prompts_multiply_the_models_that_are_asked_in_words(server):
    models = [f"openai:fake?url={server.url}", "tiny:sentiment"]
    table = {"models": models, "prompts": ["sentiment-plain", "sentiment-expert"], "behaviour": {"limit": 5}}
    names = [job.model.rpartition("=")[2] for job in make_plan(table).jobs()]
    assert names == ["sentiment-plain", "sentiment-expert", "tiny:sentiment"]
    for prompts, words in ((["a", "a"], "different values"), ([3], "valid string")):
        with pytest.raises(ShoalError, match=words):
            make_plan({**table, "prompts": prompts})
    with pytest.raises(ShoalError, match="both model .* and the plan name prompts"):
        make_plan({**table, "models": [f"{models[0]}&prompt=sentiment-plain"]})


def test_the_estimate_sends_nothing_and_is_no_less_than_the_actual_cost_with_self_checks(
    server, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    plan_of(tmp_path, server, "&again=5&price=input:1000,output:2000,currency:CHF")
    outputs = [CliRunner().invoke(main, [verb, "plan.toml"]).output for verb in ("check", "run")]
    form = r"([\d,]+) requests, [\d,]+ input\s+tokens, [\d,]+ output\s+tokens, ([\d.,]+)\s+CHF"
    (most, dearest), (requests, cost) = [re.search(form, output).groups() for output in outputs]
    assert int(requests) == len(server.bodies) <= int(most)
    assert float(cost) <= float(dearest)
    assert f"Spent: {requests} requests" in outputs[1]
    assert (
        "Spent" not in CliRunner().invoke(main, ["run", "plan.toml"]).output
    )  # all done: nothing was queried
    (job,) = read_plan(Path("plan.toml")).jobs()
    command = ["try", "behaviour", job.model, "--suite", "sentiment", "--limit", "5"]
    tried = CliRunner().invoke(main, command).output
    assert re.search(rf"Spent: {form}", tried), tried
