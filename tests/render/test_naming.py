"""Long specs have short names on a page, and the short names still tell models apart."""

from shoal.core.records import Case, Measure
from shoal.core.views import Column, Number, Row, Section, ShownCase, Table, Words
from shoal.render.naming import renamed, short_names

URL = "openai:m?url=http://127.0.0.1:36059/v1&mode=generate"


def test_a_short_name_keeps_what_tells_models_apart():
    plain, polite = f"{URL}&prompt=plain", f"{URL}&prompt=polite"
    module = "python:examples.ranking.readers:last_clause"
    deep = "hf:/data/of/some/length/seed_0-step_128"
    assert short_names([plain, polite, module, deep, "tiny:sentiment"]) == {
        plain: "openai:m prompt=plain",
        polite: "openai:m prompt=polite",
        module: "python:readers:last_clause",
        deep: "hf:seed_0-step_128",
    }


def test_names_that_end_alike_say_more_and_never_become_one():
    one, two = ("hf:/data/of/some/length/run_1/model", "hf:/data/of/some/length/run_2/model")
    assert short_names([one, two]) == {one: "hf:run_1/model", two: "hf:run_2/model"}
    far = [f"hf:/data/{number}/a/rather/long/way/down/model" for number in range(2)]
    assert short_names(far) == {}, "four parts of the path are the same: they stay as they are"


def test_names_change_in_words_and_not_in_records():
    long = "hf:/data/of/some/length/seed_0-step_128"
    measure = Measure("pass rate", 0.5, 10, {"model": long})
    shown = ShownCase(Case("x", ((long,),)))
    section = Section(
        [Words("of "), Words(long)],
        blocks=[
            Table([Column(long)], [Row([Number(measure)])]),
        ],
        notes=[f"about {long}"],
    )
    after = renamed(section, short_names([long]))
    assert after.title == [Words("of "), Words("hf:seed_0-step_128")]
    assert after.notes == ["about hf:seed_0-step_128"]
    (table,) = after.blocks
    assert isinstance(table, Table) and table.columns[0].title == "hf:seed_0-step_128"
    assert table.rows[0].cells[0] == Number(measure), "a measure is data: drill-down goes by its groups"
    assert renamed(shown, short_names([long])) == shown
