"""Families of models that a plan makes: what each is trained on, what they share, and that they can be ranked."""

import csv

import pytest
from click.testing import CliRunner

from shoal import RunStore, ShoalError, audit, load_model, read_plan
from shoal.cli import main
from shoal.core.errors import PlanError
from shoal.protocols import ranking
from shoal.protocols.ranking import inoculate
from shoal.protocols.ranking.build import build, population_of
from shoal.protocols.ranking.settings import Dose, Settings, Train
from shoal.runs.plan import check_plan
from shoal.runs.scoring import compare_results, result_of, results_by_protocol
from shoal.runs.tasks import tasks_of

L, S = "signals:MORPH:linguistic", "signals:MORPH:surface"
AMBIGUOUS = "signals:MORPH:ambiguous"
MODEL = "tiny:classifier"


def family(**train) -> Settings:
    return Settings(data=(L,), train=Train(**{"on": AMBIGUOUS, "out": {"L": L, "S": S}, **train}))


def stages_of(settings, model=MODEL):
    recipes = [inoculate.recipe(part, model) for part in ranking.parts(settings)]
    return [recipe.stages for recipe in recipes if recipe]


# What is trained on


def test_shares_of_the_new_domain_take_the_place_of_as_many_examples():
    settings = family(doses=(Dose(), Dose({"L": 0.02, "S": 0.01})))
    none, mixed = ranking.parts(settings)
    lessons = inoculate.training_data(mixed)

    def mixture(part: Settings, seed: int):
        assert part.train is not None
        return inoculate.mixture(part.train, part.train.doses[0], lessons, seed=seed)

    known = [set(rows) for rows in (lessons.on, lessons.out["L"], lessons.out["S"])]
    counts = [[sum(row in rows for row in mixture(part, 0)) for rows in known] for part in (none, mixed)]
    assert counts == [[3000, 0, 0], [2910, 60, 30]]
    assert mixture(mixed, 0) != mixture(mixed, 1)


def test_nothing_that_models_are_ranked_by_is_trained_on(tmp_path):
    asked = {case.examples[0] for case in build(family()).cases}
    lessons = inoculate.training_data(family())
    assert asked.isdisjoint(row.texts for row in (*lessons.on, *lessons.out["L"], *lessons.out["S"]))
    write(tmp_path / "asked.csv", [("a fine film", "yes"), ("a dull film", "no")])
    write(tmp_path / "train.csv", [("a fine film", "yes"), ("a good play", "yes"), ("a poor play", "no")])
    train = Train(on=str(tmp_path / "train.csv"))
    lessons = inoculate.training_data(Settings(data=(str(tmp_path / "asked.csv"),), train=train))
    assert [row.texts for row in lessons.on] == [("a good play",), ("a poor play",)]


def test_steps_and_later_mixtures_come_behind_the_training_that_all_share():
    settings = family(
        doses=(Dose(), Dose(steps={"L": 3}), Dose({"L": 0.02}, later=True, epochs=2.0), Dose({"L": 0.02}))
    )
    none, steps, later, mixed = stages_of(settings)
    assert [len(stages) for stages in (none, steps, later, mixed)] == [1, 2, 2, 1]
    assert none[0].identity == steps[0].identity == later[0].identity != mixed[0].identity
    assert (none[0].steps, steps[1].steps, later[1].steps) == (282, 3, 188)  # 3 epochs of 94, 3, 2 of 94
    assert later[1].identity["data"] == mixed[0].identity["data"]
    assert [stages[-1].title for stages in (none, steps, later, mixed)] == [
        "none", "3 steps L", "2% L later 2 epochs", "2% L",
    ]  # fmt: skip


def test_a_model_that_knows_the_old_domain_keeps_its_head_and_sees_the_doses_only(tmp_path):
    """As the study inoculates a model of MNLI: 0 and 5 steps of HANS, the first of which is the model itself."""
    rows = [
        (f"{word} film {number}", label)
        for number in range(8)
        for word, label in (("good", "positive"), ("bad", "negative"))
    ]
    write(tmp_path / "asked.csv", rows[:8])
    write(tmp_path / "new.csv", rows[8:])
    settings = Settings(
        data=(str(tmp_path / "asked.csv"),),
        train=Train(
            on="", out={"new": str(tmp_path / "new.csv")}, doses=(Dose(), Dose(steps={"new": 5})), warm_up=500
        ),
    )
    none, dosed = (inoculate.recipe(part, "tiny:sentiment") for part in ranking.parts(settings))
    assert none is None and dosed is not None
    assert [(stage.title, stage.steps) for stage in dosed.stages] == [("5 steps new", 5)]
    example = [("a good film",)]
    plain, base = load_model("tiny:sentiment"), dosed.base(0)
    before = plain.classify(example, ("negative", "positive")).probabilities
    assert base.classify(example, ("negative", "positive")).probabilities == pytest.approx(before, abs=1e-6)
    with pytest.raises(PlanError, match="2% new is mixed into nothing"):
        Train(on="", out={"new": "new.csv"}, doses=(Dose({"new": 0.02}),))


