"""How large a comparison must be: the sizes that are named find what they promise."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shoal import Case, Measures, Outcome, Result
from shoal.comparing.pairs import Choices, compare
from shoal.comparing.sizing import Group, Pilot, _PairsWorld, make_pilot, plan_size
from shoal.errors import DataError, PlanError
from shoal.protocols.behaviour.score import measure
from shoal.stats.power import sign_test_power

Make = Callable[..., Result]


def pair(make: Make, worse: int, better: int, same: int) -> tuple[Result, Result]:
    """Two models on one functionality: so many cases that only A passes, only B, and both."""
    return (
        make({"f": [1] * worse + [0] * better + [1] * same}),
        make({"f": [0] * worse + [1] * better + [1] * same}),
    )


@pytest.mark.parametrize(("changed", "difference"), [(20, 0.1), (30, 0.2), (6, 0.12)])
def test_the_cases_named_have_the_power_asked_for(make: Make, changed: int, difference: float) -> None:
    """Independent cases: the power of the exact test is known without simulation."""
    a, b = pair(make, changed // 2, changed - changed // 2, 100 - changed)
    pilot = make_pilot([a], [b], row="f", adjust=False)
    sizing = plan_size(pilot, difference, np.random.default_rng(0), simulations=250)
    assert sizing.by_cases is not None
    discordance = max(changed / 100, difference)
    exactly = sign_test_power(sizing.by_cases.cases, discordance, difference)
    assert exactly == pytest.approx(
        0.8, abs=0.05
    )  # within the error of the simulation, one size in ten apart
    assert sizing.as_pilot.power == pytest.approx(sign_test_power(100, discordance, difference), abs=0.08)


def test_one_model_and_the_share_that_will_differ_are_enough(make: Make) -> None:
    pilot = make_pilot([make({"f": [1] * 80 + [0] * 20})], row="f", differing=0.2, adjust=False)
    sizing = plan_size(pilot, 0.1, np.random.default_rng(0), simulations=400)
    assert sizing.by_cases is not None
    assert sign_test_power(sizing.by_cases.cases, 0.2, 0.1) == pytest.approx(0.8, abs=0.05)


def templated(changes: np.ndarray, size: int) -> tuple[Result, Result]:
    """Templates whose cases all go alike; B passes those that changed for the better (1), fails the others (-1)."""
    number = len(changes)
    a = np.arange(number) % 2 == 0
    b = np.where(changes > 0, True, np.where(changes < 0, False, a))
    a = np.where(changes > 0, False, np.where(changes < 0, True, a))
    groups = {"functionality": "f", "capability": "c", "test type": "MFT"}
    made = [Case(f"f/{n}", ((f"text {n}",),), None, groups, f"t{n // size}") for n in range(number * size)]
    sides = []
    for passes in (a, b):
        outcomes = [Outcome(case.id, bool(passes[n // size])) for n, case in enumerate(made)]
        sides.append(Result({"model": "m"}, made, outcomes, Measures(measure(made, outcomes))))
    return sides[0], sides[1]


@pytest.mark.slow
def test_templates_count_and_not_their_cases() -> None:
    rng = np.random.default_rng(1)
    a, b = templated(np.repeat([1, -1, 0], [5, 5, 30]), 10)
    sizing = plan_size(make_pilot([a], [b], row="f", adjust=False), 0.2, rng, simulations=300)
    assert sizing.by_cases is not None and sizing.by_cases.clusters * 10 == sizing.by_cases.cases
    found = 0
    for _ in range(100):
        changes = rng.choice([1, -1, 0], size=sizing.by_cases.clusters, p=[0.225, 0.025, 0.75])
        a, b = templated(changes, 10)
        row = compare([a], [b], Choices(could_see=False)).by("functionality")[0]
        found += row.p is not None and row.p <= 0.05
    assert found / 100 == pytest.approx(0.8, abs=0.12)


@pytest.mark.slow
def test_seeds_are_bought_where_cases_do_not_help(make: Make) -> None:
    rng = np.random.default_rng(2)

    def runs(number: int, rate: float, spread: float) -> list[Result]:
        chances = [np.clip(rate + rng.normal(0, spread), 0, 1) for _ in range(number)]
        return [make({"f": (rng.random(200) < chance).astype(int).tolist()}) for chance in chances]

    shaky = plan_size(make_pilot(runs(4, 0.7, 0.1), row="f", adjust=False), 0.1, rng, simulations=80)
    assert shaky.by_cases is None
    assert shaky.by_seeds is not None and shaky.by_seeds.seeds > 4
    assert shaky.run_sd == pytest.approx(0.1, abs=0.08)
    calm = plan_size(make_pilot(runs(4, 0.7, 0.0), row="f", adjust=False), 0.1, rng, simulations=80)
    assert calm.by_seeds is not None and calm.by_seeds.seeds < shaky.by_seeds.seeds


@pytest.mark.slow
def test_the_seeds_named_have_the_power_asked_for(make: Make) -> None:
    rng, spread = np.random.default_rng(3), 0.04

    def runs(number: int, rate: float) -> list[Result]:
        chances = [np.clip(rate + rng.normal(0, spread), 0, 1) for _ in range(number)]
        return [make({"f": (rng.random(150) < chance).astype(int).tolist()}) for chance in chances]

    pilot = make_pilot(runs(25, 0.7), row="f", adjust=False)  # many, so that the spread is known
    sizing = plan_size(pilot, 0.12, rng, simulations=100)
    assert sizing.by_seeds is not None and sizing.run_sd == pytest.approx(spread, abs=0.02)
    seeds, found = sizing.by_seeds.seeds, 0
    for _ in range(50):
        row = compare(runs(seeds, 0.7), runs(seeds, 0.58), Choices(could_see=False)).by("functionality")[0]
        found += row.p is not None and row.p <= 0.05
    assert found / 50 == pytest.approx(sizing.by_seeds.power, abs=0.2)  # the spread is known to a seventh


@pytest.mark.slow
def test_few_runs_leave_open_how_far_runs_vary_and_ask_for_more(make: Make) -> None:
    runs = [make({"f": [1] * passes + [0] * (60 - passes)}) for passes in (37, 42, 47)]
    few, many = (
        plan_size(make_pilot(pilot, row="f", adjust=False), 0.2, np.random.default_rng(0), simulations=60)
        for pilot in (runs, 6 * runs)
    )
    assert many.by_seeds is not None
    assert (few.by_seeds.seeds if few.by_seeds else 41) > many.by_seeds.seeds + 2


def test_a_row_of_many_is_asked_at_its_stricter_level(make: Make) -> None:
    a, b = pair(make, 10, 10, 80)
    alone = plan_size(
        make_pilot([a], [b], row="f", adjust=False), 0.1, np.random.default_rng(0), simulations=200
    )
    among = plan_size(make_pilot([a], [b], row="f"), 0.1, np.random.default_rng(0), simulations=200)
    assert among.level == pytest.approx(alone.level / 4) and among.by_cases and alone.by_cases
    assert among.by_cases.cases > alone.by_cases.cases


def test_a_row_of_very_many_can_be_found_too(make: Make) -> None:
    """The level of the strictest of sixty rows is below what a thousand sampled flips can show."""
    a, b = (
        make({f"f{number}": [1, 0][:: 1 if side else -1] * 10 for number in range(60)})
        for side in (False, True)
    )
    sizing = plan_size(make_pilot([a], [b]), 0.4, np.random.default_rng(0), simulations=5)
    assert sizing.level < 0.001 and sizing.as_pilot.power == 1


@pytest.mark.parametrize(
    ("sizes", "differ"), [([1] * 4, 4), ([20] * 3 + [2] * 17, 3), ([1] * 3 + [10] * 17, 3)]
)
def test_the_difference_that_is_planted_is_the_one_asked_for(sizes: list[int], differ: int) -> None:
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    first = (clusters % 2).astype(float)
    second = np.where(clusters < differ, 1 - first, first)
    pilot = Pilot("x", "x", [Group("g", first[:, None], second[:, None], clusters)])
    rng, planted = np.random.default_rng(0), []
    for _ in range(60):
        sides, _ = _PairsWorld(pilot, 0.2).drawn([2_000], 1, rng)
        planted.append(float((sides.hits[1] - sides.hits[0]).mean()))
    assert np.mean(planted) == pytest.approx(0.2, abs=0.015)


def test_a_mean_over_groups_grows_group_by_group(make: Make) -> None:
    a = make({"f": [1, 0] * 10, "g": [1] * 38 + [0] * 2})
    b = make({"f": [0, 1] * 10, "g": [1] * 36 + [0] * 4})
    sizing = plan_size(make_pilot([a], [b], adjust=False), 0.1, np.random.default_rng(0), simulations=100)
    assert sizing.pilot.name == "suite score" and sizing.by_cases is not None
    assert sizing.by_cases.cases % 3 == pytest.approx(0, abs=2)


def test_what_is_no_pilot_is_refused(make: Make) -> None:
    a, b = pair(make, 2, 2, 20)
    with pytest.raises(PlanError, match="one model does not say on how many cases two would differ"):
        make_pilot([a])
    with pytest.raises(PlanError, match="one run against several"):
        make_pilot([a], [b, b])
    with pytest.raises(PlanError, match="no row 'g'"):
        make_pilot([a], [b], row="g")
    with pytest.raises(DataError, match="is no pilot"):
        make_pilot([replace(a, outcomes=())], [b])
    pilot = make_pilot([a], [b])
    for difference, power, words in ((0.0, 0.8, "a difference of 0"), (0.1, 1.0, "a power of 1")):
        with pytest.raises(PlanError, match=words):
            plan_size(pilot, difference, np.random.default_rng(0), power)
    with pytest.raises(PlanError, match="cannot be planted"):
        plan_size(make_pilot([a, b], [b, a]), 0.97, np.random.default_rng(0))


def test_the_command_answers_in_a_sentence_and_as_json(
    shoal: Callable[..., Any], suite: Path, predicting: Callable[..., str]
) -> None:
    old, new = predicting("old", good=4), predicting("new", good=2, bad=3)
    arguments = [
        "plan-size",
        old,
        new,
        "--set",
        f"suite={suite}",
        "--difference",
        "0.2",
        "--simulations",
        "60",
    ]
    text = " ".join(shoal(*arguments, "--adjust", "none").output.split())
    assert "suite score, a difference of 20.0 points" in text
    assert "A comparison as large as the pilot finds it in" in text and "To find it in 80 %: about" in text
    done = json.loads(shoal(*arguments, "--json").stdout)
    needed = [row for row in done["measures"] if row["name"] == "cases needed"]
    assert needed[0]["value"] > 10 and needed[0]["facts"]["power"] == 0.8
    assert shoal(*arguments, "--json").stdout == shoal(*arguments, "--json").stdout
    alone = shoal("plan-size", old, "--set", f"suite={suite}", "--difference", "0.2")
    assert alone.exit_code == 1 and "--differing 0.1" in alone.output
    assert shoal("plan-size", "--difference", "0.2").exit_code == 2
