"""`compare` and `gate` as users meet them: whole output, exit codes, exports, errors."""

import csv
import json
from dataclasses import fields, replace
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from toy_suite import rows_of, write_suite

from shoal import Measure, Measures, Result
from shoal.comparing.pairs import Choices, compare
from shoal.comparing.summary import comparison_summary
from shoal.comparing.view import comparison_sections
from shoal.core.errors import DataError
from shoal.protocols.behaviour.score import REFUSED, refusal_rate
from shoal.protocols.learning.settings import Train
from shoal.render.latex import ESCAPES, escape_latex
from shoal.render.terminal import print_sections

ROOT = Path(__file__).parents[2]


@pytest.fixture
def pair(predicting):
    return predicting("old", good=1, bad=2), predicting("new", good=1, bad=14)


def printed(comparison, width=120, **options) -> str:
    console = Console(file=StringIO(), width=width, highlight=False)
    print_sections(comparison_sections(comparison, **options), console, full=options.get("full", False))
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_compare_says_what_is_worse_and_data_are_never_markup(shoal, pair, suite):
    done = shoal("compare", *pair, "--set", f"suite={suite}")
    assert done.exit_code == 0, done.output
    text = " ".join(done.stdout.split())
    assert "B is worse overall: 37 → 25 of 40 cases pass" in text
    assert "1 functionality got worse, 0 better, 1 shows no clear change." in text
    assert "▼ [bold]bad[/bold] 90.0 30.0 −60.0" in text
    assert "Newly failing in [bold]bad[/bold]: 12 of 20" in text


