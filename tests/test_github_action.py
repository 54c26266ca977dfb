"""The GitHub Action: the steps of action.yml run here, against a fake API."""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import github_action
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
TOKEN = "ghs_secret"
RULE = '[[rule]]\nfunctionality = "praise"\nat_least = {limit}\n'
SUITE = """\
from shoal import Suite, case

suite = Suite("small", labels=("negative", "positive"))


@suite.minimum(capability="vocabulary")
def praise():
    for word in ("good", "great", "fine", "lovely"):
        yield case(f"It is {word}.", label="positive")


@suite.minimum(capability="vocabulary")
def blame():
    for word in ("bad", "awful", "dull", "ugly"):
        yield case(f"It is {word}.", label="negative")
"""
MODELS = (
    f"COMMANDS = {github_action.COMMANDS}\n"
    + """\
import os, sys

def old(texts):
    return ["positive" if "good" in text or "great" in text else "negative" for text in texts]

def new(texts):
    return ["positive" if "good" in text else "negative" for text in texts]

def nosy(texts):
    words = [name for name in os.environ if name.endswith("TOKEN") or name in COMMANDS]
    print("::set-output name=exit-code::0", words)
    print("::error::no", file=sys.stderr)
    return new(texts)

def ended(texts):
    os.write(1, b"\\xff")
    os._exit(0)
"""
)


class FakeGitHub(ThreadingHTTPServer):
    """The comments of a pull request; `status` is the answer to every write, if it is set."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.comments: list[dict[str, Any]] = []
        self.status, self.location = 0, ""
        self.tokens: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def add(self, body: str, kind: str = "Bot", association: str = "NONE") -> None:
        row = {"id": len(self.comments) + 1, "body": body, "user": {"type": kind}}
        self.comments.append({**row, "author_association": association})


class _Handler(BaseHTTPRequestHandler):
    server: FakeGitHub

    def do_GET(self) -> None:
        self.server.tokens.append(self.headers["Authorization"])
        if self.server.location:
            return self.reply(302, [], Location=self.server.location)
        page = int(re.search(r"per_page=100&page=(\d+)", self.path)[1])
        self.reply(200, self.server.comments[100 * (page - 1) : 100 * page])

    def do_POST(self) -> None:
        if self.is_allowed():
            assert self.path == "/repos/me/mine/issues/7/comments"
            self.server.add(self.body())
            self.reply(201, {})

    def do_PATCH(self) -> None:
        if self.is_allowed():
            number = int(re.fullmatch(r"/repos/me/mine/issues/comments/(\d+)", self.path)[1])
            self.server.comments[number - 1]["body"] = self.body()
            self.reply(200, {})

    def is_allowed(self) -> bool:
        if self.server.status:
            self.reply(self.server.status, {"message": "no"})
        return not self.server.status and self.headers["Authorization"] == f"Bearer {TOKEN}"

    def body(self) -> str:
        return str(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"])

    def reply(self, status: int, value: object, **headers: str) -> None:
        self.send_response(status)
        for name, content in headers.items():
            self.send_header(name, content)
        self.end_headers()
        self.wfile.write(json.dumps(value).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def job(tmp_path: Path, github: FakeGitHub) -> "Job":
    return Job(tmp_path, github.url)


class Job:
    """A job on a runner: the repository checked out in a folder, and the files of the runner."""

    def __init__(self, folder: Path, api: str) -> None:
        self.folder, self.log = folder, ""
        self.files = {name: folder / f"runner-{name}" for name in github_action.COMMANDS}
        event = {"pull_request": {"number": 7, "head": {"sha": "0123456789abcdef"}}}
        (folder / "event.json").write_text(json.dumps(event))
        (folder / "suite.py").write_text(SUITE)
        (folder / "models.py").write_text(MODELS)
        (folder / "gate.toml").write_text(RULE.format(limit=0.5))
        outside = {
            name: value for name, value in os.environ.items() if not name.startswith(("GITHUB", "PYTEST"))
        }
        self.environment = {
            **outside,
            **{name: str(path) for name, path in self.files.items()},
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "src"),
            "RUNNER_TEMP": str(folder),
            "FORCE_COLOR": "1",
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_EVENT_PATH": str(folder / "event.json"),
            "GITHUB_API_URL": api,
            "GITHUB_SERVER_URL": "https://github.example",
            "GITHUB_REPOSITORY": "me/mine",
            "GITHUB_RUN_ID": "12",
        }

    def run(self, **inputs: str) -> int:
        """Run the action's two steps as the runner does, and return the exit code of the job."""
        self.log = ""
        inputs = {"rules": "gate.toml", "github-token": TOKEN} | {
            name.replace("_", "-"): value for name, value in inputs.items()
        }
        for path in self.files.values():
            path.write_text("")
        for name in ("Judge", "Report"):
            step = STEPS[name]
            defaults = {name: str(about.get("default", "")) for name, about in ACTION["inputs"].items()}
            values = {f"inputs.{name}": value for name, value in (defaults | inputs).items()}
            values |= {f"steps.judge.outputs.{name}": value for name, value in self.outputs().items()}
            env = {
                key: re.sub(r"\$\{\{ (.*?) \}\}", lambda match, of=values: of[match[1]], text)
                for key, text in step["env"].items()
            }
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                cwd=self.folder,
                env=self.environment | env,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            self.log += done.stdout
            if done.returncode:
                return done.returncode
        return 0

    def outputs(self) -> dict[str, str]:
        lines = self.files["GITHUB_OUTPUT"].read_text().splitlines()
        return dict(line.split("=", 1) for line in lines)

    def summary(self) -> str:
        return self.files["GITHUB_STEP_SUMMARY"].read_text()


