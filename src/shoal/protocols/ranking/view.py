"""What to show of a ranking: who comes first and how sure that is, what to label next, and how well few examples do."""

from collections.abc import Sequence

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
    HeatMap,
    Line,
    Number,
    Row,
    Scatter,
    Section,
    ShownCase,
    Table,
    Text,
    Tone,
    WeighedWords,
    Words,
    expected_words,
    strip_table,
)
from ...explaining.attributions import from_data
from ...explaining.view import weighed
from .choosing import NEXT
from .explained import GAP
from .factors import FACTORS
from .names import contenders
from .order import DECIDED, LIKELY, PROBABLE, STATED
from .score import PREDICTION, attribution_column
from .settings import Settings
from .study import BASELINE

TONES: dict[str, Tone] = {
    "stop": "good",
    "go on": "doubt",
    "alike": "doubt",
    "no labels": "doubt",
    "too few": "bad",
    "skipped": "bad",
    "ordered": "strong",
    "drawn": "doubt",
    "not combined": "doubt",
    "incomplete": "doubt",
}
HEADLINES = ("stop", "go on", "ordered")
"""Findings that begin with the name of a model, which may have a colon in it."""
MOST_LISTED = 20
"""Of more models the first and the last are shown; files have all."""
FIRST, LAST = 10, 5
MOST_MODELS = 12
"""Of more models no matrix is drawn."""
MOST_PAIRS = 10
"""More pairs of models are shown only where everything is asked for."""
SHOWN_MODELS = 4
"""Of an example to be labelled, the answers of so many models are shown."""
HOW_PROBABLE = (
    "Better than the next: the probability if models are a few points apart. "
    f"Up to {100 * LIKELY:.0f} % it is undecided."
)
WHEN_DECIDED = (
    f"Decided: the e-value has reached the number of pairs / {ALPHA:g}. "
    f"You may look after every label: at most {100 * ALPHA:.0f} % of rankings decide wrongly."
)
FROM_SHARES = (
    "only it : only next: expected counts if models err independently of each other. "
    "Shares do not show when to stop labelling."
)
AFTER = "better way: the better of the two directions, chosen after the fact."
BETTER = "▲ better than ACC (p ≤ .05, examples drawn again)."


def sections(
    settings: Settings, results: Sequence[Result], measures: Sequence[Measure], findings: Sequence[Finding]
) -> list[Section]:
    """Each model by itself, or what several say together."""
    if not measures:
        return [_alone(result) for result in results]
    rows = Measures(measures)
    parts = [_order(results, rows, findings), *_whole_order(rows)]
    parts += [_label_next(results, finding) for finding in findings if finding.kind == NEXT]
    if rows.where("few-shot accuracy"):
        parts += [_few_shot(rows), *_pairs(results, rows)]
    return [*parts, *_words(settings, results, rows)]


# One model


def _alone(result: Result) -> Section:
    accuracy = result.measures.where("accuracy")[0]
    checks = [check for check in result.job.get("checks", ()) if check["ok"] is False]
    rows = [Row(["right", Number(accuracy), Number(accuracy, part="interval"), Number(accuracy, part="n")])]
    for row in result.measures.where("factor value"):
        number = Number(row, instead="not applicable")
        rows.append(Row([f"mean {row.groups['factor']}", number, "", Number(row, part="n")]))
    for row in result.measures.where(GAP):
        words = f"missing from the sum of the values, {row.groups['explainer']}"
        rows.append(Row([words, Number(row), "", Number(row, part="n")]))
    columns = [Column("", "left"), Column(""), Column("95 % interval"), Column("n")]
    return Section(
        title=[Words("ranking: ", "quiet"), Words(str(result.job["model"]), "strong")],
        text=Words(_examples(result), "quiet"),
        blocks=[Table(columns, rows)],
        notes=["One model is not ranked: shoal rank MODEL MODEL … --data FILE"],
        warnings=[f"{check['name']}: {check['detail']}" for check in checks],
    )


def _examples(result: Result) -> str:
    about = result.job["about"]
    counts = about["examples"]
    where = ", ".join([*about["data"], *([about["pool"]] if about["pool"] else [])])
    words = [f"{counts[part]:,} {word}" for part, word in _PARTS.items() if counts.get(part)]
    return f"{where}: {', '.join(words)}"


_PARTS = {
    "labelled": "labelled examples",
    "chosen": "labelled where models disagree",
    "pool": "without a label",
}


# Order


