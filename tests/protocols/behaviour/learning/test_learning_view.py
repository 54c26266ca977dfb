"""Table 3 in the terminal and as CSV: what is marked, what is not, and what the reader is told."""

import csv
import io
import json

import pytest
from rich.console import Console

from shoal import Measure
from shoal.show.learning import print_learning, print_matrix
from shoal.show.learning_exports import pvalues_csv, results_csv, results_fine_csv

IID = {"config": "iid", "method": "vanilla", "hold out": "none"}
SEEN = {"config": "iid>suite", "method": "vanilla", "hold out": "seen"}
FUNC = {**SEEN, "hold out": "functionality"}


def scores(
    groups: dict[str, str], suite: float, g: float, note: str = "this checkpoint only"
) -> list[Measure]:
    interval = (g - 0.02, g + 0.02)
    return [
        Measure("suite score", suite, 100, groups, (suite - 0.02, suite + 0.02), "cluster bootstrap"),
        Measure("G", g, 150, groups, interval, "cluster bootstrap", note=note),
        Measure("G", g, 150, {**groups, "seed": "1"}, interval, "cluster bootstrap"),
        Measure("G", g, 150, {**groups, "estimand": "new functionalities"}, (g - 0.1, g + 0.1), "both"),
    ]


def against(
    groups: dict[str, str], score: str, change: float, p: float, reach: float = 0.01
) -> list[Measure]:
    own = {"score": score, **groups}
    how = "exact sign test" if score == "iid score" else "randomisation: 10,000 exchanges of cases"
    return [
        Measure("difference", change, 150, own, (change - reach, change + reach), "cluster bootstrap"),
        Measure("p value", p, 150, own, note=how),
        Measure("adjusted p value", min(1.0, 3 * p), 150, own, note="Holm over 3 comparisons"),
        Measure("minimum detectable effect", 0.031, 150, own),
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
        Measure("functionalities compared", 2.0, 3, note="left out, no case applies in some row: reducers"),
        Measure("iid score", 0.917, 50, IID, (0.8, 0.96), "wilson", note="this checkpoint only"),
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


def printed(measures: list[Measure], width: int = 110, **options: bool) -> str:
    console = Console(width=width, record=True, highlight=False, file=io.StringIO())
    print_learning(measures, console, **options)
    return console.export_text()


def lines_with(text: str, word: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if word in line]


def test_values_marks_and_intervals():
    text = printed(example())
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
        "best iid>suite vanilla, G −1.8 points. The i.i.d. score drops in 1."
    )


def test_the_legend_says_on_what_the_numbers_rest():
    text = " ".join(printed(example()).split())
    assert "100 cases of the suite, 50 i.i.d. cases, 2 of 3 functionalities" in text
    assert "left out, no case applies in some row: reducers" in text
    assert "this checkpoint only" in text
    assert "adjusted p at most .05 (Holm over 3 comparisons)" in text
    assert "tests: exact sign test; randomisation: 10,000 exchanges of cases" in text


def test_intervals_can_be_for_new_functionalities():
    text = printed(example(), anew=True)
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
    assert "90.3 △" in text and "△ ▽ the test says so, but the interval of the difference holds 0" in text


def test_what_is_not_done_says_how_far_it_is():
    waiting = [row for row in example() if row.groups.get("hold out") != "functionality"]
    waiting.append(Measure("G", None, 0, FUNC, note="23 of 38 folds done"))
    text = printed(waiting)
    assert "23 of 38" in text and "No row is complete yet." in text
    assert "nothing to compare with" in printed(
        [row for row in example() if row.groups.get("config") != "iid"]
    )
    assert "No job of this plan has been trained yet." in printed([Measure("other", 1.0, 1)])


def test_a_sample_of_functionalities_is_told():
    sampled = [row for row in example() if row.groups.get("hold out") != "functionality"]
    sampled += scores(
        FUNC, 0.62, 0.707, note="5 of 38 functionalities, drawn at random; this checkpoint only"
    )
    assert "G_func: 5 of 38 functionalities, drawn at random" in printed(sampled)


def test_several_models_are_printed_one_after_the_other():
    both = [
        Measure(row.name, row.value, row.n, {"model": model, **row.groups}, row.interval, note=row.note)
        for model in ("tiny:a", "tiny:b")
        for row in example()
    ]
    text = printed(both)
    assert text.index("behavioural learning of tiny:a") < text.index("behavioural learning of tiny:b")
    assert results_csv(both).splitlines()[0].startswith("task,model,config")


def test_the_matrix_of_pass_rates_by_scenario():
    console = Console(width=100, record=True, highlight=False, file=io.StringIO())
    print_matrix(example(), console, hold_outs=["functionality"])
    text = console.export_text()
    assert "func: the functionality itself was held out" in text and "seen:" not in text
    rows = {line.split("MFT")[0].strip(): line.split()[-2:] for line in text.splitlines() if "MFT" in line}
    assert rows == {"not good": ["30", "40"], "not bad": ["90", "84"], "reducers": ["–", "25"]}
    (mean,) = lines_with(text, "suite score")
    assert mean.split() == ["suite", "score", "60", "62"]


def test_a_matrix_wider_than_the_terminal_is_printed_in_blocks():
    methods = ("vanilla", "l2", "dropout", "lp", "lp-ft", "irm", "group-dro", "fish")
    many = rates(IID, {"not good": 0.3})
    for config in ("iid>suite", "iid+suite"):
        for method in methods:
            many += rates({"config": config, "method": method, "hold out": "seen"}, {"not good": 0.9})
    console = Console(width=80, record=True, highlight=False, file=io.StringIO())
    print_matrix(many, console)
    text = console.export_text()
    assert max(map(len, text.splitlines())) <= 80
    assert len(lines_with(text, "not good")) == 2 and text.count("group-dro") == 2


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_results_as_csv():
    base, row = read(results_csv(example(), "SENT"))
    assert ",".join(row) == (
        "task,config,method,s_iid,s_seen,s_func,s_class,s_type,G_seen,G_func,G_class,G_type,n_func_used,na_rates"
    )
    assert (row["task"], row["config"], row["method"]) == ("SENT", "iid>suite", "vanilla")
    assert (row["s_iid"], row["s_func"], row["G_func"], row["G_class"]) == ("0.823", "0.62", "0.707", "")
    assert (base["s_seen"], base["s_func"], base["n_func_used"]) == ("0.6", "0.6", "2")
    assert json.loads(base["na_rates"]) == {"reducers": 1.0}


def test_pass_rates_as_csv():
    rows = read(results_fine_csv(example(), "SENT"))
    assert [row["scenario"] for row in rows] == ["standard", "seen", "func"]
    assert rows[2]["not good"] == "0.4" and rows[0]["reducers"] == ""


def test_p_values_as_csv():
    (row,) = read(pvalues_csv(example(), "SENT"))
    assert (row["i.i.d."], row["G_seen"], row["G_func"]) == ("0.001", "0.0001", "0.3")
    assert float(row["G_func adjusted"]) == pytest.approx(0.9) and row["G_type"] == ""


def test_nothing_to_export_is_an_empty_file():
    assert results_csv([]) == results_fine_csv([]) == pvalues_csv([]) == ""
