"""What the terminal says: the answer in words, nine cells in their places, and never a score of OOD."""

import csv
import io

import pytest
from rich.console import Console

from shoal.protocols import cood
from shoal.protocols.cood.cells import cells_of
from shoal.records import Measure, Measures
from shoal.show.cood import cells_csv, print_comparison, print_result, verdict


def printed(show, what, width: int = 110) -> str:
    stream = io.StringIO()
    show(what, Console(file=stream, width=width, highlight=False))
    return stream.getvalue()


@pytest.mark.parametrize(("rule", "answer"), [
    ("perfect", "It combines text and template: 100.0 % of unseen combinations are right"),
    ("x_only", "It takes the shortcut: 0.0 % of unseen combinations are right"),
    ("always_0", "It has hardly learnt the trained combinations: 50.0 % right"),
    ("always_1", "It has hardly learnt the trained combinations: 50.0 % right"),
    ("third_word_ignored", "It combines text and template: 100.0 %"),
])  # fmt: skip
def test_the_answer_comes_first_and_has_nothing_of_ood(rule, answer, settings, audited):
    text = printed(print_result, audited(settings(), f"python:planted_readers:{rule}"))
    assert answer in text.split("\n\n")[1].replace("\n", " ")
    assert "not a score" in text


def test_nine_cells_stand_where_text_and_word_cross(settings, audited):
    text = printed(print_result, audited(settings(), "python:planted_readers:x_only"))
    head = next(at for at, line in enumerate(text.splitlines()) if line.startswith("text "))
    lines = text.splitlines()[head : head + 4]
    assert " ".join(lines[0].split()) == "text It is great It is terrible It is okay"
    kinds = [[word for word in line.split() if word.endswith(("ID", "OOD"))] for line in lines[1:]]
    assert kinds == [["ID", "COOD", "OOD"], ["COOD", "ID", "OOD"], ["ID", "ID", "OOD"]]
    rates = [next(word for word in line.split() if word in ("0.0", "100.0")) for line in lines[1:]]
    assert rates == ["100.0", "0.0", "100.0"]


@pytest.mark.parametrize("width", [70, 80, 110])
def test_nothing_is_cut_off_in_a_narrow_terminal(width, settings, audited):
    text = printed(print_result, audited(settings(), "python:planted_readers:x_only"), width)
    assert "…" not in text


def test_an_unsure_model_is_between():
    rows = [Measure("accuracy", 0.95, 100, {"cell": cell, "kind": "ID"}) for cell in cells_of("ID")]
    rows += [
        Measure("accuracy", 0.95, 400, {"kind": "ID"}, (0.9, 0.97)),
        Measure("accuracy", 0.5, 200, {"kind": "COOD"}, (0.43, 0.57)),
        Measure("gap", 0.45, 600, {}, (0.4, 0.5)),
    ]
    assert verdict(Measures(rows)).plain.startswith("Between combining and the shortcut: 50.0 %")
    one_missing = [Measure("accuracy", 0.4, 100, {"cell": "sec/sec", "kind": "ID"}), *rows[:1], *rows[2:]]
    said = verdict(Measures(one_missing)).plain
    assert said.startswith("It has hardly learnt the trained combinations: 95.0 % right, sec/sec 40.0 %")


def test_a_comparison_has_a_line_per_setup_and_marks_what_was_not_learnt(settings, audited):
    results = [audited(settings(seed=seed), "python:planted_readers:x_only") for seed in (0, 1)]
    results += [audited(settings(per_label=(2,)), "python:planted_readers:always_1")]
    measures = cood.compare(cood.Settings(resamples=50), results)
    text = printed(print_comparison, measures)
    assert "(100.0)" in text and "COOD in brackets" in text
    assert "for this training recipe: 2 seeds (0, 1)" in text
    assert "Nothing to compare yet" in printed(print_comparison, [])


def test_every_cell_of_every_job_stands_in_the_csv(settings, audited):
    result = audited(settings(), "python:planted_readers:x_only")
    rows = list(csv.DictReader(io.StringIO(cells_csv([result, result]))))
    assert len(rows) == 18
    wanted = {"K": "5", "control": "none", "template": "It is <LABEL>", "names": "usual", "unseen": "neutral"}
    wanted |= {
        "reveal": "0",
        "seed": "0",
        "epoch": "",
        "cell": "fst/sec",
        "y": "fst",
        "t": "sec",
        "group": "COOD",
    }
    wanted |= {"target": "inconsistent", "n": "12", "accuracy": "0.0", "ci_low": "0.0"}
    assert rows[4].items() >= wanted.items()
    assert rows[4].keys() - wanted.keys() == {"dataset", "model", "ci_high"}
