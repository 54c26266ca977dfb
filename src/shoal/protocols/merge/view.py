"""What to show of MERGE: the sentence, the accuracies, the curves, the funnel, problems with their failing variants."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ...core.claims import ALPHA
from ...core.errors import some
from ...core.measures import quantity, shown
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
    strip_table,
)
from .score import RIGHT, WITHOUT, named
from .settings import HEADLINE, Settings
from .sheet import GRID

NOTES = 3
SHOWN_PROBLEMS, SHOWN_VARIANTS = 3, 5
"""How many problems are shown with variants that fail, and how many of these."""
TONES: tuple[Tone, ...] = ("first", "second", "third")
BY = ("word class", "source", "filter")
SOLVED = "problems solved, by the share of variants that must be right"


def view(
    settings: Settings, results: Sequence[Result], measures: Sequence[Measure], findings: Sequence[Finding]
) -> list[Section]:
    """Each result by itself, or models side by side; every point of every curve for those who want everything."""
    if measures:
        return [_together(settings, Measures(measures), findings), *([_points(results)] if results else [])]
    alone = [section for result in results for section in _of_one(result)]
    return [*alone, *([_points(results)] if results else [])]


# One job


def _of_one(result: Result) -> list[Section]:
    return [_alone(result), _details(result), *_by_group(result.settings, result.measures)]


def _alone(result: Result) -> Section:
    settings, measures = result.settings, result.measures
    checks = [check for check in result.job.get("checks", ()) if check["ok"] is False]
    answer = [
        Words(f"{finding.text}\n", ("strong", "bad") if finding.disqualifies else "strong")
        for finding in result.findings
        if finding.disqualifies or finding.kind == "patterns"
    ]
    others = [
        finding.text for finding in result.findings if finding.kind != "patterns" and not finding.disqualifies
    ]
    blocks: list[Block] = [_accuracies(settings, measures), *_beside_originals(measures), *_audit(measures)]
    return Section(
        title=[Words("merge of ", "quiet"), Words(str(result.job["model"]), "strong")],
        text=[*answer, Words(f"{_heading(settings, result)}\n", "quiet")],
        blocks=[*blocks, *_problems(result)],
        notes=[f"! {text}" for text in others][:NOTES],
        warnings=[f"{check['name']}: {check['detail']}" for check in checks],
    )


def _details(result: Result) -> Section:
    """Return what only the full view shows: thresholds, curves, splits, factors, and what became of each row."""
    settings, measures = result.settings, result.measures
    blocks: list[Block] = [*_at_thresholds(settings, measures), *_curves(measures)]
    blocks += [*_contrasts(settings, measures), *_factors(measures), *_without_hard(result)]
    blocks += [*_funnel(measures), *_statistics(measures)]
    return Section(blocks=blocks, notes=list(_notes(result)), detail="full")


def _heading(settings: Settings, result: Result) -> str:
    varied = [case for case in result.cases if len(case.examples) > 1]
    variants = sum(len(case.examples) - 1 for case in varied)
    filters = {case.groups.get("filter") for case in varied}
    words = (
        f"{result.job['about']['data']}: {len(varied) // len(filters):,} problems with {variants:,} variants"
    )
    words += f" under {len(filters)} filters" if len(filters) > 1 else ""
    alone = sum(len(case.examples) == 1 and bool(case.meta.get("patterns")) for case in result.cases)
    words += f", {alone:,} alone in their group" if alone else ""
    if not settings.generates:
        return words
    suggesters = ", ".join(result.job["about"].get("suggesters", ()))
    how = (
        f"{settings.draws} draws of {settings.sample}"
        if settings.draws
        else f"all draws of {settings.sample}"
    )
    return f"{words}, suggested by {suggesters}; {how} for each problem and class of words"


def _thresholds(settings: Settings) -> list[str]:
    return [f"{threshold:g}" for threshold in sorted({*HEADLINE, settings.threshold})]


def _rows_of(measures: Measures) -> list[dict[str, str]]:
    """The conditions that have a sample accuracy, by their groups, in order."""
    return [dict(row.groups) for row in measures.where("sample accuracy") if "model" not in row.groups]


def _is_crossed(groups: Mapping[str, str], base: Mapping[str, str]) -> bool:
    """Whether these are a class or source under a filter that is not the first."""
    beside = groups.keys() - {"filter", "model"}
    return bool(beside) and groups.get("filter") != base.get("filter")


def _accuracies(settings: Settings, measures: Measures, *, crossed: bool = False) -> Table:
    """A line per condition: seeds, samples, patterns at the thresholds, and what variants would give by themselves."""
    thresholds = _thresholds(settings)
    columns = [
        Column("", "left"), Column("problems"), Column("variants\nright"), Column("95 %\ninterval"),
        *(Column(f"solved\nat {_share(threshold)}") for threshold in thresholds),
        Column(f"if indep.,\nat {_share(thresholds[-1])}", spare=True), Column("correlation", spare=True),
    ]  # fmt: skip
    conditions = _rows_of(measures)
    base = next(iter(conditions), {})
    shown = [groups for groups in conditions if crossed or not _is_crossed(groups, base)]
    rows = []
    for groups in shown:
        sample = named(measures, "sample accuracy", groups)
        last = {**groups, "threshold": thresholds[-1]}
        rows.append(
            Row([
                _in_words(groups, base), Number(sample, part="n"), Number(sample), Number(sample, part="interval"),
                *(Number(_at(measures, groups, threshold), "strong") for threshold in thresholds),
                Number(named(measures, "independence reference", last), "quiet"),
                Number(named(measures, "intra-problem correlation", groups), "quiet"),
            ])
        )  # fmt: skip
    for row in measures.where("seed accuracy"):
        name = "originals" if not row.groups else "originals, of every problem"
        rows.append(Row([name, Number(row, part="n"), Number(row), Number(row, part="interval")], "quiet"))
    legend = [
        f"solved at {_share(t)}: {_share(t)} of a problem's variants are right" for t in thresholds[1:2]
    ]
    legend.append("if indep.: what would be solved if variants failed independently of one another")
    if "filter" in base:
        legend.append(f"classes and sources: under the filter {base['filter']}")
    # Where there are more rows than these, another table holds all of them.
    name = "accuracy" if crossed or len(shown) == len(conditions) else ""
    return Table(columns, [_padded(row, len(columns)) for row in rows], name=name, legend=legend)


def _at_thresholds(settings: Settings, measures: Measures) -> Iterator[Table]:
    """Over all classes, each threshold with its interval, and what it is read beside."""
    base = next(iter(_rows_of(measures)), {})
    columns = [
        Column("must be\nright"), Column("solved"), Column("95 %\ninterval"), Column("originals\nright"),
        Column("if\nindependent"), Column("beta-\nbinomial"), Column("SD over\ndraws"),
    ]  # fmt: skip
    rows = []
    for threshold in _thresholds(settings):
        at = {**base, "threshold": threshold}
        solved = named(measures, "pattern accuracy", at)
        if solved is not None:
            rows.append(
                Row([
                    _share(threshold), Number(solved, "strong"), Number(solved, part="interval"),
                    Number(named(measures, "pattern accuracy", {**base, "seed": "right", "threshold": threshold})),
                    Number(named(measures, "independence reference", at), "quiet"),
                    Number(named(measures, "beta-binomial reference", at), "quiet"),
                    Number(_spread(solved), "quiet"),
                ])
            )  # fmt: skip
    legend = [
        "originals right: the same, of problems whose original is answered right",
        "beta-binomial: what the accuracy of variants and their correlation within problems would give",
    ]
    if rows:
        yield Table(
            columns, rows, name="thresholds", title="problems solved, over all classes", legend=legend
        )


def _spread(row: Measure) -> Measure | None:
    if "sd over draws" not in row.facts:
        return None
    return Measure("sd over draws", float(row.facts["sd over draws"]), row.n)


DROP = "drop from seeds"
BESIDE = {
    DROP: ("originals better than variants by, in points", ""),
    "parity threshold": ("highest share of variants at which patterns do as well as originals", "none"),
    "intra-problem correlation": ("correlation of variants within problems", "cannot be told"),
}
"""Measures in words, and what is said where there is no value."""


def _beside_originals(measures: Measures) -> Iterator[Table]:
    """What happens from originals to variants, in three numbers."""
    base = next(iter(_rows_of(measures)), {})
    rows = [
        Row([words + _two_rates(row), Number(row, instead=instead), Number(row, part="interval")])
        for name, (words, instead) in BESIDE.items()
        if (row := named(measures, name, base)) is not None
    ]
    if rows:
        yield Table([Column("", "left"), Column(""), Column("95 % interval")], rows, name="originals")


def _two_rates(row: Measure) -> str:
    """What a drop is the difference of: the original is not counted among its variants."""
    if row.name != DROP or "variants" not in row.facts:
        return ""
    originals, variants = (
        shown(row.facts[name], quantity("sample accuracy")) for name in ("originals", "variants")
    )
    return f" ({originals} − {variants} without the original)"


def _padded(row: Row, width: int) -> Row:
    return Row([*row.cells, *[""] * (width - len(row.cells))], row.tone)


def _share(threshold: str) -> str:
    return f"{100 * float(threshold):g} %"


FILTERS = {
    "default": "default filter", "pos": "same class only", "probability": "more probable only",
    "none": "no filter", "scrambled": "scrambled",
}  # fmt: skip


def _in_words(groups: Mapping[str, str], base: Mapping[str, str]) -> str:
    """A condition by what it has beside the first filter: "all", "noun", "no filter", "noun, no filter"."""
    words = [value for key, value in groups.items() if key not in ("model", "filter", "threshold")]
    if groups.get("filter") != base.get("filter"):
        words.append(FILTERS.get(groups["filter"], groups["filter"]))
    return ", ".join(words) or "all"


def _curves(measures: Measures) -> list[Curves]:
    """Pattern accuracy over thresholds, with its reference."""
    base = next(iter(_rows_of(measures)), {})
    whole = [
        _line("patterns", measures, "pattern accuracy", base, "first"),
        _line("if independent", measures, "independence reference", base, "quiet"),
    ]
    curves = [Curves("threshold", whole, title=SOLVED, name="pa_curve")]
    return [curve for curve in curves if all(line.points for line in curve.lines)]


def _by_group(settings: Settings, measures: Measures) -> Iterator[Section]:
    """The funnel, curves by class, source and filter condition, every row: for those who want everything."""
    conditions = _rows_of(measures)
    base = next(iter(conditions), {})
    steps = [row for row in measures.where("variants") if set(row.groups) == {"step"}]
    left = [(row.groups["step"], [row]) for row in steps if row.groups["step"] != "drawn"]
    blocks: list[Block] = [strip_table(left, title="variants left after each step")] if len(left) > 1 else []
    for key in BY:
        groups = [each for each in conditions if key in each and {**base, key: each[key]} == each]
        if len(groups) > 1:
            lines = [
                _line(each[key], measures, "pattern accuracy", each, _tone(number))
                for number, each in enumerate(groups)
            ]
            blocks.append(Curves("threshold", lines, title=f"problems solved, by {key}"))
    if any(_is_crossed(groups, base) for groups in conditions):
        blocks.append(_accuracies(settings, measures, crossed=True))
    if blocks:
        yield Section(blocks=blocks, detail="full")


def _tone(number: int) -> Tone:
    """Of the first lines; what tells further ones apart is the renderer's."""
    return TONES[number] if number < len(TONES) else ""


