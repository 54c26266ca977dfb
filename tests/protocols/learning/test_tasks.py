"""Several tasks in one plan: one table with Avg, its files, and what is refused."""

import csv
import json
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from toy_suite import write_answers, write_suite

from shoal.cli import main
from shoal.core.errors import PlanError
from shoal.protocols import find_protocol
from shoal.runs.plan import make_plan, read_plan

SCRIPT = Path(__file__).parents[2] / "support" / "table_3_by_hand.py"
TASKS = {"sentiment": 2, "paraphrase": 3, "reading": 5}
"""Every so-manyth answer is wrong after the whole suite; without a part, and without all of it, more are."""
SCENARIOS = {"iid": 1, "seen": 3, "functionality": 2, "capability": 2}
TEXTS = 24
TITLES = {"seen": "G_seen", "functionality": "G_func", "capability": "G_class"}


def write_task(folder: Path, task: str, step: int) -> str:
    """Write suite, answers and i.i.d. rows of a task, and return its table of the plan."""
    rows: list[dict[str, Any]] = [
        {
            "functionality": f"{task} {name}",
            "capability": capability,
            "type": "MFT",
            "case_id": number,
            "labels": number % 2,
            "examples": [{"text": f"{task} {name} {number}"}],
        }
        for capability, name, size in (("a", "one", 40), ("a", "two", 28), ("b", "three", 24))
        for number in range(size)
    ]
    write_suite(folder / f"{task}.jsonl", rows)
    files, answers = [], []
    for place, (name, times) in enumerate(SCENARIOS.items()):
        said = [
            (row["case_id"] + (number % (step * times) == place % 2)) % 2 for number, row in enumerate(rows)
        ]
        write_answers(folder / f"{task}.{name}.jsonl", rows, said)
        files.append(f'{name} = "{task}.{name}.jsonl"')
    lines = [f"{task} row {number}\t{number % 2}" for number in range(TEXTS)]
    (folder / f"{task}.tsv").write_text("\n".join(["sentence\tlabel", *lines]) + "\n")
    for name, times in (("iid", 4), ("seen", 3)):
        words = [("negative", "positive")[(n + (n % (step * times) == 0)) % 2] for n in range(TEXTS)]
        text = "\n".join(["id,label", *(f"{n},{word}" for n, word in enumerate(words))])
        (folder / f"{task}.{name}.csv").write_text(text + "\n")
        answers.append(f'{name} = "{task}.{name}.csv"')
    head = f'[learning.tasks.{task}]\nsuite = "{task}.jsonl"\niid_test = "{task}.tsv"\n'
    parts = [head, f"[learning.tasks.{task}.predictions]", *files]
    return "\n".join([*parts, f"[learning.tasks.{task}.iid_predictions]", *answers, ""])


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shared = (
        'models = ["m"]\n[learning]\nprofile = "reference"\niid_labels = ["negative", "positive"]\n'
        "resamples = 50\nshuffles = 50\n"
    )
    tables = [write_task(tmp_path, task, step) for task, step in TASKS.items()]
    (tmp_path / "plan.toml").write_text(shared + "\n".join(tables))
    return tmp_path / "plan.toml"


def shoal(*words: object) -> str:
    done = CliRunner().invoke(main, [*map(str, words), "--into", "runs"])
    assert done.exit_code == 0, done.output + done.stderr
    return done.stdout


