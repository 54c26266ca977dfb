"""Lay out bias diagnostics: the scores of one checkpoint, or the comparison of several.

A strip shows a number on its scale: │ is where nothing is preferred, ● the value, ─ its interval; with several
checkpoints each is a dot. The layout follows the scores of a diagnostic, not its name: stereotype scores, effect sizes,
or cluster accuracies.
"""

from collections.abc import Iterator, Sequence

from ...core.measures import FEW_CASES
from ...core.records import Finding, Measure, Measures, Result
from ...core.views import (
    Block,
    Cell,
    Column,
    Curves,
    Dots,
    Number,
    Row,
    Section,
    Table,
    Text,
    Tone,
    Words,
    strip_table,
)
from ...core.views import Line as Curve
from . import wording
from .build import module_of
from .checkpoints import CURVES
from .family import DECIDED, LEVEL, SCORE, Family, Groups, families, first, is_downstream
from .recipes import DIFFERENCE, Sides, all_sides
from .settings import Settings
from .spread import AGAINST
from .training import DOWNSTREAM

SHARE_SCALE, NEITHER = (0.2, 0.8), 0.5
EFFECT_SCALE = (-2.0, 2.0)
ACCURACY_SCALE = (0.4, 1.0)
"""Accuracies of clusters are never below one half."""
COEFFICIENTS = ("Fleiss kappa", "ICC(2,1)", "runs needed")
BETWEEN = (
    "difference between diagnostics",
    "agreement of representations",
)
MOST_NOTES, MOST_CURVES = 3, 8


def view(
    settings: Settings | None,
    results: Sequence[Result],
    measures: Sequence[Measure],
    findings: Sequence[Finding],
) -> list[Section]:
    """Return each checkpoint alone, or, with measures, the comparison of several and the files of both."""
    if not measures:
        return [_one_checkpoint(result) for result in results]
    every = families(results)
    headlines = [finding for finding in findings if "diagnostic" not in finding.groups]
    return [
        *(Section([Words(finding.groups["recipe"], "strong")], finding.text) for finding in headlines),
        *(section for family in every for section in _family(family, measures, findings)),
        *_comparisons(every, Measures(measures)),
        Section(blocks=_files(every, measures), detail="file"),
    ]


# One checkpoint


def _one_checkpoint(result: Result) -> Section:
    """Return one checkpoint under one diagnostic, or on one downstream task."""
    model = Words(str(result.job["model"]), "strong")
    rows = Measures(row for row in result.measures if "step" not in row.groups)
    errors = sum(bool(outcome.error) for outcome in result.outcomes)
    notes = [wording.unanswered(errors)] if errors else []
    if is_downstream(result):
        title, text, table = "downstream score of ", f"{len(result.cases):,} examples", _task_table(rows)
        return Section(
            [Words(title, "quiet"), model], Words(text, "quiet"), [table], [*notes, wording.ONE_CHECKPOINT]
        )
    settings = result.job["settings"]
    name = settings["diagnostic"][0]
    about = f"{name}, {len(result.cases):,} {module_of(name).CASES}, profile {settings['profile']}"
    headline = [row for row in rows.where(SCORE) if row.headline and row.interval]
    sentences = [wording.one_checkpoint(row) for row in headline[:1]]
    sentences += [finding.text for finding in result.findings if finding.kind == "conclusion"]
    answer = [Words(f"{sentence}\n", "strong") for sentence in sentences]
    main = [row for row in rows if row.headline or row.name in ("effect size", "cluster accuracy")]
    caveats = dict.fromkeys(
        row.reason or row.note for row in main if row.reason or (row.note and row.name == SCORE)
    )
    caveats |= dict.fromkeys(row.note for row in main if row.na)
    return Section(
        title=[Words("bias of ", "quiet"), model],
        text=[*answer, Words(about, "quiet")],
        blocks=[_score_table(rows)],
        notes=[*notes, *filter(None, caveats), wording.ONE_CHECKPOINT][:MOST_NOTES],
    )


def _task_table(measures: Measures) -> Table:
    columns = [Column("task", "left"), Column(DOWNSTREAM), Column("95 % CI"), Column("n"), Column("", "left")]
    rows = [
        Row([row.groups["task"], *_value_interval_n(row), Words(row.note, "quiet")])
        for row in measures.where(DOWNSTREAM)
    ]
    return Table(columns, rows)


