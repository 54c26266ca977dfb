"""Beyond inference: paraphrases and single texts through the verb, what is assumed of their labels, what cannot be."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

pytest.importorskip("torch", reason="needs shoal[hf]")

from shoal.cli import main

REVIEWS = [
    ("The polite singer was great and the wheelbarrow is wonderful.", "positive"),
    ("The lonely judge was awful and broke the ladder.", "negative"),
]
SMALL = ("sample=6", "draws=2")


def table(path: Path, *rows: tuple[str, ...]) -> str:
    path.write_text("".join("\t".join(row) + "\n" for row in rows))
    return f"data={path}"


def tried(model: str, *words: str, fails: bool = False, form: tuple[str, ...] = ()) -> str:
    sets = [part for word in (*words, *SMALL) for part in ("--set", word)]
    done = CliRunner().invoke(main, ["try", "merge", model, *sets, *form], env={"COLUMNS": "200"})
    assert (done.exit_code != 0) is fails, done.output
    return " ".join(done.output.split())


def measured(model: str, *words: str) -> dict[str, Any]:
    output = tried(model, *words, form=("--json",))
    found: dict[str, Any] = json.loads(output[output.index("{") :])
    return found


@pytest.fixture
def reviews(tmp_path: Path) -> str:
    return table(tmp_path / "reviews.tsv", ("text", "label"), *REVIEWS)


def test_any_word_of_a_single_text_is_replaced_and_that_the_label_stays_is_said_to_be_assumed(reviews):
    found = measured("tiny:sentiment", reviews)
    (assumed,) = [finding for finding in found["findings"] if finding["kind"] == "assumed"]
    said = "some labels may be wrong"
    assert said in assumed["text"] and said in tried("tiny:sentiment", reviews)


@pytest.mark.parametrize(
    ("model", "rows", "setting", "says"),
    [
        ("tiny:nli", REVIEWS, "seed=0", "the suite's labels are negative, positive"),
        ("tiny:sentiment", [("A text.", "1")], "seed=0", "names of labels 0, 1 and so on"),
        ("tiny:sentiment", [("It is.", "positive")], "seed=0", "no problem has a word to replace"),
        ("tiny:sentiment", [("A text.", "good")], "label_names=negative,positive", "label 'good'"),
    ],
)
def test_what_cannot_be_is_refused_with_a_remedy(model, rows, setting, says, tmp_path):
    output = tried(model, table(tmp_path / "texts.tsv", ("text", "label"), *rows), setting, fails=True)
    assert says in output and "try:" in output and "Traceback" not in output
