"""Table 2: checkpoints that are fine-tuned by the plan, whether they are alike, and whether diagnostics follow them."""

import numpy as np
import pytest
from bias_results import settings

torch = pytest.importorskip("torch", reason="needs shoal[hf]")
pytest.importorskip("transformers", reason="needs shoal[hf]")


from shoal.core.errors import DataError, PlanError  # noqa: E402
from shoal.core.records import Measures  # noqa: E402
from shoal.protocols import bias  # noqa: E402
from shoal.protocols.bias import training  # noqa: E402
from shoal.render.tables import tables_of  # noqa: E402
from shoal.runs.executors import run_here  # noqa: E402
from shoal.runs.plan import check_plan, make_plan  # noqa: E402
from shoal.runs.scoring import compare_results, results_by_protocol  # noqa: E402
from shoal.runs.store import RunStore  # noqa: E402

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


def test_two_tasks_of_one_name_and_models_without_weights_are_refused(files):
    with pytest.raises(PlanError, match="two tasks are called 'words'"):
        bias.parts(settings(tasks=[words(files), words(files)]))
    with pytest.raises(PlanError, match="cannot be fine-tuned"):
        bias.recipe(bias.parts(settings(diagnostic=[], tasks=[words(files)]))[0], "predictions:a.csv")


# Training


@pytest.mark.slow
def test_given_checkpoints_are_fine_tuned_and_stand_in_table_2(files, save, tmp_path):
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
    results = results_by_protocol(plan, jobs, store)["bias"]
    compared = compare_results(plan, results_by_protocol(plan, jobs, store))["bias"]
    rows = Measures(compared.measures)

    (ours,) = [
        result for result in results
        if result.job["model"] == f"hf:{folders[0]}" and result.cases[0].groups == {"task": "words"}
    ]  # fmt: skip
    assert ours.measures.where("downstream score")[0].value == 1.0  # one word decides

    for task in ("words", "pairs"):
        scores = [
            row.value or 0.0
            for result in results
            for row in result.measures.where("downstream score", task=task)[:1]
        ]
        (mean,) = rows.where("mean over checkpoints", of="downstream score", task=task)
        assert mean.value == pytest.approx(np.mean(scores)) and mean.note.startswith("3 checkpoints")
    files_of = tables_of(bias.view(plan.tables["bias"], results, compared.measures, compared.findings))
    assert {"downstream", "over_checkpoints"} <= set(files_of)
    assert [problem for _, problem in run_here(jobs, store)] == [None] * 9  # nothing to do again


def test_models_made_here_share_their_pretraining_with_their_diagnostics(files, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("".join(f"{line}\n" for line in (*GOOD, *BAD)) * 20)
    other = tmp_path / "other.tsv"
    write(other, [("text", "label"), *((f"{line} black fox .", "yes") for line in GOOD), ("ants .", "no")])
    of_words = words(files, epochs=1)
    table = {
        "models": ["tiny:masked"],
        "seeds": [0, 1],
        "bias": {
            "diagnostic": "crows", "data": "example", "limit": 10,
            "pretrain": {"text": str(text), "epochs": 1, "width": 16, "vocabulary": 90},
            "tasks": [of_words, {**of_words, "name": "other", "test": str(other)}],
        },
    }  # fmt: skip
    plan = make_plan(table)
    jobs = check_plan(plan)
    store = RunStore(tmp_path / "runs")
    assert [problem for _, problem in run_here(jobs, store)] == [None] * len(jobs)
    assert len(jobs) == 6
    # for each seed one pre-training, and one fine-tuning for both tests
    assert len(list((store.folder / "checkpoints").glob("*.safetensors"))) == 4
    # The encoder that is fine-tuned is the one that was pre-trained, not the one that was drawn.
    (job, *_) = [job for job in jobs if job.settings.tasks and job.settings.seed == 0]
    recipe = bias.recipe(job.settings, job.model)
    assert recipe is not None
    model = recipe.base(0)
    recipe.stages[0].train(model, 0, lambda *_: None, lambda _: None)
    pretrained = model.network("masked").base_model.embeddings.word_embeddings.weight.detach().clone()
    head = model.checkpoint.with_fresh_head(("no", "yes"), 0)
    assert torch.equal(head.base_model.embeddings.word_embeddings.weight, pretrained)
