"""The table "what you bring, what happens" of support/what-you-bring.md: every row is run as it stands there."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from table_files import write_table

from shoal.cli import main

PAGE = Path(__file__).parent / "support" / "what-you-bring.md"
ROWS = ["Too salty.", "Quiet and clean."]
LABELS = ["negative", "positive"]


def rows() -> list[tuple[str, str, str]]:
    """What is said, whether it is read or refused, and the words that are printed."""
    table = PAGE.read_text().partition("## What you bring, what happens")[2]
    return re.findall(r"^\| .* \| `shoal (.+?)` \| (read|refused).*?: `(.+)` \|$", table, re.MULTILINE)


def table_of(labels: list[str], between: str = ",") -> str:
    lines = [f"text{between}label", *map(between.join, zip(ROWS, labels, strict=True))]
    return "".join(line + "\n" for line in lines)


def plan_of(*models: str) -> str:
    return f'models = {json.dumps(models)}\n[behaviour]\nsuite = "hotel.py"\n'


def suite_of(*cases: dict[str, object], labels: list[str] | None = LABELS) -> str:
    about = {"functionality": "f", "capability": "c", "type": "MFT"}
    lines = [{"suite": "own", "label_names": labels}, *({**about, **case} for case in cases)]
    return "".join(json.dumps(line) + "\n" for line in lines)


def module(labels: str, body: str) -> str:
    return (
        f"from shoal import Suite, case\nsuite = Suite('hotel', labels={labels})\n"
        f"@suite.minimum(capability='vocabulary')\ndef praise():\n    {body}\n"
    )


HOTEL = (
    module(str(LABELS), "yield from [case('Clean.', label='positive'), case('Quiet.', label='positive')]")
    + "@suite.invariance(capability='robustness')\ndef shouting():\n    yield case('Fine.', 'FINE.')\n"
)
ASKED = [("praise", 1, 0), ("praise", 2, 0), ("shouting", 1, 0), ("shouting", 1, 1)]
TWICE = [{"case_id": at, "examples": [{"text": text}], "labels": 1} for at, text in enumerate("aab")]

FILES: dict[str, str] = {
    "semicolons.csv": table_of(LABELS, ";"),
    "numbers.csv": table_of(["0", "1"]),
    "spelled.csv": table_of(["negative", "Negative"]),
    "nested.jsonl": '{"doc": {"text": "a", "label": "no"}}\n{"doc": {"text": "b", "label": "yes"}}\n{"doc": {}}\n',
    "typos.csv": "before,after\nGood.,Goood.\nBad.,Baad.\n",
    "unclosed.csv": 'text,label\n"a,negative\nb,positive\n',
    "hotel.py": HOTEL,
    "answers.jsonl": "".join(
        json.dumps({"functionality": f, "case_id": c, "example_idx": at, "pred": "positive"}) + "\n"
        for f, c, at in ASKED
    ),
    "tuple.py": module(str(LABELS), "yield 'Clean.', 'positive'"),
    "letters.py": module("'positive'", "yield case('Clean.', label='positive')"),
    "slip.py": "from shoal import Suite\nsuite = Siute('hotel')\n",
    "twice.jsonl": suite_of(*TWICE),
    "twice-answers.jsonl": "".join(json.dumps({"case_id": at, "pred": "positive"}) + "\n" for at in range(3)),
    "half.jsonl": suite_of({"case_id": 1, "examples": [{"text": "\ud83d"}], "labels": 1}),
    "unordered.jsonl": suite_of(
        *({"case_id": at, "examples": [{"text": word}], "labels": word} for at, word in enumerate(LABELS)),
        labels=None,
    ),
    "numbered.jsonl": "".join(json.dumps({"case_id": at, "pred": at}) + "\n" for at in range(2)),
    "plan.toml": plan_of("predictions:answers.jsonl"),
    "gone.toml": plan_of("predictions:answers.jsonl", "predictions:gone.jsonl"),
    "crooked.toml": "models = [",
    "nothing.toml": '[[rule]]\nfunctionality = "prise"\nat_least = 0.9\n',
}


MADE = {"table.parquet": LABELS, "table.xlsx": LABELS, "saved": [0, 1]}
"""Files of other programs by their labels; the classes of a saved dataset are numbers with names."""


@pytest.mark.parametrize(("command", "how", "words"), rows(), ids=[command for command, _, _ in rows()])
def test_what_you_bring_is_read_or_refused_as_the_page_says(command, how, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {*re.split(r"[ :=?]", command)}
    if any(name.endswith(".toml") for name in given):
        given |= {"hotel.py", "answers.jsonl"}
    for name in given & {*FILES}:
        (tmp_path / name).write_bytes(FILES[name].encode())
    for name in given & {*MADE}:
        columns = {"text": ROWS, "label": MADE[name]}
        write_table(tmp_path / name, columns, LABELS if name == "saved" else None)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    done = CliRunner(env={"COLUMNS": "300"}).invoke(main, shlex.split(command))
    printed = " ".join(done.output.split())
    assert words in printed, done.output
    assert done.exit_code == (0 if how == "read" else 1), done.output
    if how == "refused":
        assert "Error: " in printed and (" try: " in printed or " is expected" in printed)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
    sys.modules.pop("hotel", None)


def test_the_table_is_there_and_brings_every_file():
    commands = " ".join(command for command, _, _ in rows())
    table = PAGE.read_text().partition("## What you bring, what happens")[2]
    assert len(rows()) == len(re.findall(r"^\|", table, re.MULTILINE)) - 2 >= 25
    missing = [name for name in {**FILES, **MADE} if name not in commands]
    assert missing == []
