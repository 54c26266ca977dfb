"""BELUGA: worked values (`docs/method/beluga.md` 1.13 and 1.14), and what the paper says of its Table 3 (1.15)."""

import csv
import itertools
from pathlib import Path

import numpy as np
import pytest

from shoal import Case, Measure, Measures, Outcome, Result
from shoal.protocols.learning.comparison import compare_trainings, means_over_methods
from shoal.protocols.learning.settings import Settings, Train
from shoal.protocols.learning.table3 import TableRow, average_g, rows_of_table3
from shoal.stats.paired import generalization_score

pytestmark = pytest.mark.golden

CONFIGS = {"IID": "iid", "IID->T": "iid>suite", "IID+T": "iid+suite", "IID->(IID+T)": "iid>iid+suite"}
METHODS = {"DRO": "group-dro"}
TASKS = {"sent": "sst2_acc", "para": "qqp_acc", "read": "squad_em"}
SCENARIOS = {"seen": "seen", "func": "functionality", "class": "capability", "type": "test type"}
MIXED = "iid>iid+suite"


def published(path: Path, task: str) -> list[TableRow]:
    """One task of the printed table, laid out by the functions that lay out a plan's measures."""
    return rows_of_table3(printed_measures(path, task))


def printed_measures(path: Path, task: str) -> list[Measure]:
    measures = []
    with path.open(newline="") as stream:
        for line in csv.DictReader(stream):
            config, method = CONFIGS[line["config"]], line["method"]
            groups = {"config": config, "method": METHODS.get(method, method.lower())}
            is_iid = config == "iid"
            own = {"hold out": "none" if is_iid else "seen"}
            measures.append(Measure("iid score", float(line[TASKS[task]]) / 100, 0, groups | own))
            for short, hold_out in SCENARIOS.items():
                value = float(line[f"{task}_G_{short}"]) / 100
                measures.append(Measure("G", value, 0, groups | {"hold out": "none" if is_iid else hold_out}))
    return measures


@pytest.fixture(scope="module")
def table3(tables: Path) -> dict[str, list[TableRow]]:
    return {task: published(tables / "beluga_table3.csv", task) for task in TASKS}


def per_cent(value: float | None) -> float:
    assert value is not None
    return 100 * value


# 1.15


def test_the_table_has_25_rows_the_iid_row_first(table3: dict[str, list[TableRow]]):
    for rows in table3.values():
        assert len(rows) == 25 and rows[0].is_baseline
        assert len({cell.value for column, cell in rows[0].cells.items() if column != "iid score"}) == 1


@pytest.mark.parametrize(
    ("column", "gains"), [("functionality", (18.44, 6.91, 4.70)), ("capability", (12.84, 2.19, 0.51))]
)
def test_the_best_gains_over_iid(table3: dict[str, list[TableRow]], column: str, gains: tuple[float, ...]):
    for task, expected in zip(TASKS, gains, strict=True):
        iid, *others = (per_cent(row.cells[column].value) for row in table3[task])
        assert max(others) - iid == pytest.approx(expected, abs=0.011)


def test_the_mean_iid_change_of_training_on_both_last(table3: dict[str, list[TableRow]]):
    for task, expected in zip(TASKS, (-1.43, -0.50, -1.73), strict=True):
        means = Measures(means_over_methods(table3[task]))
        (change,) = means.where("difference", config=MIXED, column="i.i.d.")
        assert per_cent(change.value) == pytest.approx(expected, abs=0.0051)


def test_the_mean_iid_change_of_every_configuration(tables: Path):
    """Section 5.1 of the paper; the means over all tasks are those of 5.2."""
    scores: dict[str, list[float]] = {}
    with (tables / "beluga_config_iid_summary.csv").open(newline="") as stream:
        lines = {CONFIGS[line["config"]]: line for line in csv.DictReader(stream)}
    for task, column in zip(TASKS, ("sst2", "qqp", "squad"), strict=True):
        means = Measures(means_over_methods(published(tables / "beluga_table3.csv", task)))
        for config, line in lines.items():
            (change,) = means.where("difference", config=config, column="i.i.d.")
            assert per_cent(change.value) == pytest.approx(float(line[f"mean_change_{column}"]), abs=0.0051)
            (mean,) = means.where("mean over methods", config=config, column="i.i.d.")
            scores.setdefault(config, []).append(per_cent(mean.value))
    for config, line in lines.items():
        assert np.mean(scores[config]) == pytest.approx(float(line["mean_iid_score_all_tasks"]), abs=0.0051)


def test_the_best_average_and_that_training_on_both_last_always_beats_iid(
    table3: dict[str, list[TableRow]], tables: Path
):
    averages = average_g(table3.values())
    best = max(averages, key=lambda name: averages[name])
    assert best == (MIXED, "dropout")
    assert per_cent(averages[best]) == pytest.approx(79.17, abs=0.0051)
    baseline = averages["iid", "vanilla"]
    assert per_cent(baseline) == pytest.approx(71.74, abs=0.0051)
    mixed = [value for (config, _), value in averages.items() if config == MIXED]
    assert len(mixed) == 8 and min(mixed) > baseline
    assert per_cent(min(mixed)) == pytest.approx(72.66, abs=0.0051)
    with (tables / "beluga_table3.csv").open(newline="") as stream:
        printed = [float(line["avg_G"]) for line in csv.DictReader(stream)]
    assert [per_cent(value) for value in averages.values()] == pytest.approx(printed, abs=0.011)


