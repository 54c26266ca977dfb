"""Layout of behavioural learning: the headline, Table 3, its legend and warnings; in full every test and rate.

The files of `docs/method/beluga.md` 1.10 have fractions, every digit, empty where undefined:

results        a row per configuration and method: s_iid, suite scores, G, what was left out
results_fine   a row per configuration, method and scenario, a column per functionality
pvalues        a row per configuration and method: p and adjusted p of each score
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from ...core.claims import claim_of_rows
from ...core.errors import some
from ...core.records import Finding, Measure, Result
from ...core.views import Block, Column, Dots, HeatMap, Number, Section, Summary, Table, Text, Tone, Words
from ...core.views import Cell as ShownCell
from ...core.views import Row as ShownRow
from ..behaviour.view import view as behaviour_view
from . import wording
from .build import results_of, tasks_of
from .comparison import AVERAGE
from .findings import CONCLUSION, MOST, SHARED_TEXTS
from .iid import OVERLAP
from .settings import Settings
from .table3 import COLUMNS, IID_COLUMN, Cell, Name, TableRow, means_of, name_of, row_name, tables_by_name
from .trainings import HOLD_OUTS, STANDARD, Row

Tables = Mapping[str | None, Sequence[TableRow]]
"""The rows of each task."""
Columns = Mapping[tuple[str, str], Mapping[Row, Cell]]
"""The cells of each column by task and title."""

MARKS = {"better": "▲", "worse": "▼"}
TONES: Mapping[str, tuple[Tone, ...]] = {"better": ("good",), "worse": ("bad",), "": ()}
BEFORE_AND_AFTER = {
    "seen": "G, seen tests",
    **{name: f"G, held-out {things}" for name, things in wording.PLURALS.items()},
    IID_COLUMN: "i.i.d. score",
}
"""The rows of the chart."""
SCENARIOS = {
    "seen": "seen: trained on the whole suite",
    "functionality": "func: trained without the functionality itself",
    "capability": "class: trained without the whole capability of a functionality",
    "test type": "type: trained without the whole test type of a functionality",
}


def view_sections(
    settings: Settings, results: Sequence[Result], measures: Sequence[Measure], findings: Sequence[Finding]
) -> list[Section]:
    """Return each result by itself; with measures Table 3 of each model, the details behind it, the paper's files."""
    if not measures:
        return behaviour_view(settings, results, measures, findings)
    tables = tables_by_name(measures)
    if not all(tables.values()):
        return [Section(text=Words("No job of this plan has been trained yet.", "doubt"))]
    tasks = {task.task or None: task for task in tasks_of(settings)}
    sections = []
    for model in dict.fromkeys(model for model, _ in tables):
        of_model = {task: rows for (other, task), rows in tables.items() if other == model}
        views = []
        for task, rows in of_model.items():
            own = results_of(tasks[task], results)
            views.append(_task_sections(tasks[task], (model, task), rows, own, measures, findings))
        if settings.tasks:
            averages = [row for row in means_of(measures, model) if row.name == AVERAGE]
            sections += _all_tasks(settings, model, of_model, averages, [view[0].notes for view in views])
            views = [[replace(first, detail="full", summary=None, notes=()), *rest] for first, *rest in views]
        sections += [section for view in views for section in view]
    only = str(results[0].job.get("about", {}).get("task", "")) if results else ""
    names = {task: task or only for _, task in tables}
    return [*sections, Section(blocks=_files(tables, measures, names), detail="file")]


def _title(model: str | None) -> list[Words]:
    return [] if model is None else [Words("behavioural learning of ", "quiet"), Words(model, "strong")]


def _task_sections(
    settings: Settings,
    name: Name,
    rows: Sequence[TableRow],
    results: Sequence[Result],
    measures: Sequence[Measure],
    findings: Sequence[Finding],
) -> list[Section]:
    """Return one table: its headline and rows, then the tests and pass rates behind them."""
    model, task = name
    title = _title(model)
    title += [Words(f"{', ' if title else ''}{task}", "strong")] if task else []
    ours = [row for row in measures if name_of(row.groups) == name]
    seeds = len({row.groups["seed"] for row in ours if "seed" in row.groups and row.value is not None})
    warnings = _warnings([finding for finding in findings if name_of(finding.groups) == name], results)
    legend = Text([Words("\n".join(_legend(settings, ours, rows, seeds)), "quiet")])
    blocks: list[Block] = [_table(_columns({None: rows}), of_tasks=False), legend]
    answer = wording.headline(rows)
    summary = _summary(answer, wording.verdict(rows)[1], blocks, rows)
    return [
        Section(title, answer, blocks, warnings, summary=summary),
        Section(title, "", [_tests(rows)], _details(ours, seeds), detail="full"),
        *_averages(title, ours),
        Section(title, "", list(_matrices(means_of(measures, *name), task)), detail="full"),
    ]


