"""The findings of a table of behavioural learning, and its headline: gain on seen tests, carry-over, i.i.d. cost."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...core.measures import MEASURES, shown
from ...core.records import Finding, Measure, Result
from ...core.views import Tone, Words
from ..degeneracy import DEGENERATE
from .degeneracy import IID_ROWS
from .retention import FORGOTTEN, UNTRAINED, lost_tasks
from .settings import Settings
from .table3 import COLUMNS, IID_COLUMN, TableRow, models_of, rows_of_table3
from .trainings import HOLD_OUTS, Row, Trainings, asks_part, read_trainings
from .transfer import negative_transfer

OF_PART = "of a part"
"""A fact of what is found of a model that was asked a part of the suite only."""
CONCLUSION, APPLICABILITY = "conclusion", "applicability"
Planned = Mapping[str, Sequence[str]] | None
WEIGHT, ARTEFACT, OF_A_FOLD = 10.0, 25.0, 0.1
"""Of the headline; of a gain that may be none; what a finding about one fold weighs of one about a whole row."""
PLURALS = {"functionality": "functionalities", "capability": "capabilities", "test type": "test types"}


def conclusions(measures: Sequence[Measure], findings: Sequence[Finding] = ()) -> list[Finding]:
    """Return the headline of each model's table, and the gains that one answer to everything may explain."""
    concluded = []
    for model in models_of(measures):
        rows = rows_of_table3(measures, model)
        if rows:
            words = headline(rows, lost_rows(findings, model))
            text = "".join(word.text for word in words).replace("\n", " ")
            cells = [cell for row in rows for cell in row.cells.values()]
            rests_on = tuple(cell.difference for cell in cells if cell.difference)
            groups = {} if model is None else {"model": model}
            concluded.append(Finding(CONCLUSION, text, rests_on, WEIGHT, groups))
            concluded += artefacts(rows, findings, model)
    return concluded


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
    findings = _applicability(measures)
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
                f"{ours:.0%} of its cases, in the iid row to {theirs:.0%}. Their pass rates rest on different cases."
            )
            findings.append(Finding(APPLICABILITY, text, (row,), 2.0, groups))
    return findings