def _line(name: str, measures: Measures, measure: str, groups: Mapping[str, str], tone: Tone) -> Line:
    points = []
    for threshold in GRID:
        row = named(measures, measure, {**groups, "threshold": f"{threshold:g}"})
        if row is not None:
            points.append((threshold, row))
    return Line(name, points, tone)


def _contrasts(settings: Settings, measures: Measures) -> Iterator[Table]:
    """Classes, sources and filters against each other: all variants, and patterns at the threshold that counts."""
    at, rows = f"{settings.threshold:g}", []
    for sample in measures.where("difference between splits"):
        if "threshold" not in sample.groups:
            (key,) = sample.groups.keys() - {"against"}
            names = [FILTERS.get(name, name) for name in (sample.groups[key], sample.groups["against"])]
            solved = named(measures, "difference between splits", {**sample.groups, "threshold": at})
            numbers = [Number(row, part="value and interval") for row in (sample, solved)]
            rows.append(Row([key, *names, *numbers]))
    if rows:
        columns = [Column("", "left", once=True), Column("", "left"), Column("against", "left")]
        columns += [Column("variants right"), Column(f"solved at {_share(at)}")]
        legend = ["in points; each interval by itself, not adjusted for their number"]
        yield Table(columns, rows, name="splits", title="splits against each other", legend=legend)


