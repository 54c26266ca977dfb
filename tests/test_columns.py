"""Cases and answers in columns: rows of examples, tables of cases."""

import json

import numpy as np

from shoal.core.case_table import CaseTable, by_group
from shoal.core.records import Case
from shoal.models.stored.columns import Request
from shoal.models.stored.matching import match_rows
from shoal.models.stored.readers import read_file


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
