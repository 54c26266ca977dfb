"""Stored predictions per scenario in place of trainings: what they give, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import pytest
from click.testing import CliRunner
from toy_suite import rows_of, write_answers, write_suite

from shoal.cli import main

SIZES = {"praise": 40, "thanks": 24}
TEXTS, RIGHT = 20, 15
PLAN = """models = ["held-out-model"]
[learning]
suite = "toy.jsonl"
profile = "reference"
iid_test = "test.tsv"
iid_labels = ["negative", "positive"]
resamples = 50
shuffles = 50
[learning.predictions]
iid = "iid.jsonl"
seen = "seen.jsonl"
functionality = "functionality.jsonl"
[learning.iid_predictions]
iid = "rows.iid.csv"
seen = "rows.seen.csv"
"""
WRONG = {"iid": 4, "seen": 1, "functionality": 2}
"""Every so-manyth answer of a scenario is right: of 4, 1 and 2."""


def write_rows(path: Path, said: list[str], ids: list[int] | None = None, header: str = "id,label") -> None:
    numbers = range(len(said)) if ids is None else ids
    path.write_text(
        "\n".join([header, *(f"{n},{word}" for n, word in zip(numbers, said, strict=True))]) + "\n"
    )


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = rows_of(SIZES)
    write_suite(tmp_path / "toy.jsonl", rows)
    for name, step in WRONG.items():
        write_answers(tmp_path / f"{name}.jsonl", rows, [int(row["case_id"] % step == 0) for row in rows])
    lines = [f"text {number}\t{number % 2}" for number in range(TEXTS)]
    (tmp_path / "test.tsv").write_text("\n".join(["sentence\tlabel", *lines]) + "\n")
    right = [("negative", "positive")[number % 2] for number in range(TEXTS)]
    write_rows(tmp_path / "rows.iid.csv", [*right[:RIGHT], *right[:-1][: TEXTS - RIGHT]])
    write_rows(tmp_path / "rows.seen.csv", right)
    (tmp_path / "plan.toml").write_text(PLAN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return tmp_path / "plan.toml"


def run(plan: Path) -> str:
    done = CliRunner().invoke(main, ["run", str(plan), "--into", "runs"])
    assert done.exit_code == 0, done.output + done.stderr
    return done.stdout


def scores(plan: Path) -> dict[tuple[str, str], float]:
    done = CliRunner().invoke(main, ["status", str(plan), "--into", "runs", "--json"])
    assert done.exit_code == 0, done.output
    return {
        (row["name"], row["groups"]["hold out"]): row["value"]
        for row in json.loads(done.stdout)["measures"]
        if row["name"] in ("suite score", "G", "iid score")
        and not {"seed", "functionality", "score"} & row["groups"].keys()
    }


def test_each_file_is_a_scenario_and_seen_serves_the_held_out_ones(plan: Path):
    printed = run(plan)
    assert "on the tests it was shown" in printed
    found = scores(plan)
    cases = rows_of(SIZES)
    for name, step in WRONG.items():
        asked = [row for row in cases if f"{row['functionality']}/{row['case_id']}" in ids_of_cases(plan)]
        rates = [fmean(r["case_id"] % step == 0 for r in asked if r["functionality"] == f) for f in SIZES]
        iid = RIGHT / TEXTS if name == "iid" else 1.0
        hold_out = "none" if name == "iid" else name
        assert found["suite score", hold_out] == pytest.approx(fmean(rates))
        assert found["G", hold_out] == pytest.approx(2 * fmean(rates) * iid / (fmean(rates) + iid))
    assert found["iid score", "none"] == RIGHT / TEXTS


def ids_of_cases(plan: Path) -> set[str]:
    done = CliRunner().invoke(main, ["show", "none", "--into", "runs", "--csv"])
    assert done.exit_code == 0, done.output
    return {line.partition(",")[0] for line in done.stdout.splitlines()[1:]}


def test_answers_without_ids_are_in_the_order_of_the_rows(plan: Path):
    run(plan)
    before = scores(plan)
    lines = [line.partition(",")[2] for line in Path("rows.iid.csv").read_text().splitlines()]
    Path("rows.iid.csv").write_text("\n".join(lines) + "\n")
    run(plan)
    assert scores(plan) == before
    Path("rows.iid.csv").write_text("\n".join(lines[:-1]) + "\n")
    done = CliRunner().invoke(main, ["run", str(plan), "--into", "runs"])
    assert done.exit_code and "19 lines for 20 examples" in done.output + done.stderr


def test_rows_may_have_ids_of_their_own(plan: Path):
    run(plan)
    before = scores(plan)
    lines = Path("test.tsv").read_text().splitlines()
    named = [f"row-{number}\t{line}" for number, line in enumerate(lines[1:])]
    Path("test.tsv").write_text("\n".join(["id\t" + lines[0], *named]) + "\n")
    for name in ("iid", "seen"):
        path = Path(f"rows.{name}.csv")
        head, *rows = path.read_text().splitlines()
        path.write_text("\n".join([head, *(f"row-{row}" for row in rows)]) + "\n")
    run(plan)
    assert scores(plan) == before


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("plan.toml", lambda text: text.replace('iid_test = "test.tsv"\n', ""), "needs iid_test and no iid"),
        ("plan.toml", lambda text: text.replace('seen = "seen.jsonl"\n', ""), "predictions] has no seen"),
        (
            "plan.toml",
            lambda text: text.replace('"held-out', '"another", "held-out'),
            "stored predictions would be used for each of 2 models",
        ),
        ("seen.jsonl", lambda text: text.replace("thanks", "thank you"), "thank you/"),
        ("rows.seen.csv", lambda text: text[: text.rindex("19,")], "no prediction for 1 of 20 examples"),
    ],
)
def test_wrong_input_is_refused_with_its_place(
    plan: Path, name: str, change: Callable[[str], str], message: str
):
    path = Path(name)
    path.write_text(change(path.read_text()))
    done = CliRunner().invoke(main, ["run", str(plan), "--into", "runs"])
    assert done.exit_code == 1, done.output
    assert message in " ".join(done.output.split()), done.output
    assert "try:" in done.output
