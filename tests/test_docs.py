"""What the pages show is what the commands print."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from shoal.cli import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FOLLOWED = ("tutorial.md", "suites-with-others.md")
"""Their commands build on one another: tests/test_tutorial.py and tests/test_others.py follow them."""


def sessions() -> list[tuple[Path, str, str]]:
    """Every `$ shoal …` in a console block, with what the page shows below it."""
    shown_below = []
    for page in PAGES:
        if page.name in FOLLOWED:
            continue
        for block in re.findall(r"```console\n(.*?)```", page.read_text(), re.DOTALL):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, shown = part.partition("\n")
                shown_below.append((page, command, shown))
    return shown_below


@pytest.mark.slow
@pytest.mark.parametrize(("page", "command", "shown"), sessions())
def test_a_console_block_shows_the_real_output(page, command, shown, tmp_path, monkeypatch):
    """Lines in the order they are printed; `…` stands for lines left out, and a line may be cut short."""
    if files := re.findall(r'^```\w+ title="(\S+)"\n(.*?)^```', page.read_text(), re.DOTALL | re.MULTILINE):
        monkeypatch.chdir(tmp_path)
    for name, content in files:
        (tmp_path / name).write_text(content)
    words = shlex.split(command)
    assert words[0] == "shoal"
    done = CliRunner(env={"COLUMNS": "80"}).invoke(main, words[1:])
    assert done.exit_code == 0, done.output
    printed = iter(line.strip() for line in done.output.splitlines())
    for line in filter(None, map(str.strip, shown.replace("…", "").splitlines())):
        assert any(real.startswith(line) for real in printed), (
            f"{page.name}: not printed (in this order): {line}"
        )


def python_blocks() -> list[tuple[str, str]]:
    return [
        (page.name, block)
        for page in PAGES
        for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
        if not any(
            word in block for word in ("my_model", "profanity_check", "import mlflow", "import wandb", ">>>")
        )  # not here; not here; tests/test_log_results.py, twice; doctests
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("page", "block"), python_blocks())
def test_a_python_block_runs(page, block):
    exec(compile(block, page, "exec"), {"__name__": "__docs__"})


def test_every_link_to_a_file_leads_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("command", sorted(main.commands))
def test_every_verb_has_help_with_an_example(command):
    done = CliRunner().invoke(main, [command, "--help"])
    assert done.exit_code == 0 and "Example" in done.output and f"shoal {command}" in done.output


@pytest.mark.slow
def test_the_reference_pages_are_made_from_the_code():
    command = [sys.executable, ROOT / "tools" / "reference.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
