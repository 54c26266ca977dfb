"""The page in a real browser: nothing fails, nothing is fetched, and what it offers works by mouse and by keyboard."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browsing import HOSTILE, Watched, serious
from small_jobs import SMALL, small_job

from shoal import audit
from shoal.core.records import Basis, Case, Finding, Measure, Measures, Outcome, Result
from shoal.core.views import (
    Block,
    Card,
    Column,
    Curves,
    Line,
    Number,
    Row,
    Section,
    Summary,
    Table,
)
from shoal.protocols import PROTOCOLS
from shoal.render.page import Page as Contents
from shoal.render.page import Part, results_page
from shoal.render.writing import write_page


@pytest.fixture(scope="module")
def page_of_protocol(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The page of one job of a protocol, not too long for axe."""
    folder = tmp_path_factory.mktemp("pages")

    def written(name: str) -> Path:
        model, settings = small_job(name, folder)
        settings = settings | ({"only": ("negation", "fairness")} if name == "behaviour" else {})
        result = audit(name, model, **settings)
        write_page(results_page([result]), folder / f"{name}.html", [result.job])
        return folder / f"{name}.html"

    return written


def _case(number: int) -> Case:
    group = "negation" if number % 2 else "names"
    first = f"Anna saw a good film {number}."
    second = first.replace("good", "bad") if group == "negation" else first.replace("Anna", "Berta")
    groups = {"functionality": group, "capability": "logic", "test type": "INV"}
    return Case(
        f"{group}/{number}", ((first,), (second,)), groups=groups, meta={"expects": "the same answer"}
    )


def made(model: str, failing: int, count: int = 60) -> Result:
    """A result whose first cases fail; of both groups as many."""
    cases = [_case(number) for number in range(count)]
    outcomes = [Outcome(case.id, i >= failing, -0.5 if i < failing else 0.5) for i, case in enumerate(cases)]
    said = [["positive .98", "negative .61"] if i < failing else ["positive .98"] * 2 for i in range(count)]
    measures = []
    for group in ("negation", "names"):
        passed = [out.passed for case, out in zip(cases, outcomes, strict=True) if group in case.id]
        rate, groups = sum(map(bool, passed)) / len(passed), _case(group == "negation").groups
        interval = (rate / 2, (1 + rate) / 2)
        measures.append(
            Measure("pass rate", rate, len(passed), groups, interval, "wilson", basis=Basis("cases"))
        )
    whole = Measure("suite score", 1 - failing / count, count, {}, (0.4, 0.8), headline=True)
    job = {
        "id": f"job {model}",
        "protocol": "behaviour",
        "model": model,
        "settings": {"seed": 0, "suite": "s"},
    }
    return Result(job, cases, outcomes, Measures([*measures, whole]), {"said": said})


def contents(*results: Result) -> Contents:
    parts = []
    for result in results:
        rows = [
            Row([row.groups.get("functionality", "all"), Number(row), Number(row, part="interval")])
            for row in result.measures
        ]
        table = Table([Column("name", "left"), Column("pass rate"), Column("interval")], rows, "rates")
        line = Line("pass rate", [(float(i), row) for i, row in enumerate(result.measures)])
        section = Section("Rates", "What was found.", [table, Curves("step", [line], title="over steps")])
        parts.append(Part(str(result.job["model"]), [section], str(result.job["model"])))
    return Contents(
        parts,
        "a page",
        results={str(result.job["model"]): result for result in results},
        provenance=[Section("Jobs and settings", "shoal 9.9")],
    )


