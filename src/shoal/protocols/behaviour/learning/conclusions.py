"""What a reader in a hurry takes away from a table of behavioural learning."""

from collections.abc import Sequence
from dataclasses import replace

from ....measures import MEASURES, shown
from ....records import Finding, Measure, Result
from ....views import Tone, Words
from .table3 import IID_COLUMN, TableRow, best_gain, means_of, models_of, rows_of_table3
from .trainings import HOLD_OUTS, read_trainings

CONCLUSION = "conclusion"
WEIGHT = 10.0


def conclusions(measures: Sequence[Measure]) -> list[Finding]:
    """The sentence about each model."""
    findings = []
    for model in models_of(measures):
        rows = rows_of_table3(measures, model)
        if rows:
            text = "".join(words.text for words in sentence(rows, corrected_gain(rows, measures, model)))
            cells = [row.cells.get(asked_column(rows)) for row in rows]
            rests_on = tuple(cell.difference for cell in cells if cell and cell.difference)
            groups = {} if model is None else {"model": model}
            findings.append(Finding(CONCLUSION, text, rests_on, WEIGHT, groups))
    return findings


def of_trainings(results: Sequence[Result]) -> list[Finding]:
    """What was found out about single trainings, with which they are."""
    trainings = read_trainings(results)
    several = len({training.model for training in trainings}) > 1
    findings = []
    for training in trainings:
        groups = {"config": training.row[0], "method": training.row[1], "hold out": training.hold_out}
        groups |= {"fold": training.fold, "seed": str(training.seed)}
        groups |= {"model": training.model} if several else {}
        findings += [replace(finding, groups=groups) for finding in training.result.findings]
    return findings


def asked_column(rows: Sequence[TableRow]) -> str:
    """The column that the question is about: the first that holds something out."""
    return next((name for name in HOLD_OUTS[1:] if name in rows[0].cells), "seen")


def corrected_gain(
    rows: Sequence[TableRow], measures: Sequence[Measure], model: str | None
) -> Measure | None:
    """What the best row of the column gains on cases and seeds that did not pick it; None for a lone row."""
    column = asked_column(rows)
    gains = [row for row in means_of(measures, model) if row.name == "gain of the best row"]
    return next((row for row in gains if row.groups["hold out"] == column), None)


def sentence(rows: Sequence[TableRow], elsewhere: Measure | None = None) -> list[Words]:
    """Whether training on the suite helps where it was not trained, and what it costs.

    `elsewhere` is the gain of the best row, corrected for its having been picked.
    """
    trained = [row for row in rows if not row.is_baseline]
    if len(trained) == len(rows):
        return [Words("There is no iid row yet: nothing to compare with.", "doubt")]
    column = asked_column(rows)
    best = best_gain(rows, column)
    if best is None:
        return [Words("No row is complete yet.", "doubt")]
    row, gain = best
    cells = [row.cells[column] for row in trained]
    helps, hurts = ([cell.shown for cell in cells].count(verdict) for verdict in ("better", "worse"))
    only_here = sum(cell.verdict != cell.shown for cell in cells)
    worse = sum(row.cells[IID_COLUMN].shown == "worse" for row in trained)
    words = "the suite it was trained on" if column == "seen" else f"a {column} it was not trained on"
    points = shown(gain, MEASURES["difference"])
    return [
        Words(f"On {words}, training on the suite "),
        Words(f"helps in {helps} of {len(trained)} rows", _if_any(helps, "good")),
        Words(", "),
        Words(f"hurts in {hurts}", _if_any(hurts, "bad")),
        Words(f", differs on these runs only in {only_here}" if only_here else ""),
        Words(f"; best {row.config} {row.method}, G {points} points"),
        Words(_picked(elsewhere) if len(trained) > 1 else ""),
        Words(f". The i.i.d. score drops in {worse}", _if_any(worse, "")),
        Words("."),
    ]


def _picked(elsewhere: Measure | None) -> str:
    if elsewhere is None:
        return ", picked after the fact"
    gain = shown(elsewhere.value, MEASURES["difference"])
    return f", picked after the fact: {gain} on cases that did not pick it"


def _if_any(count: int, tone: Tone) -> Tone:
    return tone if count else "quiet"
