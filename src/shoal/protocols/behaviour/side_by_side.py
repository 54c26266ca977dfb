"""Several models asked as they are: the measures of each, told apart by model."""

from collections.abc import Sequence
from dataclasses import replace

from ...core.records import Result
from ..base import Compared


def compare_models(results: Sequence[Result]) -> Compared:
    """Suite scores and pass rates of each model; nothing of one alone. Seeds of one model drew different cases."""
    if len(results) < 2:
        return Compared()
    models = [str(result.job["model"]) for result in results]
    measures, findings = [], []
    for model, result in zip(models, results, strict=True):
        which = {"model": model}
        if models.count(model) > 1:
            which["seed"] = str(result.job["settings"]["seed"])
        measures += [replace(row, groups={**which, **row.groups}) for row in result.measures]
        findings += [replace(finding, groups={**which, **finding.groups}) for finding in result.findings]
    return Compared(measures, findings)
