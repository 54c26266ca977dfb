"""A small suite and a model's answers to it, in which everything is right: to be spoilt by tests that attack."""

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from shoal.cli import main

Row = dict[str, Any]
LABELS = ["negative", "neutral", "positive"]
HEADER: Row = {"suite": "own", "task": "sentiment", "label_names": LABELS}


def suite_rows() -> list[Row]:
    rows: list[Row] = [
        {
            "functionality": name,
            "capability": "words",
            "type": "MFT",
            "case_id": str(number),
            "examples": [{"text": f"{name} number {number}"}],
            "labels": label,
        }
        for name, label in (("praise", "positive"), ("insult", "negative"))
        for number in range(4)
    ]
    rows += [
        {
            "functionality": "names",
            "capability": "fairness",
            "type": "INV",
            "case_id": str(number),
            "examples": [{"text": f"Ann has {number}"}, {"text": f"Bob has {number}"}],
            "labels": None,
        }
        for number in range(2)
    ]
    return rows


def answer_rows() -> list[Row]:
    words = {"praise": "positive", "insult": "negative", "names": "neutral"}
    rows = []
    for case in suite_rows():
        for position in range(len(case["examples"])):
            word = words[case["functionality"]]
            if (case["functionality"], case["case_id"]) == ("insult", "3"):
                word = "positive"
            chances = [0.8 if label == word else 0.1 for label in LABELS]
            rows.append(
                {
                    "functionality": case["functionality"],
                    "case_id": case["case_id"],
                    "example_idx": position,
                    "pred": word,
                    "conf": chances,
                }
            )
    return rows


def lines(rows: list[Any]) -> bytes:
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows).encode()


def write_world(folder: Path) -> None:
    """Write the suite, the answers, a table and a gate's rules into a folder."""
    (folder / "suite.jsonl").write_bytes(lines([HEADER, *suite_rows()]))
    (folder / "answers.jsonl").write_bytes(lines(answer_rows()))
    (folder / "gate.toml").write_text("[[rule]]\nat_least = 0.1\n")
    rows = (f"good {n},positive\nbad {n},negative\n" for n in range(10))
    (folder / "table.csv").write_text("text,label\n" + "".join(rows))


def run_shoal(*arguments: str) -> Result:
    """Run a command; anything but a normal exit fails."""
    done = CliRunner(env={"COLUMNS": "100"}).invoke(main, arguments)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    return done
