"""Compare models: their order, what to label next, and how well a few examples order them."""

from collections.abc import Sequence

from ...core.records import Result
from ..base import Compared
from .attribute import completeness_gaps
from .labelling import label_next
from .order import answer_table, order_models
from .settings import Settings
from .study import study


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
