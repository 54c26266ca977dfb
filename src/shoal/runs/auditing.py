"""One audit here and now: build the cases, train if the settings say so, ask, score. Nothing is kept."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from .. import __version__
from ..errors import PlanError
from ..models import load_model
from ..models.ask import HasAnswered, Questions, batch_plan, questions_of
from ..models.selfcheck import check_answers, self_check
from ..protocols import find_protocol
from ..protocols.base import ProtocolModule
from ..records import Answer, Measures, Result
from ..training.stage import Progress, Recipe
from .settings import make_settings
from .training import threads


def silent(step: str, done: int, total: int) -> None:
    """No progress shown."""


def audit(protocol: str, model: Any, **settings: Any) -> Result:
    """Audit a model by one protocol, here and now; nothing is kept.

    `model` is what `load_model` gives, or the spec to load it from.
    """
    return audit_with(protocol, model, settings)


def audit_with(
    protocol: str, model: Any, settings: Mapping[str, Any], where: str = "", progress: Progress = silent
) -> Result:
    """`audit` for settings that come as a table."""
    module = find_protocol(protocol)
    chosen = only_part(protocol, make_settings(module.Settings, settings, where or protocol))
    asked = load_model(model) if isinstance(model, str) else model
    built = module.build(chosen)
    recipe = module.recipe(chosen, model if isinstance(model, str) else "python:given:here")
    if recipe is None:
        checks = checks_before(module, asked, built)
        answers = ask_all(module, chosen, asked, built, progress)
        checks += checks_after(module, asked, answers, built)
    else:
        checks, answers = [], train_and_ask_all(module, chosen, recipe, built, progress)
    outcomes, measures = module.score(chosen, built.cases, answers)
    job = {"protocol": protocol, "model": str(model), "settings": asdict(chosen), "shoal": __version__}
    return Result(job | {"checks": checks}, built.cases, outcomes, Measures(measures))


def only_part(protocol: str, settings: Any) -> Any:
    """The settings of the one job that they mean."""
    parts = find_protocol(protocol).parts(settings)
    if len(parts) > 1:
        raise PlanError(
            f"these settings mean {len(parts)} jobs", why="one can be tried at a time", fix="shoal run PLAN"
        )
    return parts[0]


def ask_all(
    module: ProtocolModule, settings: Any, model: Any, built: Any, progress: Progress = silent
) -> Any:
    """Everything that a protocol wants to know of a model, as its `score` takes it."""
    if module.asks_labels and isinstance(model, HasAnswered):
        return model.answer_cases(built.cases, built.whole, built.labels)
    questions = questions_of(model, built.cases)
    rows = list(ask_batches(module, settings, model, built, questions, 0, progress))
    return module.gather(settings, built, [row for batch in rows for row in batch], questions)


def train_and_ask_all(
    module: ProtocolModule, settings: Any, recipe: Recipe, built: Any, progress: Progress
) -> Any:
    """The same for a model that is trained first; nothing is kept."""
    rows: list[Answer] = []
    with threads(recipe.threads):
        model = recipe.base(settings.seed)
        questions = questions_of(model, built.cases)

        def ask_now(mark: str) -> None:
            for batch in ask_batches(module, settings, model, built, questions, 0, progress):
                rows.extend(replace(row, mark=mark) for row in batch)

        for stage in recipe.stages:
            stage.train(model, settings.seed, progress, ask_now if stage is recipe.stages[-1] else _no_mark)
        if not (recipe.stages and recipe.stages[-1].marks):
            ask_now("")
    return module.gather(settings, built, rows, questions)


def _no_mark(name: str) -> None:
    """Nobody asks here."""


def ask_batches(
    module: ProtocolModule,
    settings: Any,
    model: Any,
    built: Any,
    questions: Questions,
    done: int,
    progress: Progress,
) -> Iterator[list[Answer]]:
    """The answers batch by batch, as the batch plan says, those of the first `done` batches left out."""
    plan = batch_plan(model, questions)
    kept = sum(map(len, plan[:done]))
    for batch in plan[done:]:
        examples, ids = [questions.examples[at] for at in batch], [questions.ids[at] for at in batch]
        yield module.ask(settings, model, built, examples, ids)
        kept += len(batch)
        progress("asking", kept, len(questions.ids))


def checks_before(module: ProtocolModule, model: object, built: Any) -> list[dict[str, Any]]:
    """Whether a model's answers can be trusted, as far as a few questions tell."""
    if isinstance(model, HasAnswered) or not module.asks_labels:
        return []
    return [asdict(check) for check in self_check(model, built.cases, built.labels)]


def checks_after(module: ProtocolModule, model: object, answers: Any, built: Any) -> list[dict[str, Any]]:
    """The same for answers that were given before we could ask."""
    if not isinstance(model, HasAnswered) or not module.asks_labels:
        return []
    return [asdict(check) for check in check_answers(answers, built.cases, built.labels)]
