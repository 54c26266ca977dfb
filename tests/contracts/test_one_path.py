"""What trains in a run trains everywhere: a model that learns the wrong labels is wrong in every verb."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from shoal.cli import main
from shoal.training import loop

WORDS = {
    "positive": ("lovely", "great", "superb", "excellent"),
    "negative": ("awful", "bad", "terrible", "poor"),
}
THINGS = ("film", "meal", "hotel", "book", "song", "play", "room", "game")


@pytest.fixture
def upside_down(tmp_path: Path) -> dict[str, str]:
    """Settings to train on sentences whose labels are the wrong way round."""
    other = {"positive": "negative", "negative": "positive"}
    rows = [
        f"The {thing} was {word}.\t{other[label]}"
        for label, words in WORDS.items()
        for word in words
        for thing in THINGS
    ]
    for name, extra in (("train", []), ("test", ["It was new to me.\tpositive"])):
        (tmp_path / f"{name}.tsv").write_text("text\tlabel\n" + "\n".join([*rows, *extra]) + "\n")
    return {
        "suite": "sentiment",
        "train.on": "iid",
        "train.iid_epochs": "12",
        "iid": str(tmp_path / "train.tsv"),
        "iid_test": str(tmp_path / "test.tsv"),
    }


def shoal(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(main, list(arguments), catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.stdout


def praise(measures: list[dict[str, Any]], **groups: str) -> float:
    wanted = {"functionality": "praise_is_positive", **groups}
    rows = [row for row in measures if row["name"] == "pass rate" and wanted.items() <= row["groups"].items()]
    return float(rows[0]["value"])


@pytest.mark.slow
def test_compare_trains_both_models_once_and_keeps_them_if_asked_to(upside_down, tmp_path, monkeypatch):
    pairs = [word for key, value in upside_down.items() for word in ("--set", f"{key}={value}")]
    call = (
        "compare",
        "tiny:sentiment",
        "tiny:sentiment?labels=negative,positive",
        "--protocol",
        "learning",
        *pairs,
        "--json",
        "--keep",
    )
    measures = json.loads(shoal(*call, "--into", str(tmp_path / "runs")))["measures"]
    assert praise(measures, model="A") < 0.2 and praise(measures, model="B") < 0.2

    def no_training(*arguments: object, **options: object) -> None:
        raise AssertionError("trained again")

    monkeypatch.setattr(loop, "train", no_training)
    again = json.loads(shoal(*call, "--into", str(tmp_path / "runs")))["measures"]
    assert again == measures