def test_what_was_seen_is_never_below_what_was_not(table3: dict[str, list[TableRow]]):
    for rows in table3.values():
        for row in rows:
            seen, *held_out = (row.cells[name].value for name in SCENARIOS.values())
            assert seen is not None and all(value is not None and seen >= value for value in held_out)


def test_the_printed_g_and_iid_score_imply_pass_rates_that_can_be(
    table3: dict[str, list[TableRow]], tables: Path
):
    with (tables / "beluga_table3_implied_pass_rates.csv").open(newline="") as stream:
        lines = list(csv.DictReader(stream))
    for task in TASKS:
        for row, line in zip(table3[task], lines, strict=True):
            s_iid = row.cells["iid score"].value
            for short, hold_out in SCENARIOS.items():
                if line[f"{task}_s_{short}"] and s_iid:
                    implied = float(line[f"{task}_s_{short}"]) / 100
                    again = float(generalization_score(implied, s_iid))
                    assert again == pytest.approx(row.cells[hold_out].value, abs=0.0011)


# 1.13


# 1.14, through the comparison that users get

NA = None
BASELINE: list[list[int | None]] = [[1, 0, 0, 1], [0, 0], [1, NA, 1, 0], [1, 1, 0, 1, 0]]
METHOD: list[list[int | None]] = [[1, 1, 0, 1], [1, 1], [1, 1, 1, NA], [1, 0, 0, 1, 0]]


def toy_job(config: str, hold_out: str, hits: list[list[int | None]]) -> Result:
    """F1, F2, F3 and the i.i.d. data."""
    cases, outcomes = [], []
    for name, own in zip(("F1", "F2", "F3", "i.i.d."), hits, strict=True):
        capability = name if name == "i.i.d." else "all"
        for at, hit in enumerate(own):
            groups = {"functionality": name, "capability": capability, "test type": "MFT"}
            cases.append(Case(f"{name}/{at}", ((f"{at}",),), None, groups))
            outcomes.append(Outcome(cases[-1].id, None if hit is None else bool(hit)))
    settings = {
        "train": {"on": (config,), "method": ("vanilla",)},
        "hold_out": (hold_out,),
        "fold": "",
        "seed": 0,
    }
    return Result({"id": config, "model": "m", "settings": settings}, cases, outcomes, Measures([]))


def toy_measures(first: list[list[int | None]], second: list[list[int | None]]) -> list[Measure]:
    settings = Settings(train=Train(on=("iid", "iid>suite")), resamples=200)
    return compare_trainings(settings, [toy_job("iid", "none", first), toy_job("iid>suite", "seen", second)])


def all_exchanges(first: list[list[int | None]], second: list[list[int | None]]) -> list[float]:
    """The difference of G for every way to exchange outcomes that differ; the observed one first."""
    places = [
        (part, at)
        for part, pairs in enumerate(zip(first, second, strict=True))
        for at, (one, other) in enumerate(zip(*pairs, strict=True))
        if one != other
    ]
    differences = []
    for pattern in itertools.product([False, True], repeat=len(places)):
        sides = [list(map(list, first)), list(map(list, second))]
        for (part, at), swap in zip(places, pattern, strict=True):
            if swap:
                a, b = sides[0][part], sides[1][part]
                a[at], b[at] = b[at], a[at]
        g = []
        for side in sides:
            *suite, iid = (float(np.mean([hit for hit in part if hit is not None])) for part in side)
            g.append(float(generalization_score(np.mean(suite), iid)))
        differences.append(g[1] - g[0])
    return differences


def test_the_toy_end_to_end():
    baseline, method = rows_of_table3(toy_measures(BASELINE, METHOD))
    suite = [row.cells["seen"].suite for row in (baseline, method)]
    assert [one.value for one in suite if one] == pytest.approx([0.388889, 0.916667], abs=1e-6)
    assert [row.cells["iid score"].value for row in (baseline, method)] == pytest.approx([0.6, 0.4])
    assert [row.cells["seen"].value for row in (baseline, method)] == pytest.approx(
        [0.471910, 0.556962], abs=1e-6
    )
    cell = method.cells["seen"]
    assert cell.difference and cell.difference.value == pytest.approx(0.085052, abs=1e-6)
    differences = all_exchanges(BASELINE, METHOD)
    assert (sum(abs(d) >= abs(differences[0]) - 1e-9 for d in differences), len(differences)) == (42, 64)
    assert cell.p and cell.p.value == pytest.approx(42 / 64, abs=0.015)
    assert cell.p.note == "randomisation: 10,000 exchanges of cases"
    iid = method.cells["iid score"]
    assert iid.p and iid.p.value == 1.0 and iid.p.note == "exact sign test"
