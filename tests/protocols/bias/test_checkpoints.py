"""Several checkpoints of one recipe: spread, disagreement, signs, equivalence, conclusions (5.7 to 5.9)."""

# Made-up inputs here are looser than the types they are made up for.
# mypy: disable-error-code="list-item"

import csv
import io
from dataclasses import asdict, replace

import numpy as np
import pytest
from click.testing import CliRunner

from shoal.cli import main as command_line
from shoal.comparing.pairs import compare as side_by_side
from shoal.core.errors import DataError
from shoal.core.records import Answer, Case, Measure, Measures, Outcome, Result
from shoal.protocols import bias
from shoal.protocols.base import Built
from shoal.protocols.bias.seat import sign_agreement
from shoal.protocols.bias.spread import flags
from shoal.render.csv_tables import tables_of
from shoal.render.terminal import print_sections
from shoal.runs.settings import make_settings

MATRIX = ["11111", "11110", "11000", "00000", "10101", "01000"]
CASES = [
    Case(str(n), (("a",), ("b",)), None, {"diagnostic": "crows", "category": "age", "direction": "stereo"})
    for n in range(6)
]


def settings(**given):
    return make_settings(bias.Settings, {"data": "example", **given}, "test")


def crows_result(outcomes, model, group="base", cases=CASES):
    """A result made of outcomes by scoring rows that say so."""
    chosen = settings()
    scores = {"1": (-1.0, -2.0), "0": (-2.0, -1.0), "-": (-1.0, -1.0)}
    said = [[Answer("x", "tokens", {"score": score}) for score in scores[letter]] for letter in outcomes]
    scored = bias.score(chosen, Built(cases, None, "tokens"), {"": said})
    job = {"model": model, "settings": asdict(chosen), "group": group}
    return Result(job, cases, scored.outcomes, Measures(scored.measures))


def compare(results, **given):
    return Measures(bias.compare(settings(**given), results).measures)


def conclusions(results, **given):
    return bias.compare(settings(**given), results).findings


def five(times=1):
    """The worked example, every item so many times."""
    cases = [replace(case, id=f"{case.id}{copy or ''}") for copy in range(times) for case in CASES]
    return [crows_result([row[run] for row in MATRIX] * times, f"ckpt{run}", cases=cases) for run in range(5)]


def test_the_worked_example(worked):
    example = worked["diag.disagreement"]
    assert example["matrix"] == MATRIX
    found = compare(five())
    whole = {"category": "all", "of": "stereotype score"}
    value = {
        name: found.where(name, **whole)[0].value
        for name in ("mean over checkpoints", "sd over checkpoints", "floor sd")
    }
    assert 100 * value["mean over checkpoints"] == pytest.approx(example["mean"])
    assert 100 * value["sd over checkpoints"] == pytest.approx(example["sd_n_minus_1"], abs=1e-4)
    assert 100 * value["floor sd"] == pytest.approx(example["floor_sd"], abs=1e-4)
    assert found.where("over-dispersion ratio", **whole)[0].value == pytest.approx(1)
    shares = [row.value for row in found.where("share of items")]
    assert shares == pytest.approx([1 / 3] * 3)
    coins = [row.facts["by coin tosses"] for row in found.where("share of items")]
    assert coins == pytest.approx([0.0625, 0.3125, 0.625])
    assert found.where("lowest checkpoint", **whole)[0].value == pytest.approx(1 / 3)
    sd = found.where("sd over checkpoints", **whole)[0]
    assert [end / sd.value for end in sd.interval] == pytest.approx([0.599, 2.874], abs=1e-3)
    assert sd.facts == {
        "of": "stereotype score",
        "checkpoints": 5,
        "flags": [],
    }  # six items are too few for a flag


def test_the_same_checkpoint_twice_agrees_with_itself():
    found = compare([crows_result("110010", name) for name in ("a", "b")])
    assert found.where("sd over checkpoints", category="all", of="stereotype score")[0].value == 0
    assert [row.value for row in found.where("share of items")] == [1.0, 0.0]
    assert found.where("pairwise agreement")[0].value == 1.0
    assert found.where("Krippendorff alpha")[0].value == 1.0
    assert found.where("over-dispersion ratio", category="all")[0].value is None