def _factors(measures: Measures) -> Iterator[Table]:
    """What goes with a variant being right, each factor with the others held fast."""
    rows = [
        Row([
            row.groups["factor"], row.groups.get("against", ""), Number(row), Number(row, part="interval"),
            Number(row, part="n"),
        ])
        for row in measures.where("within-problem effect")
    ]  # fmt: skip
    if rows:
        columns = [Column("", "left"), Column("against", "left"), Column("right more\noften by")]
        columns += [Column("95 %\ninterval"), Column("problems in\nwhich it varies")]
        legend = [
            "in points, on average over variants; twice as probable: the replacement, to who suggests it"
        ]
        title = "variants of one and the same problem, the other factors held fast"
        yield Table(columns, rows, name="factors", title=title, legend=legend)


def _without_hard(result: Result) -> Iterator[Table]:
    """Problems solved without the variants that all references fail, beside those with them."""
    rows = []
    for row in result.measures.where(WITHOUT):
        whole = named(result.measures, "pattern accuracy", row.groups)
        rows.append(
            Row([
                _share(row.groups["threshold"]), Number(row, "strong"), Number(row, part="interval"),
                Number(row, part="n"), Number(whole), Number(whole, part="n"),
            ])
        )  # fmt: skip
    if rows:
        columns = [Column("must be\nright"), Column("solved\nwithout"), Column("95 %\ninterval")]
        columns += [Column("problems"), Column("solved\nwith"), Column("problems")]
        known = result.job["about"].get("references", {})
        references = (
            f"{name} {100 * share:.1f} %" if share is not None else name for name, share in known.items()
        )
        legend = [
            "a check, no result: variants that all fail may have lost their label, or be hard",
            f"references, with their share of right originals: {', '.join(references)}",
        ]
        title = "without the variants that all references fail"
        yield Table(columns, rows, name="sensitivity", title=title, legend=legend)


