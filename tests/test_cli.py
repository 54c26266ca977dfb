"""The command line: whole output and exit codes, errors included."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from toy_suite import rows_of, write_answers, write_suite

from shoal.cli import main

ROOT = Path(__file__).parents[1]
ROWS = rows_of({"good": 2, "[bold]bad[/bold]": 2})


def shoal(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_suite(tmp_path / "suite.jsonl", ROWS)


@pytest.fixture
def predictions(tmp_path: Path) -> str:
    return write_answers(tmp_path / "p.jsonl", ROWS, (1, 1, 0, 1))


def test_try_as_json_is_one_object_with_the_public_names(suite, predictions):
    done = shoal("try", "behaviour", predictions, "--set", f"suite={suite}", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found.keys() == {"jobs", "measures", "findings"}
    first = found["measures"][0]
    assert first.keys() == {
        "name", "value", "n", "groups", "interval", "interval_method", "na", "errors", "note", "facts",
        "basis", "of", "reason", "verdict", "headline",
    }  # fmt: skip
    assert first["groups"] == {"functionality": "good", "capability": "c", "test type": "MFT"}
    assert (first["value"], first["n"], first["interval_method"]) == (1.0, 2, "wilson")
    assert found["jobs"][0]["settings"]["suite"] == str(suite)
    score = found["measures"][-1]
    assert (score["name"], score["value"], score["groups"]) == ("suite score", 0.75, {})


def test_try_prints_a_table_in_which_data_are_never_markup(suite, predictions):
    done = shoal("try", "behaviour", predictions, "--set", f"suite={suite}")
    assert done.exit_code == 0, done.output
    assert "[bold]bad[/bold]: 1 of " in done.stdout
    assert "expected positive, got negative" in done.stdout


def test_a_choice_of_cases_is_said(suite, predictions):
    done = shoal("try", "behaviour", predictions, "--set", f"suite={suite}", "--only", "functionality=good")
    assert done.exit_code == 0 and "2 cases of the suite were not asked" in " ".join(done.output.split())


def test_check_describes_a_suite(suite):
    found = json.loads(shoal("check", suite, "--json").stdout)
    assert (found["cases"], found["examples"], found["labels"]) == (4, 4, ["negative", "positive"])
    assert "4 cases, 4 examples, 2 functionalities" in shoal("check", suite).stdout


def test_check_reports_every_file_that_is_wrong(suite, tmp_path):
    wrong = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for path in wrong:
        path.write_text("{}")
    done = shoal("check", wrong[0], suite, wrong[1])
    assert done.exit_code == 1 and "4 cases, 4 examples" in done.stdout
    assert all(f"Error: {path}: not a suite" in done.stderr for path in wrong)


def test_the_example_predictions_are_those_of_their_model():
    code = "import sys; sys.path.insert(0, 'tools'); from example_predictions import OUT, predictions; import gzip;"
    code += "sys.exit(gzip.decompress(OUT.read_bytes()) != gzip.decompress(predictions()))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


@pytest.mark.parametrize("option", [("--limit", 4), ("--suite", "sentiment"), ("--only", "a=b")])
def test_an_option_that_a_protocol_does_not_have_is_refused_by_its_name(option):
    run = shoal("try", "cood", "tiny:nli", *option)
    assert run.exit_code and f"Error: {option[0]}: cood has no such setting" in run.output