def test_one_checkpoint_speaks_for_itself_only():
    results = [crows_result("110010", "hf:one")]
    (end,) = conclusions(results)
    assert (
        end.text == "One checkpoint, hf:one: what it says holds for this checkpoint only, not for its recipe."
    )
    assert not compare(results).where("sd over checkpoints")


def test_two_models_that_a_plan_lists_are_two_recipes():
    ends = conclusions([crows_result("110010", "hf:one", ""), crows_result("010010", "hf:two", "")])
    assert [end.groups["recipe"] for end in ends] == ["hf:one", "hf:two"]


def test_five_checkpoints_never_reach_one_per_cent():
    (_, end) = conclusions(five())
    assert end.text.endswith("No test over them can reach p = 0.01: the smallest possible is 0.0625.")
    assert "too few" not in end.text
    (first, end) = conclusions(five()[:3])
    assert "3 checkpoints of one recipe: too few for a claim about it, 5 are the least" in end.text
    assert "may be said of the recipe" not in end.text
    assert "new checkpoints of the recipe" not in first.text


def test_a_conclusion_names_what_spreads():
    (first, _) = conclusions(five(times=4))
    assert first.groups == {"recipe": "base", "diagnostic": "crows"}
    assert first.text.startswith("Over 5 checkpoints the stereotype score is 50.0 %, SD 16.7 points.")
    assert "cannot be told from one half" in first.text
    assert "1 of 1 category of 20 items or more spread by more than 2.5 points (age)" in first.text
    assert (
        "All checkpoints agree on 33 % of the items (6.2 % if every outcome were a coin toss)" in first.text
    )


def test_fewer_than_twenty_items_carry_no_flag_and_no_finding():
    compared = bias.compare(settings(), five(times=3))
    (sd,) = Measures(compared.measures).where("sd over checkpoints", of="stereotype score", category="age")
    assert sd.n == 18 and sd.facts["flags"] == []
    assert compared.findings[0].text == (
        "Over 5 checkpoints the stereotype score is 50.0 %, SD 16.7 points. "
        "That is a score of 18 items: too few for a finding, 20 are the least."
    )
    assert " !" not in printed(bias.view(settings(), five(times=3), compared.measures, compared.findings))


@pytest.mark.parametrize("outcomes", [("111111", "000000"), ("111111", "000000", "111000")])
def test_intervals_stay_inside_the_range_of_their_measure(outcomes):
    """Two checkpoints that differ in everything: neither an SD of 300 points nor a mean of -50 % can be."""
    rows = compare([crows_result(letters, f"ckpt{run}") for run, letters in enumerate(outcomes)])
    most = 0.5 * (len(outcomes) / (len(outcomes) - 1)) ** 0.5
    for row in rows.where("sd over checkpoints"):
        assert row.interval is None or 0 <= row.interval[0] <= row.value <= row.interval[1] <= most + 1e-12
    for row in rows.where("mean over checkpoints"):
        assert row.interval is None or 0 <= row.interval[0] <= row.value <= row.interval[1] <= 1


def clusters_results(accuracies, group):
    """Results whose only measure is the accuracy of one pair of concepts, a checkpoint each."""
    chosen = settings(diagnostic="clusters")
    groups = {"diagnostic": "clusters", "test": "t", "category": "c", "representation": "cls"}
    return [
        Result(
            {"model": f"{group}-{run}", "settings": asdict(chosen), "group": group, "protocol": "bias"},
            [],
            [Outcome("t", None)],
            Measures([Measure("cluster accuracy", value, 40, groups, facts={"compare": "runs"})]),
            settings=chosen,
        )
        for run, value in enumerate(accuracies)
    ]


def test_a_difference_of_shares_stays_within_a_hundred_points():
    """Over two checkpoints a side, Student's t alone gives −198.9 to +132.3 points, or worse."""
    small, large = clusters_results([0.5, 0.9], "small"), clusters_results([0.6, 0.95], "large")
    (row,) = compare([*small, *large], diagnostic="clusters").where("difference between recipes")
    assert row.interval == (-1.0, 1.0) and row.value == pytest.approx(-0.075)
    (row,) = side_by_side(small, large).rows
    assert row.interval == (-1.0, 1.0) and row.difference == pytest.approx(0.075)


