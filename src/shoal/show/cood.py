"""A COOD audit in the terminal: the answer in a sentence, the nine cells, what tells a shortcut, the epochs.

OOD cells are shown and never scored: the training data do not say what is right there.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..protocols.cood.cells import CELLS, KINDS, ROLES, cells_of, target
from ..protocols.cood.compare import SETUP, setup_of
from ..protocols.cood.settings import SLOT
from ..records import Measure, Measures, Result

STYLES = {"ID": "green", "COOD": "cyan", "OOD": "bright_black"}
MEANING = {
    "ID": "combinations seen in training",
    "COOD": "unseen, but both halves were seen apart",
    "OOD": "the third word was never seen: not a score",
}
Groups = tuple[tuple[str, str], ...]
LEARNT = 0.7
"""Below this on ID, where a constant answer gets half, what is wrong on COOD says little about combining."""
BAR = 10
"""Characters for 100 %."""
CURVES = 6
"""How many setups of a comparison get their epochs shown."""


def print_result(result: Result, console: Console | None = None) -> None:
    """The whole of one job."""
    console = console or Console(highlight=False)
    now = Measures(row for row in result.measures if "epoch" not in row.groups)
    console.print(_heading(result, now), soft_wrap=True)
    for check in result.job.get("checks", ()):
        if check["ok"] is False:
            detail = Text.assemble((f"! {check['name']}: ", "bold red"), check["detail"], "\n")
            console.print(detail, soft_wrap=True)
    wide = console.width >= 100
    console.print(verdict(now))
    console.print(_matrix(result, now, wide=wide))
    console.print(_quantities(now, wide=wide))
    epochs = [row for row in result.measures if "epoch" in row.groups]
    if len({row.groups["epoch"] for row in epochs}) > 1:
        chosen = next((row.value for row in now.where("chosen epoch")), None)
        console.print(_curve(epochs, chosen, wide=wide))
    console.print(_footnotes(now), soft_wrap=True)


def _heading(result: Result, now: Measures) -> Text:
    said = result.job["settings"]
    tested = _one(now, "accuracy", cell="fst/fst")
    chosen = _one(now, "chosen epoch")
    parts = [
        f"{said['data']}: of each class K = {said['per_label'][0]:,} texts trained on, "
        f"{tested.n + tested.errors:,} tested",
        f"{said['reveal'][0]} items with the third word revealed" if said["reveal"][0] else "",
        f"seed {said['seed']}",
        f"epoch {chosen.value:.0f} of {said['epochs']}: {chosen.note}" if chosen.value else "",
    ]
    control = said["control"][0]
    return Text.assemble(
        ("cood of ", "dim"), (str(result.job["model"]), "bold"),
        (f"   control: {control}" if control != "none" else "", "bold yellow"), "\n",
        (", ".join(filter(None, parts)), "dim"), "\n",
    )  # fmt: skip


# The answer first


def verdict(measures: Measures) -> Text:
    """What the numbers say of this model, in words; OOD has no part in it."""
    seen, unseen = (_one(measures, "accuracy", kind=kind) for kind in ("ID", "COOD"))
    gap = _one(measures, "gap")
    if seen.value is None or unseen.value is None or seen.interval is None or unseen.interval is None:
        return Text("Some cells have no answer at all: nothing can be said of combining.\n", "yellow")
    if not learnt(measures):
        worst = min(
            (_one(measures, "accuracy", cell=cell) for cell in cells_of("ID")), key=lambda row: row.value or 0
        )
        told = (
            f": {_rate(seen)} % right, {worst.groups['cell']} {_rate(worst)} %; a constant answer gets 50. "
        )
        return Text("It has hardly learnt the trained combinations", "bold yellow").append(
            told + "COOD cannot be read yet.\n", "not bold default"
        )
    told = f": {_rate(unseen)} % of unseen combinations are right ({_between(unseen)})"
    told += (
        f", {_rate(gap)} points less than of seen ones"
        if (gap.value or 0) > 0
        else ", no less than of seen ones"
    )
    if unseen.interval[1] < 0.5:
        rest = "; the others it answers as the label of the text alone would have it"
        return Text("It takes the shortcut", "bold red").append(told + rest + ".\n", "not bold default")
    if unseen.interval[0] > 0.5:
        mostly = ", mostly" if unseen.value < 0.9 else ""
        return Text(f"It combines text and template{mostly}", "bold green").append(
            told + ".\n", "not bold default"
        )
    return Text("Between combining and the shortcut", "bold yellow").append(told + ".\n", "not bold default")


def learnt(measures: Measures) -> bool:
    """Whether the trained combinations were learnt, all four: only then do mistakes on COOD say something.

    Who says "inconsistent" too often, for want of training, is right on COOD for nothing.
    """
    mean = _one(measures, "accuracy", kind="ID")
    cells = [_one(measures, "accuracy", cell=cell).value or 0.0 for cell in cells_of("ID")]
    return (mean.value or 0.0) >= LEARNT and min(cells) > 0.5


# The nine cells


def _matrix(result: Result, now: Measures, *, wide: bool) -> Table:
    """Classes of texts down, words of templates across."""
    about = result.cases[0].meta.get("about", {}) if result.cases else {}
    roles, words = about.get("roles", {}), about.get("words", {})
    before, _, behind = str(result.job["settings"]["template"][0]).partition(SLOT)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(Text("text", "dim"))
    for t in ROLES:
        head = Text.assemble((f" {before}", "dim"), (words.get(t, t), "bold"), (behind, "dim"))
        table.add_column(head, no_wrap=True)
    for y in ROLES:
        cells = [_cell(_one(now, "accuracy", cell=f"{y}/{t}"), wide=wide) for t in ROLES]
        table.add_row(Text.assemble((roles.get(y, y), "bold"), (f" {y}", "dim")), *cells)
    table.add_row()
    return table


def _cell(row: Measure, *, wide: bool) -> Text:
    kind = CELLS[row.groups["cell"]]
    cell = Text.assemble((f"{_rate(row):>5}", f"bold {STYLES[kind]}"), (f" {kind:<4}", STYLES[kind]))
    return cell.append(f" {_between(row)}" if wide else "", "dim")


# Means, and what tells a shortcut


def _quantities(now: Measures, *, wide: bool) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    table.add_column("", no_wrap=True)
    for name in ("%", "95 % interval", "n"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", overflow="fold")
    for kind in KINDS:
        style = STYLES[kind] if kind == "OOD" else f"bold {STYLES[kind]}"
        _add(table, kind, _one(now, "accuracy", kind=kind), MEANING[kind], style)
    _add(table, "gap", _one(now, "gap"), "ID less COOD, in points")
    _add(table, "shortcut reliance", _one(now, "shortcut reliance"), "COOD answered by the text's label")
    turns, stays = ("; 100 if it reads both parts", "; 0 if it reads both parts") if wide else ("", "")
    both = _one(now, "template sensitivity", y="fst, sec")
    _add(table, "template sensitivity", both, f"fst, sec texts: the word turns the answer{turns}")
    _add(table, "", _one(now, "template sensitivity", y="neu"), f"neu texts: the same{stays}")
    for cell in cells_of("OOD"):
        meaning = f"{target(cell)} by definition, unknowable from training" if wide else f"is {target(cell)}"
        row = _one(now, "said inconsistent", cell=cell)
        _add(table, f"says inconsistent {cell}", row, meaning, STYLES["OOD"])
    return table


def _add(table: Table, name: str, row: Measure, meaning: str, style: str = "") -> None:
    table.add_row(
        Text(name, style), Text(_rate(row), style), Text(_between(row), "dim"), Text(f"{row.n:,}", "dim"),
        Text(meaning, "dim"),
    )  # fmt: skip


# Epochs


def _curve(rows: Sequence[Measure], chosen: float | None = None, *, wide: bool) -> Table:
    """The means of the three kinds after each epoch (the paper's Figure 2)."""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    for name in ("\nepoch", *(f"\n{kind}" for kind in KINDS), "\ngap", "validation\nID"):
        table.add_column(name, justify="right")
        if wide and name.strip() in KINDS:
            table.add_column("")
    table.add_column("")
    for epoch in dict.fromkeys(row.groups["epoch"] for row in rows):
        own = Measures(row for row in rows if row.groups["epoch"] == epoch)
        cells = []
        for kind in KINDS:
            row = _one(own, "accuracy", kind=kind)
            cells += [Text(_rate(row), STYLES[kind]), *([_bar(row, STYLES[kind])] if wide else [])]
        mark = Text("◂ chosen" if chosen is not None and float(epoch) == chosen else "", "bold")
        validation = Text(_rate(_one(own, "validation accuracy")), "dim")
        table.add_row(epoch, *cells, _rate(_one(own, "gap")), validation, mark)
    return table


def _bar(row: Measure, style: str) -> Text:
    full = round((row.value or 0.0) * BAR)
    return Text.assemble(("█" * full, style), ("·" * (BAR - full), "dim"))


def _footnotes(now: Measures) -> Text:
    lines = ["", "intervals: Wilson for a cell; for means, texts drawn again, each with all its cells"]
    left_out = _one(now, "texts left out")
    if left_out.value:
        lines.append(f"texts left out of {left_out.n:,}: {left_out.note}")
    errors = sum(row.errors for row in now.where("accuracy") if "cell" in row.groups)
    lines += [f"no answer to {errors:,} inputs: they count in no rate"] if errors else []
    lines.append("this checkpoint only: one seed; 5 seeds or more support a claim about the recipe")
    return Text("\n".join(lines), "dim")


# Several jobs


def print_comparison(measures: Sequence[Measure], console: Console | None = None) -> None:
    """What `compare` says: a line per setup, over its seeds; models against each other; the epochs of each."""
    console = console or Console(highlight=False)
    setups = _by_setup(measures)
    if not setups:
        console.print(Text("Nothing to compare yet: fewer than two jobs are done.", "dim"))
        return
    console.print(_setups(setups))
    differences = [row for row in measures if row.name == "difference"]
    if differences:
        console.print(_differences(differences))
    probes = [(setup, rows) for setup, rows in setups.items() if dict(setup)["control"] == "none"]
    for setup, rows in probes[:CURVES]:
        epochs = [row for row in rows if "epoch" in row.groups]
        if len({row.groups["epoch"] for row in epochs}) > 1:
            console.print(Text("\n" + ", ".join(f"{name} {value}" for name, value in setup), "bold"))
            console.print(_curve(epochs, wide=console.width >= 100))
    notes = dict.fromkeys(row.note for row in measures if row.name == "gap" and "epoch" not in row.groups)
    read = f"COOD in brackets: ID is below {100 * LEARNT:.0f} %, or one of its cells below 50: too little was learnt"
    lines = ["", *notes, "intervals of COOD and gap: seeds and texts drawn again together", read]
    console.print(Text("\n".join(lines), "dim"), soft_wrap=True)


def _by_setup(measures: Iterable[Measure]) -> dict[Groups, Measures]:
    found: dict[Groups, list[Measure]] = {}
    for row in measures:
        if row.name != "difference":
            setup = tuple((name, row.groups[name]) for name in SETUP if name in row.groups)
            found.setdefault(setup, []).append(row)
    return {setup: Measures(rows) for setup, rows in found.items()}


def _setups(setups: Mapping[Groups, Measures]) -> Table:
    """A line per setup; COOD in brackets where the trained combinations were hardly learnt."""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    for name, _ in next(iter(setups)):
        table.add_column(name, overflow="fold")
    for name in ("ID", "COOD", "", "gap", "", "OOD", "agree on OOD"):
        table.add_column(name, justify="right", no_wrap=True)
    for setup, rows in setups.items():
        now = Measures(row for row in rows if "epoch" not in row.groups)
        seen, unseen, third = (_one(now, "accuracy", kind=kind) for kind in KINDS)
        gap, agree = _one(now, "gap"), _one(now, "agreement", kind="OOD")
        readable = learnt(now)
        rate = (
            Text(_rate(unseen), f"bold {STYLES['COOD']}") if readable else Text(f"({_rate(unseen)})", "dim")
        )
        table.add_row(
            *(Text(value) for _, value in setup), Text(_rate(seen), STYLES["ID"]), rate, Text(_between(unseen), "dim"),
            Text(_rate(gap), "" if readable else "dim"), Text(_between(gap), "dim"), Text(_rate(third), STYLES["OOD"]),
            Text(_rate(agree), STYLES["OOD"]),
        )  # fmt: skip
    return table


def _with_interval(row: Measure, style: str) -> Text:
    return Text.assemble((_rate(row), style), (f" ({_between(row)})" if row.interval else "", "dim"))


def _differences(rows: Sequence[Measure]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    for name in ("\nmodel", "\nagainst", "\nof"):
        table.add_column(name, overflow="fold")
    table.add_column("\ndifference", justify="right")
    for row in rows:
        of = row.groups.get("kind", "gap")
        table.add_row(
            row.groups["model"],
            row.groups["against"],
            Text(of, STYLES.get(of, "")),
            _with_interval(row, "bold"),
        )
    return table


# For computing

CELL_COLUMNS = (
    "dataset", "model", "K", "control", "template", "names", "unseen", "reveal", "seed", "epoch", "cell", "y", "t",
    "target", "group", "n", "accuracy", "ci_low", "ci_high",
)  # fmt: skip


def cood_tables(results: Sequence[Result], compared: Sequence[Measure]) -> dict[str, str]:
    """The one table that every other can be made of."""
    return {"cells": cells_csv(results)}


def cells_csv(results: Sequence[Result]) -> str:
    """Every cell of every job and epoch as CSV, every digit (`docs/method/cood.md` 3.5); no epoch: the chosen one."""
    text = io.StringIO()
    writer = csv.DictWriter(text, CELL_COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(line for result in results for line in _cell_lines(result))
    return text.getvalue()


def _cell_lines(result: Result) -> Iterator[dict[str, Any]]:
    setup = setup_of(result)
    for row in result.measures.where("accuracy"):
        if "cell" in row.groups:
            y, _, t = row.groups["cell"].partition("/")
            low, high = row.interval or ("", "")
            yield {
                **{name: setup[name] for name in SETUP if name != "data"}, "dataset": setup["data"],
                "seed": result.job["settings"]["seed"], "epoch": row.groups.get("epoch", ""),
                "cell": row.groups["cell"], "y": y, "t": t, "target": target(row.groups["cell"]),
                "group": row.groups["kind"], "n": row.n, "accuracy": "" if row.value is None else row.value,
                "ci_low": low, "ci_high": high,
            }  # fmt: skip


# Rows and numbers


def _one(measures: Measures, name: str, **groups: str) -> Measure:
    """The measure with this name and, beside what says which job it is, exactly these groups."""
    for row in measures:
        own = {key: value for key, value in row.groups.items() if key not in (*SETUP, "epoch")}
        if name == row.name and (own == groups or ("cell" in groups and own.get("cell") == groups["cell"])):
            return row
        if name == row.name == "validation accuracy":
            return row
    return Measure(name, None, 0, groups)


def _rate(row: Measure) -> str:
    return "–" if row.value is None else f"{100 * row.value:.1f}".replace("-", "−")


def _between(row: Measure) -> str:
    if row.interval is None:
        return ""
    return "{:.1f} – {:.1f}".format(*(100 * end for end in row.interval)).replace("-", "−")
