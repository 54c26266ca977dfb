"""Suites without code: the same cases as in Python, the same from a sheet, and each mistake with its place."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from shoal import Suite, case, fill, read_suite, write_suite
from shoal.cli import main
from shoal.core.errors import DataError
from shoal.protocols.behaviour import perturb
from shoal.protocols.behaviour.build import _read_once, suite_digest
from shoal.protocols.behaviour.lexicons import LEXICONS
from shoal.protocols.behaviour.template_suites import waiting

YAML = """
suite: hotels
task: sentiment
labels: [negative, positive]
words:
  thing: [room, breakfast, pool, lobby, yes]
  praise: adjectives.positive
tests:
  praise_is_positive:
    description: Praise is positive.
    capability: vocabulary
    label: positive
    templates: ["The {thing} was {praise}.", "It is {a:praise} {thing}."]
    except: [brilliant lobby]
    sample: 30
    seed: 7
  comparisons:
    capability: vocabulary
    templates:
      positive: ["There is no better {thing}."]
      negative: ["There is no worse {thing}."]
  typos:
    type: INV
    capability: robustness
    templates: ["The {thing} was {praise}."]
    perturb: [{typo: 2}, punctuation, case, {swap: thing}, {add: It was a Tuesday.}]
    sample: 12
    seed: 3
  hedges:
    type: DIR
    capability: vocabulary
    expect: not more confident
    tolerance: 0.05
    templates: ["The {thing} was {praise}."]
    variants: ["The {thing} was sort of {praise}."]
    sample: 10
  irony:
    capability: irony
    label: negative
    cases: [Great. Another cold shower., {text: A dream., label: not_negative}]
"""


def in_python() -> Suite:
    suite = Suite("hotels", ("negative", "positive"), task="sentiment")
    praise = (
        "brilliant", "charming", "delightful", "excellent", "fantastic", "great", "lovely", "superb", "wonderful",
    )  # fmt: skip
    words = {
        "thing": ["room", "breakfast", "pool", "lobby", "yes"],
        "praise": praise,
    }

    @suite.minimum(capability="vocabulary")
    def praise_is_positive():
        """Praise is positive."""
        templates = ["The {thing} was {praise}.", "It is {a:praise} {thing}."]
        for filled in fill(templates, words, n=30, seed=7, exclude=["brilliant lobby"]):
            yield case(filled.text, label="positive", cluster=filled.source)

    @suite.minimum(capability="vocabulary")
    def comparisons():
        for word, label in (("better", "positive"), ("worse", "negative")):
            for filled in fill(f"There is no {word} {{thing}}.", words):
                yield case(filled.text, label=label, cluster=filled.source)

    @suite.invariance(capability="robustness")
    def typos():
        rng = np.random.default_rng(3)
        for filled in fill("The {thing} was {praise}.", words, n=12, seed=3):
            text = filled.text
            variants = [perturb.swap_letters(text, rng, 2) for _ in range(3)]
            variants += [*perturb.vary_punctuation(text), text.lower(), text.upper()]
            others = [thing for thing in words["thing"] if thing != filled.words["thing"]]
            drawn = sorted(rng.permutation(len(others))[:3])
            variants += [perturb.change_word(text, filled.words["thing"], others[i]) for i in drawn]
            variants.append(f"{text} It was a Tuesday.")
            changed = [variant for variant in dict.fromkeys(variants) if variant != text]
            yield case(text, *changed, cluster=filled.source)

    @suite.directional(capability="vocabulary", expect="not more confident", tolerance=0.05)
    def hedges():
        for filled in fill("The {thing} was {praise}.", words, n=10):
            hedged = filled.text.replace("was", "was sort of")
            yield case(filled.text, hedged, cluster=filled.source)

    @suite.minimum(capability="irony")
    def irony():
        yield case("Great. Another cold shower.", label="negative")
        yield case("A dream.", label="not_negative")

    return suite


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_yaml_suite_has_the_cases_of_the_same_suite_in_python_byte_for_byte(tmp_path):
    write_suite(read_suite(written(tmp_path / "hotels.yaml", YAML)), tmp_path / "a.jsonl")
    write_suite(in_python(), tmp_path / "b.jsonl")
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_a_spreadsheet_has_the_cases_of_the_yaml_suite(tmp_path):
    sheet = written(
        tmp_path / "hotels.csv",
        "functionality,description,capability,type,label,template,perturb,sample,slot,words,case,variant\n"
        ',,,,,,,,thing,"room, pool",,\n'
        ",,,,,,,,praise,adjectives.positive,,\n"
        "praise,Praise.,vocabulary,MFT,positive,The {thing} was {praise}.,,5,,,,\n"
        "praise,,,,negative,The {thing} was not {praise}.,,,,,,\n"
        "typos,,robustness,INV,,The {thing} was {praise}.,typo: 2,5,,,,\n"
        "typos,,,,,,punctuation,,,,,\n"
        "names,,fairness,INV,,,,,,,Ann sat.,Aisha sat.\n",
    )
    yaml = written(
        tmp_path / "hotels.yaml",
        """
