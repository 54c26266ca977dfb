"""What is shown: the answer in words, nine cells in their places, and never a score of OOD."""

import io

import numpy as np
import pytest
from rich.console import Console

from shoal.protocols import cood
from shoal.protocols.cood.cells import LABELS, cells_of, target
from shoal.protocols.cood.verdict import verdict
from shoal.records import Answers, Measure, Measures
from shoal.show.pieces import plain
from shoal.show.terminal import print_sections
from shoal.views import Curves, Table


def printed(*results, width: int = 110) -> str:
    """One result, or what several say together, in the terminal."""
    settings = results[0].settings
    compared = cood.compare(settings, results)
    stream = io.StringIO()
    sections = cood.view(settings, results, compared.measures, compared.findings)
    print_sections(sections, Console(file=stream, width=width, highlight=False))
    return stream.getvalue()


@pytest.mark.parametrize(("rule", "answer"), [
    ("perfect", "It combines text and template: 100.0 % of unseen combinations are right"),
    ("x_only", "It takes the shortcut: 0.0 % of unseen combinations are right"),
    ("always_0", "It has hardly learnt the trained combinations: 50.0 % right"),
    ("always_1", "It has hardly learnt the trained combinations: 50.0 % right"),
    ("third_word_ignored", "It combines text and template: 100.0 %"),
])  # fmt: skip
def test_the_answer_comes_first_and_has_nothing_of_ood(rule, answer, settings, audited):
    text = printed(audited(settings(), f"python:planted_readers:{rule}"))
    paragraphs = [part for part in text.split("\n\n") if not part.startswith("▲ ")]  # the self-check's
    assert answer in paragraphs[1].replace("\n", " ")
    assert "not a score" in text


def test_nine_cells_stand_where_text_and_word_cross(settings, audited):
    lines = printed(audited(settings(), "python:planted_readers:x_only")).splitlines()
    head = next(number for number, line in enumerate(lines) if line.startswith("text "))
    lines = lines[head : head + 4]
    assert " ".join(lines[0].split()) == "text It is great It is terrible It is okay"
    kinds = [[word for word in line.split() if word.endswith(("ID", "OOD"))] for line in lines[1:]]
    assert kinds == [["ID", "COOD", "OOD"], ["COOD", "ID", "OOD"], ["ID", "ID", "OOD"]]
    rates = [next(word for word in line.split() if word in ("0.0", "100.0")) for line in lines[1:]]
    assert rates == ["100.0", "0.0", "100.0"]


@pytest.mark.parametrize("width", [70, 80, 110])
def test_nothing_is_cut_off_in_a_narrow_terminal(width, settings, audited):
    text = printed(audited(settings(), "python:planted_readers:x_only"), width=width)
    assert "…" not in text and max(map(len, text.splitlines())) <= width


def test_an_unsure_model_is_between():
    rows = [Measure("accuracy", 0.95, 100, {"cell": cell, "kind": "ID"}) for cell in cells_of("ID")]
    rows += [
        Measure("accuracy", 0.95, 400, {"kind": "ID"}, (0.9, 0.97)),
        Measure("accuracy", 0.5, 200, {"kind": "COOD"}, (0.43, 0.57)),
        Measure("gap", 0.45, 600, {}, (0.4, 0.5)),
    ]
    assert verdict(Measures(rows), {}).text.startswith("Between combining and the shortcut: 50.0 %")
    one_missing = [Measure("accuracy", 0.4, 100, {"cell": "sec/sec", "kind": "ID"}), *rows[:1], *rows[2:]]
    finding = verdict(Measures(one_missing), {})
    assert finding.kind == "not learnt"
    assert finding.text.startswith(
        "It has hardly learnt the trained combinations: 95.0 % right, sec/sec 40.0 %"
    )


def test_a_comparison_has_a_line_per_setup_and_marks_what_was_not_learnt(settings, audited):
    results = [audited(settings(seed=seed), "python:planted_readers:x_only") for seed in (0, 1)]
    results += [audited(settings(per_label=(2,)), "python:planted_readers:always_1")]
    text = printed(*results)
    assert "(100.0)" in text and "COOD in brackets" in text
    assert "for this training recipe: 2 seeds (0, 1)" in text


def test_every_setup_of_a_comparison_has_its_verdict(settings, audited):
    results = [audited(settings(seed=seed), "python:planted_readers:x_only") for seed in (0, 1)]
    results += [audited(settings(per_label=(2,)), "python:planted_readers:perfect")]
    kinds = [finding.kind for finding in cood.compare(settings(), results).findings]
    assert kinds == ["shortcut", "combines"]
    assert "K 2, control none: It combines text and template: 100.0 %" in printed(*results)


def test_the_chosen_epoch_is_marked_on_the_curve(settings, scored):
    built = cood.build(settings())
    right = answers_to(built)
    wrong = answers_to(built, wrong=True)
    result = scored(settings(epochs=2), {"1": right, "2": wrong})
    section = cood.view(settings(), [result], (), ())[0]
    (curve,) = [block for block in section.blocks if isinstance(block, Curves)]
    assert curve.marked == 1 and [line.name for line in curve.lines][:3] == ["ID", "COOD", "OOD"]
    assert "epoch 1 of 2: best on validation texts in trained combinations" in printed(result)


def answers_to(built, *, wrong: bool = False):
    right = np.array([LABELS.index(target(case.groups["cell"])) for case in built.cases])
    return Answers(LABELS, 1 - right if wrong else right)


def test_every_cell_of_every_job_stands_in_the_csv(settings, audited):
    result = audited(settings(), "python:planted_readers:x_only")
    section = cood.view(settings(), [result, result], (), ())[-1]
    (table,) = section.blocks
    assert isinstance(table, Table) and table.name == "cells" and section.detail == "full"
    assert len(table.rows) == 18
    names = [column.title for column in table.columns]
    row = dict(zip(names, map(plain, table.rows[4].cells), strict=True))
    wanted = {"K": "5", "control": "none", "template": "It is <LABEL>", "names": "usual", "unseen": "neutral"}
    wanted |= {"reveal": "0", "seed": "0", "epoch": "", "cell": "fst/sec", "y": "fst", "t": "sec"}
    wanted |= {"group": "COOD", "target": "inconsistent", "n": "12"}
    assert row.items() >= wanted.items()
    assert row.keys() - wanted.keys() == {"dataset", "model", "accuracy"}
