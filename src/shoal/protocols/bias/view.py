"""Lay out bias diagnostics: the scores of one checkpoint, or the comparison of several.

A strip shows a number on its scale: │ is where nothing is preferred, ● the value, ─ its interval. With several
checkpoints each is a dot. The layout follows the scores of a diagnostic, not its name.
"""

from collections.abc import Sequence

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
    Tone,
    Words,
    strip_table,
)
from ...core.views import Line as Curve
from . import wording
from .checkpoints import AGAINST, CURVES
from .family import (
    ACCURACY,
    BIAS,
    DECIDED,
    LEVEL,
    REFUSALS,
    SCORE,
    Family,
    families,
    first,
    is_downstream,
    slice_title,
)
from .settings import Settings
from .training import DOWNSTREAM

SHARE_SCALE, NEITHER = (0.2, 0.8), 0.5
EFFECT_SCALE = (-2.0, 2.0)
BIAS_SCALE = (-1.0, 1.0)
ACCURACY_SCALE = (0.4, 1.0)
"""Accuracies of clusters are never below one half."""
BETWEEN = ("difference between diagnostics", "agreement of representations")
MOST_NOTES = 3
KEYS = ("recipe", "diagnostic", "representation", "test", "task", "category", "step")


def view(
    settings: Settings | None,
    results: Sequence[Result],
    measures: Sequence[Measure],
    findings: Sequence[Finding],
) -> list[Section]:
    """Return each checkpoint alone, or, with measures, the comparison of several and its file."""
    if not measures:
        return list(map(_one_checkpoint, results))
    headlines: dict[str, list[str]] = {}
    for finding in findings:
        if "diagnostic" not in finding.groups:
            headlines.setdefault(finding.groups["recipe"], []).append(finding.text)
    sections = [Section([Words(recipe, "strong")], "\n".join(texts)) for recipe, texts in headlines.items()]
    for family in families(results):
        sections += _family(family, measures, findings)
    if comparisons := _comparisons(Measures(measures)):
        sections.append(Section(blocks=comparisons))
    return [*sections, Section(blocks=[_file(Measures(measures))], detail="file")]


def _columns(
    left: Sequence[str], right: Sequence[str], scale: tuple[float, float] | None = None
) -> list[Column]:
    strip = [Column("", "left", spare=True, scale=scale)] if scale else []
    return [*(Column(title, "left") for title in left), *map(Column, right), *strip]


# One checkpoint


def _one_checkpoint(result: Result) -> Section:
    rows = Measures(row for row in result.measures if "step" not in row.groups)
    errors = sum(bool(outcome.error) for outcome in result.outcomes)
    notes = [wording.unanswered(errors)] if errors else []
    if is_downstream(result):
        kind, sentences = "downstream score of ", []
        about = f"{len(result.cases):,} examples"
        (row,) = rows.where(DOWNSTREAM)
        columns = [*_columns(["task"], [DOWNSTREAM, "95 % CI", "n"]), Column("", "left")]
        table = Table(columns, [Row([row.groups["task"], *_value_interval_n(row), Words(row.note, "quiet")])])
    else:
        name = result.job["settings"]["diagnostic"][0]
        about = f"{name}, {len(result.cases):,} cases, profile: {result.job['settings']['profile']}"
        headline = [row for row in rows.where(SCORE) if row.headline and row.interval]
        unusable = [finding.text for finding in result.findings if finding.disqualifies]
        preference = [wording.one_checkpoint(row, first(rows, DECIDED, **row.groups)) for row in headline[:1]]
        kind, sentences = "bias test of ", unusable or preference
        sentences += [wording.refusals(row) for row in rows.where(REFUSALS) if row.value]
        accuracies = [] if unusable else rows.where(ACCURACY)
        chosen = [row for row in accuracies if row.headline and row.value is not None]
        sentences += [wording.choices(row, first(rows, BIAS, **row.groups)) for row in chosen]
        sentences += [finding.text for finding in result.findings if finding.kind == "conclusion"]
        main = [row for row in rows if row.headline or row.name in ("effect size", "cluster accuracy")]
        caveats = [
            row.reason or row.note for row in main if row.reason or row.name in (SCORE, ACCURACY) or row.na
        ]
        notes += filter(None, dict.fromkeys(caveats))
        table = _score_table(rows)
    return Section(
        title=[Words(kind, "quiet"), Words(str(result.job["model"]), "strong")],
        text=[*(Words(f"{sentence}\n", "strong") for sentence in sentences), Words(about, "quiet")],
        blocks=[table],
        notes=[*notes, wording.ONE_CHECKPOINT][:MOST_NOTES],
    )


