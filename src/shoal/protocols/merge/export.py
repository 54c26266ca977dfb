"""What `shoal export` writes of MERGE: the variants, or a sample of them for people to judge."""

from pathlib import Path

from ...core.errors import PlanError
from ..base import Built, Form
from .audit import draw_sample, write_form, write_sheet
from .settings import Settings
from .variants import write_variants


def _variants(settings: Settings, built: Built, out: Path) -> int:
    if settings.group or settings.paraphrase:
        raise PlanError(
            "groups that are there already are not written as variants",
            why="nothing was generated, and nothing is known of them but their texts",
            fix="keep the table that they came from",
        )
    write_variants(built, out)
    return sum(len(case.examples) - 1 for case in built.cases)


def _sheet(settings: Settings, built: Built, out: Path) -> int:
    items = draw_sample(built.cases, settings.audit_sample, settings.seed)
    write_sheet(items, out)
    return len(items)


def _form(settings: Settings, built: Built, out: Path) -> int:
    items = draw_sample(built.cases, settings.audit_sample, settings.seed)
    write_form(items, built.labels or (), out)
    return len(items)


FORMS = {
    ".jsonl": Form("variants", _variants),
    ".csv": Form("texts to judge, as a sheet", _sheet),
    ".html": Form("texts to judge, as a page", _form),
}
