"""Lay out MERGE: headline, accuracies, curves, funnel, and problems with their failing variants."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ...core.records import Case, Finding, Measure, Measures, Result
from ...core.views import (
    Block,
    CaseList,
    Cell,
    Column,
    Curves,
    Line,
    Number,
    Row,
    Section,
    ShownCase,
    Table,
    Tone,
    Words,
)
from . import wording
from .score import GRID, RIGHT, SAID, find_measure
from .settings import HEADLINE, Settings

NOTES = 3
SHOWN_PROBLEMS, SHOWN_VARIANTS = 3, 5
TONES: tuple[Tone, ...] = ("first", "second", "third")


def view(
    settings: Settings, results: Sequence[Result], measures: Sequence[Measure], findings: Sequence[Finding]
) -> list[Section]:
    """Return the sections of each result, or of models side by side."""
    if measures:
        return [_models(settings, Measures(measures))]
    return [section for result in results for section in (_summary(result), _details(result))]


# One job


def _summary(result: Result) -> Section:
    settings, measures = result.settings, result.measures
    checks = [check for check in result.job.get("checks", ()) if check["ok"] is False]
    leading = [f for f in result.findings if f.disqualifies or f.kind == "patterns"]
    answer = [
        Words(f"{finding.text}\n", ("strong", "bad") if finding.disqualifies else "strong")
        for finding in leading
    ]
    return Section(
        title=[Words("MERGE test of ", "quiet"), Words(str(result.job["model"]), "strong")],
        text=[*answer, Words(f"{_heading(settings, result)}\n", "quiet")],
        blocks=[_accuracies(settings, measures), *_drop(measures), *_audit(measures), *_failing(result)],
        notes=[f"! {finding.text}" for finding in result.findings if finding not in leading][:NOTES],
        warnings=[f"{check['name']}: {check['detail']}" for check in checks],
    )


def _details(result: Result) -> Section:
    """Return what only the full view shows: curves and the funnel."""
    measures = result.measures
    curves: list[Block] = [*_curves(measures), *_curves_by_group(measures)]
    errors = sum(row.errors for row in measures.where("sample accuracy") if not row.groups)
    notes = [wording.intervals_note(measures), *wording.dropped_notes(result.job["about"], errors)]
    return Section(blocks=[*curves, *_funnel(measures), *_statistics(measures)], notes=notes, detail="full")


def _heading(settings: Settings, result: Result) -> str:
    problems = [case for case in result.cases if case.meta.get("patterns")]
    variants = sum(len(case.examples) - 1 for case in problems)
    filters = len({case.groups.get("filter") for case in problems})
    return wording.heading(settings, result.job["about"], len(problems) // filters, variants, filters)


def _conditions(measures: Measures, model: str = "") -> list[dict[str, str]]:
    """Return the groups of every condition that has a sample accuracy, over all classes first."""
    return [
        dict(row.groups) for row in measures.where("sample accuracy") if row.groups.get("model", "") == model
    ]


def _base(measures: Measures, model: str = "") -> dict[str, str]:
    """Return the groups of the condition over all classes, under the first filter."""
    return next(iter(_conditions(measures, model)), {})


def _accuracies(settings: Settings, measures: Measures, models: Sequence[str] = ("",)) -> Table:
    """Return a row per condition and model: sample and pattern accuracy, reference; then originals."""
    thresholds = [f"{threshold:g}" for threshold in sorted({*HEADLINE, settings.threshold})]
    names = [Column("", "left", once=True), *[Column("model", "left")] * (models != ("",))]
    columns = [
        *names, Column("problems"), Column("variants\nright"), Column("95 %\ninterval"),
        *(Column(f"solved\nat {_share(threshold)}") for threshold in thresholds),
        Column(f"reference\nat {_share(thresholds[-1])}", spare=True),
    ]  # fmt: skip
    base = _base(measures, models[0])
    rows: dict[str, list[Row]] = {}
    for model in models:
        for groups in _conditions(measures, model):
            name = _condition_name(groups, base)
            last = {**groups, "threshold": thresholds[-1]}
            solved = [
                find_measure(measures, "pattern accuracy", {**groups, "threshold": t}) for t in thresholds
            ]
            cells: list[Cell] = [
                *_leading(name, model, find_measure(measures, "sample accuracy", groups)),
                *(Number(row, "strong") for row in solved),
                Number(find_measure(measures, "independence reference", last), "quiet"),
            ]
            rows.setdefault(name, []).append(Row(cells))
    for row in measures.where("seed accuracy"):
        name = "originals, all problems" if "seeds" in row.groups else "originals"
        cells = _leading(name, row.groups.get("model", ""), row)
        rows.setdefault(name, []).append(Row([*cells, *[""] * (len(columns) - len(cells))], "quiet"))
    legend = [wording.SOLVED_AT.format(_share(thresholds[1])), wording.INDEPENDENT]
    if "filter" in base:
        legend.append(wording.FIRST_FILTER.format(base["filter"]))
    every = [row for part in rows.values() for row in part]
    return Table(columns, every, name="models" if models != ("",) else "accuracy", legend=legend)


def _leading(name: str, model: str, row: Measure | None) -> list[Cell]:
    """Return the first cells of a row: its names, n, value and interval."""
    models = [Words(model, "strong")] if model else []
    return [name, *models, Number(row, part="n"), Number(row), Number(row, part="interval")]


def _drop(measures: Measures) -> Iterator[Table]:
    """Yield the drop from originals to variants."""
    drop = find_measure(measures, "drop from seeds", _base(measures))
    if drop is not None:
        row = Row([wording.DROP, Number(drop), Number(drop, part="interval")])
        yield Table([Column("", "left"), Column(""), Column("95 % interval")], [row], name="originals")


def _share(threshold: str) -> str:
    return f"{100 * float(threshold):g} %"


def _condition_name(groups: Mapping[str, str], base: Mapping[str, str]) -> str:
    """Return the word class, source or filter of a condition: "all", "noun", "no filter"."""
    words = [value for key, value in groups.items() if key not in ("model", "filter")]
    if groups.get("filter") != base.get("filter"):
        words.append(wording.FILTERS.get(groups["filter"], groups["filter"]))
    return ", ".join(words) or "all"


def _curves(measures: Measures) -> Iterator[Curves]:
    """Yield pattern accuracy over thresholds with the independence reference."""
    base = _base(measures)
    lines = [
        _line("patterns", measures, "pattern accuracy", base, "first"),
        _line("if independent", measures, "independence reference", base, "quiet"),
    ]
    if lines[0].points:
        yield Curves("threshold", lines, title=wording.SOLVED, name="pa_curve")


def _curves_by_group(measures: Measures) -> Iterator[Curves]:
    """Yield curves by class, source and filter."""
    base = _base(measures)
    for key in ("word class", "source", "filter"):
        groups = [each for each in _conditions(measures) if {**base, key: each.get(key)} == each]
        if len(groups) > 1:
            yield Curves(
                "threshold",
                _lines(measures, {each[key]: each for each in groups}),
                title=f"{wording.SOLVED_BY}{key}",
            )


def _lines(measures: Measures, groups: Mapping[str, Mapping[str, str]]) -> list[Line]:
    return [
        _line(name, measures, "pattern accuracy", each, TONES[number] if number < len(TONES) else "")
        for number, (name, each) in enumerate(groups.items())
    ]


def _line(name: str, measures: Measures, measure: str, groups: Mapping[str, str], tone: Tone) -> Line:
    points = []
    for threshold in GRID:
        row = find_measure(measures, measure, {**groups, "threshold": f"{threshold:g}"})
        if row is not None:
            points.append((threshold, row))
    return Line(name, points, tone)


def _audit(measures: Measures) -> Iterator[Table]:
    """Yield label preservation."""
    rows = [
        Row([row.groups["audited"], Number(row), Number(row, part="interval"), Number(row, part="n")])
        for row in measures.where("label preservation")
    ]
    if rows:
        columns = [Column("human audit", "left"), Column("label kept"), Column("95 % interval"), Column("n")]
        yield Table(columns, rows, name="audit", title=wording.AUDIT)


def _funnel(measures: Measures) -> Iterator[Table]:
    """Yield the numbers of problems and suggestions after each step."""
    counts = [row for row in measures if row.name in ("problems", "variants")]
    steps = [row for row in counts if row.groups.get("step", "in a draw") != "in a draw"]
    totals = [row for row in steps if "word class" not in row.groups]
    classes = list(dict.fromkeys(row.groups["word class"] for row in steps if "word class" in row.groups))
    columns = [Column("", "left", once=True), Column("step", "left"), Column("left"), *map(Column, classes)]
    rows = []
    for row in totals:
        by_class = [find_measure(measures, row.name, {**row.groups, "word class": name}) for name in classes]
        rows.append(Row([row.name, row.groups["step"], Number(row, "strong"), *map(Number, by_class)]))
    if rows:
        yield Table(columns, rows, name="funnel", title=wording.FUNNEL)


def _statistics(measures: Measures) -> Iterator[Table]:
    """Yield the poster's Table 1: problems with variants by word class."""
    labels = [row.groups["label"] for row in measures.where("problems") if row.groups.keys() == {"label"}]
    suggestions = measures.where("suggestions per problem")
    if not labels or not suggestions:
        return
    columns = [Column("", "left"), Column("problems"), Column("suggestions\neach")]
    columns += [*(Column(f"{label}\n%") for label in labels), Column("variants\nin a draw")]
    rows = []
    for row in [*suggestions[1:], suggestions[0]]:
        problems = [find_measure(measures, "problems", {**row.groups, "label": label}) for label in labels]
        shares = [
            count and Measure("label share", (count.value or 0.0) / count.n if count.n else None, count.n, {})
            for count in problems
        ]
        cells: list[Cell] = [
            row.groups.get("word class", "all"),
            Number(row, part="n"),
            Number(row),
            *map(Number, shares),
            Number(find_measure(measures, "variants", {**row.groups, "step": "in a draw"})),
        ]
        rows.append(Row(cells))
    yield Table(columns, rows, name="statistics", title=wording.STATISTICS)