def _audit(measures: Measures) -> Iterator[Table]:
    """What people said of labels, and the accuracy by their labels."""
    names = ("label preservation", "annotator kappa", "audited sample accuracy", "corrected sample accuracy",
             "pattern accuracy of a perfect model")  # fmt: skip
    rows = [row for row in measures if row.name in names]
    if rows:
        columns = [Column("by people", "left"), Column(""), Column("interval or bounds"), Column("n")]
        lines = [
            Row([
                ", ".join([row.name, *row.groups.values()]), Number(row), Number(row, part="interval"),
                Number(row, part="n"),
            ])
            for row in rows
        ]  # fmt: skip
        legend = [
            "audited: what people's labels change is added; bounds: at most as much as labels err",
            "corrected: as if errors fell evenly and helped no model, which favours every model",
        ]
        yield Table(columns, lines, name="audit", title="do variants keep their label?", legend=legend)


def _funnel(measures: Measures) -> Iterator[Table]:
    """What became of problems and suggestions, step by step."""
    counts = [row for row in measures if row.name in ("problems", "variants")]
    steps = [row for row in counts if row.groups.get("step", "in a draw") != "in a draw"]
    whole = [row for row in steps if "word class" not in row.groups]
    classes = list(dict.fromkeys(row.groups["word class"] for row in steps if "word class" in row.groups))
    if not whole:
        return
    columns = [Column("", "left", once=True), Column("step", "left"), Column("left"), *map(Column, classes)]
    lines = []
    for row in whole:
        beside: list[Cell] = [
            Number(named(measures, row.name, {"word class": name, "step": row.groups["step"]}))
            for name in classes
        ]
        lines.append(Row([row.name, row.groups["step"], Number(row, "strong"), *beside]))
    yield Table(columns, lines, name="funnel", title="what is left after each step")


def _statistics(measures: Measures) -> Iterator[Table]:
    """Problems with variants by class of words, as the poster's Table 1 has them."""
    labels = [row.groups["label"] for row in measures.where("problems") if row.groups.keys() == {"label"}]
    each = measures.where("suggestions per problem")
    if not labels or not each:
        return
    columns = [Column("", "left"), Column("problems"), Column("suggestions\neach")]
    columns += [*(Column(f"{label}\n%") for label in labels), Column("variants\nin a draw")]
    lines = []
    for row in [*each[1:], each[0]]:
        shares = [named(measures, "problems", {**row.groups, "label": label}) for label in labels]
        lines.append(
            Row([
                row.groups.get("word class", "all"), Number(row, part="n"), Number(row),
                *(Number(_label_share(share)) for share in shares),
                Number(named(measures, "variants", {**row.groups, "step": "in a draw"})),
            ])
        )  # fmt: skip
    yield Table(columns, lines, name="statistics", title="problems with variants")


