"""The grid search: its trials, its objective, and one search for all folds and seeds."""

import json
from typing import Any

import numpy as np
import pytest

from shoal.core.errors import ModelError, PlanError
from shoal.protocols.learning import parts
from shoal.protocols.learning.hyper import grid
from shoal.protocols.learning.settings import Settings, Train
from shoal.protocols.learning.stages import make_recipe
from shoal.runs.store import MemoryStore
from shoal.runs.training import _settled
from shoal.training.stage import BrokenTrainingError, Search, best_try, run_search, silent


def settings(**train: Any) -> Settings:
    task = train.pop("task", "sentiment")
    profile = train.pop("profile", "recommended")
    return Settings(
        suite=task,
        iid=task,
        iid_limit=32,
        hold_out=("seen",),
        profile=profile,
        train=Train(tune=True, **train),
    )


# The grid


def test_the_grid_is_the_papers_in_the_order_of_its_ties():
    tried = grid(settings(), "hf:bert", "sentiment", "vanilla")
    assert len(tried) == 18
    assert tried[0] == {"epochs": 1, "learning_rate": 2e-5, "batch": 8}
    assert tried[1] == {"epochs": 1, "learning_rate": 2e-5, "batch": 16}
    assert tried[-1] == {"epochs": 3, "learning_rate": 5e-5, "batch": 16}
    assert {row["learning_rate"] for row in grid(settings(), "hf:bert", "sentiment", "lp")} == {
        1e-4,
        5e-4,
        1e-3,
    }
    read = "reading comprehension"
    assert {row["batch"] for row in grid(settings(profile="paper"), "hf:bert", read, "vanilla")} == {2, 3}
    assert {row["batch"] for row in grid(settings(), "hf:bert", read, "vanilla")} == {8, 16}


# Searching


def planted(scores: list[float], asked: list[int]) -> Search:
    class Model:
        trained = "classify"

        def network(self, name: str) -> Any:
            import torch

            return torch.nn.Linear(1, 1)

    def score(model: Any, tried: Any, progress: Any) -> float:
        asked.append(tried["at"])
        return float(scores[tried["at"]])

    return Search(
        "planted", {"a": 1}, [{"at": at} for at in range(len(scores))], lambda progress: Model(), score
    )


def test_a_try_whose_loss_is_no_number_is_none_and_the_others_go_on():
    def score(model: Any, tried: Any, progress: Any) -> float:
        if tried["at"] == 0:
            raise BrokenTrainingError("the training diverged at step 3", fix="a lower learning rate")
        return 1.0

    sound = planted([0.0, 0.0], [])
    search = Search("p", {}, sound.tries, sound.base, score)
    scores = run_search(search, [], lambda scores: None, silent)
    assert np.isnan(scores[0]) and best_try(search, scores) == {"at": 1}
    with pytest.raises(ModelError, match=r"every trial of p failed[\s\S]*lower rates"):
        best_try(search, [float("nan")] * 2)


def test_a_search_that_was_stopped_goes_on_where_it_was():
    asked: list[int] = []
    kept: list[list[float]] = []
    found = run_search(
        planted([1.0, 3.0, 2.0], asked), [1.0], lambda scores: kept.append(list(scores)), silent
    )
    assert found == [1.0, 3.0, 2.0] and asked == [1, 2] and kept == [[1.0, 3.0], [1.0, 3.0, 2.0]]
    assert run_search(planted([1.0], asked), [1.0], kept.append, silent) == [1.0] and asked == [1, 2]


# The objective (`docs/method/beluga.md` 1.8)


def stage_of(**train: Any) -> Any:
    task = train.get("task", "sentiment")
    return make_recipe(settings(on=("iid>suite",), **train), f"tiny:{task}").stages[-1]


def test_every_fold_and_seed_shares_one_search():
    stage = stage_of(epochs=0.1, batch=8)
    settings_of_fold = Settings(
        iid="sentiment", iid_limit=32, seed=3, hold_out=("capability",), fold="negation",
        train=Train(on=("iid>suite",), tune=True, epochs=0.1, batch=8),
    )  # fmt: skip
    fold = make_recipe(settings_of_fold, "tiny:sentiment").stages[-1]
    assert [search.identity for search in fold.searches] == [search.identity for search in stage.searches]
    assert fold.identity != stage.identity


@pytest.mark.parametrize(
    ("split", "tune", "use"),
    [("train", False, "the training split"), ("validation", True, "the split that train.tune selects by")],
)
def test_the_training_and_selection_splits_are_not_tested_on(split, tune, use):
    with pytest.raises(PlanError, match=f"split = '{split}' is {use}"):
        parts(Settings(iid="sentiment", split=split, train=Train(tune=tune)))


def test_lp_ft_is_not_searched_it_takes_what_lp_and_vanilla_found():
    stage = stage_of(method=("lp-ft",))
    lp, vanilla = (stage_of(method=(name,)) for name in ("lp", "vanilla"))
    assert [search.identity for search in stage.searches] == [
        lp.searches[0].identity, vanilla.searches[0].identity,
    ]  # fmt: skip
    settled = stage.settled(
        [{"epochs": 1, "learning_rate": 5e-4, "batch": 16}, {"epochs": 1, "learning_rate": 7e-4, "batch": 8}]
    )
    # A tiny model has 10 times BERT's rate; vanilla has 25 times.
    assert settled.identity["how"]["learning_rate"] == pytest.approx(7e-4 * 10 / 25)
    assert settled.identity["how"]["batch"] == 8 and settled.identity["how"]["epochs"] == 3
    assert settled.identity["options"]["probe_learning_rate"] == 5e-4
    assert settled.identity["options"]["probe_batch"] == 16


@pytest.mark.slow
@pytest.mark.parametrize("task", ["sentiment", "paraphrase", "reading"])
def test_a_search_finds_numbers_and_keeps_what_it_tried(task):
    stage = stage_of(task=task, epochs=0.03, iid_epochs=1, batch=16)
    with MemoryStore() as store:
        settled = _settled(store, stage, silent)
        (path,) = (store.folder / "searches").glob("*.json")
        about = json.loads(path.read_text())
        assert about["chosen"]["learning_rate"] == settled.identity["how"]["learning_rate"]
        assert len(about["tried"]) == about["of"] == 3
        best = max(row["score"] for row in about["tried"])
        assert (
            next(row for row in about["tried"] if row["score"] == best)["learning_rate"]
            == about["chosen"]["learning_rate"]
        )
        assert _settled(store, stage, silent).identity == settled.identity  # and does not try again
