"""Two recipes, and runs over their training (7.3; Figure 2)."""

import numpy as np
import pytest
from bias_results import compare, crows_results, printed, seat_results, sections, settings

from shoal.core.errors import PlanError
from shoal.protocols import bias
from shoal.render.tables import tables_of
from shoal.runs.plan import make_plan


def difference(results):
    """The difference of all pairs, and its p value."""
    rows = compare(results)
    return tuple(
        next(row for row in rows.where(name) if row.groups.get("of") and row.groups["category"] == "all")
        for name in ("difference between recipes", "p value")
    )


# Two recipes


def made(rng, runs, preference=0.0, spread=0.3, pairs=60):
    """Pairs with a leaning of their own, checkpoints with one of theirs."""
    leaning = rng.normal(size=(pairs, 1))
    return (
        leaning,
        lambda: leaning + preference + rng.normal(0, spread, (1, runs)) + rng.normal(size=(pairs, runs)),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runs", "spread"),
    [(3, 0.4), *(pytest.param(*case, marks=pytest.mark.nightly) for case in ((2, 0.4), (5, 0.0)))],
)
def test_equal_recipes_are_called_different_in_no_more_than_one_of_twenty(runs, spread):
    rng, trials, alarms, covered = np.random.default_rng(runs), 60, 0, 0
    for _ in range(trials):
        _, draw = made(rng, runs, spread=spread)
        row, p = difference([*crows_results(draw(), "base"), *crows_results(draw(), "large")])
        alarms += p.value <= 0.05
        low, high = row.interval or (np.nan, np.nan)
        covered += low <= 0 <= high
    assert alarms / trials <= 0.05 + 2 * (0.05 * 0.95 / trials) ** 0.5
    assert covered == trials - alarms


def test_a_recipe_that_prefers_more_is_found_and_its_difference_is_that_of_the_scores():
    rng = np.random.default_rng(1)
    leaning = rng.normal(size=(300, 1))
    base = leaning + rng.normal(size=(300, 5))
    large = leaning + 1.0 + rng.normal(size=(300, 4))
    results = [*crows_results(large, "large"), *crows_results(base, "base")]
    row, _ = difference(results)
    scores = [[result.measures.where("stereotype score", category="all")[0].value for result in side]
              for side in (results[:4], results[4:])]  # fmt: skip
    assert row.value == pytest.approx(np.mean(scores[0]) - np.mean(scores[1]))
    adjusted = compare(results).where("adjusted p value", category="all")[0]
    assert row.groups["recipe"] == "large and base" and adjusted.value < 0.01
    text = printed(sections(results))
    assert "crows between recipes" in text and "4 and 5 checkpoints" in text
    assert "large − base" in text and "between_recipes" in tables_of(sections(results))


def test_effect_sizes_of_two_recipes_are_compared_over_checkpoints_as_welch_does():
    from scipy.stats import ttest_ind

    first, second = [0.5, 0.7, 0.9, 1.1], [0.1, 0.0, 0.3, 0.6]
    sides = zip(("base", "large"), (first, second), strict=True)
    rows = compare(
        [one for group, values in sides for one in seat_results({"w": values}, {"w": [0.2] * 4}, group)]
    )
    (row,) = rows.where("difference between recipes", of="effect size")
    (p,) = rows.where("p value", of="effect size")
    assert row.value == pytest.approx(np.mean(first) - np.mean(second))
    assert p.value == pytest.approx(ttest_ind(first, second, equal_var=False).pvalue, abs=1e-6)


# Over training


def over_training():
    rng = np.random.default_rng(4)
    leaning = rng.normal(size=(80, 1))
    moments = {1000: 0.0, 2000: 0.5, 3000: 1.5}
    return [
        result
        for step, preference in moments.items()
        for result in crows_results(leaning + preference + rng.normal(size=(80, 3)), "base", step=step)
    ]


def test_checkpoints_of_a_group_with_steps_are_curves_and_only_the_last_step_is_the_recipe():
    results = over_training()
    ends = compare(results).where("mean over checkpoints", of="stereotype score", category="all")
    assert [row.groups.get("step") for row in ends] == [None, "1000", "2000"]
    final = [result.measures.where("stereotype score", category="all")[0].value for result in results[6:]]
    assert ends[0].value == pytest.approx(np.mean(final)) and ends[0].note.startswith("3 checkpoints")
    (_, _, recipe) = bias.compare(settings(), results).findings
    assert "3 checkpoints: too few" in recipe.text  # not nine
    assert "stereotype score over training" in printed(sections(results))
    lines = tables_of(sections(results))["over_checkpoints"].splitlines()
    place = lines[0].split(",").index("step")
    assert {line.split(",")[place] for line in lines[1:]} == {"", "1000", "2000"}


def test_half_done_a_run_that_has_not_reached_its_last_step_is_left_out():
    results = [result for result in over_training() if (result.job["step"], result.job["run"]) != (3000, 2)]
    ends = compare(results).where("mean over checkpoints", of="stereotype score", category="all")
    assert [row.note[:13] for row in ends] == ["2 checkpoints"] * 3


def group(**table):
    return make_plan({"groups": {"base": table}, "bias": {"data": "example"}}).groups["base"]


def test_a_group_names_the_step_and_the_run_of_each_checkpoint():
    models = ["hf:s0-1k", "hf:s0-2k", "hf:s1-1k", "hf:s1-2k"]
    checkpoints = group(models=models, steps=[1000, 2000, 1000, 2000], seeds=[0, 0, 1, 1])
    assert checkpoints.place_of("hf:s1-1k") == {"step": 1000, "run": 1}


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"models": ["hf:a", "hf:b"], "steps": [1, 2]}, "steps without seeds"),
        (
            {"models": ["hf:a", "hf:b", "hf:c"], "steps": [1, 2000, 1], "seeds": [0, 0, 1]},
            r"seed 1 ends at step 1, another at 2,000[\s\S]*or leave that training out",
        ),
        ({"models": ["hf:a", "hf:a"]}, "twice in"),
    ],
)
def test_a_group_that_cannot_be_meant_is_refused(table, words):
    with pytest.raises(PlanError, match=words):
        group(**table)
