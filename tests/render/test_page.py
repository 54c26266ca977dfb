"""The page: one file that fetches nothing, in which the text of the data is text."""

import json
import re
from base64 import b64encode
from hashlib import sha256

from blocks import BUILT
from markup import Page

from shoal.core.records import Case, Finding, Measure, Measures, Outcome, Result
from shoal.core.views import (
    Block,
    Card,
    CaseList,
    Column,
    Curves,
    Line,
    Row,
    Section,
    ShownCase,
    Summary,
    Table,
    Words,
    strip_table,
)
from shoal.render.html_blocks import section_html
from shoal.render.page import Page as Contents
from shoal.render.page import Part
from shoal.render.writing import page_html, write_page

HOSTILE = "</title><script>alert(1)</script>\" onload='x' \u202e\x1b[2J"


def rate(value: float | None, n: int = 140, name: str = "pass rate") -> Measure:
    interval = None if value is None else (value / 2, (1 + value) / 2)
    return Measure(name, value, n, {"checkpoint": "seed 1"}, interval, "wilson", note="this checkpoint only")


def blocks(text: str = "words") -> list[Block]:
    return [build(text, rate(0.25)) for build in BUILT.values()]


def sections(text: str = "words") -> list[Section]:
    return [
        Section(
            [Words(f"{text} of", "quiet"), Words("m\nabout it", "strong")], text, blocks(text), [text], [text]
        ),
        Section(text, blocks=blocks(text)[:2], detail="full"),
    ]


def page(**parts: list[Section]) -> Contents:
    return Contents([Part(name, shown) for name, shown in parts.items()])


def test_the_page_and_its_data_lie_beside_each_other(tmp_path):
    contents = Contents([Part("model a", sections())], measures=[rate(0.25)])
    write_page(contents, tmp_path / "report.html", [{"id": "job 1"}])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "report.json"]
    beside = json.loads((tmp_path / "report.json").read_text())
    assert beside["jobs"] == [{"id": "job 1"}] and beside["measures"][0]["value"] == 0.25
    text = Page((tmp_path / "report.html").read_text()).text
    assert "shoal report model a words ofmabout itwords" in text