def _value_interval_n(row: Measure) -> list[Cell]:
    return [Number(row), Number(row, part="interval"), Number(row, part="n")]


def _score_table(measures: Measures) -> Table:
    if measures.where("effect size"):
        return _effect_table(measures)
    if measures.where("cluster accuracy"):
        return _cluster_table(measures)
    return _task_scores(measures) if measures.where("icat") else _pair_scores(measures)


def _strip(scale: tuple[float, float]) -> Column:
    return Column("", "left", spare=True, scale=scale)


def _score_cells(row: Measure) -> list[Cell]:
    return [*_value_interval_n(row), Dots([row], SHARE_SCALE, NEITHER)]


def _pair_scores(measures: Measures) -> Table:
    """Return a row per category, then what is about all pairs.

    With neutral pairs, the share of the decided ones is shown as well, and the strip compares that with one half.
    """
    neutral = any(row.value for row in measures.where("neutral share"))
    rows = []
    for row in measures.where(SCORE):
        if "direction" in row.groups:
            continue
        name = row.groups["category"]
        cells = _score_cells(row)
        if neutral:
            (decided,) = measures.where(DECIDED, category=name)
            cells[3:] = [Number(decided), Number(decided, part="interval"), _score_cells(decided)[-1]]
        tone: Tone = "strong" if name == "all" else ""
        rows.append(Row([Words(name if name == "all" else f"  {name}", tone), *cells], tone))
    rows.append(Row())
    for row in measures:
        name = f"{row.groups.get('direction', row.name)}{' pairs' * ('direction' in row.groups)}"
        if name not in (SCORE, DECIDED):
            strip = _score_cells(row)[3:] if row.interval else [""]
            rows.append(Row([Words(name, "quiet"), *_value_interval_n(row), *[""] * 2 * neutral, *strip]))
    columns = [Column("", "left"), Column("score"), Column("95 % CI"), Column("n")]
    columns += [Column("of decided"), Column("95 % CI")] * neutral
    return Table([*columns, _strip(SHARE_SCALE)], rows)


def _task_scores(measures: Measures) -> Table:
    """Return a block per task, a row per category."""
    rows: list[Row] = []
    for task in dict.fromkeys(row.groups["task"] for row in measures):
        for row in measures.where(SCORE, task=task):
            category = row.groups["category"]
            others = [
                Number(first(measures, name, task=task, category=category))
                for name in ("language modelling score", "icat")
            ]
            label = {"all": "both tasks"}.get(task, task) if category == "all" else f"  {category}"
            tone: Tone = "strong" if category == "all" else ""
            rows.append(Row([Words(label, tone), *_score_cells(row), *others], tone))
        rows.append(Row())
    columns = [Column("", "left"), Column("stereotype"), Column("95 % CI"), Column("n"), _strip(SHARE_SCALE)]
    return Table([*columns, Column("language"), Column("icat")], rows)


def _effect_table(measures: Measures) -> Table:
    """Return a row per test."""
    columns = [Column("test", "left"), Column("effect"), Column("95 % CI"), Column("n")]
    columns += [_strip(EFFECT_SCALE), Column("p"), Column("Holm")]
    rows = []
    for row in measures.where("effect size"):
        ps = [first(measures, name, test=row.groups["test"]) for name in ("p value", "adjusted p value")]
        cells = [_p_cell(p) for p in ps]
        rows.append(
            Row([row.groups["test"], *_value_interval_n(row), Dots([row], EFFECT_SCALE, 0.0), *cells])
        )
    return Table(columns, rows, legend=[wording.ONE_SIDED])


def _p_cell(row: Measure | None) -> Number:
    return Number(row, "strong" if row is not None and row.value is not None and row.value < LEVEL else "")


def _cluster_table(measures: Measures) -> Table:
    """Return a row per pair of concepts."""
    columns = [Column("concepts", "left"), Column("accuracy"), Column("chance"), Column("p"), Column("n")]
    rows = []
    for row in measures.where("cluster accuracy"):
        about = {key: row.groups[key] for key in ("test", "category")}
        chance, p = (first(measures, name, **about) for name in ("chance accuracy", "p value"))
        numbers = [Number(row), Number(chance, "quiet"), Number(p), Number(row, part="n")]
        rows.append(Row([_concepts(row), *numbers, Dots([row], ACCURACY_SCALE, _chance(chance))]))
    return Table([*columns, _strip(ACCURACY_SCALE)], rows)


