"""Table 3 in the terminal and as CSV: marks, headline, legend and warnings."""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

import pytest
from rich.console import Console

from shoal import Measure
from shoal.core.records import Finding, Measures, Result
from shoal.core.views import HeatMap, Section
from shoal.protocols.learning import view
from shoal.protocols.learning.findings import conclusions as conclude
from shoal.protocols.learning.settings import Settings, Train
from shoal.protocols.learning.table3 import tables_by_name
from shoal.render.tables import tables_of
from shoal.render.terminal import print_sections

IID = {"config": "iid", "method": "vanilla", "hold out": "none"}
SEEN = {"config": "iid>suite", "method": "vanilla", "hold out": "seen"}
FUNC = {**SEEN, "hold out": "functionality"}


def scores(groups: dict[str, str], suite: float, g: float, **facts: Any) -> list[Measure]:
    interval = (g - 0.02, g + 0.02)
    return [
        Measure("suite score", suite, 100, groups, (suite - 0.02, suite + 0.02), "cluster bootstrap"),
        Measure("G", g, 150, groups, interval, "cluster bootstrap", facts=facts),
        Measure("G", g, 150, {**groups, "seed": "1"}, interval, "cluster bootstrap"),
    ]


def against(
    groups: dict[str, str], score: str, change: float, p: float, reach: float = 0.01
) -> list[Measure]:
    which = {"score": score, **groups}
    test = "exact sign test" if score == "iid score" else "randomisation: 10,000 exchanges of cases"
    family = {"adjustment": "Holm", "tests": 3}
    return [
        Measure("difference", change, 150, which, (change - reach, change + reach), "cluster bootstrap"),
        Measure("p value", p, 150, which, facts={"test": test}),
        Measure("adjusted p value", min(1.0, 3 * p), 150, which, facts=family),
    ]


def rates(groups: dict[str, str], values: dict[str, float | None]) -> list[Measure]:
    return [
        Measure(
            "pass rate",
            value,
            50 if value is not None else 0,
            {**groups, "functionality": name, "capability": "negation", "test type": "MFT"},
            na=0 if value is not None else 50,
        )
        for name, value in values.items()
    ]


def example() -> list[Measure]:
    return [
        Measure("functionalities compared", 2.0, 3, facts={"left out": ["reducers"]}),
        Measure("iid score", 0.917, 50, IID, (0.8, 0.96), "wilson"),
        *scores(IID, 0.6, 0.725),
        *rates(IID, {"not good": 0.3, "not bad": 0.9, "reducers": None}),
        Measure("iid score", 0.823, 50, SEEN, (0.7, 0.9), "wilson"),
        *scores(SEEN, 1.0, 0.903),
        *rates(SEEN, {"not good": 1.0, "not bad": 1.0, "reducers": 0.25}),
        *scores(FUNC, 0.62, 0.707),
        *rates(FUNC, {"not good": 0.4, "not bad": 0.84, "reducers": 0.25}),
        *against(SEEN, "iid score", -0.094, 0.001),
        *against(SEEN, "G", 0.178, 0.0001),
        *against(FUNC, "G", -0.018, 0.3, reach=0.03),
    ]


def shown(measures: Sequence[Measure], findings: Sequence[Finding] = (), **settings: Any) -> list[Section]:
    results = [Result({"about": {"task": "SENT"}, "settings": {}}, (), (), Measures(()))]
    concluded = conclude(tables_by_name(measures))
    return view(Settings(train=Train(), **settings), results, measures, [*concluded, *findings])


def printed(measures: Sequence[Measure], width: int = 110, full: bool = False, **more: Any) -> str:
    console = Console(width=width, record=True, highlight=False, file=io.StringIO())
    print_sections(shown(measures, **more), console, full=full)
    return console.export_text()


def lines_with(text: str, word: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if word in line]


def test_values_marks_and_intervals():
    text = printed(example(), width=60)
    (header,) = lines_with(text, "trained on")
    assert header.split() == ["trained", "on", "method", "i.i.d.", "G_seen", "G_func"]
    (row,) = [line for line in lines_with(text, "82.3") if line.startswith("iid>suite")]
    assert row.split()[2:] == ["82.3", "▼", "90.3", "▲", "70.7"]
    assert "88.3–92.3" in text
    (base,) = [line for line in lines_with(text, "vanilla") if line.startswith("iid ")]
    assert base.split() == ["iid", "vanilla", "91.7", "72.5", "72.5"]


def matrix(measures: Sequence[Measure], title: str) -> HeatMap:
    (block,) = [
        block
        for section in shown(measures)
        for block in section.blocks
        if isinstance(block, HeatMap) and block.title.startswith(title)
    ]
    return block