def write(path, rows):
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([("text", "label"), *rows])


# Through a plan

PLAN = """
models = ["tiny:classifier"]
{seeds}
[ranking]
data = ["new.csv"]
population = 12
explainers = ["lime"]
samples = {{lime = 30}}
factors = ["ACC", "IRREG"]
probe_sizes = [5]
probe_sets = 50

[ranking.train]
on = "old.csv"
out = {{L = "first.csv", S = "last.csv"}}
doses = [{{}}, {{steps = {{L = 30}}}}, {{steps = {{S = 30}}}}]
epochs = 20
batch = 8
learning_rate = 0.003
"""
FILLERS = ["bread", "cloud", "river", "stone", "table", "house"]


@pytest.fixture
def old_and_new(tmp_path, monkeypatch):
    """In the old domain the first and the last word say the same; in the new one the first decides, or the last."""
    monkeypatch.chdir(tmp_path)

    def texts(last, seed):
        return [
            (f"{'red' if yes else 'blue'} {one} {two} and {other} {'up' if last(yes) else 'down'}", yes)
            for one in FILLERS
            for two, other in zip(FILLERS[seed:], FILLERS[::-1], strict=False)
            for yes in (True, False)
        ]

    def told(rows, by_first=True):
        return [(text, "yes" if yes == by_first else "no") for text, yes in rows]

    write(tmp_path / "old.csv", told(texts(lambda yes: yes, 0)))
    write(tmp_path / "first.csv", told(texts(lambda yes: not yes, 0)))
    write(tmp_path / "last.csv", told(texts(lambda yes: not yes, 0), by_first=False))
    asked = [(text.replace("and", "or"), label) for text, label in told(texts(lambda yes: not yes, 1))]
    with (tmp_path / "new.csv").open("w", newline="") as stream:
        rows = [(text, label, text.split()[0]) for text, label in asked]
        csv.writer(stream).writerows([("text", "label", "feature"), *rows])
    return tmp_path


@pytest.mark.slow
def test_a_plan_makes_a_family_of_models_and_ranks_it(old_and_new):
    """Planted: who is shown that the first word decides does best in the new domain, who is shown the last, worst."""
    (old_and_new / "plan.toml").write_text(PLAN.format(seeds=""))
    plan = read_plan(old_and_new / "plan.toml")
    jobs, store = check_plan(plan), RunStore(old_and_new / "runs")
    assert len([task for task in tasks_of(jobs, store) if task.stage is not None]) == 1
    done = CliRunner().invoke(main, ["run", "plan.toml", "--into", "runs"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    (compared,) = compare_results(plan, results_by_protocol(plan, jobs, store)).values()
    rates = {row.groups["model"]: row.value or 0.0 for row in compared.measures if row.name == "accuracy"}
    assert rates["30 steps L"] >= rates["none"] > rates["30 steps S"] + 0.2
    few_shot = [row for row in compared.measures if row.name == "few-shot accuracy"]
    by_factor = {row.groups["factor"]: row.value or 0.0 for row in few_shot}
    assert by_factor["IRREG (lime)"] > 0.6
    first = result_of(jobs[0], store)
    explained = [number for number in first.columns["IRREG (lime)"] if number is not None]
    assert len(explained) == 12 < len(first.cases)
    again = CliRunner().invoke(main, ["run", "plan.toml", "--into", "runs"], catch_exceptions=False)
    assert "3 done, 0 to run" in again.output


def test_words_are_explained_of_the_population_alone_and_everybody_draws_the_same():
    cases = build(Settings(data=(L,))).cases
    chosen = population_of(cases, 50)
    assert len(chosen) == len(set(chosen)) == 50 and chosen != list(range(50))
    turned = population_of(cases[::-1], 50)
    assert {cases[place].id for place in chosen} == {cases[::-1][place].id for place in turned}
    assert population_of(cases, 0) == population_of(cases, 5000) == list(range(len(cases)))


# What cannot be


@pytest.mark.parametrize(
    ("train", "message"),
    [
        ({"doses": [{"mixed": {"X": 0.02}}]}, "unknown data 'X'"),
        ({"doses": [{"mixed": {"L": 0.6, "S": 0.6}}]}, "exceed 1"),
        ({"on": "sentiment"}, "label 'negative' is not one of"),
    ],
)
def test_a_family_that_cannot_be_is_refused_with_a_remedy(train, message):
    given = {"on": AMBIGUOUS, "out": {"L": L, "S": S}, **train}
    with pytest.raises(ShoalError, match=message) as problem:
        audit("ranking", MODEL, data=[L], train=given)
    assert "try: " in str(problem.value)


def test_models_that_cannot_be_trained_and_values_from_two_sources_are_refused(tmp_path):
    with pytest.raises(ShoalError, match="cannot be trained"):
        inoculate.recipe(family(), "python:math:sqrt")
    with pytest.raises(ShoalError, match="leave classes out"):
        inoculate.recipe(Settings(data=(L,), classes={"no": ("a", "b")}, train=Train()), MODEL)
    with pytest.raises(ShoalError, match="has no weights yet"):
        audit("ranking", MODEL, data=[L])
