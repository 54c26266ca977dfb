"""Plans: what they mean, and one clear error for each thing that can be wrong, before anything runs."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from click.testing import CliRunner

from shoal.cli import main
from shoal.core.errors import PlanError, ShoalError
from shoal.models import parse_spec
from shoal.runs.plan import check_plan, make_plan, read_plan
from shoal.runs.settings import make_settings

GOOD = 'models = ["predictions:example"]\n[behaviour]\nsuite = "sentiment"\n'


def jobs_of(text: str, folder: Path):
    path = folder / "plan.toml"
    path.write_text(text)
    return check_plan(read_plan(path))


def test_seeds_multiply_only_what_draws_at_random(tmp_path):
    seeds = "seeds = [0, 1, 2]\n"
    assert len(jobs_of(seeds + GOOD, tmp_path)) == 1
    assert len({job.id for job in jobs_of(seeds + GOOD + "limit = 50\n", tmp_path)}) == 3


def test_models_multiply_and_groups_bring_models(tmp_path):
    text = 'models = ["predictions:example"]\n[behaviour]\n'
    text += '[groups]\nbase = ["python:json:dumps", "python:json:loads"]\n'
    jobs = jobs_of(text, tmp_path)
    assert [job.model for job in jobs] == ["predictions:example", "python:json:dumps", "python:json:loads"]
    assert len({job.cases for job in jobs}) == 1


def test_a_pattern_of_checkpoints_is_a_group_with_seeds_and_steps_of_the_paths(tmp_path, monkeypatch):
    for seed, step in itertools.product((10, 2), ("20k", "2000k")):
        folder = tmp_path / f"ckpt/seed-{seed}/step_{step}"
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")
    (tmp_path / "ckpt/seed-2/step_logs").mkdir()
    table = {"models": "ckpt/seed-*/step_*", "bias": {"diagnostic": "crows", "data": "example"}}
    (tmp_path / "plan.toml").write_text('models = "ckpt/seed-*/step_*"\n[bias]\ndata = "example"\n')
    read = read_plan(tmp_path / "plan.toml").groups["checkpoints"]  # paths start at the plan's folder
    monkeypatch.chdir(tmp_path)
    group = make_plan(table).groups["checkpoints"]
    assert group.seeds == (2, 2, 10, 10) == read.seeds and group.steps == (20_000, 2_000_000) * 2
    assert group.models[1] == "hf:ckpt/seed-2/step_2000k"
    named = make_plan({**table, "models": [], "groups": {"base": "ckpt/seed-*/step_20k?device=cpu"}}).groups[
        "base"
    ]
    assert (
        named.seeds == (2, 10) and not named.steps and named.models[0].endswith("seed-2/step_20k?device=cpu")
    )
    (tmp_path / "ckpt/seed-2/step_logs/config.json").write_text("{}")
    for models, why in (
        ("ckpt/seed-*/step_*", "no number of steps in 'step_logs'"),
        ("ckpt/*-x", "no checkpoint matches"),
    ):
        with pytest.raises(PlanError, match=why):
            make_plan({**table, "models": models})


@pytest.mark.parametrize(
    "change",
    ["limit = 5\n", 'split = "test"\nsplit_by = "id"\n'],
)
def test_what_changes_the_answers_changes_the_name(tmp_path, change):
    assert jobs_of(GOOD, tmp_path)[0].id != jobs_of(GOOD + change, tmp_path)[0].id


@pytest.mark.parametrize("change", ["tolerance = 0.2\n", "resamples = 10\n"])
def test_what_only_changes_scoring_does_not(tmp_path, change):
    assert jobs_of(GOOD, tmp_path)[0].id == jobs_of(GOOD + change, tmp_path)[0].id


def test_the_content_of_files_is_part_of_the_name(tmp_path):
    answers, suite = tmp_path / "answers.jsonl", tmp_path / "suite.jsonl"
    row = '{"functionality": "f", "type": "MFT", "case_id": 1, "examples": [{"text": "a"}], "labels": 0}\n'
    text = f'models = ["predictions:{answers}"]\n[behaviour]\nsuite = "{suite}"\n'
    names = set()
    for first, second in (("1\n", row), ("2\n", row), ("1\n", row + row.replace("1,", "2,"))):
        answers.write_text(first)
        suite.write_text(second)
        names.add(jobs_of(text, tmp_path)[0].id)
    assert len(names) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD.replace("models", "modles"), r'unknown key "modles"[\s\S]*try: "models"'),
        (GOOD + "tolerence = 1\n", r'\[behaviour\]: unknown setting "tolerence"[\s\S]*try: "tolerance"'),
        (GOOD.replace('"sentiment"', '"absent.jsonl"'), "suite 'absent.jsonl' is neither a file"),
        ('models = ["predictions:example", "predictions:example"]\n[behaviour]\n', "is listed twice"),
        ('models = ["predictions:example"]\n', "no protocol"),
        ("seeds = [0, 0]\n" + GOOD, r"seeds = \[0, 0\]"),
        ("seeds = [true]\n" + GOOD, "seeds = "),
        ("seeds = [1]\n" + GOOD + "seed = 2\n", "two sources for one value"),
        (
            '[models.m]\nspec = "predictions:example?labels=a,b"\nlabels = ["b", "a"]\n[behaviour]\n',
            "labels is given twice, in the spec and in the table",
        ),
    ],
)
def test_each_mistake_is_one_clear_error_that_names_the_plan(tmp_path, text, message):
    with pytest.raises(ShoalError, match=message) as caught:
        jobs_of(text, tmp_path)
    assert "plan.toml" in str(caught.value)


def test_a_table_of_labels_in_a_plan_is_a_map_of_names():
    plan = make_plan(
        {
            "models": {
                "mine": {
                    "spec": "predictions:answers.csv",
                    "labels": {"pos&more": "positive", "neg": "negative"},
                }
            },
            "behaviour": {"suite": "sentiment"},
        }
    )
    options = parse_spec(plan.models["mine"]).options
    assert options["labels"] == "pos&more:positive,neg:negative"


PLACED = """models = ["predictions:answers.csv?label=label"]
[behaviour]
suite = "suite.jsonl"
split = "parts.csv:train"
"""
FILES = {
    "answers.csv": "id,label\na/1,yes\na/2,no\n",
    "parts.csv": "functionality,case_id,split\na,1,train\na,2,train\n",
    "suite.jsonl": '{"suite": "s", "label_names": ["no", "yes"]}\n'
    + "".join(
        f'{{"functionality": "a", "capability": "c", "type": "MFT", "case_id": {n}, "examples": [{{"text": "{n}"}}], '
        '"labels": "yes"}\n'
        for n in (1, 2)
    ),
    "plan.toml": PLACED,
}


def test_paths_in_a_plan_start_at_its_own_folder(tmp_path, monkeypatch):
    (tmp_path / "study").mkdir()
    for name, text in FILES.items():
        (tmp_path / "study" / name).write_text(text)
    monkeypatch.chdir(tmp_path / "study")
    (near,) = check_plan(read_plan(Path("plan.toml")))
    monkeypatch.chdir(tmp_path)
    (far,) = check_plan(read_plan(Path("study/plan.toml")))
    assert far.identity == near.identity and far.id == near.id
    assert (far.model, far.settings.split) == (
        "predictions:study/answers.csv?label=label",
        "study/parts.csv:train",
    )
    assert CliRunner().invoke(main, ["run", "study/plan.toml"]).exit_code == 0


def test_where_nothing_is_there_they_start_here_and_two_are_one_too_many(tmp_path, monkeypatch):
    (tmp_path / "study").mkdir()
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path("study/plan.toml" if name == "plan.toml" else name).write_text(text)
    (job,) = check_plan(read_plan(Path("study/plan.toml")))
    assert job.model == "predictions:answers.csv?label=label"
    Path("study/suite.jsonl").write_text(FILES["suite.jsonl"])
    with pytest.raises(ShoalError, match=r"study/plan.toml: suite.jsonl exists both in the plan's folder"):
        read_plan(Path("study/plan.toml"))


@dataclass(frozen=True, slots=True)
class Schedule:
    REMOVED: ClassVar[Mapping[str, str]] = {"warmup": "warmup_steps"}
    steps: int = 10


@dataclass(frozen=True, slots=True)
class Toy:
    REMOVED: ClassVar[Mapping[str, str]] = {"slack": "set by the profile"}
    suite: str = "sentiment"
    limit: int = 5
    schedule: Schedule = Schedule()


@pytest.mark.parametrize(
    "values", [{"slack": 1}, {"advanced": {"slack": 1}}, {"advanced.slack": "1"}, {"schedule": {"warmup": 2}}]
)
def test_a_removed_setting_is_an_error_that_names_its_replacement(values):
    with pytest.raises(PlanError, match="is not a setting here") as caught:
        make_settings(Toy, values, "[toy]")
    replacement = "warmup_steps" if "schedule" in values else "set by the profile"
    assert str(caught.value).endswith(f"\n  try: {replacement}")


def test_plans_and_set_reach_both_tiers_of_settings():
    plain = make_settings(Toy, {"limit": 7, "schedule": {"steps": 3}}, "[toy]")
    under_advanced = {"advanced": {"limit": 7, "schedule": {"steps": 3}}}
    for values in (
        under_advanced,
        {"advanced.limit": "7", "advanced.schedule.steps": "3"},
        {"limit": "7", "schedule.steps": "3"},
    ):
        assert make_settings(Toy, values, "[toy]") == plain
    with pytest.raises(PlanError, match="limit is given twice, once under advanced"):
        make_settings(Toy, {"limit": 7, "advanced": {"limit": 7}}, "[toy]")
