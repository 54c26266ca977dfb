"""`compare` and `gate` as users meet them: whole output, exit codes, exports, errors."""

import csv
import json
import re
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from shoal.comparing.pairs import Choices, compare
from shoal.comparing.view import comparison_sections, comparison_table, rows_for_csv
from shoal.show.csv_tables import rows_as_csv
from shoal.show.escapes import escape_latex, escape_markdown
from shoal.show.latex import as_latex
from shoal.show.markdown import as_markdown
from shoal.show.terminal import print_sections

ROOT = Path(__file__).parents[2]


@pytest.fixture
def pair(predicting):
    return predicting("old", good=1, bad=2), predicting("new", good=1, bad=14)


def printed(found, width=120, **options) -> str:
    console = Console(file=StringIO(), width=width, highlight=False)
    print_sections(comparison_sections(found, **options), console)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


# compare


def test_compare_says_what_is_worse_and_data_are_never_markup(shoal, pair, suite):
    done = shoal("compare", *pair, "--set", f"suite={suite}")
    assert done.exit_code == 0, done.output
    assert f"A  {pair[0]}\nB  {pair[1]}" in done.stdout
    assert "[bold]bad[/bold]" in done.stdout
    assert "this checkpoint only" in done.stdout
    assert "Newly failing, most in [bold]bad[/bold]: 12 cases" in done.stdout.replace("\n", " ")