# Several tasks


def _all_tasks(
    settings: Settings,
    model: str | None,
    tables: Tables,
    averages: Sequence[Measure],
    warnings: Sequence[Sequence[str]],
) -> list[Section]:
    """Return the table of all tasks, with the verdict on each and the mean over all, and its heat map."""
    columns = _columns(tables)
    lines = [wording.marks(is_adjusted=settings.profile == "recommended")]
    if averages:
        columns["", "Avg"] = {row_name(row): Cell(row) for row in averages}
        count = sum(name in HOLD_OUTS for rows in tables.values() for name in rows[0].cells)
        lines.append(wording.of_average(count))
    blocks: list[Block] = [_table(columns, of_tasks=True), Text([Words("\n".join(lines), "quiet")])]
    # The first warning of each task comes before the second of any.
    notes = [
        line.replace("! ", f"! {task}: ", 1)
        for level in zip_longest(*warnings)
        for task, line in zip(tables, level, strict=True)
        if line
    ]
    answer = wording.task_headline(list(settings.tasks or {}), tables, averages)
    tones = {wording.verdict(rows)[1] for rows in tables.values()}
    summary = _summary(answer, tones.pop() if len(tones) == 1 else "", blocks)
    rows = _row_names(columns)
    cells = {
        (rows.index(row), j): cell.score
        for j, column in enumerate(columns.values())
        for row, cell in column.items()
        if cell.score
    }
    names = [(f"{config} {method}", config) for config, method in rows]
    picture = HeatMap(names, [(title, task) for task, title in columns], cells, "Table 3")
    return [
        Section(_title(model), answer, blocks, notes, summary=summary),
        Section(blocks=[picture], detail="file"),
    ]


def _row_names(columns: Columns) -> list[Row]:
    return list(dict.fromkeys(row for cells in columns.values() for row in cells))


def _columns(tables: Tables) -> dict[tuple[str, str], dict[Row, Cell]]:
    """Return the cells of every column of all tasks."""
    return {
        (task or "", COLUMNS[name]): {row.name: row.cells[name] for row in rows}
        for task, rows in tables.items()
        for name in rows[0].cells
    }


def _summary(
    answer: Sequence[Words], tone: Tone, blocks: Sequence[Block], rows: Sequence[TableRow] = ()
) -> Summary:
    """Return the first screen: the verdict, the sentences below it, the chart of the leading row, and Table 3."""
    first, *rest = answer
    text = " ".join(words.text.strip() for words in rest)
    chart = _before_and_after(wording.leading_row([row for row in rows if not row.is_baseline]))
    return Summary(first.text.strip(), tone, text, chart=chart, blocks=blocks)


def _before_and_after(row: TableRow | None) -> Table | None:
    """Return the scores of a row next to the iid row's."""
    lines = []
    for column, title in BEFORE_AND_AFTER.items():
        cell = row.cells.get(column) if row else None
        if cell is None or cell.score is None or cell.before is None:
            continue
        before = replace(cell.score, value=cell.before, interval=None)
        tone = TONES[cell.verdict]
        dots = Dots([before, cell.score], (0.0, 1.0), None, tone or ("third",), True)
        change = Number(cell.difference, tone, MARKS.get(cell.verdict, ""))
        lines.append(ShownRow([title, Number(before), Number(cell.score), change, dots]))
    if row is None or not lines:
        return None
    heads = [Column("", "left"), Column("before"), Column("after"), Column("diff")]
    title = f"Before (○) and after (●) training on the suite, in %: {row.config} {row.method}"
    return Table([*heads, Column("", "left", scale=(0.0, 1.0))], lines, title=title)


def _warnings(findings: Sequence[Finding], results: Sequence[Result]) -> list[str]:
    """Return the warnings, the most important first, rows before trainings; one line for trainings with the same."""
    warnings = [finding for finding in findings if finding.kind != CONCLUSION]
    warnings.sort(key=lambda finding: ("seed" in finding.groups, -finding.weight))
    overlap = max((result.job.get("about", {}).get(OVERLAP, 0) for result in results), default=0)
    lines = [f"! {overlap:,} i.i.d. test rows also occur in the training data."] if overlap else []
    alike: dict[str, dict[str, str]] = {}
    for finding in warnings:
        groups, training, key = finding.groups, "", finding.text
        if "seed" in groups:
            without = f" without {groups['fold']}" if groups.get("fold") else ""
            training = f"{groups['config']} {groups['method']}{without} seed {groups['seed']}"
            key = finding.kind + "".join(filter(str.isalpha, finding.text.partition(". ")[0]))
        alike.setdefault(key, {})[training] = finding.text
    for members in alike.values():
        names, texts = some(filter(None, members), 2), list(dict.fromkeys(members.values()))
        lines.append(
            f"! {names}{': ' * bool(names)}{texts[0]}{' (Numbers of the first.)' * (len(texts) > 1)}"
        )
    return lines


