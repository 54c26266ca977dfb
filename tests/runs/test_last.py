"""The result of the latest `try`: kept in the working directory, and found by show, report, gate and compare."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from toy_suite import rows_of, write_answers, write_suite

from shoal.cli import main
from shoal.runs.plan import with_option

ROWS = rows_of({"good": 2, "bad": 30})


def shoal(*arguments: object):
    return CliRunner().invoke(main, [str(argument) for argument in arguments], env={"COLUMNS": "80"})


@pytest.fixture
def spec(tmp_path, monkeypatch):
    """Thirty failures of `bad`, in the current folder."""
    monkeypatch.chdir(tmp_path)
    write_suite(tmp_path / "suite.jsonl", ROWS)
    return write_answers(Path("p.jsonl"), ROWS, (1, 1, *[0] * 30))


def tried(spec, *more):
    done = shoal("try", "behaviour", spec, "--suite", "suite.jsonl", *more)
    assert done.exit_code == 0, done.output
    return done.output


def test_every_verb_finds_the_latest_result(spec, tmp_path):
    assert "Next: shoal show last --failing    shoal report last" in tried(spec)
    Path("gate.toml").write_text('[[rule]]\nmeasure = "pass rate"\nat_least = 0.9\n')
    Path("p.jsonl").unlink()  # it is not queried again
    assert "2 of 32 cases pass" in shoal("show", "last").output
    assert shoal("gate", "last", "--rules", "gate.toml").exit_code == 3
    assert "A and B pass the same cases" in shoal("compare", "last", "last").output
    assert shoal("report", "last").output == "Wrote report.html: 1 job.\n"
    assert "bad/0" in Path("report.html").read_text()


def test_only_the_latest_result_is_kept_and_git_ignores_it(spec):
    tried(spec)
    tried(spec, "--limit", 5)
    assert len(list(Path(".shoal").rglob("answers.jsonl"))) == 1
    assert "of 5 cases" in shoal("show", "last").output
    assert Path(".shoal/.gitignore").read_text() == "*\n"


def test_a_folder_that_cannot_be_written_costs_one_note(spec):
    Path(".shoal").write_text("a file in the way")
    output = tried(spec)
    assert "2 of 32 cases pass" in output
    assert output.count("not kept") == 1 and "shoal show last" not in output


def test_a_model_that_answers_nothing_leaves_the_result_before_it(spec):
    tried(spec)
    Path("ill.py").write_text("def model(texts):\n    raise RuntimeError('ill')\n")
    done = shoal("try", "behaviour", "python:ill:model?labels=negative,positive", "--suite", "suite.jsonl")
    assert done.exit_code == 1
    assert "2 of 32 cases pass" in shoal("show", "last").output


def test_without_a_result_the_error_names_try(spec):
    done = shoal("show", "last")
    assert done.exit_code == 1 and "try: shoal try" in done.output


def test_failing_cases_come_worst_functionality_first_and_twenty_each(spec):
    tried(spec)
    output = shoal("show", "last", "--failing").output
    assert output.startswith("30 of 32 cases fail\n\nbad: 30 of 30 fail\n")
    assert output.count("expected") == 20 and "10 more: --all" in output
    assert shoal("show", "last", "--failing", "--all").output.count("expected") == 30


def test_the_worst_functionality_comes_first(spec):
    rows = rows_of({"a_little": 10, "some": 10, "zero": 5})
    write_suite(Path("suite.jsonl"), rows)
    tried(write_answers(Path("p.jsonl"), rows, [0] + [1] * 9 + [0] * 5 + [1] * 5 + [0] * 5))
    lines = shoal("show", "last", "--failing").output.splitlines()
    titles = [line for line in lines if line.endswith(" fail")][1:]
    assert titles == ["zero: 5 of 5 fail", "some: 5 of 10 fail", "a_little: 1 of 10 fail"]


def test_show_and_report_take_models_and_result_files(spec):
    assert "bad: 30 of 30 fail" in shoal("show", spec, "--suite", "suite.jsonl", "--failing").output
    Path("result.json").write_text(shoal("show", spec, "--suite", "suite.jsonl", "--json").stdout)
    assert "2 of 32 cases pass" in shoal("show", "result.json").output
    refused = shoal("show", "result.json", "--failing")
    assert refused.exit_code == 1 and "a result file has rates, not outcomes" in refused.output
    assert shoal("report", "result.json", "--out", "page.html").exit_code == 0
    assert json.loads(Path("page.json").read_text())["jobs"][0]["model"] == spec


def test_labels_are_quoted_into_the_spec(spec):
    Path("odd.py").write_text(
        "def model(texts):\n    return ['so, so: bad & +1%' if 'bad' in text else 'ok' for text in texts]\n"
    )
    labels = r"so\, so\: bad & +1%:negative,ok:positive"
    done = shoal("try", "behaviour", "python:odd:model", "--suite", "suite.jsonl", "--labels", labels)
    assert done.exit_code == 0, done.output
    twice = shoal("try", "behaviour", with_option("python:odd:model", "labels", "a,b"), "--labels", labels)
    assert "labels are given twice" in twice.output
    assert "labels is for models" in shoal("show", "last", "--labels", labels).output


def test_answers_of_an_endpoint_are_for_their_owner_only(spec, monkeypatch):
    monkeypatch.setattr("shoal.runs.results.is_remote", lambda spec: True)
    tried(spec)
    files = [path for path in Path(".shoal").rglob("*") if path.is_file()]
    assert files and all(path.stat().st_mode & 0o077 == 0 for path in files)
