"""A gate that looks at every commit: how often it errs over all looks, and what it keeps of them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shoal import Measure, Measures, Result
from shoal.comparing.judge import judge
from shoal.comparing.looks import look, write_looks
from shoal.comparing.rules import Rule
from shoal.errors import DataError, PlanError
from shoal.stats.sequential import look_limit, worse_e_value

Make = Callable[..., Result]
NOT_WORSE = Rule(no_worse_than_baseline_by=0.0, judge="anytime")


def hits(rng: np.random.Generator, chances: Any) -> dict[str, list[int]]:
    return {"f": (rng.random(len(chances)) < chances).astype(int).tolist()}


@pytest.mark.slow
def test_over_many_looks_good_models_rarely_fail(make: Make) -> None:
    """Every commit is as good as the baseline; with an ordinary gate most histories have a false alarm."""
    rng, alarms, ordinary = np.random.default_rng(0), 0, 0
    each = Rule({"functionality": "f"}, no_worse_than_baseline_by=0.0, judge="upper bound")
    for _ in range(12):
        chances = rng.choice([0.1, 0.5, 0.9], size=60)
        baseline = make(hits(rng, chances))
        commits = [make(hits(rng, chances)) for _ in range(15)]
        alarms += any(
            not all(verdict.is_met for verdict in judge([NOT_WORSE], commit, baseline, number))
            for number, commit in enumerate(commits, start=1)
        )
        ordinary += any(not judge([each], commit, baseline)[0].is_met for commit in commits)
    assert alarms <= 2 and ordinary > alarms  # 5 % of 12 is 0.6


def test_a_commit_that_breaks_something_fails_and_its_repair_passes(make: Make) -> None:
    baseline, broken = make({"f": [1] * 40}), make({"f": [0] * 30 + [1] * 10})
    (bad,) = judge([NOT_WORSE], broken, baseline, 50)
    assert bad.status == "failed" and f"fails at {look_limit(50):,.0f}: look 50" in bad.reason
    assert f"e = {worse_e_value(0, 30):.3g}" in bad.reason
    (repaired,) = judge([NOT_WORSE], baseline, baseline, 51)
    assert repaired.status == "met"


def test_the_same_evidence_fails_early_and_not_late(make: Make) -> None:
    baseline, worse = make({"f": [1] * 40}), make({"f": [0] * 10 + [1] * 30})
    assert [judge([NOT_WORSE], worse, baseline, number)[0].status for number in (1, 100)] == ["failed", "met"]


def test_of_many_at_once_each_is_asked_more(make: Make) -> None:
    names = [f"f{number}" for number in range(10)]
    baseline = make({name: [1] * 30 for name in names})
    worse = make(
        {name: [0] * (12 if name == "f3" else 0) + [1] * (18 if name == "f3" else 30) for name in names}
    )
    rule = Rule({"functionality": "*"}, no_worse_than_baseline_by=0.0, judge="anytime")
    verdicts = judge([rule], worse, baseline, 1)
    assert [verdict.name for verdict in verdicts if not verdict.is_met] == ["f3"]
    assert all("fails at 400: look 1, 10 at once" in verdict.reason for verdict in verdicts)


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        (Rule(at_least=0.8, judge="anytime"), 0.9, 0.3),
        (Rule(at_most=0.8, judge="anytime"), 0.6, 1.0),
        (Rule(no_worse_than_baseline_by=0.1, judge="anytime"), 0.75, 0.3),
    ],
)
def test_limits_of_every_kind_fail_on_evidence_only(make: Make, rule: Rule, good: float, bad: float) -> None:
    def passing(share: float) -> Result:
        return make({name: [1] * round(60 * share) + [0] * (60 - round(60 * share)) for name in ("f", "g")})

    baseline = passing(0.8)
    assert judge([rule], passing(good), baseline, 1)[0].status == "met"
    assert judge([rule], passing(bad), baseline, 1)[0].status == "failed"


def test_a_mean_over_functionalities_at_its_limit_has_an_e_value_of_one_at_most(make: Make) -> None:
    """Through the gate: the e-values of many models at the limit, averaged."""
    rng, values = np.random.default_rng(3), []
    for _ in range(150):
        passes = {
            "f": (rng.random(6) < 0.9).astype(int).tolist(),
            "g": (rng.random(20) < 0.5).astype(int).tolist(),
        }
        (verdict,) = judge([Rule(at_least=0.7, judge="anytime")], make(passes), look=1)
        values.append(float(verdict.reason.split()[2].rstrip(",")))
    assert np.mean(values) < 1 + 2 * np.std(values) / np.sqrt(len(values))


def test_looks_are_counted_once_a_result_and_begin_anew_with_a_baseline(make: Make, tmp_path: Path) -> None:
    path = tmp_path / "looks.json"
    first, second, baseline = make({"f": [1, 0, 1]}), make({"f": [1, 1, 1]}), make({"f": [0, 0, 1]})
    numbers = []
    for result in (first, second, first):
        number, looks = look(path, result, baseline)
        write_looks(path, looks)
        numbers.append(number)
    assert numbers == [1, 2, 1] and len(json.loads(path.read_text())["looks"]) == 2
    assert look(path, first, second)[0] == 1


def test_what_cannot_be_looked_at_again_is_refused(make: Make, tmp_path: Path) -> None:
    result = make({"f": [1, 0, 1]})
    with pytest.raises(PlanError, match="the looks must be counted"):
        judge([NOT_WORSE], result, result)
    rates = Result(
        {}, (), (), Measures([Measure("suite score", 0.5, 3, facts={"mean over": "functionality"})])
    )
    with pytest.raises(DataError, match="without outcomes cannot be looked at"):
        look(tmp_path / "looks.json", rates, None)
    (tmp_path / "other.json").write_text("[1]")
    with pytest.raises(DataError, match="not a file of looks"):
        look(tmp_path / "other.json", result, None)


def test_the_command_keeps_count(
    shoal: Callable[..., Any], suite: Path, predicting: Callable[..., str], tmp_path: Path
) -> None:
    rules, looks = tmp_path / "gate.toml", tmp_path / "looks.json"
    rules.write_text('[[rule]]\nno_worse_than_baseline_by = 0.0\njudge = "anytime"\n')
    base = predicting("base", good=1)
    arguments = ["gate", "MODEL", "--set", f"suite={suite}", "--rules", rules, "--baseline", base]

    def gate(model: str, *more: object) -> Any:
        return shoal(*(model if argument == "MODEL" else argument for argument in arguments), *more)

    assert "the looks must be counted" in gate(base).output
    assert gate(base, "--looks", looks).exit_code == 0
    assert "look 2" in gate(predicting("same", good=2), "--looks", looks).output
    broken = gate(predicting("broken", good=20, bad=20), "--looks", looks)
    assert broken.exit_code == 3 and "look 3" in broken.output
    assert gate(base, "--looks", looks).exit_code == 0
    assert len(json.loads(looks.read_text())["looks"]) == 3
