"""Few-shot ranking: which of several models is best in a new domain, from ten labelled examples?

Models with the same i.i.d. accuracy can differ widely elsewhere. With few labels of the new domain, two questions:

    which is better?        the order, its probability, what to label next, when to stop      order, labelling
    how reliable is that?   how often a factor on t examples orders two models as all do      study, factors

(Singhal et al. 2023, "Assessing Out-of-Domain Language Model Performance from Few Examples".) A job is one model on the
examples; comparing needs several.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from ...core.records import Answer, Example, Result
from ...models.asking import answer_batch
from ..base import Built, Compared
from .build import build
from .inoculate import recipe
from .labelling import label_next
from .order import answer_table, order_models
from .score import completeness_gaps, explain_batch, score
from .settings import Settings
from .study import pool, study
from .view import view

__all__ = ["Settings", "ask", "build", "compare", "parts", "pool", "recipe", "score", "title", "view"]


def parts(settings: Settings) -> list[Settings]:
    """Return one job, or one for each model of the family that is trained."""
    if settings.train is None:
        return [settings]
    return [replace(settings, train=replace(settings.train, doses=(dose,))) for dose in settings.train.doses]


def title(settings: Settings) -> str:
    """Return the names of the data files."""
    names = [*settings.data, *([settings.pool] if settings.pool else [])]
    return " ".join(PurePath(name).name.split(".")[0] for name in names)


def ask(settings: Settings, model: object, built: Built, examples: Sequence[Example]) -> Sequence[Answer]:
    """Return a label for each example, with probabilities and attributions where available."""
    if settings.explainers:
        return explain_batch(settings, model, built, examples)
    return answer_batch(model, built, examples)


def compare(settings: Settings, results: Sequence[Result]) -> Compared:
    """Return the measures and findings of several models; nothing for one."""
    if len(results) < 2:
        return Compared()
    table = answer_table(results)
    measures, findings = order_models(table)
    suggestion = label_next(settings, table)
    studied, cautions = study(settings, table) if settings.probe_sizes else ([], [])
    gaps, warnings = completeness_gaps(table.names, table.results)
    findings = [*findings, *([suggestion] if suggestion else []), *cautions, *warnings]
    return Compared([*measures, *studied, *gaps], sorted(findings, key=lambda finding: -finding.weight))