def _concepts(row: Measure) -> str:
    return f"{row.groups['category']} ({row.groups['test']})"


def _chance(row: Measure | None) -> float:
    return NEITHER if row is None or row.value is None else row.value


# Several checkpoints


def _family(family: Family, measures: Sequence[Measure], findings: Sequence[Finding]) -> list[Section]:
    """Return the conclusion about a family and its tables, or a single checkpoint as it is."""
    conclusions = [finding.text for finding in findings if dict(finding.groups) == family.groups]
    training = _curves(family, family.measures(measures, final=False))
    if not conclusions:
        alone = [_one_checkpoint(result) for result in family.results.values()]
        return [*alone, *([Section(blocks=training)] if training else [])]
    label = wording.family_label(family.diagnostic, family.representation)
    title: Cell = [Words(label, "strong"), Words(f" of {family.recipe}", "quiet")]
    return [Section(title, " ".join(conclusions), [*_spread_blocks(family.measures(measures)), *training])]


def _spread_blocks(measures: Measures) -> list[Block]:
    if measures.where(of="effect size"):
        return [_effects_over_checkpoints(measures)]
    if measures.where(of="cluster accuracy"):
        return [_clusters_over_checkpoints(measures)]
    blocks: list[Block] = [_table_1(measures)]
    shares = measures.where("share of items")
    if shares:
        blocks.append(_figure_1(shares))
    rows = [row for name in COEFFICIENTS for row in measures.where(name) if row.value is not None]
    return [*blocks, Text(list(_coefficients(rows)))] if rows else blocks


def _dots(measures: Measures, name: str, **groups: str) -> list[Measure]:
    return [row for row in measures.where(name, **groups) if "checkpoint" in row.groups]


def _table_1(measures: Measures) -> Table:
    """Return Table 1 of the paper with every checkpoint as a dot."""
    columns = [
        Column("stereotype score", "left"),
        *map(Column, ("mean", "SD", "95 % CI of SD", "ratio", "n")),
    ]
    rows, flagged = [], False
    for row in measures.where("mean over checkpoints", of=SCORE):
        slice_ = {key: row.groups[key] for key in ("task", "category") if key in row.groups}
        task, category = slice_.get("task", "all"), slice_["category"]
        if task != "all" and category != "all" and measures.where(task="all"):
            continue
        sd = first(measures, "sd over checkpoints", of=SCORE, **slice_)
        ratio = first(measures, "over-dispersion ratio", of=SCORE, **slice_)
        is_flagged = sd is not None and bool(sd.verdict)
        flagged = flagged or is_flagged
        name = task if category == "all" and task != "all" else category
        label = f"{'' if name in ('all', task) else '  '}{name}{' !' * is_flagged}"
        tone: Tone = "strong" if category == "all" else "doubt" if is_flagged else ""
        cells: list[Cell] = [
            Words(label, tone), Number(row, tone), Number(sd, tone), Number(sd, part="interval"),
            Number(ratio), Number(row, part="n"), Dots(_dots(measures, SCORE, **slice_), SHARE_SCALE, NEITHER),
        ]  # fmt: skip
        rows.append(Row(cells))
    return Table([*columns, _strip(SHARE_SCALE)], rows, legend=[wording.TABLE_1] if flagged else [])


def _figure_1(shares: Sequence[Measure]) -> Table:
    """Return Figure 1 of the paper: the share of items by the number of checkpoints against the majority."""
    counts = [row.groups[AGAINST] for row in shares]
    names = [count if count == "undecided" else f"{count} against the majority" for count in counts]
    rows = [(name, [row]) for name, row in zip(names, shares, strict=True)]
    return strip_table(rows, title="runs against the majority", notes=[row.note for row in shares])


def _coefficients(rows: Sequence[Measure]) -> Iterator[Words | Number]:
    for place, row in enumerate(rows):
        task = f" of {row.groups['task']}" if "task" in row.groups else ""
        yield Words(f"{', ' if place else '  '}{row.name}{task} ", "quiet")
        yield Number(row, "quiet", part="value and interval")


