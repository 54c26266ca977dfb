"""The study's numbers come from the cells that are committed beside it."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from shoal.protocols import cood
from shoal.runs.settings import make_settings

STUDY = Path(__file__).parents[3] / "docs" / "studies" / "cood"


def test_the_intervals_of_the_study_follow_from_its_cells():
    made = subprocess.run(
        [sys.executable, STUDY / "intervals.py"], capture_output=True, text=True, check=True
    )
    assert made.stdout == (STUDY / "intervals.csv").read_text()


@pytest.mark.parametrize(("plan", "largest"), [("yelp", 2000), ("yelp-epochs", 3000), ("mnli", 3000)])
def test_the_plans_of_the_papers_settings_have_the_papers_numbers(plan, largest):
    table = tomllib.loads((STUDY / f"{plan}-paper.toml").read_text())["cood"]
    settings = make_settings(cood.Settings, table, plan)
    assert (settings.per_label[-1], settings.template) == (largest, ("It is <LABEL>",))
    train = settings.train
    assert (train.learning_rate, train.batch, train.head) == (1e-5, 32, "linear")
