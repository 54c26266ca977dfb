"""Whole small plans: train, hold out, score, tell."""

import json
from statistics import fmean

import pytest
from click.testing import CliRunner

from shoal.cli import main

PLAN = """
models = ["tiny:sentiment"]
[learning]
iid_limit = 64
limit = 300
resamples = 200
shuffles = 500
train.on = ["iid", "iid>suite"]
train.method = ["vanilla", "group-dro"]
train.epochs = 0.1
train.iid_epochs = 1
hold_out = ["test type"]
"""


TASKS = ("sentiment", "paraphrase", "reading")


def test_a_plan_of_three_tasks_trains_each_on_its_own_data(tmp_path):
    tables = [
        f'[learning.tasks.{task}]\nsuite = "{task}"\niid = "{task}"\nmodel = "tiny:{task}"\n'
        for task in TASKS
    ]
    (tmp_path / "plan.toml").write_text(PLAN + "\n".join(tables))
    words = ["run", str(tmp_path / "plan.toml"), "--into", str(tmp_path / "runs"), "--json"]
    found = CliRunner().invoke(main, words)
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    assert len(told["jobs"]) == 3 + 2 * (4 + 4 + 3) and all(job["state"] == "done" for job in told["jobs"])
    rows = {
        (row["name"], row["groups"].get("task"), row["groups"]["config"], row["groups"].get("hold out")): row[
            "value"
        ]
        for row in told["measures"]
        if row["groups"].get("method") == "vanilla"
        and not row["groups"].keys() & {"seed", "functionality", "score"}
    }
    g = [rows["G", task, "iid>suite", out] for task in TASKS for out in ("seen", "test type")]
    assert min(g) > 0 and rows["average G", None, "iid>suite", "all"] == pytest.approx(fmean(g))
    f1, exact = (rows[name, "reading", "iid", "none"] for name in ("iid F1", "iid score"))
    assert rows["iid F1", "paraphrase", "iid", "none"] > 0.6 and f1 > 0.3 and f1 >= exact > 0
