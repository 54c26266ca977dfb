"""A predictions file that carries texts must carry those of the examples which its ids name."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from small_world import lines

from shoal.cli import main

TEXTS = [f"The {thing} was {word}." for thing in ("film", "café", "hotel") for word in ("good", "bad")]
LABELS = ["positive", "negative"] * 3


@pytest.fixture
def shoal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run shoal in a folder that has a suite, data for rank and MERGE, and reviews for COOD."""
    monkeypatch.chdir(tmp_path)
    rows: list[Mapping[str, Any]] = [{"suite": "toy", "label_names": ["negative", "positive"]}]
    rows += [
        {
            "functionality": "f",
            "type": "MFT",
            "case_id": str(n),
            "examples": [{"text": text}],
            "labels": label,
        }
        for n, (text, label) in enumerate(zip(TEXTS, LABELS, strict=True))
    ]
    write("suite.jsonl", rows)
    examples = zip(range(6), TEXTS, LABELS, strict=True)
    write("data.jsonl", [{"id": str(n), "utterance": text, "label": label} for n, text, label in examples])

    def call(*arguments: str) -> Result:
        return CliRunner(env={"COLUMNS": "200"}).invoke(main, list(arguments))

    return call


def write(name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    Path(name).write_bytes(lines(list(rows)))


def predict(name: str, column: str, texts: Sequence[str]) -> None:
    write(
        name,
        [
            {"id": str(n), column: text, "pred": label}
            for n, (text, label) in enumerate(zip(texts, LABELS, strict=True))
        ],
    )


SHIFTED = TEXTS[1:] + TEXTS[:1]
BEHAVIOUR = ("try", "behaviour", "predictions:p.jsonl", "--set", "suite=suite.jsonl", "--set", "resamples=10")
RANK = (
    "rank",
    "predictions:p.jsonl",
    "predictions:q.jsonl",
    "--data",
    "data.jsonl",
    "--set",
    "text=utterance",
)


@pytest.mark.parametrize("column", ["text", "utterance", "anything"])
@pytest.mark.parametrize("command", [BEHAVIOUR, RANK], ids=["behaviour", "rank"])
def test_ids_shifted_against_the_texts_are_an_error_with_both_texts(shoal, command, column):
    predict("p.jsonl", column, SHIFTED)
    predict("q.jsonl", column, TEXTS)
    done = shoal(*command)
    assert done.exit_code == 1, done.output
    assert f"6 of 6 texts in column '{column}' differ" in done.output
    assert "'The film was bad.', expected 'The film was good.'" in done.output
    assert "check whether the ids are shifted" in done.output


@pytest.mark.parametrize(
    ("column", "texts"),
    [
        ("text", [f" {text} ".replace(" ", "\n ").replace("é", "e\u0301") for text in TEXTS]),
        ("text", [f"Review: {text} Sentiment:" for text in TEXTS]),
        ("prompt", [f"Sentiment of the review #{n}?" for n in range(6)]),
        ("content", ["It is positive."] * 6),
        ("text", [""] * 6),
    ],
    ids=["spaces and accents", "prompt", "other prompt", "reply", "empty"],
)
def test_prompts_replies_and_other_spellings_are_no_contradiction(shoal, column, texts):
    predict("p.jsonl", column, texts)
    done = shoal(*BEHAVIOUR)
    assert done.exit_code == 0, done.output
    assert "6" in done.output


def test_shifted_texts_in_the_rows_of_a_suite_are_an_error(shoal):
    rows = [
        {"id": str(n), "examples": [{"text": text}], "pred": "positive"} for n, text in enumerate(SHIFTED)
    ]
    write("p.jsonl", rows)
    done = shoal(*BEHAVIOUR)
    assert done.exit_code == 1 and "texts in column 'examples' differ" in done.output