labels: [negative, positive]
words: {thing: [room, pool], praise: adjectives.positive}
tests:
  praise:
    description: Praise.
    capability: vocabulary
    templates:
      - {text: "The {thing} was {praise}.", label: positive}
      - {text: "The {thing} was not {praise}.", label: negative}
    sample: 5
  typos:
    type: INV
    capability: robustness
    templates: ["The {thing} was {praise}."]
    perturb: [typo: 2, punctuation]
    sample: 5
  names: {type: INV, capability: fairness, cases: [[Ann sat., Aisha sat.]]}
""",
    )
    for path in (sheet, yaml):
        write_suite(read_suite(path), path.with_suffix(".jsonl"))
        assert len(read_suite(path).cases) == 11
    assert [replace(case, meta={}) for case in read_suite(sheet).cases] == [
        replace(case, meta={}) for case in read_suite(yaml).cases
    ]


WRONG = {
    "tests:\n\tt: 1\n": ("line 2, column 1", "not valid YAML"),
    "tests:\n  t:\n    templates:\n      - Yes: a b\n": ("line 4, column 9", "unknown name 'Yes'"),
    "tests:\n  t:\n    label: “a”\n": ("line 3, column 12", "typographic quotes around"),
    "tests:\n  t:\n    templates:\n      - We are #1 here\n": ("line 4, column 9", "ends before #"),
    "labels: [a]\ntests: {t: {templates: [x]}}\n": ("line 1, column 1", "two or more names"),
    "labels: [a, b]\ntests:\n  t:\n    type: INV\n    templates: [x]\n    perturb: [swap: thign]\n": (
        "line 6, column 15", "no word list 'thign'",
    ),
    "suite: &a x\ntask: *a\n": ("line 2, column 7", "alias"),
    "labels: [a, b]\ntests:\n  t:\n    lable: a\n": ("line 4, column 5", "unknown name 'lable'"),
    "labels: [a, b]\ntests:\n  t:\n    label: a\n    templates: [\"{w}\"]\n": ("line 5, column 17", "no words for"),
    "labels: [a, b]\ntests:\n  t:\n    label: a\n    sample: 9\n    templates: [x]\n": ("line 6", "sample asks for 9"),
    "labels: [a, b]\ntests:\n  t:\n    type: INV\n    templates: [x]\n": ("line 5, column 17", "no variants"),
    "labels: [a, b]\nlanguage: de\ntests:\n  t: {type: INV, templates: [x], perturb: contraction}\n": (
        "line 4", "contraction is for English",
    ),
    "tests:\n  a: {expect: {contains: b}, cases: [x]}\n  t: {type: INV, perturb: typo, cases: [a typo]}\n": (
        "line 3, column 3", "whose other tests expect texts",
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_a_mistake_is_named_with_line_and_column(tmp_path, text):
    where, problem = WRONG[text]
    with pytest.raises(DataError, match=problem) as caught:
        read_suite(written(tmp_path / "bad.yaml", text))
    first = str(caught.value).splitlines()[0]
    assert first.count("bad.yaml") == 1 and where in first


def test_every_mistake_of_a_functionality_is_named_at_once(tmp_path):
    (tmp_path / "s.yaml").write_text(
        "labels: [no, yes]\ntests:\n  f:\n    capability: c\n    templates:\n"
        '      - {text: "A {thing}.", label: yes}\n      - {text: B., label: nope}\n'
        "    cases: [{text: C., label: other}, {text: D.}]\n"
    )
    with pytest.raises(DataError) as refused:
        read_suite(tmp_path / "s.yaml")
    assert [line in str(refused.value) for line in ("thing", "'nope'", "'other'", "no label")] == [True] * 4


SHEET = "functionality,label,template,slot,words\n"
WRONG_SHEETS = {
    SHEET + "t,a,x,,\nt,A,y,,\n": "line 3, column label: label 'A' is 'a' in an earlier row",
    SHEET + "t,a,,,\n": "line 2, column label: a label without template or case",
    SHEET + ",,,thing,\n": "line 2, column slot: a word list needs a slot and words",
    SHEET + ",a,x,,\n": "line 2, column label: no functionality",
    SHEET.replace("template", "Templates") + "t,a,x,,\n": "unknown column 'templates'",
    SHEET + "t,a,{w},,\n": "line 2, column template: no words for the slot {w}",
}


def test_suggestions_of_another_shape_are_not_counted(tmp_path):
    text = "labels: [a, b]\ntests: {t: {label: a, templates: [x]}}\nsuggested: {cases: [a], words: [b]}\n"
    assert waiting(str(written(tmp_path / "s.yaml", text))).startswith("1 suggested word waits")


@pytest.mark.parametrize("text", WRONG_SHEETS)
def test_a_mistake_in_a_spreadsheet_is_named_with_its_cell(tmp_path, text):
    with pytest.raises(DataError) as caught:
        read_suite(written(tmp_path / "bad.csv", text))
    assert WRONG_SHEETS[text] in str(caught.value)


def test_a_spreadsheet_of_a_german_excel_names_labels_and_language(tmp_path):
    lines = (
        "Functionality;Label;Template;Slot;Words;Labels;Language",
        ";;;praise;adjectives.positive;a, b, c;de",
        ";;;;;;",
        "t;a;Das war {praise}.;;;;",
    )
    path = tmp_path / "hotel.csv"
    path.write_bytes("\r\n".join(lines).encode("utf-8-sig"))
    suite = read_suite(path)
    assert suite.labels == ("a", "b", "c") and suite.in_order
    assert ("Das war ausgezeichnet.",) in suite.cases[0].examples


def test_a_workbook_may_have_empty_rows_and_numbers(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["functionality", "label", "template", "sample", "slot", "words"], [None] * 6,
                [None, None, None, None, "n", "2, 3"], ["t", 1, "{n} rooms", 2.0], ["t", 0, 4.5]):  # fmt: skip
        book.active.append(row)
    book.save(tmp_path / "hotel.xlsx")
    suite = read_suite(tmp_path / "hotel.xlsx")
    assert [(case.examples[0][0], case.labels) for case in suite.cases] == [
        ("2 rooms", ("1",)),
        ("4.5", ("0",)),
    ]


def test_a_template_has_its_own_variants_next_to_the_shared_ones(tmp_path):
    text = """