# Table 3


def _table(columns: Columns, *, of_tasks: bool) -> Table:
    """Return Table 3: of one task with intervals, of several without."""
    heads = [Column("trained on", "left", once=True), Column("method", "left")]
    heads = [Column("trained on, method", "left")] if of_tasks else heads
    values = [
        [cell.value for cell in column.values() if cell.value is not None] for column in columns.values()
    ]
    best = [max(known, default=None) for known in values]
    shown_rows: list[ShownRow] = []
    last = ""
    for config, method in _row_names(columns):
        shown_rows += [ShownRow()] if last and config != last else []
        last = config
        names: list[ShownCell] = [f"{config} {method}"] if of_tasks else [Words(config, "strong"), method]
        cells = [column.get((config, method), Cell()) for column in columns.values()]
        both = zip(cells, best, strict=True)
        numbers = [_number(cell, most, with_interval=not of_tasks) for cell, most in both]
        shown_rows.append(ShownRow([*names, *numbers]))
    heads += [Column(f"{task}\n{title}".strip()) for task, title in columns]
    return Table(heads, shown_rows, "table-3" if of_tasks else "")


def _number(cell: Cell, best: float | None, *, with_interval: bool) -> Number:
    """Return the value with its mark, or the progress of an empty cell."""
    if cell.value is None:
        return Number(cell.score, instead="–")
    strong: tuple[Tone, ...] = ("strong",) if cell.value == best else ()
    number = Number(cell.score, (*strong, *TONES[cell.verdict]), MARKS.get(cell.verdict, ""))
    return replace(number, part="value and interval") if with_interval else number


def _tests(rows: Sequence[TableRow]) -> Table:
    """Return every test against the iid row: difference, interval, adjusted p."""
    shown_rows = []
    for row in rows:
        for name, cell in row.cells.items():
            change = Number(cell.difference, mark=MARKS.get(cell.verdict, ""))
            numbers = [change, Number(cell.difference, part="interval"), Number(cell.adjusted)]
            shown_rows += [ShownRow([*row.name, COLUMNS[name], *numbers])] if cell.p else []
    heads = [
        Column("trained on", "left", once=True),
        Column("method", "left", once=True),
        Column("score", "left"),
        *map(Column, ("difference", "95 % CI", "adj. p")),
    ]
    return Table(heads, shown_rows, title="Tests against the iid row")


# Averages


def _averages(title: Sequence[Words], measures: Sequence[Measure]) -> list[Section]:
    """Return the paper's Avg of every row."""
    scored = [row for row in measures if row.name == "p value" and row.groups.get("score") == AVERAGE]
    tests = {row_name(row): row for row in scored}
    means = [row for row in measures if row.name == AVERAGE]
    rows = [ShownRow([*row_name(row), Number(row), Number(tests.get(row_name(row)))]) for row in means]
    columns = [Column("trained on", "left", once=True), Column("method", "left"), Column("Avg"), Column("p")]
    table = Table(columns, rows, "averages", "Avg: mean of G over the scenarios; p: against the iid row")
    return [Section(title, "", [table], detail="full")] if rows else []


# How far it reaches


def _legend(
    settings: Settings, measures: Sequence[Measure], rows: Sequence[TableRow], seeds: int
) -> list[str]:
    """Return the terms, the marks and the sample size."""
    counts = {name: [row.n for row in measures if row.name == name] for name in ("suite score", "iid score")}
    suite, iid = (max(numbers, default=0) for numbers in counts.values())
    size = wording.sample_size(suite, iid, seeds)
    terms = wording.of_terms({row.method for row in rows})
    if not any(cell.adjusted for row in rows for cell in row.cells.values()):
        return [terms, size]
    return [terms, wording.marks(is_adjusted=settings.profile == "recommended"), size]


def _details(measures: Sequence[Measure], seeds: int) -> list[str]:
    """Return what only the full view says (`docs/method/beyond.md` 7.19)."""
    lines = [
        f"{row.value:,.0f} of {row.n:,} functionalities are compared; {row.note}".removesuffix("; ")
        for row in measures
        if row.name == "functionalities compared"
    ]
    lines += [
        wording.shared(row.groups["hold out"], row.facts["cases"], row.n)
        for row in measures
        if row.name == SHARED_TEXTS and MOST in row.facts and row.value
    ]
    return [*lines, claim_of_rows(seeds)]


# Figure 1


