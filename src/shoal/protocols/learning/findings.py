"""Findings of a plan's trainings: the conclusion of each table, and what no number of it shows."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...core.records import Finding, Result
from ..degeneracy import DEGENERATE
from . import wording
from .compare import ModelTable
from .degeneracy import IID_ROWS
from .retention import FORGOTTEN, UNTRAINED, lost_tasks
from .table3 import TableRow
from .trainings import Row, asks_part, read_trainings
from .transfer import negative_transfer

OF_PART = "of a part"
"""A fact of findings about a model that was tested on a part of the suite."""
CONCLUSION = "conclusion"
WEIGHT, ARTEFACT, OF_A_FOLD = 10.0, 25.0, 0.1
"""Weights: the conclusion, a gain that may be an artefact, and the factor for a single fold."""


def conclusions(
    tables: Mapping[str | None, Sequence[TableRow]], findings: Sequence[Finding] = ()
) -> list[Finding]:
    """Return the headline of each model's table, and the gains that one answer to everything may explain."""
    concluded = []
    for model, rows in tables.items():
        if rows:
            words = wording.headline(rows, lost_rows(findings, model))
            text = "".join(word.text for word in words).replace("\n", " ")
            cells = [cell for row in rows for cell in row.cells.values()]
            rests_on = tuple(cell.difference for cell in cells if cell.difference)
            groups = {} if model is None else {"model": model}
            concluded.append(Finding(CONCLUSION, text, rests_on, WEIGHT, groups))
            concluded += artefacts(rows, findings, model)
    return concluded


def training_findings(results: Sequence[Result]) -> list[Finding]:
    """Return the findings about single trainings, with the training as their groups."""
    trainings = read_trainings(results)
    several = len({training.model for training in trainings}) > 1
    findings = []
    known: set[Any] = set()
    for training in trainings:
        name = training.result.job.get("id")
        if name in known:  # the untrained model, which stands for every seed
            continue
        known |= {name} if name else set()
        groups = {"config": training.row[0], "method": training.row[1], "hold out": training.hold_out}
        groups |= {"fold": training.fold, "seed": str(training.seed)}
        groups |= {"model": training.model} if several else {}
        every = [*training.result.findings, *_failed_checks(training.result)]
        if asks_part(training.result):
            every = [replace(finding, facts={**finding.facts, OF_PART: True}) for finding in every]
        part = OF_A_FOLD if training.fold else 1.0
        findings += [replace(finding, groups=groups, weight=part * finding.weight) for finding in every]
    return findings


def _failed_checks(result: Result) -> list[Finding]:
    failed = [check for check in result.job.get("checks", ()) if check["ok"] is False]
    return [Finding("training", str(check["detail"]), weight=1.0) for check in failed]


def table_findings(tables: Sequence[ModelTable]) -> list[Finding]:
    """Return what several trainings show together: lost tasks and negative transfer."""
    findings = []
    for table in tables:
        every = [*lost_tasks(table.trainings), *negative_transfer(table.trainings)]
        findings += [replace(finding, groups=table.groups | dict(finding.groups)) for finding in every]
    return sorted(findings, key=lambda finding: -finding.weight)


def artefacts(rows: Sequence[TableRow], findings: Sequence[Finding], model: str | None) -> list[Finding]:
    """Return the marked gains behind which models give one answer to nearly everything.

    A model that was tested on a part of the suite counts by its i.i.d. rows only: one label may be right for a part.
    """
    constant = {
        tuple(finding.groups[name] for name in ("config", "method", "hold out", "fold", "seed"))
        for finding in findings
        if finding.kind == DEGENERATE
        and finding.groups.get("model") == model
        and "seed" in finding.groups
        and (OF_PART not in finding.facts or finding.facts.get("slice") == IID_ROWS)
    }
    doubtful = []
    for row in rows:
        for column, cell in row.cells.items():
            models = sum(place[:3] == (*row.name, column) for place in constant)
            if cell.verdict == "better" and models:
                groups = {"config": row.config, "method": row.method, "hold out": column}
                groups |= {} if model is None else {"model": model}
                rests_on = (cell.difference,) if cell.difference else ()
                text = wording.artefact(row.name, column, models)
                doubtful.append(Finding(DEGENERATE, text, rests_on, ARTEFACT, groups))
    return doubtful


def lost_rows(findings: Sequence[Finding], model: str | None) -> Collection[Row]:
    """Return the rows whose full model lost the task, or never learnt it, in some runs."""
    return {
        (finding.groups["config"], finding.groups["method"])
        for finding in findings
        if finding.kind in (FORGOTTEN, UNTRAINED)
        and finding.groups.get("model") == model
        and not {"seed", "fold"} & finding.groups.keys()
        and "models" not in finding.facts
    }
