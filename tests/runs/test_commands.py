"""run, status, show and report on a small plan, from an empty folder to the page."""

import csv
import io
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from shoal import audit
from shoal.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("plan")
    (made / "plan.toml").write_text(
        'models = ["predictions:example", "python:models_for_tests:plain?labels=negative,positive", '
        '"python:models_for_tests:wrong"]\n'
        '[behaviour]\nsuite = "sentiment"\n'
    )
    return made


def shoal(folder: Path, *arguments: str, code: int = 0) -> str:
    command = [argument.replace("DIR", str(folder)) for argument in arguments]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    return done.output


@pytest.fixture(scope="module")
def ran(folder: Path) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parent)
        assert "3 to do" in shoal(folder, "status", "DIR/plan.toml", "--into", "DIR/runs")
        return shoal(folder, "run", "DIR/plan.toml", "--into", "DIR/runs", code=1)


def test_run_says_how_each_job_went(folder, ran):
    assert "3 jobs: 0 done, 3 to run" in ran
    assert ran.count("  done") == 2 and "failed: python:models_for_tests:wrong answers purple" in ran
    assert "Error: 1 of 3 jobs failed" in ran
    again = shoal(folder, "run", "DIR/plan.toml", "--into", "DIR/runs", code=1)
    assert "3 jobs: 2 done, 1 to run" in again
    found = shoal(folder, "status", "DIR/plan.toml", "--into", "DIR/runs")
    assert "2 done, 1 failed" in found and "purple" in found.replace("\n", "")


@pytest.mark.slow
def test_show_gives_every_case_as_rows(folder, ran):
    rows = list(csv.DictReader(io.StringIO(shoal(folder, "show", "example", "--into", "DIR/runs", "--csv"))))
    lines = [
        json.loads(line)
        for line in shoal(folder, "show", "example", "--into", "DIR/runs", "--jsonl").splitlines()
    ]
    assert len(rows) == len(lines) == len(audit("behaviour", "predictions:example").cases)
    assert {row["outcome"] for row in rows} == {"pass", "fail", "n/a"}
    assert json.loads(rows[0]["examples"]) == lines[0]["examples"]
    failing = shoal(folder, "show", "example", "--into", "DIR/runs", "--failing")
    count = Counter(row["outcome"] for row in rows)
    assert failing.startswith(f"{count['fail']:,} of {count['fail'] + count['pass']:,} cases fail\n")


@pytest.mark.slow
def test_the_report_is_the_same_bytes_twice_and_fetches_nothing(folder, ran):
    first = shoal(folder, "report", "DIR/plan.toml", "--into", "DIR/runs", "--out", "DIR/report.html")
    assert "2 of 3 jobs" in first
    page = (folder / "report.html").read_bytes()
    shoal(folder, "report", "DIR/plan.toml", "--into", "DIR/runs", "--out", "DIR/report.html")
    assert (folder / "report.html").read_bytes() == page
    assert not re.search(rb"""(src|action)\s*=|href="(?!#)|url\(|@import""", page)
    assert json.loads((folder / "report.json").read_text())["measures"]


@pytest.mark.slow
def test_show_explains_the_worst_failures(folder, ran):
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parent)
        shown = shoal(
            folder, "show", "plain", "--into", "DIR/runs", "--explain", "lime", "--only", "negation"
        )
    assert "Why?" in shown and "attribution of the preceding word" in shown
    assert shown.count("expected ") == 5 and "→ " in shown
    message = shoal(folder, "show", "example", "--into", "DIR/runs", "--explain", "lime", code=1)
    assert "cannot answer new texts" in message