def test_the_matrix_of_pass_rates_by_scenario():
    block = matrix(example(), "func: trained without the functionality itself")
    assert block.columns == [("vanilla", "iid"), ("vanilla", "iid>suite")] and block.baselines == 1
    names = [name for name, _ in block.rows]
    values = {
        name: [measure and measure.value for measure in (block.cells.get((i, j)) for j in (0, 1))]
        for i, name in enumerate(names)
    }
    assert values == {
        "suite score": [0.6, 0.62],
        "not good": [0.3, 0.4],
        "not bad": [0.9, 0.84],
        "reducers": [None, 0.25],
    }
    text = printed(example(), full=True)
    assert "func: trained without the functionality itself" in text and "class: trained without" not in text
    assert "not bad" in text and "not bad" not in printed(example())


def test_results_as_csv():
    base, row = csv.DictReader(io.StringIO(tables_of(shown(example()))["results"]))
    own = [name for name in row if not name.endswith((" low", " high", " n"))]
    assert ",".join(own) == (
        "task,config,method,s_iid,s_seen,s_func,s_class,s_type,G_seen,G_func,G_class,G_type,n_func_used,na_rates"
    )
    assert (row["task"], row["config"], row["method"]) == ("SENT", "iid>suite", "vanilla")
    assert (row["s_iid"], row["s_func"], row["G_func"], row["G_class"]) == ("0.823", "0.62", "0.707", "")
    assert (base["s_seen"], base["s_func"], base["n_func_used"]) == ("0.6", "0.6", "2.0")
    assert (row["s_iid low"], row["s_iid high"], row["s_iid n"]) == ("0.7", "0.9", "50")
    assert json.loads(base["na_rates"]) == {"reducers": 1.0}


# The headline


def headline(measures: Sequence[Measure]) -> list[str]:
    """The lines above the table."""
    return printed(measures, width=200).split("\n\n")[0].splitlines()


def row_of(method: str, *, iid: float, seen: float, func: float) -> list[Measure]:
    """A further row: its changes against the iid row, significant from two points on."""
    groups = {name: {**of, "method": method} for name, of in (("seen", SEEN), ("func", FUNC))}
    measures = [Measure("iid score", 0.917 + iid, 50, groups["seen"], (0.0, 1.0), "wilson")]
    measures += scores(groups["seen"], 0.5, 0.725 + seen) + scores(groups["func"], 0.5, 0.725 + func)
    for of, score, change in (("seen", "iid score", iid), ("seen", "G", seen), ("func", "G", func)):
        measures += against(groups[of], score, change, 0.001 if abs(change) >= 0.02 else 0.9)
    return measures


def test_the_headline_of_several_rows_counts_them_and_names_one_with_its_own_numbers():
    rows = [
        *example(),
        *row_of("irm", iid=0.0, seen=0.1, func=-0.1),
        *row_of("lp", iid=-0.01, seen=0.01, func=0.0),
    ]
    assert headline(rows) == [
        "It learns the tests, not the behaviour.",
        "Best of 3 training setups on seen tests: iid>suite vanilla. G (harmonic mean of suite and i.i.d. score) on "
        "the tests it was shown rises from 72.5 to 90.3.",
        "G on held-out functionalities does not change clearly (72.5 → 70.7).",
        "The i.i.d. score falls from 91.7 to 82.3.",
        "Of 3 training setups, 2 improve on seen tests, 0 on held-out functionalities; the i.i.d. score falls in 1.",
    ]


@pytest.mark.parametrize(
    ("seen", "func", "verdict"),
    [
        (0.1, 0.1, "It learns the behaviour: what was held out improves too."),
        (0.1, -0.1, "It learns the tests, not the behaviour."),
        (0.0, 0.0, "Training on the suite changes nothing clearly."),
        (-0.1, 0.0, "Training on the suite makes the model worse."),
    ],
)
def test_the_first_line_answers_whether_training_taught_the_behaviour(seen, func, verdict):
    baseline = [row for row in example() if row.groups.get("config") == "iid"]
    assert headline([*baseline, *row_of("irm", iid=0.0, seen=seen, func=func)])[0] == verdict


# Legend and warnings


def test_three_warnings_stand_below_the_table_and_the_others_are_counted():
    wrong = [
        Finding(kind, f"{kind} {name}", (), weight, {**FUNC, "fold": name, "seed": "1"})
        for name in ("a", "b")
        for kind, weight in (("leaning", 1.0), ("degenerate", 50.0), ("forgotten", 51.0))
    ]
    wrong += [Finding("applicability", "a row", (), 2.0, FUNC)]
    text = printed(example(), findings=wrong)
    table, below = text.split("▲ ▼ better")
    assert "!" not in table
    assert [line for line in below.splitlines() if line.startswith("!")] == [
        "! a row",
        "! iid>suite vanilla without a seed 1: forgotten a",
        "! iid>suite vanilla without b seed 1: forgotten b",
    ]
    assert "4 more notes: --full" in below
    everything = printed(example(), findings=wrong, full=True)
    assert all(finding.text in everything for finding in wrong)
    assert "more note" not in printed(example(), findings=wrong[:3])
