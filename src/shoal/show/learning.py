"""Behavioural learning in the terminal: the answer in a sentence, Table 3, and how far it reaches; Figure 1 apart."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..claims import ALPHA, ENOUGH_SEEDS
from ..protocols.behaviour.learning.table3 import (
    COLUMNS,
    IID_COLUMN,
    Cell,
    TableRow,
    best_gain,
    models_of,
    rows_of_table3,
)
from ..protocols.behaviour.learning.trainings import HOLD_OUTS, STANDARD, Row
from ..records import Measure
from .suites import printable

STYLES = {"better": "green", "worse": "red", "": ""}
MARKS = {("better", True): "▲", ("worse", True): "▼", ("better", False): "△", ("worse", False): "▽"}
"""Filled where the interval of the difference agrees; hollow where it says that over seeds there may be none."""
ONE_LINE = 128
"""From this width on, intervals stand beside their value and not below it."""
SCENARIOS = {
    STANDARD: "standard: trained on i.i.d. data only",
    "seen": "seen: trained on the whole suite",
    "functionality": "func: the functionality itself was held out",
    "capability": "class: its whole capability was held out",
    "test type": "type: its whole test type was held out",
}


def print_learning(
    measures: Sequence[Measure], console: Console | None = None, *, anew: bool = False
) -> None:
    """Table 3 of each model; with `anew`, the intervals of G are for new functionalities."""
    console = console or Console(highlight=False)
    for model in models_of(measures):
        own = [row for row in measures if row.groups.get("model") == model]
        rows = rows_of_table3(measures, model)
        if not rows:
            console.print(Text("No job of this plan has been trained yet.", "yellow"))
            return
        if model is not None:
            console.print(Text.assemble(("behavioural learning of ", "dim"), (printable(model), "bold")))
        console.print(_sentence(rows))
        console.print(_table(rows, one_line=console.width >= ONE_LINE, anew=anew))
        console.print(_legend(own, rows, anew=anew))


# The answer first


def _sentence(rows: Sequence[TableRow]) -> Text:
    """What a reader in a hurry takes away."""
    trained = [row for row in rows if not row.is_baseline]
    if len(trained) == len(rows):
        return Text("There is no iid row yet: nothing to compare with.\n", "yellow")
    column = next((name for name in HOLD_OUTS[1:] if name in rows[0].cells), "seen")
    found = best_gain(rows, column)
    if found is None:
        return Text("No row is complete yet.\n", "yellow")
    row, gain = found
    words = "the suite it was trained on" if column == "seen" else f"a {column} it was not trained on"
    text = Text(f"On {words}, training on the suite ")
    verdicts = [own.cells[column].verdict for own in trained]
    helps, hurts = verdicts.count("better"), verdicts.count("worse")
    text.append(f"helps in {helps} of {len(trained)} rows", "green" if helps else "dim")
    text.append(", ").append(f"hurts in {hurts}", "red" if hurts else "dim")
    text.append(f"; best {row.config} {row.method}, G {_signed(gain)} points")
    text.append(", picked after the fact" if len(trained) > 1 else "")
    worse = [own for own in trained if own.cells[IID_COLUMN].verdict == "worse"]
    text.append(f". The i.i.d. score drops in {len(worse)}", "" if worse else "dim")
    return text.append(".\n")


# Table 3


def _table(rows: Sequence[TableRow], *, one_line: bool, anew: bool) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("trained on", no_wrap=True)
    table.add_column("method", no_wrap=True)
    columns = list(rows[0].cells)
    for column in columns:
        table.add_column(COLUMNS[column], justify="right" if one_line else "left", no_wrap=True)
    last = ""
    for row in rows:
        if last and row.config != last:
            table.add_row()
        name = Text("" if row.config == last else printable(row.config), "bold")
        cells = [_cell(row.cells[column], one_line=one_line, anew=anew) for column in columns]
        table.add_row(name, Text(printable(row.method)), *cells)
        last = row.config
    unseen = [_could_see(rows, column) for column in columns]
    if any(unseen):
        table.add_row()
        table.add_row(Text("could see", "dim"), "", *(Text(words, "dim") for words in unseen))
    return table


def _cell(cell: Cell, *, one_line: bool, anew: bool) -> Text:
    """The value in per cent, its mark and its interval."""
    if cell.value is None:
        return Text(_waiting(cell.score.note if cell.score else ""), "dim")
    mark = MARKS.get((cell.verdict, cell.holds_over_seeds), " ")
    doubt = "dim" if cell.verdict and not cell.holds_over_seeds else ""
    style = " ".join(filter(None, ["bold" if cell.is_best else "", doubt, STYLES[cell.verdict]]))
    measure = cell.anew if anew and cell.anew else cell.score
    low_high = measure.interval if measure else None
    interval = "" if low_high is None else "{:.1f}–{:.1f}".format(*(100 * end for end in low_high))
    text = Text.assemble((f"{100 * cell.value:5.1f} {mark}", style))
    if one_line:
        return text.append(f" {interval:>11}", "dim")
    return text.append(f"\n {interval}" if interval else "", "dim")


def _waiting(note: str) -> str:
    """How far an empty cell is: "23 of 38", or a dash."""
    found = re.match(r"(\d+) of (\d+) folds", note)
    return f" {found[1]} of {found[2]}" if found else " –"


def _could_see(rows: Sequence[TableRow], column: str) -> str:
    """The smallest differences that the tests without a mark could have found, in points."""
    cells = [row.cells[column] for row in rows if not row.is_baseline and row.cells[column].p]
    open_ones = [cell.mde.value for cell in cells if not cell.verdict and cell.mde]
    known = [100 * value for value in open_ones if value is not None]
    if not known:
        return " nothing" if open_ones else ""
    low, high = min(known), max(known)
    return f" {low:.1f}" if f"{low:.1f}" == f"{high:.1f}" else f" {low:.1f}–{high:.1f}"


def _legend(measures: Sequence[Measure], rows: Sequence[TableRow], *, anew: bool) -> Text:
    """On what the numbers rest and how far they reach (`docs/method/beyond.md` 7.19)."""
    seeds = sorted({row.groups["seed"] for row in measures if "seed" in row.groups}, key=_number)
    lines = [_cases(measures, rows), _claim(len(seeds)), _intervals(len(seeds), anew=anew)]
    cells = [cell for row in rows for cell in row.cells.values()]
    adjusted = next((cell.adjusted for cell in cells if cell.adjusted), None)
    if adjusted:
        tests = dict.fromkeys(cell.p.note for cell in cells if cell.p)
        lines.append(
            f"▲ ▼ better, worse than iid: adjusted p at most {ALPHA:.2f}".replace("0.", ".")
            + f" ({adjusted.note})"
        )
        lines.append("tests: " + "; ".join(tests))
        hollow = any(cell.verdict and not cell.holds_over_seeds for cell in cells)
        lines += ["△ ▽ the test says so, but the interval of the difference holds 0"] if hollow else []
        lines.append(
            "could see: without a mark, the smallest difference that one test at 5 % finds 8 times in 10"
        )
    lines.append("in per cent; bold: the largest of its column")
    sampled = {
        found[0]
        for cell in cells
        if cell.score and (found := re.match(r"\d+ of \d+ functionalities, drawn at random", cell.score.note))
    }
    lines[1:1] = [f"G_func: {words}" for words in sorted(sampled)]
    return Text("\n" + "\n".join(lines), "dim")


def _number(seed: str) -> tuple[int, str]:
    return (int(seed), seed) if seed.lstrip("-").isdecimal() else (0, seed)


def _cases(measures: Sequence[Measure], rows: Sequence[TableRow]) -> str:
    suite = max((row.n for row in measures if row.name == "suite score"), default=0)
    iid = max((row.n for row in measures if row.name == "iid score"), default=0)
    words = f"{suite:,} cases of the suite, {iid:,} i.i.d. cases"
    for row in measures:
        if row.name == "functionalities compared" and row.value is not None:
            words += f", {row.value:.0f} of {row.n} functionalities"
            words += f"; {printable(row.note)}" if row.note else ""
    return words


def _claim(seeds: int) -> str:
    if seeds < 2:
        return "one seed a row: this checkpoint only, on new cases of these functionalities"
    few = f"; fewer than {ENOUGH_SEEDS} support no claim about the recipe" if seeds < ENOUGH_SEEDS else ""
    return (
        f"mean of {seeds} seeds{few or ': for this training recipe, on new cases of these functionalities'}"
    )


def _intervals(seeds: int, *, anew: bool) -> str:
    drawn = "functionalities and cases drawn again" if anew else "cases drawn again inside each functionality"
    over = ", Student's t over seeds" if seeds > 1 else ""
    return (
        f"95 % intervals of G: {drawn}, Wilson where all cases agree{over}; of the i.i.d. score: Wilson{over}"
    )


# Figure 1


def print_matrix(
    measures: Sequence[Measure], console: Console | None = None, *, hold_outs: Iterable[str] | None = None
) -> None:
    """Pass rates by functionality and row, a block per scenario: Figure 1 as numbers."""
    console = console or Console(highlight=False)
    for model in models_of(measures):
        rates = [
            row
            for row in measures
            if row.name in ("pass rate", "suite score")
            and row.groups.get("model") == model
            and not {"seed", "estimand"} & row.groups.keys()
        ]
        if model is not None:
            console.print(Text(printable(model), "bold"))
        for hold_out in hold_outs or HOLD_OUTS:
            _print_scenario(rates, hold_out, console)


def _print_scenario(rates: Sequence[Measure], hold_out: str, console: Console) -> None:
    own = [row for row in rates if row.groups["hold out"] in (STANDARD, hold_out) and row.value is not None]
    columns = list(dict.fromkeys((row.groups["config"], row.groups["method"]) for row in own))
    if not any(config != "iid" for config, _ in columns):
        return
    names = list(dict.fromkeys(row.groups["functionality"] for row in own if row.name == "pass rate"))
    width = min(44, max(map(len, names)) + 4)
    console.print(Text(f"\n{SCENARIOS[hold_out]}", "bold"))
    baseline = [column for column in columns if column[0] == "iid"]
    others = [column for column in columns if column[0] != "iid"]
    for block in _fitting(others, console.width - width - 5 - _width(baseline)):
        console.print(_matrix(own, names, baseline + block, width))


def _width(columns: Sequence[Row]) -> int:
    """How wide columns are together; a configuration is named above the first of its own."""
    names = [
        [method, config if at == 0 or columns[at - 1][0] != config else ""]
        for at, (config, method) in enumerate(columns)
    ]
    return sum(max(map(len, pair)) + 1 for pair in names)


def _fitting(columns: Sequence[Row], room: int) -> Iterator[list[Row]]:
    """The columns in as few blocks as fit the terminal; a configuration begins a new one where it would be torn."""
    block: list[Row] = []
    for _, group in groupby(columns, key=lambda column: column[0]):
        members = list(group)
        if block and _width(block + members) > room:
            yield block
            block = []
        for column in members:
            if block and _width([*block, column]) > room:
                yield block
                block = []
            block.append(column)
    if block:
        yield block


def _matrix(rates: Sequence[Measure], names: Sequence[str], columns: Sequence[Row], width: int) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column("", width=width, no_wrap=True)
    table.add_column("", no_wrap=True)
    last = ""
    for config, method in columns:
        heading = "" if config == last else config
        table.add_column(Text(printable(f"{heading}\n{method}")), justify="right", no_wrap=True)
        last = config
    found = {
        (row.groups.get("functionality", ""), row.groups["config"], row.groups["method"]): row
        for row in rates
    }
    about = {row.groups["functionality"]: row.groups for row in rates if row.name == "pass rate"}
    mean = [_rate(found.get(("", *column))) for column in columns]
    table.add_row(Text("suite score", "bold"), "", *mean)
    capability = ""
    for name in names:
        if about[name]["capability"] != capability:
            capability = about[name]["capability"]
            table.add_row(Text(printable(capability), "bold"))
        shown = Text(f"  {printable(name)}")
        shown.truncate(width, overflow="ellipsis")
        cells = [_rate(found.get((name, *column))) for column in columns]
        table.add_row(shown, Text(about[name]["test type"], "dim"), *cells)
    return table


def _rate(row: Measure | None) -> Text:
    if row is None or row.value is None:
        return Text("–", "dim")
    style = "green" if row.value >= 0.9 else "yellow" if row.value >= 0.5 else "red"
    return Text(f"{100 * row.value:.0f}", style)


def _signed(value: float) -> str:
    shown = f"{100 * value:+.1f}"
    return "0.0" if float(shown) == 0 else shown.replace("-", "−")