def artefacts(rows: Sequence[TableRow], findings: Sequence[Finding], model: str | None) -> list[Finding]:
    """Return the marked gains behind which models give one answer to nearly everything.

    A model that was asked a part of the suite counts by its i.i.d. rows only: one label may be right for all of a part.
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
                give = "model gives" if models == 1 else "models give"
                text = (
                    f"{row.config} {row.method}: the gain in {COLUMNS[column]} may be an artefact. "
                    f"{models} {give} one answer to nearly everything."
                )
                rests_on = (cell.difference,) if cell.difference else ()
                doubtful.append(Finding(DEGENERATE, text, rests_on, ARTEFACT, groups))
    return doubtful


# The headline


def lost_rows(findings: Sequence[Finding], model: str | None) -> set[Row]:
    """Return the rows whose full model lost the task, or never learnt it, in some runs."""
    return {
        (finding.groups["config"], finding.groups["method"])
        for finding in findings
        if finding.kind in (FORGOTTEN, UNTRAINED)
        and finding.groups.get("model") == model
        and not {"seed", "fold"} & finding.groups.keys()
        and "models" not in finding.facts
    }


def headline(rows: Sequence[TableRow], lost: Collection[Row] = ()) -> list[Words]:
    """Return three sentences: the gain on seen tests, the carry-over to held-out ones, the i.i.d. cost.

    A change is called one only where its test says so. With several rows the sentences count them; a row is named
    only with its own numbers. `lost` are rows that lost the task in some runs, which a test over seeds may not show.
    """
    trained = [row for row in rows if not row.is_baseline]
    if not trained:
        return [Words("Only the iid row is trained: there is nothing to compare it with yet.", "doubt")]
    if len(trained) == len(rows):
        return [Words("There is no iid row yet, so there is nothing to compare with.", "doubt")]
    columns = {name: _Column.of(name, trained) for name in rows[0].cells}
    seen, cost = columns.get("seen"), columns[IID_COLUMN]
    held = [columns[name] for name in HOLD_OUTS[1:] if name in columns and columns[name].tested]
    sentences = [_seen(seen)] if seen and seen.tested else []
    sentences += [_held_out(held)] if held else []
    sentences += [_cost(cost, lost)] if cost.tested else []
    waiting = sum(any(cell.value is None for cell in row.cells.values()) for row in trained)
    if waiting:
        sentences.append(Words(f"Not complete yet: {waiting} of {_rows(len(trained))}.", "doubt"))
    return [replace(words, text=f"{words.text}\n") for words in sentences[:-1]] + sentences[-1:]


@dataclass(frozen=True, slots=True)
class _Column:
    """The rows of a column that were tested against the iid row."""

    name: str
    tested: Sequence[TableRow]
    better: Sequence[TableRow]
    worse: Sequence[TableRow]

    @classmethod
    def of(cls, name: str, rows: Sequence[TableRow]) -> "_Column":
        tested = [row for row in rows if row.cells[name].adjusted and row.cells[name].value is not None]
        by_verdict = {
            verdict: [row for row in tested if row.cells[name].verdict == verdict]
            for verdict in ("better", "worse")
        }
        return cls(name, tested, by_verdict["better"], by_verdict["worse"])

    @property
    def things(self) -> str:
        """Return what was held out, in the plural."""
        score = self.tested[0].cells[self.name].score
        facts = score.facts if score else {}
        drawn = f" ({facts['drawn']} of {facts['drawn from']}, drawn at random)" if "drawn" in facts else ""
        return PLURALS[self.name] + drawn

    @property
    def tone(self) -> Tone:
        if self.better:
            return "good" if not self.worse else ""
        return "bad" if self.worse else "quiet"

    def change(self, row: TableRow) -> str:
        """Return a row's score beside the iid row's: "74.7 → 88.6"."""
        cell = row.cells[self.name]
        return " → ".join(shown(value, MEASURES["G"]) for value in (cell.before, cell.value))

    def extreme(self, rows: Sequence[TableRow], word: str, sign: int) -> str:
        """Return the named row that changed most, with its own numbers."""
        changes = {row.name: _difference(row, self.name) for row in rows}
        row = max(rows, key=lambda row: sign * changes[row.name])
        score = "" if self.name == IID_COLUMN else "G "
        return f" ({word}: {row.config} {row.method}, {score}{self.change(row)})"


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _difference(row: TableRow, column: str) -> float:
    difference = row.cells[column].difference
    return (difference.value if difference else None) or 0.0


def _seen(column: _Column) -> Words:
    total = len(column.tested)
    if total == 1:
        (row,) = column.tested
        verb = {
            "better": "Training on the suite improves what it trains on",
            "worse": "Training on the suite worsens what it trains on",
        }.get(row.cells["seen"].verdict, "No clear change on what it trains on")
        return Words(f"{verb}: G {column.change(row)}.", column.tone)
    if not column.better and not column.worse:
        return Words(f"No clear change on what it trains on in any of {total} rows.", "quiet")
    text = f"Training on the suite improves what it trains on in {len(column.better)} of {total} rows"
    text += f" and worsens it in {len(column.worse)}" if column.worse else ""
    text += column.extreme(column.better, "best", 1) if column.better else ""
    return Words(f"{text}.", column.tone)


def _held_out(columns: Sequence[_Column]) -> Words:
    tones = {column.tone for column in columns} - {"quiet"}
    tone: Tone = tones.pop() if len(tones) == 1 else "" if tones else "quiet"
    if all(len(column.tested) == 1 for column in columns):
        return Words(_of_one_row(columns), tone)
    total = len(columns[0].tested)
    gains = any(column.better for column in columns)
    parts = []
    for place, column in enumerate(columns):
        rows = len(column.tested)
        of = f" of {_rows(rows)}" if place == 0 or rows != total else ""
        worse = len(column.worse)
        if gains:
            held = "to held-out " if place == 0 else ""
            part = f"{held}{column.things} in {len(column.better)}{of}"
            part += f" (worse in {worse})" if worse else ""
        else:
            held = "held-out " if place == 0 else ""
            part = f"0{of} improve on {held}{column.things}" if place == 0 else f"0{of} on {column.things}"
            part += f" ({worse} {'gets' if worse == 1 else 'get'} worse)" if worse else ""
        parts.append(part)
    best = columns[0].extreme(columns[0].better, "best", 1) if len(columns) == 1 and gains else ""
    start = "It carries over " if gains else "No clear carry-over: "
    return Words(f"{start}{', '.join(parts)}{best}.", tone)


def _of_one_row(columns: Sequence[_Column]) -> str:
    """Return the sentence about a table with one trained row."""
    (row,) = columns[0].tested
    if len(columns) == 1:
        (column,) = columns
        verb = {"better": "It carries over to", "worse": "It worsens"}.get(
            row.cells[column.name].verdict, "No clear change on"
        )
        return f"{verb} held-out {column.things}: G {column.change(row)}."
    words = {"better": "better", "worse": "worse", "": "no clear change"}
    parts = [
        f"{column.things} {words[row.cells[column.name].verdict]} ({column.change(row)})"
        for column in columns
    ]
    return f"G on what was held out: {', '.join(parts)}."


def _cost(column: _Column, lost: Collection[Row]) -> Words:
    unmarked = sum(row.name in lost and row not in column.worse for row in column.tested)
    tone: Tone = "bad" if column.worse or unmarked else "quiet"
    if len(column.tested) == 1:
        more = " It lost the task in some runs." if unmarked else ""
    else:
        more = f" {_rows(unmarked)} lost the task in some runs." if unmarked else ""
    return Words(f"The i.i.d. score {_change_of_iid(column)}.{more}", tone)


def _change_of_iid(column: _Column) -> str:
    total = len(column.tested)
    if total == 1:
        (row,) = column.tested
        verdict = row.cells[IID_COLUMN].verdict
        if not verdict:
            return f"shows no clear change ({column.change(row)})"
        points = shown(abs(_difference(row, IID_COLUMN)), MEASURES["G"])
        return f"{'falls' if verdict == 'worse' else 'rises'} {points} points ({column.change(row)})"
    if not column.better and not column.worse:
        return f"shows no clear change in any of {total} rows"
    text = f"falls in {len(column.worse)} of {total} rows"
    text += f" and rises in {len(column.better)}" if column.better else ""
    return text + (column.extreme(column.worse, "most", -1) if column.worse else "")
