"""The item-by-run matrix: read, checked, and every coefficient of it as worked."""

from pathlib import Path

import pytest

from shoal import Measures
from shoal.core.errors import DataError
from shoal.data.matrix import read_matrix
from shoal.runs.reliability import reliability


def write(path: Path, rows: list[str], group: str = "") -> Path:
    lines = ["run_id,item_id,group,outcome"]
    for item, outcomes in enumerate(rows):
        lines += [f"r{run},i{item},{group},{outcome}" for run, outcome in enumerate(outcomes)]
    path.write_text("\n".join(lines).replace(",x", ",NA") + "\n")
    return path


def test_disagreement_and_spread_as_worked(tmp_path, worked):
    example = worked["diag.disagreement"]
    measures = Measures(reliability(read_matrix(write(tmp_path / "m.csv", example["matrix"]))))
    value = {row.name: row.value for row in measures}
    assert value["mean over runs"] == pytest.approx(example["mean"] / 100)
    assert value["sd over runs"] == pytest.approx(example["sd_n_minus_1"] / 100, abs=1e-6)
    assert value["over-dispersion ratio"] == pytest.approx(
        example["sd_n_minus_1"] / example["floor_sd"], abs=1e-5
    )
    shares = [row.value for row in measures.where("share of items")]
    assert shares == [example["d"].count(k) / 6 for k in (0, 1, 2)]


def test_kappa_and_alpha_as_worked(tmp_path, worked):
    rows = worked["beyond.krippendorff_nominal"]["units"]
    measures = Measures(reliability(read_matrix(write(tmp_path / "m.csv", rows))))
    assert measures.where("Fleiss kappa")[0].value == pytest.approx(
        worked["beyond.fleiss"]["kappa"], abs=1e-6
    )
    assert measures.where("Krippendorff alpha")[0].value == pytest.approx(
        worked["beyond.krippendorff_nominal"]["alpha"], abs=1e-6
    )


def test_runs_that_agree_entirely_and_runs_that_toss_coins(tmp_path):
    same = Measures(reliability(read_matrix(write(tmp_path / "a.csv", ["1111", "0000", "1111", "0000"]))))
    assert same.where("pairwise agreement")[0].value == 1
    assert same.where("ICC(2,1)")[0].value == pytest.approx(1)
    assert same.where("variance share", source="items")[0].value == pytest.approx(1)
    tossed = Measures(reliability(read_matrix(write(tmp_path / "b.csv", ["1010", "0101", "1100", "0011"]))))
    kappa = tossed.where("Fleiss kappa")[0].value
    assert kappa is not None and kappa < 0
    assert tossed.where("runs needed")[0].value is None


def test_groups_are_measured_apart_and_missing_outcomes_counted(tmp_path):
    first = write(tmp_path / "a.csv", ["11", "1x"], group="a").read_text()
    second = (
        write(tmp_path / "b.csv", ["00", "01"], group="b").read_text().replace("i", "j").split("\n", 1)[1]
    )
    (tmp_path / "m.csv").write_text(first + second)
    measures = Measures(reliability(read_matrix(tmp_path / "m.csv")))
    means = {row.groups.get("group", "all"): row.value for row in measures.where("mean over runs")}
    assert means == {"all": pytest.approx(((1 + 1 + 0 + 0) / 4 + 2 / 3) / 2), "a": 1.0, "b": 0.25}
    assert measures[0].na == 1


def test_one_run_says_so(tmp_path):
    measures = reliability(read_matrix(write(tmp_path / "m.csv", ["1", "0"])))
    assert [row.name for row in measures] == ["mean over runs", "sd over runs", "over-dispersion ratio"]
    assert measures[1].value is None and "this checkpoint only" in measures[1].note


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("run_id,outcome\nr,1\n", "no column item_id"),
        ("run_id,item_id,outcome\nr,i,2\n", "line 2: outcome '2' is not 1, 0 or NA"),
        ("run_id,item_id,outcome\nr,i,1\nr,i,1\n", "line 3: item 'i' of run 'r' is there twice"),
        ("run_id,item_id,group,outcome\nr,i,a,1\ns,i,b,1\n", "line 3: item 'i' changes its group"),
        ("run_id,item_id,outcome,score_a,score_b\nr,i,1,x,2\n", "must be numbers"),
        ("run_id,item_id,outcome\n", "no rows"),
    ],
)
def test_a_crooked_matrix_is_named(tmp_path, text, message):
    (tmp_path / "m.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        read_matrix(tmp_path / "m.csv")


def test_the_command_prints_and_gives_json(tmp_path):
    import json

    from click.testing import CliRunner

    from shoal.cli import main

    path = write(tmp_path / "m.csv", ["1111", "0000", "1101"])
    done = CliRunner().invoke(main, ["compare", "--matrix", str(path)])
    assert done.exit_code == 0 and "4 runs on 3 items" in done.output and "Fleiss kappa" in done.output
    found = json.loads(CliRunner().invoke(main, ["compare", "--matrix", str(path), "--json"]).output)
    assert found["jobs"][0]["runs"] == ["r0", "r1", "r2", "r3"]
    assert CliRunner().invoke(main, ["compare", "--matrix", str(path), "--csv"]).exit_code == 2
