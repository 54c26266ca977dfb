"""Recipes beside each other, runs over their training, graded preferences (7.3, 7.6; Figure 2)."""

import io
from dataclasses import asdict

import numpy as np
import pytest
from rich.console import Console

from shoal.core.errors import PlanError
from shoal.core.records import Answer, Case, Measure, Measures, Result
from shoal.protocols import bias
from shoal.protocols.base import Built
from shoal.protocols.bias.graded import fit_temperature
from shoal.protocols.bias.stereoset import sentence_score
from shoal.render.csv_tables import tables_of
from shoal.render.terminal import print_sections
from shoal.runs.plan import make_plan
from shoal.runs.settings import make_settings


def settings(**given):
    return make_settings(bias.Settings, {"data": "example", **given}, "test")


def crows(differences, group, **job):
    """Results of checkpoints in which each pair has this difference of scores: (pairs, checkpoints)."""
    chosen = settings()
    groups = {"diagnostic": "crows", "category": "age", "direction": "stereo"}
    cases = [Case(str(number), (("a",), ("b",)), None, groups) for number in range(len(differences))]
    results = []
    for run, column in enumerate(np.asarray(differences).T.tolist()):
        answers = [[Answer("", "tokens", {"score": score}) for score in (value, 0.0)] for value in column]
        scored = bias.score(chosen, Built(cases, None, "tokens"), {"": answers})
        about = {"model": f"{group}{run}{job}", "settings": asdict(chosen), "group": group, "run": run, **job}
        results.append(Result(about, cases, scored.outcomes, Measures(scored.measures), dict(scored.columns)))
    return results


def printed(results, together):
    console = Console(record=True, width=110, file=io.StringIO())
    sections = bias.view(settings(), results, together.measures, together.findings)
    print_sections(sections, console)
    return console.export_text(), tables_of(sections)


# Two recipes


def made(rng, runs, preference=0.0, spread=0.3, pairs=60):
    """Pairs with a leaning of their own, checkpoints with one of theirs."""
    leaning = rng.normal(size=(pairs, 1))
    return (
        leaning,
        lambda: leaning + preference + rng.normal(0, spread, (1, runs)) + rng.normal(size=(pairs, runs)),
    )


@pytest.mark.parametrize(("runs", "spread"), [(2, 0.4), (3, 0.4), (5, 0.0)])
def test_equal_recipes_are_called_different_in_no_more_than_one_of_twenty(runs, spread):
    rng, trials, alarms, covered = np.random.default_rng(runs), 60, 0, 0
    for _ in range(trials):
        _, draw = made(rng, runs, spread=spread)
        (row,) = {
            row.groups["category"]: row
            for row in bias.compare(settings(), [*crows(draw(), "base"), *crows(draw(), "large")]).measures
            if row.name == "difference between recipes" and row.groups["category"] == "all"
        }.values()
        alarms += row.facts["p"] <= 0.05
        low, high = row.interval or (np.nan, np.nan)
        covered += low <= 0 <= high
    assert alarms / trials <= 0.05 + 2 * (0.05 * 0.95 / trials) ** 0.5
    assert covered == trials - alarms


def test_a_recipe_that_prefers_more_is_found_and_its_difference_is_that_of_the_scores():
    rng = np.random.default_rng(1)
    leaning = rng.normal(size=(300, 1))
    base = leaning + rng.normal(size=(300, 5))
    large = leaning + 1.0 + rng.normal(size=(300, 4))
    results = [*crows(large, "large"), *crows(base, "base")]
    together = bias.compare(settings(), results)
    rows = Measures(together.measures).where("difference between recipes", category="all")
    (row,) = rows
    scores = [[result.measures.where("stereotype score", category="all")[0].value for result in side]
              for side in (results[:4], results[4:])]  # fmt: skip
    assert row.value == pytest.approx(np.mean(scores[0]) - np.mean(scores[1]))
    assert row.groups["recipe"] == "large and base" and row.facts["adjusted p"] < 0.01
    text, tables = printed(results, together)
    assert "crows between recipes" in text and "4 and 5 checkpoints" in text
    assert "large − base" in text
    head, line, *_ = tables["between_recipes"].splitlines()
    assert head.startswith("test,task,category,representation,recipes,score,less,difference")
    assert "large and base,stereotype score,large − base" in line


