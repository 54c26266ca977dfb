"""No verb writes over a file that it reads."""

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
        "compare predictions:p.json python:m:predict --suite sentiment --out p.html",
        "compare predictions:p.json python:m:predict --suite sentiment --out m.py",
        "gate python:m:predict --suite sentiment --rules rules.toml --junit m.py",
        "gate python:m:predict --suite sentiment --rules rules.toml --junit rules.toml",
        "report plan.toml --out p.html",
        "report plan.toml --format md --out plan.toml",
    ],
)
def test_a_file_that_is_read_is_not_written(folder, command):
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = CliRunner().invoke(main, command.split())
    assert done.exit_code == 1 and "both read and written" in done.output
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


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