def _label_share(row: Measure | None) -> Measure | None:
    return row and Measure("label share", (row.value or 0.0) / row.n if row.n else None, row.n, row.groups)


def _problems(result: Result) -> Iterator[CaseList]:
    """Problems whose original is right and whose variants fail most, with some that do."""
    place = {case.id: number for number, case in enumerate(result.cases)}
    right = result.columns.get(RIGHT, ())
    base = next(iter(_rows_of(result.measures)), {}).get("filter")
    chosen = [
        case
        for case in result.failing()
        if right and right[place[case.id]][0] == 1.0 and base in (None, case.groups.get("filter"))
    ]
    cases = [_with_failures(result, place[case.id]) for case in chosen[:SHOWN_PROBLEMS]]
    if cases:
        yield CaseList(cases, Words("originals right, variants wrong: the worst", "strong"))


def _with_failures(result: Result, number: int) -> ShownCase:
    """A problem with the variants that fail; the others are left out."""
    case, answers = result.cases[number], result.columns["said"][number]
    labels = [str(label) for label in case.labels or ()]
    wrong = [n for n, hit in enumerate(result.columns[RIGHT][number]) if hit == 0.0]
    kept = [0, *wrong[:SHOWN_VARIANTS]]
    shown = replace(case, examples=tuple(case.examples[n] for n in kept))
    expected = labels[0] if len(set(labels)) == 1 else ""
    return ShownCase(shown, result.outcomes[number], expected, [answers[n] for n in kept])


def _notes(result: Result) -> Iterator[str]:
    yield _intervals(result.measures)
    about = result.job["about"]
    if about.get("dropped"):
        yield f"left out of {about['rows']:,} rows: {some(f'{n:,} {why}' for why, n in about['dropped'].items())}"
    if about.get("words left out"):
        yield f"words not replaced: {some(_left_out(about['words left out'], about.get('suggesters', ())))}"
    errors = sum(row.errors for row in result.measures.where("sample accuracy") if not row.groups)
    if errors:
        yield f"no answer to {errors:,} variants: they count in no rate"


def _left_out(counts: Mapping[str, int], suggesters: Sequence[str]) -> Iterator[str]:
    """How many words, and why; "for example" would be read otherwise."""
    for why, count in counts.items():
        reason, _, name = why.rpartition(" for ")
        yield f"{count:,} {reason} for the suggester {name}" if name in suggesters else f"{count:,} {why}"


def _intervals(measures: Measures) -> str:
    """What intervals are over."""
    methods = [row.interval_method for row in measures.where("sample accuracy") if row.interval_method]
    over = methods[0].rpartition(" ")[2] if methods else "premises"
    draws = any("draws" in row.facts for row in measures.where("sample accuracy"))
    words = "; the draws are averaged, their spread is no sampling error" if draws else ""
    return f"intervals: new {over}{words}"


# Several jobs


def _together(settings: Settings, measures: Measures, findings: Sequence[Finding]) -> Section:
    """A line per model, the curves of all, and the differences."""
    models = list(dict.fromkeys(row.groups["model"] for row in measures if row.name == "sample accuracy"))
    thresholds = _thresholds(settings)
    columns = [Column("model", "left"), Column("originals"), Column("variants"),
               *(Column(f"solved\nat {_share(t)}") for t in thresholds), Column("correlation")]  # fmt: skip
    rows = []
    for model in models:
        base = _base(measures, model)
        seed = named(measures, "seed accuracy", {"model": model})
        rows.append(
            Row([
                model, Number(seed), Number(named(measures, "sample accuracy", base)),
                *(Number(_at(measures, base, t), "strong", part="value and interval") for t in thresholds),
                Number(named(measures, "intra-problem correlation", base), "quiet"),
            ])
        )  # fmt: skip
    lines = [
        _line(model, measures, "pattern accuracy", _base(measures, model), _tone(number))
        for number, model in enumerate(models)
    ]
    blocks: list[Block] = [Text([Words(finding.text)]) for finding in findings]
    blocks += [
        Table(columns, rows, name="models"),
        Curves("threshold", lines, title=SOLVED, name="pa_curves"),
    ]
    blocks += [
        *_differences(measures),
        *_models_without_hard(measures, models),
        *_models_by_split(thresholds, measures, models),
    ]
    return Section(blocks=blocks, notes=[_intervals(measures), "each model is one checkpoint"])