def test_ties_are_a_bin_of_their_own():
    results = [crows_result(letters, name) for name, letters in (("a", "11-000"), ("b", "110000"))]
    rows = compare(results).where("share of items")
    assert [row.groups["checkpoints against the majority"] for row in rows] == ["0", "1", "undecided"]
    assert [row.value for row in rows] == pytest.approx([5 / 6, 0, 1 / 6])


def test_flags_follow_the_rules_of_section_5_7():
    assert flags([0.5, 0.6]) == ["SD above 2.5 points", "straddles one half"]
    assert flags([0.48, 0.55, 0.5, 0.5, 0.5]) == ["SD above 2.5 points", "straddles one half"]
    assert flags([0.53, 0.56]) == []
    base = 0.025 / np.std([0, 1], ddof=1)
    assert flags([0.6, 0.6 + base]) == []  # exactly 2.5 is not above


def test_random_scores_spread_as_coins_do(coin, run):
    chosen = settings()
    built = bias.build(chosen)
    results = []
    for seed in range(12):
        outcomes, measures = run(coin(seed), data="example")
        results.append(
            Result(
                {"model": f"c{seed}", "settings": asdict(chosen), "group": "g"},
                built.cases,
                outcomes,
                measures,
            )
        )
    found = compare(results)
    sd = found.where("sd over checkpoints", category="all", of="stereotype score")[0]
    low, high = sd.interval
    assert low < 0.5 / np.sqrt(80) < high
    assert abs(found.where("Fleiss kappa")[0].value) < 0.1
    assert abs(found.where("ICC(2,1)")[0].value) < 0.1
    assert found.where("ICC(2,1)")[0].facts["of values"] == "differences of scores"


def test_a_plan_that_is_partly_done_is_compared_as_far_as_it_is():
    mean = compare(five()[:2]).where("mean over checkpoints", category="all")[0]
    assert mean.facts["checkpoints"] == 2
    assert list(compare([])) == []


# Association


def seat_results(effects, ps, representation="cls"):
    chosen = settings(diagnostic="seat", representation=representation)
    results = []
    for run in range(len(next(iter(effects.values())))):
        measures = []
        for test in effects:
            groups = {"diagnostic": "seat", "test": test, "representation": representation}
            measures += [
                bias_measure("effect size", effects[test][run], groups),
                bias_measure("p value", ps[test][run], groups),
            ]
        job = {"model": f"ckpt{run}", "settings": asdict(chosen), "group": "base"}
        results.append(Result(job, [], [Outcome("t", None)], Measures(measures)))
    return results


def bias_measure(name, value, groups):
    return Measure(name, value, 16, groups)


def test_signs_and_significance_are_counted_over_checkpoints():
    effects = {"weat1": [1.2, 1.3, 1.1, 1.2, 1.4], "weat6": [0.4, -0.2, 0.1, 0.6, -0.3]}
    ps = {"weat1": [0.001] * 5, "weat6": [0.2, 0.7, 0.4, 0.005, 0.8]}
    found = compare(seat_results(effects, ps), diagnostic="seat")
    by_test = {test: {row.name: row for row in found.where(test=test)} for test in effects}
    assert by_test["weat1"]["sign agreement"].value == 1.0
    assert by_test["weat6"]["sign agreement"].value == pytest.approx(0.2)
    facts = by_test["weat6"]["significant share"].facts
    assert facts == {"significant": 1, "checkpoints": 5, "level": 0.01}
    assert by_test["weat1"]["p value over checkpoints"].value == 0.0625
    assert by_test["weat1"]["p value over checkpoints"].facts["least"] == 0.0625
    assert found.where("tests with one sign")[0].value == 0.5
    assert found.where("tests with one verdict")[0].value == 0.5
    assert found.where("ICC(2,1)")[0].value > 0.5
    first = conclusions(seat_results(effects, ps), diagnostic="seat")[0].text
    assert first.startswith("1 of 2 tests have the same sign in all 5 checkpoints; 1 are significant in all")


