"""Training before asking: what can be trained, on what, and a small model trained for real."""

from typing import Any

import pytest

from shoal import audit
from shoal.core.errors import ModelError
from shoal.protocols import cood
from shoal.protocols.cood.settings import Train
from shoal.training.stage import Recipe

pytest.importorskip("torch", reason="training needs the hf extra")


def recipe_of(settings: cood.Settings) -> Recipe:
    recipe = cood.recipe(settings, "tiny:sentiment")
    assert recipe is not None
    return recipe


def test_a_model_that_cannot_be_trained_is_told_what_it_would_need(settings):
    with pytest.raises(ModelError, match=r"cannot be trained by shoal(.|\n)*export(.|\n)*trained = true"):
        cood.recipe(settings(), "python:planted_readers:perfect")


def test_a_stage_is_named_by_its_items_and_how_they_are_trained_on(settings):
    def identity(**given):
        return dict(recipe_of(settings(**given)).stages[0].identity)

    usual = identity()
    assert usual == identity()
    for other in (
        {"seed": 1},
        {"per_label": (6,)},
        {"train": Train(epochs=3)},
        {"control": ("all cells",)},
        {"train": Train(batch=8)},
    ):
        assert identity(**other) != usual, other
    (stage,) = recipe_of(settings(train=Train(epochs=3))).stages
    assert stage.marks == ("1", "2", "3") and stage.steps == 3, "20 items fit into one batch of 32"


def test_texts_that_leave_no_room_for_the_template_stop_before_training(tmp_path):
    path = tmp_path / "long.csv"
    rows = [
        f"{label} {'really very good ' * 32} thing {n},{label}"
        for label in ("positive", "negative", "neutral")
        for n in range(4)
    ]
    path.write_text("text,label\n" + "\n".join(rows))
    settings = cood.Settings(data=str(path), per_label=(1,), test_per_label=1, validation_per_label=1)
    recipe = recipe_of(settings)
    with pytest.raises(ModelError, match=r"takes 96 tokens; 17 of 17 inputs are longer"):
        recipe.base(0)


def test_the_majority_control_learns_nothing_and_loads_no_model(settings):
    result = audit("cood", "hf:nowhere", data=settings().data, control="majority", per_label=5, test_per_label=12,
                   validation_per_label=4)  # fmt: skip
    means = {
        row.groups["kind"]: row.value for row in result.measures.where("accuracy") if "cell" not in row.groups
    }
    assert means == {"ID": 0.5, "COOD": 1.0, "OOD": pytest.approx(2 / 3)}


SMALL: dict[str, Any] = {
    "per_label": 30,
    "test_per_label": 12,
    "validation_per_label": 8,
    "train": {"epochs": 2},
}


@pytest.mark.slow
def test_a_small_model_is_trained_and_asked_after_every_epoch():
    result = audit("cood", "tiny:sentiment", **SMALL)
    epochs = {row.groups["epoch"] for row in result.measures if "epoch" in row.groups}
    assert epochs == {"1", "2"} and len(result.cases) == 9 * 12 + 4 * 8
    assert result.measures.where("chosen epoch")[0].value in (1, 2)
    assert audit("cood", "tiny:sentiment", **SMALL).measures == result.measures, (
        "the same seed, the same numbers"
    )


def test_a_linear_head_is_another_job_and_is_said(settings):
    usual, linear = (recipe_of(settings(train=Train(head=head))) for head in ("own", "linear"))
    assert dict(linear.identity) == {**usual.identity, "head": "linear"}
    assert linear.base(0).network("classify").bert.pooler.__class__.__name__ == "FirstState"
    assert usual.base(0).network("classify").bert.pooler.__class__.__name__ == "BertPooler"
