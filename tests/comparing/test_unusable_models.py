"""A model that is dead, degenerate or has not learnt its task fails a gate, and `compare` says so first."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shoal.comparing.gate import judge
from shoal.comparing.pairs import compare
from shoal.comparing.rules import Rule
from shoal.comparing.view import comparison_sections

Shoal = Callable[..., Any]


def first_line(stdout: str) -> str:
    """Return the first line below the heading."""
    return stdout.split("\n\n")[1].replace("\n", " ")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite of invariance tests and tests of two labels."""
    rows: list[dict[str, Any]] = [{"suite": "toy", "label_names": ["negative", "positive"]}]
    for at in range(30):
        pair = [{"text": f"same {at}"}, {"text": f"same {at} again"}]
        common = {"capability": "c", "case_id": at}
        rows.append({**common, "functionality": "stays", "type": "INV", "examples": pair})
        single = [{"text": f"text {at}"}]
        rows.append(
            {**common, "functionality": "labelled", "type": "MFT", "examples": single, "labels": at % 2}
        )
    path = tmp_path / "suite.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A model that is right, and one that answers positive to everything."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "answering", raising=False)
    (tmp_path / "answering.py").write_text(
        "def right(texts):\n    return [['negative', 'positive'][int(t.split()[1]) % 2] for t in texts]\n"
        "def constant(texts):\n    return ['positive'] * len(texts)\n"
    )
    return ["python:answering:right", "python:answering:constant"]


@pytest.mark.parametrize("from_file", [False, True])
def test_one_answer_to_everything_fails_a_gate_on_invariance(
    shoal: Shoal, suite, models, tmp_path, from_file
):
    gate = tmp_path / "gate.toml"
    gate.write_text('[[rule]]\nfunctionality = "stays"\nat_least = 1.0\n')
    codes = []
    for model in models:
        judged = [model, "--set", f"suite={suite}"]
        if from_file:
            written = shoal("try", "behaviour", *judged, "--json")
            (tmp_path / "result.json").write_text(written.stdout)
            judged = [tmp_path / "result.json"]
        codes.append(shoal("gate", *judged, "--rules", gate).exit_code)
    assert codes == [0, 3]


def test_compare_says_first_that_a_side_gives_one_answer(shoal: Shoal, suite, models):
    done = shoal("compare", *models, "--set", f"suite={suite}")
    assert first_line(done.stdout).startswith("B: ") and "the same label" in first_line(done.stdout)
    (finding,) = json.loads(shoal("compare", *models, "--set", f"suite={suite}", "--json").stdout)["findings"]
    assert finding["disqualifies"] and finding["groups"]["side"] == "B"


def test_a_failed_self_check_fails_a_gate_and_stands_first_in_compare(shoal: Shoal, make, tmp_path):
    check = {"name": "label order", "ok": False, "detail": "likely wrong: 3 of 20 right"}
    fine, broken = make({"f": [1] * 50}), make({"f": [1] * 50}, checks=[check])
    verdicts = judge([Rule(at_least=0.1)], broken)
    assert [(verdict.name, verdict.is_met) for verdict in verdicts] == [
        ("label order", False),
        ("suite score", True),
    ]
    (section,) = comparison_sections(compare([fine], [broken]))
    assert str(section.text[0].text).startswith("B: label order: likely wrong")
    excused = make({"f": [1] * 50}, checks=[{**check, "name": "same answer when asked again"}])
    assert all(verdict.is_met for verdict in judge([Rule(at_least=0.1)], excused))
