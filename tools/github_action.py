"""The two steps of the GitHub Action in action.yml.

    python github_action.py judge           run `shoal gate`, and `shoal compare` if there is a baseline
    python -I -S github_action.py report    write summary and comment, exit with the gate's exit code

Only `report` gets the token. It runs no code of the model and needs only the standard library. The output of shoal may
hold text of data and models. GitHub reads no markup, mention or workflow command in it: Markdown shows it in a code
block, and the log between stop-commands.
"""

import hashlib
import http.client
import itertools
import json
import os
import secrets
import shlex
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

INPUTS = ("model", "suite", "result", "rules", "baseline")
HEADINGS = {0: "✓ shoal: gate met", 3: "✗ shoal: gate not met"}
LIMIT = 65_536
"""Characters of a comment."""
MARGIN = 2_000
"""Characters kept for all but the output of shoal."""
CUT = "\n… cut at GitHub's limit for comments; the log has the rest"
LAST = 50
"""Lines of an error."""
PER_PAGE = 100
MAY_WRITE = ("OWNER", "MEMBER", "COLLABORATOR")
NO_COMMENT = "No comment on the pull request: "
COMMANDS = ("GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")
"""Files through which a program gives orders to the runner; code of the model gets none of them."""


# Judge


def judge() -> int:
    """Run the gate and the comparison, and keep their output for the report."""
    inputs = {name: os.environ.get(f"SHOAL_{name.upper()}", "").strip() for name in INPUTS}
    if bool(inputs["model"]) == bool(inputs["result"]):
        return _refuse("give either `model` or `result`")
    if not inputs["rules"]:
        return _refuse("`rules` is missing: give the path of a rules file, such as gate.toml")
    subject, baseline = inputs["model"] or inputs["result"], inputs["baseline"]
    folder = Path(tempfile.mkdtemp(prefix="shoal-", dir=os.environ["RUNNER_TEMP"]))
    junit = folder / "shoal.xml"
    suite = [f"--suite={inputs['suite']}"] if inputs["suite"] else []
    rules = [f"--rules={inputs['rules']}", *([f"--baseline={baseline}"] if baseline else [])]
    # The answers are kept, so that `compare` does not query the models again.
    keep = ["--keep", f"--into={folder / 'runs'}"]
    code, text = run_shoal("gate", *suite, *rules, *keep, f"--junit={junit}", "--", subject)
    if not junit.exists():  # the model's code ended the process
        code = code or 1
    changes = ""
    if baseline and code in HEADINGS:
        failed, changes = run_shoal("compare", *suite, *keep, "--", baseline, subject)
        changes = "" if failed else changes
    command = shlex.join(["shoal", "gate", subject, *suite, *rules])
    outcome = {"code": code, "command": command, "gate": text, "baseline": baseline, "changes": changes}
    (folder / "outcome.json").write_text(json.dumps(outcome))
    _append("GITHUB_OUTPUT", f"exit-code={code}\njunit={junit}\nfolder={folder}\n")
    return 0


def _refuse(problem: str) -> int:
    print(f"Error: inputs of the action: {problem}")
    return 2


