"""The recipes of docs/how-to/log-results.md; MLflow runs its own."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import Measure

PAGE = (Path(__file__).parents[1] / "docs" / "how-to" / "log-results.md").read_text()
METRICS, MLFLOW, _WANDB = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
LEGAL = re.compile("[_a-zA-Z][_a-zA-Z0-9]*")
"""The stricter of the two: W&B sorts and filters only metrics with such a name."""


@pytest.fixture(scope="module")
def recipe() -> dict[str, Any]:
    """The names that the first block defines."""
    names: dict[str, Any] = {}
    exec(METRICS, names)
    return names


def test_every_metric_has_a_name_of_its_own_and_the_page_shows_some(recipe):
    rows = [row for row in recipe["result"].measures if row.value is not None]
    assert Counter(map(recipe["metric_name"], rows)).most_common(1)[0][1] == 1
    shown = re.findall(r"\| `(.*?)` \|", PAGE)
    assert len(shown) == 3 and recipe["metrics"].keys() >= set(shown)


@given(group=st.text(max_size=40))
def test_every_name_is_legal_in_both_tools(group, recipe):
    assert LEGAL.fullmatch(recipe["metric_name"](Measure("pass rate", 0.5, 2, {"functionality": group})))


def run(block: str, folder: Path, **environment: str) -> None:
    """Run the first block and another in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-c", METRICS + block]
    subprocess.run(command, cwd=folder, env=os.environ | environment, check=True, timeout=300)


@pytest.mark.slow
def test_mlflow_keeps_every_metric(recipe, tmp_path):
    run(MLFLOW, tmp_path, MLFLOW_TRACKING_URI=f"file:{tmp_path / 'store'}", MLFLOW_ALLOW_FILE_STORE="true")
    files = [path for path in (tmp_path / "store").rglob("metrics/*") if path.is_file()]
    assert {path.name: float(path.read_text().split()[1]) for path in files} == recipe["metrics"]
    assert list((tmp_path / "store").rglob("artifacts/shoal-job.json"))
