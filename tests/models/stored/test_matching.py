"""Every answer is matched with its example, or the file is an error.

By id, where a group's name may hold a slash, and so may an id; or by order, where the file has a line for every example
of the whole suite.
"""

from typing import Any

import pytest
from small_world import lines

from shoal import Case, audit
from shoal.core.errors import DataError
from shoal.models.stored.columns import Columns, Key
from shoal.models.stored.matching import match_rows


def cases(*ids: str, size: int = 1) -> list[Case]:
    return [Case(identity, (("text",),) * size) for identity in ids]


def by_id(*keys: str | tuple[str | None, str]) -> Columns:
    columns = Columns("p.csv")  # type: ignore[arg-type]
    for line, key in enumerate(keys, start=2):
        group, identity = (None, key) if isinstance(key, str) else key
        columns.add(line, "x", (), Key(group, identity, 0))
    return columns


def by_order(lines: int) -> Columns:
    columns = Columns("p.txt")  # type: ignore[arg-type]
    for line in range(1, lines + 1):
        columns.add(line, "x", ())
    return columns


@pytest.mark.parametrize(
    ("ids", "keys"),
    [
        (["a/1", "b/2"], ["2", "1"]),
        (["a/1", "b/1"], [("b", "1"), ("a", "1")]),
        (
            ["fst/sec/7", "sec/fst/7"],
            ["sec/fst/7", "fst/sec/7"],
        ),  # a cell and a text, as combinational probing has them
        (["and/or/1", "yes/no/2"], [("yes/no", "2"), ("and/or", "1")]),
        (["1", "2"], ["2", "1"]),  # ids without a group
        (["a/1 ", "a/1"], [("a", "1"), ("a", "1 ")]),
    ],
)
def test_a_case_is_named_whole_in_two_columns_or_by_its_end(ids, keys):
    suite = cases(*ids)
    assert match_rows(by_id(*keys), suite, suite).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("ids", "keys", "message"),
    [
        (["a/1", "b/1"], ["1"], r"line 2: case id '1' occurs in several groups[\s\S]*try: ids such as"),
        (["a/1"], ["a/1", "1"], "line 3: 1 is predicted twice"),
        (["a/1", "b/2"], [("a", "1")], r"no prediction for 1 of 2 examples[\s\S]*missing: b/2"),
        (["words/1"], [("word", "1")], r"line 2: no case has the id word/1[\s\S]*try: `shoal export"),
        (["a/1"], ["x" * 10_000], "line 2: no case has the id xxx.*…"),
    ],
)  # fmt: skip
def test_what_cannot_be_told_or_is_not_there_is_refused(ids, keys, message):
    suite = cases(*ids)
    with pytest.raises(DataError, match=message) as caught:
        match_rows(by_id(*keys), suite, suite)
    assert "  try: " in str(caught.value) and len(str(caught.value)) < 600


def test_answers_by_order_are_those_of_the_whole_suite_copies_included():
    whole = cases("a/1", "a/2", "a/3", size=2)
    assert match_rows(by_order(6), whole, whole).tolist() == [0, 1, 2, 3, 4, 5]
    assert match_rows(by_order(6), [whole[0], whole[2]], whole).tolist() == [
        0,
        1,
        4,
        5,
    ]  # a/2 is a copy, and left out
    assert match_rows(by_order(6), [whole[2]], whole).tolist() == [4, 5]


@pytest.mark.parametrize("lines", [4, 7])
def test_any_other_number_of_lines_is_refused(lines):
    """Four is how many were chosen: which of the six they are, a file without names does not say."""
    whole = cases("a/1", "a/2", "a/3", size=2)
    with pytest.raises(DataError, match=rf"{lines} lines for 6 examples[\s\S]*try: predict the whole suite"):
        match_rows(by_order(lines), [whole[0], whole[2]], whole)


@pytest.mark.parametrize("edits", ["none", "repaired"])
def test_copies_of_a_case_do_not_shift_the_answers_behind_them(tmp_path, edits):
    """Every text stands twice, and the model is wrong in the first three of 60 lines only."""
    suite, answers = tmp_path / "suite.jsonl", tmp_path / "answers.txt"
    about = {"functionality": "f", "capability": "c", "type": "MFT"}
    rows: list[dict[str, Any]] = [
        {**about, "case_id": n, "examples": [{"text": f"text {n // 2}"}], "labels": n // 2 % 2}
        for n in range(60)
    ]
    suite.write_bytes(lines([{"label_names": ["no", "yes"]}, *rows]))
    answers.write_text("".join(f"{row['labels'] ^ (place < 3)}\n" for place, row in enumerate(rows)))
    result = audit("behaviour", f"predictions:{answers}?format=pred_only", suite=str(suite), edits=edits)
    right = {outcome.case_id: outcome.passed for outcome in result.outcomes}
    assert len(right) in (30, 60) and right == {name: int(name[2:]) >= 3 for name in right}