tests:
  t:
    type: INV
    templates: [{text: "A {w}.", variants: ["Ah {w}."]}, "B {w}."]
    variants: ["C {w}."]
    words: {w: [dog, cat]}
"""
    cases = read_suite(written(tmp_path / "a.yaml", text)).cases
    assert [example[0] for example in cases[1].examples] == ["A cat.", "C cat.", "Ah cat."]
    assert [example[0] for example in cases[2].examples] == ["B dog.", "C dog."]


def test_a_changed_word_list_changes_the_identity_of_a_suite(tmp_path, monkeypatch):
    path = written(tmp_path / "a.yaml", "tests: {t: {label: a, templates: ['{w}'], words: {w: cities}}}\n")
    before = suite_digest(str(path), (1, 1))
    monkeypatch.setitem(LEXICONS["en"], "cities", ("Faro", "Turin"))
    path.touch()
    _read_once.cache_clear()
    assert suite_digest(str(path), (2, 2)) != before


def test_tags_and_huge_nesting_are_read_as_text_or_refused(tmp_path):
    with pytest.raises(DataError, match="must be a text"):
        read_suite(written(tmp_path / "a.yaml", 'suite: !!python/object/apply:os.system ["echo"]\n'))
    with pytest.raises(DataError, match="nested too deeply|not valid YAML|expected"):
        read_suite(written(tmp_path / "b.yaml", "suite: " + "[" * 30 + "]" * 30))
    with pytest.raises(DataError):
        read_suite(written(tmp_path / "c.yaml", "suite: " + "[" * 100_000))


LISTS = st.lists(st.sampled_from(["red", "old", "big", "odd", "new"]), min_size=1, unique=True)


@given(LISTS, LISTS, st.integers(1, 30), st.integers(0, 5))
def test_a_sample_is_part_of_all_fillings_in_their_order_and_none_is_repeated(first, second, n, seed):
    words, templates = {"a": first, "b": second}, ["{a1} {a2} {b}", "{b} and {b}", "{a:a} {b}"]
    every = [filled.text for filled in fill(templates, words)]
    assert len(set(every)) == len(every)
    assert all(
        text.split()[0] != text.split()[1] for text in every if len(text.split()) == 3 and "an" not in text
    )
    drawn = [filled.text for filled in fill(templates, words, n=n, seed=seed)]
    assert len(drawn) == min(n, len(every))
    assert [text for text in every if text in drawn] == drawn
    assert drawn == [filled.text for filled in fill(templates, words, n=n, seed=seed)]


def test_samples_of_more_combinations_than_can_be_listed_are_different_and_complete():
    words = {"w": [f"word{i}" for i in range(200)]}
    texts = [filled.text for filled in fill("{w1} {w2} {w3} {w4}", words, n=500)]
    assert len(set(texts)) == 500


def test_check_shows_ten_cases_of_each_functionality_drawn_evenly(tmp_path):
    path = tmp_path / "hotels.yaml"
    path.write_text(YAML)
    outputs = [
        CliRunner().invoke(main, ["check", str(path), *more]).output for more in ((), ("--cases", "2"))
    ]
    assert "praise_is_positive: 10 of 30 cases" in outputs[0]
    cases = [case for case in read_suite(path).cases if case.groups["functionality"] == "praise_is_positive"]
    shown = outputs[1].partition("praise_is_positive: 2 of 30 cases\n")[2].splitlines()
    assert shown[0].strip() == cases[0].examples[0][0] and shown[3].strip() == cases[15].examples[0][0]
    assert shown[1].strip() == "expected positive"
    write_suite(read_suite(path), tmp_path / "plain.jsonl")
    plain = CliRunner().invoke(main, ["check", str(tmp_path / "plain.jsonl")]).output
    assert "of 30 cases" not in plain
