"""Whatever is refused is refused with a remedy: every error of ours says what to do."""

import ast
from pathlib import Path

import pytest
from click.testing import CliRunner

from shoal.cli import main

SOURCE = Path(__file__).parents[2] / "src" / "shoal"
ERRORS = {"DataError", "ModelError", "PlanError", "ShoalError", "StoreError"}


def without_remedy(source: str) -> list[int]:
    """The lines of errors that are made without `fix`, or with one that may be empty."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ERRORS:
            fix = next((keyword.value for keyword in node.keywords if keyword.arg == "fix"), None)
            guessed = isinstance(fix, ast.Call) and getattr(fix.func, "id", "") == "nearest"
            if fix is None or guessed:
                lines.append(node.lineno)
    return lines


@pytest.mark.slow
def test_every_error_says_what_to_do():
    sources = sorted(SOURCE.rglob("*.py"))
    assert [f"{path}:{line}" for path in sources for line in without_remedy(path.read_text())] == []


@pytest.mark.parametrize(
    ("command", "remedy"),
    [
        ("try bias tiny:masked", "try: --data FILE, or --data example"),
        ("try bias tiny:masked --data example", "try: --set pretrain.text=example"),
        ("try learning tiny:sentiment --set iid=sentiment", "try: --set train.on=iid, or"),
        ("help cood", "try: shoal list settings cood"),
        ("check texts.jsonl", "if the file has answers, use it as a model: predictions:texts.jsonl"),
    ],
)
def test_a_remedy_can_be_typed(command, remedy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("texts.jsonl").write_text('{"functionality": "f", "case_id": "1", "example_idx": 0, "text": "a"}\n')
    assert remedy in " ".join(CliRunner().invoke(main, command.split()).output.split())