def _value_interval_n(row: Measure) -> list[Cell]:
    return [Number(row), Number(row, part="interval"), Number(row, part="n")]


def _share_dots(*rows: Measure) -> Dots:
    return Dots(list(rows), SHARE_SCALE, NEITHER)


def _score_table(measures: Measures) -> Table:
    if measures.where("effect size"):
        return _effect_table(measures)
    if measures.where("cluster accuracy"):
        return _cluster_table(measures)
    if measures.where(ACCURACY):
        return _choice_table(measures)
    return _task_scores(measures) if measures.where("icat") else _pair_scores(measures)


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
        cells = [*_value_interval_n(row), _share_dots(row)]
        if neutral:
            (decided,) = measures.where(DECIDED, category=name)
            cells[3:] = [Number(decided), Number(decided, part="interval"), _share_dots(decided)]
        rows.append(_by_category(name, name, cells))
    rows.append(Row())
    for row in measures:
        position, direction = row.groups.get("position"), row.groups.get("direction")
        name = f"answers {position}" if position else f"{direction} pairs" if direction else row.name
        if name not in (SCORE, DECIDED):
            strip = _share_dots(row) if row.interval else ""
            rows.append(Row([Words(name, "quiet"), *_value_interval_n(row), *[""] * 2 * neutral, strip]))
    titles = ["score", "95 % CI", "n", *["of decided", "95 % CI"] * neutral]
    return Table(_columns([""], titles, SHARE_SCALE), rows)


def _by_category(whole: str, category: str, cells: Sequence[Cell]) -> Row:
    """Return the row of a category, or of all of them under the name of the whole."""
    if category == "all":
        return Row([Words(whole, "strong"), *cells], "strong")
    return Row([Words(f"  {category}"), *cells])


def _choice_table(measures: Measures) -> Table:
    """Return a row per category and context, of one checkpoint or as means and SDs over several."""
    means = measures.where("mean over checkpoints", of=ACCURACY)
    rows = []
    for row in means or measures.where(ACCURACY):
        about = {key: row.groups[key] for key in ("category", "context")}
        whole = about["category"] == "all"
        label = Words(slice_title(about) if whole else f"  {slice_title(about)}", "strong" if whole else "")
        cells: list[Cell]
        if means:
            bias = first(measures, "mean over checkpoints", of=BIAS, **about)
            sds = [first(measures, "sd over checkpoints", of=of, **about) for of in (ACCURACY, BIAS)]
            cells = [Number(row), Number(sds[0]), Number(bias), Number(sds[1])]
            dots = _dots(measures, BIAS, **about)
        else:
            bias = first(measures, BIAS, **about)
            cells = [*_value_interval_n(row), Number(bias), Number(bias, part="interval")]
            dots = [bias] if bias else []
        rows.append(Row([label, *cells, Dots(dots, BIAS_SCALE, 0.0)]))
    for row in measures.where("position share"):
        about_position = Words(f"answers {row.groups['position']}", "quiet")
        rows.append(Row([about_position, Number(row), "", Number(row, part="n"), "", "", ""]))
    titles = ["accuracy", "SD", "bias", "SD"] if means else ["accuracy", "95 % CI", "n", "bias", "95 % CI"]
    return Table(_columns(["context"], titles, BIAS_SCALE), rows, legend=[wording.BIAS_SCORE])


def _task_scores(measures: Measures) -> Table:
    """Return a block per task, a row per category."""
    rows: list[Row] = []
    for task in dict.fromkeys(row.groups["task"] for row in measures):
        for row in measures.where(SCORE, task=task):
            about = {"task": task, "category": row.groups["category"]}
            others = [Number(first(measures, name, **about)) for name in ("language modelling score", "icat")]
            cells = [*_value_interval_n(row), _share_dots(row), *others]
            rows.append(_by_category("both tasks" if task == "all" else task, about["category"], cells))
        rows.append(Row())
    columns = _columns([""], ["stereotype", "95 % CI", "n"], SHARE_SCALE)
    return Table([*columns, Column("language"), Column("icat")], rows)


