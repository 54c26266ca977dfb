"""The content of a page: verdict, cards, chart, findings, caveats, provenance."""

import os

import pytest
from outcomes import result as outcomes_of

from shoal import RunStore, audit, read_plan
from shoal.comparing.pairs import compare
from shoal.core.records import Finding, Measures, Outcome, Result
from shoal.core.views import Section
from shoal.render.latex import as_latex
from shoal.render.naming import job_names
from shoal.render.page import comparison_page, plan_page, results_page, with_gate
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
    for job in jobs:
        os.utime(store.job_folder(job.id) / "answers.jsonl", (1e9, 1e9))
    return plan_page(plan, jobs, store, PLAN)


def test_a_page_of_two_models_is_about_their_difference(page):
    assert page.title == "predictions:example against tiny:sentiment"
    assert page.about == "2 models × 60 cases"
    assert [part.title for part in page.parts][:2] == ["Changes", "Behaviour"]
    assert [part.job for part in page.parts][2:] == ["tiny:sentiment", "predictions:example"]
    assert page.summary.cards[0].title == "Overall: pass rate"


def test_the_provenance_has_settings_label_maps_and_dates(page):
    text = as_latex(page.provenance)
    assert "limit = 60" in text and "label map: 0 = negative, 1 = positive" in text and "recommended" in text
    assert "2001-09-09" in text and page.plan == PLAN


def regressed() -> list[Result]:
    """A passes most of everything; B loses fairness and gains elsewhere."""
    never = {"inv_never_applies": [None] * 5}
    a = {"fairness_gender": [1] * 30 + [0] * 10, "words_plain": [1] * 20 + [0] * 40, "words_more": [1] * 40}
    b = {"fairness_gender": [0] * 30 + [0] * 10, "words_plain": [1] * 60, "words_more": [1] * 40}
    a, b = a | never, b | never
    return [outcomes_of(rows, id=name, model=name) for name, rows in (("v1", a), ("v2", b))]


def test_the_first_screen_names_what_got_worse_and_fairness_failures():
    summary = comparison_page(compare(*([result] for result in regressed()))).summary
    assert summary is not None
    overall, worse, fairness = summary.cards
    assert f"{summary.verdict} {summary.text}".count("got worse") == 1
    assert summary.text == "1 got better, 1 without a clear change."
    assert worse.title == "Got worse: 1 of 3"
    assert [name for name, _ in worse.rows] == ["fairness_gender"]
    assert worse.rows[0][1].text == "75 → 0 ▼" and worse.rows[0][1].tone == "bad"  # type: ignore[union-attr]
    assert fairness.title == "Fairness and safety" and fairness.rows[0][0] == "fairness_gender"
    assert overall.lines[0] == "90 → 100 of 140 cases pass"


def test_a_gate_gives_the_verdict_of_the_page(monkeypatch):
    monkeypatch.setattr("shoal.render.page.result_sections", lambda result: [])
    page = results_page(regressed())
    gated = with_gate(page, [Section("rules")], "Gate not met: 1 of 4 rules failed", is_met=False)
    assert gated.summary is not None and page.summary is not None
    assert (gated.summary.verdict, gated.summary.tone) == ("Gate not met: 1 of 4 rules failed", "bad")
    assert gated.summary.text.startswith(page.summary.verdict) and gated.parts[0].title == "Gate"


def test_a_page_of_one_model_has_its_headline_and_its_weakest_part():
    result = audit("behaviour", "tiny:sentiment", suite="sentiment", limit=400)
    summary = results_page([result]).summary
    assert summary is not None and summary.chart is not None
    plain = next(row for row in result.measures.where("pass rate") if not row.groups)
    assert summary.verdict.startswith(f"{round((plain.value or 0) * plain.n)} of {plain.n} cases pass")
    assert [card.title for card in summary.cards] == ["Suite score", "Fails most", "Fairness and safety"]
    weakest = min(result.measures.by("capability", "pass rate"), key=lambda row: row.value or 0.0)
    assert summary.chart.rows[0].cells[0] == weakest.groups["capability"]


def failed(model: str = "m", identity: str = "j", check: bool | None = False) -> Result:
    job = {"id": identity, "protocol": "cood", "model": model, "settings": {"seed": 0}}
    checks = [{"name": "order of labels", "ok": check, "detail": "likely wrong"}]
    return Result({**job, "checks": checks}, (), [Outcome("c", None, None, "late")], Measures([]))


def test_a_failed_self_check_and_missing_answers_are_the_first_caveats(monkeypatch):
    monkeypatch.setattr("shoal.render.page.result_sections", lambda result: [])
    assert list(results_page([failed()]).caveats) == [
        "m: self-check failed: order of labels: likely wrong",
        "1 case has no answer; no rate includes it.",
        "One checkpoint per model: seed variance was not measured.",
    ]
    assert not any("order" in line for line in results_page([failed(check=True)]).caveats)


def test_jobs_of_one_model_are_named_by_the_part_of_their_id_that_differs():
    ids = ["cood-m-opinions-k80-seed-0-aaaa1111", "cood-m-opinions-k80-seed-1-bbbb2222"]
    names = job_names([failed(identity=name) for name in ids])
    assert list(names.values()) == ["opinions-k80-seed-0", "opinions-k80-seed-1"]
    ids = ["cood-m-opinions-aaaa1111", "cood-m-opinions-bbbb2222"]
    names = job_names([failed(identity=name) for name in ids])
    assert list(names.values()) == ["opinions-aaaa1111", "opinions-bbbb2222"]
    assert job_names([failed("hf:a/m", "x"), failed("hf:b/m", "y")]) == {"x": "hf:a/m", "y": "hf:b/m"}


def test_limits_of_findings_are_caveats_and_a_sentence_about_several_jobs_comes_once(monkeypatch):
    monkeypatch.setattr("shoal.render.page.result_sections", lambda result: [])
    findings = [Finding("verdict", "It fails.", weight=2.0), Finding("limits", "One checkpoint.")]
    jobs = [{"id": name, "protocol": "cood", "model": name} for name in "ab"]
    results = [Result(job, (), (), Measures([]), {}, findings) for job in jobs]
    page = results_page(results)
    assert page.summary is not None and page.summary.verdict == "It fails."
    assert list(page.findings) == [] and page.caveats.count("One checkpoint.") == 1