def test_the_page_fetches_nothing_and_runs_nothing_but_its_own_script():
    text = page_html(page(a=sections(), b=sections()))
    shown = Page(text)
    kinds = {tag for tag, _ in shown.elements}
    assert kinds & {"link", "img", "iframe", "object", "base"} == set()
    assert shown.of("script") == [{}]
    assert "http" not in text.replace("http-equiv", "") and "url(" not in text and "@import" not in text
    assert all(not name.startswith("on") for _, attributes in shown.elements for name in attributes)
    policy = next(meta["content"] for meta in shown.of("meta") if "http-equiv" in meta)
    script = re.search("<script>(.*)</script>", text, re.DOTALL)
    assert script is not None
    digest = b64encode(sha256(script[1].encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def hostile_result() -> Result:
    case = Case(
        HOSTILE, ((HOSTILE,), (f"{HOSTILE} too",)), groups={HOSTILE: HOSTILE}, meta={"expects": HOSTILE}
    )
    job = {"id": HOSTILE, "protocol": HOSTILE, "model": HOSTILE}
    outcomes = [Outcome(HOSTILE, False, -0.5)]
    return Result(job, [case], outcomes, Measures([]), {"said": [[HOSTILE, HOSTILE]]})


def test_text_of_the_data_is_never_markup():
    card = Card(HOSTILE, HOSTILE, [HOSTILE], [(HOSTILE, HOSTILE)])
    contents = Contents(
        [Part(HOSTILE, sections(HOSTILE), HOSTILE)],
        HOSTILE,
        HOSTILE,
        [HOSTILE] * 3,
        [HOSTILE],
        Summary(HOSTILE, "bad", HOSTILE, [card], strip_table([(HOSTILE, [rate(0.5)])], title=HOSTILE)),
        [Finding(HOSTILE, f"{HOSTILE} found", groups={HOSTILE: HOSTILE})],
        [HOSTILE],
        sections(HOSTILE),
        plan=HOSTILE,
        results={HOSTILE: hostile_result()},
    )
    text = page_html(contents)
    shown = Page(text)
    assert len(shown.of("script")) == 2 and "\u202e" not in text and "\x1b" not in text
    assert {name for _, attributes in shown.elements for name in attributes} & {"onload"} == set()
    assert shown.text.count("</title><script>alert(1)</script>\" onload='x' \\u202e\\x1b[2J") > 60
    held = re.search('id="data">(.*?)</script>', text)
    assert held is not None and "<" not in held[1]
    assert json.loads(held[1])["cases"][0]["texts"][0][0][0].startswith("</title><script>alert(1)")


def test_the_page_answers_first_and_comes_to_details_last():
    summary = Summary("B is better", "good", "0 got worse.", [Card("Overall", "62 → 66 %")], strip_table([]))
    findings = [Finding("verdict", f"Finding {i}.") for i in range(5)]
    caveats = [f"Caveat {i}." for i in range(4)]
    provenance = [Section("Jobs and settings")]
    contents = Contents(
        [Part("Details", sections())],
        summary=summary,
        findings=findings,
        caveats=caveats,
        provenance=provenance,
    )
    text = page_html(contents)
    order = [
        "B is better",
        "62 → 66 %",
        'id="chart"',
        "Finding 2.",
        "2 more findings",
        "Finding 3.",
        "Caveat 2.",
    ]
    order += ["1 more caveat", "Caveat 3.", "<h2>Details</h2>", "<h2>Provenance</h2>"]
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    links = [link["href"] for link in Page(text).of("a")]
    assert links == ["#main", "#main", "#findings", "#caveats", "#part-1", "#provenance"]


def test_details_do_not_repeat_the_summary():
    parts = [
        Section("Behaviour", "Few checkpoints."),
        Section("Behaviour", warnings=["m: It says one thing.", "New."]),
        Section("other", "text"),
        Section("other", blocks=[Table([Column("", "left"), Column("n")], [Row(["a", "1"])])]),
    ]
    finding = Finding("degenerate", "It says one thing.")
    shown = page_html(Contents([Part("Behaviour", parts)], findings=[finding], caveats=["Few checkpoints."]))
    assert shown.count("It says one thing.") == shown.count("Few checkpoints.") == 1
    assert '<p class="warning">New.</p>' in shown
    assert re.findall("<h3>(.*?)</h3>", shown) == ["other"]


def html(block: Block) -> str:
    return str(section_html(Section(blocks=[block]))).removeprefix("<section>").removesuffix("</section>\n")


def test_a_curve_breaks_where_a_value_is_undefined_and_its_band_with_it():
    line = Line(
        "x", [(1.0, rate(0.2)), (2.0, rate(0.4)), (3.0, rate(None)), (4.0, rate(0.8)), (5.0, rate(0.6))]
    )
    text = html(Curves("epoch", [line], 2.0))
    assert text.count("<polyline") == text.count('<polygon class="band"') == 2
    assert text.count("<circle") == 4
    assert '<line class="marked" x1="190" x2="190"' in text and ">chosen</text>" in text
    # Places 1 to 5 stand on 48 to 616, rates 0 to 1 on 240 up to 28.
    assert '<polyline points="48,197.6 190,155.2"/>' in text


def test_an_edit_is_marked_and_the_texts_keep_their_own_direction():
    case = Case("c/1", (("A good film.", "So."), ("A bad film.", "So.")))
    text = html(CaseList([ShownCase(case, Outcome("c/1", False, -0.5), "the same", ["pos", "neg"])]))
    assert (
        '<li title="c/1"><p class="original" dir="auto">A <mark>good</mark> film. <span class="and">¦</span> So.'
        in text
    )
    assert '<p class="variant" dir="auto">A <mark>bad</mark> film.' in text
    assert '<p class="went">expected the same</p>' in text
