"""What a page says before anything else: findings, cautions, models side by side, how it came to be."""

import os

import pytest
from outcomes import result as outcomes_of

from shoal import RunStore, audit, read_plan
from shoal.core.records import Finding, Measure, Measures, Outcome, Result
from shoal.render.html import page_of
from shoal.render.markdown import as_markdown
from shoal.render.page import (
    Page,
    _in_turn,
    _ordered,
    _said_once,
    _stand_alone,
    job_names,
    plan_page,
    results_page,
)
from shoal.runs.executors import run_jobs
from shoal.runs.plan import check_plan

PLAN = """
models = ["tiny:sentiment", "predictions:example"]
[behaviour]
suite = "sentiment"
limit = 60
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plan")
    (folder / "plan.toml").write_text(PLAN)
    plan, store = read_plan(folder / "plan.toml"), RunStore(folder / "runs")
    jobs = check_plan(plan)
    assert {problem for _, problem in run_jobs(jobs, store)} == {None}
    return plan_page(plan, jobs, store, PLAN)


def test_a_page_says_what_was_asked_of_whom(page):
    assert page.title == "Behaviour of 2 models"
    assert page.asked[0][0] == "Behaviour" and page.about[1:] == ["tiny:sentiment", "predictions:example"]
    assert page.about[0] == "2 models, 120 cases asked and scored"


def test_without_a_protocols_own_finding_the_headline_is_one_with_the_lowest_rate(page):
    finding = next(told for told in page.findings if told.groups["model"] == "tiny:sentiment")
    headline, lowest = finding.measures
    assert headline.name == "suite score" and lowest.name == "pass rate"
    result = page.results["tiny:sentiment"]
    rates = [row for row in result.measures.by("functionality", "pass rate") if row.value is not None]
    assert lowest.value == min(row.value or 0.0 for row in rates if row.n > 2)
    assert f"The lowest pass rate is that of {lowest.groups['functionality']}" in finding.text


def test_models_stand_side_by_side_before_any_detail(page):
    text = as_markdown(page.overview)
    assert (
        "## Side by side" in text and "| tiny:sentiment | **" in text and "| predictions:example | **" in text
    )
    assert [part.title for part in page.parts] == [
        "Behaviour",
        "Behaviour: tiny:sentiment",
        "Behaviour: predictions:example",
    ]
    assert [part.job for part in page.parts] == ["", "tiny:sentiment", "predictions:example"]


def test_cautions_name_few_cases_and_one_checkpoint(page):
    assert page.warnings[0].endswith("on fewer than 20 cases: read with the interval")
    assert page.warnings[-1].startswith("one checkpoint of each model")


def test_how_it_came_to_be_names_versions_settings_and_label_maps(page):
    text = as_markdown(page.facts)
    assert "limit = 60" in text and "label map: 0 = negative, 1 = positive" in text and "recommended" in text
    assert page.plan == PLAN


def failed(model: str = "m", identity: str = "j", check: bool | None = False) -> Result:
    job = {"id": identity, "protocol": "cood", "model": model, "settings": {"seed": 0}}
    checks = [{"name": "order of labels", "ok": check, "detail": "likely wrong"}]
    return Result({**job, "checks": checks}, (), [Outcome("c", None, None, "late")], Measures([]))


def test_a_failed_self_check_and_missing_answers_are_cautions(monkeypatch):
    monkeypatch.setattr("shoal.render.page.result_sections", lambda result: [])
    assert results_page([failed()]).warnings[:2] == [
        "m: self-check, order of labels: likely wrong",
        "1 case has no answer and counts nowhere",
    ]
    assert not any("order" in line for line in results_page([failed(check=True)]).warnings)


def test_a_model_that_says_the_same_to_everything_does_not_hide_the_numbers_of_the_others(monkeypatch):
    monkeypatch.setattr("shoal.render.page.result_sections", lambda result: [])
    rows = Measures([Measure("suite score", 0.5, 9, {}, (0.2, 0.8), facts={"headline": True})])
    alike = Finding("degenerate", "One label for everything.", weight=3.0)

    def told(kind: Finding) -> list[tuple[str, str]]:
        results = [
            Result({"id": name, "protocol": "behaviour", "model": name}, (), (), rows, {}, said)
            for name, said in (("constant", [kind]), ("other", []))
        ]
        return [(row.groups["model"], row.text) for row in results_page(results).findings]

    assert told(alike) == [
        ("constant", "One label for everything."),
        ("other", "The suite score is 50.0 % (20.0 – 80.0)."),
        ("constant", "The suite score is 50.0 % (20.0 – 80.0)."),
    ]
    assert told(Finding("conclusion", "It learnt.")) == [("constant", "It learnt.")], "a conclusion is enough"


def test_jobs_of_one_model_are_told_apart_by_what_differs():
    ids = ["cood-m-opinions-k80-seed-0-aaaa1111", "cood-m-opinions-k80-seed-1-bbbb2222"]
    names = job_names([failed(identity=name) for name in ids])
    assert list(names.values()) == ["opinions-k80-seed-0", "opinions-k80-seed-1"]
    ids = ["cood-m-opinions-aaaa1111", "cood-m-opinions-bbbb2222"]
    assert list(job_names([failed(identity=name) for name in ids]).values()) == [
        "opinions-aaaa1111",
        "opinions-bbbb2222",
    ]
    assert job_names([failed("hf:a/m", "x"), failed("hf:b/m", "y")]) == {"x": "hf:a/m", "y": "hf:b/m"}


def test_one_model_alone_stands_beside_nobody():
    result = audit("behaviour", "predictions:example", suite="sentiment", limit=20)
    assert results_page([result]).overview == []


def test_measures_of_single_jobs_are_told_apart_beside_the_page(monkeypatch):
    monkeypatch.setattr("shoal.render.page.result_sections", lambda result: [])
    rows = Measures([Measure("accuracy", 0.5, 9)])
    results = [Result({"id": name, "protocol": "cood", "model": name}, (), (), rows) for name in "ab"]
    assert [dict(row.groups) for row in results_page(results).measures] == [{"job": "a"}, {"job": "b"}]
    assert [dict(row.groups) for row in results_page(results[:1]).measures] == [{}]


def test_the_weightiest_finding_of_each_kind_comes_before_another_of_the_same():
    weights = [
        ("untrained", 9.0),
        ("untrained", 8.0),
        ("saturated", 3.0),
        ("untrained", 7.0),
        ("headline", 1.0),
    ]
    findings = [Finding(kind, f"{kind} {weight}", weight=weight) for kind, weight in weights]
    ordered = [(finding.kind, finding.weight) for finding in _ordered(findings)]
    assert ordered[:3] == [("untrained", 9.0), ("saturated", 3.0), ("headline", 1.0)]
    assert ordered[3:] == [("untrained", 8.0), ("untrained", 7.0)]


def test_one_job_without_conclusions_is_told_by_its_whole_its_weakest_part_and_its_lowest_rates():
    page = results_page([audit("behaviour", "tiny:sentiment", suite="sentiment", limit=400)])
    whole, part, lowest = page.findings
    measures = page.results["tiny:sentiment"].measures
    known = [row for row in measures.by("functionality", "pass rate") if row.value is not None]
    below = [row for row in known if row.interval is not None and row.interval[1] < 0.5]
    assert f"Of {len(known)} rates by functionality, {len(below)} " in whole.text
    assert f"{sum(row.value == 1 for row in known)} have no failures" in whole.text
    weakest = min(measures.by("capability", "pass rate"), key=lambda row: row.value or 0.0)
    assert part.text.startswith(f"Weakest by capability: {weakest.groups['capability']}, ")
    assert part.measures[0] == weakest
    assert lowest.measures[0].value == min(row.value or 0.0 for row in known if row.n > 2)


def test_groups_of_one_or_two_cases_do_not_lead_a_page():
    result = outcomes_of({"a_tiny": [0, 0], "b_many": [1] * 20 + [0] * 10, "c_more": [1] * 30})
    _, part, lowest = results_page([result]).findings
    assert part.text.startswith("Weakest by capability: b, 66.7 %")
    assert lowest.text.startswith("Lowest by functionality: b_many, 66.7 %")


def told(kind: str, text: str, weight: float = 1.0) -> Finding:
    return Finding(kind, text, weight=weight)


def page_with(*findings: Finding) -> str:
    return page_of(Page([], findings=findings))


def test_how_far_findings_reach_stands_below_them_once_for_each_kind():
    text = page_with(
        told("verdict", "It fails."),
        told("saturated", "One cannot fail."),
        told("saturated", "Another cannot."),
        told("limits", "One checkpoint."),
    )
    found, care = text.split("<h2>Read with care</h2>")
    assert "It fails." in found and "cannot" not in found and "One checkpoint." not in found
    shown, folded = care.split("1 more of these kinds")
    assert "One cannot fail." in shown and "One checkpoint." in shown
    assert "Another cannot." in folded


def test_of_several_protocols_each_has_its_first_finding_on_the_first_screen():
    rows = {
        "merge": [told("patterns", "a", 10.0), told("patterns", "b", 9.0)],
        "cood": [told("shortcut", "c", 0.1)],
    }
    assert [(name, finding.text) for name, finding in _in_turn(rows)] == [
        ("merge", "a"), ("cood", "c"), ("merge", "b"),
    ]  # fmt: skip


def test_what_is_said_of_several_jobs_in_the_same_words_is_said_once():
    each = [Finding("assumed", "Labels are copied.", groups={"model": name}) for name in "ab"]
    alone = Finding("patterns", "Of 3 problems", groups={"model": "a"})
    assert _said_once([*each, alone]) == [Finding("assumed", "Labels are copied."), alone]


def test_the_day_of_the_answers_is_among_the_facts(tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN.replace(', "predictions:example"', ""))
    plan, store = read_plan(tmp_path / "plan.toml"), RunStore(tmp_path / "runs")
    jobs = check_plan(plan)
    assert {problem for _, problem in run_jobs(jobs, store)} == {None}
    os.utime(store.job_folder(jobs[0].id) / "answers.jsonl", (1e9, 1e9))
    assert "2001-09-09" in as_markdown(plan_page(plan, jobs, store, PLAN).facts)


def test_many_jobs_of_a_protocol_that_sees_them_together_have_no_part_each(page):
    results = list(page.results.values())
    assert _stand_alone(results) and not _stand_alone(results * 7)
