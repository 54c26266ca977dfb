"""A protocol is one folder and one line: every verb works for one that only this test knows."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from shoal.cli import main
from shoal.protocols import PROTOCOLS, Entry

FOLDER = Path(__file__).parent.parent / "support" / "toy"

MODELS = """
def by_length(texts):
    return ["long" if len(text) > 3 else "short" for text in texts]


def always_long(texts):
    return ["long" for text in texts]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(
        PROTOCOLS, "echo", Entry("toy", "Echo", "does a model tell long words from short ones")
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "toy_models.py").write_text(MODELS)
    (tmp_path / "plan.toml").write_text(
        'models = ["python:toy_models:by_length", "python:toy_models:always_long"]\n[echo]\n'
    )
    return tmp_path


def shoal(*arguments: str, code: int = 0) -> Result:
    done = CliRunner().invoke(main, list(arguments), catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done


def test_the_folder_is_small():
    lines = sum(len(file.read_text().splitlines()) for file in FOLDER.glob("*.py"))
    assert lines < 120


def test_every_verb_works_for_it(folder):
    assert "long words" in shoal("list", "protocols").output
    tried = shoal("try", "echo", "python:toy_models:always_long")
    assert "50.0" in tried.output and "echo" in tried.output
    assert "best" not in shoal("try", "echo", "python:toy_models:by_length", "--json").output
    assert "is right most often" in shoal("run", "plan.toml").output
    assert "2 done" in shoal("status", "plan.toml").output
    assert "3 of 6 cases fail" in shoal("show", "always-long", "--failing").output
    assert "100.0" in shoal("show", "by-length").output
    assert shoal("show", "by-length", "--csv").output.startswith("case_id,length,outcome")
    shoal("report", "plan.toml", "--out", "page.html")
    assert "is right most often" in Path("page.html").read_text()
    assert "toy_models:always_long" in Path("page-echo.csv").read_text()


def test_it_is_compared_and_gated(folder):
    pair = ("python:toy_models:by_length", "python:toy_models:always_long")
    compared = json.loads(shoal("compare", *pair, "--protocol", "echo", "--json").output)
    differences = {
        row["groups"].get("length", "all"): row["value"]
        for row in compared["measures"]
        if row["name"] == "difference"
    }
    assert differences == {"all": -0.5, "long": 0.0, "short": -1.0}
    assert "short" in shoal("compare", *pair, "--protocol", "echo").output
    Path("gate.toml").write_text('[[rule]]\nlength = "*"\nat_least = 0.9\n')
    met = shoal("gate", pair[0], "--protocol", "echo", "--rules", "gate.toml", "--junit", "gate.xml")
    assert "Gate met: 1 rule" in met.output
    assert 'tests="2"' in Path("gate.xml").read_text()
    failed = shoal("gate", pair[1], "--protocol", "echo", "--rules", "gate.toml", code=3)
    assert "✗  short" in failed.output and "Gate not met: " in failed.output