def test_compare_as_json_is_the_public_object(shoal, pair, suite):
    done = shoal("compare", *pair, "--set", f"suite={suite}", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found.keys() == {"jobs", "measures", "findings"}
    assert [job["side"] for job in found["jobs"]] == ["A", "B"]
    keys = {field.name for field in fields(Measure)}
    assert all(row.keys() == keys for row in found["measures"])
    bad = {"functionality": "[bold]bad[/bold]", "capability": "c", "test type": "MFT"}
    values = {row["name"]: row["value"] for row in found["measures"] if row["groups"] == bad}
    assert values["difference"] == pytest.approx(-0.6)
    assert values["p value"] == 2 / 2**12
    assert values["adjusted p value"] >= values["p value"]
    rates = [
        row["value"]
        for row in found["measures"]
        if row["groups"] == {**bad, "model": "B"} and row["name"] == "pass rate"
    ]
    assert rates == [pytest.approx(0.3)]


def test_changed_cases_are_listed(shoal, pair, suite):
    done = shoal("compare", *pair, "--set", f"suite={suite}", "--changed")
    assert "12 newly failing, 0 fixed" in done.stdout
    assert done.stdout.count("[bold]bad[/bold] ") >= 12
    found = json.loads(shoal("compare", *pair, "--set", f"suite={suite}", "--changed", "--json").stdout)
    assert found["changed"][0] == {"case_id": "[bold]bad[/bold]/2", "change": "pass to fail"}


def test_several_runs_are_given_by_side(shoal, predicting, suite):
    specs = {name: predicting(name, good=at, bad=3) for at, name in enumerate(["a1", "a2", "b1", "b2"])}
    sides = [word for name in specs for word in (f"--{name[0]}", specs[name])]
    done = shoal("compare", *sides, "--set", f"suite={suite}")
    assert done.exit_code == 0, done.output
    assert done.stdout.count("(2 runs)") == 2
    assert "Fewer than 5 runs a side" in done.stdout
    one_against_two = [word for word in sides[2:]]
    text = " ".join(shoal("compare", *one_against_two, "--set", f"suite={suite}").stdout.split())
    assert "One run against several: tests hold for these runs only" in text


def test_result_files_are_compared_unpaired(shoal, predicting, suite, tmp_path):
    def written(name, spec, suite):
        path = tmp_path / f"{name}.json"
        path.write_text(shoal("try", "behaviour", spec, "--suite", suite, "--json").stdout)
        return path

    a, b = predicting("old", good=1), predicting("new", good=1, bad=19)
    old, new = written("a", a, suite), written("b", b, suite)
    dropped = shoal("compare", old, new).stdout
    # 20 of 20 and 1 of 20: Newcombe's interval by hand.
    assert "▼  [bold]bad[/bold]  100.0   5.0  −95.0  −99.1 to −70.4" in dropped
    assert dropped.index("B is worse overall") < dropped.index("! Unpaired: a result file")
    assert "newly failing" not in dropped
    mixed = shoal("compare", old, b, "--suite", suite).stdout
    assert mixed.split("pass rate", 1)[1] == dropped.split("pass rate", 1)[1]
    same = shoal("compare", old, old).stdout
    assert "No clear difference overall" in same and not {"▲", "▼"} & set(same)
    rows = [{**row, "capability": "d"} for row in rows_of({"good": 20, "[bold]bad[/bold]": 20})]
    other = write_suite(tmp_path / "other.jsonl", rows)
    refused = shoal("compare", old, written("c", b, other))
    assert refused.exit_code == 1 and "A and B were made from other cases" in refused.output
    refused = shoal("compare", old, b, "--suite", suite, "--changed")
    assert "has rates, not outcomes" in refused.output and "try: the model itself" in refused.output


def test_jobs_of_a_store_are_compared(shoal, pair, suite, tmp_path):
    from shoal.runs.executors import run_here
    from shoal.runs.plan import make_plan
    from shoal.runs.store import RunStore

    store = RunStore(tmp_path / "runs")
    jobs = make_plan({"models": list(pair), "behaviour": {"suite": str(suite)}}).jobs()
    assert [problem for _, problem in run_here(jobs, store)] == [None, None]
    done = shoal("compare", jobs[0].id, jobs[1].id, "--into", tmp_path / "runs", "--csv")
    assert done.exit_code == 0, done.output
    rows = list(csv.DictReader(StringIO(done.stdout)))
    assert float(rows[-1]["difference"]) == pytest.approx(-0.6)
    gate = tmp_path / "gate.toml"
    gate.write_text('[[rule]]\nfunctionality = "*"\nno_worse_than_baseline_by = 0.1\njudge = "upper bound"\n')
    again = shoal(
        "gate", jobs[1].id, "--baseline", jobs[0].id, "--rules", gate, "--into", tmp_path / "runs", "--json"
    )
    assert again.exit_code == 3, again.output
    assert [verdict["met"] for verdict in json.loads(again.stdout)["verdicts"]] == [True, False]


@pytest.fixture(scope="module")
def sides(make):
    """A functionality that breaks, one that is repaired, a suspect, and one without a change; three templates each."""
    broken, doubtful = "a_broken_one_with_a_name_that_is_far_too_long", "b_doubtful"
    hits = {
        broken: [1] * 90 + [0] * 10,
        "a_same": [1] * 100,
        "b_repaired": [0] * 50 + [1] * 50,
        doubtful: [1] * 40,
    }
    after = {**hits, broken: [0] * 100, "b_repaired": [1] * 100, doubtful: [0] * 6 + [1] * 34}
    return make(hits, 3), make(after, 3)


def test_the_answer_comes_first_then_worse_better_suspects_and_a_count_of_the_rest(sides):
    text = printed(compare([sides[0]], [sides[1]], Choices()))
    places = [
        text.index(words)
        for words in (
            "B is worse overall: 280 → 234 of 340 cases pass",
            "1 functionality got worse, 1 better, 2 show no clear change.",
            "The minimum detectable drop is ",
            "▼  a_broken",
            "▲  b_repaired",
            "Perhaps changed: the interval excludes zero, but 4 rows were tested",
            "1 more without a clear change is not shown: --full",
            "Newly failing in a_broken",
        )
    ]
    assert places == sorted(places)
    assert "a_same" not in text and "a_same" in printed(compare([sides[0]], [sides[1]]), full=True)


def test_nobody_is_better_overall_when_pass_rate_and_suite_score_disagree(make):
    small = ("b", "c", "d")
    old = make({"a": [1] * 150 + [0] * 150} | {name: [1] * 20 for name in small})
    new = make({"a": [1] * 270 + [0] * 30} | {name: [0] * 15 + [1] * 5 for name in small})
    comparison = compare([old], [new], Choices(power=False))
    first = "passes more cases but has a lower suite score"
    text = " ".join(printed(comparison).split())
    assert f"B {first}: 210 → 285 of 360 cases pass (+20.8 points" in text
    assert "; suite score 87.5 → 41.2 % (−46.2 points" in text
    assert "▲ pass rate 58.3 79.2" in text and "▼ suite score 87.5 41.2" in text
    assert comparison_summary(comparison).verdict == f"B {first}; 3 functionalities got worse"
    assert "better overall" not in text


def test_the_header_names_the_settings_in_which_the_sides_differ(make):
    one, same = (make({"f": [1] * 9}, settings={"suite": "s", "limit": 9}) for _ in range(2))
    other = make({"f": [1] * 9}, settings={"suite": "t", "limit": 9})
    assert "A and B also differ in suite (s and t)." in printed(compare([one], [other]))
    assert "differ in" not in printed(compare([one], [same]))
    trained = [
        make({"f": [1] * 9}, protocol="learning", settings={"train": Train(method=(name,), epochs=2)})
        for name in ("lp", "irm")
    ]
    assert "A and B also differ in train.method (lp and irm)." in printed(compare(trained[:1], trained[1:]))


def test_cases_that_do_not_apply_to_both_are_named_and_two_protocols_are_refused(make):
    a, b = make({"f": [1] * 9, "g": [1, None]}), make({"f": [1] * 9, "g": [None, 1]})
    full = " ".join(printed(compare([a], [b]), full=True).split())
    assert "Cases that do not apply to A or to B are left out" in full
    assert "No case applies to both A and B: g" in full
    with pytest.raises(DataError, match="A is a result of behaviour, B of learning"):
        compare([a], [make({"f": [1] * 9, "g": [1, None]}, protocol="learning")])


def test_over_templates_shows_an_interval_from_six_on_and_the_number_in_full(make):
    def text(templates: int, over="cases") -> str:
        a, b = (make({"f": hits}, templates) for hits in ([1] * 60, [0] * 60))
        return " ".join(printed(compare([a], [b], Choices(over=over)), full=True).split())

    five, six = text(5, "templates"), text(6, "templates")
    assert "too few templates (5)" in five and "▼" not in five
    assert "too few templates" not in six and "▼ f 100.0 0.0" in six
    beside = text(6)
    assert "▼ f 100.0 0.0" in beside and "6 templates (effective number 6.0)" in beside
    assert "1 of 1 groups have too few templates" in text(5)


@given(st.text(max_size=30))
@settings(max_examples=300)
def test_no_text_breaks_out_of_its_cell(text):
    bare = escape_latex(text)
    for written in sorted(ESCAPES.values(), key=len, reverse=True):
        bare = bare.replace(written, "")
    assert not set("\\{}$&#%_~^<>|\n") & set(bare)


def write_result(path: Path, result) -> Path:
    from shoal.core.records import as_json

    path.write_text(
        json.dumps({"jobs": [dict(result.job)], "measures": [as_json(row) for row in result.measures]})
    )
    return path


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "gate.toml"
    path.write_text('[[rule]]\nat_least = 0.5\n[[rule]]\nfunctionality = "*"\nat_least = 0.6\n')
    return path


def test_a_gate_that_is_not_met_exits_3_and_says_which_with_its_numbers(shoal, make, rules, tmp_path):
    path = write_result(tmp_path / "result.json", make({"a": [1] * 50, "[b]": [1] * 29 + [0] * 21}))
    xml = tmp_path / "shoal.xml"
    done = shoal("gate", path, "--rules", rules, "--junit", xml)
    assert done.exit_code == 3, done.output
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert "Gate not met: 1 of 2 rules failed (exit code 3)." in lines
    (failed,) = [line for line in lines if line.startswith("✗")]
    assert failed == "✗ [b] 58.0 % ≥ 60.0 % 29 of 50 pass"
    assert lines.index(failed) < min(at for at, line in enumerate(lines) if line.startswith("✓"))
    assert xml.read_text().count("<failure") == 1
    verdicts = json.loads(shoal("gate", path, "--rules", rules, "--json").stdout)["verdicts"]
    assert [(verdict["groups"].get("functionality"), verdict["met"]) for verdict in verdicts] == [
        (None, True),
        ("a", True),
        ("[b]", False),
    ]


def test_a_relative_rule_without_a_baseline_is_refused_before_any_model_is_asked(shoal, tmp_path):
    path = tmp_path / "gate.toml"
    path.write_text("[[rule]]\nno_worse_than_baseline_by = 0.1\n")
    done = shoal("gate", "predictions:absent", "--rules", path)
    assert done.exit_code == 1
    assert "a relative rule needs a baseline\n  try: --baseline RESULT" in done.output


def test_the_example_rules_are_met_by_the_example_predictions(shoal):
    done = shoal(
        "gate", "predictions:example", "--set", "suite=sentiment", "--rules", ROOT / "examples" / "gate.toml"
    )
    assert done.exit_code == 0, done.output


def test_new_refusals_are_not_called_fixed(make):
    def refusing(count: int) -> Result:
        refused = [int(at < count) for at in range(150)]
        plain = make({"f": [1] * 150})
        measures = Measures([*plain.measures, *refusal_rate(refused)])
        changed: Result = replace(plain, measures=measures, columns={REFUSED: refused})
        return changed

    text = printed(compare([refusing(0)], [refusing(7)]))
    (line,) = [line for line in text.splitlines() if "refusal rate" in line]
    assert line.split()[-1] == "+8.4"
