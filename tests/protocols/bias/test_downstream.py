"""Table 2: checkpoints that are fine-tuned by the plan, whether they are alike, and whether diagnostics follow them."""

import math
from typing import Any

import numpy as np
import pytest
from bias_results import compare, crows_results, letters, printed, sections, settings

torch = pytest.importorskip("torch", reason="needs shoal[hf]")
pytest.importorskip("transformers", reason="needs shoal[hf]")

from scipy import stats as scipy_stats  # noqa: E402

from shoal.core.errors import DataError, PlanError  # noqa: E402
from shoal.core.records import Measure, Measures, Outcome, Result  # noqa: E402
from shoal.protocols import bias  # noqa: E402
from shoal.protocols.bias import training  # noqa: E402
from shoal.render.csv_tables import tables_of  # noqa: E402
from shoal.runs.executors import run_here  # noqa: E402
from shoal.runs.plan import check_plan, make_plan  # noqa: E402
from shoal.runs.scoring import compare_jobs, results_of  # noqa: E402
from shoal.runs.store import RunStore  # noqa: E402
from shoal.stats import reliability  # noqa: E402

GOOD, BAD = ("he is a nurse .", "she is a teacher ."), ("ants are things .", "the roses are here .")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A task of single texts that can be learnt from one word, and one of pairs."""
    folder = tmp_path_factory.mktemp("tasks")
    words = [(text, "yes") for text in GOOD] + [(text, "no") for text in BAD]
    rows = [(f"{text} {tail} .", label) for tail in ("black", "white", "thin") for text, label in words]
    pairs = [(a, b, "same" if x == y else "other") for a, x in words for b, y in words]
    write(folder / "train.tsv", [("text", "label"), *rows * 12])
    write(folder / "test.tsv", [("text", "label"), *((f"{text} asian .", label) for text, label in words)])
    write(folder / "pairs.tsv", [("premise", "hypothesis", "label"), *pairs])
    write(
        folder / "pairs-test.tsv",
        [("premise", "hypothesis", "label"), *((f"{a} fox .", b, y) for a, b, y in pairs)],
    )
    return folder


def write(path, rows):
    path.write_text("".join("\t".join(row) + "\n" for row in rows))


def words(files, **more):
    return {
        "name": "words", "train": str(files / "train.tsv"), "test": str(files / "test.tsv"), "batch": 8,
        "learning_rate": 3e-3, **more,
    }  # fmt: skip


def pairs(files, **more):
    files = {"train": str(files / "pairs.tsv"), "test": str(files / "pairs-test.tsv")}
    return {"name": "pairs", **files, "epochs": 1, "learning_rate": 1e-3, **more}


# Jobs


def test_a_task_is_a_job_of_its_own_and_changes_no_other(files):
    alone = bias.parts(settings(diagnostic=["crows", "seat"]))
    jobs = bias.parts(settings(diagnostic=["crows", "seat"], tasks=[words(files), pairs(files)]))
    assert jobs[: len(alone)] == alone
    assert [bias.title(job) for job in jobs[len(alone) :]] == ["downstream-words", "downstream-pairs"]
    assert [bias.parts(job) for job in jobs] == [[job] for job in jobs]


def test_what_is_tested_on_is_not_trained_on(files, tmp_path):
    text = (files / "train.tsv").read_text()
    (tmp_path / "both.tsv").write_text(text + "he is a nurse . asian .\tyes\n" * 2)
    data = training.read_task(settings(tasks=[words(files, train=str(tmp_path / "both.tsv"))]).tasks[0])
    assert data.removed == 2
    assert not {row.texts for row in data.train} & {row.texts for row in data.test}


@pytest.mark.parametrize(
    ("change", "problem", "message"),
    [
        ({"train": "no.tsv"}, PlanError, "'no.tsv' is not a file"),
        ({"test": ""}, PlanError, "no test file"),
        ({"train": "pairs"}, DataError, "does not occur in the training rows"),
    ],
)
def test_wrong_tasks_are_refused(files, change, problem, message):
    if change.get("train") == "pairs":
        change = {"test": str(files / "other.tsv")}
        write(files / "other.tsv", [("text", "label"), ("a b c", "never")])
    with pytest.raises(problem, match=message):
        bias.build(bias.parts(settings(diagnostic=[], tasks=[words(files, **change)]))[0])


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([{"name": "words", "test": "test.tsv"}], r"tasks.0: no train[\s\S]*try: train = "),
        ([{"train": "train.tsv"}], "tasks.0: no name"),
        ({"name": "words", "train": "train.tsv"}, r"\[\[bias\.tasks\]\]"),
    ],
)
def test_tables_of_tasks_that_lack_something_are_told_what(tasks, message):
    with pytest.raises(PlanError, match=message):
        settings(tasks=tasks)


def test_two_tasks_of_one_name_and_models_without_weights_are_refused(files):
    with pytest.raises(PlanError, match="two tasks are called 'words'"):
        bias.parts(settings(tasks=[words(files), words(files)]))
    with pytest.raises(PlanError, match="cannot be fine-tuned"):
        bias.recipe(bias.parts(settings(diagnostic=[], tasks=[words(files)]))[0], "predictions:a.csv")


# Training


def test_given_checkpoints_are_fine_tuned_as_by_hand_and_stand_in_table_2(files, save, tmp_path):
    from shoal.models import load_model
    from shoal.training.config import TrainConfig
    from shoal.training.environments import Environment, Labelled
    from shoal.training.loop import train
    from shoal.training.methods import make_method

    folders = [save("BertForMaskedLM", initializer_range=0.02 * (1 + number)) for number in range(3)]
    plan = make_plan(
        {
            "groups": {"base": [f"hf:{folder}" for folder in folders]},
            "bias": {
                "diagnostic": "crows",
                "data": "example",
                "limit": 20,
                "tasks": [words(files), pairs(files)],
            },
        }
    )
    jobs = check_plan(plan)
    store = RunStore(tmp_path / "runs")
    assert [problem for _, problem in run_here(jobs, store)] == [None] * 9
    results = results_of(plan, jobs, store, "bias")
    compared = compare_jobs(plan, jobs, store)["bias"]
    rows = Measures(compared.measures)

    model = load_model(f"hf:{folders[0]}").with_fresh_head(("no", "yes"), 0)
    lines = [line.split("\t") for line in (files / "train.tsv").read_text().splitlines()[1:]]
    items = [Labelled((text,), (float(label == "no"), float(label == "yes"))) for text, label in lines]
    how = TrainConfig(3e-3, 8, 3, weight_decay=0.01, warm_up=0.1)
    torch.set_num_threads(1)
    train(model, [Environment("x", "iid", items)], make_method("vanilla", {}), how, 0)
    asked = [line.split("\t") for line in (files / "test.tsv").read_text().splitlines()[1:]]
    said = model.classify([(text,) for text, _ in asked], ("no", "yes"))
    by_hand = [said.labels[code] == label for code, (_, label) in zip(said.predictions, asked, strict=True)]
    (ours,) = [
        result for result in results
        if result.job["model"] == f"hf:{folders[0]}" and result.cases[0].groups == {"task": "words"}
    ]  # fmt: skip
    assert [outcome.passed for outcome in ours.outcomes] == by_hand
    assert ours.measures.where("downstream score")[0].value == pytest.approx(np.mean(by_hand))
    assert np.mean(by_hand) == 1.0  # one word decides

    for task in ("words", "pairs"):
        scores = [
            row.value or 0.0
            for result in results
            for row in result.measures.where("downstream score", task=task)[:1]
        ]
        (mean,) = rows.where("mean over checkpoints", of="downstream score", task=task)
        assert mean.value == pytest.approx(np.mean(scores)) and mean.note.startswith("3 checkpoints")
    # All of four right is no proof that they would be alike on others.
    (pairwise,) = rows.where("p value", test="pairwise equivalence", task="words")
    assert pairwise.verdict == "not shown to be equivalent"
    files_of = tables_of(bias.view(plan.tables["bias"], results, compared.measures, compared.findings))
    assert {"downstream", "checkpoints", "over_checkpoints"} <= set(files_of)
    assert [problem for _, problem in run_here(jobs, store)] == [None] * 9  # nothing to do again


def test_models_made_here_share_their_pretraining_with_their_diagnostics(files, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("".join(f"{line}\n" for line in (*GOOD, *BAD)) * 20)
    table = {
        "models": ["tiny:masked"],
        "seeds": [0, 1],
        "bias": {
            "diagnostic": "crows", "data": "example", "limit": 10,
            "pretrain": {"text": str(text), "epochs": 1, "width": 16, "vocabulary": 90},
            "tasks": [words(files, epochs=1), pairs(files)],
        },
    }  # fmt: skip
    plan = make_plan(table)
    jobs = check_plan(plan)
    store = RunStore(tmp_path / "runs")
    assert [problem for _, problem in run_here(jobs, store)] == [None] * len(jobs)
    assert len(jobs) == 6
    assert (
        len(list((store.folder / "checkpoints").glob("*.safetensors"))) == 2
    )  # one pre-training for each seed
    # The encoder that is fine-tuned is the one that was pre-trained, not the one that was drawn.
    (job, *_) = [job for job in jobs if job.settings.tasks and job.settings.seed == 0]
    recipe = bias.recipe(job.settings, job.model)
    assert recipe is not None
    model = recipe.base(0)
    recipe.stages[0].train(model, 0, lambda *_: None, lambda _: None)
    pretrained = model.network("masked").base_model.embeddings.word_embeddings.weight.detach().clone()
    head = model.checkpoint.with_fresh_head(("no", "yes"), 0)
    assert torch.equal(head.base_model.embeddings.word_embeddings.weight, pretrained)


def test_two_tests_of_one_training_share_it_behind_a_pretraining(files, tmp_path):
    """The second finds weights of a head that the model did not have when it was pre-trained."""
    text = tmp_path / "text.txt"
    text.write_text("".join(f"{line}\n" for line in (*GOOD, *BAD)) * 20)
    other = tmp_path / "other.tsv"
    write(other, [("text", "label"), *((f"{line} black fox .", "yes") for line in GOOD), ("ants .", "no")])
    of_words = words(files, epochs=1)
    table = {
        "models": ["tiny:masked"],
        "bias": {
            "diagnostic": [], "data": "example",
            "pretrain": {"text": str(text), "epochs": 1, "width": 16, "vocabulary": 90},
            "tasks": [of_words, {**of_words, "name": "other", "test": str(other)}],
        },
    }  # fmt: skip
    jobs = [job for job in check_plan(make_plan(table)) if job.settings.tasks]
    store = RunStore(tmp_path / "runs")
    assert [problem for _, problem in run_here(jobs, store)] == [None, None]


# Statistics


def result(right, score, number, recipe="base", **job):
    """A checkpoint that gets these examples right, and its stereotype score."""
    about = {"model": f"{recipe}{number}", "group": recipe, "run": number, **job}
    n, value = len(right), float(np.mean(right))
    row = Measure("downstream score", value, n, {"task": "sst2"})
    of_task = Result(
        {**about, "settings": {"diagnostic": [], "seed": 0}}, [],
        [Outcome(str(at), bool(one)) for at, one in enumerate(right)], Measures([row]),
    )  # fmt: skip
    row = Measure("stereotype score", score, 10, {"diagnostic": "crows", "category": "all"})
    of_crows = Result({**about, "settings": {"diagnostic": ["crows"], "seed": 0}}, [], [], Measures([row]))
    return [of_task, of_crows]


def test_the_correlation_with_downstream_is_pearsons_with_fishers_interval():
    rng = np.random.default_rng(0)
    right = [rng.random(200) < 0.8 for _ in range(6)]
    scores = rng.random(6).tolist()
    rows = compare([one for number in range(6) for one in result(right[number], scores[number], number)])
    (row,) = rows.where("correlation with downstream", downstream="sst2")
    expected = scipy_stats.pearsonr([np.mean(one) for one in right], scores)
    assert row.value == pytest.approx(expected.statistic)
    assert row.interval == pytest.approx(tuple(expected.confidence_interval()))
    assert row.n == 6


@pytest.mark.nightly
def test_fishers_interval_holds_the_truth_for_five_checkpoints():
    rng, held, trials = np.random.default_rng(1), 0, 2_000
    for _ in range(trials):
        x = rng.normal(size=5)
        y = 0.6 * x + 0.8 * rng.normal(size=5)
        _, (low, high) = reliability.correlation(x, y)
        held += low <= 0.6 <= high
    assert held / trials == pytest.approx(0.95, abs=3 * math.sqrt(0.95 * 0.05 / trials))


def test_every_pair_must_be_alike_not_only_the_mean():
    rng = np.random.default_rng(2)
    base = rng.random(20_000) < 0.9
    flips = [base ^ (rng.random(20_000) < 0.005) for _ in range(4)]
    alike = compare([one for number in range(4) for one in result(flips[number], 0.5, number)])
    (row,) = alike.where("p value", test="pairwise equivalence")
    assert row.verdict == "equivalent" and row.value < 0.05
    worse = flips[3] & (rng.random(20_000) < 0.97)
    rows = compare(
        [one for number, right in enumerate([*flips[:3], worse]) for one in result(right, 0.5, number)]
    )
    (row,) = rows.where("p value", test="pairwise equivalence")
    assert row.verdict != "equivalent" and row.value > 0.5


@pytest.mark.nightly
def test_a_paired_equivalence_at_the_margin_is_claimed_in_one_of_twenty():
    rng, claimed, trials = np.random.default_rng(3), 0, 1_000
    for _ in range(trials):
        draw = rng.random(2_000)
        first, second = draw < 0.9, (draw < 0.88) | (draw > 0.99)  # exactly 1 point apart
        claimed += reliability.tost_items(first, second, 0.01).equivalent
    assert claimed / trials <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / trials)


def test_before_and_after_are_held_against_each_other_in_pairs_downstream_too():
    rng = np.random.default_rng(5)
    results: list[Result] = []
    scores: dict[str, Any] = {"base": [], "debiased": []}
    for number in range(4):
        level = rng.uniform(0.6, 0.9)  # checkpoints differ widely, what was done to them does not
        for recipe, loss in (("base", 0.0), ("debiased", 0.001)):
            right = np.arange(4_000) < round(4_000 * (level - loss))
            made = {"before": "base", "before model": f"base{number}"} if loss else {}
            results += result(right, 0.5, number, recipe, **made)
            scores[recipe].append(right.mean())
    (row,) = compare(results).where("p value", test="equivalence", recipe="base and debiased")
    expected = reliability.tost_paired(scores["base"], scores["debiased"], 0.01, step=1 / 4_000)
    assert (row.value, row.interval) == (pytest.approx(expected.p), pytest.approx(expected.interval))
    assert row.verdict == "equivalent" and row.n == 4 and "paired" in row.note
    # Listed the other way round the difference has the other sign.
    turned = compare(results[2:4] + results[:2] + results[4:])
    (row,) = turned.where("p value", test="equivalence", recipe="debiased and base")
    assert "debiased − base -0.0010" in row.note and "paired" in row.note


def test_correlations_name_their_recipe_where_there_are_several():
    rng = np.random.default_rng(6)
    results = [
        one
        for recipe in ("base", "large")
        for number in range(3)
        for one in result(rng.random(50) < 0.8, rng.random(), number, recipe)
    ]
    text = printed(sections(results))
    assert (
        "base crows" in text and "large crows" in text and "no intervals: fewer than four checkpoints" in text
    )


def test_one_name_in_two_recipes_needs_the_recipe(tmp_path):
    both = [one for recipe in ("base", "large") for one in result([1, 0], 0.5, 0, recipe)]
    table = tmp_path / "scores.csv"
    table.write_text("checkpoint,task,score\n0,rte,0.9\n")
    with pytest.raises(DataError, match="in base and in large"):
        bias.compare(settings(downstream=str(table)), both)
    table.write_text("recipe,checkpoint,task,score\nlarge,0,rte,0.9\n")
    rows = Measures(bias.compare(settings(downstream=str(table)), both).measures)
    (row,) = rows.where("mean over checkpoints", of="downstream score", task="rte")
    assert row.groups["recipe"] == "large" and row.value == 0.9


def test_checkpoints_that_agree_on_a_few_examples_are_not_shown_to_be_alike_on_new_ones():
    few, many = np.ones(40, bool), np.ones(4_000, bool)
    (row,) = compare([*result(few, 0.5, 0), *result(few, 0.5, 1)]).where(
        "p value", test="pairwise equivalence"
    )
    assert row.verdict != "equivalent" and row.value > 0.05
    (row,) = compare([*result(many, 0.5, 0), *result(many, 0.5, 1)]).where(
        "p value", test="pairwise equivalence"
    )
    assert row.verdict == "equivalent"


# Scores from a table


def write_scores(folder, task, scores, name="base"):
    path = folder / "downstream.csv"
    lines = "".join(f"{name}{run},{task},{score}\n" for run, score in enumerate(scores))
    path.write_text(f"checkpoint,task,score\n{lines}")
    return str(path)


def test_equivalence_is_claimed_if_the_sd_is_below_the_margin(tmp_path):
    results = crows_results(letters(*["110"] * 5))
    for scores, verdict in (
        ([0.909, 0.912, 0.915, 0.912, 0.912], "equivalent"),
        ([0.69, 0.73, 0.70, 0.74, 0.70], "not shown to be equivalent"),
    ):
        rows = compare(results, downstream=write_scores(tmp_path, "RTE", scores))
        (row,) = rows.where("p value", test="equivalence")
        assert (row.verdict, row.value < 0.01) == (verdict, verdict == "equivalent")
        (mean,) = rows.where("mean over checkpoints", of="downstream score", task="RTE")
        assert mean.value == pytest.approx(np.mean(scores))


@pytest.mark.parametrize(
    ("name", "score", "message"),
    [
        ("base", 91.2, "line 2: score '91.2'[^$]*fractions"),
        ("ckpt", 0.9, "checkpoint 'ckpt0' is not one of this plan"),
    ],
)
def test_wrong_downstream_scores_are_refused(tmp_path, name, score, message):
    with pytest.raises(DataError, match=message):
        compare(crows_results(letters("110")), downstream=write_scores(tmp_path, "RTE", [score], name))


def test_two_sources_of_one_task_are_refused(tmp_path):
    results = [one for number in range(3) for one in result([1, 1, 0, 1], 0.5, number, step=200)]
    with pytest.raises(PlanError, match="two sources for task 'sst2'"):
        compare(results, downstream=write_scores(tmp_path, "sst2", [0.9], ""))


def test_only_the_last_step_is_table_2():
    rows = compare(
        [one for step, right in ((100, [0, 1]), (200, [1, 1])) for number in range(2)
         for one in result(right, 0.5, number, step=step)]
    )  # fmt: skip
    (mean,) = rows.where("mean over checkpoints", of="downstream score")
    assert mean.value == 1.0