def test_one_checkpoint_a_side_is_no_comparison_of_recipes():
    rng = np.random.default_rng(2)
    results = [*crows(rng.normal(size=(20, 1)), "base"), *crows(rng.normal(size=(20, 3)), "large")]
    assert not [row for row in bias.compare(settings(), results).measures if "between recipes" in row.name]


def seat(effects, group):
    """Results of checkpoints with these effect sizes."""
    chosen = settings(diagnostic="seat")
    results = []
    for run, effect in enumerate(effects):
        groups = {"diagnostic": "seat", "test": "weat6", "representation": "cls"}
        rows = [Measure("effect size", effect, 16, groups), Measure("p value", 0.2, 16, groups)]
        about = {"model": f"{group}{run}", "settings": asdict(chosen), "group": group}
        results.append(Result(about, [], [], Measures(rows)))
    return results


def test_effect_sizes_of_two_recipes_are_compared_over_checkpoints_as_welch_does():
    from scipy.stats import ttest_ind

    first, second = [0.5, 0.7, 0.9, 1.1], [0.1, 0.0, 0.3, 0.6]
    measures = Measures(bias.compare(settings(), [*seat(first, "base"), *seat(second, "large")]).measures)
    (row,) = measures.where("difference of effect sizes")
    assert row.value == pytest.approx(np.mean(first) - np.mean(second))
    assert row.facts["p"] == pytest.approx(ttest_ind(first, second, equal_var=False).pvalue, abs=1e-6)


# Over training


def over_training():
    rng = np.random.default_rng(4)
    leaning = rng.normal(size=(80, 1))
    moments = {1000: 0.0, 2000: 0.5, 3000: 1.5}
    return [
        result
        for step, preference in moments.items()
        for result in crows(leaning + preference + rng.normal(size=(80, 3)), "base", step=step)
    ]


def test_checkpoints_of_a_group_with_steps_are_curves_and_only_the_last_step_is_the_recipe():
    results = over_training()
    together = bias.compare(settings(), results)
    measures = Measures(together.measures)
    ends = [row for row in measures.where("mean over checkpoints", of="stereotype score", category="all")]
    assert [row.groups.get("step") for row in ends] == [None, "1000", "2000"]
    final = [result.measures.where("stereotype score", category="all")[0].value for result in results[6:]]
    assert ends[0].value == pytest.approx(np.mean(final)) and ends[0].facts["checkpoints"] == 3
    (limits,) = [finding for finding in together.findings if "diagnostic" not in finding.groups]
    assert limits.facts["checkpoints"] == 3  # not nine
    text, tables = printed(results, together)
    assert "stereotype score over training" in text
    lines = tables["over_training"].splitlines()
    columns = lines[0].split(",")
    steps = [line.split(",")[columns.index("step")] for line in lines[1:]]
    assert set(steps) == {"1000", "2000", "3000"}


def test_half_done_a_run_that_has_not_reached_its_last_step_is_left_out():
    results = [result for result in over_training() if (result.job["step"], result.job["run"]) != (3000, 2)]
    measures = Measures(bias.compare(settings(), results).measures)
    ends = measures.where("mean over checkpoints", of="stereotype score", category="all")
    assert [row.facts["checkpoints"] for row in ends] == [2, 2, 2]


def group(**table):
    return make_plan({"groups": {"base": table}, "bias": {"data": "example"}}).groups["base"]


