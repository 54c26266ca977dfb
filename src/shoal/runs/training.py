"""Train the model of a job: stages that several jobs share are trained once and their weights stored.

    runs/checkpoints/3f9c1a2b….safetensors   weights at the end of a stage that several jobs share
    runs/checkpoints/3f9c1a2b…-1.safetensors weights at its mark "1"
    runs/features/3f9c1a2b….npz              output of a frozen encoder for every text
    runs/midway/3f9c1a2b….safetensors        state of a long stage in progress (`training/checkpointing.py`)
    runs/searches/3f9c1a2b….json             the score of every setting that a search tried

File names are hashes of everything that decides the content. Any of these files can be deleted: shoal makes it again.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.records import Example
from ..protocols import find_protocol
from ..training.stage import Mark, Progress, Recipe, Search, Stage, Try
from .plan import Job, short_hash
from .store import RunStore
from .store_files import is_kept, make_folder, read_sealed_json, sealing, write_sealed_json


@dataclass(frozen=True, slots=True)
class Training:
    """The recipe of a job, with names for the weights after each stage."""

    recipe: Recipe
    seed: int
    base: str
    """The name of the weights before the first stage."""
    names: tuple[str, ...]
    """The names of the weights after each stage."""

    @property
    def marks(self) -> tuple[str, ...]:
        """When the model is queried: at the marks of the last stage, or once at the end if it has none."""
        return (self.recipe.stages[-1].marks if self.recipe.stages else ()) or ("",)


def training_of(job: Job) -> Training | None:
    """Return the training stages of a job; None if the job queries the model without training it."""
    if "training" not in job.identity:
        return None
    recipe = job.recipe or find_protocol(job.protocol).recipe(job.settings, job.model)
    assert recipe is not None
    base, *names = weight_names(job.identity)
    return Training(recipe, job.settings.seed, base, tuple(names))


def weight_names(identity: Mapping[str, Any]) -> list[str]:
    """Return names for the weights before the first stage and after each, from everything that decides them."""
    before = {key: value for key, value in identity["training"].items() if key != "stages"}
    stages = identity["training"]["stages"]
    return [
        short_hash(before | {"model": identity["model"], "stages": stages[:count]}, 16)
        for count in range(len(stages) + 1)
    ]


def stage_names(job: Job) -> list[str]:
    """Return names for the weights after each stage of a job; none if it does not train."""
    return weight_names(job.identity)[1:] if "training" in job.identity else []


def shared_stages(jobs: Sequence[Job]) -> frozenset[str]:
    """Return the stages that several of these jobs have in common."""
    names = Counter(name for job in jobs for name in stage_names(job))
    return frozenset(name for name, times in names.items() if times > 1)


class BusyError(Exception):
    """Another process works on something that this job needs; the task is tried again later."""


def train_shared(training: Training, number: int, store: RunStore, progress: Progress) -> None:
    """Train to the end of one stage and store the weights, unless they are stored."""
    name, stage = training.names[number], training.recipe.stages[number]
    if is_trained(store, name, stage):
        return
    with threads(training.recipe.threads):
        model = training.recipe.base(training.seed)
        trainer = Trainer(training, store, frozenset([name]), model, progress)
        trainer.train(number, _unmarked, frozenset(stage.marks))
    remove_midway(store, training.names[: number + 1])


@dataclass(slots=True)
class Trainer:
    """A base model on its way through the stages of its training."""

    training: Training
    store: RunStore
    shared: frozenset[str]
    """The stages whose weights are stored."""
    model: Any
    progress: Progress
    asked: Sequence[Example] = ()
    """The questions that follow: a frozen encoder encodes them together with the training examples."""

    def train(self, last: int, mark: Mark, done: frozenset[str]) -> list[str]:
        """Train to the end of a stage, from the latest stored weights; return the notes of the stages trained here.

        The stage calls `mark` at its marks; it may skip those in `done`.
        """
        notes: list[str] = []
        for number in range(self._restore(last), last + 1):
            notes += self._train_stage(number, mark if number == last else _unmarked, done)
        return notes

    def _train_stage(self, number: int, mark: Mark, done: frozenset[str]) -> list[str]:
        from ..training.checkpointing import Keeper, kept_midway

        store, model, name = self.store, self.model, self.training.names[number]
        stage = _settled(store, self.training.recipe.stages[number], self.progress)
        with _turn(store, name, wanted=name in self.shared):
            stage.prepare(model, self.training.seed)
            places = moments(store, name, stage)
            kept = frozenset(moment for moment, path in places.items() if is_kept(path))
            if len(kept) == len(places):
                for moment, path in places.items():
                    model.load_weights(path)  # trained before, for this job or another
                    if stage.marks:
                        mark(moment)
                return []
            if stage.frozen is not None:
                before = self.training.names[number - 1] if number else self.training.base
                self._freeze(before, [*stage.frozen(), *self.asked])
            if name in self.shared and stage.marks:
                done, mark = done & kept, _keeping(model, places, mark)
            every = store.between_checkpoints
            with kept_midway(Keeper(midway(store, name), every, done) if every else None):
                notes = stage.train(model, self.training.seed, self.progress, mark)
            if name in self.shared:
                if not stage.marks:
                    _keep(model, checkpoint(store, name))
                remove_midway(store, [name])
        return list(notes or ())

    def _restore(self, last: int) -> int:
        """Load the latest stored weights and return the number of the stage to continue with."""
        for number in range(last, -1, -1):
            name, stage = self.training.names[number], self.training.recipe.stages[number]
            if not is_trained(self.store, name, stage):
                continue
            remove_midway(self.store, [name])
            if stage.marks:
                return number  # the weights at its marks are loaded when the model is queried
            stage.prepare(self.model, self.training.seed)
            self.model.load_weights(checkpoint(self.store, name))
            return number + 1
        return 0

    def _freeze(self, before: str, examples: Sequence[Example]) -> None:
        """Give the model the encoder's output for all these examples, computed once for all jobs with these weights."""
        from ..training.checkpointing import load_features, save_features

        if self.model.head is None:
            return  # the model has no separate head
        wanted = list(dict.fromkeys(examples))
        path = self.store.folder / "features" / f"{before}-{short_hash({'examples': wanted}, 16)}.npz"
        with _turn(self.store, path.stem, kind="features"):
            if not is_kept(path):
                table = self.model.features(
                    wanted, lambda done, total: self.progress("encoding", done, total)
                )
                with sealing(path) as temporary:
                    save_features(table, temporary)
        self.model.frozen = load_features(path)


