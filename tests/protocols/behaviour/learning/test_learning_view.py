"""Table 3 in the terminal and as CSV: what is marked, what is not, and what the reader is told."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from shoal import Measure
from shoal.protocols.behaviour import view
from shoal.protocols.behaviour.learning.conclusions import conclusions
from shoal.protocols.behaviour.learning.notes import with_facts
from shoal.protocols.behaviour.learning.table3 import rows_of_table3
from shoal.protocols.behaviour.settings import Settings, Train
from shoal.records import Finding, Measures, Result
from shoal.show.csv_tables import tables_of
from shoal.show.terminal import print_sections
from shoal.views import HeatMap, Section

IID = {"config": "iid", "method": "vanilla", "hold out": "none"}
SEEN = {"config": "iid>suite", "method": "vanilla", "hold out": "seen"}
FUNC = {**SEEN, "hold out": "functionality"}


def scores(groups: dict[str, str], suite: float, g: float, **facts: Any) -> list[Measure]:
    interval = (g - 0.02, g + 0.02)
    return [
        Measure("suite score", suite, 100, groups, (suite - 0.02, suite + 0.02), "cluster bootstrap"),
        Measure("G", g, 150, groups, interval, "cluster bootstrap", facts=facts),
        Measure("G", g, 150, {**groups, "seed": "1"}, interval, "cluster bootstrap"),
        Measure("G", g, 150, {**groups, "estimand": "new functionalities"}, (g - 0.1, g + 0.1), "both"),
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
        Measure("minimum detectable effect", 0.031, 150, which),
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
    return view(Settings(train=Train(), **settings), results, measures, [*conclusions(measures), *findings])


def printed(measures: Sequence[Measure], width: int = 110, full: bool = False, **more: Any) -> str:
    console = Console(width=width, record=True, highlight=False, file=io.StringIO())
    print_sections(shown(measures, **more), console, full=full)
    return console.export_text()


def lines_with(text: str, word: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if word in line]


def test_values_marks_and_intervals():
    text = printed(example(), width=60)
    (header,) = lines_with(text, "G_func")
    assert header.split() == ["trained", "on", "method", "i.i.d.", "G_seen", "G_func"]
    (row,) = lines_with(text, "82.3")
    assert row.split()[2:] == ["82.3", "▼", "90.3", "▲", "70.7"]
    assert "88.3–92.3" in text
    (base,) = [line for line in lines_with(text, "vanilla") if line.startswith("iid ")]
    assert base.split() == ["iid", "vanilla", "91.7", "72.5", "72.5"]


def test_what_could_have_been_seen_stands_below_columns_without_a_mark():
    (row,) = [
        line for line in lines_with(printed(example()), "could see") if not line.startswith("could see:")
    ]
    assert row.split() == ["could", "see", "3.1"]


def test_the_sentence_says_what_training_did():
    text = printed(example(), width=200)
    assert text.startswith(
        "On a functionality it was not trained on, training on the suite helps in 0 of 1 rows, hurts in 0; "
        "best iid>suite vanilla, G −1.8 points. The i.i.d. score drops in 1 of 1."
    )


def test_the_legend_says_on_what_the_numbers_rest():
    text = " ".join(printed(example()).split())
    assert "100 cases of the suite, 50 i.i.d. cases, 2 of 3 functionalities" in text
    assert "left out, no case applies in some row: reducers" in text
    assert "this checkpoint only" in text
    assert "adjusted p at most .05 (Holm over 3 comparisons)" in text
    assert "tests: exact sign test; randomisation: 10,000 exchanges of cases" in text


def test_intervals_can_be_for_new_functionalities():
    text = printed(example(), full=True)
    assert "80.3–100.3" in text and "functionalities and cases drawn again" in text


def test_a_wide_terminal_has_values_and_intervals_on_one_line():
    (row,) = [line for line in lines_with(printed(example(), width=140), "82.3") if "iid>suite" in line]
    assert row.split()[2:] == ["82.3", "▼", "70.0–90.0", "90.3", "▲", "88.3–92.3", "70.7", "68.7–72.7"]


def test_several_seeds_are_told_and_doubtful_marks_are_hollow():
    more = [
        Measure("G", 0.9, 150, {**SEEN, "seed": seed}, (0.8, 0.95), "cluster bootstrap")
        for seed in ("2", "3")
    ]
    kept = [row for row in example() if row.groups.get("score") != "G"]
    text = printed([*kept, *more, *against(SEEN, "G", 0.178, 0.0001, reach=0.3)])
    assert "mean of 3 seeds; fewer than 5 support no claim about the recipe" in text
    assert "90.3 △" in text
    assert "△ ▽ by the test and not by its interval: the interval of the difference holds 0" in " ".join(
        text.split()
    )
    assert "differs on these runs only in" not in text  # the question is about what was held out


def test_the_sentence_counts_what_holds_over_seeds_and_tells_the_rest():
    measures = [row for row in example() if row.groups.get("hold out") != "functionality"]
    assert "helps in 1 of 1 rows, hurts in 0; best" in printed(measures)
    kept = [row for row in measures if row.groups.get("score") != "G"]
    doubtful = printed([*kept, *against(SEEN, "G", 0.178, 0.0001, reach=0.3)], width=200)
    assert "helps in 0 of 1 rows, hurts in 0, differs by the test and not by its interval in 1" in doubtful
    runs = [with_facts(row, {"runs": 3}) for row in against(SEEN, "G", 0.178, 0.0001, reach=0.3)]
    assert "differs on these runs only in 1" in printed([*kept, *runs], width=200)
    drawn = [
        with_facts(row, {"runs": 1, "both on": 4}) for row in against(SEEN, "G", 0.178, 0.0001, reach=0.3)
    ]
    assert "differs on the functionalities drawn only in 1" in printed([*kept, *drawn], width=200)


def test_help_by_one_answer_to_everything_is_told_in_the_sentence():
    measures = [row for row in example() if row.groups.get("hold out") != "functionality"]
    about = {**SEEN, "fold": "", "seed": "0"}
    constant = Finding(
        "degenerate", "The model gives every one of 9 examples the same label: a", groups=about
    )
    results = [Result({"about": {"task": "SENT"}, "settings": {}}, (), (), Measures(()))]
    (told,) = conclusions(measures, [constant])
    words = "helps in 1 of 1 rows, in 1 with 1 model that gives one answer to nearly everything, hurts in 0"
    assert words in told.text
    section = view(Settings(train=Train()), results, measures, [told, constant])[0]
    assert words in "".join(getattr(word, "text", "") for word in section.text)  # type: ignore[union-attr]
    (elsewhere,) = conclusions(measures, [replace(constant, groups={**about, "hold out": "capability"})])
    assert "one answer" not in elsewhere.text
    (of_part,) = conclusions(measures, [replace(constant, facts={"of a part": True})])
    assert "one answer" not in of_part.text  # one label may be right to all that it was asked
    (of_iid,) = conclusions(measures, [replace(constant, facts={"of a part": True, "slice": "i.i.d. rows"})])
    assert words in of_iid.text


def test_test_rows_that_are_trained_on_are_told_below_the_table():
    results = [
        Result({"about": {"i.i.d. rows that are trained on too": 12}, "settings": {}}, (), (), Measures(()))
    ]
    section = view(Settings(train=Train()), results, example(), [])[0]
    assert "12 i.i.d. rows that are trained on too" in " ".join(map(str, section.notes))


def test_findings_that_are_not_told_are_counted():
    about = {**SEEN, "fold": "", "seed": "0"}
    kinds = ("forgotten", "degenerate", "degenerate", "saturated")
    text = printed(example(), findings=[Finding(kind, f"{kind}!", groups=about) for kind in kinds])
    assert "trainings with findings: 1 forgotten, 1 degenerate, 1 saturated" in text


def test_two_seeds_say_nothing_of_the_recipe():
    more = [Measure("G", 0.9, 150, {**SEEN, "seed": "2"}, (0.8, 0.95), "cluster bootstrap")]
    measures = [
        with_facts(row, {"interval for these runs": 2}) if row.name in ("difference", "G") else row
        for row in example()
    ]
    text = " ".join(printed([*measures, *more]).split())
    assert "90.3 △" in text and "▲ 88.3" not in text
    assert "for these runs: for the recipe not estimable from 2 seeds" in text
    assert "△ ▽ on these runs only: what 2 seeds say of the recipe cannot be estimated" in text


def test_the_parts_of_g_are_told_by_seed_on_request():
    parts = [
        Measure("iid score", 0.5, 50, {**SEEN, "seed": "2"}),
        Measure("G", 0.4, 150, {**FUNC, "seed": "2"}),
    ]
    measures = [*example(), *parts, Measure("suite score", 0.3, 100, {**FUNC, "seed": "2"})]
    assert "G is taken in each seed and then averaged" in printed(measures)
    (row,) = [
        line for line in lines_with(printed(measures, full=True), "functionality") if "2" in line.split()
    ]
    assert row.split()[-4:] == ["2", "50.0", "30.0", "40.0"]


def test_the_best_of_several_rows_is_told_with_what_it_gains_elsewhere():
    other = {**FUNC, "method": "irm"}
    gain = Measure("gain of the best row", -0.031, 150, FUNC, facts={"of": "G"})
    text = " ".join(printed([*example(), *scores(other, 0.5, 0.6), gain]).split())
    assert "picked after the fact: a row so picked gains −3.1 on other cases" in text


def test_what_is_not_done_says_how_far_it_is():
    waiting = [row for row in example() if row.groups.get("hold out") != "functionality"]
    waiting.append(with_facts(Measure("G", None, 0, FUNC), {"folds done": 23, "folds": 38}))
    assert waiting[-1].note == "23 of 38 folds done"
    text = printed(waiting)
    assert "23 of 38" in text and "No row is complete yet." in text
    assert "nothing to compare with" in printed(
        [row for row in example() if row.groups.get("config") != "iid"]
    )
    assert "No job of this plan has been trained yet." in printed([Measure("other", 1.0, 1)])


def test_a_sample_of_functionalities_is_told():
    sampled = [row for row in example() if row.groups.get("hold out") != "functionality"]
    sampled += scores(FUNC, 0.62, 0.707, **{"drawn": 5, "drawn from": 38})
    text = " ".join(printed(sampled).split())
    assert "G_func: 5 of 38 functionalities, drawn at random" in text
    assert "G −1.8 points" in text  # nothing was compared: as the numbers go


def test_a_column_of_a_sample_is_of_the_same_functionalities_in_every_row():
    """On the five the iid row has .6, not the .725 that it has on all."""
    drawn = {"drawn": 5, "drawn from": 38}
    sampled = [row for row in example() if row.groups.get("hold out") != "functionality"]
    sampled += scores({**IID, "hold out": "functionality"}, 0.5, 0.6, **drawn)
    sampled += scores(FUNC, 0.62, 0.707, **drawn) + against(FUNC, "G", 0.107, 0.0001)
    text = " ".join(printed(sampled).split())
    assert "drawn at random, the same in every row; on all of them iid has 72.5" in text
    assert "helps in 1 of 1 rows" in text and "G +10.7 points" in text
    (base,) = [line for line in lines_with(printed(sampled, width=60), "vanilla") if line.startswith("iid ")]
    assert base.split() == ["iid", "vanilla", "91.7", "72.5", "60.0"]
    best = [row.name for row in rows_of_table3(sampled) if row.cells["functionality"].is_best]
    assert best == [("iid>suite", "vanilla")]


def test_the_sentence_counts_the_rows_that_have_a_number():
    waiting = with_facts(Measure("G", None, 0, {**FUNC, "method": "irm"}), {"folds done": 3, "folds": 38})
    text = " ".join(printed([*example(), waiting]).split())
    assert "helps in 0 of 1 rows (1 more not complete), hurts in 0; best iid>suite vanilla, G" in text
    assert "picked after the fact" not in text  # from one


def test_several_models_are_printed_one_after_the_other():
    both = [
        replace(row, groups={"model": model, **row.groups})
        for model in ("tiny:a", "tiny:b")
        for row in example()
    ]
    text = printed(both)
    assert text.index("behavioural learning of tiny:a") < text.index("behavioural learning of tiny:b")
    assert tables_of(shown(both))["results"].splitlines()[0].startswith("task,model,config")


def matrix(measures: Sequence[Measure], title: str) -> HeatMap:
    (block,) = [
        block
        for section in shown(measures)
        for block in section.blocks
        if isinstance(block, HeatMap) and block.title.startswith(title)
    ]
    return block


def test_the_matrix_of_pass_rates_by_scenario():
    block = matrix(example(), "func: the functionality itself was held out")
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
    assert "func: the functionality itself was held out" in text and "class: its whole" not in text
    assert "not bad" in text and "not bad" not in printed(example())


def trained(name: str, on: str, hold_out: str = "", fold: str = "", seed: int = 0) -> Result:
    train = {"on": [on], "method": ["vanilla"]}
    settings = {"train": train, "hold_out": [hold_out] if hold_out else [], "fold": fold, "seed": seed}
    return Result({"id": name, "model": "m", "settings": settings}, (), (), Measures(()))


def test_a_cell_of_the_matrix_names_the_jobs_that_were_asked_its_cases():
    results = [
        trained("base", "iid"),
        trained("whole", "iid>suite", "seen"),
        trained("without good", "iid>suite", "functionality", "not good"),
        trained("without good again", "iid>suite", "functionality", "not good", 1),
        trained("without bad", "iid>suite", "functionality", "not bad"),
    ]
    sections = view(Settings(train=Train()), results, example(), [])
    block = next(
        block
        for section in sections
        for block in section.blocks
        if isinstance(block, HeatMap) and block.title.startswith("func")
    )
    names = [name for name, _ in block.rows]
    jobs = {
        (names[row], block.columns[column][1]): cell.facts.get("jobs")
        for (row, column), cell in block.cells.items()
    }
    assert jobs["not good", "iid"] == ["base"]
    assert jobs["not good", "iid>suite"] == ["without good", "without good again"]
    assert jobs["not bad", "iid>suite"] == ["without bad"]
    assert jobs["reducers", "iid>suite"] == ["whole"], "nothing of it was there to be left out"
    assert jobs["suite score", "iid"] is None


def test_a_matrix_wider_than_the_terminal_is_printed_in_blocks():
    methods = ("vanilla", "l2", "dropout", "lp", "lp-ft", "irm", "group-dro", "fish")
    many = rates(IID, {"not good": 0.3})
    for config in ("iid>suite", "iid+suite"):
        for method in methods:
            many += rates({"config": config, "method": method, "hold out": "seen"}, {"not good": 0.9})
    many += scores(IID, 0.6, 0.7)
    text = printed(many, width=80, full=True)
    assert max(map(len, text.splitlines())) <= 80
    assert len(lines_with(text, "not good")) == 2 and text.count("group-dro") == 2


def test_settings_that_differ_from_the_profile_stand_below_the_table():
    text = printed(example(), width=200, s_iid_mode="mean_over_heldout", hold_out=("functionality",))
    assert "suite sentiment, profile recommended, with s_iid_mode mean_over_heldout\n" in text


def test_what_is_wrong_with_single_trainings_stands_above_the_table():
    wrong = [
        Finding("degenerate", "always positive", groups={**FUNC, "fold": name, "seed": "1"})
        for name in ("a", "b", "c", "d", "e")
    ]
    text = printed(example(), findings=wrong)
    assert "▲ iid>suite vanilla without a seed 1: always positive" in text
    assert text.count("always positive") == 3 and "trainings with findings: 5 degenerate" in text
    assert text.index("always positive") < text.index("trained on  ")


def test_of_many_findings_about_rows_each_kind_is_counted():
    wrong = [Finding("forgotten", f"forgotten {at}", (), 9.0, FUNC) for at in range(2)]
    wrong += [Finding("applicability", f"applies {at}", (), 2.0, FUNC) for at in range(4)]
    text = printed(example(), findings=wrong)
    assert "applies 0" in text and "applies 1" not in text
    assert "findings about rows: 2 forgotten, 4 applicability" in text
    assert "about rows" not in printed(example(), findings=wrong[:3])


def test_what_is_worst_comes_first_and_trainings_are_counted_not_findings():
    wrong = [
        Finding(kind, f"{kind} {name}", (), weight, {**FUNC, "fold": name, "seed": "1"})
        for name in ("a", "b")
        for kind, weight in (("leaning", 1.0), ("degenerate", 50.0), ("forgotten", 51.0))
        for _ in range(1 + (kind == "leaning" and name == "b"))  # of two slices
    ]
    text = printed(example(), findings=wrong)
    assert text.index("forgotten a") < text.index("forgotten b") < text.index("degenerate a")
    assert "leaning a" not in text
    assert "trainings with findings: 2 forgotten, 2 degenerate, 2 leaning" in text
    assert "with findings" not in printed(example(), findings=wrong[:3])


def test_a_number_that_changed_its_sign_is_worded_with_it():
    (told,) = conclusions(example())
    assert told.kind == "conclusion" and "G −1.8 points" in told.text
    assert [measure.value for measure in told.measures] == [-0.018]


def read(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(tables_of(shown(example()))[name])))


def named(row: dict[str, str]) -> list[str]:
    """The columns that are not the ends and the n of another."""
    return [name for name in row if not name.endswith((" low", " high", " n"))]


def test_results_as_csv():
    base, row = read("results")
    assert ",".join(named(row)) == (
        "task,config,method,s_iid,s_seen,s_func,s_class,s_type,G_seen,G_func,G_class,G_type,n_func_used,na_rates"
    )
    assert (row["task"], row["config"], row["method"]) == ("SENT", "iid>suite", "vanilla")
    assert (row["s_iid"], row["s_func"], row["G_func"], row["G_class"]) == ("0.823", "0.62", "0.707", "")
    assert (base["s_seen"], base["s_func"], base["n_func_used"]) == ("0.6", "0.6", "2.0")
    assert (row["s_iid low"], row["s_iid high"], row["s_iid n"]) == ("0.7", "0.9", "50")
    assert json.loads(base["na_rates"]) == {"reducers": 1.0}


def test_pass_rates_as_csv():
    rows = read("results_fine")
    assert named(rows[0])[:4] == ["task", "config", "method", "scenario"]
    assert [row["scenario"] for row in rows] == ["standard", "seen", "func"]
    assert rows[2]["not good"] == "0.4" and rows[0]["reducers"] == ""


def test_p_values_as_csv():
    (row,) = read("pvalues")
    assert (row["i.i.d."], row["G_seen"], row["G_func"]) == ("0.001", "0.0001", "0.3")
    assert float(row["G_func adjusted"]) == pytest.approx(0.9) and row["G_type"] == ""