def run_shoal(*arguments: str) -> tuple[int, str]:
    """Run shoal; return its exit code and its answer, or its error."""
    environment = {
        name: value for name, value in os.environ.items() if name not in (*COMMANDS, "FORCE_COLOR")
    }
    command = [sys.executable, "-m", "shoal", *arguments]
    stop, errors = secrets.token_hex(16), list[str]()
    print(f"::stop-commands::{stop}", flush=True)
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as answer:
        environment |= {"COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
        with subprocess.Popen(
            command,
            env=environment,
            stdout=answer,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        ) as process:
            for line in process.stderr or ():
                print(line, end="", flush=True)
                errors.append(line)
        answer.seek(0)
        text = answer.read()
    print(f"{text}\n::{stop}::", flush=True)
    return process.returncode, text if process.returncode in HEADINGS else "".join(errors[-LAST:])


# Report


def report() -> int:
    """Write the step summary and the comment; return the exit code of the gate."""
    outcome = json.loads((Path(os.environ["SHOAL_FOLDER"]) / "outcome.json").read_text())
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    pull_request = event.get("pull_request")
    text = markdown(outcome)
    _append("GITHUB_STEP_SUMMARY", f"{text}\n")
    if pull_request and os.environ.get("SHOAL_COMMENT") == "true":
        commit = pull_request["head"]["sha"][:7]
        run = [os.environ[name] for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")]
        footer = "Commit {}, [log]({}/{}/actions/runs/{})".format(commit, *run)
        note = comment(pull_request["number"], outcome["command"], f"{text}\n{footer}\n")
        print(note)
        if note.startswith(NO_COMMENT):
            _append("GITHUB_STEP_SUMMARY", f"\n{note}\n")
    return int(outcome["code"])


def markdown(outcome: dict[str, Any]) -> str:
    """Return the answers of gate and compare as Markdown that is short enough for a comment."""
    gate = cut(f"$ {outcome['command']}\n{outcome['gate']}", LIMIT - MARGIN)
    parts = [
        f"### {HEADINGS.get(outcome['code'], '✗ shoal: the gate could not be judged')}",
        code_block(gate),
    ]
    if outcome["changes"]:
        changes = cut(outcome["changes"], LIMIT - MARGIN - len(gate))
        parts += ["<details><summary>Changes since the baseline</summary>", code_block(changes), "</details>"]
    elif outcome["baseline"] and outcome["code"] in HEADINGS:
        parts.append("The cases could not be compared with the baseline; the log says why.")
    return "\n\n".join(parts) + "\n"


def cut(text: str, room: int) -> str:
    """Return the text, or its start and a note."""
    return text if len(text) <= room else text[: max(0, room - len(CUT))] + CUT


def code_block(text: str) -> str:
    """Return a block in which GitHub interprets nothing; no text can close it."""
    visible = "".join(letter for letter in text if letter.isprintable() or letter == "\n")
    return "```text\n" + visible.replace("```", "'''").strip("\n") + "\n```"


def comment(number: int, gate: str, text: str) -> str:
    """Create or update the comment of this gate; return what was done, as a sentence."""
    key = "\n".join([os.environ.get("GITHUB_WORKFLOW", ""), os.environ.get("GITHUB_JOB", ""), gate])
    marker = f"<!-- shoal {hashlib.sha256(key.encode()).hexdigest()[:16]} -->"
    issues = f"repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    try:
        earlier = [row["id"] for row in _comments(f"{issues}/{number}/comments") if _is_ours(row, marker)]
        body = {"body": f"{marker}\n{text}"}
        if earlier:
            _call("PATCH", f"{issues}/comments/{earlier[0]}", body)
        else:
            _call("POST", f"{issues}/{number}/comments", body)
    except urllib.error.HTTPError as problem:
        if problem.code not in (401, 403, 404):
            return f"{NO_COMMENT}GitHub answered {problem.code}."
        return (
            f"{NO_COMMENT}the token may not write comments (GitHub answered {problem.code}). "
            "It never may for a fork; otherwise set `permissions: pull-requests: write`."
        )
    except (OSError, ValueError, http.client.HTTPException):  # the message may hold the token
        return f"{NO_COMMENT}GitHub gave no valid answer."
    return f"The comment on the pull request was {'updated' if earlier else 'created'}."


def _is_ours(row: dict[str, Any], marker: str) -> bool:
    """Return whether a comment has the marker, and its author may write to the repository."""
    is_trusted = (row["user"] or {}).get("type") == "Bot" or row["author_association"] in MAY_WRITE
    return is_trusted and str(row["body"]).startswith(marker)


def _comments(path: str) -> Iterator[dict[str, Any]]:
    for page in itertools.count(1):
        rows = _call("GET", f"{path}?per_page={PER_PAGE}&page={page}")
        yield from rows
        if len(rows) < PER_PAGE:
            return


def _call(method: str, path: str, body: dict[str, str] | None = None) -> Any:
    data = json.dumps(body).encode() if body else None
    request = urllib.request.Request(f"{os.environ['GITHUB_API_URL']}/{path}", data, method=method)
    request.add_header("Accept", "application/vnd.github+json")
    # Unredirected: a redirect to another host must not get the token.
    request.add_unredirected_header("Authorization", f"Bearer {os.environ['SHOAL_TOKEN']}")
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def _append(name: str, text: str) -> None:
    with Path(os.environ[name]).open("a", encoding="utf-8") as stream:
        stream.write(text)


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    sys.exit({"judge": judge, "report": report}[sys.argv[1]]())
