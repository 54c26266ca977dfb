"""The model of a job that trains first: stages shared by several jobs are trained once and kept, the others are not.

    runs/checkpoints/3f9c1a2b….safetensors   weights at the end of a stage that several jobs begin with
    runs/checkpoints/3f9c1a2b…-1.safetensors and at its mark "1", where they are asked on the way
    runs/features/3f9c1a2b….npz              what a frozen encoder makes of every text, for all heads on top of it
    runs/midway/3f9c1a2b….safetensors        a long stage in its middle, while it is trained (`training/midway.py`)
    runs/searches/3f9c1a2b….json             settings that were found by trying, with the score of every try

All are named by everything that decides them and can be deleted at any time: what is missing is made again.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.files import replacing
from ..core.records import Example
from ..protocols import find_protocol
from ..training.stage import Mark, Progress, Recipe, Search, Stage, Try
from .plan import Job, short_hash
from .store import RunStore, is_kept, making, sealing


@dataclass(frozen=True, slots=True)
class Training:
    """A job's recipe, with a name for what comes out of each of its stages."""

    recipe: Recipe
    seed: int
    base: str
    """A name for the weights before the first stage."""
    names: tuple[str, ...]
    """And for those after each."""

    @property
    def marks(self) -> tuple[str, ...]:
        """When the model is asked; once, at the end, where no stage has marks."""
        return (self.recipe.stages[-1].marks if self.recipe.stages else ()) or ("",)


def training_of(job: Job) -> Training | None:
    """What a job trains before it asks; None if it asks the model as it is."""
    recipe = find_protocol(job.protocol).recipe(job.settings, job.model)
    if recipe is None:
        return None
    base, *names = weight_names(job.identity)
    return Training(recipe, job.settings.seed, base, tuple(names))


def weight_names(identity: Mapping[str, Any]) -> list[str]:
    """Names for the weights before the first stage and after each: everything that decided them up to there."""
    before = {key: value for key, value in identity["training"].items() if key != "stages"}
    stages = identity["training"]["stages"]
    return [
        short_hash(before | {"model": identity["model"], "stages": stages[:count]}, 16)
        for count in range(len(stages) + 1)
    ]


def stage_names(job: Job) -> list[str]:
    """Names for the weights after each stage of a job; none where it does not train."""
    return weight_names(job.identity)[1:] if "training" in job.identity else []


def shared_stages(jobs: Sequence[Job]) -> frozenset[str]:
    """The stages that more than one of these jobs goes through: worth keeping."""
    names = Counter(name for job in jobs for name in stage_names(job))
    return frozenset(name for name, times in names.items() if times > 1)


class BusyError(Exception):
    """Another process is at something that this job needs: to be tried again later."""


def train_model(
    training: Training,
    store: RunStore,
    shared: frozenset[str],
    model: Any,
    asked: Sequence[Example],
    progress: Progress,
    mark: Mark,
    done: frozenset[str] = frozenset(),
) -> list[str]:
    """Bring a base model to the end of its last stage, from the latest weights that are kept.

    `mark` is called wherever the last stage says, if not for certain at those that are `done`. `asked` are the examples
    that will be asked afterwards: a frozen encoder sees them together with those it is trained on. Gives what the
    stages trained here noted.
    """
    notes: list[str] = []
    for number in range(_restore(training, store, model), len(training.recipe.stages)):
        last = number == len(training.recipe.stages) - 1
        marked = mark if last else _unmarked
        notes += _train_stage(training, number, store, shared, model, asked, progress, marked, done)
    return notes


def train_shared(training: Training, number: int, store: RunStore, progress: Progress) -> None:
    """Train up to the end of one stage and keep the weights, unless they are there."""
    if is_trained(store, training.names[number], training.recipe.stages[number]):
        return
    with threads(training.recipe.threads):
        model = training.recipe.base(training.seed)
        for stage in range(_restore(training, store, model, number), number + 1):
            keep = frozenset([training.names[number]])
            done = frozenset(training.recipe.stages[stage].marks)
            _train_stage(training, stage, store, keep, model, (), progress, _unmarked, done)
    forget_midway(store, training.names[: number + 1])


def _train_stage(
    training: Training,
    number: int,
    store: RunStore,
    shared: frozenset[str],
    model: Any,
    asked: Sequence[Example],
    progress: Progress,
    mark: Mark,
    done: frozenset[str] = frozenset(),
) -> list[str]:
    from ..training.checkpointing import Keeper, kept_midway

    name = training.names[number]
    stage = _settled(store, training.recipe.stages[number], progress)
    with _turn(store, name, wanted=name in shared):
        stage.prepare(model, training.seed)
        places = moments(store, name, stage)
        kept = frozenset(moment for moment, path in places.items() if is_kept(path))
        if len(kept) == len(places):
            for moment, path in places.items():
                model.load_weights(path)  # it was trained before, for this job or another
                if stage.marks:
                    mark(moment)
            return []
        if stage.frozen is not None:
            before = training.names[number - 1] if number else training.base
            _freeze(store, before, model, [*stage.frozen(), *asked], progress)
        if name in shared and stage.marks:
            done, mark = done & kept, _keeping(model, places, mark)
        every = store.between_checkpoints
        with kept_midway(Keeper(midway(store, name), every, done) if every else None):
            notes = stage.train(model, training.seed, progress, mark)
        if name in shared:
            if not stage.marks:
                _keep(model, checkpoint(store, name))
            forget_midway(store, [name])
    return list(notes or ())