def _order(results: Sequence[Result], rows: Measures, findings: Sequence[Finding]) -> Section:
    accuracies = rows.where("accuracy")
    blocks: list[Block] = [Text(_sentence(finding)) for finding in findings if finding.kind != NEXT]
    blocks += [Text([Words(line, "quiet")]) for finding in findings for line in _left_out(finding)]
    names = [row.groups["model"] for row in accuracies]
    has_order = bool(rows.where("probability better"))
    if has_order:
        blocks.append(_order_table(rows, accuracies, shortened=len(names) > MOST_LISTED))
    if has_order and 2 < len(names) <= MOST_MODELS:
        blocks.append(_matrix(rows, names))
    warnings = []
    for name, result in zip(contenders(results), results, strict=True):
        warnings += [
            f"{name}: {check['name']}: {check['detail']}"
            for check in result.job.get("checks", ())
            if check["ok"] is False
        ]
    return Section(
        title=[Words("ranking of ", "quiet"), Words(f"{len(names)} models", "strong")],
        text=Words(_examples(results[0]), "quiet") if results else "",
        blocks=blocks,
        notes=[HOW_PROBABLE, WHEN_DECIDED if rows.where("e value") else FROM_SHARES] if has_order else [],
        warnings=warnings,
    )


def _sentence(finding: Finding) -> list[Words]:
    """Return a finding with its first sentence, or what stands before its colon, in bold."""
    if finding.kind not in TONES:
        return [Words(finding.text)]
    end = ". " if finding.kind in HEADLINES else ":"
    head, stop, rest = finding.text.partition(end)
    return [Words(head + stop, ("strong", TONES[finding.kind])), Words(rest)]


def _left_out(finding: Finding) -> list[str]:
    """What a table of shares holds besides models and kinds of examples."""
    words = {
        "rows left out": "rows that sum up those above them",
        "columns left out": "columns that are no kind of example",
    }
    return [
        f"Left out: {len(finding.facts[key])} {meaning}: {some(finding.facts[key], 8)}."
        for key, meaning in words.items()
        if finding.facts.get(key)
    ]


def _whole_order(rows: Measures) -> list[Section]:
    """Every model, for files, where there are too many to read."""
    accuracies = rows.where("accuracy")
    if len(accuracies) <= MOST_LISTED or not rows.where("probability better"):
        return []
    return [Section(blocks=[_order_table(rows, accuracies)], detail="file")]


def _order_table(rows: Measures, accuracies: Sequence[Measure], *, shortened: bool = False) -> Table:
    has_evidence = bool(rows.where("e value"))
    columns = [
        Column(""),
        Column("model", "left"),
        Column("right %"),
        Column("95 % interval"),
        Column("n"),
        Column("better than\nthe next %"),
        Column("", "left"),
        Column("only it :\nonly next"),
        *([Column("e value", spare=True)] if has_evidence else []),
    ]
    lines = []
    for number, row in enumerate(accuracies):
        after = accuracies[number + 1].groups["model"] if number + 1 < len(accuracies) else ""
        cells: list[Cell] = [
            str(row.facts["place"]),
            Words(row.groups["model"], "strong"),
            Number(row),
            Number(row, part="interval"),
            Number(row, part="n"),
        ]
        lines.append(Row([*cells, *_than(rows, row.groups["model"], after)][: len(columns)]))
    if shortened:
        between = len(lines) - FIRST - LAST
        lines = [*lines[:FIRST], Row([f"… {between} others; --json has all"]), *lines[-LAST:]]
    return Table(columns, lines, name="" if shortened else "order")


def _than(rows: Measures, model: str, after: str) -> list[Cell]:
    pair = rows.where("probability better", model=model, than=after)
    if not pair:
        return ["", "", "", ""]
    facts = pair[0].facts
    tones: dict[str, Tone] = {DECIDED: "good", PROBABLE: ""}
    return [
        Number(_only(rows.where(STATED, model=model, than=after))),
        Words(str(facts["verdict"]), tones.get(str(facts["verdict"]), "doubt")),
        f"{facts['only first']:,} : {facts['only second']:,}",
        Number(_only(rows.where("e value", model=model, than=after))),
    ]


def _matrix(rows: Measures, names: Sequence[str]) -> HeatMap:
    cells = {
        (names.index(row.groups["model"]), names.index(row.groups["than"])): row for row in rows.where(STATED)
    }
    return HeatMap(
        [(name, "") for name in names],
        [(name, "") for name in names],
        cells,
        title="probability that the row's model is better than the column's, in %, if models are close",
        name="better",
    )


# What to label next


def _label_next(results: Sequence[Result], finding: Finding) -> Section:
    cases = {case.id: case for case in results[0].cases} if results else {}
    listed = [
        ShownCase(
            cases[example["case"]],
            expected=_already(example["label"]),
            answers=[_answers(results, example["case"])],
            mark=f"{example['times']}×" if example.get("times", 1) > 1 else "",
        )
        for example in finding.facts["examples"]
    ]
    return Section(
        title=Words("What to label next", "strong"),
        text=finding.text,
        blocks=[CaseList(listed)],
        notes=[
            "shoal rank … --out FILE writes them with the chances they had; fill in the labels, then --data FILE."
        ],
    )


