"""What has broken shoal once, each through the verb that people type: devices, bad models, changed models, bombs."""

import gzip
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest
from small_world import HEADER, answer_rows, lines, suite_rows, write_world
from small_world import run_shoal as shoal

import shoal as package

SUITE = ("--set", "suite=suite.jsonl", "--set", "resamples=10")
TRY = ("try", "behaviour", "predictions:answers.jsonl", *SUITE)
PLAN = 'models = ["predictions:answers.jsonl"]\n[behaviour]\nsuite = "suite.jsonl"\nresamples = 10\n'
WRITERS: dict[str, tuple[str, ...]] = {
    "import": ("import", "table.csv", "--text", "text", "--label", "label", "--out"),
    "export": ("export", "suite.jsonl", "--out"),
    "gate": ("gate", "predictions:answers.jsonl", "--rules", "gate.toml", *SUITE, "--junit"),
    "compare": ("compare", *["predictions:answers.jsonl"] * 2, *SUITE, "--out"),
}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    write_world(tmp_path)
    return tmp_path


def refused(*arguments: str) -> str:
    done = shoal(*arguments)
    assert done.exit_code == 1 and "\n  try: " in done.output, done.output
    assert len(done.output) < 5_000
    return done.output


@pytest.mark.parametrize("verb", WRITERS)
def test_a_link_a_pipe_and_a_device_stay_what_they_are(world, verb):
    pipe, target, link = world / "pipe.jsonl", world / "target.jsonl", world / "link.jsonl"
    link.symlink_to(target)
    assert shoal(*WRITERS[verb], "link.jsonl").exit_code == 0
    assert link.is_symlink() and target.stat().st_size and not target.is_symlink()
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    assert shoal(*WRITERS[verb], "pipe.jsonl").exit_code == 0
    reader.join()
    assert stat.S_ISFIFO(pipe.stat().st_mode) and len(read[0]) == target.stat().st_size
    try:
        os.mknod(world / "null.jsonl", stat.S_IFCHR | 0o600, os.makedev(1, 3))
        (world / "null.jsonl").open("w").close()
    except PermissionError:
        return  # devices cannot be made here
    assert shoal(*WRITERS[verb], "null.jsonl").exit_code == 0
    assert stat.S_ISCHR((world / "null.jsonl").stat().st_mode)


def test_a_report_goes_into_a_pipe_as_a_page_alone(world):
    (world / "plan.toml").write_text(PLAN)
    assert shoal("run", "plan.toml").exit_code == 0
    assert shoal("report", "plan.toml", "--out", "page").exit_code == 0
    before = {path.name for path in world.iterdir()}
    os.mkfifo(world / "pipe")
    read: list[bytes] = []
    reader = Thread(target=lambda: read.append((world / "pipe").read_bytes()))
    reader.start()
    done = shoal("report", "plan.toml", "--out", "pipe")
    reader.join()
    assert done.exit_code == 0 and not done.stdout
    assert read[0] == (world / "page").read_bytes()
    assert {path.name for path in world.iterdir()} == before | {"pipe"}


MODELS = """
import asyncio, sys

def one_too_many(texts): return ["neutral"] * len(texts), [0.5] * (len(texts) + 1)
def huge(texts): return [{"negative": 10**400, "neutral": 0, "positive": 0} for _ in texts]
def ends_the_program(texts): sys.exit(7)
def cancelled(texts): raise asyncio.CancelledError("lost the server")
"""


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("one_too_many", "gave confidences of shape (33,) to 32 examples"),
        ("huge", "not numbers"),
        ("ends_the_program", "sys.exit(7)"),
        ("cancelled", "CancelledError: lost the server"),
    ],
)
def test_answers_that_cannot_be_right_are_refused_and_none_becomes_a_label(world, model, words):
    (world / "bad_models.py").write_text(MODELS)
    assert words in refused("try", "behaviour", f"python:bad_models:{model}", *SUITE).replace("\n", " ")


PACKAGE = {
    "asked/__init__.py": "from .deciding import decide\n\ndef model(texts):\n    return list(map(decide, texts))\n",
    "asked/deciding.py": """
import os, signal
from words import WORD

count = 0

def decide(text):
    global count
    count += 1
    if count > 400 and os.environ.get("TO_BE_KILLED"):
        os.kill(os.getpid(), signal.SIGKILL)
    return WORD
""",
    "words.py": "WORD = 'positive'\n",
}


def test_a_module_that_changes_between_kill_and_resume_never_gives_a_mixture(world):
    (world / "asked").mkdir()
    for name, text in PACKAGE.items():
        (world / name).write_text(text)
    (world / "plan.toml").write_text(
        'models = ["python:asked:model"]\n[behaviour]\nsuite = "sentiment"\nlimit = 300\n'
    )
    command = [sys.executable, "-c", "from shoal.cli import main; main()", "run", "plan.toml"]
    paths = os.pathsep.join([str(world), str(Path(package.__file__).parents[1])])
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    killed = subprocess.run(command, env=environment | {"TO_BE_KILLED": "yes"}, capture_output=True)
    assert killed.returncode == -signal.SIGKILL
    assert any(path.stat().st_size for path in world.glob("runs/jobs/*/answers.partial.jsonl"))
    (world / "words.py").write_text("WORD = 'negative'\n")
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (answers,) = world.glob("runs/jobs/*/answers.jsonl")
    assert {json.loads(line)["data"]["label"] for line in answers.read_text().splitlines()} == {"negative"}


CHECK, IMPORT = ("check", "suite.jsonl"), (*WRITERS["import"], "out.jsonl")


def suite_with(**fields: object) -> bytes:
    first, *others = suite_rows()
    return lines([HEADER, first | fields, *others])


def answers_with(row: str) -> bytes:
    return lines([row, *answer_rows()[1:]])


ROW = '{"functionality": "praise", "case_id": "0", "pred": "positive", "conf": %s}'
DIGITS, MANY_TIMES = b": " + b"9" * 5_000 + b"}", {"label_names": ["positive"] * 200_000}
CROOKED: dict[str, tuple[tuple[str, ...], str, bytes]] = {
    "a number of 5,000 digits": (CHECK, "suite.jsonl", suite_with(labels=5).replace(b": 5}", DIGITS)),
    "a confidence of 10**400": (TRY, "answers.jsonl", answers_with(ROW % ("1" + "0" * 400))),
    "deep lists in a suite": (CHECK, "suite.jsonl", lines([HEADER]) + b"[" * 200_000),
    "deep lists in a result": (("gate", "result.json", "--rules", "gate.toml"), "result.json", b"[" * 200_000),
    "200,000 label names": (CHECK, "suite.jsonl", lines([HEADER | MANY_TIMES, *suite_rows()])),
    "a gzip of newlines": (CHECK, "suite.jsonl", gzip.compress(b"\n" * 2_000_000)),
}  # fmt: skip


@pytest.mark.parametrize("name", CROOKED)
def test_a_crooked_file_is_refused_in_words_and_in_time(world, name):
    command, file, content = CROOKED[name]
    (world / file).write_bytes(content)
    refused(*command)