def _effect_table(measures: Measures) -> Table:
    rows = []
    for row in measures.where("effect size"):
        test = row.groups["test"]
        cells: list[Cell] = [test, *_value_interval_n(row), Dots([row], EFFECT_SCALE, 0.0)]
        for p in (first(measures, name, test=test) for name in ("p value", "adjusted p value")):
            cells.append(Number(p, "strong" if p and p.value is not None and p.value < LEVEL else ""))
        rows.append(Row(cells))
    columns = _columns(["test"], ["effect", "95 % CI", "n"], EFFECT_SCALE)
    return Table([*columns, Column("p"), Column("Holm")], rows, legend=[wording.ONE_SIDED])


def _cluster_table(measures: Measures) -> Table:
    """Return accuracy of clusters and its chance level, of one checkpoint or over several (Figure 2 of the paper)."""
    means = measures.where("mean over checkpoints", of="cluster accuracy")
    titles = ["mean", "SD", "chance", "n"] if means else ["accuracy", "p", "chance", "n"]
    rows = []
    for row in means or measures.where("cluster accuracy"):
        about = {key: row.groups[key] for key in ("test", "category")}
        chance = first(measures, "chance accuracy", **about)
        beside = first(measures, "sd over checkpoints" if means else "p value", **about)
        shown = _dots(measures, "cluster accuracy", **about) if means else [row]
        numbers = [Number(row), Number(beside), Number(chance, "quiet"), Number(row, part="n")]
        dots = Dots(shown, ACCURACY_SCALE, chance.value if chance else None)
        rows.append(Row([f"{about['category']} ({about['test']})", *numbers, dots]))
    return Table(_columns(["concepts"], titles, ACCURACY_SCALE), rows)


# Several checkpoints


def _family(family: Family, measures: Sequence[Measure], findings: Sequence[Finding]) -> list[Section]:
    """Return the conclusion about a family and its tables, or a single checkpoint as it is."""
    training = _curves(family, family.measures(measures, final=False))
    if len(family.results) == 1:
        (alone,) = map(_one_checkpoint, family.results.values())
        return [alone, *([Section(blocks=training)] if training else [])]
    conclusions = [finding.text for finding in findings if dict(finding.groups) == family.groups]
    label = wording.family_label(family.diagnostic, family.representation)
    title: Cell = [Words(label, "strong"), Words(f" of {family.recipe}", "quiet")]
    return [Section(title, " ".join(conclusions), [*_spread_blocks(family.measures(measures)), *training])]


def _spread_blocks(measures: Measures) -> list[Block]:
    if measures.where(of="effect size"):
        return [_effects_over_checkpoints(measures)]
    if measures.where(of="cluster accuracy"):
        return [_cluster_table(measures)]
    if measures.where(of=ACCURACY):
        return [_choice_table(measures)]
    blocks: list[Block] = [_table_1(measures)]
    shares = measures.where("share of items")
    if shares:  # Figure 1 of the paper
        counts = [row.groups[AGAINST] for row in shares]
        names = [count if count == "undecided" else f"{count} against the majority" for count in counts]
        rows = [(name, [row]) for name, row in zip(names, shares, strict=True)]
        notes = [row.note for row in shares]
        blocks.append(strip_table(rows, title="runs against the majority", notes=notes))
    return blocks


def _dots(measures: Measures, name: str, **groups: str) -> list[Measure]:
    return [row for row in measures.where(name, **groups) if "checkpoint" in row.groups]


def _table_1(measures: Measures) -> Table:
    """Return Table 1 of the paper with every checkpoint as a dot."""
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
            Number(ratio), Number(row, part="n"), _share_dots(*_dots(measures, SCORE, **slice_)),
        ]  # fmt: skip
        rows.append(Row(cells))
    columns = _columns(["stereotype score"], ["mean", "SD", "95 % CI of SD", "ratio", "n"], SHARE_SCALE)
    return Table(columns, rows, legend=[wording.TABLE_1] if flagged else [])


