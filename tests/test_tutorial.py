"""The tutorial, followed to the letter: its files are saved, its commands run, and what they print is on the page."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "tutorial.md").read_text()
BLOCK = re.compile(r'^```(\w+)(?: title="(\S+)")?\n(.*?)^```', re.DOTALL | re.MULTILINE)
EXIT_CODE = "echo $?"
LEFT_OUT = "…"
SECONDS = re.compile(r"in \d+\.\d+s")


def shell(command: str, folder: Path, **more: str) -> tuple[int, str]:
    """The exit code of a command and all that it prints, as in a terminal of 80 columns in this folder."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**outside, "PATH": path, "COLUMNS": "80", **more},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    return done.returncode, done.stdout


def commands_of(session: str) -> list[tuple[str, str]]:
    """Each command of a console block with what is shown below it."""
    parts = re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in parts]


def lines_of(text: str) -> list[str]:
    return [SECONDS.sub("in some seconds", line.rstrip()) for line in text.rstrip().splitlines()]


def is_shown(shown: list[str], printed: list[str]) -> bool:
    """Whether a page shows what was printed, line by line, where `…` may stand for any lines."""
    if not shown:
        return not printed
    if shown[0] == LEFT_OUT:
        return any(is_shown(shown[1:], printed[start:]) for start in range(len(printed) + 1))
    return printed[:1] == shown[:1] and is_shown(shown[1:], printed[1:])


def follow(page: str, folder: Path) -> list[str]:
    """Do all that a page says, in its order; gives what did not come out as the page says."""
    wrong, code = [], 0  # type: ignore[var-annotated]
    for _, name, content in (match.groups() for match in BLOCK.finditer(page)):
        if name:
            (folder / name).write_text(content)
    for language, _, content in (match.groups() for match in BLOCK.finditer(page)):
        for command, shown in commands_of(content) if language == "console" else []:
            if command == EXIT_CODE:
                printed, code = f"{code}\n", 0
            elif code:
                return [*wrong, f"exit code {code} is not on the page, before: {command}"]
            else:
                code, printed = shell(command, folder)
            if not is_shown(lines_of(shown), lines_of(printed)):
                wrong.append(f"$ {command}\n{printed}")
    return [*wrong, f"exit code {code} at the end"] if code else wrong


@pytest.mark.slow
def test_following_the_tutorial_gives_what_it_shows(tmp_path):
    wrong = follow(PAGE, tmp_path)
    assert not wrong, "\n".join(wrong)
