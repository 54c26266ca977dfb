"""Cases and answers in columns: rows of examples, tables of cases."""

from shoal.core.case_table import CaseTable, by_group
from shoal.core.records import Case


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