def _failing(result: Result) -> Iterator[CaseList]:
    """Yield the problems whose original is right and whose variants fail most."""
    place = {case.id: number for number, case in enumerate(result.cases)}
    right = result.columns.get(RIGHT, ())
    base = _base(result.measures).get("filter")
    chosen = [
        case
        for case in result.failing()
        if right and right[place[case.id]][0] == 1.0 and base in (None, case.groups.get("filter"))
    ]
    if cases := with_failures(result, chosen[:SHOWN_PROBLEMS]):
        yield CaseList(cases, Words(wording.FAILING, "strong"))


def with_failures(result: Result, cases: Sequence[Case]) -> list[ShownCase]:
    """Return problems with some of their failing variants."""
    place = {case.id: number for number, case in enumerate(result.cases)}
    problems = []
    for case in cases:
        number = place[case.id]
        wrong = [n for n, hit in enumerate(result.columns[RIGHT][number]) if hit == 0.0]
        positions = [0, *wrong[:SHOWN_VARIANTS]]
        shown = replace(case, examples=tuple(case.examples[n] for n in positions))
        labels = {str(label) for label in case.labels or ()}
        expected = labels.pop() if len(labels) == 1 else ""
        answers = [result.columns[SAID][number][n] for n in positions]
        problems.append(ShownCase(shown, result.outcomes[number], expected, answers))
    return problems


# Several jobs


def _models(settings: Settings, measures: Measures) -> Section:
    """Return a row per condition and model, and the curves of all models."""
    models = list(dict.fromkeys(row.groups["model"] for row in measures.where("sample accuracy")))
    lines = _lines(measures, {model: _base(measures, model) for model in models})
    blocks: list[Block] = [
        _accuracies(settings, measures, models),
        Curves("threshold", lines, title=wording.SOLVED, name="pa_curves"),
    ]
    return Section(blocks=blocks, notes=[wording.intervals_note(measures), wording.COMPARE])