def _keeping(model: Any, places: Mapping[str, Path], mark: Mark) -> Mark:
    """Keep the weights at each mark, then ask."""

    def keep_and_ask(moment: str) -> None:
        if not is_kept(places[moment]):
            _keep(model, places[moment])
        mark(moment)

    return keep_and_ask


def _keep(model: Any, path: Path) -> None:
    from safetensors import SafetensorError

    with sealing(path) as beside:
        try:
            model.save_weights(beside)
        except SafetensorError as problem:  # how safetensors reports a full disk
            raise OSError(str(problem)) from None


def _settled(store: RunStore, stage: Stage, progress: Progress) -> Stage:
    """The stage with settings that had to be found first; each search is made once for all jobs."""
    if stage.settled is None:
        return stage
    return stage.settled([_found(store, search, progress) for search in stage.searches])


def _found(store: RunStore, search: Search, progress: Progress) -> Try:
    from ..training.stage import best_try, run_search

    name, path = search_name(search), _path_of(store, search)
    with making(path.parent), store.lock(f"search-{name}", wait=False) as mine:
        if not mine:
            raise BusyError(f"search-{name}")

        def keep(scores: list[float]) -> None:
            tried = [
                {**settings, "score": score} for settings, score in zip(search.tries, scores, strict=False)
            ]
            chosen = dict(best_try(search, scores)) if len(scores) == len(search.tries) else None
            about = {"search": search.title, "chosen": chosen, "tried": tried, "of": len(search.tries)}
            with replacing(path) as beside:
                beside.write_text(json.dumps(about, indent=1))

        scores = run_search(search, _scores_of(path), keep, progress)
    return best_try(search, scores)


def search_name(search: Search) -> str:
    """A name for what a search finds: everything that decides it."""
    return short_hash(dict(search.identity), 16)


def is_found(store: RunStore, search: Search) -> bool:
    """Whether a search has been made to its end."""
    return len(_scores_of(_path_of(store, search))) >= len(search.tries)


def _path_of(store: RunStore, search: Search) -> Path:
    return store.folder / "searches" / f"{search_name(search)}.json"


def _scores_of(path: Path) -> list[float]:
    """What a search that was stopped had found out; a damaged file tells nothing, and the search begins again."""
    try:
        scores = [row["score"] for row in json.loads(path.read_text())["tried"]]
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return []
    return scores if all(isinstance(score, float) for score in scores) else []


def _unmarked(name: str) -> None:
    """Nobody asks here."""


def _restore(training: Training, store: RunStore, model: Any, up_to: int | None = None) -> int:
    """Load the weights of the latest stage that is kept; gives the number of the stage to go on with."""
    last = len(training.names) - 1 if up_to is None else up_to
    for number in range(last, -1, -1):
        name, stage = training.names[number], training.recipe.stages[number]
        if not is_trained(store, name, stage):
            continue
        forget_midway(store, [name])
        if stage.marks:
            return number  # its moments are loaded where they are asked
        stage.prepare(model, training.seed)
        model.load_weights(checkpoint(store, name))
        return number + 1
    return 0


def checkpoint(store: RunStore, name: str) -> Path:
    """Where the weights after a stage are kept."""
    return store.folder / "checkpoints" / f"{name}.safetensors"


def moments(store: RunStore, name: str, stage: Stage) -> dict[str, Path]:
    """Where the weights at each mark of a stage are kept; the last mark is its end."""
    before = {mark: checkpoint(store, f"{name}-{mark}") for mark in stage.marks[:-1]}
    return before | {stage.marks[-1] if stage.marks else "": checkpoint(store, name)}


def is_trained(store: RunStore, name: str, stage: Stage) -> bool:
    """Whether all that a stage comes to, at its marks and at its end, is kept."""
    return all(is_kept(path) for path in moments(store, name, stage).values())


def midway(store: RunStore, name: str) -> Path:
    """Where a stage is kept in its middle."""
    return store.folder / "midway" / f"{name}.safetensors"


def forget_midway(store: RunStore, names: Sequence[str]) -> None:
    """Their ends are kept, or nobody needs them any more."""
    for name in names:
        midway(store, name).unlink(missing_ok=True)


@contextmanager
def _turn(store: RunStore, name: str, *, wanted: bool) -> Iterator[None]:
    """Nobody else trains the same stage meanwhile, if others want it too; who finds it taken comes back later."""
    if not wanted:
        yield
        return
    lock = f"stage-{name}"
    with store.lock(lock, wait=False) as mine:
        if not mine:
            raise BusyError(lock)
        yield


def _freeze(
    store: RunStore, before: str, model: Any, examples: Sequence[Example], progress: Progress
) -> None:
    """Give the model what its encoder makes of all these examples: made once for all that start from these weights."""
    from ..training.checkpointing import load_features, save_features

    if model.head is None:
        return  # nothing smaller than the whole network to compute
    wanted = list(dict.fromkeys(examples))
    path = store.folder / "features" / f"{before}-{short_hash({'examples': wanted}, 16)}.npz"
    lock = f"features-{path.stem}"
    with making(path.parent), store.lock(lock, wait=False) as mine:
        if not mine:
            raise BusyError(lock)
        if not is_kept(path):
            table = model.features(wanted, lambda done, total: progress("encoding", done, total))
            with sealing(path) as beside:
                save_features(table, beside)
    model.frozen = load_features(path)


@contextmanager
def threads(count: int) -> Iterator[None]:
    """So many processor threads for what torch does in this block."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
