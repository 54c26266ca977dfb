"""A model whose fault is known is reported by the verb."""

import json

from click.testing import CliRunner

from shoal.cli import main

PLANTED = """
def negative(texts):
    return [{"negative": 0.9, "positive": 0.1} for text in texts]
"""


def test_a_model_with_one_answer_to_everything_is_reported(tmp_path, monkeypatch):
    (tmp_path / "planted_models.py").write_text(PLANTED)
    monkeypatch.chdir(tmp_path)
    call = [
        "try",
        "behaviour",
        "python:planted_models:negative",
        "--set",
        "suite=sentiment",
        "--limit",
        "150",
        "--json",
    ]
    done = CliRunner().invoke(main, call)
    assert done.exit_code == 0, done.output
    (finding,) = [row for row in json.loads(done.stdout)["findings"] if row["kind"] == "degenerate"]
    assert "the same label, negative" in finding["text"] and finding["disqualifies"]