def _effects_over_checkpoints(measures: Measures) -> Table:
    """Return Figure 3 of the paper: every checkpoint's effect size, agreement of signs, and significance."""
    rows, doubts = [], 0
    names = ("sd over checkpoints", "sign agreement", "significant share")
    for row in measures.where("mean over checkpoints", of="effect size"):
        test = row.groups["test"]
        sd, signs, significant = (first(measures, name, test=test) for name in names)
        is_split = significant is not None and significant.value not in (0.0, 1.0)
        doubt = is_split or (signs is not None and signs.value != 1.0)
        doubts += doubt
        label = Words(f"{test} !", "doubt") if doubt else Words(test)
        count = f"{(significant.value or 0) * significant.n:.0f} of {significant.n}" if significant else ""
        dots = Dots(_dots(measures, "effect size", test=test), EFFECT_SCALE, 0.0)
        rows.append(Row([label, Number(row), Number(sd), Number(signs), count, dots]))
    columns = _columns(["test"], ["mean", "SD", "signs agree", "significant"], EFFECT_SCALE)
    return Table(columns, rows, legend=[wording.ASSOCIATIONS] if doubts else [])


def _curves(family: Family, measures: Measures) -> list[Block]:
    """Return a picture for each kind of score over training, one line per test or task."""
    pictures: list[Block] = []
    for score in CURVES[:-1]:
        chance = _lines(family, measures, CURVES[-1]) if score == "cluster accuracy" else []
        if lines := _lines(family, measures, score) + chance:
            pictures.append(Curves("step", lines, title=f"{score} over training"))
    return pictures


def _lines(family: Family, measures: Measures, score: str) -> list[Curve]:
    """Return the means over checkpoints of each test, or of all categories, at each step."""
    by_title: dict[str, dict[float, Measure]] = {}
    for row in measures.where("mean over checkpoints", of=score):
        if "test" in row.groups or row.groups.get("category") == "all":
            title = slice_title(row.groups) + " by chance" * (score == "chance accuracy")
            by_title.setdefault(title, {})[float(row.groups.get("step", family.last))] = row
    tone: Tone = "quiet" if score == "chance accuracy" else ""
    return [
        Curve(title, sorted(by_step.items()), tone) for title, by_step in by_title.items() if len(by_step) > 1
    ]


# Downstream tasks, diagnostics of one concept


def _comparisons(measures: Measures) -> list[Block]:
    blocks: list[Block] = []
    if any(measures.where("mean over checkpoints", of=DOWNSTREAM)):
        blocks.append(_downstream_table(measures))
    lines = []
    for row in (row for name in BETWEEN for row in measures.where(name)):
        about = row.groups.get("category") or row.groups["representation"]
        words = "; ".join(filter(None, [row.groups["recipe"], row.note]))
        numbers = [Number(row, part="value and interval"), Number(row, part="n")]
        lines.append(Row([row.name, about, *numbers, Words(words, "quiet")]))
    if lines:
        columns = [*_columns(["between diagnostics", ""], ["", "n"]), Column("", "left")]
        blocks.append(Table(columns, lines))
    return blocks


def _downstream_table(measures: Measures) -> Table:
    """Return Table 2: mean and SD of each task and recipe."""
    lines = []
    for mean in measures.where("mean over checkpoints", of=DOWNSTREAM):
        task, recipe = mean.groups["task"], mean.groups["recipe"]
        sd = first(measures, "sd over checkpoints", of=DOWNSTREAM, recipe=recipe, task=task)
        numbers = [Number(row, part=part) for row in (mean, sd) for part in ("value", "interval")]
        lines.append(Row([task, Words(recipe, "quiet"), *numbers, Words(mean.note, "quiet")]))
    columns = _columns(["downstream", ""], ["mean", "95 % CI", "SD", "95 % CI"])
    return Table([*columns, Column("", "left")], lines, "downstream")


def _file(measures: Measures) -> Table:
    """Return a table for computing: mean and SD over checkpoints."""
    rows, sds = [], measures.where("sd over checkpoints")
    for mean in measures.where("mean over checkpoints"):
        about = [mean.groups.get(key, "") for key in KEYS]
        sd = next((row for row in sds if row.groups == mean.groups), None)
        rows.append(Row([*about, mean.of, Number(mean), Number(sd)]))
    return Table(_columns([*KEYS, "score"], ["mean", "sd"]), rows, "over_checkpoints")
