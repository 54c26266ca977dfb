"""The study's numbers come from the cells that are committed beside it."""

import csv
import subprocess
import sys
from pathlib import Path

STUDY = Path(__file__).parents[3] / "docs" / "studies" / "cood"


def test_the_intervals_of_the_study_follow_from_its_cells():
    made = subprocess.run(
        [sys.executable, STUDY / "intervals.py"], capture_output=True, text=True, check=True
    )
    assert made.stdout == (STUDY / "intervals.csv").read_text()


def test_what_is_beyond_the_shortcut_rises_over_epochs_in_every_seed():
    with (STUDY / "intervals.csv").open() as stream:
        (row,) = [
            row
            for row in csv.DictReader(stream)
            if (row["plan"], row["epoch"], row["of"]) == ("tweets", "5 less 1", "beyond the shortcut")
        ]
    assert [float(change) > 0 for change in row["by seed"].split()] == [True] * 5 and float(row["low"]) > 0
