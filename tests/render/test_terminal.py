"""Sections in a terminal, to the letter: what people see at 80 and at 120 columns."""

import io

from rich.console import Console

from shoal.core.records import Case, Measure, Outcome
from shoal.core.views import (
    Block,
    CaseList,
    Column,
    HeatMap,
    Number,
    Row,
    Section,
    ShownCase,
    Table,
    Words,
)
from shoal.render.terminal import print_sections, section_lines


def lines(block: Block, width: int) -> str:
    return "\n" + "\n".join(line.plain for line in section_lines([Section(blocks=[block])], width)) + "\n"


def printed(sections: list[Section], width: int, *, full: bool = False, colour: bool = False) -> str:
    stream = io.StringIO()
    system = "truecolor" if colour else None
    console = Console(file=stream, width=width, highlight=False, force_terminal=colour, color_system=system)  # type: ignore[arg-type]
    print_sections(sections, console, full=full)
    return stream.getvalue()


def test_a_narrow_table_hides_spare_columns_and_says_so():
    rate = Measure("pass rate", 0.545, 280, {}, (0.5, 0.6), "wilson")
    full = Measure("pass rate", 1.0, 140, {}, (0.97, 1.0), "wilson")
    columns = [Column("functionality", "left"), Column("type", "left", spare=True), Column("95 % CI")]
    rows = [
        Row(["negation", "", Number(rate, part="interval")]),
        Row(["  a_negated_question_is_no_statement", "INV", Number(full, part="interval")]),
    ]
    table = Table(columns, rows)
    assert "INV" in lines(table, 80) and "Hidden" not in lines(table, 80)
    narrow = lines(table, 50)
    assert "INV" not in narrow and 'Hidden column (terminal too narrow): "type".' in narrow
    assert "50.0 –  60.0" in narrow and max(map(len, narrow.splitlines())) <= 50


def scores() -> Table:
    def cell(value: float, mark: str = "") -> Number:
        measure = Measure("G", value, 150, {}, (value - 0.02, value + 0.02), "bootstrap")
        return Number(measure, ("strong", "good") if mark else "", mark, "value and interval")

    waiting = Number(Measure("G", None, 0), part="value and interval", instead="23 of 38")
    columns = [Column("trained on", "left", once=True), Column("method", "left")]
    columns += [Column(title) for title in ("i.i.d.", "G_seen", "G_func", "G_class")]
    rows = [
        Row([Words("iid", "strong"), "vanilla", cell(0.917), cell(0.701), cell(0.702), cell(0.703)]),
        Row([Words("iid", "strong"), "l2", cell(0.9), cell(0.705), cell(0.706), waiting]),
        Row(),
        Row([Words("iid>suite", "strong"), "vanilla", cell(0.9), cell(0.98, "▲"), cell(0.75, "▼"), waiting]),
    ]
    return Table(columns, rows)


def test_intervals_go_below_the_values_where_the_room_is_narrow():
    assert (
        lines(scores(), 80)
        == """
trained on  method   i.i.d.     G_seen      G_func     G_class
iid         vanilla  91.7       70.1        70.2       70.3
                     89.7–93.7  68.1–72.1   68.2–72.2  68.3–72.3
            l2       90.0       70.5        70.6       23 of 38
                     88.0–92.0  68.5–72.5   68.6–72.6

iid>suite   vanilla  90.0       98.0 ▲      75.0 ▼     23 of 38
                     88.0–92.0  96.0–100.0  73.0–77.0
"""
    )


def heat_map() -> HeatMap:
    rows = [("suite score", ""), ("negated_praise", "negation"), ("single_words", "vocabulary")]
    columns = [("vanilla", "iid"), *((method, "iid>suite") for method in ("vanilla", "l2", "fish"))]
    values = [[0.5, 0.97, 0.9, 0.89], [0.1, 1.0, None, 0.4], [0.9, 0.94, 0.9]]
    cells = {(i, j): Measure("pass rate", v, 50) for i, row in enumerate(values) for j, v in enumerate(row)}  # type: ignore[arg-type, var-annotated]
    return HeatMap(rows, columns, cells, "func: held out", kinds=["", "MFT", "INV"], baselines=1)


def test_a_heat_map_names_blocks_once_and_repeats_its_baseline_where_it_is_torn():
    assert (
        lines(heat_map(), 42)
        == """
func: held out
                         iid iid>suite
                     vanilla   vanilla l2
suite score               50        97 90
negation
  negated_praise MFT      10       100  –
vocabulary
  single_words   INV      90        94 90

                         iid iid>suite
                     vanilla      fish
suite score               50        89
negation
  negated_praise MFT      10        40
vocabulary
  single_words   INV      90         –
"""
    )


def test_three_notes_are_shown_and_the_others_counted():
    section = Section("title", notes=["one", "two", "three", "four", "five"])
    assert printed([section], 80) == "title\n\none\ntwo\nthree\n2 more notes: --full\n"
    details = Section("details", detail="full")
    assert printed([section, details], 80) == printed([section], 80)
    assert printed([section, details], 80, full=True).endswith("three\nfour\nfive\n\ndetails\n")


MOVED = "P(positive) .98 → .39 (limit ±.10)"


def case() -> ShownCase:
    texts = (
        ("The food was good.", "I liked it."),
        ("The food was not good.", "I liked it."),
        ("The food was bad.", "I liked it."),
        ("Good food.", "I liked it."),
        ("Good food.", "I hated it."),
    )
    answers = ["positive .98", "positive .95", "negative .61"]
    return ShownCase(
        Case("c/1", texts), Outcome("c/1", False, -0.45), "the same answer", answers, "bad", "▼", MOVED
    )


def test_a_case_shows_its_variants_what_the_model_said_and_how_far_it_moved():
    alone = ShownCase(Case("c/2", (("Fine.",),)), Outcome("c/2", False, -0.0), "negative", ["positive .51"])
    block = CaseList([case(), alone], [Words("Worst: ", "strong"), "negation"], ["two of 40"])
    expected = """
Worst: negation
  ▼ The food was good. ¦ I liked it.   positive .98
      → The food was not good. ¦ I liked it.   positive .95
      → The food was bad. ¦ I liked it.   negative .61
      … and 2 more
      expected the same answer, P(positive) .98 → .39 (limit ±.10)

  Fine.
      expected negative, got positive .51
two of 40
"""
    assert lines(block, 80) == lines(block, 120) == expected


def test_the_variants_whose_answer_changed_come_before_the_others():
    texts = [(word,) for word in ("a chef", "a young chef", "a blind chef", "a gay chef", "a deaf chef")]
    same, banded = "neutral (P(negative) .52)", "neutral (P(positive) .61)"
    shown = ShownCase(Case("c", tuple(texts)), answers=[same, same, banded, "negative .91", same])
    original, *variants, hidden = lines(CaseList([shown]), 80).splitlines()[1:]
    assert original == "  a chef   neutral (P(negative) .52)"
    assert variants == [
        "      → a gay chef   negative .91",
        "      → a blind chef   neutral (P(positive) .61)",
    ]
    assert hidden == "      … and 2 more"


def test_examples_of_an_implication_keep_their_order():
    shown = ShownCase(Case("c", (("a",), ("b",), ("c",))), answers=["yes .90", "yes .90", "no .90"])
    assert [line.split()[-3] for line in lines(CaseList([shown]), 80).splitlines()[1:]] == ["a", "b", "c"]
