"""Tests that read public data: skipped with a reason where it is missing, failed in CI, never silent."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
READER = "tests/golden/test_bias.py::test_counts_of_crows_pairs"


def run(*arguments: str, **variables: str | None) -> subprocess.CompletedProcess[str]:
    """Pytest in the repository, with environment variables set or (None) taken away."""
    changed = {**os.environ, **variables}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=ROOT,
        env={name: value for name, value in changed.items() if value is not None},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("ci", [None, "false"])
def test_without_the_data_a_user_sees_a_skip_and_why(ci, tmp_path):
    done = run(READER, CI=ci, SHOAL_DATA=str(tmp_path / "nowhere"))
    assert done.returncode == 0, done.stdout
    assert "1 skipped" in done.stdout and "nowhere; set SHOAL_DATA to the folder" in done.stdout


@pytest.mark.slow
def test_without_the_data_ci_fails(tmp_path):
    done = run(READER, CI="true", SHOAL_DATA=str(tmp_path / "nowhere"))
    assert done.returncode == 1, done.stdout
    assert "skipped" not in done.stdout.splitlines()[-1] and "nothing is skipped" in done.stdout