def _already(label: str) -> str:
    return f"{label}, as it was labelled" if label else ""


def _answers(results: Sequence[Result], case_id: str) -> str:
    """Label to the models that give it, as far as there is room."""
    by_label: dict[str, list[str]] = {}
    for name, result in zip(contenders(results), results, strict=True):
        place = next(number for number, case in enumerate(result.cases) if case.id == case_id)
        label = str(result.columns[PREDICTION][place]) or "no answer"
        by_label.setdefault(label, []).append(name)
    return "; ".join(f"{label}: {_some(models)}" for label, models in sorted(by_label.items()))


def _some(models: Sequence[str]) -> str:
    more = len(models) - SHOWN_MODELS
    return ", ".join(models[:SHOWN_MODELS]) + (f" and {more} more" if more > 0 else "")


# Which words counted


def _words(settings: Settings, results: Sequence[Result], measures: Measures) -> list[Section]:
    """Of each model the worst mistake whose words were explained, by the first explainer; whether values add up."""
    if not settings.explainers or len(results) > MOST_MODELS:
        return []
    explainer = settings.explainers[0]
    rows = []
    for name, result in zip(contenders(results), results, strict=True):
        kept = result.columns.get(attribution_column(explainer), ())
        wrong = [
            (outcome.value or 0.0, place)
            for place, outcome in enumerate(result.outcomes)
            if outcome.passed is False and kept and kept[place] is not None
        ]
        if wrong:
            case, explained = result.cases[min(wrong)[1]], from_data(kept[min(wrong)[1]])
            about = [Words(name, "strong"), Words(f"  expected {expected_words(case)}", "quiet")]
            rows.append(weighed(case.examples[0], explained, about, with_answer=True))
    text = f"The worst mistake of each model among the examples that were explained, by {explainer}."
    title = Words("Which words counted", "strong")
    return (
        [Section(title, text, [WeighedWords(rows, name="words")], notes=_missing(measures))] if rows else []
    )


def _missing(measures: Measures) -> list[str]:
    """How far values are from adding up, from the least to the most of the models."""
    by_explainer: dict[str, list[Measure]] = {}
    for row in measures.where(GAP):
        by_explainer.setdefault(row.groups["explainer"], []).append(row)
    words = []
    for explainer, rows in by_explainer.items():
        ordered = sorted(rows, key=lambda row: row.value or 0.0)
        between = dict.fromkeys(shown(row.value, quantity(row)) for row in (ordered[0], ordered[-1]))
        words.append(f"{explainer} {' to '.join(between)} %")
    return [f"Missing from the sum of the values, by model: {', '.join(words)}."] if words else []


# How well few examples do


def _few_shot(rows: Measures) -> Section:
    accuracies = rows.where("few-shot accuracy")
    sizes = list(dict.fromkeys(row.groups["probe size"] for row in accuracies))
    blocks: list[Block] = [_factor_table(rows, accuracies)]
    if len(sizes) > 1:
        blocks.append(_curves(accuracies))
    first = accuracies[0]
    facts = next((row.facts for row in accuracies if "population" in row.facts), {})
    text = f"{first.n:,} pairs of models" if first.n > 1 else "one pair of models"
    if facts:
        text += f", {facts['probe sets']:,} probe sets from {facts['population']:,} examples"
    notes = [
        *([BETTER] if _has_rivals(rows) else []),
        AFTER,
        *(
            _independently(accuracies)
            or ["Intervals leave out models: pairs share them and are not independent."]
        ),
    ]
    return Section(
        title=[Words("How often ", "quiet"), Words("t examples order two models as all do", "strong")],
        text=text,
        blocks=blocks,
        notes=notes,
    )


def _has_rivals(rows: Measures) -> bool:
    """Whether there is a factor to be compared with ACC."""
    return any("against" in row.groups for row in rows.where("difference"))


def _independently(accuracies: Sequence[Measure]) -> list[str]:
    drawn = [row for row in accuracies if "independent draws" in row.facts]
    if not drawn:
        return []
    numbers = [
        f"{100 * row.facts['independent draws']:.1f} % (t = {row.groups['probe size']})" for row in drawn
    ]
    return [f"If every answer were right or wrong by itself, ACC would come to {', '.join(numbers)}."]


