"""Lay out MERGE: headline, accuracies, curves, funnel, and problems with their failing variants."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ...core.claims import ALPHA
from ...core.records import Finding, Measure, Measures, Result
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
    Text,
    Tone,
    Words,
)
from . import wording
from .score import GRID, RIGHT, find_measure
from .settings import HEADLINE, Settings

NOTES = 3
SHOWN_PROBLEMS, SHOWN_VARIANTS = 3, 5
TONES: tuple[Tone, ...] = ("first", "second", "third")


def view(
    settings: Settings, results: Sequence[Result], measures: Sequence[Measure], findings: Sequence[Finding]
) -> list[Section]:
    """Return the sections of each result, or of models side by side."""
    if measures:
        return [_models(settings, Measures(measures), findings)]
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
        title=[Words("merge of ", "quiet"), Words(str(result.job["model"]), "strong")],
        text=[*answer, Words(f"{_heading(settings, result)}\n", "quiet")],
        blocks=[
            _accuracies(settings, measures),
            *_drop(measures),
            *_audit(measures),
            *_failing_problems(result),
        ],
        notes=[f"! {finding.text}" for finding in result.findings if finding not in leading][:NOTES],
        warnings=[f"{check['name']}: {check['detail']}" for check in checks],
    )


def _details(result: Result) -> Section:
    """Return what only the full view shows: curves and the funnel."""
    measures = result.measures
    blocks = [*_curves(measures), *_curves_by_group(measures), *_funnel(measures), *_statistics(measures)]
    errors = sum(row.errors for row in measures.where("sample accuracy") if not row.groups)
    notes = [wording.intervals_note(measures), *wording.dropped_notes(result.job["about"], errors)]
    return Section(blocks=blocks, notes=notes, detail="full")


def _heading(settings: Settings, result: Result) -> str:
    problems = [case for case in result.cases if case.meta.get("patterns")]
    variants = sum(len(case.examples) - 1 for case in problems)
    filters = len({case.groups.get("filter") for case in problems})
    return wording.heading(settings, result.job["about"], len(problems) // filters, variants, filters)


def _thresholds(settings: Settings) -> list[str]:
    return [f"{threshold:g}" for threshold in sorted({*HEADLINE, settings.threshold})]


def _conditions(measures: Measures) -> list[dict[str, str]]:
    """Return the groups of every condition that has a sample accuracy, in order."""
    return [dict(row.groups) for row in measures.where("sample accuracy") if "model" not in row.groups]


def _accuracies(settings: Settings, measures: Measures) -> Table:
    """Return a row per condition: sample accuracy, pattern accuracy at the thresholds, reference, correlation."""
    thresholds = _thresholds(settings)
    columns = [
        Column("", "left"), Column("problems"), Column("variants\nright"), Column("95 %\ninterval"),
        *(Column(f"solved\nat {_share(threshold)}") for threshold in thresholds),
        Column(f"if indep.,\nat {_share(thresholds[-1])}", spare=True), Column("correlation", spare=True),
    ]  # fmt: skip
    conditions = _conditions(measures)
    base = next(iter(conditions), {})
    rows = []
    for groups in conditions:
        sample = find_measure(measures, "sample accuracy", groups)
        last = {**groups, "threshold": thresholds[-1]}
        rows.append(
            Row([
                _condition_name(groups, base), Number(sample, part="n"), Number(sample),
                Number(sample, part="interval"),
                *(Number(_at(measures, groups, threshold), "strong") for threshold in thresholds),
                Number(find_measure(measures, "independence reference", last), "quiet"),
                Number(find_measure(measures, "intra-problem correlation", groups), "quiet"),
            ])
        )  # fmt: skip
    for row in measures.where("seed accuracy"):
        name = "originals" if not row.groups else "originals, all problems"
        cells: list[Cell] = [name, Number(row, part="n"), Number(row), Number(row, part="interval")]
        rows.append(Row([*cells, *[""] * (len(columns) - len(cells))], "quiet"))
    legend = [wording.solved_legend(_share(thresholds[1])), wording.INDEPENDENT]
    if "filter" in base:
        legend.append(wording.first_filter_legend(base["filter"]))
    return Table(columns, rows, name="accuracy", legend=legend)


def _drop(measures: Measures) -> Iterator[Table]:
    """Yield the drop from originals to variants."""
    drop = find_measure(measures, "drop from seeds", next(iter(_conditions(measures)), {}))
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


def _curves(measures: Measures) -> list[Curves]:
    """Return pattern accuracy over thresholds with the independence reference."""
    base = next(iter(_conditions(measures)), {})
    lines = [
        _line("patterns", measures, "pattern accuracy", base, "first"),
        _line("if independent", measures, "independence reference", base, "quiet"),
    ]
    return [Curves("threshold", lines, title=wording.SOLVED, name="pa_curve")] if lines[0].points else []


def _curves_by_group(measures: Measures) -> Iterator[Block]:
    """Yield curves by class, source and filter."""
    conditions = _conditions(measures)
    base = next(iter(conditions), {})
    for key in ("word class", "source", "filter"):
        groups = [each for each in conditions if key in each and {**base, key: each[key]} == each]
        if len(groups) > 1:
            lines = [
                _line(each[key], measures, "pattern accuracy", each, _tone(number))
                for number, each in enumerate(groups)
            ]
            yield Curves("threshold", lines, title=f"{wording.SOLVED_BY}{key}")


def _tone(number: int) -> Tone:
    return TONES[number] if number < len(TONES) else ""


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
    if not totals:
        return
    columns = [Column("", "left", once=True), Column("step", "left"), Column("left"), *map(Column, classes)]
    rows = []
    for row in totals:
        by_class: list[Cell] = [
            Number(find_measure(measures, row.name, {"word class": name, "step": row.groups["step"]}))
            for name in classes
        ]
        rows.append(Row([row.name, row.groups["step"], Number(row, "strong"), *by_class]))
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
        shares = [find_measure(measures, "problems", {**row.groups, "label": label}) for label in labels]
        rows.append(
            Row([
                row.groups.get("word class", "all"), Number(row, part="n"), Number(row),
                *(Number(_label_share(share)) for share in shares),
                Number(find_measure(measures, "variants", {**row.groups, "step": "in a draw"})),
            ])
        )  # fmt: skip
    yield Table(columns, rows, name="statistics", title=wording.STATISTICS)


def _label_share(row: Measure | None) -> Measure | None:
    return row and Measure("label share", (row.value or 0.0) / row.n if row.n else None, row.n, row.groups)


def _failing_problems(result: Result) -> Iterator[CaseList]:
    """Yield the problems whose original is right and whose variants fail most."""
    place = {case.id: number for number, case in enumerate(result.cases)}
    right = result.columns.get(RIGHT, ())
    base = next(iter(_conditions(result.measures)), {}).get("filter")
    chosen = [
        case
        for case in result.failing()
        if right and right[place[case.id]][0] == 1.0 and base in (None, case.groups.get("filter"))
    ]
    cases = [_with_failures(result, place[case.id]) for case in chosen[:SHOWN_PROBLEMS]]
    if cases:
        yield CaseList(cases, Words(wording.FAILING, "strong"))


def _with_failures(result: Result, number: int) -> ShownCase:
    """Return a problem with some of its failing variants."""
    case, answers = result.cases[number], result.columns["said"][number]
    labels = [str(label) for label in case.labels or ()]
    wrong = [n for n, hit in enumerate(result.columns[RIGHT][number]) if hit == 0.0]
    positions = [0, *wrong[:SHOWN_VARIANTS]]
    shown = replace(case, examples=tuple(case.examples[n] for n in positions))
    expected = labels[0] if len(set(labels)) == 1 else ""
    return ShownCase(shown, result.outcomes[number], expected, [answers[n] for n in positions])


# Several jobs


def _models(settings: Settings, measures: Measures, findings: Sequence[Finding]) -> Section:
    """Return a row per model, the curves of all models and the differences between them."""
    models = list(dict.fromkeys(row.groups["model"] for row in measures if row.name == "sample accuracy"))
    thresholds = _thresholds(settings)
    columns = [Column("model", "left"), Column("originals"), Column("variants"),
               *(Column(f"solved\nat {_share(t)}") for t in thresholds), Column("correlation")]  # fmt: skip
    rows = []
    for model in models:
        base = _base(measures, model)
        rows.append(
            Row([
                model, Number(find_measure(measures, "seed accuracy", {"model": model})),
                Number(find_measure(measures, "sample accuracy", base)),
                *(Number(_at(measures, base, t), "strong", part="value and interval") for t in thresholds),
                Number(find_measure(measures, "intra-problem correlation", base), "quiet"),
            ])
        )  # fmt: skip
    lines = [
        _line(model, measures, "pattern accuracy", _base(measures, model), _tone(number))
        for number, model in enumerate(models)
    ]
    blocks: list[Block] = [Text([Words(finding.text)]) for finding in findings]
    blocks += [
        Table(columns, rows, name="models"),
        Curves("threshold", lines, title=wording.SOLVED, name="pa_curves"),
        *_differences(measures),
        *_models_by_split(thresholds, measures, models),
    ]
    return Section(blocks=blocks, notes=[wording.intervals_note(measures), wording.ONE_CHECKPOINT_EACH])


def _models_by_split(thresholds: Sequence[str], measures: Measures, models: Sequence[str]) -> Iterator[Table]:
    """Yield every model on every class, source and filter: the poster's Table 3 and figures 3 to 7."""
    conditions: dict[str, list[tuple[str, dict[str, str]]]] = {}
    for model in models:
        base = _base(measures, model)
        for row in measures.where("sample accuracy", model=model):
            groups = dict(row.groups)
            if groups != base:
                conditions.setdefault(_condition_name(groups, base), []).append((model, groups))
    columns = [Column("", "left", once=True), Column("model", "left"), Column("problems"), Column("variants\nright"),
               *(Column(f"solved\nat {_share(t)}") for t in thresholds)]  # fmt: skip
    rows = []
    for name, members in conditions.items():
        for model, groups in members:
            sample = find_measure(measures, "sample accuracy", groups)
            solved = [Number(_at(measures, groups, threshold), "strong") for threshold in thresholds]
            rows.append(Row([name, model, Number(sample, part="n"), Number(sample), *solved]))
    if rows:
        yield Table(columns, rows, name="models_by_split", title=wording.BY_SPLIT)


def _base(measures: Measures, model: str) -> dict[str, str]:
    """Return the groups of a model's measures over all classes, under the first filter."""
    rows = (dict(row.groups) for row in measures.where("sample accuracy", model=model))
    return next((groups for groups in rows if groups.keys() <= {"filter", "model"}), {"model": model})


def _at(measures: Measures, base: Mapping[str, str], threshold: str) -> Measure | None:
    return find_measure(measures, "pattern accuracy", {**base, "threshold": threshold})


def _differences(measures: Measures) -> Iterator[Table]:
    rows = []
    for row in measures.where("difference"):
        adjusted = find_measure(measures, "adjusted p value", row.groups)
        significant = adjusted is not None and (adjusted.value or 0.0) <= ALPHA
        rows.append(
            Row([
                row.groups["model"], row.groups["against"], wording.quantity_name(row, ", "),
                Number(row, "strong" if significant else "", part="value and interval"), Number(adjusted),
            ])
        )  # fmt: skip
    if rows:
        columns = [Column(name, "left") for name in ("model", "against", "of")]
        columns += [Column("difference"), Column("p")]
        yield Table(columns, rows, name="differences", title=wording.MODEL_DIFFERENCES)
