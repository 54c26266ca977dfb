"""Invalid rows of an imported file: all listed at once, or left out and counted; the others are unchanged."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import read_suite
from shoal.cli import main
from shoal.core.errors import DataError
from shoal.data.columns import Named
from shoal.data.labelled import read_labelled
from shoal.protocols.behaviour.suite_files import import_suite

NAMED = Named(("doc.text",), "doc.label", "topic", id="key")
GOOD = [
    {"key": str(number), "topic": f"t{number % 2}", "doc": {"text": f"text {number}", "label": label}}
    for number, label in enumerate(["negative", "positive"] * 2)
]
DIRTY: list[Any] = [
    "not JSON",
    [1],
    {"topic": "t1"},
    {"key": "8", "topic": "t2", "doc": {"text": " ", "label": "other"}},
    {"key": "9", "topic": "t1", "doc": {"text": ["a"], "label": "negative"}},
    {"key": "10", "topic": "t3", "doc": {"text": "a", "label": None}},
    {"key": "11", "topic": "t0", "doc": {"text": "a", "label": 1.5}},
    {"key": "12", "topic": "t0", "doc": {"text": "a", "label": {"name": "negative"}}},
    {"key": "13", "topic": "", "doc": {"text": "a", "label": "negative"}},
]


def write(path: Path, rows: list[Any]) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


@given(
    st.permutations(GOOD), st.lists(st.sampled_from(DIRTY), max_size=30), st.randoms(use_true_random=False)
)
@settings(max_examples=60, deadline=None)
def test_the_good_rows_of_a_dirty_file_are_those_of_the_clean_file(tmp_path_factory, good, dirty, rng):
    folder = tmp_path_factory.mktemp("rows")
    rows: list[Any] = [*good]
    for row in dirty:
        rows.insert(rng.randrange(len(rows) + 1), row)
    clean, _ = import_suite(write(folder / "own.jsonl", good), folder / "clean.jsonl", NAMED)
    left, lines = import_suite(
        write(folder / "own.jsonl", rows), folder / "left.jsonl", NAMED, skip_invalid=True
    )
    assert left.cases == clean.cases and left.labels == clean.labels
    assert left.functionalities == clean.functionalities
    assert (folder / "left.jsonl").read_text() == (folder / "clean.jsonl").read_text()
    assert sum(int(line.split()[2]) for line in lines) == len(dirty)


def test_every_invalid_row_is_listed_with_its_problem(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    Path("tickets.csv").write_text("text,label\na,no\n,no\nb,\nc,nan\nd,yes\ne,no,1\n")
    command = ["import", "tickets.csv", "--out", "s.jsonl", "--text", "text", "--label", "label"]
    refused = CliRunner().invoke(main, command)
    assert refused.exit_code == 1 and not Path("s.jsonl").exists()
    assert refused.output == (
        "Error: tickets.csv: 4 of 6 rows are invalid\n"
        "  why: line 3: nothing in column 'text'; lines 4, 5: no label; "
        "line 7: 3 fields where the first line names 2\n"
        "  try: fix the rows, or import with --skip-invalid\n"
    )
    skipped = CliRunner().invoke(main, [*command, "--skip-invalid"])
    assert skipped.exit_code == 0 and "s.jsonl: 2 cases" in skipped.output
    assert "not imported: 2 rows: no label (lines 4, 5)" in skipped.output


def test_spellings_are_reported_together_with_invalid_rows(tmp_path):
    (tmp_path / "rev.csv").write_text("text,label\na,NEG\n,NEG\nb,neg\nc,\nd,pos\n")
    with pytest.raises(
        DataError, match=r"2 of 5 rows[\s\S]*differ only in case.*'NEG'[\s\S]*--labels NEG=neg"
    ):
        import_suite(tmp_path / "rev.csv", tmp_path / "s.jsonl", Named(("text",), "label"))


def test_a_file_without_a_valid_row_is_an_error_that_does_not_advise_skipping(tmp_path):
    path = write(tmp_path / "own.jsonl", ["{", *({"t": ["a"], "y": "no"} for _ in range(3))])
    for skip_invalid in (False, True):
        with pytest.raises(DataError, match=r"4 of 4 rows.*\n  why: .*\n  try: name the column .* t\.0$"):
            import_suite(path, tmp_path / "out.jsonl", Named(("t",), "y"), skip_invalid=skip_invalid)
    assert not (tmp_path / "out.jsonl").exists()


def test_a_file_without_rows_says_so(tmp_path):
    for name, content in (("own.jsonl", ""), ("own.json", "[]")):
        (tmp_path / name).write_text(content)
        with pytest.raises(DataError, match=f"{name}: no rows"):
            import_suite(tmp_path / name, tmp_path / "out.jsonl", Named(("t",), "y"))
    with pytest.raises(DataError, match="2 of 2 rows are invalid"):
        read_labelled(write(tmp_path / "own.jsonl", ["{", "{"]))


def test_a_file_that_cannot_be_read_to_its_end_is_an_error_all_the_same(tmp_path):
    path = tmp_path / "own.csv"
    path.write_bytes(b"text,label\na,no\nb,yes\n\xff,no\nc,no\n")
    with pytest.raises(DataError, match="line 4: not UTF-8"):
        import_suite(path, tmp_path / "out.jsonl", Named(("text",), "label"), skip_invalid=True)


# Paths


def test_nested_values_are_named_by_paths_and_columns_with_dots_come_first(tmp_path):
    rows: list[Any] = [
        {"choices": [{"text": "a"}], "doc": {"label": "no"}, "doc.label": "yes", "more": 1},
        {"choices": [{"text": "b"}], "doc": {"label": "yes"}, "doc.label": "no", "more": 1},
    ]
    path = tmp_path / "own.json"
    path.write_text(json.dumps(rows))
    named = Named(("choices.0.text",), "doc.label")
    suite, lines = import_suite(path, tmp_path / "out.jsonl", named)
    assert [(case.examples, case.labels) for case in suite.cases] == [
        ((("a",),), ("yes",)),
        ((("b",),), ("no",)),
    ]
    assert lines == ["not imported: column 'doc'", "not imported: column 'more'"]
    read = read_labelled(path, ["choices.0.text"], "doc.label")
    assert [(row.texts, row.label) for row in read.rows] == [(("a",), "yes"), (("b",), "no")]
    with pytest.raises(DataError, match=r"no column 'choices.1.text'[\s\S]*try: \"choices.0.text\""):
        import_suite(path, tmp_path / "out.jsonl", Named(("choices.1.text",), "doc.label"))
    with pytest.raises(DataError, match=r"try: name a column .* such as doc.label$"):
        import_suite(path, tmp_path / "out.jsonl", Named(("choices.0.text",), "doc"))


# Spellings


def table(tmp_path: Path, *labels: str) -> Path:
    path = tmp_path / "own.csv"
    path.write_text("text,label\n" + "".join(f"text {n},{label}\n" for n, label in enumerate(labels)))
    return path


def test_labels_that_differ_only_in_case_or_spaces_are_refused_with_the_option_that_merges_them(tmp_path):
    own, named = (
        table(tmp_path, "NEG", "neg", "neg", "Neg", "very  good", "very good"),
        Named(("text",), "label"),
    )
    with pytest.raises(DataError) as caught:
        import_suite(own, tmp_path / "out.jsonl", named)
    first, _, fix = str(caught.value).splitlines()
    assert first.endswith("'NEG' (1), 'Neg' (1), 'neg' (2); 'very  good' (1), 'very good' (1)")
    assert "--labels NEG=neg --labels Neg=neg --labels neg=neg --labels 'very  good=very  good'" in fix
    names = {"NEG": "neg", "neg": "neg", "Neg": "neg", "very  good": "good", "very good": "good"}
    assert import_suite(own, tmp_path / "out.jsonl", named, names)[0].labels == ("neg", "good")


def test_white_space_at_the_edge_of_a_label_makes_no_new_label(tmp_path):
    own, out = table(tmp_path, "neg", "neg ", "pos", " pos"), tmp_path / "out.jsonl"
    suite, lines = import_suite(own, out, Named(("text",), "label"))
    assert suite.labels == ("neg", "pos")
    assert lines == ["white space removed at the edges of 2 labels (lines 3, 5)"]
    case = {"functionality": "f", "capability": "c", "type": "MFT", "examples": ["a"]}
    cases = [{**case, "case_id": n, "labels": label} for n, label in enumerate(["neg", "neg ", "\tpos"])]
    assert read_suite(write(tmp_path / "s.jsonl", cases)).labels == ("neg", "pos")
    assert {row.label for row in read_labelled(own).rows} == {"neg", "pos"}


def test_answers_in_words_keep_their_white_space(tmp_path):
    example = {"context": "a", "question": "b"}
    case = {"functionality": "f", "capability": "c", "type": "MFT", "case_id": 1, "examples": [example]}
    row = {**case, "labels": " a", "expect": {"rule": "exact_string_equal"}}
    assert read_suite(write(tmp_path / "s.jsonl", [row])).cases[0].labels == (" a",)
