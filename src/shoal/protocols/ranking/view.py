"""Lay out a ranking: the order and how sure it is, what to label next, and how well few examples do."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Literal

from ...core.claims import ALPHA
from ...core.errors import some
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
    Scatter,
    Section,
    ShownCase,
    Table,
    Text,
    Tone,
    Words,
    strip_table,
)
from ..behaviour.wording import failed_checks
from . import wording
from .build import TIMES
from .factors import FACTORS
from .labelling import NEXT
from .order import DECIDED, PROBABLE, STATED, contenders
from .score import GAP, PREDICTION
from .settings import Settings
from .study import BASELINE

IMPORTANT = 1.5
"""Findings of at least this weight begin in bold."""
VERDICTS: dict[str, Tone] = {DECIDED: "good", PROBABLE: ""}
CURVES: tuple[Tone, ...] = ("first", "second", "third")
MOST_PAIRS = 10
"""More pairs of models are shown only with --full."""
SHOWN_MODELS = 4
"""Models named per answer to an example to be labelled."""


def view(
    settings: Settings, results: Sequence[Result], measures: Sequence[Measure], findings: Sequence[Finding]
) -> list[Section]:
    """Return the sections of a comparison, or of each model by itself."""
    if not measures:
        return [_alone(result) for result in results]
    rows = Measures(measures)
    parts = [_order(results, rows, findings)]
    parts += [_label_next(results, finding) for finding in findings if finding.kind == NEXT]
    if rows.where("few-shot accuracy"):
        parts += [_few_shot(rows), *_pairs(results, rows)]
    return parts


# One model


def _alone(result: Result) -> Section:
    measures = result.measures
    (accuracy, *_) = measures.where("accuracy")
    values = [(f"mean {row.groups['factor']}", row) for row in measures.where("factor value")]
    gaps = [(f"{GAP}, {row.groups['explainer']}", row) for row in measures.where(GAP)]
    rows = [
        Row(
            [name, Number(row, instead="not applicable"), Number(row, part="interval"), Number(row, part="n")]
        )
        for name, row in [("accuracy", accuracy), *values, *gaps]
    ]
    columns = [Column("", "left"), Column(""), Column("95 % CI"), Column("n")]
    return Section(
        title=[Words("ranking: ", "quiet"), Words(str(result.job["model"]), "strong")],
        text=Words(_examples(result), "quiet"),
        blocks=[Table(columns, rows)],
        notes=[wording.ALONE_NOTE],
        warnings=[f"{name}: {detail}" for name, detail in failed_checks(result)],
    )


def _examples(result: Result) -> str:
    about = result.job["about"]
    files = ", ".join([*about["data"], *([about["pool"]] if about["pool"] else [])])
    counts = about["examples"]
    words = [f"{counts[part]:,} {word}" for part, word in wording.PARTS.items() if counts.get(part)]
    return f"{files}: {', '.join(words)}"


# Order


def _order(results: Sequence[Result], rows: Measures, findings: Sequence[Finding]) -> Section:
    accuracies = rows.where("accuracy")
    answer, *others = [_sentence(finding) for finding in findings if finding.kind != NEXT] or [[]]
    about = f"{len(accuracies)} models, {_examples(results[0])}"
    blocks: list[Block] = [Text(sentence) for sentence in others]
    has_order = bool(rows.where("probability better"))
    if has_order:
        blocks.append(_order_table(rows, accuracies))
    return Section(
        text=[*answer, *(["\n"] if answer else []), Words(about, "quiet")],
        blocks=blocks,
        notes=[wording.STATED_NOTE, wording.DECIDED_NOTE, wording.ALONE_COUNTS_NOTE] if has_order else [],
        warnings=[
            f"{model}: {name}: {detail}"
            for model, result in zip(contenders(results), results, strict=True)
            for name, detail in failed_checks(result)
        ],
    )


def _sentence(finding: Finding) -> list[Words]:
    """Return a finding; the first sentence of an important one is bold."""
    if finding.weight < IMPORTANT:
        return [Words(finding.text)]
    head, stop, rest = finding.text.partition(". ")
    return [Words(head + stop, ("strong", "good" if finding.kind == "stop" else "doubt")), Words(rest)]


def _order_table(rows: Measures, accuracies: Measures) -> Table:
    columns = [Column(""), Column("model", "left"), Column("accuracy"), Column("95 % CI"), Column("n")]
    columns += [Column("better than\nthe next %"), Column("", "left"), Column("right alone,\nit : next")]
    columns += [Column("e value", spare=True)]
    lines = []
    for row, following in zip_longest(accuracies, accuracies[1:]):
        model = row.groups["model"]
        cells: list[Cell] = [
            str(row.facts["place"]),
            Words(model, "strong"),
            Number(row),
            Number(row, part="interval"),
            Number(row, part="n"),
        ]
        against = {"model": model, "than": following.groups["model"]} if following else {"than": ""}
        lines.append(Row([*cells, *_against_next(rows, against)]))
    return Table(columns, lines, name="order")


def _against_next(rows: Measures, groups: dict[str, str]) -> list[Cell]:
    better = _only(rows.where("probability better", **groups))
    if better is None:
        return ["", "", "", ""]
    return [
        Number(_only(rows.where(STATED, **groups))),
        Words(better.verdict, VERDICTS.get(better.verdict, "doubt")),
        f"{better.facts['only first']:,} : {better.facts['only second']:,}",
        Number(_only(rows.where("e value", **groups))),
    ]


def _only(rows: Sequence[Measure]) -> Measure | None:
    return rows[0] if rows else None


# What to label next


def _label_next(results: Sequence[Result], finding: Finding) -> Section:
    cases = {case.id: case for case in results[0].cases}
    listed = [
        ShownCase(
            cases[example["case"]],
            expected=f"{example['label']}, as it was labelled" if example["label"] else "",
            answers=[_answers(results, example["case"])],
            mark=f"{example[TIMES]}×" if example[TIMES] > 1 else "",
        )
        for example in finding.facts["examples"]
    ]
    return Section(
        title=Words(wording.LABEL_NEXT_TITLE, "strong"),
        text=finding.text,
        blocks=[CaseList(listed)],
        notes=[wording.EXPORT_NOTE],
    )


def _answers(results: Sequence[Result], case_id: str) -> str:
    """Return each label with the models that give it."""
    by_label: dict[str, list[str]] = {}
    for name, result in zip(contenders(results), results, strict=True):
        position = next(number for number, case in enumerate(result.cases) if case.id == case_id)
        label = str(result.columns[PREDICTION][position]) or "no answer"
        by_label.setdefault(label, []).append(name)
    return "; ".join(f"{label}: {some(names, SHOWN_MODELS)}" for label, names in sorted(by_label.items()))


# How well few examples do


def _few_shot(rows: Measures) -> Section:
    accuracies = rows.where("few-shot accuracy")
    blocks: list[Block] = [_factor_table(rows, accuracies)]
    if len({row.groups["probe size"] for row in accuracies}) > 1:
        blocks.append(_curves(accuracies))
    facts = next((row.facts for row in accuracies if "population" in row.facts), {})
    return Section(
        title=[Words("How often do ", "quiet"), Words(wording.STUDY_TITLE, "strong")],
        text=wording.study_summary(accuracies[0].n, facts.get("probe sets"), facts.get("population")),
        blocks=blocks,
        notes=[wording.FACTOR_NOTE, *[wording.BETTER_NOTE] * _has_rivals(rows), wording.INTERVAL_NOTE],
    )


def _has_rivals(rows: Measures) -> bool:
    """Return whether a factor is compared with ACC."""
    return any("against" in row.groups for row in rows.where("difference"))


def _factor_table(rows: Measures, accuracies: Measures) -> Table:
    columns = [Column("t"), Column("factor", "left"), Column("high is", "left", spare=True)]
    columns += [Column("right order %"), Column("95 % CI"), Column("", "left")]
    if _has_rivals(rows):
        columns += [Column("minus ACC"), Column("p"), Column("95 % CI of\nminus ACC", spare=True)]
    lines = []
    for row in accuracies:
        groups = {"factor": row.groups["factor"], "probe_size": row.groups["probe size"]}
        difference = _only(rows.where("difference", **groups))
        better = _only(rows.where("p value", test="better than ACC", **groups))
        is_better = better is not None and better.value is not None and better.value <= ALPHA
        cells: list[Cell] = [
            row.groups["probe size"],
            Words(row.groups["factor"], "strong"),
            Words(row.facts.get("direction", ""), "quiet"),
            Number(row),
            Number(row, part="interval"),
            "▲" if is_better else "",
            Number(difference),
            Number(better),
            Number(difference, part="interval"),
        ]
        lines.append(Row(cells[: len(columns)]))
    return Table(columns, lines, name="few-shot")


def _curves(accuracies: Measures) -> Curves:
    factors = list(dict.fromkeys(row.groups["factor"] for row in accuracies))
    lines = [
        Line(
            name,
            [(float(row.groups["probe size"]), row) for row in accuracies.where(factor=name)],
            CURVES[number % len(CURVES)],
        )
        for number, name in enumerate(factors)
        if name not in FACTORS or FACTORS[name].direction
    ]
    return Curves("t, examples in a probe set", lines, title=wording.CURVES_TITLE, name="sizes")


def _pairs(results: Sequence[Result], rows: Measures) -> list[Section]:
    """Return every pair (Table 4), and each factor's pairs against those of ACC (Figures 4 to 6)."""
    pairs = rows.where("pairwise accuracy")
    if not pairs:
        return []
    names = list(dict.fromkeys(row.groups["pair"] for row in pairs))
    factors = list(dict.fromkeys(row.groups["factor"] for row in pairs))
    by_cell = {(row.groups["pair"], row.groups["factor"]): row for row in pairs}
    lines = [
        Row([Words(name), *(Number(by_cell.get((name, factor))) for factor in factors)]) for name in names
    ]
    columns = [Column("better / worse", "left"), *(Column(factor) for factor in factors)]
    blocks: list[Block] = [Table(columns, lines)]
    if len(names) > 2:
        strips = [(factor, [by_cell[name, factor] for name in names]) for factor in factors]
        blocks.append(
            strip_table(strips, (0.0, 1.0), 0.5, title=wording.STRIPS_TITLE, name="pairs-by-factor")
        )
    for factor in factors:
        if factor != BASELINE and BASELINE in factors:
            points = [(name, by_cell[name, BASELINE], by_cell[name, factor]) for name in names]
            title, legend = (text.format(factor) for text in (wording.SCATTER_TITLE, wording.SCATTER_LEGEND))
            file_name = "".join(letter if letter.isalnum() else "-" for letter in factor.lower())
            blocks.append(Scatter((BASELINE, factor), points, title, f"against-acc-{file_name}", [legend]))
    title = wording.PAIRS_TITLE.format(pairs[0].groups["probe size"])
    file = _pairs_file(pairs, ", ".join(results[0].job["about"]["data"]))
    detail: Literal["short", "full"] = "short" if len(names) <= MOST_PAIRS else "full"
    return [
        Section(title=Words(title, "strong"), text=wording.PAIRS_TEXT, blocks=blocks, detail=detail),
        Section(blocks=[file], detail="file"),
    ]


def _pairs_file(pairs: Sequence[Measure], data: str) -> Table:
    """Return one line per pair and factor, for the file `pairs.csv`."""
    titles = ("dataset", "explainer", "method", "direction", "model_i", "model_j", "s_i", "s_j", "accuracy", "ties",
              "B", "t")  # fmt: skip
    lines = []
    for row in pairs:
        pair = row.facts
        method = row.groups["factor"].removesuffix(f" ({pair['explainer']})")
        cells: list[Cell] = [data, pair["explainer"], method, pair["direction"], *pair["models"]]
        cells += [*map(repr, pair["truth"]), Number(row), repr(pair["ties"])]
        cells += [str(row.n), row.groups["probe size"]]
        lines.append(Row(cells))
    return Table([Column(title, "left") for title in titles], lines, name="pairs")
