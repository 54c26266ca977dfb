"""Plans of bias and COOD for endpoints, killed while answers arrive: the same bytes, and nothing is paid for twice."""

import multiprocessing
import os
import random
import signal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

pytest.importorskip("aiohttp", reason="needs shoal[llm]")

from fake_server import serving

from shoal.cli import main

FORK = multiprocessing.get_context("fork")  # a real process, without the second it takes to import numpy
PLANS = {
    "bbq": '[bias]\ndiagnostic = "bbq"\ndata = "example"\nlimit = 30\n',
    "cood": '[cood]\ndata = "toy.csv"\nshots = [0, 1]\ntest_per_label = 4\n',
}
PROMPT = {"bbq": "options-plain", "cood": "agreement-plain"}
UNDER_WAY, MOST_KILLS = 2, 8
TRIALS = 1 + 8
"""Requests of a job before its first question: the trial, and the self-check."""


def answers(store: Path) -> dict[str, bytes]:
    return {path.parent.name: path.read_bytes() for path in store.glob("jobs/*/answers.jsonl")}


def run_plan(plan: Path, store: Path) -> None:
    done = CliRunner().invoke(main, ["run", str(plan), "--into", str(store)])
    if done.exit_code:
        raise AssertionError(done.output)


def answer(question: str) -> str:
    words = ("yes", "no") if "yes or no" in question else ("A", "B")
    return words[len(question) % 2]


def run_and_kill(plan: Path, store: Path, server: Any, moment: int) -> int | None:
    """Run a plan in a process that the server kills once so many requests have come; 0 lets it end."""
    start = len(server.bodies)
    process = FORK.Process(target=run_plan, args=(plan, store))

    def rule(question: str) -> str:
        if moment and len(server.bodies) - start >= moment:
            os.kill(process.pid or 0, signal.SIGKILL)
        return answer(question)

    server.rule = rule
    process.start()
    process.join()
    return process.exitcode


@pytest.mark.slow
@pytest.mark.parametrize("kind", PLANS)
def test_a_prompted_plan_killed_while_answers_arrive_ends_as_if_it_was_not(kind: str, tmp_path: Path):
    rng, kills = random.Random(kind), 0
    texts = [
        f"{label} thing {number},{label}"
        for number in range(12)
        for label in ("positive", "negative", "neutral")
    ]
    (tmp_path / "toy.csv").write_text("\n".join(["text,label", *texts]) + "\n")
    with serving(logprobs=False) as server:
        plan = tmp_path / "plan.toml"
        model = (
            f"openai:m?url={server.url}&prompt={PROMPT[kind]}&mode=generate&again=0&concurrency={UNDER_WAY}"
        )
        plan.write_text(f'models = ["{model}"]\n{PLANS[kind]}')
        server.rule = answer
        run_plan(plan, tmp_path / "whole")  # here, so that forked processes have the libraries
        requests = len(server.bodies)
        while kills < MOST_KILLS:
            moment = rng.randrange(TRIALS + 1, requests // 2)
            if run_and_kill(plan, tmp_path / "killed", server, moment) == 0:
                break
            kills += 1
        assert kills
        assert run_and_kill(plan, tmp_path / "killed", server, 0) == 0
        assert answers(tmp_path / "killed") == answers(tmp_path / "whole")
        # Each kill loses the requests under way, and its job's trials are made again.
        assert len(server.bodies) - 2 * requests <= kills * (TRIALS + UNDER_WAY)
