"""What the pages show is what the commands print."""

import json
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
"""Their commands build on one another: tests/test_tutorial.py follows the one, a test below the other."""


def commands_of(page: Path) -> list[tuple[str, str]]:
    """Every `$ shoal …` in a console block of a page, with what is shown below it."""
    blocks = "".join(re.findall(r"```console\n(.*?)```", page.read_text(), re.DOTALL))
    parts = re.split(r"^\$ ", blocks, flags=re.MULTILINE)[1:]
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in parts)]


def assert_shown(command: str, shown: str) -> None:
    """Lines in the order they are printed; `…` stands for lines left out, and a line may be cut short."""
    words = shlex.split(command)
    assert words[0] == "shoal"
    done = CliRunner(env={"COLUMNS": "80"}).invoke(main, words[1:])
    assert done.exit_code == 0, done.output
    printed = iter(line.strip() for line in done.output.splitlines())
    for line in filter(None, map(str.strip, shown.replace("…", "").splitlines())):
        assert any(real.startswith(line) for real in printed), f"not printed (in this order): {line}"


def sessions() -> list[tuple[Path, str, str]]:
    return [(page, *pair) for page in PAGES if page.name not in FOLLOWED for pair in commands_of(page)]


@pytest.mark.slow
@pytest.mark.parametrize(("page", "command", "shown"), sessions())
def test_a_console_block_shows_the_real_output(page, command, shown, tmp_path, monkeypatch):
    if files := re.findall(r'^```\w+ title="(\S+)"\n(.*?)^```', page.read_text(), re.DOTALL | re.MULTILINE):
        monkeypatch.chdir(tmp_path)
    for name, content in files:
        (tmp_path / name).write_text(content)
    assert_shown(command, shown)


def save_form(page: Path, out: Path) -> None:
    """Save a form in which nothing was changed, as its script does (tests/render/test_form.py)."""
    found = re.search(r'id="data">(.*?)</script>', page.read_text(), re.DOTALL)
    assert found
    data = json.loads(found[1])
    header = json.loads(data["header"]) | {"form": {"labels": data["labels"]}}
    out.write_text("\n".join([json.dumps(header), *data["rows"]]) + "\n")


def test_following_the_guide_to_suites_with_others_gives_what_it_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command, shown in commands_of(ROOT / "docs" / "how-to" / "suites-with-others.md"):
        assert_shown(command, shown)
        if Path("form.html").exists() and not Path("hotels-edited.json").exists():
            save_form(Path("form.html"), Path("hotels-edited.json"))


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