def test_a_group_names_the_step_and_the_run_of_each_checkpoint():
    models = ["hf:s0-1k", "hf:s0-2k", "hf:s1-1k", "hf:s1-2k"]
    checkpoints = group(models=models, steps=[1000, 2000, 1000, 2000], seeds=[0, 0, 1, 1])
    assert checkpoints.place_of("hf:s1-1k") == {"step": 1000, "run": 1}


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"models": ["hf:a", "hf:b"], "steps": [1]}, "a whole number for each of the 2 models"),
        ({"models": ["hf:a", "hf:b"], "steps": [1, 2]}, "steps without seeds"),
        ({"models": ["hf:a", "hf:b"], "steps": [1, 1], "seeds": [0, 0]}, "two models with one seed and step"),
        ({"models": ["hf:a", "hf:b"], "seeds": [0, 0]}, "two models with one seed and step"),
        (
            {"models": ["hf:a", "hf:b", "hf:c"], "steps": [1, 2000, 1], "seeds": [0, 0, 1]},
            r"seed 1 ends at step 1, another at 2,000[\s\S]*or leave that training out",
        ),
        ({"models": ["hf:a"], "step": [1]}, "unknown key 'step'"),
        ({"models": ["hf:a", "hf:a"]}, "twice in"),
        ({"models": []}, "a list of model specs"),
    ],
)
def test_a_group_that_cannot_be_meant_is_refused(table, words):
    with pytest.raises(PlanError, match=words):
        group(**table)


# Graded preference


def test_the_temperature_is_that_at_which_others_predict_a_checkpoint_best():
    rng = np.random.default_rng(5)
    differences = rng.normal(size=(400, 1)) + rng.normal(size=(400, 5))
    fitted = fit_temperature(differences)
    assert fitted is not None
    scaled = fit_temperature(10 * differences)
    assert scaled is not None and scaled.value == pytest.approx(10 * fitted.value, rel=1e-3)
    from shoal.protocols.bias.graded import _loss

    grid = [_loss(differences, fitted.value * factor) for factor in (0.25, 0.5, 0.8, 1.25, 2, 4)]
    assert fitted.loss <= min(grid) and fitted.loss < np.log(2)


def test_checkpoints_that_toss_coins_cost_as_much_as_a_coin():
    rng = np.random.default_rng(6)
    fitted = fit_temperature(rng.normal(size=(2000, 5)))
    assert fitted is not None and fitted.loss == pytest.approx(np.log(2), abs=0.005)


def test_the_graded_score_spreads_less_than_the_binary_one_where_items_are_coin_tosses():
    rng = np.random.default_rng(7)
    sure = np.concatenate([np.full((60, 5), 4.0), np.full((40, 5), -4.0)])
    coins = rng.normal(0, 0.05, size=(100, 5))
    measures = Measures(bias.compare(settings(), crows(np.concatenate([sure, coins]), "base")).measures)
    binary, graded = (
        measures.where("sd over checkpoints", of=name, category="all")[0].value
        for name in ("stereotype score", "graded preference")
    )
    assert graded is not None and binary is not None and graded < binary / 5
    (mean,) = measures.where("mean over checkpoints", of="graded preference", category="all")
    assert mean.value == pytest.approx((60 + 50) / 200, abs=0.01)


def test_one_checkpoint_has_no_temperature():
    assert fit_temperature(np.ones((5, 1))) is None and fit_temperature(np.zeros((5, 3))) is None


# Profiles


def test_the_paper_takes_the_product_of_pieces():
    data = {"lm": "filler", "tokens": ["a", "b"], "scores": [np.log(0.5), np.log(0.1)]}
    assert sentence_score(settings(), data) == pytest.approx(0.3)
    assert sentence_score(settings(profile="reference"), data) == pytest.approx(0.3)
    assert sentence_score(settings(profile="paper"), data) == pytest.approx(np.log(0.05))
    assert sentence_score(settings(profile="paper", pieces="mean"), data) == pytest.approx(0.3)


# Before and after


