"""Jobs whose training is the same keep a row each: no cell of the table stays empty for it."""

import json
import re

import pytest
from click.testing import CliRunner

from shoal.cli import main
from shoal.protocols.behaviour.suite import Suite, case
from shoal.protocols.behaviour.suite_files import write_suite

THINGS = ["film", "meal", "flight", "hotel", "novel", "concert", "course", "garden"]


def one_type_suite(path):
    """One test type; and a functionality that is all there is of the capability whose name it has."""
    suite = Suite("one-type", ("negative", "positive"), task="sentiment")

    @suite.minimum(capability="negation")
    def negation():
        for thing in THINGS:
            yield case(f"The {thing} was not great.", label="negative")

    @suite.minimum(capability="words")
    def praise():
        for thing in THINGS:
            yield case(f"What a great {thing}.", label="positive")

    @suite.minimum(capability="words")
    def blame():
        for thing in THINGS:
            yield case(f"What an awful {thing}.", label="negative")

    write_suite(suite, path)


def write_plan(folder, *lines):
    one_type_suite(folder / "suite.jsonl")
    usual = [
        'models = ["tiny:sentiment"]', "[learning]", f"suite = {json.dumps(str(folder / 'suite.jsonl'))}",
        'iid = "sentiment"', "iid_limit = 32", "resamples = 50", "shuffles = 50",
        "train.epochs = 1", "train.iid_epochs = 1",
    ]  # fmt: skip
    (folder / "plan.toml").write_text("\n".join([*usual, *lines]))
    return folder / "plan.toml"


def shoal(*words):
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.stdout


def row_of(table, config):
    """The cells of one row of Table 3: values without marks and intervals."""
    (line,) = [line for line in table.splitlines() if line.startswith(f"{config} ")]
    scores = re.sub(r"\d+\.\d–\s*\d+\.\d", "", line.partition("vanilla")[2])
    return re.findall(r"\d+\.\d|–|\d+ of \d+", scores)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("same")


@pytest.fixture(scope="module")
def plan(folder):
    """Every hold-out; without its only test type nothing of the suite is left to train on."""
    return write_plan(
        folder, 'train.on = ["iid", "iid>suite"]', 'hold_out = ["functionality", "capability", "test type"]'
    )


def test_a_suite_of_one_test_type_has_every_cell_of_its_table(plan, folder):
    table = shoal("run", plan, "--into", folder / "runs")
    # iid; the whole suite; 3 functionalities, 2 capabilities, 1 test type
    assert "8 jobs: 0 done, 8 to run" in table
    cells = row_of(table, "iid>suite")
    assert len(cells) == 5 and "–" not in cells and not any("of" in cell for cell in cells)


def test_asked_only_what_they_left_out_the_folds_make_the_same_table(tmp_path):
    plan = write_plan(
        tmp_path,
        'train.on = ["iid", "iid>suite"]',
        'train.method = ["vanilla", "lp"]',
        'hold_out = ["functionality", "capability"]',
    )
    runs = tmp_path / "runs"
    shoal("run", plan, "--into", runs)
    told = json.loads(shoal("status", plan, "--into", runs, "--json"))
    read_once = sorted(path.name for path in (runs / "features").iterdir())
    plan.write_text(f'{plan.read_text()}\nhold_out_asks = "held out"\n')
    # what left nothing out is asked everything, and is the same job
    assert "13 jobs: 3 done, 10 to run" in shoal("run", plan, "--into", runs)
    of_part = json.loads(shoal("status", plan, "--into", runs, "--json"))
    assert of_part["measures"] == told["measures"]
    assert sorted(path.name for path in (runs / "features").iterdir()) == read_once
    folds = [job for job in of_part["jobs"] if job["settings"]["fold"] == "negation"]
    assert {job["settings"]["hold_out_asks"] for job in folds} == {"held out"}
    for job in folds:
        answers = (runs / "jobs" / job["id"] / "answers.jsonl").read_text().splitlines()
        assert len(answers) == 2 + 500  # a quarter of its eight cases, and the i.i.d. rows
