"""Suites and predictions are read by the block; a file gives the same rows, or the same error, as row by row."""

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from shoal.core import files
from shoal.core.case_table import CaseTable, by_group
from shoal.core.errors import ShoalError
from shoal.core.files import read_lines
from shoal.core.records import Case
from shoal.models.stored import records
from shoal.models.stored.columns import Request
from shoal.models.stored.matching import match_rows
from shoal.models.stored.readers import read_file
from shoal.protocols.behaviour import suite_files

SCALARS = (None, True, 0, 1, -1, 7, 0.5, math.inf, 10**400, "", " ", "a", "b", "1", "0.25", " b", "not_a", {})
LISTS: tuple[list[Any], ...] = (
    *([], ["a"], ["a", "b"], [0.5, 0.5], [0.5, "0.5"], [True, 0], ["x"], [["x", "y"]]),
    *([{"text": "x"}], [{"text": ""}], [{"text": "x"}, {"text": "y"}], [{"premise": "x", "hypothesis": "y"}]),
)
VALUES = st.sampled_from([*SCALARS, *LISTS])
MESSES = st.sampled_from(
    ["", "  ", "\t", "nonsense", "[1]", "1", '{"a":', '{"case_id": "\\ud800"}', "{} {}", "\x00"]
)
MESSY = settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])


def rows_with(fields: dict[str, Any]) -> st.SearchStrategy[list[str]]:
    """Lines of rows that are mostly as these fields, each with its own id; a few have another value or none."""
    names = st.sampled_from([*fields, "meta", "cluster", "error", "example_idx", "text"])
    change = st.tuples(names, VALUES, st.booleans())

    def line(number: int, change: tuple[str, Any, bool] | None, mess: str | None) -> str:
        row = {name: value(number) if callable(value) else value for name, value in fields.items()}
        if change is not None and change[2]:
            row.pop(change[0], None)
        elif change is not None:
            row[change[0]] = change[1]
        return json.dumps(row) if mess is None else mess

    rare = st.one_of(st.none(), st.none(), st.none(), change)
    rarer = st.one_of(*[st.none()] * 8, MESSES)
    rows = st.lists(st.tuples(st.integers(0, 20), rare, rarer), min_size=1, max_size=12)
    return rows.map(lambda rows: [line(*row) for row in rows])


def outcome(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except ShoalError as problem:
        return str(problem), problem.why, problem.fix


def both(read: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    """What is read by blocks of three rows, and row by row."""
    with monkeypatch.context() as patch:
        patch.setattr(records, "ROWS_AT_ONCE", 3)
        patch.setattr(suite_files, "ROWS_AT_ONCE", 3)
        patch.setattr(files, "CHUNK", 200)
        by_block = outcome(read)
        patch.setattr(records, "_add_block", lambda *_, **__: False)
        patch.setattr(suite_files, "_add_block", lambda *_, **__: False)
        patch.setattr(files, "_plain_objects", lambda _: None)
        return by_block, outcome(read)


@MESSY
@given(
    lines=rows_with({"functionality": "f", "case_id": str, "example_idx": 0, "pred": "a", "conf": [0.5, 0.5]})
    | rows_with({"id": int, "pred": 1, "conf": 0.5}),
    end=st.sampled_from(["\n", "\r\n"]),
)
@example(lines=['{"id": 1, "pred": "a"}', '{"id": 2, "pred": "a", "error": "timed out"}'], end="\n")
@example(lines=['{"id": 1, "pred": "a"}', '{"id": 2, "pred": null}'], end="\n")
def test_predictions_are_the_same_by_the_block(lines, end, tmp_path, monkeypatch):
    path = tmp_path / "p.jsonl"
    path.write_text(end.join(lines), newline="")

    def read() -> Any:
        columns = read_file(Request(path), {})
        numbers = [tuple(getattr(columns, name)) for name in ("lines", "numbers", "widths", "examples")]
        return numbers, columns.predictions, columns.groups, columns.identities, columns.errors, columns.texts

    by_block, by_row = both(read, monkeypatch)
    assert repr(by_block) == repr(by_row)  # 1 is not True, and NaN is NaN


@MESSY
@given(
    lines=rows_with(
        {
            "functionality": lambda number: f"f{number % 2}",
            "capability": "c",
            "type": "MFT",
            "case_id": str,
            "examples": [{"text": "x"}],
            "labels": lambda number: "ab"[number % 2],
        }
    )
)
def test_suites_are_the_same_by_the_block(lines, tmp_path, monkeypatch):
    path = tmp_path / "suite.jsonl"
    path.write_text('{"suite": "messy"}\n' + "\n".join(lines), encoding="utf-8")

    def read() -> Any:
        suite = suite_files.read_suite(path)
        return list(suite.cases), suite.functionalities, suite.labels

    by_block, by_row = both(read, monkeypatch)
    assert repr(by_block) == repr(by_row)


@given(texts=st.lists(st.text("aé\r\ufeff", max_size=9), max_size=9), chunk=st.integers(1, 30))
def test_lines_are_the_same_in_any_blocks(tmp_path_factory, texts, chunk):
    path = tmp_path_factory.mktemp("lines") / "lines"
    path.write_text("\n".join([*texts, ""]), encoding="utf-8", newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "CHUNK", chunk)
        lines = list(read_lines(path))
    first = [text.removeprefix("\ufeff") for text in texts[:1]]
    assert lines == [(number, line.rstrip("\r")) for number, line in enumerate([*first, *texts[1:]], 1)]


def test_the_error_is_that_of_the_first_invalid_row(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text('{"id": 1, "pred": "a"}\n' * 22 + '{"id": 1, "pred": []}\nnonsense\n')
    with pytest.raises(ShoalError, match=r"p\.jsonl, line 23"):
        read_file(Request(path), {})


def test_the_row_of_each_example_does_not_depend_on_the_order_of_the_file(tmp_path):
    cases = [Case(f"f/{number}", (("a",), ("b",))[: 1 + number % 2]) for number in range(9)]
    rows = [(case.id, place) for case in cases for place in range(len(case.examples))]
    for order in (range(len(rows)), np.random.default_rng(0).permutation(len(rows))):
        path = tmp_path / "p.jsonl"
        lines = [{"case_id": rows[at][0], "example_idx": rows[at][1], "pred": "a"} for at in order]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        columns = read_file(Request(path), {})
        assert [rows[order[row]] for row in match_rows(columns, cases, cases)] == rows


def test_a_table_of_cases_is_the_cases():
    groups = {"functionality": "f"}, {"functionality": "g"}
    cases = [
        Case(str(number), (("x",),), ("a",), groups[number % 2], "", {"own": number} if number > 2 else {})
        for number in range(5)
    ]
    table = CaseTable.of(cases)
    assert table == cases and list(table) == cases and table[1:3] == cases[1:3] and table[-1] == cases[-1]
    assert {name: places.tolist() for name, places in by_group(table, "functionality").items()} == {
        "f": [0, 2, 4],
        "g": [1, 3],
    }
    changed = table.with_meta(lambda meta: {**meta, "new": True})
    assert [case.meta for case in changed] == [{**case.meta, "new": True} for case in cases]