def mitigated(before, after):
    """Checkpoints and what was made of each."""
    old = crows(before, "base")
    new = crows(after, "debiased")
    made = [
        Result(
            {**result.job, "before": "base", "before model": old[run].job["model"]}, result.cases, result.outcomes,
            result.measures, result.columns,
        )
        for run, result in enumerate(new)
    ]  # fmt: skip
    return [*old, *made]


def difference(results):
    together = bias.compare(settings(), results)
    (row,) = [
        row
        for row in together.measures
        if row.name == "difference between recipes" and row.groups["category"] == "all"
    ]
    return row, together


def test_each_checkpoint_is_held_against_what_it_was_made_of():
    rng = np.random.default_rng(4)
    before = rng.normal(size=(150, 1)) + rng.normal(0, 0.6, (1, 4)) + rng.normal(0, 0.2, (150, 4))
    after = before - 0.4
    results = mitigated(before, after)
    row, together = difference(results)
    shares = [(table > 0).mean(axis=0) for table in (before, after)]
    assert row.value == pytest.approx((shares[1] - shares[0]).mean())
    assert row.groups["recipe"] == "base to debiased"
    assert row.facts["means"] == {
        "base": pytest.approx(shares[0].mean()),
        "debiased": pytest.approx(shares[1].mean()),
    }
    # Checkpoints differ widely, what was done to them does not: only as pairs do they tell.
    unpaired, _ = difference([*results[:4], *crows(after, "debiased")])
    assert np.subtract(*reversed(row.interval)) < np.subtract(*reversed(unpaired.interval))
    assert row.facts["p"] < 0.05 < unpaired.facts["p"]
    # In whatever order the plan has them, and the jobs are done.
    again, _ = difference([*results[4:][::-1], *results[:4]])
    assert again.value == pytest.approx(row.value) and again.interval == pytest.approx(row.interval)
    text, files = printed(results, together)
    assert "crows before and after" in text and "4 pairs of checkpoints" in text
    assert "base to debiased" in files["between_recipes"] and "debiased − base" in text


def test_mitigation_that_does_nothing_is_called_something_in_no_more_than_one_of_twenty():
    rng, trials, alarms = np.random.default_rng(5), 60, 0
    for _ in range(trials):
        before = rng.normal(size=(60, 1)) + rng.normal(0, 0.4, (1, 3)) + rng.normal(size=(60, 3))
        row, _ = difference(mitigated(before, before + rng.normal(0, 0.3, (1, 3)) + rng.normal(size=(60, 3))))
        alarms += row.facts["p"] <= 0.05
    assert alarms / trials <= 0.05 + 2 * (0.05 * 0.95 / trials) ** 0.5


def test_one_model_and_its_copy_are_one_pair_for_new_items_only():
    rng = np.random.default_rng(6)
    before = rng.normal(size=(200, 1))
    row, together = difference(mitigated(before, before - 0.6))
    assert row.interval is not None and row.interval_method == "t over items" and row.facts["p"] < 0.01
    text, _ = printed(mitigated(before, before - 0.6), together)
    assert "for no other checkpoint" in " ".join(text.split())


def test_a_group_made_of_another_names_it_and_has_as_many():
    table = {"bias": {"data": "example"}}
    base = {"base": ["hf:a", "hf:b"]}
    after: dict[str, object] = {"models": ["hf:c", "hf:d"], "before": "base"}
    plan = make_plan({**table, "groups": {**base, "debiased": after}})
    assert plan.group_of("hf:d") == {"group": "debiased", "before": "base", "before model": "hf:b"}
    for wrong, remedy in (
        ({"before": "basis"}, 'try: "base"'),
        ({"before": "debiased"}, 'try: "base"'),
        ({"models": ["hf:c"]}, "base has 2: as many in both"),
        ({"before": 3}, "the name of another group"),
    ):
        with pytest.raises(PlanError, match=rf"before = [\s\S]*{remedy}"):
            make_plan({**table, "groups": {**base, "debiased": {**after, **wrong}}})
