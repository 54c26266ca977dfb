"""Every value of `docs/method/beyond.md`, of `beluga.md` 1.13-1.14 and of worked_examples.json."""

import json
from pathlib import Path
from typing import Any

import pytest

from shoal.stats.intervals import (
    wilson,
)
from shoal.stats.multiplicity import holm
from shoal.stats.paired import (
    generalization_score,
    sign_test,
)
from shoal.stats.power import sign_test_power

EXAMPLES = Path(__file__).parents[1] / "papers" / "tables" / "worked_examples.json"


def example(name: str) -> dict[str, Any]:
    examples: list[dict[str, Any]] = json.loads(EXAMPLES.read_text())["examples"]
    return next(entry for entry in examples if entry["id"] == name)


def test_generalization_score() -> None:
    for case in example("beluga.G")["cases"]:
        assert generalization_score(case["s_T"], case["s_iid"]) == pytest.approx(case["out"], abs=1e-9)


def test_sign_test() -> None:
    for case in example("beluga.sign_test")["cases"]:
        assert sign_test(case["b"], case["c"]) == pytest.approx(case["p"], rel=1e-12)


def test_wilson() -> None:
    for passes, n, low, high in example("beyond.wilson")["cases"]:
        assert wilson(passes, n) == pytest.approx((low, high), abs=1e-5)


def test_holm() -> None:
    expected = example("beyond.holm_bh")
    assert holm(expected["p"]) == pytest.approx(expected["holm"])


def test_minimum_detectable_effects() -> None:
    """The closed formula is the normal approximation's; the exact test needs a little more, never less."""
    cases = [tuple(case) for case in example("beyond.mde_paired")["cases"]]
    against_half = {60: 0.177, 87: 0.148, 105: 0.135, 262: 0.086, 516: 0.062, 1508: 0.036}
    cases += [(n, 1.0, 2 * by_formula) for n, by_formula in against_half.items()]
    for n, discordance, by_formula in cases:
        assert 0.7 < sign_test_power(n, discordance, by_formula) < 0.81
        assert sign_test_power(n, discordance, min(1.0, 1.1 * by_formula)) > 0.8