def by_hand(plan: Path) -> dict[str, dict[str, float]]:
    done = subprocess.run([sys.executable, "-I", SCRIPT, plan], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    table: dict[str, dict[str, float]] = json.loads(done.stdout)
    return table


def test_table_3_of_three_tasks_is_that_of_a_script_without_shoal(plan: Path):
    printed = shoal("run", plan)
    assert all(word in printed for word in (*TASKS, "Avg", "G_class", "In all 3 tasks"))
    expected = by_hand(plan)
    shoal("report", plan, "--format", "latex", "--out", "table.tex")
    with Path("table-table-3.csv").open() as stream:
        rows = {row["trained on, method"].split()[0]: row for row in csv.DictReader(stream)}
    for config, values in expected.items():
        for column, value in values.items():
            task, _, name = column.rpartition(" ")
            if config == "iid" and name == "iid":
                columns = [f"{task} {title}" for title in TITLES.values()]  # its one G in every column
            else:
                columns = [f"{task} {TITLES.get(name, name)}".strip()]
            for title in columns:
                assert float(rows[config][title]) == pytest.approx(value, abs=1e-12)
    first = Path("table.tex").read_text().split(r"\begin{tabular}")[1]
    assert all(f"{100 * value:.1f}" in first for values in expected.values() for value in values.values())
    (average,) = [
        row
        for row in json.loads(shoal("status", plan, "--json"))["measures"]
        if row["name"] == "p value"
        and row["groups"].get("score") == "average G"
        and "task" not in row["groups"]
    ]
    assert "tasks" in average["note"]


def test_a_task_without_a_finished_job_is_named(plan: Path):
    seen = Path("reading.seen.jsonl").read_text()
    for name in SCENARIOS:
        Path(f"reading.{name}.jsonl").write_text(seen.partition("\n")[0])
    done = CliRunner().invoke(main, ["run", str(plan), "--into", "runs"])
    assert done.exit_code == 1 and "4 of 12 jobs failed" in done.output
    assert "No row is complete in every task yet, so there is no Avg." in done.output


def test_a_job_does_not_depend_on_the_other_tasks(plan: Path):
    table = tomllib.loads(plan.read_text())["learning"]
    shared = {name: value for name, value in table.items() if name != "tasks"}
    alone = make_plan({"models": ["m"], "learning": shared | table["tasks"]["reading"]})
    together = {job.id for job in read_plan(plan).jobs()}
    assert len(together) == 12 and {job.id for job in alone.jobs()} < together


TABLES: dict[str, Any] = {"sentiment": {"suite": "sentiment", "iid": "sentiment"}}
READING = {"suite": "reading", "iid": "reading"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tasks": TABLES | {"reading": READING | {"hold_out": ["capability"]}}}, "holds out"),
        ({"tasks": TABLES | {"reading": READING | {"seed": 3}}}, "a seed of its own"),
        ({"tasks": TABLES | {"again": TABLES["sentiment"]}}, "the same experiment as sentiment"),
        ({"tasks": TABLES | {"reading": READING | {"tasks": TABLES}}}, "tasks of its own"),
        (READING | {"model": "tiny:nli"}, "model is for a task"),
    ],
)
def test_tasks_that_avg_cannot_be_taken_over_are_refused(changes: dict[str, Any], message: str):
    with pytest.raises(PlanError, match=message) as problem:
        make_plan({"models": ["tiny:sentiment"], "learning": changes}).jobs()
    assert problem.value.fix


EXAMPLES = Path(__file__).parents[3] / "examples"
NAMES = {"SENT": "sentiment", "PARA": "paraphrase", "READ": "reading"}


def write_released(folder: Path, tables: Path) -> None:
    """Write suites with the functionalities of the released ones, and i.i.d. rows, under the names of the plan."""
    with (tables / "suite_functionalities.csv").open() as stream:
        lines = list(csv.DictReader(stream))
    for short, task in NAMES.items():
        rows = [
            {
                "functionality": line["functionality"], "capability": line["class"], "type": line["type"],
                "case_id": at, "labels": None if line["type"] == "INV" else at % 2,
                **({"direction": "not_more_conf"} if line["type"] == "DIR" else {}),
                "examples": [{"text": f"{line['functionality']} {at}"}, {"text": f"another {at}"}],
            }
            for line in lines if line["task"] == short for at in range(4)
        ]  # fmt: skip
        write_suite(folder / f"{task}.jsonl", rows)


def test_the_shipped_plan_of_table_3_is_all_its_trainings(tables: Path, tmp_path: Path):
    write_released(tmp_path, tables)
    shutil.copy(EXAMPLES / "beluga-table-3.toml", tmp_path)
    plan = read_plan(tmp_path / "beluga-table-3.toml")
    settings = plan.tables["learning"]
    jobs = Counter(part.task for part in find_protocol("learning").parts(settings))
    assert jobs == {"sentiment": 1177, "paraphrase": 1585, "reading": 865}
    models = {task.task: task.model or next(iter(plan.models)) for task in settings.tasks.values()}
    assert [models[task] for task in NAMES.values()] == [
        *["hf:bert-base-uncased"] * 2,
        "hf:bert-large-uncased-whole-word-masking",
    ]
