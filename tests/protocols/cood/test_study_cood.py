"""The study's numbers come from the cells that are committed beside it."""

import subprocess
import sys
from pathlib import Path

STUDY = Path(__file__).parents[3] / "docs" / "studies" / "cood"


def test_the_intervals_of_the_study_follow_from_its_cells():
    made = subprocess.run(
        [sys.executable, STUDY / "intervals.py"], capture_output=True, text=True, check=True
    )
    assert made.stdout == (STUDY / "intervals.csv").read_text()