@pytest.mark.slow
def test_a_gate_that_is_not_met_fails_the_job_and_its_comment_is_updated_in_place(job, github):
    models = {"model": "python:models:new", "baseline": "python:models:old", "suite": "suite.py"}
    assert job.run(**models) == 3
    assert job.outputs()["exit-code"] == "3" and Path(job.outputs()["junit"]).exists()
    (comment,) = github.comments
    for text in (comment["body"], job.summary()):
        assert "### ✗ shoal: gate not met" in text and "✗  praise    25.0 %" in text
        assert "Changes since the baseline" in text and "\x1b" not in text
    assert "Commit 0123456, [log](https://github.example/me/mine/actions/runs/12)" in comment["body"]
    (job.folder / "gate.toml").write_text(RULE.format(limit=0.2))
    assert job.run(**models) == 0
    (comment,) = github.comments
    assert "### ✓ shoal: gate met" in comment["body"] and "was updated" in job.log


def test_without_the_right_to_comment_the_gate_still_decides(job, github):
    github.status = 403
    assert job.run(model="python:models:new", suite="suite.py") == 3
    assert not github.comments and "the token may not write comments (GitHub answered 403)" in job.summary()


@pytest.mark.parametrize("inputs", [{"comment": "false"}, {"event": "push"}])
def test_there_is_no_comment_unless_one_is_wanted_on_a_pull_request(inputs, job, github):
    if inputs.pop("event", ""):
        (job.folder / "event.json").write_text('{"ref": "refs/heads/main"}')
    assert job.run(model="python:models:old", suite="suite.py", **inputs) == 0
    assert not github.tokens and "gate met" in job.summary()


def test_an_error_of_the_gate_is_the_summary(job, github):
    assert job.run(model="python:models:new", suite="missing.py") == 1
    assert (
        "the gate could not be judged" in job.summary() and "missing.py" in job.summary().split("Error:")[1]
    )


@pytest.mark.parametrize(
    ("inputs", "problem"),
    [
        ({}, "either `model` or `result`"),
        ({"result": "result.json", "rules": ""}, "`rules` is missing"),
    ],
)
def test_missing_inputs_are_named(inputs, problem, job):
    assert job.run(**inputs) == 2
    assert problem in job.log


def test_code_of_the_model_gets_neither_token_nor_commands(job, github):
    assert job.run(model="python:models:nosy", suite="suite.py") == 3
    stop = re.search(r"^::stop-commands::(\w+)$", job.log, re.MULTILINE)
    quiet, _, rest = job.log[stop.end() :].partition(f"\n::{stop[1]}::")
    assert "::set-output name=exit-code::0 []" in quiet and "::error::no" in quiet
    assert not re.search("^ *::", rest, re.MULTILINE) and stop[1] not in github.comments[0]["body"]


def test_a_model_that_ends_the_process_has_not_met_the_gate(job):
    assert job.run(model="python:models:ended", suite="suite.py") == 1
    assert "the gate could not be judged" in job.summary()


def test_an_input_is_an_argument_and_not_shell_code(job):
    assert job.run(model="--help $(touch pwned)", suite="suite.py; touch pwned") == 1
    assert not (job.folder / "pwned").exists()


