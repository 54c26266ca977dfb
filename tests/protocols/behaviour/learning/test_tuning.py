"""The grid search: what is tried, what the best is best at, and that it is searched once."""

import json
from typing import Any

import numpy as np
import pytest

from shoal.errors import PlanError
from shoal.protocols.behaviour import parts
from shoal.protocols.behaviour.learning.hyper import grid
from shoal.protocols.behaviour.learning.stages import make_recipe
from shoal.protocols.behaviour.learning.tuning import is_right
from shoal.protocols.behaviour.settings import Settings, Train
from shoal.runs.store import ThrownAway
from shoal.runs.training import _settled
from shoal.training.search import best_try, run_search
from shoal.training.stage import Search, silent


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


def test_what_a_plan_gives_is_not_tried():
    given = settings(epochs=2, method=("vanilla", "irm"), options={"irm": {"learning_rate": 1e-5}})
    assert {row["epochs"] for row in grid(given, "hf:bert", "sentiment", "vanilla")} == {2}
    assert {row["learning_rate"] for row in grid(given, "hf:bert", "sentiment", "irm")} == {1e-5}


def test_nothing_is_selected_where_nothing_is_tuned():
    with pytest.raises(PlanError, match=r"select_on has no effect[\s\S]*tune = true"):
        parts(Settings(iid="sentiment", train=Train(select_on="G_val")))


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


def test_the_best_is_taken_the_first_of_equals_and_none_that_broke_down():
    search = planted([], [])
    search = Search("p", {}, [{"at": at} for at in range(4)], search.base, search.score)
    assert best_try(search, [1.0, 2.0, 2.0, float("nan")]) == {"at": 1}
    assert best_try(search, [float("nan"), -1.0, float("nan"), -2.0]) == {"at": 1}


def test_a_search_that_was_stopped_goes_on_where_it_was():
    asked: list[int] = []
    kept: list[list[float]] = []
    found = run_search(
        planted([1.0, 3.0, 2.0], asked), [1.0], lambda scores: kept.append(list(scores)), silent
    )
    assert found == [1.0, 3.0, 2.0] and asked == [1, 2] and kept == [[1.0, 3.0], [1.0, 3.0, 2.0]]
    assert run_search(planted([1.0], asked), [1.0], kept.append, silent) == [1.0] and asked == [1, 2]


# What the best is best at (`docs/method/beluga.md` 1.8)


@pytest.mark.parametrize(
    ("positive", "target", "right"),
    [
        (0.7, (0, 1), True), (0.6, (0, 1), False), (0.2, (1, 0), True), (0.4, (1, 0), False),
        (0.5, (0.5, 0.5), True), (0.7, (0.5, 0.5), False), (0.4, (1 / 3, 2 / 3), True), (0.3, (1 / 3, 2 / 3), False),
    ],
)  # fmt: skip
def test_right_answers_of_two_labels_for_three_are_those_of_the_band(positive, target, right):
    vector = np.array([1 - positive, positive])
    assert is_right(vector, target, banded=True) is right
    assert is_right(np.array([0.4, 0.6]), (0, 1), banded=False)


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
    other = stage_of(epochs=0.1, batch=8, select_on="G_val")
    assert other.searches[0].identity != stage.searches[0].identity


def test_lp_ft_is_not_searched_it_takes_what_lp_and_vanilla_found():
    stage = stage_of(method=("lp-ft",))
    lp, vanilla = (stage_of(method=(name,)) for name in ("lp", "vanilla"))
    assert [search.identity for search in stage.searches] == [
        lp.searches[0].identity, vanilla.searches[0].identity,
    ]  # fmt: skip
    settled = stage.settled(
        [{"epochs": 1, "learning_rate": 5e-4, "batch": 16}, {"epochs": 1, "learning_rate": 7e-4, "batch": 8}]
    )
    assert settled.identity["how"]["learning_rate"] == 7e-4 and settled.identity["how"]["epochs"] == 3
    assert settled.identity["options"]["probe_learning_rate"] == 5e-4
    assert settled.identity["options"]["probe_batch"] == 16


@pytest.mark.parametrize("task", ["sentiment", "paraphrase", "reading"])
def test_a_search_finds_numbers_and_keeps_what_it_tried(task):
    stage = stage_of(
        task=task, epochs=0.03, iid_epochs=1, batch=16, select_on="G_val" if task == "paraphrase" else "paper"
    )
    with ThrownAway() as store:
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