def _matrices(means: Sequence[Measure], task: str | None) -> Iterator[HeatMap]:
    """Yield pass rates by functionality and row, a map per scenario."""
    rates = [row for row in means if row.name in ("pass rate", "suite score") and row.value is not None]
    for hold_out in HOLD_OUTS:
        shown_rates = [row for row in rates if row.groups["hold out"] in (STANDARD, hold_out)]
        if any(row.groups["config"] != "iid" for row in shown_rates):
            yield _matrix(shown_rates, f"{task}, {SCENARIOS[hold_out]}" if task else SCENARIOS[hold_out])


def _matrix(rates: Sequence[Measure], title: str) -> HeatMap:
    columns = sorted(dict.fromkeys(map(row_name, rates)), key=lambda column: column[0] != "iid")
    known = {row.groups["functionality"]: row.groups for row in rates if row.name == "pass rate"}
    capabilities = list(dict.fromkeys(groups["capability"] for groups in known.values()))
    names = sorted(known, key=lambda name: capabilities.index(known[name]["capability"]))
    places = {name: i for i, name in enumerate(["", *names])}
    return HeatMap(
        [("suite score", ""), *((name, known[name]["capability"]) for name in names)],
        [(method, config) for config, method in columns],
        {(places[row.groups.get("functionality", "")], columns.index(row_name(row))): row for row in rates},
        title,
        kinds=["", *(known[name]["test type"] for name in names)],
        baselines=sum(config == "iid" for config, _ in columns),
    )


# Files

SHORT = {STANDARD: "standard", **{name: COLUMNS[name].removeprefix("G_") for name in HOLD_OUTS}}
"""The paper's names of the scenarios."""


def _files(
    tables: Mapping[Name, Sequence[TableRow]], measures: Sequence[Measure], tasks: Mapping[str | None, str]
) -> list[Table]:
    """Return results, results_fine and pvalues, over all models and tasks."""
    scores, tests = [], []
    for (model, task), rows in tables.items():
        means = means_of(measures, model, task)
        compared = next((row for row in means if row.name == "functionalities compared"), None)
        for row in rows:
            which: list[ShownCell] = [tasks[task], *([] if model is None else [model]), *row.name]
            iid, *cells = (row.cells.get(name, Cell()) for name in (IID_COLUMN, *HOLD_OUTS))
            each = [iid.score, *(cell.suite for cell in cells), *(cell.score for cell in cells), compared]
            full = {"config": row.config, "method": row.method}
            full["hold out"] = STANDARD if row.is_baseline else "seen"
            na_rates = {
                rate.groups["functionality"]: rate.na / (rate.n + rate.na)
                for rate in means
                if rate.name == "pass rate" and rate.na and full.items() <= rate.groups.items()
            }
            scores.append(ShownRow([*which, *map(Number, each), json.dumps(na_rates, ensure_ascii=False)]))
            both = [*(cell.p for cell in (iid, *cells)), *(cell.adjusted for cell in (iid, *cells))]
            tests += [] if row.is_baseline else [ShownRow([*which, *map(Number, both)])]
    heads = ["task", *([] if any(model is None for model, _ in tables) else ["model"]), "config", "method"]
    names, fine = _pass_rates(measures, tasks)
    titles = ["s_iid", *(f"{prefix}_{SHORT[name]}" for prefix in "sG" for name in HOLD_OUTS)]
    adjusted = [f"{title} adjusted" for title in COLUMNS.values()]
    return [
        _file("results", heads, [*titles, "n_func_used", "na_rates"], scores),
        _file("results_fine", heads, ["scenario", *names], fine),
        _file("pvalues", heads, [*COLUMNS.values(), *adjusted], tests),
    ]


def _file(name: str, heads: Sequence[str], titles: Sequence[str], rows: Sequence[ShownRow]) -> Table:
    return Table([*(Column(head, "left") for head in heads), *map(Column, titles)], rows, name)


def _pass_rates(
    measures: Sequence[Measure], tasks: Mapping[str | None, str]
) -> tuple[list[str], list[ShownRow]]:
    """Return the functionalities, and every pass rate as a mean over seeds: Figure 1 as numbers."""
    lines: dict[tuple[str, ...], dict[str, Measure]] = {}
    names: dict[str, None] = {}
    for row in measures:
        if row.name == "pass rate" and "seed" not in row.groups:
            which = [row.groups[name] for name in ("model", "config", "method") if name in row.groups]
            task = tasks[row.groups.get("task")]
            line = lines.setdefault((task, *which, SHORT[row.groups["hold out"]]), {})
            line[row.groups["functionality"]] = row
            names[row.groups["functionality"]] = None
    rows = [ShownRow([*which, *(Number(line.get(name)) for name in names)]) for which, line in lines.items()]
    return list(names), rows