@pytest.fixture
def report(monkeypatch, github):
    """The comment of a gate, written in this process."""
    monkeypatch.setenv("GITHUB_REPOSITORY", "me/mine")
    monkeypatch.setenv("GITHUB_API_URL", github.url)
    monkeypatch.setenv("SHOAL_TOKEN", TOKEN)
    return lambda text="text": github_action.comment(7, "shoal gate", text)


def test_the_comment_is_found_among_hundreds(report, github):
    for number in range(250):
        github.add(f"comment {number}")
    report("first")
    report("second")
    assert len(github.comments) == 251 and github.comments[-1]["body"].endswith("second")


def test_a_strangers_comment_with_our_marker_is_left_alone(report, github):
    report()
    marker = github.comments.pop()["body"]
    github.add(marker, kind="User", association="NONE")
    report("new")
    assert github.comments[0]["body"] == marker and len(github.comments) == 2


@pytest.mark.parametrize(("token", "status"), [(TOKEN, 403), (f"{TOKEN}\n", 500), ("", 422)])
def test_the_token_is_never_printed(token, status, report, github, monkeypatch, capsys):
    github.status = status
    monkeypatch.setenv("SHOAL_TOKEN", token)
    note = report()
    assert note.startswith("No comment on the pull request: ") and TOKEN not in note + str(
        capsys.readouterr()
    )


def test_another_host_does_not_get_the_token(report, github):
    with FakeGitHub() as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        github.location = f"{other.url}/?per_page=100&page=1"
        report()
        other.shutdown()
    assert github.tokens == [f"Bearer {TOKEN}"] and other.tokens == [None]


@given(st.text(st.sampled_from("`~\n\r\t @a<>#&\x1b\u2028\u202e"), max_size=40))
def test_nothing_closes_the_code_block_or_hides_in_it(text):
    first, *inside, last = re.split("[\n\r]", github_action.code_block(text))
    assert (first, last) == ("```text", "```") and not any("```" in line for line in inside)
    assert "".join(inside).isprintable()


@pytest.mark.parametrize("size", [100, 200_000])
def test_a_comment_keeps_to_the_limit_of_github(size, report, github):
    outcome = {
        "code": 3,
        "command": "shoal gate",
        "gate": "x" * size,
        "baseline": "old",
        "changes": "y" * size,
    }
    report(github_action.markdown(outcome))
    text = github.comments[0]["body"]
    assert len(text) <= 65_536 and (github_action.CUT in text) is (size > 100) and text.count("```") == 4


def test_the_action_hands_every_input_on_through_the_environment():
    for step in ACTION["runs"]["steps"]:
        assert ("uses" in step) != (step.get("shell") == "bash") and "${{" not in step.get("run", "")
    handed_on = [
        value for step in STEPS.values() for part in ("env", "with") for value in step.get(part, {}).values()
    ]
    assert all(f"${{{{ inputs.{name} }}}}" in handed_on for name in ACTION["inputs"])
    with_token = [name for name, step in STEPS.items() if "github-token" in str(step)]
    assert with_token == ["Report"] and "-I -S" in STEPS["Report"]["run"]


def test_the_example_workflow_uses_the_action(job):
    workflow = yaml.safe_load((ROOT / "examples" / "github-workflow.yml").read_text())
    (step,) = [step for step in workflow["jobs"]["gate"]["steps"] if "shoal" in step.get("uses", "")]
    assert step["with"].keys() <= ACTION["inputs"].keys()
    for command in (
        ["import", "suite.py", "--out=suite.jsonl"],
        ["export", "suite.jsonl", "--out=answers.jsonl"],
    ):
        shoal = [sys.executable, "-m", "shoal", *command]
        subprocess.run(shoal, cwd=job.folder, env=job.environment, stdout=subprocess.DEVNULL, check=True)
    answers = job.folder / "answers.jsonl"
    rows = [json.loads(line) | {"pred": 1} for line in answers.read_text().splitlines()]
    answers.write_text("\n".join(map(json.dumps, rows)))
    assert job.run(**step["with"]) == 3, job.log


@pytest.mark.parametrize(
    ("path", "is_suite"),
    [
        ("suite.jsonl", True),
        ("suites/hotel/negation.yaml", True),
        ("hotel.yaml", False),
        ("suite.yaml.bak", False),
    ],
)
def test_pre_commit_checks_suite_files(path, is_suite):
    assert bool(re.search(HOOKS["shoal-check"]["files"], path)) is is_suite
