"""What `run`, `status` and `report` say where something is wrong with one of several models."""

import json
from pathlib import Path

import pytest
from small_world import run_shoal as shoal
from small_world import write_world

from shoal import Case, Measure, Measures, Outcome, Result
from shoal.runs.viewing import failing_sections

MODELS = """
def steady(texts):
    return ["positive" for _ in texts]
"""


@pytest.fixture(autouse=True)
def _world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    write_world(tmp_path)
    Path("shown_models.py").write_text(MODELS)


def plan(*models: str) -> None:
    Path("plan.toml").write_text(
        f'models = {json.dumps(models)}\n[behaviour]\nsuite = "suite.jsonl"\nresamples = 10\n'
    )


def test_status_names_the_next_command_and_gives_the_answer_before_the_states_of_finished_jobs():
    plan("predictions:answers.jsonl", "python:shown_models:steady")
    text = shoal("status", "plan.toml").output
    assert text.startswith("2 jobs: 2 to do\n") and text.endswith("Next: shoal run plan.toml\n")
    assert shoal("run", "plan.toml").exit_code == 0
    done = shoal("status", "plan.toml").output
    assert done.splitlines()[1].startswith("Highest suite score: ")
    assert "\n2 jobs: 2 done (2 not listed: --full)\n" in done and done.count("behaviour-") == 0
    assert done.endswith("Next: shoal report plan.toml\n")
    assert shoal("status", "plan.toml", "--full").output.count("done ") >= 2


def test_a_model_that_has_gone_does_not_hide_the_others():
    plan("predictions:answers.jsonl", "python:shown_models:steady")
    assert shoal("run", "plan.toml").exit_code == 0
    Path("answers.jsonl").unlink()
    for verb in ("status", "report"):
        done = shoal(verb, "plan.toml")
        assert done.exit_code == 1
        assert "1 of the plan's models cannot be found" in done.output
        assert "answers.jsonl: no such file" in done.output
    told = json.loads(shoal("status", "plan.toml", "--json").stdout)
    assert [job["state"] for job in told["jobs"]] == ["done"]
    assert [*told["not found"]] == ["predictions:answers.jsonl"]
    assert "python:shown_models:steady" in Path("report.html").read_text()
    assert "no such file" in shoal("run", "plan.toml").output  # nothing is run where something is missing


def test_failing_cases_of_a_protocol_without_plain_passes_are_those_of_its_table():
    def failing(protocol: str, groups: list[dict[str, str]], passed: list[bool], measure: str) -> str:
        cases = [Case(str(place), (("a",), ("b",)), None, own) for place, own in enumerate(groups)]
        outcomes = [Outcome(case.id, hit) for case, hit in zip(cases, passed, strict=True)]
        result = Result({"protocol": protocol}, cases, outcomes, Measures([Measure(measure, 0.5, 3)]))
        (section,) = failing_sections(result)
        return section.text.text

    cells = [("fst/fst", "ID", "test"), ("fst/fst", "ID", "validation"), ("fst/neu", "OOD", "test")]
    groups = [dict(zip(("cell", "kind", "split"), cell, strict=True)) for cell in cells]
    assert failing("cood", groups, [False] * 3, "accuracy") == "1 of 1 cases fail"
    pairs = [{"diagnostic": "crows"}] * 3
    text = failing("bias", pairs, [True, False, False], "stereotype score")
    assert text == "1 of 3 cases show a preference for the stereotype (the first text)"
    assert failing("bias", pairs, [True, False, False], "accuracy") == "2 of 3 cases fail"
