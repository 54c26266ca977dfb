"""Settings to stages of training: on what, in which order, without what (`docs/method/beluga.md` 1.3).

    iid            i.i.d. data
    iid>suite      i.i.d. data ──► suite
    iid+suite      i.i.d. data and suite mixed, from the base weights
    iid>iid+suite  i.i.d. data ──► both mixed

The i.i.d. stage is plain training, and the same for all recipes that begin with it: it is trained once per seed.
Identities come from settings and digests of files. Examples are made when a stage is trained or its steps are counted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from types import MappingProxyType
from typing import Any

from ...core.errors import PlanError
from ...core.records import Example
from ...models import load_model, parse_spec
from ...models.batching import distinct
from ...training.config import TrainConfig
from ...training.stage import Mark, Progress, Recipe, Search, Stage, Try, silent
from ..behaviour.build import load_suite
from .build import build
from .hyper import grid, iid_how, losses, method_options, rate_factor, set_numbers, suite_how
from .iid import test_identity, training_identity
from .lessons import Lessons, head_labels, held_out, lessons_identity, training_cases
from .settings import Settings
from .tuning import SEED, objective


def make_recipe(settings: Settings, model: str) -> Recipe:
    """Return the stages of one job."""
    spec = parse_spec(model)
    if spec.scheme not in ("hf", "tiny") or "prompt" in spec.options:
        raise PlanError(
            f"{model} cannot be trained",
            why="training needs weights and gradients",
            fix='hf:DIR or tiny:NAME; or teach = ["nothing", "both"] for a prompted model',
        )
    (config,) = settings.train.on
    from_model = settings.train.from_ == "model"
    stages = []
    if config != "iid+suite" and not from_model:
        stages.append(_iid_stage(settings, model))
    if config != "iid":
        stages += _suite_stage(settings, model)
    head = {  # what decides its labels: those of the data, by the suite's names
        "suite labels": load_suite(settings.suite).labels,
        "iid": training_identity(settings),
        "iid_test": test_identity(settings),
        "from": settings.train.from_,
    }
    return Recipe(partial(_base, settings, model), tuple(stages), head, settings.train.threads)


def _base(settings: Settings, model: str, seed: int) -> Any:
    """Return the model with a fresh head for the data's labels, or with its own head."""
    loaded, labels = load_model(model), head_labels(settings, model)
    if settings.train.from_ == "model":
        return loaded.with_own_head(labels) if labels else loaded.with_own_span_head()
    return loaded.with_fresh_head(labels, seed) if labels else loaded.with_fresh_span_head(seed)


# Stages


def _iid_stage(settings: Settings, model: str) -> Stage:
    task = load_suite(settings.suite).task
    lessons = Lessons(settings, model, with_suite=False, with_iid=True)
    how = iid_how(settings, model, task)
    return make_stage(lessons, "iid", "vanilla", {}, how, losses(settings, task, iid=True))


def _suite_stage(settings: Settings, model: str) -> list[Stage]:
    """Return the stage with the suite; none if holding out leaves nothing to train on."""
    (config,), (method,) = settings.train.on, settings.train.method
    names = {case.groups["functionality"] for case in training_cases(settings)}
    without = held_out(settings)
    mixed = "+" in config
    if without == names and not mixed:
        return []
    words = config.replace(">", " then ").replace("+", " and ")
    title = "-".join(filter(None, [words, method, settings.fold and f"without-{settings.fold}"]))
    lessons = Lessons(settings, model, with_suite=True, with_iid=mixed, without=without)
    training = SuiteTraining(lessons, method, title)
    return [_tuned_stage(training) if settings.train.tune else training.stage()]


def make_stage(
    lessons: Lessons,
    title: str,
    method: str,
    options: Mapping[str, Any],
    how: TrainConfig,
    variants: Mapping[str, str],
) -> Stage:
    """Return a stage that trains on these lessons by one method."""
    identity = {
        "data": lessons.identity(),
        "without": sorted(lessons.without),
        "method": method,
        "options": dict(options),
        "how": asdict(how),
        "losses": dict(variants),
    }

    def run(model: Any, seed: int, progress: Progress, mark: Mark) -> None:
        from ...training.loop import train  # torch
        from ...training.methods import make_method

        made = make_method(method, options)
        train(model, lessons.environments(), made, how, seed, progress, mark, losses=variants)

    def steps() -> int:
        from ...training.loop import steps_of  # torch
        from ...training.methods import make_method

        return steps_of(lessons.environments(), make_method(method, options), how)

    frozen = partial(_read_by_encoder, lessons) if method == "lp" else None
    return Stage(title, identity, steps, run, frozen=frozen)


