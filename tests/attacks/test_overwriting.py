"""No verb writes over a file that it reads, or over a file of others next to a page."""

import json

import pytest
from click.testing import CliRunner

from shoal.cli import main

PLAN = 'models = ["predictions:p.json"]\n[behaviour]\nsuite = "sentiment"\nlimit = 6\nresamples = 10\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.json").write_text(json.dumps([]))
    (tmp_path / "m.py").write_text("def predict(texts):\n    return ['negative'] * len(texts)\n")
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "rules.toml").write_text("[[rule]]\nat_least = 0.5\n")
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        "compare predictions:p.json python:m:predict --suite sentiment --out p.json",
        "compare predictions:p.json python:m:predict --suite sentiment --out m.py",
        "gate python:m:predict --suite sentiment --rules rules.toml --junit rules.toml",
        "report plan.toml --out p.html",
        "report plan.toml --format latex --out plan.toml",
    ],
)
def test_a_file_that_is_read_is_not_written(folder, command):
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = CliRunner().invoke(main, command.split())
    assert done.exit_code == 1 and "is read and written" in done.output
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    "command",
    ["try behaviour python:m:predict --limit 6 --html", "report python:m:predict --set limit=6 --out"],
)
def test_a_page_replaces_its_own_numbers_only_and_refuses_before_it_queries(folder, command):
    command = f"{command} mine.html".split()
    assert CliRunner().invoke(main, command).exit_code == CliRunner().invoke(main, command).exit_code == 0
    numbers = folder / "mine.json"
    (folder / "m.py").write_text("raise SystemError('queried')")
    for other in ('{"mine": 1}', "", numbers.read_text().replace("mine.html", "mine.txt")):
        numbers.write_text(other)
        done = CliRunner().invoke(main, command)
        assert done.exit_code == 1 and "mine.json: would be overwritten" in done.output
        assert numbers.read_text() == other
    done = CliRunner().invoke(main, [*command[:-1], "none/mine.html"])
    assert done.exit_code == 1 and "the folder none does not exist" in done.output


@pytest.mark.parametrize("out", ["hotel.yaml", "notes.jsonl", "h-edited.json"])
def test_import_writes_json_lines_and_replaces_only_a_suite_file(folder, out):
    (folder / "hotel.yaml").write_text("suite: hotel\n")
    (folder / "notes.jsonl").write_text('{"mine": 1}\n')
    (folder / "h-edited.json").write_text('{"suite": "h", "form": {"labels": []}}\n')
    (folder / "t.csv").write_text("text,label\na,no\nb,yes\n")
    before = (folder / out).read_bytes()
    command = ["import", "t.csv", "--text", "text", "--label", "label", "--out"]
    done = CliRunner().invoke(main, [*command, out])
    assert done.exit_code == 1 and "try: --out t-suite.jsonl" in done.output
    assert (folder / out).read_bytes() == before
    for _ in range(2):
        assert CliRunner().invoke(main, [*command, "t-suite.jsonl"]).exit_code == 0
