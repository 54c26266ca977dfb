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


def test_data_from_elsewhere_are_columns_of_their_own(tmp_path):
    plan = PLAN.replace('"vanilla", "group-dro"', '"vanilla"') + 'suite = "sentiment"\niid = "sentiment"\n'
    rows = [("a lovely evening", "positive"), ("a dreadful evening", "negative")] * 20
    (tmp_path / "tweets.tsv").write_text(
        "text\tlabel\n" + "".join(f"{t} {n}\t{w}\n" for n, (t, w) in enumerate(rows))
    )
    ood = json.dumps([f"tweets={tmp_path / 'tweets.tsv'}"])
    lines = plan.replace('hold_out = ["test type"]', f"ood = {ood}")
    (tmp_path / "plan.toml").write_text(lines)
    words = ["run", str(tmp_path / "plan.toml"), "--into", str(tmp_path / "runs")]
    found = CliRunner().invoke(main, [*words, "--json"])
    assert found.exit_code == 0, found.output
    measures = json.loads(found.stdout)["measures"]
    scores = [row for row in measures if row["name"] == "ood score" and "seed" not in row["groups"]]
    assert [(row["groups"]["config"], row["groups"]["data"], row["n"]) for row in scores] == [
        ("iid", "tweets", 40), ("iid>suite", "tweets", 40),
    ]  # fmt: skip
    assert all(row["value"] > 0.6 for row in scores)
    (p,) = [row for row in measures if row["name"] == "p value" and row["groups"]["score"] == "ood score"]
    assert p["groups"]["data"] == "tweets"
    iid = [row for row in measures if row["name"] == "iid score" and "seed" not in row["groups"]]
    assert {row["n"] for row in iid} == {500}  # and they are no part of the i.i.d. score
    table = CliRunner().invoke(main, words)
    assert "tweets" in table.output
    (tmp_path / "plan.toml").write_text(lines.replace("tweets.tsv", "twets.tsv"))
    wrong = CliRunner().invoke(main, words)
    assert wrong.exit_code == 1 and "is not a file" in wrong.output
