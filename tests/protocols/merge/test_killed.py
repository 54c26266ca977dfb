"""Killed in the middle of building, a plan goes on where it was: same bytes, and what was found is not sought again."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from shoal.cli import main
from shoal.protocols.merge.problems import Problem

PROGRAM = """
import sys
from shoal.cli import main
import shoal.protocols.merge
sys.modules["shoal.protocols.merge.build"].BLOCK = 2
main(["run", sys.argv[1], "--into", sys.argv[2]])
"""
MODEL = """
def first(pairs):
    return ["entailment" if len(b) < len(a) else "neutral" for a, b in pairs]
"""
PROBLEMS = 12
PLAN = f"""
models = ["python:planted_for_kills:first"]

[merge]
limit = {PROBLEMS}
sample = 6
draws = 2
filters = ["default", "scrambled"]
"""


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "planted_for_kills.py").write_text(MODEL)
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return path


def start(plan: Path, into: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(plan), str(into)], cwd=plan.parent, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def kept(into: Path) -> int:
    """Of how many problems something is kept, the line about the search counted too."""
    return sum(path.read_bytes().count(b"\n") for path in into.glob("cases/*.partial.jsonl"))


def kill_at(process: "subprocess.Popen[str]", into: Path, lines: int, wait: float) -> None:
    """Kill it some moment after so many lines are there."""
    while kept(into) < lines and process.poll() is None:
        time.sleep(0.005)
    time.sleep(wait)
    process.kill()
    process.communicate()


def content(into: Path) -> dict[str, bytes]:
    """What was built and answered; locks and measures aside."""
    names = ("*.jsonl", "answers.jsonl")
    return {str(path.relative_to(into)): path.read_bytes() for name in names for path in into.rglob(name)}


@pytest.mark.slow
def test_killed_in_the_middle_of_building_a_plan_goes_on_with_the_same_bytes(plan, tmp_path, monkeypatch):
    rng = random.Random(16)
    into, whole = tmp_path / "killed", tmp_path / "whole"
    for lines in sorted(rng.sample(range(1, PROBLEMS - 1), 3)):
        process = start(plan, into)
        kill_at(process, into, lines, rng.random() / 50)
        assert process.returncode == -9
        assert kept(into) >= lines
        with next(into.glob("cases/*.partial.jsonl")).open("a") as stream:
            stream.write('{"words": [["ma')  # half a line, as a crash may leave it
    there = kept(into) - 1
    sought = count_searched(monkeypatch)
    run(plan, into)
    assert len(sought) == PROBLEMS - there + there % 2
    assert not list(into.glob("cases/*.partial*"))
    run(plan, whole)
    assert content(into) == content(whole)


def run(plan: Path, into: Path) -> None:
    ended = CliRunner().invoke(main, ["run", str(plan), "--into", str(into)])
    assert ended.exit_code == 0, ended.output


def count_searched(monkeypatch: pytest.MonkeyPatch) -> list[Problem]:
    """The problems that are searched from now on, in blocks of two."""
    sought: list[Problem] = []
    module = sys.modules["shoal.protocols.merge.build"]
    plain = module.search_block

    def counted(problems, *more):
        sought.extend(problems)
        return plain(problems, *more)

    monkeypatch.setattr(module, "BLOCK", 2)
    monkeypatch.setattr(module, "search_block", counted)
    return sought