def _models_without_hard(measures: Measures, models: Sequence[str]) -> Iterator[Table]:
    """Every model without the variants that all references fail."""
    found = {model: measures.where(WITHOUT, model=model) for model in models}
    thresholds = [row.groups["threshold"] for row in next(iter(found.values()), ())]
    if thresholds:
        columns = [Column("model", "left"), *(Column(f"solved\nat {_share(t)}") for t in thresholds)]
        rows = [
            Row([model, *(Number(row, part="value and interval") for row in each)])
            for model, each in found.items()
        ]
        title = "a check: without the variants that all references fail"
        yield Table(columns, rows, name="sensitivity", title=title)


def _models_by_split(thresholds: Sequence[str], measures: Measures, models: Sequence[str]) -> Iterator[Table]:
    """Every model on every class, source and filter: the poster's Table 3 and figures 3 to 7 in numbers."""
    conditions: dict[str, list[tuple[str, dict[str, str]]]] = {}
    for model in models:
        base = _base(measures, model)
        for row in measures.where("sample accuracy", model=model):
            groups = dict(row.groups)
            if groups != base and not _is_crossed(groups, base):
                conditions.setdefault(_in_words(groups, base), []).append((model, groups))
    columns = [Column("", "left", once=True), Column("model", "left"), Column("problems"), Column("variants\nright"),
               *(Column(f"solved\nat {_share(t)}") for t in thresholds)]  # fmt: skip
    rows = [
        Row([
            words, model, Number(sample := named(measures, "sample accuracy", groups), part="n"), Number(sample),
            *(Number(_at(measures, groups, threshold), "strong") for threshold in thresholds),
        ])
        for words, found in conditions.items()
        for model, groups in found
    ]  # fmt: skip
    if rows:
        yield Table(columns, rows, name="models_by_split", title="by class of words, source and filter")


def _base(measures: Measures, model: str) -> dict[str, str]:
    """The groups of a model's measures over all classes, under the first filter condition."""
    rows = (dict(row.groups) for row in measures.where("sample accuracy", model=model))
    return next((groups for groups in rows if groups.keys() <= {"filter", "model"}), {"model": model})


def _at(measures: Measures, base: Mapping[str, str], threshold: str) -> Measure | None:
    return named(measures, "pattern accuracy", {**base, "threshold": threshold})


def _differences(measures: Measures) -> Iterator[Table]:
    rows = [row for row in measures if row.name == "difference"]
    if rows:
        columns = [Column(name, "left") for name in ("model", "against", "of")] + [
            Column("difference"),
            Column("p"),
        ]
        lines = []
        for row in rows:
            adjusted = named(measures, "adjusted p value", row.groups)
            clear = adjusted is not None and (adjusted.value or 0.0) <= ALPHA
            what = str(row.facts["of"]) + (
                f", {row.groups['threshold']}" if "threshold" in row.groups else ""
            )
            lines.append(
                Row([
                    row.groups["model"], row.groups["against"], what,
                    Number(row, "strong" if clear else "", part="value and interval"), Number(adjusted),
                ])
            )  # fmt: skip
        yield Table(columns, lines, name="differences", title="differences on the same problems, p by Holm")


# For computing


def _points(results: Sequence[Result]) -> Section:
    """Every point of every curve of every job (`pa_curve.csv` of `docs/method/merge.md` 4.5)."""
    columns = [Column(name, "left") for name in ("model", "split", "theta")]
    columns += [Column("pa"), Column("n"), Column("rep_sd")]
    rows = [
        Row([
            str(result.job["model"]),
            ", ".join(value for key, value in row.groups.items() if key != "threshold") or "all",
            row.groups["threshold"], Number(row, part="value and interval"), Number(row, part="n"),
            Number(_spread(row)),
        ])
        for result in results
        for row in result.measures.where("pattern accuracy")
    ]  # fmt: skip
    return Section(blocks=[Table(columns, rows, name="points")], detail="full")
