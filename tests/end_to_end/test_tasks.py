"""Whole small plans of duplicate questions and of reading comprehension: train, hold out, score, tell."""

import json

import pytest
from click.testing import CliRunner

from shoal.cli import main

PLAN = """
models = ["tiny:{task}"]
[learning]
suite = "{task}"
iid = "{task}"
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


@pytest.mark.parametrize(("task", "types", "f1_above"), [("paraphrase", 3, 0.6), ("reading", 2, 0.3)])
def test_a_plan_of_this_task_runs_from_end_to_end(tmp_path, task, types, f1_above):
    (tmp_path / "plan.toml").write_text(PLAN.format(task=task))
    words = ["run", str(tmp_path / "plan.toml"), "--into", str(tmp_path / "runs"), "--json"]
    found = CliRunner().invoke(main, words)
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    assert len(told["jobs"]) == 1 + 2 * (1 + types) and all(job["state"] == "done" for job in told["jobs"])
    rows = {
        (row["name"], row["groups"]["config"], row["groups"].get("hold out")): row
        for row in told["measures"]
        if row["groups"].get("method") == "vanilla"
        and not row["groups"].keys() & {"seed", "estimand", "functionality"}
    }
    assert rows["G", "iid>suite", "seen"]["value"] > 0
    assert rows["G", "iid>suite", "test type"]["value"] is not None
    f1, exact = rows["iid F1", "iid", "none"]["value"], rows["iid score", "iid", "none"]["value"]
    assert f1 > f1_above and (task != "reading" or f1 >= exact > 0)


def test_data_from_elsewhere_are_columns_of_their_own(tmp_path):
    plan = PLAN.format(task="sentiment").replace('"vanilla", "group-dro"', '"vanilla"')
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
