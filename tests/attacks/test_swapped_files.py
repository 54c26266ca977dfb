"""Stores edited by hand: files of another job, files of another kind and other values are named, or made again."""

import json
from pathlib import Path

import pytest
from small_world import lines, write_world
from small_world import run_shoal as shoal

PLAN = """
models = ["predictions:answers.jsonl", "python:models_to_swap:positive"]
[behaviour]
suite = "suite.jsonl"
resamples = 10
"""


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    write_world(tmp_path)
    (tmp_path / "models_to_swap.py").write_text(
        "def positive(texts):\n    return ['positive' for _ in texts]\n"
    )
    (tmp_path / "plan.toml").write_text(PLAN)
    assert shoal("run", "plan.toml").exit_code == 0
    return tmp_path


def folders(world: Path) -> tuple[Path, Path]:
    stored, asked = sorted((world / "runs" / "jobs").iterdir())
    return stored, asked


def swap(world: Path, *names: str) -> None:
    stored, asked = folders(world)
    for name in names:
        content = (stored / name).read_bytes()
        (stored / name).write_bytes((asked / name).read_bytes())
        (asked / name).write_bytes(content)


def scores(output: str) -> dict[str, float]:
    measures = json.loads(output)["measures"]
    return {row["groups"]["model"]: row["value"] for row in measures if row["name"] == "suite score"}


def test_measures_of_another_job_are_made_again(world):
    before = scores(shoal("status", "plan.toml", "--json").stdout)
    swap(world, "measures.json", "outcomes.jsonl")
    assert scores(shoal("status", "plan.toml", "--json").stdout) == before and len(set(before.values())) == 2


def test_answers_of_another_job_are_named(world):
    swap(world, "answers.jsonl", "answers.digest", "measures.json", "outcomes.jsonl")
    done = shoal("status", "plan.toml")
    assert done.exit_code == 1 and "answers of another job" in done.output and "\n  try: rm " in done.output


def test_the_description_of_another_job_is_named(world):
    swap(world, "job.json")
    done = shoal("show", folders(world)[0].name)
    assert done.exit_code == 1 and "job.json: damaged" in done.output and "\n  try: " in done.output


def without_digest(path: Path, **fields: object) -> None:
    """Edit an object of a store, as if it had been written before objects had digests."""
    plain = json.loads(path.read_text()) | fields
    plain.pop("digest", None)
    path.write_text(json.dumps(plain))


@pytest.mark.parametrize(
    "fields",
    [
        {"cases": "../../outside"},
        {"protocol": None},
        {"settings": 3},
    ],
    ids=lambda fields: str(fields)[:40],
)
def test_a_description_that_is_none_is_named_and_nothing_outside_is_touched(world, fields):
    stored, _ = folders(world)
    without_digest(stored / "job.json", **fields)
    for verb in (("show",), ("report",), ("gate", "--rules", "gate.toml")):
        done = shoal(verb[0], stored.name, *verb[1:])
        assert done.exit_code == 1 and "job.json: damaged" in done.output, done.output
    assert not list(world.parent.glob("outside*")) and not list(world.glob("outside*"))


@pytest.mark.parametrize(
    "fields",
    [
        {"data": None},
        {"data": {"label": "nope"}},
        {"data": {"label": 3}},
        {"mark": {}},
    ],
    ids=lambda fields: str(fields)[:40],
)
def test_an_answer_that_is_none_is_named_and_not_counted_as_wrong(world, fields):
    stored, _ = folders(world)
    answers = stored / "answers.jsonl"
    rows = [json.loads(line) for line in answers.read_text().splitlines()]
    answers.write_bytes(lines([rows[0] | fields, *rows[1:]]))
    (stored / "answers.digest").unlink()
    (stored / "measures.json").unlink()
    done = shoal("show", stored.name)
    assert done.exit_code == 1 and "answers.jsonl: " in done.output and "\n  try: mv " in done.output
    answers.rename(stored / "answers.partial.jsonl")
    done = shoal("run", "plan.toml")
    resumed = (stored / "answers.jsonl").exists() and (stored / "answers.jsonl").read_text().count("\n")
    assert (done.exit_code == 0 and resumed == len(rows)) or "\n  try: rm " in done.output, done.output
