"""`shoal reproduce`: published tables come out as printed, and a changed cell is seen."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from shoal.cli import main
from shoal.core.errors import DataError
from shoal.reproduce import CELLS, REPRODUCTIONS, reproduce

pytestmark = pytest.mark.golden


def shoal_reproduce(*arguments: object):
    return CliRunner().invoke(main, ["reproduce", *map(str, arguments)])


@pytest.mark.parametrize(("name", "cells"), [("hatecheck", 58), ("checklist-llm", 16 * 38)])
def test_every_cell_matches(name: str, cells: int, data: Path):
    done = shoal_reproduce(name, "--data", data, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["cells"], found["matching"], found["mismatches"]) == (cells, cells, [])
    assert len(found["measures"]) == cells


def copied(data: Path, to: Path) -> Path:
    shutil.copytree(data / "hatecheck", to / "hatecheck")
    for path in (to / "hatecheck").iterdir():
        path.chmod(0o644)
    return to


def test_a_changed_cell_is_named_and_the_exit_code_is_1(data: Path, tmp_path: Path):
    folder = copied(data, tmp_path)
    path = folder / "hatecheck" / "published_accuracy_by_functionality.json"
    published = json.loads(path.read_text())
    published["slur_h"]["siftninja"] += 0.1
    del published["derog_impl_h"]["siftninja"]
    path.write_text(json.dumps(published))
    done = shoal_reproduce("hatecheck", "--data", folder)
    assert done.exit_code == 1
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["✗", "slur_h", "siftninja", "50.1", "50.0"] in lines
    assert ["✗", "derog_impl_h", "siftninja", "absent", "0.0"] in lines
    assert "56 of 58 cells match." in done.stdout
    found = json.loads(shoal_reproduce("hatecheck", "--data", folder, "--json").stdout)
    assert found["mismatches"][1] == {
        "row": "slur_h",
        "column": "siftninja",
        "published": "50.1",
        "found": "50.0",
    }


def test_a_rate_or_an_n_that_differs_is_seen(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(CELLS, "checklist-llm", 38)  # of one run
    folder = tmp_path / "llm_generations"
    folder.mkdir()
    (first, *_) = json.loads((data / "llm_generations" / "reference_pass_rates.json").read_text())
    first["n"]["punctuation"] += 1
    first["pass_rates"]["typos"] += 1e-6
    first["pass_rates"]["reducers"] = 0.0
    (folder / "reference_pass_rates.json").write_text(json.dumps([first]))
    for name, home in (("sentiment", "llm_generations"), ("checklist", ".")):
        (tmp_path / home / name).symlink_to(data / home / name)
    found = reproduce("checklist-llm", tmp_path)
    assert [cell.row for cell in found.mismatches] == ["reducers", "punctuation", "typos"]
    assert (found.mismatches[1].published, found.mismatches[1].found) == ("96.8 % of 126", "96.8 % of 125")


TABLES = {
    "checklist-llm": ("llm_generations", "reference_pass_rates.json"),
    "stereoset": ("stereoset", "published_dev_results.json"),
}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("checklist-llm", lambda table: []),
        ("checklist-llm", lambda table: [table[0]] * 2),  # as many cells, but not those
        ("stereoset", lambda table: {}),
        ("stereoset", lambda table: {name: {**table[name], "intersentence": {}} for name in table}),
    ],
    ids=["emptied", "one run twice", "no model", "one task"],
)
def test_a_table_that_lost_cells_does_not_match(
    name: str, change: Callable[[Any], Any], data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(CELLS, "checklist-llm", 2 * 38)  # of two runs
    folder, file = TABLES[name]
    (tmp_path / folder).mkdir()
    for path in (data / folder).iterdir():
        if path.name != file:
            (tmp_path / folder / path.name).symlink_to(path)
    (tmp_path / "checklist").symlink_to(data / "checklist")
    table = json.loads((data / folder / file).read_text())
    (tmp_path / folder / file).write_text(json.dumps(change(table)))
    done = shoal_reproduce(name, "--data", tmp_path)
    assert done.exit_code == 1
    assert f"the published table has {CELLS[name]}" in done.output and "match" not in done.output


@pytest.mark.parametrize("name", REPRODUCTIONS)
def test_every_reproduction_says_what_it_lacks(name: str, tmp_path: Path):
    with pytest.raises(DataError, match="--data with the folder that holds"):
        reproduce(name, tmp_path)