def _factor_table(rows: Measures, accuracies: Sequence[Measure]) -> Table:
    has_rivals = _has_rivals(rows)
    columns = [
        Column("t"),
        Column("factor", "left"),
        Column("high is", "left", spare=True),
        Column("right order %"),
        Column("95 % interval"),
        Column("", "left"),
        Column("better way %"),
        Column("tau"),
        Column("p (models\nexchanged)"),
        *(
            [Column("less ACC"), Column("p"), Column("95 % interval\nof less ACC", spare=True)]
            if has_rivals
            else []
        ),
    ]
    lines = []
    for row in accuracies:
        groups = {"factor": row.groups["factor"], "probe_size": row.groups["probe size"]}
        against = _only(rows.where("difference", **groups))
        better = _only(rows.where("p value", test="better than ACC", **groups))
        mark = "▲" if better and better.value is not None and better.value <= ALPHA else ""
        cells: list[Cell] = [
            row.groups["probe size"],
            Words(row.groups["factor"], "strong"),
            Words(str(row.facts.get("direction", "")), "quiet"),
            Number(row),
            Number(row, part="interval"),
            mark,
            Number(_only(rows.where("accuracy in the better direction", **groups))),
            Number(_only(rows.where("Kendall tau", **groups))),
            Number(_only(rows.where("p value", test="models exchanged", **groups))),
            Number(against),
            Number(better),
            Number(against, part="interval"),
        ]
        lines.append(Row(cells[: len(columns)]))
    return Table(columns, lines, name="few-shot")


def _only(rows: Sequence[Measure]) -> Measure | None:
    return rows[0] if rows else None


def _curves(accuracies: Sequence[Measure]) -> Curves:
    factors = list(dict.fromkeys(row.groups["factor"] for row in accuracies))
    tones: tuple[Tone, ...] = ("first", "second", "third")
    lines = [
        Line(
            name,
            [(float(row.groups["probe size"]), row) for row in accuracies if row.groups["factor"] == name],
            tones[number % len(tones)],
        )
        for number, name in enumerate(factors)
        if name not in FACTORS or FACTORS[name][1]
    ]
    return Curves("t, examples in a probe set", lines, title="right order by size of probe set", name="sizes")


def _pairs(results: Sequence[Result], rows: Measures) -> list[Section]:
    """Every pair (Table 4), and each factor's pairs against those of ACC (Figures 5 and 6)."""
    pairs = rows.where("pairwise accuracy")
    if not pairs:
        return []
    size = pairs[0].groups["probe size"]
    names = list(dict.fromkeys(row.groups["pair"] for row in pairs))
    factors = list(dict.fromkeys(row.groups["factor"] for row in pairs))
    of = {(row.groups["pair"], row.groups["factor"]): row for row in pairs}
    by_pair = [Row([Words(name), *(Number(of.get((name, factor))) for factor in factors)]) for name in names]
    columns = [Column("better / worse", "left"), *(Column(factor) for factor in factors)]
    blocks: list[Block] = [Table(columns, by_pair)]
    strips = [(factor, [of[name, factor] for name in names if (name, factor) in of]) for factor in factors]
    if len(names) > 2:  # the paper's Figure 4
        title = "every pair by what orders it; chance is one half"
        blocks.append(strip_table(strips, (0.0, 1.0), 0.5, title=title, name="pairs-by-factor"))
    for factor in factors:
        if factor != BASELINE and BASELINE in factors:
            points = [(name, of[name, BASELINE], of[name, factor]) for name in names if (name, factor) in of]
            name, title = (
                f"against-acc-{_file_word(factor)}",
                f"pairs in the right order, by {factor} and by ACC",
            )
            legend = [f"above the line: {factor} orders the pair better than ACC"]
            blocks.append(Scatter((BASELINE, factor), points, title, name, legend, diagonal=True))
    table = Section(
        title=Words(f"Pair by pair, t = {size}", "strong"),
        text="How often each pair comes out right, in %, the better model first.",
        blocks=blocks,
        detail="short" if len(names) <= MOST_PAIRS else "full",
    )
    data = ", ".join(results[0].job["about"]["data"]) if results else ""
    return [table, Section(blocks=[_pairs_file(pairs, data)], detail="file")]


def _file_word(factor: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in factor.lower())


def _pairs_file(pairs: Sequence[Measure], data: str) -> Table:
    """One line per pair and factor, as it is written to a file."""
    titles = ("dataset", "explainer", "method", "direction", "model_i", "model_j", "s_i", "s_j", "accuracy", "ties",
              "B", "t")  # fmt: skip
    lines = []
    for row in pairs:
        first, second = row.facts["models"]
        s_i, s_j = row.facts["truth"]
        explainer = str(row.facts["explainer"])
        method = row.groups["factor"].removesuffix(f" ({explainer})")
        cells: list[Cell] = [data, explainer, method, str(row.facts["direction"]), first, second]
        cells += [
            repr(s_i),
            repr(s_j),
            Number(row),
            repr(row.facts["ties"]),
            str(row.n),
            row.groups["probe size"],
        ]
        lines.append(Row(cells))
    return Table([Column(title, "left") for title in titles], lines, name="pairs")
