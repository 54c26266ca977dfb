"""Two recipes, and runs over their training (7.3; Figure 2)."""

import numpy as np
import pytest
from bias_results import compare, crows_results, printed, sections, settings

from shoal.comparing.pairs import compare as side_by_side
from shoal.core.errors import PlanError
from shoal.protocols import bias
from shoal.render.tables import tables_of
from shoal.runs.plan import make_plan


def test_a_recipe_that_prefers_more_is_found_by_compare():
    rng = np.random.default_rng(1)
    leaning = rng.normal(size=(300, 1))
    base = crows_results(leaning + rng.normal(size=(300, 5)), "base")
    large = crows_results(leaning + 1.0 + rng.normal(size=(300, 4)), "large")
    row = side_by_side(base, large).headline
    means = [
        np.mean([result.measures.where("stereotype score", category="all")[0].value for result in side])
        for side in (base, large)
    ]
    assert row.difference == pytest.approx(means[1] - means[0]) and row.p is not None and row.p < 0.01


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
    assert (checkpoints.steps, checkpoints.seeds) == ((1000, 2000, 1000, 2000), (0, 0, 1, 1))


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"models": ["hf:a", "hf:b"], "steps": [1, 2]}, "seeds say which models belong to the same"),
        (
            {"models": ["hf:a", "hf:b", "hf:c"], "steps": [1, 2000, 1], "seeds": [0, 0, 1]},
            r"the trainings end at different steps: 1, 2,000[\s\S]*or leave those trainings out",
        ),
        ({"models": ["hf:a", "hf:a"]}, "twice in"),
    ],
)
def test_a_group_that_cannot_be_meant_is_refused(table, words):
    with pytest.raises(PlanError, match=words):
        group(**table)
