"""The guide to building a suite with others, followed: its commands run in a new folder and print what it shows."""

import json
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from shoal.cli import main

PAGE = (Path(__file__).parents[1] / "docs" / "how-to" / "suites-with-others.md").read_text()


def save_form(page: Path, out: Path) -> None:
    """Save a form in which nothing was changed, as its script does (tests/render/test_form.py)."""
    found = re.search(r'id="data">(.*?)</script>', page.read_text(), re.DOTALL)
    assert found
    data = json.loads(found[1])
    header = json.loads(data["header"]) | {"form": {"labels": data["labels"]}}
    out.write_text("\n".join([json.dumps(header), *data["rows"]]) + "\n")


def test_following_the_guide_gives_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sessions = "".join(re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL))
    for part in re.split(r"^\$ ", sessions, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        done = CliRunner(env={"COLUMNS": "80"}).invoke(main, shlex.split(command)[1:])
        assert done.exit_code == 0, done.output
        printed = iter(line.strip() for line in done.output.splitlines())
        for line in filter(None, map(str.strip, shown.replace("…", "").splitlines())):
            assert any(real.startswith(line) for real in printed), f"not printed: {line}\n{done.output}"
        if Path("form.html").exists() and not Path("hotels-edited.json").exists():
            save_form(Path("form.html"), Path("hotels-edited.json"))
