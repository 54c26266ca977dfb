"""Text that would steer a terminal or run in a spreadsheet, in all that others write: no verb lets it through."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from unicodedata import category

import pytest
from small_world import LABELS, answer_rows, lines, suite_rows
from small_world import run_shoal as shoal

from shoal.cli import main
from shoal.core.text import STEERING

HOSTILE = "\x1b[2J\x1b]0;title\x07\u202eabc\u2066\x9b31m\x7f\U000e0041\u2028\rz"
MODELS = f"""
HOSTILE = {HOSTILE!r}

def answers(texts):
    return ["neutral" + HOSTILE for _ in texts]

def raises(texts):
    raise RuntimeError(HOSTILE)

def sometimes(texts):
    if any("praise" in text for text in texts):
        raise ValueError(HOSTILE)
    return ["neutral" + HOSTILE for _ in texts]

def unknown(texts):
    return [HOSTILE for _ in texts]
"""
SUITE = ("--set", "suite=suite.jsonl", "--set", "resamples=10")
A, B = "predictions:answers.jsonl", "predictions:other.jsonl"
COMMANDS: list[tuple[str, ...]] = [
    ("check", "suite.jsonl"),
    ("check", "plan.toml"),
    ("try", "behaviour", A, *SUITE),
    ("try", "behaviour", "python:hostile_models:answers", *SUITE),
    ("try", "behaviour", "python:hostile_models:raises", *SUITE),
    ("try", "behaviour", "python:hostile_models:sometimes", *SUITE),
    ("try", "behaviour", "python:hostile_models:unknown", *SUITE),
    ("try", "behaviour", A, *SUITE, "--set", f"only={HOSTILE}"),
    ("try", "behaviour", A, *SUITE, "--set", f"{HOSTILE}=1"),
    ("compare", A, B, *SUITE),
    ("compare", A, "python:hostile_models:unknown", *SUITE),
    ("gate", A, "--rules", "gate.toml", *SUITE),
    ("run", "plan.toml"),
    ("status", "plan.toml", "--full"),
    ("show", "behaviour-answers"),
    ("show", "behaviour-answers", "--failing"),
    ("show", "behaviour-answers", "--jsonl"),
    ("show", "behaviour-answers", "--json"),
    ("show", HOSTILE),
    ("report", "plan.toml"),
    ("report", "plan.toml", "--format", "latex"),
    ("import", "suite.jsonl", "--out", "out.jsonl"),
    ("import", "table.csv", "--out", "out.jsonl", "--text", "text", "--label", "label", "--functionality", "kind"),
    ("export", "suite.jsonl", "--out", "out.jsonl"),
    ("plan-size", A, B, *SUITE, "--difference", "0.1"),
    ("explain", "tiny:sentiment", f"A fine film {HOSTILE}"),
    ("rank", "tiny:sentiment", "python:hostile_models:answers", "--data", "table.csv"),
    ("suggest", "hostile.yaml", "--slot", HOSTILE, "--model", "example"),
    ("new", "suite", f"own{HOSTILE}"),
    ("check", "hostile.yaml"),
    ("list", HOSTILE),
    ("help", HOSTILE),
    ("check", "suite.jsonl", "--cases", "3"),
    ("reproduce", HOSTILE),
]  # fmt: skip


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small world, with something hostile behind every word of it; two of its answers are wrong."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    header = {
        "suite": f"own{HOSTILE}",
        "task": f"sentiment{HOSTILE}",
        "label_names": [f"{label}{HOSTILE}" for label in LABELS],
    }
    suite, answers, others = suite_rows(), answer_rows(), answer_rows()
    for row in suite:
        row |= {key: f"{row[key]}{HOSTILE}" for key in ("functionality", "capability", "case_id")}
        row["examples"] = [{"text": f"{example['text']}{HOSTILE}"} for example in row["examples"]]
        row["labels"] = row["labels"] and f"{row['labels']}{HOSTILE}"
    for row in (*answers, *others):
        row |= {key: f"{row[key]}{HOSTILE}" for key in ("functionality", "case_id", "pred")}
    others[0] |= {"pred": None, "conf": None, "error": HOSTILE}
    others[1] |= {"pred": f"negative{HOSTILE}", "conf": None}
    (tmp_path / "suite.jsonl").write_bytes(lines([header, *suite]))
    (tmp_path / "answers.jsonl").write_bytes(lines(answers))
    (tmp_path / "other.jsonl").write_bytes(lines(others))
    (tmp_path / "hostile.yaml").write_text(
        json.dumps({"suite": "own", "tests": {HOSTILE: {HOSTILE: HOSTILE}}})
    )
    (tmp_path / "hostile_models.py").write_text(MODELS)
    models = [A, B, *(f"python:hostile_models:{name}" for name in ("sometimes", "raises", "unknown"))]
    (tmp_path / "plan.toml").write_text(
        f'models = {json.dumps(models)}\n[behaviour]\nsuite = "suite.jsonl"\nresamples = 10\n'
    )
    (tmp_path / "gate.toml").write_text('[[rule]]\nfunctionality = "*"\nat_least = 0.9\n')
    table = [["text", "label", "kind"]]
    table += [
        [f"{word} {HOSTILE}", f"{label}{HOSTILE}", f"kind{HOSTILE}"] for word in "abc" for label in LABELS
    ]
    with (tmp_path / "table.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows(table)
    return tmp_path


def steering(text: str) -> set[str]:
    return {ascii(letter) for letter in text if category(letter) in STEERING and letter != "\n"}


def test_every_verb_makes_hostile_text_printable(world):
    shown = {}
    for command in COMMANDS:
        done = shoal(*command)
        assert not steering(done.output), (command, done.output)
        shown[command] = done.output
    assert {command[0] for command in COMMANDS} == set(main.commands)
    spelt_out = {command[0] for command, output in shown.items() if r"\x1b[2J" in output}
    assert spelt_out >= {"check", "try", "compare", "gate", "show", "import"}  # it was there, and is shown
    for page in ("report.html", "report.tex"):
        assert not steering((world / page).read_text())


def cells(text: str) -> Iterator[str]:
    for row in csv.reader(io.StringIO(text, newline="")):
        yield from row


@pytest.mark.parametrize("start", ["=cmd()", "@SUM(1)", "\t=1", "＝1"])
def test_no_cell_of_any_csv_begins_as_a_formula_does(world, start):
    for name in ("suite.jsonl", "answers.jsonl", "other.jsonl"):
        rows = [json.loads(line) for line in (world / name).read_text().splitlines()]
        for row in rows:
            for key in ("suite", "functionality", "capability", "case_id"):
                if key in row:
                    row[key] = start + row[key]
            row.pop("error", None)
            if row.get("examples"):
                row["examples"] = [{"text": f"{start} {example['text']}"} for example in row["examples"]]
        (world / name).write_bytes(lines([row for row in rows if row.get("pred", "") is not None]))
    plan = world / "plan.toml"
    plan.write_text(f'models = ["{A}"]\n[behaviour]\nsuite = "suite.jsonl"\nresamples = 10\n')
    assert shoal("run", "plan.toml").exit_code == 0
    printed = [shoal("show", "answers", "--csv"), shoal("compare", A, A, *SUITE, "--csv")]
    assert all(done.exit_code == 0 for done in printed)
    formulas = [cell for done in printed for cell in cells(done.stdout)]
    assert any(cell.startswith(f"'{start}") for cell in formulas)
    assert not [cell for cell in formulas if cell.startswith(start)]
    refused = shoal("export", "suite.jsonl", "--out", "out.csv")
    assert refused.exit_code == 1 and "--verbatim" in refused.output and not (world / "out.csv").exists()