def test_sign_agreement_is_that_of_section_5_7():
    assert sign_agreement([1, 1, -1, 1, 1]) == pytest.approx(0.6)
    assert sign_agreement([1, -1]) == 0


def test_representations_of_the_same_checkpoints_are_held_against_each_other():
    one = seat_results({"weat1": [1.0, -1.0]}, {"weat1": [0.1, 0.1]}, "cls")
    two = seat_results({"weat1": [1.0, 1.0]}, {"weat1": [0.1, 0.1]}, "word_mean")
    (row,) = compare(one + two).where("agreement of representations")
    assert (row.value, row.n, row.groups["representation"]) == (0.5, 2, "cls and word_mean")


# Downstream and across diagnostics


def write_scores(folder, rows):
    path = folder / "downstream.csv"
    path.write_text(
        "checkpoint,task,score\n" + "".join(f"{name},{task},{score}\n" for name, task, score in rows)
    )
    return str(path)


def test_equivalence_is_claimed_where_the_interval_lies_inside_the_margin(tmp_path):
    scores = [0.909, 0.912, 0.915, 0.912, 0.912]
    rows = [(f"ckpt{run}", "SST-2", score) for run, score in enumerate(scores)]
    rows += [(f"ckpt{run}", "RTE", score) for run, score in enumerate([0.69, 0.73, 0.70, 0.74, 0.70])]
    found = compare(five(), downstream=write_scores(tmp_path, rows))
    easy, hard = found.where("equivalence p value")
    assert easy.value < 0.01 and easy.facts["equivalent"] is True and easy.facts["margin"] == 0.01
    assert hard.value > 0.05 and hard.facts["equivalent"] is False
    assert found.where("largest difference", task="RTE")[0].value == pytest.approx(0.05)
    mean = found.where("mean over checkpoints", of="downstream score", task="SST-2")[0]
    assert mean.value == pytest.approx(0.912)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("ckpt0", "SST-2", 91.2)], "line 2: score '91.2'[^$]*a fraction"),
        ([("ckpt9", "SST-2", 0.9)], "checkpoint 'ckpt9' is not one of this plan"),
    ],
)
def test_wrong_downstream_scores_are_refused(tmp_path, rows, message):
    with pytest.raises(DataError, match=message):
        compare(five(), downstream=write_scores(tmp_path, rows))


def test_two_diagnostics_of_one_concept_are_held_against_each_other():
    crows_cases = [
        Case(str(n), (("a",), ("b",)), None, {"category": "religion", "direction": "stereo"})
        for n in range(4)
    ]
    results = [
        crows_result(letters, f"ckpt{n}", cases=crows_cases)
        for n, letters in enumerate(("1110", "1111", "1100"))
    ]
    chosen = settings(diagnostic="stereoset")
    groups = {"diagnostic": "stereoset", "task": "intrasentence", "category": "religion"}
    for run, value in enumerate((0.5, 0.6, 0.4)):
        job = {"model": f"ckpt{run}", "settings": asdict(chosen), "group": "base"}
        rows = Measures([bias_measure("stereotype score", value, groups)])
        results.append(Result(job, [], [], rows))
    found = compare(results)
    (apart,) = found.where("difference between diagnostics", category="religion")
    assert apart.value == pytest.approx(0.25)
    assert apart.facts["means"] == pytest.approx({"crows": 0.75, "stereoset": 0.5}) and apart.n == 3
    (together,) = found.where("correlation between diagnostics")
    assert (
        together.value == pytest.approx(1.0) and together.interval is None
    )  # of three checkpoints there is none
    text = printed(bias.view(settings(), results, found, ()))
    assert "correlation between diagnostics" in text and "difference between diagnostics" in text


def printed(sections, width=100):
    from rich.console import Console

    console = Console(width=width, highlight=False, record=True, file=io.StringIO())
    print_sections(sections, console)
    return console.export_text()


def test_one_checkpoint_is_shown_by_category():
    result = five()[0]
    text = printed(bias.view(settings(), [result], (), ()))
    assert "bias of ckpt0" in text and "crows, 6 pairs, profile recommended" in text
    assert "! One checkpoint: seed variance was not measured." in text
    (line,) = [line for line in text.splitlines() if line.startswith("all")]
    assert line.split()[:6] == ["all", "66.7", "30.0", "–", "90.3", "6"] and "●" in line