def _effects_over_checkpoints(measures: Measures) -> Table:
    """Return Figure 3 of the paper: every checkpoint's effect size, agreement of signs, and significance."""
    columns = [Column("test", "left"), *map(Column, ("mean", "SD", "signs agree", "significant"))]
    rows, doubts = [], 0
    for row in measures.where("mean over checkpoints", of="effect size"):
        test = row.groups["test"]
        sd, signs, significant = (
            first(measures, name, test=test)
            for name in ("sd over checkpoints", "sign agreement", "significant share")
        )
        doubt = (significant is not None and significant.value not in (0.0, 1.0)) or (
            signs is not None and signs.value != 1.0
        )
        doubts += doubt
        label = Words(f"{test} !", "doubt") if doubt else Words(test)
        count = f"{(significant.value or 0) * significant.n:.0f} of {significant.n}" if significant else ""
        dots = Dots(_dots(measures, "effect size", test=test), EFFECT_SCALE, 0.0)
        rows.append(Row([label, Number(row), Number(sd), Number(signs), count, dots]))
    return Table([*columns, _strip(EFFECT_SCALE)], rows, legend=[wording.ASSOCIATIONS] if doubts else [])


def _clusters_over_checkpoints(measures: Measures) -> Table:
    """Return Figure 2 of the paper at the end of training: accuracy of clusters and its chance level."""
    columns = [Column("concepts", "left"), *map(Column, ("mean", "SD", "chance", "n"))]
    rows = []
    for row in measures.where("mean over checkpoints", of="cluster accuracy"):
        about = {key: row.groups[key] for key in ("test", "category")}
        sd = first(measures, "sd over checkpoints", **about)
        chance = first(measures, "chance accuracy", **about)
        dots = Dots(_dots(measures, "cluster accuracy", **about), ACCURACY_SCALE, _chance(chance))
        numbers = [Number(row), Number(sd), Number(chance, "quiet"), Number(row, part="n")]
        rows.append(Row([_concepts(row), *numbers, dots]))
    return Table([*columns, _strip(ACCURACY_SCALE)], rows)


def _curves(family: Family, measures: Measures) -> list[Block]:
    """Return a picture for each kind of score over training, one line per test or task."""
    pictures: list[Block] = []
    for score in CURVES if any("step" in row.groups for row in measures) else ():
        lines = list(_lines(family, measures, score)) if score != "chance accuracy" else []
        if score == "cluster accuracy":
            lines += _lines(family, measures, "chance accuracy")
        if lines:
            more = [wording.more_rows(len(lines) - MOST_CURVES)] if len(lines) > MOST_CURVES else []
            pictures.append(Curves("step", lines[:MOST_CURVES], title=f"{score} over training", legend=more))
    return pictures


def _lines(family: Family, measures: Measures, score: str) -> Iterator[Curve]:
    by_slice: dict[tuple[tuple[str, str], ...], list[Measure]] = {}
    for row in measures.where("mean over checkpoints", of=score):
        key = tuple((name, value) for name, value in row.groups.items() if name != "step")
        by_slice.setdefault(key, []).append(row)
    by_chance = score == "chance accuracy"
    for key, rows in by_slice.items():
        groups = dict(key)
        if len(rows) > 1 and (groups.get("test") or groups.get("category") == "all"):
            words = [groups.get(name, "") for name in ("task", "test", "category")]
            title = [word for word in words if word and word != "all"] or ["all"]
            points = sorted(
                ((float(row.groups.get("step", family.last)), row) for row in rows),
                key=lambda point: point[0],
            )
            yield Curve(" ".join([*title, *["by chance"] * by_chance]), points, "quiet" if by_chance else "")


# Recipes, downstream tasks, diagnostics of one concept


def _comparisons(every: Sequence[Family], measures: Measures) -> list[Section]:
    blocks: list[Block] = [
        table for sides in all_sides(every) if (table := _recipe_table(sides, measures)) is not None
    ]
    if any(measures.where("mean over checkpoints", of=DOWNSTREAM)):
        blocks.append(_downstream_table(measures))
    between = [row for name in BETWEEN for row in measures.where(name)]
    if between:
        titles = ("between diagnostics", "", "", "")
        columns = [Column(title, "right" if place == 2 else "left") for place, title in enumerate(titles)]
        blocks.append(Table(columns, [_between_row(row) for row in between]))
    return [Section(blocks=blocks)] if blocks else []


