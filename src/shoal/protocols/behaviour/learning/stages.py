"""Settings to stages of training: on what, in which order, without what (`docs/method/beluga.md` 1.3).

    iid            i.i.d. data
    iid>suite      i.i.d. data ──► suite
    iid+suite      i.i.d. data and suite mixed, from the base weights
    iid>iid+suite  i.i.d. data ──► both mixed

The i.i.d. stage is plain training, and the same for all that begin with it: it is trained once per seed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from ....errors import PlanError
from ....models import load_model, parse_spec
from ....records import Example
from ....training.environments import Environment
from ....training.loop import How, steps_of, train
from ....training.methods import make_method
from ....training.stage import Mark, Progress, Recipe, Stage
from ..build import load_suite
from ..iid import IidData, load_iid
from ..settings import Settings
from .hyper import iid_how, losses, method_options, suite_how
from .lessons import iid_environment, suite_lessons


def make_recipe(settings: Settings, model: str) -> Recipe:
    """The stages of one job."""
    assert settings.train is not None
    if parse_spec(model).scheme not in ("hf", "tiny"):
        raise PlanError(
            f"{model} cannot be trained",
            why="train.on needs weights and gradients",
            fix="hf:DIR or tiny:NAME; without train.on the model is asked as it is",
        )
    (config,) = settings.train.on
    data = load_iid(settings, load_suite(settings.suite).labels)
    stages = []
    if config != "iid+suite":
        stages.append(_iid_stage(settings, model, data))
    if config != "iid":
        stages += _suite_stage(settings, model, data)
    base = partial(_with_head, model, data.labels)
    return Recipe(base, tuple(stages), {"labels": list(data.labels)}, settings.train.threads)


def _with_head(model: str, labels: tuple[str, ...], seed: int) -> Any:
    return load_model(model).with_fresh_head(labels, seed)


def _iid_stage(settings: Settings, model: str, data: IidData) -> Stage:
    return _stage(
        settings, "iid", [iid_environment(data)], "vanilla", {}, iid_how(settings, model), data.digest
    )


def _suite_stage(settings: Settings, model: str, data: IidData) -> list[Stage]:
    """The stage with the suite; none, where a hold-out leaves nothing to train on."""
    assert settings.train is not None
    (config,), (method,) = settings.train.on, settings.train.method
    lessons = suite_lessons(settings, data.labels)
    kept = [
        environment
        for environment in lessons.environments
        if not _is_held_out(settings, lessons.groups[environment.name])
    ]
    mixed = [iid_environment(data)] if "+" in config else []
    if not kept and not mixed:
        return []
    task = load_suite(settings.suite).task
    words = config.replace(">", " then ").replace("+", " and ")
    title = "-".join(filter(None, [words, method, settings.fold and f"without-{settings.fold}"]))
    digest = "-".join([lessons.digest, *([data.digest] if mixed else [])])
    return [
        _stage(
            settings,
            title,
            [*kept, *mixed],
            method,
            method_options(settings, task, config, method),
            suite_how(settings, model, task, config, method),
            digest,
            without=[name for name, groups in lessons.groups.items() if _is_held_out(settings, groups)],
            whole=[*lessons.environments, *mixed],
        )
    ]


def _is_held_out(settings: Settings, groups: Mapping[str, str]) -> bool:
    (scenario,) = settings.hold_out
    return scenario in groups and groups[scenario] == settings.fold


def _stage(
    settings: Settings,
    title: str,
    environments: Sequence[Environment],
    method: str,
    options: Mapping[str, Any],
    how: How,
    digest: str,
    without: Sequence[str] = (),
    whole: Sequence[Environment] = (),
) -> Stage:
    assert settings.train is not None
    variants = losses(settings, load_suite(settings.suite).task)
    identity = {
        "data": digest,
        "without": list(without),
        "method": method,
        "options": dict(options),
        "how": asdict(how),
        "losses": variants,
    }

    def run(model: Any, seed: int, progress: Progress, mark: Mark) -> list[str]:
        way = make_method(method, options)
        return train(model, environments, way, how, seed, progress, mark, losses=variants).notes

    steps = steps_of(environments, make_method(method, options), how)
    frozen = partial(_examples, whole) if method == "lp" else None
    return Stage(title, identity, steps, run, frozen=frozen)


def _examples(environments: Sequence[Environment]) -> list[Example]:
    """Every text that any fold trains on, in order."""
    return list(
        dict.fromkeys(
            example for environment in environments for item in environment.items for example in item.examples
        )
    )
