"""What a reader in a hurry takes away from a table of behavioural learning."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ....measures import MEASURES, shown
from ....records import Finding, Measure, Result
from ....views import Tone, Words
from ..score import DEGENERATE
from ..settings import Settings
from .aggregation import sensitive_claims
from .retention import lost_tasks
from .signs import IID_ROWS
from .table3 import IID_COLUMN, TableRow, best_gain, means_of, models_of, rows_of_table3
from .trainings import HOLD_OUTS, Row, Trainings, asks_part, read_trainings
from .transfer import negative_transfer

OF_PART = "of a part"
"""A fact of what is found of a model that was asked a part of the suite only."""
CONCLUSION, APPLICABILITY = "conclusion", "applicability"
Planned = Mapping[str, Sequence[str]] | None
WEIGHT, OF_A_FOLD = 10.0, 0.1
"""Of the sentence about a model; what a finding about one fold weighs of one about a whole row, which comes first."""


def conclusions(measures: Sequence[Measure], findings: Sequence[Finding] = ()) -> list[Finding]:
    """The sentence about each model, in the light of what was found of its trainings."""
    told = []
    for model in models_of(measures):
        rows = rows_of_table3(measures, model)
        if rows:
            elsewhere = corrected_gain(rows, measures, model)
            words = sentence(rows, elsewhere, one_answer(rows, findings, model))
            text = "".join(word.text for word in words)
            cells = [row.cells.get(asked_column(rows)) for row in rows]
            rests_on = tuple(cell.difference for cell in cells if cell and cell.difference)
            groups = {} if model is None else {"model": model}
            told.append(Finding(CONCLUSION, text, rests_on, WEIGHT, groups))
    return told


def of_trainings(results: Sequence[Result]) -> list[Finding]:
    """What was found out about single trainings, with which they are."""
    trainings = read_trainings(results)
    several = len({training.model for training in trainings}) > 1
    findings = []
    told_of: set[Any] = set()
    for training in trainings:
        name = training.result.job.get("id")
        if name in told_of:  # the model as it is, which has no seed
            continue
        told_of |= {name} if name else set()
        groups = {"config": training.row[0], "method": training.row[1], "hold out": training.hold_out}
        groups |= {"fold": training.fold, "seed": str(training.seed)}
        groups |= {"model": training.model} if several else {}
        told = [*training.result.findings, *_of_checks(training.result)]
        if asks_part(training.result):
            told = [replace(finding, facts={**finding.facts, OF_PART: True}) for finding in told]
        part = OF_A_FOLD if training.fold else 1.0
        findings += [replace(finding, groups=groups, weight=part * finding.weight) for finding in told]
    return findings


def _of_checks(result: Result) -> list[Finding]:
    """What the training itself noted."""
    failed = [check for check in result.job.get("checks", ()) if check["ok"] is False]
    return [Finding("training", str(check["detail"]), weight=1.0) for check in failed]


def of_table(
    settings: Settings, results: Sequence[Result], measures: Sequence[Measure], planned: Planned
) -> list[Finding]:
    """What several trainings say together that no number of the table does."""
    jobs = read_trainings(results)
    models = sorted({job.model for job in jobs})
    findings = sensitive_claims(measures) + _applicability(measures)
    for model in models:
        which = {"model": model} if len(models) > 1 else {}
        trainings = Trainings(settings, [job for job in jobs if job.model == model], planned)
        found = [*lost_tasks(trainings), *negative_transfer(trainings)]
        findings += [replace(finding, groups=which | dict(finding.groups)) for finding in found]
    return sorted(findings, key=lambda finding: -finding.weight)


def _applicability(measures: Sequence[Measure]) -> list[Finding]:
    """Functionalities that a row is asked much more, or less, of than the iid row (`docs/method/beyond.md` 7.7)."""
    findings = []
    for row in measures:
        if "applies" in row.facts and "seed" not in row.groups:
            ours, theirs = row.facts["applies"]
            groups = row.groups
            text = (
                f"{groups['config']} {groups['method']} ({groups['hold out']}): {groups['functionality']} applies to "
                f"{ours:.0%} of its cases, for iid to {theirs:.0%}: the two pass rates are of different cases"
            )
            findings.append(Finding(APPLICABILITY, text, (row,), 2.0, groups))
    return findings


def asked_column(rows: Sequence[TableRow]) -> str:
    """The column that the question is about: the first that holds something out."""
    return next((name for name in HOLD_OUTS[1:] if name in rows[0].cells), "seen")


def corrected_gain(
    rows: Sequence[TableRow], measures: Sequence[Measure], model: str | None
) -> Measure | None:
    """What the row that is best gains on cases and seeds that did not pick it; None for a lone row.

    Rows of other seeds are picked on those that all have: where that is another row than the headline's, None.
    """
    column = asked_column(rows)
    best = best_gain(rows, column) if any(row.is_baseline for row in rows) else None
    gains = [row for row in means_of(measures, model) if row.name == "gain of the best row"]
    return next(
        (
            row
            for row in gains
            if best
            and row.groups["hold out"] == column
            and (row.groups["config"], row.groups["method"]) == best[0].name
        ),
        None,
    )


def one_answer(rows: Sequence[TableRow], findings: Sequence[Finding], model: str | None) -> Counter[Row]:
    """By row, how many models behind the column asked for give one answer to nearly everything.

    Of a model that was asked a part of the suite only the i.i.d. rows tell: one label may be right to all of a part.
    """
    column = asked_column(rows)
    models = {
        (finding.groups["config"], finding.groups["method"], finding.groups["fold"], finding.groups["seed"])
        for finding in findings
        if finding.kind == DEGENERATE
        and finding.groups.get("model") == model
        and finding.groups.get("hold out") == column
        and (OF_PART not in finding.facts or finding.facts.get("slice") == IID_ROWS)
    }
    return Counter((config, method) for config, method, _, _ in models)


def sentence(
    rows: Sequence[TableRow], elsewhere: Measure | None = None, degenerate: Mapping[Row, int] | None = None
) -> list[Words]:
    """Whether training on the suite helps where it was not trained, and what it costs.

    `elsewhere` is the gain of the best row, corrected for its having been picked; `degenerate` are the rows whose gain
    may be that of one answer to everything, which passes tests of invariance, and how many of their models give it.
    """
    trained = [row for row in rows if not row.is_baseline]
    if len(trained) == len(rows):
        return [Words("There is no iid row yet: nothing to compare with.", "doubt")]
    column = asked_column(rows)
    best = best_gain(rows, column)
    if best is None:
        return [Words("No row is complete yet.", "doubt")]
    best_row, gain = best
    complete = [row for row in trained if row.cells[column].value is not None]
    cells = [row.cells[column] for row in complete]
    tested = [row for row in trained if row.cells[IID_COLUMN].value is not None]
    waiting = len(trained) - len(complete)
    helps, hurts = ([cell.shown for cell in cells].count(verdict) for verdict in ("better", "worse"))
    helped = [row.name for row in complete if row.cells[column].shown == "better"]
    doubtful = [count for name in helped if (count := (degenerate or {}).get(name, 0))]
    only_here = Counter(cell.only for cell in cells if cell.only)
    worse = sum(row.cells[IID_COLUMN].shown == "worse" for row in trained)
    words = "the suite it was trained on" if column == "seen" else f"a {column} it was not trained on"
    points = shown(gain, MEASURES["difference"])
    return [
        Words(f"On {words}, training on the suite "),
        Words(f"helps in {helps} of {len(complete)} rows", _if_any(helps, "good")),
        Words(_doubtful(doubtful), "doubt"),
        Words(f" ({waiting} more not complete)" if waiting else "", "doubt"),
        Words(", "),
        Words(f"hurts in {hurts}", _if_any(hurts, "bad")),
        Words("".join(f", differs {where} in {count}" for where, count in only_here.items())),
        Words(f"; best {best_row.config} {best_row.method}, G {points} points"),
        Words(_picked(elsewhere) if len(complete) > 1 else ""),
        Words(f". The i.i.d. score drops in {worse} of {len(tested)}", _if_any(worse, "")),
        Words("."),
    ]


def _doubtful(models: Sequence[int]) -> str:
    """Of the rows that are helped, those with such models, and how many of these there are."""
    if not models:
        return ""
    total = sum(models)
    give = "models that give" if total > 1 else "model that gives"
    return f", in {len(models)} with {total} {give} one answer to nearly everything"


def _picked(elsewhere: Measure | None) -> str:
    if elsewhere is None:
        return ", picked after the fact"
    gain = shown(elsewhere.value, MEASURES["difference"])
    return f", picked after the fact: a row so picked gains {gain} on other cases"


def _if_any(count: int, tone: Tone) -> Tone:
    return tone if count else "quiet"