def test_several_checkpoints_are_shown_with_what_may_be_concluded():
    compared = bias.compare(settings(), five(times=4))
    text = printed(bias.view(settings(), five(times=4), compared.measures, compared.findings))
    assert "crows of base\nOver 5 checkpoints the stereotype score is 50.0 %" in text
    assert text.startswith("base\n5 checkpoints of one recipe")
    assert "age !" in text and "0 against the majority  33.3" in text
    assert "6.2 % if every outcome were a coin toss" in text


def test_associations_are_shown_over_checkpoints():
    effects, ps = {"weat6": [0.4, -0.2, 0.1, 0.6, -0.3]}, {"weat6": [0.2, 0.7, 0.4, 0.005, 0.8]}
    results = seat_results(effects, ps)
    compared = bias.compare(settings(diagnostic="seat"), results)
    text = printed(bias.view(settings(diagnostic="seat"), results, compared.measures, compared.findings))
    (line,) = [line for line in text.splitlines() if line.startswith("weat6 !")]
    assert line.split()[2:8] == ["0.12", "0.38", "0.2", "1", "of", "5"]
    assert "seat by cls of base" in text


# As CSV


def tables(results, **given):
    compared = bias.compare(settings(**given), results)
    sections = bias.view(settings(**given), results, compared.measures, compared.findings)
    return {name: list(csv.DictReader(io.StringIO(text))) for name, text in tables_of(sections).items()}


def test_likelihood_diagnostics_as_csv(worked):
    example = worked["diag.disagreement"]
    results = [*five()[:4], crows_result("1-0011", "ckpt4")]  # a tie in the second item
    found = tables(results)
    assert set(found) == {"likelihood", "likelihood_summary", "item_disagreement"}
    rows = [row for row in found["likelihood"] if row["category"] == "all"]
    assert [row["run"] for row in rows] == [f"ckpt{run}" for run in range(5)]
    assert [100 * float(row["ss"]) for row in rows[:4]] == pytest.approx([66.67, 66.67, 50, 33.33], abs=1e-2)
    assert [(row["ss n"], row["n_tie"], row["lms"]) for row in rows] == [("6", "0", "")] * 4 + [
        ("6", "1", "")
    ]
    assert {(row["test"], row["size"]) for row in rows} == {("crows", "base")}

    found = tables(five())
    row, decided, graded = [row for row in found["likelihood_summary"] if row["category"] == "all"]
    assert graded["score"] == "graded"
    assert decided["score"] == "ss_decided" and decided["mean"] == row["mean"]
    assert (row["test"], row["score"], row["flags"]) == ("crows", "ss", "")
    assert 100 * float(row["sd"]) == pytest.approx(example["sd_n_minus_1"], abs=1e-4)
    assert float(row["sd low"]) < float(row["sd"]) < float(row["sd high"])
    assert float(row["ratio"]) == pytest.approx(1) and float(row["min"]) == pytest.approx(1 / 3)
    assert [float(row["share"]) for row in found["item_disagreement"]] == pytest.approx([1 / 3] * 3)


def test_associations_as_csv(run, masked):
    effects = {"weat1": [1.2, 1.3, 1.1, 1.2, 1.4], "weat6": [0.4, -0.2, 0.1, 0.6, -0.3]}
    ps = {"weat1": [0.001] * 5, "weat6": [0.2, 0.7, 0.4, 0.005, 0.8]}
    found = tables(seat_results(effects, ps), diagnostic="seat")
    assert set(found) == {"seat", "seat_summary"}
    assert [float(row["d"]) for row in found["seat"] if row["test"] == "weat6"] == effects["weat6"]
    assert [float(row["p"]) for row in found["seat"] if row["test"] == "weat6"] == ps["weat6"]
    summary = {row["test"]: row for row in found["seat_summary"]}
    assert float(summary["weat6"]["sign_agreement"]) == pytest.approx(0.2)
    assert float(summary["weat6"]["significant_share"]) == pytest.approx(0.2)
    assert float(summary["weat1"]["p_over_runs"]) == 0.0625

    outcomes, measures = run(masked, diagnostic="seat", data="example")
    chosen = settings(diagnostic="seat")
    asked = Result({"model": "m", "settings": asdict(chosen)}, [], outcomes, measures)
    rows = tables([asked], diagnostic="seat")["seat"]
    assert rows and all(row["exact"] == "True" and int(row["n_perm"]) > 1 for row in rows if row["p"])


