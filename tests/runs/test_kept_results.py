"""What is kept of a scored job: read in part, when it is looked at, and the same as scoring anew gives."""

import json

import pytest

from shoal import RunStore, read_plan
from shoal.core.errors import StoreError
from shoal.runs import store_files as kept_columns
from shoal.runs.executors import run_here
from shoal.runs.plan import check_plan
from shoal.runs.scoring import brief_result, result_of

MODEL = """
def moody(texts):
    if any(len(text) % 7 == 0 for text in texts):
        raise ValueError("no idea")
    return [{"label": "positive", "score": 0.75} for text in texts]
"""


@pytest.fixture
def finished(tmp_path, monkeypatch):
    """A store with one finished job, some of whose answers are errors."""
    monkeypatch.setattr(kept_columns, "BLOCK", 7)
    (tmp_path / "moody_models.py").write_text(MODEL)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "plan.toml").write_text(
        'models = ["python:moody_models:moody", "predictions:example"]\n'
        '[behaviour]\nsuite = "sentiment"\nlimit = 60\n'
    )
    store, jobs = RunStore(tmp_path / "runs"), check_plan(read_plan(tmp_path / "plan.toml"))
    assert [problem for _, problem in run_here(jobs, store)] == [None, None]
    return store, jobs


def test_a_result_read_back_says_what_scoring_anew_says(finished):
    store, jobs = finished
    for job in jobs:
        brief, anew = brief_result(job, store), result_of(job, store)
        assert brief.measures == anew.measures and brief.findings == anew.findings
        assert len(brief.cases) == len(brief.outcomes) == 60 and list(brief.cases) == list(anew.cases)
        assert list(brief.outcomes) == list(anew.outcomes)
        assert list(brief.columns["said"]) == list(anew.columns["said"])
    assert any(outcome.error for outcome in brief_result(jobs[0], store).outcomes)


def test_a_folder_in_place_of_a_file_of_cases_is_an_error(tmp_path):
    (tmp_path / "cases.jsonl").mkdir()
    with pytest.raises(StoreError, match="cases.jsonl: a folder"):
        kept_columns.load_built(tmp_path / "cases.jsonl")


def test_a_job_of_another_format_is_refused_in_words_and_left_as_it_is(finished):
    store, jobs = finished
    path = store.job_folder(jobs[0].id) / "job.json"
    older = json.loads(path.read_text())
    del older["format"], older["digest"]
    path.write_text(json.dumps(older))
    with pytest.raises(
        StoreError, match="written by another version of shoal\n.*older than 3; .* reads format 4"
    ):
        store.read_job(jobs[0].id)
    (_, refused), (_, problem) = run_here(jobs, store)
    assert "written by another version" in str(refused) and problem is None
    (store.job_folder(jobs[0].id) / "answers.jsonl").unlink()
    ((_, refused),) = run_here(jobs[:1], store)
    assert "written by another version" in str(refused)
    assert json.loads(path.read_text()) == older


def test_outcomes_that_are_scored_again_while_they_are_read_are_refused_in_words(finished):
    store, jobs = finished
    brief = brief_result(jobs[0], store)
    path = store.job_folder(jobs[0].id) / "outcomes.jsonl"
    path.rename(path.with_suffix(".old"))
    path.write_bytes(path.with_suffix(".old").read_bytes())
    with pytest.raises(StoreError, match="scored again by another process"):
        list(brief.outcomes)
