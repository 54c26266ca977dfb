"""A released pickle imported on the command line is the suite of the JSON Lines beside it, rules and all."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from shoal import read_suite
from shoal.cli import main

pytestmark = pytest.mark.golden


@pytest.mark.parametrize("name", [pytest.param("sentiment", marks=pytest.mark.nightly), "squad"])
def test_an_imported_pickle_is_the_published_suite(data: Path, tmp_path: Path, name: str):
    out = tmp_path / "suite.jsonl"
    done = CliRunner().invoke(
        main, ["import", str(data / "checklist" / f"{name}_suite.tar.gz"), "--out", str(out)]
    )
    assert done.exit_code == 0, done.output
    assert "not imported" not in done.output
    imported, published = read_suite(out), read_suite(data / "checklist" / f"{name}.jsonl.gz")
    assert (imported.labels, imported.task) == (published.labels, published.task)
    assert imported.cases == published.cases
