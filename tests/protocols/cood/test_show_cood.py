"""What is shown: the answer in words, nine cells in their places, and never a score of OOD."""

import csv
import io
from dataclasses import replace

import pytest
from rich.console import Console

from shoal.comparing.wording import about_cases, differing_settings
from shoal.core.records import Measure, Measures
from shoal.core.views import Curves
from shoal.protocols import cood
from shoal.protocols.cood.grid import cells_of
from shoal.protocols.cood.wording import cell_names, verdict
from shoal.render.tables import tables_of
from shoal.render.terminal import print_sections


def printed(*results, width: int = 110) -> str:
    """One result, or what several say together, in the terminal."""
    settings = results[0].settings
    compared = cood.compare(settings, results)
    stream = io.StringIO()
    sections = cood.view(settings, results, compared.measures, compared.findings)
    print_sections(sections, Console(file=stream, width=width, highlight=False))
    return stream.getvalue()


@pytest.mark.parametrize(("rule", "answer"), [
    ("perfect", "It combines text and statement. 100.0 % of unseen combinations are right"),
    ("x_only", "It uses the shortcut. 0.0 % of unseen combinations are right"),
    ("always_0", "It has hardly learnt the trained combinations, so ignore its COOD score. 50.0 % are right"),
])  # fmt: skip
def test_the_answer_comes_first_and_has_nothing_of_ood(rule, answer, settings, audited):
    text = printed(audited(settings(), f"python:planted_readers:{rule}"))
    assert answer in text.split("\n\n")[0].replace("\n", " ")
    assert "not part of the verdict" in " ".join(text.split())


NAMES = cell_names(
    "It is <LABEL>",
    {
        "roles": {"fst": "positive", "sec": "negative", "neu": "neutral"},
        "words": {"fst": "great", "sec": "terrible", "neu": "okay"},
    },
)


def judged(unseen: float, over_half: tuple[float, float], **cells: float):
    """The verdict on so much of COOD right, ID cells at .95 unless another is given."""
    rates = {cell: cells.get(cell.replace("/", "_"), 0.95) for cell in cells_of("ID")}
    rows = [Measure("accuracy", rate, 100, {"cell": cell, "kind": "ID"}) for cell, rate in rates.items()]
    rows += [
        Measure("accuracy", 0.95, 400, {"kind": "ID"}, (0.9, 0.97)),
        Measure("accuracy", unseen, 200, {"kind": "COOD"}, (unseen - 0.07, unseen + 0.07)),
        Measure("gap", 0.95 - unseen, 600, {}, (0.4, 0.5)),
        Measure("beyond the shortcut", unseen - 0.05, 400, {}, (unseen - 0.14, unseen + 0.04)),
    ]
    return verdict(Measures(rows), {}, over_half, (), NAMES)


def test_the_verdict_is_by_what_is_beyond_the_shortcut():
    assert judged(0.6, (-0.2, -0.01)).kind == "shortcut"
    assert judged(0.4, (0.01, 0.2)).kind == "combines"
    assert "but only in part" in judged(0.4, (0.01, 0.2)).text


def test_what_was_not_learnt_is_not_judged():
    finding = judged(0.5, (0.1, 0.2), sec_sec=0.4)
    assert finding.kind == "not learnt" and finding.disqualifies
    assert '40.0 % in "negative / It is terrible"' in finding.text


def test_a_comparison_has_a_line_per_setup_and_marks_what_was_not_learnt(settings, audited):
    results = [audited(settings(seed=seed), "python:planted_readers:x_only") for seed in (0, 1)]
    results += [audited(settings(per_label=(2,)), "python:planted_readers:always_1")]
    text = printed(*results)
    assert "(100.0)" in text and "COOD in brackets" in text
    words = " ".join(text.split())
    assert "2 seeds (0, 1): a claim about new trainings needs 5." in words
    assert "Rows with one seed: results hold for this checkpoint only." in words
    assert "results hold for this training recipe" not in text


def as_one_model(result):
    return replace(result, job={**result.job, "model": "hf:same"})


def test_every_cell_of_every_job_stands_in_the_csv(settings, audited):
    result = audited(settings(), "python:planted_readers:x_only")
    sections = cood.view(settings(), [result, result], (), ())
    assert sections[-1].detail == "full"
    rows = list(csv.DictReader(io.StringIO(tables_of(sections)["cells"])))
    assert len(rows) == 18
    wanted = {"K": "5", "control": "none", "template": "It is <LABEL>", "names": "usual", "unseen": "neutral"}
    wanted |= {"seed": "0", "epoch": "", "cell": "fst/sec", "y": "fst", "t": "sec"}
    wanted |= {"group": "COOD", "target": "inconsistent", "accuracy": "0.0", "accuracy low": "0.0"}
    wanted |= {"accuracy n": "12"}
    assert rows[4].items() >= wanted.items()
    assert rows[4].keys() - wanted.keys() == {"dataset", "model", "accuracy high"}


def test_several_sizes_are_the_papers_figure_3(settings, audited):
    rules = {2: "x_only", 10: "perfect"}  # ten is more than two: sizes are numbers, not words
    results = [
        as_one_model(audited(settings(per_label=(k,), seed=seed), f"python:planted_readers:{rule}"))
        for k, rule in rules.items()
        for seed in (0, 1)
    ]
    compared = cood.compare(settings(), results)
    blocks = cood.view(settings(), results, compared.measures, compared.findings)[0].blocks
    (sizes,) = [block for block in blocks if isinstance(block, Curves) and block.name == "sizes"]
    unseen = next(line for line in sizes.lines if line.name == "COOD")
    assert [(k, row.value) for k, row in unseen.points] == [(2.0, 0.0), (10.0, 1.0)]


def test_the_header_names_k_and_a_training_elsewhere_is_not_claimed(settings, audited):
    result = audited(settings(), "python:planted_readers:perfect")
    assert "trained elsewhere, 12 test texts per class" in " ".join(printed(result).split())
    assert "K 5" not in about_cases(result)
    here = replace(result, settings=replace(result.settings, trained=False))
    other = replace(result, settings=replace(here.settings, per_label=(7,)))
    assert "K 5" in about_cases(here)
    assert differing_settings(here, other) == "K (5 and 7)"


def test_cells_of_the_heat_map_are_named_by_their_kind(settings, audited):
    text = printed(*(audited(settings(), f"python:planted_readers:{rule}") for rule in ("perfect", "x_only")))
    rows = [line.split() for line in text.splitlines() if line.strip().startswith("positive text")]
    assert rows == [
        ["positive", "text", "100", "ID", "100", "COOD", "100", "OOD"],
        ["positive", "text", "100", "ID", "0", "COOD", "0", "OOD"],
    ]