def test_compare_as_json_is_the_public_object(shoal, pair, suite):
    done = shoal("compare", *pair, "--set", f"suite={suite}", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found.keys() == {"jobs", "measures", "findings"}
    assert [job["side"] for job in found["jobs"]] == ["A", "B"]
    keys = {"name", "value", "n", "groups", "interval", "interval_method", "na", "errors", "note", "facts"}
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


def test_a_page_says_the_whole_then_what_is_worse_each_with_its_numbers(shoal, pair, suite, tmp_path):
    done = shoal("compare", *pair, "--set", f"suite={suite}", "--out", str(tmp_path / "page.html"))
    assert done.exit_code == 0, done.output
    page = (tmp_path / "page.html").read_text()
    first = page.split("<h2>What was found</h2>")[1].split("</section>")[0]
    assert re.findall('class="told">(.*?)</p>', first)[1:] == ["Worse in B: [bold]bad[/bold] by 60.0 points."]
    assert "<b>−60.0</b>" in first and "n 20</span></a>" in first, "its number, and a link to it"
    assert "(A) to" in page
    beside = json.loads((tmp_path / "page.json").read_text())
    assert beside["findings"] == [], "they say no more than the table"


def test_changed_cases_are_listed(shoal, pair, suite):
    done = shoal("compare", *pair, "--set", f"suite={suite}", "--changed")
    assert done.stdout.count("▼") == 12 and "▲" not in done.stdout
    assert "12 cases newly fail in B, 0 newly pass" in done.stdout
    found = json.loads(shoal("compare", *pair, "--set", f"suite={suite}", "--changed", "--json").stdout)
    assert found["changed"][0] == {"case_id": "[bold]bad[/bold]/2", "change": "pass to fail"}


def test_the_sentence_says_which_p_it_means_and_counts_agree(shoal, predicting, suite):
    old, new = predicting("old", good=1, bad=2), predicting("new", good=1, bad=5)
    done = " ".join(shoal("compare", old, new, "--set", f"suite={suite}").stdout.split())
    assert " by itself, = " in done and " adjusted for every row" in done
    assert "worse in 0, better in 0, no difference shown in 2." in done
    assert "no difference shown (2)" in done and "… 1 more: no case changed" in done
    alone = " ".join(shoal("compare", old, new, "--set", f"suite={suite}", "--adjust", "none").stdout.split())
    assert "by itself" not in alone


def test_a_model_against_itself(shoal, pair, suite):
    done = shoal("compare", pair[0], pair[0], "--set", f"suite={suite}")
    assert "A and B pass the same cases" in done.stdout
    assert "No case that A passes fails in B." in done.stdout


def test_several_seeds_are_given_by_side(shoal, predicting, suite):
    specs = {name: predicting(name, good=at, bad=3) for at, name in enumerate(["a1", "a2", "b1", "b2"])}
    sides = [word for name in specs for word in (f"--{name[0]}", specs[name])]
    done = shoal("compare", *sides, "--set", f"suite={suite}")
    assert done.exit_code == 0, done.output
    text = " ".join(done.stdout.split())
    assert "on new cases, 2 and 2 seeds: fewer than 5 a side support no claim about the recipe" in text
    assert "for this training recipe" not in text


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "give two models"),
        (["x"], 2, "give two models"),
        (["x", "y", "z"], 2, "give two models"),
        (["x", "y", "--a", "z"], 2, "give two models"),
        (["--a", "z"], 2, "--a and --b are given together"),
        (["x", "y"], 1, "'x' is neither a model, nor a result file, nor a job of runs"),
        (["x.json", "y"], 1, "x.json: no such file"),
        (["x", "y", "--set", "suite=s"], 1, "--set is for models that are scored here"),
        (["predictions:x", "predictions:y", "--set", "suite=absent"], 1, "suite 'absent' is neither a file"),
        (["x", "y", "--adjust", "sidak"], 2, "'sidak' is not one of"),
    ],
)
def test_what_is_wrong_is_said(shoal, arguments, code, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = shoal("compare", *arguments)
    assert done.exit_code == code, done.output
    assert message in done.output
    assert "Traceback" not in done.output


def test_a_result_file_cannot_be_paired(shoal, pair, suite, tmp_path, make):
    path = write_result(tmp_path / "result.json", make({"f": [1]}))
    done = shoal("compare", path, pair[1], "--set", f"suite={suite}")
    assert done.exit_code == 1
    assert "holds rates, not outcomes" in done.output and "try: the model itself" in done.output


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


# How it looks


def test_the_answer_comes_first_and_the_worst_before_the_rest(make):
    hits = {"a1": [1] * 90 + [0] * 10, "a2": [1] * 100, "b1": [0] * 50 + [1] * 50}
    found = compare([make(hits)], [make({**hits, "a1": [0] * 100, "b1": [1] * 100})], Choices())
    lines = printed(found).splitlines()
    assert lines[4].startswith("The suite score is 13.3 points lower in B than in A (")
    text = "\n".join(lines)
    assert (
        text.index("worse in B (1)")
        < text.index("▼  a1")
        < text.index("better in B (1)")
        < text.index("▲  b1")
    )
    assert "no case changed, in brackets what could have been seen: a2 (" in text
    assert all(len(line) <= 120 for line in lines)


def test_narrow_terminals_get_fewer_columns(make):
    found = compare([make({"a1": [1] * 50})], [make({"a1": [0] * 50})], Choices())
    narrow = printed(found, width=80)
    assert "better  worse" in printed(found) and "better  worse" not in narrow
    assert "95 % interval  adj. p  could see" in narrow
    assert all(len(line) <= 80 for line in narrow.split("\n\n")[2].splitlines())


def test_errors_and_applicability_are_warned_of_before_the_table(make):
    a = make({"a1": [None] * 5 + [1] * 15, "b1": [1] * 20})
    b = make({"a1": [1] * 20, "b1": ["timed out"] * 3 + [1] * 17})
    text = printed(compare([a], [b], Choices()))
    assert "▲ no answer to 0 cases by A and 3 by B: they are left out of every difference" in text
    assert "▲ a1: applies to 75 % of the cases for A and 100 % for B" in text
    assert "0 / 3" in text


# Exports


@pytest.fixture(scope="module")
def exported(make):
    a = make({"a|1_%": [1] * 20, "b$&": [1, 0] * 10, "c": [None]})
    b = make({"a|1_%": [0] * 20, "b$&": [1, 0] * 10, "c": [None]})
    return compare([a], [b], Choices())


def test_markdown_is_a_table_whose_rows_have_as_many_cells_as_its_header(exported):
    lines = as_markdown([comparison_table(exported)]).splitlines()
    table = [line for line in lines if line.startswith("|")]
    cells = [line.replace(r"\|", "").count("|") for line in table]
    assert len(table) == 2 + len(exported.rows) and len(set(cells)) == 1
    assert any(line.startswith(r"| a\|1\_% | functionality | 20 | 100.0 | 0.0 | −100.0 |") for line in table)


def test_latex_is_a_booktabs_table_with_every_special_escaped(exported):
    text = as_latex([comparison_table(exported)])
    assert text.startswith("% needs \\usepackage{amssymb,booktabs}\n\n\\begin{tabular}{ll")
    assert r"a\textbar{}1\_\% & functionality & 20 & 100.0 & 0.0 & $-$100.0" in text
    assert r"\end{tabular}" in text


def test_csv_has_every_digit(exported):
    rows = list(csv.DictReader(StringIO(rows_as_csv(rows_for_csv(exported)))))
    assert [row["level"] for row in rows] == [row.level for row in exported.rows]
    for row, expected in zip(rows, exported.rows, strict=True):
        assert row["difference"] == ("" if expected.difference is None else repr(expected.difference))


def test_exports_are_the_same_twice(exported, make):
    again = compare(exported.a, exported.b, exported.choices)
    for write in (as_markdown, as_latex):
        assert write([comparison_table(again)]) == write([comparison_table(exported)])
    assert rows_for_csv(again) == rows_for_csv(exported)


@given(st.text(max_size=30))
@settings(max_examples=300)
def test_no_text_breaks_out_of_its_cell(text):
    latex = escape_latex(text)
    bare = latex
    for word in (
        "textbackslash{}",
        "textasciitilde{}",
        "textasciicircum{}",
        "textless{}",
        "textgreater{}",
        "textbar{}",
    ):
        bare = bare.replace("\\" + word, "")
    bare = bare.replace("$-$", "").replace("{[}", "").replace("{]}", "")
    for special in "\\{}$&#%_":
        bare = bare.replace("\\" + special, "")
    assert not set("\\{}$&#%_~^<>|\n") & set(bare)
    markdown = escape_markdown(text)
    assert "\n" not in markdown and "|" not in markdown.replace(r"\|", "")


# gate


def write_result(path: Path, result) -> Path:
    from shoal.records import as_json

    path.write_text(
        json.dumps({"jobs": [dict(result.job)], "measures": [as_json(row) for row in result.measures]})
    )
    return path


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "gate.toml"
    path.write_text('[[rule]]\nat_least = 0.5\n[[rule]]\nfunctionality = "*"\nat_least = 0.6\n')
    return path


def test_a_gate_that_is_met_says_so_and_exits_0(shoal, make, rules, tmp_path):
    path = write_result(tmp_path / "result.json", make({"a": [1] * 50, "b": [1] * 50}))
    done = shoal("gate", path, "--rules", rules)
    assert done.exit_code == 0, done.output
    assert "Gate met: 3 checks." in done.stdout


def test_a_gate_that_is_not_met_exits_3_and_says_which_with_its_numbers(shoal, make, rules, tmp_path):
    path = write_result(tmp_path / "result.json", make({"a": [1] * 50, "[b]": [1] * 30 + [0] * 20}))
    xml = tmp_path / "shoal.xml"
    done = shoal("gate", path, "--rules", rules, "--junit", xml)
    assert done.exit_code == 3, done.output
    words = " ".join(done.stdout.split())
    assert "✗ [b] 60.0 % [46.2, 72.4] 50 lower bound ≥ 60.0 %" in words
    assert "Gate not met: 1 of 3 checks failed." in done.stdout
    assert xml.read_text().count("<failure") == 1
    verdicts = json.loads(shoal("gate", path, "--rules", rules, "--json").stdout)["verdicts"]
    assert [(verdict["groups"].get("functionality"), verdict["met"]) for verdict in verdicts] == [
        (None, True),
        ("a", True),
        ("[b]", False),
    ]


def test_a_model_can_be_gated_as_it_is(shoal, predicting, suite, rules):
    done = shoal("gate", predicting("fine"), "--set", f"suite={suite}", "--rules", rules)
    assert done.exit_code == 0, done.output
    done = shoal("gate", predicting("wrong", bad=20), "--set", f"suite={suite}", "--rules", rules)
    assert done.exit_code == 3, done.output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", 'an object with "jobs" and "measures" is expected'),
        ("[1", "not JSON"),
        ('{"jobs": [], "measures": []}', "one job is expected"),
        ('{"jobs": [{}, {}], "measures": []}', "one job is expected"),
        ('{"jobs": [{}], "measures": [{"name": "pass rate"}]}', "measures.0.value: field required"),
        ('{"jobs": [{}], "measures": []}', "rule 1 matches nothing"),
    ],
)
def test_a_file_that_is_no_result_is_refused(shoal, tmp_path, rules, text, message):
    path = tmp_path / "result.json"
    path.write_text(text)
    done = shoal("gate", path, "--rules", rules)
    assert done.exit_code == 1, done.output
    assert message in done.output


