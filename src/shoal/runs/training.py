"""The model of a job that trains first: stages shared by several jobs are trained once and kept, the others are not.

    runs/checkpoints/3f9c1a2b….safetensors   weights at the end of a stage that several jobs begin with
    runs/features/3f9c1a2b….npz              what a frozen encoder makes of every text, for all heads on top of it

Both are named by everything that decides them and can be deleted at any time: what is missing is made again.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..files import replacing
from ..protocols import find_protocol
from ..records import Example
from ..training.stage import Mark, Progress, Recipe
from .plan import Job, short_hash
from .store import RunStore, making


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
        short_hash(before | {"model": identity["model"], "stages": stages[:at]}, 16)
        for at in range(len(stages) + 1)
    ]


def stage_names(job: Job) -> list[str]:
    """Names for the weights after each stage of a job; none where it does not train."""
    return weight_names(job.identity)[1:] if "training" in job.identity else []


def shared_stages(jobs: Sequence[Job]) -> frozenset[str]:
    """The stages that more than one of these jobs goes through: worth keeping."""
    names = Counter(name for job in jobs for name in stage_names(job))
    return frozenset(name for name, times in names.items() if times > 1)


def train_model(
    training: Training, store: RunStore, shared: frozenset[str], model: Any, asked: Sequence[Example],
    progress: Progress, mark: Mark,
) -> None:  # fmt: skip
    """Bring a base model to the end of its last stage, from the latest weights that are kept.

    `mark` is called wherever the last stage says. `asked` are the examples that will be asked afterwards: a frozen
    encoder sees them together with those it is trained on.
    """
    stages = training.recipe.stages
    start = _restore(training, store, model)
    for at in range(start, len(stages)):
        last = at == len(stages) - 1
        name = training.names[at]
        with _turn(store, name, wanted=name in shared):
            if name in shared and not stages[at].marks and checkpoint(store, name).exists():
                model.load_weights(checkpoint(store, name))  # another process has trained it meanwhile
                continue
            frozen = stages[at].frozen
            if frozen is not None:
                before = training.names[at - 1] if at else training.base
                _freeze(store, before, model, [*frozen(), *asked], progress)
            stages[at].train(model, training.seed, progress, mark if last else lambda name: None)
            if name in shared:
                with making(checkpoint(store, name).parent), replacing(checkpoint(store, name)) as beside:
                    model.save_weights(beside)


def _restore(training: Training, store: RunStore, model: Any) -> int:
    """Load the weights of the latest stage that is kept; gives the number of the stage to go on with."""
    for at in range(len(training.names) - 1, -1, -1):
        path = checkpoint(store, training.names[at])
        if path.exists() and not training.recipe.stages[at].marks:
            model.load_weights(path)
            return at + 1
    return 0


def checkpoint(store: RunStore, name: str) -> Path:
    """Where the weights after a stage are kept."""
    return store.folder / "checkpoints" / f"{name}.safetensors"


@contextmanager
def _turn(store: RunStore, name: str, *, wanted: bool) -> Iterator[None]:
    """Nobody else trains the same stage meanwhile, if others want it too."""
    if not wanted:
        yield
        return
    with store.lock(f"stage-{name}", wait=True):
        yield


def is_being_trained(job: Job, store: RunStore, shared: frozenset[str]) -> bool:
    """Whether another process is at a stage that this job would have to wait for."""
    for name in stage_names(job):
        if name in shared and not checkpoint(store, name).exists():
            with store.lock(f"stage-{name}", wait=False) as free:
                return not free
    return False


def _freeze(
    store: RunStore, before: str, model: Any, examples: Sequence[Example], progress: Progress
) -> None:
    """Give the model what its encoder makes of all these examples: made once for all that start from these weights."""
    from ..training.features import load_features, save_features

    if model.head is None:
        return  # nothing smaller than the whole network to compute
    wanted = list(dict.fromkeys(examples))
    path = store.folder / "features" / f"{before}-{short_hash({'examples': wanted}, 16)}.npz"
    with making(path.parent), store.lock(f"features-{path.stem}", wait=True):
        if not path.exists():
            table = model.features(wanted, lambda done, total: progress("encoding", done, total))
            with replacing(path) as beside:
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