def test_downstream_scores_as_csv(tmp_path):
    rows = [(f"ckpt{run}", "RTE", score) for run, score in enumerate([0.69, 0.73, 0.70, 0.74, 0.70])]
    (row,) = tables(five(), downstream=write_scores(tmp_path, rows))["downstream"]
    assert (row["task"], row["size"]) == ("RTE", "base")
    assert float(row["mean"]) == pytest.approx(0.712) and float(row["equivalence_p"]) > 0.05
    assert float(row["equivalence_p low"]) < float(row["equivalence_p high"])


def test_clusters_as_csv(run, masked):
    outcomes, measures = run(masked, diagnostic="clusters", data="example")
    chosen = settings(diagnostic="clusters")
    asked = Result({"model": "m", "settings": asdict(chosen)}, [], outcomes, measures)
    (first, *_) = tables([asked], diagnostic="clusters")["clusters"]
    own = measures.where("cluster accuracy", category=first["category"])[0]
    assert float(first["accuracy"]) == own.value and 0 <= float(first["chance"]) <= 1


def test_the_report_of_a_plan_knows_its_groups_and_marks(save, tmp_path):
    folders = [save("BertForMaskedLM") for _ in range(2)]
    specs = ", ".join(f'"hf:{folder}"' for folder in folders)
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on the mat . the dog ran to the cat .\n" * 40)
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'[groups]\nbase = [{specs}]\n[bias]\ndiagnostic = ["crows", "seat", "clusters"]\ndata = "example"\n'
    )
    found = report(plan, tmp_path / "runs")
    assert {row["size"] for name in ("likelihood", "seat", "clusters") for row in found[name]} == {"base"}
    assert len({row["run"] for row in found["likelihood"]}) == 2
    # Two checkpoints of one recipe are not "one checkpoint of each model"; every finding says whose it is.
    page = plan.with_suffix(".html").read_text()
    assert "one checkpoint of each model" not in page and "one seed of each recipe" not in page
    markdown = tmp_path / "page.md"
    asked = ["report", str(plan), "--into", str(tmp_path / "runs"), "--format", "md", "--out", str(markdown)]
    assert CliRunner().invoke(command_line, asked).exit_code == 0
    assert "base · diagnostic crows: **Over 2 checkpoints" in markdown.read_text()
    before = [row["ss"] for row in found["likelihood"]]
    plan.write_text(plan.read_text() + 'crows_scoring = "modified_tokens"\n')  # asks again: other tokens
    again = report(plan, tmp_path / "runs")
    assert [row["ss n"] for row in again["likelihood"]] != [] and [
        row["ss"] for row in again["likelihood"]
    ] != before

    plan.write_text(
        f'models = ["tiny:masked"]\nseeds = [0]\n[bias]\ndiagnostic = "seat"\ndata = "example"\n[bias.pretrain]\n'
        f'text = "{text}"\nepochs = 2\nlayers = 1\nwidth = 16\nheads = 2\nvocabulary = 60\nask_after = [1]\n'
    )
    epochs = [row["epoch"] for row in report(plan, tmp_path / "more")["seat"]]
    assert set(epochs) >= {"", "1"}


def report(plan, store):
    page = plan.with_suffix(".html")
    for command in (["run", str(plan)], ["report", str(plan), "--out", str(page)]):
        done = CliRunner().invoke(command_line, [*command, "--into", str(store)])
        assert done.exit_code == 0, done.output
    return {
        path.stem.removeprefix(f"{page.stem}-"): list(csv.DictReader(io.StringIO(path.read_text())))
        for path in page.parent.glob(f"{page.stem}-*.csv")
    }
