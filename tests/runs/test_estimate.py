"""The estimate of `shoal check PLAN`: what a plan trains, and how long it takes here."""

import json

import pytest
from click.testing import CliRunner

from shoal.cli import main

PLAN = """
models = ["tiny:sentiment"]
seeds = [0, 1]
[learning]
iid = "sentiment"
iid_limit = 32
train.on = ["iid", "iid>suite"]
train.method = ["lp-ft", "vanilla"]
train.tune = true
train.epochs = 0.1
"""


@pytest.mark.slow
def test_check_counts_trainings_and_trials_of_a_plan_and_times_them(tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    found = json.loads(CliRunner().invoke(main, ["check", str(plan), "--json"]).output)["estimate"]
    # The i.i.d. stage is shared; the search of vanilla is also one of lp-ft's, and lp has its own.
    assert (found["jobs"], found["trainings"], found["tries"]) == (6, 2 * 3, 6 + 6)
    assert found["steps"] > 0 and found["questions"] > 0 and found["seconds"] > 0