def test_a_relative_rule_without_a_baseline_is_refused_before_any_model_is_asked(shoal, tmp_path):
    path = tmp_path / "gate.toml"
    path.write_text("[[rule]]\nno_worse_than_baseline_by = 0.1\n")
    done = shoal("gate", "predictions:absent", "--rules", path)
    assert done.exit_code == 1
    assert "a rule is relative to a baseline, and there is none\n  try: --baseline RESULT" in done.output


def test_the_example_rules_are_met_by_the_example_predictions(shoal):
    done = shoal(
        "gate", "predictions:example", "--set", "suite=sentiment", "--rules", ROOT / "examples" / "gate.toml"
    )
    assert done.exit_code == 0, done.output


def test_the_example_workflow_gates_and_names_no_secret():
    text = (ROOT / "examples" / "github-workflow.yml").read_text()
    assert "shoal gate" in text and "--junit" in text and "upload-artifact" in text
    assert "secrets." not in text and "http" not in text


def test_one_run_against_several_is_said_to_have_no_test(shoal, predicting, suite):
    one, *several = (predicting(name, good=at, bad=3) for at, name in enumerate(["a", "b1", "b2"]))
    sides = ["--a", one, *(word for spec in several for word in ("--b", spec))]
    text = " ".join(shoal("compare", *sides, "--set", f"suite={suite}").stdout.split())
    assert "these very runs: one run against several" in text
    assert "p: none" in text and "adjusted for 0 comparisons" not in text
