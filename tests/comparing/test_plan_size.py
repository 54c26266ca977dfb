"""`plan-size`: the size it names has the power it promises."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator

from shoal import Result
from shoal.comparing.pairs import Choices, compare
from shoal.comparing.power import plan_size
from shoal.core.errors import DataError, PlanError
from shoal.stats.power import sign_test_power

Make = Callable[..., Result]
AS_USUAL = Choices(power=False)


def pair(make: Make, changes: dict[str, Sequence[int]]) -> tuple[Result, Result]:
    """Return two models; a change of -1 is a case that only A passes, 1 one that only B passes."""
    a, b = (
        {name: [int(change != side) for change in own] for name, own in changes.items()} for side in (1, -1)
    )
    return make(a), make(b)


def drawn(
    make: Make, sizes: dict[str, int], churn: float, drop: float, rng: Generator
) -> tuple[Result, Result]:
    """Return a pair in which each case newly fails with the chance `drop`, and a share of `churn` changes anyway."""
    shares = [churn / 2 + drop, churn / 2, 1 - churn - drop]
    return pair(make, {name: rng.choice([-1, 1, 0], size, p=shares) for name, size in sizes.items()})


def test_the_size_named_is_the_smallest_with_the_power_of_the_exact_test(make: Make) -> None:
    plan = plan_size(make({"f": [1] * 100}), None, 0.1, differing=0.2, row="f")
    assert plan.needed is not None
    assert sign_test_power(plan.needed, 0.2, 0.1) >= 0.8 > sign_test_power(plan.needed - 2, 0.2, 0.1)
    assert plan.powers[100] == pytest.approx(sign_test_power(100, 0.2, 0.1))


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


def one_model(folder: Path, sizes: dict[str, int]) -> tuple[str, str]:
    """Write a suite and a model that is right everywhere; return the model's spec and the suite's setting."""
    keys = [(name, at) for name, size in sizes.items() for at in range(size)]
    groups = {"capability": "c", "type": "MFT", "labels": 1}
    cases = [
        {"functionality": name, "case_id": at, "examples": [{"text": f"{name} {at}"}], **groups}
        for name, at in keys
    ]
    header = {"suite": "toy", "label_names": ["negative", "positive"]}
    answers = [{"functionality": name, "case_id": at, "pred": 1, "conf": 0.9} for name, at in keys]
    for name, rows in (("suite", [header, *cases]), ("answers", answers)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return f"predictions:{folder / 'answers.jsonl'}", f"suite={folder / 'suite.jsonl'}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "churn"),
    [
        ({"f": 100}, 0.0),
        pytest.param({"f": 100}, 0.15, marks=pytest.mark.nightly),
        pytest.param({"f": 20, "g": 80}, 0.0, marks=pytest.mark.nightly),
        pytest.param({"f": 20, "g": 80}, 0.15, marks=pytest.mark.nightly),
    ],
)
def test_the_size_named_keeps_its_promise_and_the_level(
    make: Make, shoal: Callable[..., Any], tmp_path: Path, sizes: dict[str, int], churn: float
) -> None:
    rng, repetitions, drop = np.random.default_rng(1), 300, 0.1
    model, suite = one_model(tmp_path, sizes)
    options = ("--difference", drop, "--differing", churn + drop, "--json")
    done = json.loads(shoal("plan-size", model, "--set", suite, *options).stdout)
    (needed,) = [row["value"] for row in done["measures"] if row["name"] == "cases needed"]
    larger = {name: round(needed / 100 * size) for name, size in sizes.items()}

    def detected(size_of_drop: float) -> float:
        pairs = (drawn(make, larger, churn, size_of_drop, rng) for _ in range(repetitions))
        return float(np.mean([compare([a], [b], AS_USUAL).headline.significant for a, b in pairs]))

    assert detected(drop) == pytest.approx(0.8, abs=0.07)  # three standard errors
    assert detected(0.0) <= 0.05 + 0.04


def test_a_pilot_that_cannot_be_planned_from_is_an_error(make: Make) -> None:
    a, b = pair(make, {"f": [-1, 1, 0, 0] * 5})
    with pytest.raises(PlanError, match="one model does not show how often two differ"):
        plan_size(a, None, 0.1)
    with pytest.raises(PlanError, match="compare has no row 'g'"):
        plan_size(a, b, 0.1, row="g")
    for drop, power in ((0.0, 0.8), (0.1, 1.0), (float("nan"), 0.8)):
        with pytest.raises(PlanError, match="difference"):
            plan_size(a, b, drop, power)
    empty = make({"f": [None] * 20})
    with pytest.raises(DataError, match="compare cannot detect a drop"):
        plan_size(empty, empty, 0.1)


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