def _keeping(model: Any, places: Mapping[str, Path], mark: Mark) -> Mark:
    """Return a mark function that stores the weights before it queries the model."""

    def keep_and_ask(moment: str) -> None:
        if not is_kept(places[moment]):
            _keep(model, places[moment])
        mark(moment)

    return keep_and_ask


def _keep(model: Any, path: Path) -> None:
    from safetensors import SafetensorError

    with sealing(path) as temporary:
        try:
            model.save_weights(temporary)
        except SafetensorError as problem:  # how safetensors reports a full disk
            number = re.search(r"os error (\d+)", str(problem))
            raise OSError(int(number[1]) if number else 0, str(problem)) from None


def _settled(store: RunStore, stage: Stage, progress: Progress) -> Stage:
    """Return the stage with the settings that its searches select; each search runs once for all jobs."""
    if stage.settled is None:
        return stage
    return stage.settled([_found(store, search, progress) for search in stage.searches])


def _found(store: RunStore, search: Search, progress: Progress) -> Try:
    from ..training.stage import best_try, run_search

    name = search_name(search)
    path = store.folder / "searches" / f"{name}.json"
    make_folder(path.parent)
    with _turn(store, name, kind="search"):
        stored = read_sealed_json(path) or {"tried": ()}  # of an interrupted search; none if damaged
        scores_before = [row["score"] for row in stored["tried"]]

        def keep(scores: list[float]) -> None:
            tried = [
                {**settings, "score": score} for settings, score in zip(search.tries, scores, strict=False)
            ]
            chosen = dict(best_try(search, scores)) if len(scores) == len(search.tries) else None
            about = {"search": search.title, "chosen": chosen, "tried": tried, "of": len(search.tries)}
            write_sealed_json(path, about)

        scores = run_search(search, scores_before, keep, progress)
    return best_try(search, scores)


def search_name(search: Search) -> str:
    return short_hash(dict(search.identity), 16)


def _unmarked(name: str) -> None:
    """Query nothing."""


def checkpoint(store: RunStore, name: str) -> Path:
    return store.folder / "checkpoints" / f"{name}.safetensors"


def moments(store: RunStore, name: str, stage: Stage) -> dict[str, Path]:
    """Return the file with the weights at each mark of a stage; the last mark is its end."""
    before = {mark: checkpoint(store, f"{name}-{mark}") for mark in stage.marks[:-1]}
    return before | {stage.marks[-1] if stage.marks else "": checkpoint(store, name)}


def is_trained(store: RunStore, name: str, stage: Stage) -> bool:
    """Return whether the weights at all marks of a stage, and at its end, are stored."""
    return all(is_kept(path) for path in moments(store, name, stage).values())


def midway(store: RunStore, name: str) -> Path:
    return store.folder / "midway" / f"{name}.safetensors"


def remove_midway(store: RunStore, names: Sequence[str]) -> None:
    for name in names:
        midway(store, name).unlink(missing_ok=True)


@contextmanager
def _turn(store: RunStore, name: str, *, kind: str = "stage", wanted: bool = True) -> Iterator[None]:
    """Hold the lock of something that other jobs share; raise BusyError if another process works on it."""
    lock = f"{kind}-{name}"
    if not wanted:
        yield
        return
    with store.lock(lock, wait=False) as mine:
        if not mine:
            raise BusyError(lock)
        yield


@contextmanager
def threads(count: int) -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
