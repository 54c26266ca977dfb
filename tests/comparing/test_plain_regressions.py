"""A functionality that breaks is marked and fails every gate, whatever its number of templates."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outcomes import result
from toy_suite import rows_of, write_answers, write_suite

from shoal.comparing.gate import judge
from shoal.comparing.pairs import Choices, compare
from shoal.comparing.rules import Rule

CASES, TEMPLATES = 81, (1, 2, 3, 5, 8, 20, 81)
BEFORE, AFTER = [1] * 78 + [0] * 3, [0] * 81
RULES = [
    Rule({"functionality": group}, judge=kind, **limit)  # type: ignore[arg-type]
    for group in ("broken", "*")
    for kind in ("observed", "lower bound", "upper bound")
    for limit in ({"at_least": 0.5}, {"no_worse_than_baseline_by": 0.1})
]
QUICK = Choices(shuffles=200, power=False)


@pytest.mark.parametrize("templates", TEMPLATES)
def test_96_to_0_is_marked_and_fails_every_kind_of_gate(templates):
    old = result({"broken": BEFORE, "fine": [1] * CASES}, templates)
    new = result({"broken": AFTER, "fine": [1] * CASES}, templates)
    marked = [row for row in compare([old], [new], QUICK).by("functionality") if row.significant]
    assert [(row.name, row.is_better) for row in marked] == [("broken", False)]
    for rule in RULES:
        verdicts = {verdict.name: verdict.status for verdict in judge([rule], new, old)}
        assert verdicts["broken"] == "failed", rule
        assert verdicts.get("fine", "met") == "met", rule


def test_96_to_0_in_one_of_23_functionalities_is_marked_with_two_runs_a_side():
    rng = np.random.default_rng(0)

    def run(**rates):
        return result({name: (rng.random(81) < rate).astype(int).tolist() for name, rate in rates.items()})

    rest = {f"f{number}": 0.8 for number in range(22)}
    before, after = ([run(broken=rate, **rest) for _ in range(2)] for rate in (0.96, 0.0))
    comparison = compare(before, after, QUICK)
    assert [row.name for row in comparison.by("functionality") if row.significant] == ["broken"]


@pytest.mark.slow
@pytest.mark.parametrize("templates", [1, 3, 81])
def test_96_to_0_through_the_commands(shoal: Callable[..., Any], tmp_path: Path, templates: int) -> None:
    rows = [
        {
            **row,
            "labels": row["case_id"] % 2,
            "cluster": f"{row['functionality']} {row['case_id'] % templates}",
        }
        for row in rows_of({"broken": CASES, "fine": CASES})
    ]
    suite = write_suite(tmp_path / "suite.jsonl", rows)
    models = []
    for name, hits in (("old", BEFORE), ("new", AFTER)):
        pairs = zip(rows, [*hits, *[1] * CASES], strict=True)
        said = [row["labels"] if hit else 1 - row["labels"] for row, hit in pairs]
        models.append(write_answers(tmp_path / f"{name}.jsonl", rows, said))
    compared = shoal("compare", *models, "--set", f"suite={suite}")
    line = next(line for line in compared.stdout.splitlines() if line.startswith("▼  broken"))
    assert line.split()[1:5] == ["broken", "96.3", "0.0", "−96.3"]
    gate = tmp_path / "gate.toml"
    for rule in RULES:
        group, limit = rule.groups["functionality"], f"{rule.kind} = {rule.limit}"
        gate.write_text(f'[[rule]]\nfunctionality = "{group}"\n{limit}\njudge = "{rule.judge}"\n')
        done = shoal("gate", models[1], "--baseline", models[0], "--rules", gate, "--set", f"suite={suite}")
        assert done.exit_code == 3, done.output
        assert "✗" in done.stdout


HITS = st.lists(st.sampled_from([0, 1, None]), min_size=40, max_size=40)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(HITS, HITS, st.lists(st.integers(0, 39), min_size=40, max_size=40))
def test_templates_change_no_interval_no_mark_and_no_verdict(before, after, owners):
    hits = [{"f": before, "g": [1, 0] * 20}, {"f": after, "g": [1] * 40}]
    one, many = (
        [result(side, {name: [f"t{owner}" for owner in names] for name in side}) for side in hits]
        for names in ([0] * 40, owners)
    )
    plain = [result(side) for side in hits]
    for sides in (one, many):
        for side, without in zip(sides, plain, strict=True):
            assert [row.interval for row in side.measures] == [row.interval for row in without.measures]
        assert compare(sides[:1], sides[1:], QUICK).rows == compare(plain[:1], plain[1:], QUICK).rows
        for rule in (rule for rule in RULES if rule.is_family):
            statuses = [
                [(verdict.name, verdict.status) for verdict in judge([rule], pair[1], pair[0])]
                for pair in (sides, plain)
            ]
            assert statuses[0] == statuses[1]


@pytest.mark.slow
def test_a_20_point_drop_in_81_cases_is_marked_in_most_draws_and_equal_models_hardly_ever():
    rng, found, alarms = np.random.default_rng(0), 0, 0
    names = [f"f{number}" for number in range(6)]
    for _ in range(20):
        old = {name: (rng.random(CASES) < 0.9).astype(int) for name in names}
        new = dict(old, f3=old["f3"] * (rng.random(CASES) >= 0.2 / 0.9))
        sides = [result({name: hits.tolist() for name, hits in side.items()}, 3) for side in (old, new)]
        marks = [
            row.name for row in compare(sides[:1], sides[1:], QUICK).by("functionality") if row.significant
        ]
        found += "f3" in marks
        alarms += bool(set(marks) - {"f3"})
    assert found >= 16 and alarms <= 2
