"""The page in other forms: LaTeX tables, figures as PDF and SVG."""

import xml.etree.ElementTree as ElementTree

import pytest

from shoal.core.records import Finding, Measure
from shoal.core.views import (
    Block,
    Column,
    Curves,
    Dots,
    HeatMap,
    Line,
    Row,
    Scatter,
    Section,
    Table,
    strip_table,
)
from shoal.render.figures import draw_figures
from shoal.render.page import Page, Part
from shoal.render.writing import write_forms


def rate(value: float | None, name: str = "pass rate", **groups: str) -> Measure:
    interval = None if value is None else (value / 2, (1 + value) / 2)
    return Measure(name, value, 140, groups, interval, "wilson")


TEXT = "50 $ & <b>"


def pictures(text: str = TEXT) -> list[Block]:
    line = Line(text, [(1.0, rate(0.2)), (2.0, rate(None)), (3.0, rate(0.4))])
    return [
        HeatMap(
            [(text, text), ("b", "")],
            [(text, text)],
            {(0, 0): rate(0.9), (1, 0): rate(None)},
            text,
            kinds=[text, ""],
        ),
        Curves("epoch", [line, Line("b", [(1.0, rate(0.3)), (3.0, rate(0.1))])], 2.0, text),
        strip_table([(text, [rate(0.5), rate(0.6)]), ("b", [rate(0.2)])], (0.0, 1.0), 0.5, title=text),
        Scatter((text, "y"), [(text, rate(0.5), rate(0.6))], text),
    ]


def page() -> Page:
    table = Table(
        [Column("name", "left"), Column("dots")], [Row(["a", Dots([rate(0.5)], (0.0, 1.0))])], "scores"
    )
    return Page(
        [Part("a", [Section("A section", blocks=[table, *pictures()])])],
        findings=[Finding("verdict", "It fails.")],
        caveats=["few cases"],
    )


@pytest.mark.slow
def test_figures_are_pdf_and_svg_and_the_same_twice(tmp_path):
    assert draw_figures(page().sections, tmp_path / "first") == 5
    assert draw_figures([Section(blocks=pictures()[-1:])], tmp_path / "second") == 1
    first, second = (sorted((tmp_path / folder).iterdir()) for folder in ("first", "second"))
    assert len(first) == 10 and [path.name for path in second] == ["50-b.pdf", "50-b.svg"]
    again = [tmp_path / "first" / f"50-b-4{path.suffix}" for path in second]
    assert [path.read_bytes() for path in second] == [path.read_bytes() for path in again]
    for path in first:
        if path.suffix == ".svg":
            assert TEXT in "".join(ElementTree.parse(path).getroot().itertext()) or path.stem == "scores"
        else:
            assert path.read_bytes().startswith(b"%PDF")


def test_tables_are_written_as_latex(tmp_path):
    path = write_forms(page(), [], tmp_path / "r.out", "latex")
    text = path.read_text()
    assert text.startswith("% needs") and "It fails." in text and "few cases" in text
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["r-scores.csv", "r.out"]