@pytest.fixture(scope="module")
def two_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of two models: a fails the first 30 cases of 60, b the first 10."""
    path = tmp_path_factory.mktemp("two") / "page.html"
    write_page(contents(made("a", 30), made("b", 10)), path, [])
    return path


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PROTOCOLS if name in SMALL])
def test_a_protocols_page_works_without_a_complaint_and_is_accessible(name, page_of_protocol, opened):
    watched = opened(page_of_protocol(name))
    page, cases = watched.page, watched.cases()
    assert page.locator("#verdict").inner_text() and page.locator("#caveats .warning").count() > 0
    assert page.locator("article table").count() > 0
    _drills_down(watched, name)
    word = max(cases.first.locator(".texts").first.inner_text().split(), key=len)
    page.get_by_label("Search").fill(word)
    page.wait_for_timeout(300)
    assert cases.count() > 0 and all(word.lower() in text.lower() for text in cases.all_text_contents())
    page.get_by_label("Outcome").select_option("4")  # all
    _is_accessible(page)
    page.emulate_media(media="print")
    assert page.locator("nav").is_hidden() and page.locator("h1").is_visible()
    assert page.locator("article table").first.is_visible()


def _is_accessible(page: Any) -> None:
    """On a desk in the light, on a phone in the dark; nothing makes a phone scroll sideways."""
    assert serious(page) == []
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 844})
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 1280, "height": 900})


def _drills_down(watched: Watched, name: str) -> None:
    """From a number to its cases and back; the numbers of bias are of whole sets, and lead to none."""
    numbers = watched.page.locator("article td .num[data-g]")
    assert (numbers.count() == 0) == (name == "bias")
    if numbers.count():
        numbers.first.click()
        watched.page.get_by_role("button", name=re.compile("Show its")).click()
        assert watched.cases().count() > 0
        watched.page.get_by_role("button", name="Back to the number").click()
        watched.page.get_by_role("button", name="Clear").click()


def test_a_number_says_what_it_rests_on_and_leads_to_its_cases(two_models, opened):
    watched = opened(two_models)
    page = watched.page
    number = page.locator("#part-1 .num[data-g*=negation]").first
    number.hover()
    assert (
        page.locator("#hint").inner_text().startswith("pass rate: 50.0\n95 % CI 25.0 – 75.0 (wilson)\nn = 30")
    )
    number.click()
    page.get_by_role("button", name="Show its cases: 15 fail").click()
    watched.cases()
    assert page.locator("#count").inner_text() == "15 failing cases"
    assert page.locator("#job").input_value() == "0"
    first = page.locator("#list > li").first
    assert "✕ fails" in first.inner_text() and "expected the same answer" in first.inner_text()
    assert first.locator("mark").all_inner_texts() == ["good", "bad"]
    assert first.locator(".answer").all_inner_texts() == ["positive .98", "negative .61"]
    page.get_by_role("button", name="Back to the number").click()
    assert watched.value("document.activeElement.dataset.g.includes('negation')")


@pytest.mark.slow
def test_cases_are_searched_and_filtered_and_failing_ones_come_first(two_models, opened):
    watched = opened(two_models)
    cases, page = watched.cases(), watched.page
    assert page.locator("#count").inner_text() == "40 failing cases"
    assert cases.count() == 20
    page.get_by_role("button", name="Show 20 more of 20").click()
    assert cases.count() == 40
    page.get_by_label("Search").fill("film 7.")
    page.locator("#count", has_text="2 failing cases").wait_for()
    page.get_by_label("Job").select_option("b")
    assert page.locator("#count").inner_text() == "1 failing case"
    assert "✕ a: negative .61" in cases.first.inner_text(), "how the other model did on the same case"
    page.get_by_role("button", name="Clear").click()
    page.get_by_label("Functionality").select_option("names")
    page.get_by_label("Outcome").select_option("Passing (80)")
    assert page.locator("#count").inner_text() == "40 passing cases"
    page.get_by_role("button", name="Clear").click()
    page.get_by_label("Outcome").select_option("Fails in a alone (20)")
    assert page.locator("#count").inner_text() == "20 cases"
    assert "✓ b: positive .98" in cases.first.inner_text()
    page.get_by_label("Outcome").select_option("All (120)")
    verdicts = page.locator("#list .verdict").all_inner_texts()
    assert verdicts == sorted(verdicts, key=lambda word: "fails" not in word)


def test_numbers_can_be_reached_by_keyboard(two_models, opened):
    watched = opened(two_models)
    page = watched.page
    page.locator("#part-1 td .num").first.focus()
    assert page.locator("#hint").is_visible()
    page.keyboard.press("ArrowDown")
    assert watched.value("document.activeElement.dataset.g.includes('names')")
    page.keyboard.press("Enter")
    assert watched.value("document.activeElement.textContent") == "Show its cases: 15 fail"
    page.keyboard.press("Escape")
    assert page.locator("#hint").is_hidden()
    assert watched.value("document.activeElement.className") == "num"


@pytest.mark.slow
def test_hostile_text_stays_text(tmp_path, opened):
    long = "word " * 2_000
    case = Case(
        HOSTILE,
        ((HOSTILE + long,), ("שלום " + HOSTILE,), *((f"{number} {HOSTILE}",) for number in range(9))),
        groups={HOSTILE: HOSTILE},
        meta={"expects": HOSTILE},
    )
    job = {"id": HOSTILE, "protocol": "x", "model": HOSTILE}
    outcomes = [Outcome(HOSTILE, None, None, HOSTILE)]
    result = Result(job, [case], outcomes, Measures([]), {"said": [[HOSTILE, HOSTILE]]})
    rate = Measure(
        HOSTILE, 0.5, 2, {HOSTILE: HOSTILE}, (0.1, 0.9), HOSTILE, note=HOSTILE, facts={HOSTILE: HOSTILE}
    )
    line = Line(HOSTILE, [(0.0, rate), (1.0, rate)])
    table = Table(
        [Column(HOSTILE, "left"), Column(HOSTILE)], [Row([HOSTILE, Number(rate)])], HOSTILE, HOSTILE
    )
    blocks: list[Block] = [table, Curves(HOSTILE, [line], title=HOSTILE, legend=[HOSTILE])]
    told = [Finding(kind, HOSTILE, (rate,), groups={HOSTILE: HOSTILE}) for kind in (HOSTILE, "saturated")]
    page = Contents(
        [Part(HOSTILE, [Section(HOSTILE, HOSTILE, blocks, [HOSTILE], [HOSTILE])], HOSTILE)],
        HOSTILE,
        questions=[HOSTILE],
        about=HOSTILE,
        models=[f"hf:{HOSTILE}"],
        summary=Summary(HOSTILE, "bad", HOSTILE, [Card(HOSTILE, HOSTILE, [HOSTILE], [(HOSTILE, HOSTILE)])]),
        findings=told,
        caveats=[HOSTILE],
        provenance=[Section(HOSTILE, blocks=[table])],
        plan=HOSTILE,
        results={HOSTILE: result},
        names={f"hf:{HOSTILE}": f"<b>{HOSTILE}"},
    )
    write_page(page, tmp_path / "p.html", [])
    watched = opened(tmp_path / "p.html")
    card = watched.cases().first
    assert "<script>window.hacked=1</script><img src=x" in card.inner_text()
    assert watched.page.locator("img").count() == 0
    card.get_by_role("button", name="whole text").click()
    card.get_by_role("button", name="4 more variants").click()
    assert card.locator(".variant:visible").count() == 10
    watched.page.locator("article td .num").first.hover()
    assert "<script>" in watched.page.locator("#hint").inner_text()
    assert watched.page.locator("main script, main b b").count() == 0
    assert watched.value("window.hacked") is None
    assert watched.value("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.slow
def test_a_page_of_200_000_cases_is_small_and_opens_at_once(tmp_path, opened):
    path = tmp_path / "report.html"
    result = made("a", 120_000, 200_000)
    write_page(contents(result), path, [])
    assert path.stat().st_size < 15_000_000
    assert (tmp_path / "report-cases.jsonl").read_bytes().count(b"\n") == 200_000
    spans = []
    for _ in range(3):
        watched = opened(path)
        spans.append(watched.value("performance.getEntriesByType('navigation')[0].domComplete"))
    assert min(spans) < 2_000, "milliseconds"
    watched.cases()
    assert "report-cases.jsonl" in watched.page.locator("#sampled").inner_text()
    assert "of this page" in watched.page.locator("#count").inner_text()
    assert {"names", "negation"} <= set(watched.page.get_by_label("Functionality").inner_text().split())
