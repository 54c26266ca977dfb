"""Across models: their order by the labels there are, what to label next, and how well a few examples would do."""

from collections.abc import Sequence

from ...core.records import Result
from ..base import Compared
from .choosing import label_next
from .explained import gaps_of
from .order import field_of, put_in_order
from .settings import Settings
from .study import study


def compare(settings: Settings, results: Sequence[Result]) -> Compared:
    """Everything that only several models say; nothing of one."""
    if len(results) < 2:
        return Compared()
    field = field_of(results)
    measures, findings = put_in_order(field)
    suggested = label_next(settings, field)
    more, told = study(settings, field) if settings.probe_sizes else ([], [])
    gaps, warned = gaps_of(field.names, field.results)
    every = [*findings, *([suggested] if suggested else []), *told, *warned]
    return Compared([*measures, *more, *gaps], sorted(every, key=lambda finding: -finding.weight))
