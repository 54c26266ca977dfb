"""`plan-size`: the size it names has the power it promises."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from shoal import Result
from shoal.comparing.pairs import compare
from shoal.comparing.power import plan_size
from shoal.core.errors import DataError, PlanError
from shoal.stats.power import sign_test_power

Make = Callable[..., Result]


def pair(make: Make, changes: dict[str, Sequence[int]]) -> tuple[Result, Result]:
    """Return two models; a change of -1 is a case that only A passes, 1 one that only B passes."""
    a, b = (
        {name: [int(change != side) for change in own] for name, own in changes.items()} for side in (1, -1)
    )
    return make(a), make(b)


def test_the_size_named_is_the_smallest_with_the_power_of_the_exact_test(make: Make) -> None:
    plan = plan_size(make({"f": [1] * 100}), None, 0.1, differing=0.2, row="f")
    assert plan.needed is not None
    assert sign_test_power(plan.needed, 0.2, 0.1) >= 0.8 > sign_test_power(plan.needed - 2, 0.2, 0.1)
    assert plan.pilot_power == pytest.approx(sign_test_power(100, 0.2, 0.1))


@pytest.mark.parametrize("changes", [[-1] * 3 + [0] * 77, [-1] * 12 + [1] * 4 + [0] * 64])
def test_for_the_minimum_detectable_drop_of_compare_it_names_the_pilots_size(
    make: Make, changes: list[int]
) -> None:
    a, b = pair(make, {"f": changes})
    detectable = compare([a], [b]).by("functionality")[0].mde
    assert detectable is not None
    assert plan_size(a, b, detectable, row="f").needed == pytest.approx(80, abs=2)


def test_a_row_is_planned_at_the_level_of_its_table(make: Make) -> None:
    a, b = pair(make, {f"f{number}": [-1, 1] * 5 + [0] * 40 for number in range(10)})
    single = pair(make, {"f0": [-1, 1] * 5 + [0] * 40})
    alone, among = (plan_size(*sides, 0.2, row="f0") for sides in (single, (a, b)))
    assert (alone.level, among.level) == (0.05, 0.005)
    assert alone.needed is not None and among.needed is not None and among.needed > alone.needed


def test_a_pilot_that_cannot_be_planned_from_is_an_error(make: Make) -> None:
    a, b = pair(make, {"f": [-1, 1, 0, 0] * 5})
    with pytest.raises(PlanError, match="one model does not show how often two differ"):
        plan_size(a, None, 0.1)
    with pytest.raises(PlanError, match="too small for this drop"):
        plan_size(a, None, 0.1, differing=0.05)
    with pytest.raises(PlanError, match="no row 'g' in the comparison"):
        plan_size(a, b, 0.1, row="g")
    for drop in (-0.1, float("nan")):
        with pytest.raises(PlanError, match="difference"):
            plan_size(a, b, drop)
    empty = make({"f": [None] * 20})
    for sides, drop in (((empty, empty), 0.1), ((a, b), 0.0)):
        with pytest.raises(DataError, match="compare cannot detect a drop"):
            plan_size(*sides, drop)


def test_the_command_answers_in_its_first_line_and_as_json(
    shoal: Callable[..., Any], suite: Path, predicting: Callable[..., str]
) -> None:
    old, new = predicting("old", good=4), predicting("new", good=2, bad=3)
    arguments = ("plan-size", old, new, "--set", f"suite={suite}", "--difference", "0.2")
    text = " ".join(shoal(*arguments).output.split())
    assert text.startswith("To detect a drop of 20.0 points in suite score with 80 % power you need ")
    assert "The pilot has 40 (power " in text
    measures = json.loads(shoal(*arguments, "--json").stdout)["measures"]
    assert {row["name"] for row in measures} == {"power", "cases needed"}
    alone = shoal("plan-size", old, "--set", f"suite={suite}", "--difference", "0.2")
    assert alone.exit_code == 1 and "--differing 0.1" in alone.output
    assert shoal("plan-size", "--difference", "0.2").exit_code == 2