def _read_by_encoder(lessons: Lessons) -> list[Example]:
    """Return every text that any fold is trained or tested on, so that the frozen encoder reads each once."""
    whole = replace(lessons, without=frozenset())
    items = (item for environment in whole.environments() for item in environment.items)
    trained_on = list(dict.fromkeys(example for item in items for example in item.examples))
    if lessons.settings.hold_out_asks == "all":
        return trained_on  # the job brings the test cases
    tested = build(replace(lessons.settings, hold_out_asks="all"))
    return list(dict.fromkeys([*trained_on, *distinct(tested.cases).examples]))


# The grid search, once for each configuration and method, on the full suite (`docs/method/beluga.md` 1.8)


class SuiteTraining:
    """The training on the suite by one configuration and method."""

    def __init__(self, lessons: Lessons, method: str, title: str = "trial") -> None:
        self.lessons, self.method, self.title = lessons, method, title
        self.settings, self.model = lessons.settings, lessons.model
        (self.config,) = self.settings.train.on
        self.task = load_suite(self.settings.suite).task
        self.how = suite_how(self.settings, self.model, self.task, self.config, method)
        self.losses = losses(self.settings, self.task)

    def options(self, tried: Try) -> Mapping[str, Any]:
        """Return the options of the method with the numbers of a trial, on which those of Fish depend."""
        is_searched = tried and self.method == "fish"
        rate = tried["learning_rate"] / rate_factor(self.model, self.method) if is_searched else None
        return method_options(self.settings, self.task, self.config, self.method, rate)

    def stage(self, tried: Try = MappingProxyType({}), options: Mapping[str, Any] | None = None) -> Stage:
        """Return the stage with the numbers of a trial in place of the usual ones."""
        options = self.options(tried) if options is None else options
        how = replace(self.how, **tried)
        return make_stage(self.lessons, self.title, self.method, options, how, self.losses)


def _tuned_stage(training: SuiteTraining) -> Stage:
    """Return a stage whose numbers are searched first.

    lp-ft is not searched: it begins with the numbers found for lp and continues with those found for vanilla, on a tiny
    model at a lower rate. Numbers that the plan sets come first.
    """
    usual, whole = training.stage(), replace(training.lessons, without=frozenset())
    names = ("lp", "vanilla") if training.method == "lp-ft" else (training.method,)
    searches = tuple(_search(SuiteTraining(whole, name)) for name in names)
    found_by: dict[str, Any] = {"found by": [dict(search.identity) for search in searches]}

    # The tries of lp and vanilla do not have the numbers that the plan sets for lp-ft.
    options, given = training.options({}), training.settings.train.options.get(training.method, {})
    probe = {name: options[name] for name in ("probe_learning_rate", "probe_batch") if name in given}
    fixed = set_numbers(training.settings.train, training.method)
    times = rate_factor(training.model, "lp-ft") / rate_factor(training.model)

    def of_both(found: Sequence[Try]) -> Stage:
        lp, vanilla = found
        first = {"probe_learning_rate": lp["learning_rate"], "probe_batch": lp["batch"]} | probe
        second = {"learning_rate": vanilla["learning_rate"] * times, "batch": vanilla["batch"]} | fixed
        return training.stage(second, {**options, **first})

    is_of_both = training.method == "lp-ft"
    found_by |= {"given": fixed | probe, "times": times} if is_of_both else {}
    settled = of_both if is_of_both else lambda found: training.stage(*found)
    return replace(usual, identity={**usual.identity, "how": found_by}, searches=searches, settled=settled)


def _search(training: SuiteTraining) -> Search:
    """Return the search of the numbers of a training."""
    settings, model, config = training.settings, training.model, training.config
    tries = grid(settings, model, training.task, training.method)
    starts_trained = config != "iid+suite" and settings.train.from_ == "base"
    before = [_iid_stage(settings, model)] if starts_trained else []

    def start(progress: Progress) -> Any:
        fresh = _base(settings, model, SEED)
        for stage in before:
            stage.train(fresh, SEED, progress, silent)
        return fresh

    def score(fresh: Any, tried: Try, progress: Progress) -> float:
        training.stage(tried).train(fresh, SEED, silent, silent)
        return objective(settings, head_labels(settings, model), fresh)

    def steps() -> int:
        return sum(stage.count_steps() for stage in (*map(training.stage, tries), *before))

    identity = {
        "model": dict(load_model(model).fingerprint()),
        "before": [dict(stage.identity) for stage in before],
        "from": settings.train.from_,
        "data": training.lessons.identity(),
        "validation": lessons_identity(settings, "validation"),
        "config": config,
        "method": training.method,
        "options": [dict(training.options(tries[0]))],
        "how": {**asdict(training.how), "learning_rate": None, "batch": None, "epochs": None},
        "losses": training.losses,
        "tries": tries,
        "task": training.task,
    }
    return Search(f"{config} {training.method}", identity, tries, start, score, steps)