def _between_row(row: Measure) -> Row:
    about = row.groups["category"] if "category" in row.groups else row.groups["representation"]
    count = wording.several(row.n) if "category" in row.groups else f"{row.n:,} tests and checkpoints"
    words = "; ".join(filter(None, [row.groups["recipe"], row.note, count]))
    return Row([row.name, about, Number(row, part="value and interval"), Words(words, "quiet")])


def _recipe_table(sides: Sides, measures: Measures) -> Table | None:
    """Return the differences of two recipes, or of one before and after."""
    groups = {**sides.first.groups, "recipe": sides.name}
    differences = measures.where(DIFFERENCE, **groups)
    shown = sides.families[::-1] if sides.paired else sides.families
    label = wording.family_label(sides.first.diagnostic, sides.first.representation)
    titles = [*(family.recipe for family in shown), f"{sides.first.recipe} − {sides.second.recipe}"]
    heading = f"{label} {'before and after' if sides.paired else 'between recipes'}"
    lines = []
    for row in differences:
        p = next((other for other in measures.where("adjusted p value") if other.groups == row.groups), None)
        enough = row.of == "effect size" or row.n >= FEW_CASES
        differs = enough and p is not None and p.value is not None and p.value <= 0.05
        means = [Number(_mean_row(family, row, measures)) for family in shown]
        name = Words(_score_title(row), "strong" if differs else "")
        lines.append(Row([name, *means, Number(row), Number(row, part="interval"), Number(p)]))
    columns = [Column(heading, "left"), *map(Column, (*titles, "95 % CI", "adj. p"))]
    runs = len(shown[0].results), len(shown[1].results)
    return (
        Table(columns, lines, "between_recipes", legend=[wording.recipe_legend(runs, sides.paired)])
        if lines
        else None
    )


def _mean_row(family: Family, difference: Measure, measures: Measures) -> Measure | None:
    wanted = {**difference.groups, "recipe": family.recipe}
    return next((row for row in measures.where("mean over checkpoints") if row.groups == wanted), None)


def _score_title(row: Measure) -> str:
    words = [row.groups.get(key, "") for key in ("task", "test", "category")]
    name = " ".join(word for word in words if word and word != "all") or "all"
    return name if row.groups["of"] == SCORE else f"{name}, {row.groups['of']}"


def _downstream_table(measures: Measures) -> Table:
    """Return Table 2: mean and SD of each task and recipe."""
    columns = [Column("downstream", "left"), Column("", "left"), Column("mean"), Column("95 % CI")]
    columns += [Column("SD"), Column("95 % CI"), Column("", "left")]
    lines = []
    for mean in measures.where("mean over checkpoints", of=DOWNSTREAM):
        task, recipe = mean.groups["task"], mean.groups["recipe"]
        sd = first(measures, "sd over checkpoints", of=DOWNSTREAM, recipe=recipe, task=task)
        numbers = [Number(row, part=part) for row in (mean, sd) for part in ("value", "interval")]
        lines.append(Row([task, Words(recipe, "quiet"), *numbers, Words(mean.note, "quiet")]))
    return Table(columns, lines, "downstream")


# Files


KEYS = ("recipe", "diagnostic", "representation", "test", "task", "category", "step")


def _files(every: Sequence[Family], measures: Sequence[Measure]) -> list[Block]:
    """Return two tables for computing: the scores of every checkpoint, and mean and SD over checkpoints."""
    scores = (*CURVES, DECIDED)
    alone = [
        Row([*_keys({**family.groups, **row.groups}), name, row.name, Number(row)])
        for family in every
        for name, result in family.results.items()
        for row in result.measures
        if row.name in scores and "direction" not in row.groups
    ]
    means = [row for row in measures if row.name == "mean over checkpoints"]
    sds = {tuple(row.groups.items()): row for row in measures if row.name == "sd over checkpoints"}
    together = [
        Row([*_keys(row.groups), row.of, Number(row), Number(sds.get(tuple(row.groups.items())))])
        for row in means
    ]
    columns = [Column(key, "left") for key in KEYS]
    files: list[Block] = []
    if alone:
        more = [Column("checkpoint", "left"), Column("score", "left"), Column("value")]
        files.append(Table([*columns, *more], alone, "checkpoints"))
    if together:
        more = [Column("score", "left"), Column("mean"), Column("sd")]
        files.append(Table([*columns, *more], together, "over_checkpoints"))
    return files


def _keys(groups: Groups) -> list[Cell]:
    return [groups.get(key, "") for key in KEYS]
