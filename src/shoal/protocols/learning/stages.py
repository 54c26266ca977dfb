"""Settings to stages of training: on what, in which order, without what (`docs/method/beluga.md` 1.3).

    iid            i.i.d. data
    iid>suite      i.i.d. data ──► suite
    iid+suite      i.i.d. data and suite mixed, from the base weights
    iid>iid+suite  i.i.d. data ──► both mixed

The i.i.d. stage is plain training, and the same for all that begin with it: it is trained once per seed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import lru_cache, partial
from typing import Any

from ...core.errors import PlanError, some
from ...core.records import Example
from ...models import load_model, parse_spec
from ...models.ask import distinct
from ...models.labels import in_suite_order, suite_names
from ...training.environments import Environment
from ...training.loop import TrainConfig, steps_of, train
from ...training.methods import make_method
from ...training.stage import Fact, Mark, Progress, Recipe, Stage
from ..behaviour.build import build, iid_of, load_suite
from ..behaviour.iid import IidData
from ..behaviour.settings import Settings
from .folds import OTHERS
from .hyper import given_options, iid_how, iid_losses, losses, method_options, suite_how
from .lessons import iid_environment, suite_lessons
from .tuning import tuned_stage


def make_recipe(settings: Settings, model: str) -> Recipe:
    """The stages of one job."""
    assert settings.train is not None
    spec = parse_spec(model)
    if spec.scheme not in ("hf", "tiny") or "prompt" in spec.options:
        raise PlanError(
            f"{model} cannot be trained",
            why="train.on needs weights and gradients",
            fix="hf:DIR or tiny:NAME; without train.on the model is asked as it is",
        )
    (config,) = settings.train.on
    data = iid_of(settings)
    as_it_is = settings.train.from_ == "model"
    labels = _own_labels(settings, model, data) if as_it_is else data.labels
    base = partial(_with_own_head if as_it_is else _with_head, model, None if data.is_reading else labels)
    stages = []
    if config != "iid+suite" and not as_it_is:
        stages.append(_iid_stage(settings, model, data))
    if config != "iid":
        stages += _suite_stage(settings, model, data, labels, base)
    identity = {"labels": list(labels)} | ({"from": "model"} if as_it_is else {})
    return Recipe(base, tuple(stages), identity, settings.train.threads)


def _with_head(model: str, labels: tuple[str, ...] | None, seed: int) -> Any:
    """With a fresh head for these labels; without any, for answers in a context."""
    loaded = load_model(model)
    return loaded.with_fresh_span_head(seed) if labels is None else loaded.with_fresh_head(labels, seed)


def _with_own_head(model: str, labels: tuple[str, ...] | None, seed: int) -> Any:
    loaded = load_model(model)
    return loaded.with_own_span_head() if labels is None else loaded.with_own_head(labels)


@lru_cache(maxsize=4)
def _labels_of(model: str, suite: tuple[str, ...]) -> tuple[str, ...]:
    """A model's labels by the suite's names, in the suite's order."""
    return tuple(in_suite_order(suite_names(load_model(model).own_labels, suite, model), suite))


def _own_labels(settings: Settings, model: str, data: IidData) -> tuple[str, ...]:
    if data.is_reading:
        return ()
    labels = _labels_of(model, tuple(load_suite(settings.suite).labels or data.labels))
    strange = [label for label in data.labels if label not in labels]
    if strange:
        raise PlanError(
            f"{model} has no label for {some(strange)} of the i.i.d. data",
            why=f"its labels are {some(labels)}",
            fix="i.i.d. data with the model's labels",
        )
    return labels


def _iid_stage(settings: Settings, model: str, data: IidData) -> Stage:
    task, environment = load_suite(settings.suite).task, iid_environment(data, data.labels)
    how, variants = iid_how(settings, model, task), iid_losses(settings, task)
    return _stage(settings, "iid", [environment], "vanilla", {}, how, variants, data.digest)


def _suite_stage(
    settings: Settings, model: str, data: IidData, labels: tuple[str, ...], base: Callable[[int], Any]
) -> list[Stage]:
    """The stage with the suite; none, where a hold-out leaves nothing to train on."""
    assert settings.train is not None
    (config,), (method,) = settings.train.on, settings.train.method
    lessons = suite_lessons(settings, labels)
    kept = [
        environment
        for environment in lessons.environments
        if not _is_held_out(settings, lessons.groups[environment.name])
    ]
    mixed = [iid_environment(data, labels)] if "+" in config else []
    if not kept and not mixed:
        return []
    task = load_suite(settings.suite).task
    left = "only" if settings.hold_out == (OTHERS,) else "without"
    words = config.replace(">", " then ").replace("+", " and ")
    title = "-".join(filter(None, [words, method, settings.fold and f"{left}-{settings.fold}"]))
    digest = "-".join([lessons.digest, *([data.digest] if mixed else [])])
    whole = [*lessons.environments, *mixed]
    without = [name for name, groups in lessons.groups.items() if _is_held_out(settings, groups)]

    def by(how: TrainConfig, options: Mapping[str, Any]) -> Stage:
        kinds = losses(settings, task)
        return _stage(
            settings,
            title,
            [*kept, *mixed],
            method,
            options,
            how,
            kinds,
            digest,
            without=without,
            whole=whole,
        )

    usual = by(
        suite_how(settings, model, task, config, method), method_options(settings, task, config, method)
    )
    if not settings.train.tune:
        return [usual]
    start = (
        []
        if config == "iid+suite" or settings.train.from_ == "model"
        else [_iid_stage(settings, model, data)]
    )
    return [tuned_stage(settings, model, labels, usual, by, whole, digest, start, base)]


def _is_held_out(settings: Settings, groups: Mapping[str, str]) -> bool:
    (scenario,) = settings.hold_out
    if scenario == OTHERS:
        return groups["functionality"] != settings.fold
    return scenario in groups and groups[scenario] == settings.fold


def _stage(
    settings: Settings,
    title: str,
    environments: Sequence[Environment],
    method: str,
    options: Mapping[str, Any],
    how: TrainConfig,
    variants: Mapping[str, str],
    digest: str,
    without: Sequence[str] = (),
    whole: Sequence[Environment] = (),
) -> Stage:
    identity = {
        "data": digest,
        "without": list(without),
        "method": method,
        "options": dict(options),
        "how": asdict(how),
        "losses": dict(variants),
    }

    make = partial(make_method, method, options, given_options(settings, method))

    def run(model: Any, seed: int, progress: Progress, mark: Mark) -> list[str]:
        log = train(model, environments, make(), how, seed, progress, mark, losses=variants)
        return [*log.notes, *([Fact("; ".join(log.facts))] if log.facts else [])]

    steps = steps_of(environments, make(), how)
    frozen = partial(_read_by_encoder, settings, whole) if method == "lp" else None
    return Stage(title, identity, steps, run, frozen=frozen)


def _read_by_encoder(settings: Settings, environments: Sequence[Environment]) -> list[Example]:
    """Every text that any fold trains on or is asked: the same for all of them, so that it is read once."""
    trained_on = _examples(environments)
    if settings.hold_out_asks == "all":
        return trained_on  # what is asked comes with the job
    asked = build(replace(settings, hold_out_asks="all"))
    return list(dict.fromkeys([*trained_on, *distinct(asked.cases).examples]))


def _examples(environments: Sequence[Environment]) -> list[Example]:
    """Every text that any fold trains on, in order."""
    return list(
        dict.fromkeys(
            example for environment in environments for item in environment.items for example in item.examples
        )
    )
