"""The sections of a behaviour audit: capabilities worst first, with failing examples; or models side by side."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from ...core.claims import too_few_templates
from ...core.measures import SENSITIVE, lowest_first, shown_interval
from ...core.records import OVER_TEMPLATES, Finding, Measure, Measures, Result
from ...core.views import (
    Block,
    Card,
    CaseList,
    Cell,
    Column,
    HeatMap,
    Number,
    Row,
    Section,
    Summary,
    Table,
    Text,
    Tone,
    Words,
    shown_cases,
    strip_table,
)
from ...models import brief_spec
from ..degeneracy import DEGENERATE, SWAPPED
from . import wording
from .score import DEAD
from .settings import Settings

WORST = 3
"""How many capabilities the answer names, and of how many functionalities failing cases are shown."""
EXAMPLES = 2
NOTES = 3
TONES: Mapping[str, Tone] = {
    DEAD: "bad",
    DEGENERATE: "bad",
    "untrained": "bad",
    "forgotten": "bad",
    "leaning": "doubt",
    "saturated": "doubt",
}
Count = Literal["n", "na", "errors"]
COUNTS: Mapping[Count, str] = {"n": "n", "na": "n/a", "errors": "errors"}


def view(
    settings: Settings | None,
    results: Sequence[Result],
    measures: Sequence[Measure],
    findings: Sequence[Finding],
) -> list[Section]:
    """Return a section per result, or, with measures, a row per model; in full also every group's rates."""
    if not measures:
        return [section for result in results for section in (_result(result), _details(result))]
    rows_of: dict[str, list[Measure]] = {}
    for row in measures:
        if "model" in row.groups:
            rows_of.setdefault(wording.name_of(row), []).append(row)
    by_name = {name: Measures(rows) for name, rows in rows_of.items()}
    answer = wording.scores_in_order({name: rows.where("suite score")[0] for name, rows in by_name.items()})
    what = "models and seeds" if any("seed" in row.groups for row in measures) else "models"
    title = [Words("behaviour of ", "quiet"), Words(f"{len(by_name)} {what}", "strong")]
    about = wording.subject(settings, results[0]) if results else ""
    answers = [f"{name}: {words}" for name, rows in by_name.items() for words in wording.about_labels(rows)]
    varied = [Text([Words(line)]) for line in wording.sensitivity_lines(measures)]
    maps = [_heat_map(by_name, "capability", "capabilities")]
    maps.append(_heat_map(by_name, "functionality", "functionalities"))
    notes, warnings = [*answers, wording.NOT_TESTED], wording.warnings(results, findings)
    return [
        Section(
            title,
            [Words(answer, "strong"), Words(about, "quiet")],
            [*varied, _models(by_name)],
            notes,
            warnings,
        ),
        Section(title, "", maps, detail="full"),
    ]


# One result


def _result(result: Result) -> Section:
    """Return the whole of a result: the answer, the table worst first, failing examples, at most three notes."""
    rates = result.measures.by("functionality", "pass rate")
    unusable = list(_unusable(result))
    if any(finding.kind == DEAD for finding in result.findings):
        return Section([Words(_name_of(result), "strong")], blocks=unusable)
    return Section(
        "",
        list(_answer(result, rates)),
        [*unusable, _table(result.measures, rates), *_failing(result, rates)],
        wording.caveats(result.measures)[:NOTES],
        summary=_summary(result, rates),
    )


def _summary(result: Result, rates: Sequence[Measure]) -> Summary | None:
    """Return the first screen of a page: how many cases pass, what fails, fairness and safety, capabilities."""
    plain = next((row for row in result.measures.where("pass rate") if not row.groups), None)
    (whole,) = result.measures.where("suite score") or (None,)
    if plain is None or plain.value is None or whole is None:
        return None
    text = wording.refusal_words(result.measures)
    capabilities = result.measures.by("capability", "pass rate")
    lines = [f"95 % CI {shown_interval(whole)}", "mean over functionalities"]
    cards = [Card("Suite score", wording.percent(whole), lines), Card("Fails most", rows=_card_rows(rates))]
    sensitive = [row for row in rates if any(word in row.groups["capability"].lower() for word in SENSITIVE)]
    cards += [Card("Fairness and safety", rows=_card_rows(sensitive))] if sensitive else []
    named = [(row.groups["capability"], [row]) for row in lowest_first(capabilities) if row.value is not None]
    chart = strip_table(named, (0.0, 1.0), title="Pass rate by capability, in %") if len(named) > 1 else None
    unusable = next((finding.text for finding in _leading(result)), "")
    verdict = unusable or f"{wording.pass_words(plain)}{wording.not_counted(plain)}"
    return Summary(verdict, "bad" if unusable else "", text, cards, chart)


def _card_rows(rates: Sequence[Measure]) -> list[tuple[str, Cell]]:
    """Return the functionalities with the lowest pass rates."""
    worst = lowest_first([row for row in rates if row.value is not None])[:WORST]
    return [(row.groups["functionality"], wording.percent(row)) for row in worst]


def _details(result: Result) -> Section:
    """Return what only the full view shows: the other notes, and the suite score for new templates."""
    lines = wording.caveats(result.measures)[NOTES:]
    spec = str(result.job["model"])
    lines += [f"Model: {spec}."] if brief_spec(spec) != spec else []
    scores = result.measures.where("suite score")
    lines += [wording.over_templates_words(row) for row in scores if row.basis.templates is not None]
    return Section(notes=[*lines, wording.INTERVALS], detail="full")


def _name_of(result: Result) -> str:
    return f"{brief_spec(str(result.job['model']))} on {wording.subject(result.settings, result)}"


def _answer(result: Result, rates: Sequence[Measure]) -> Iterator[Words | Number | str]:
    """Return how many cases pass, the suite score, why the two differ, and the weakest capabilities."""
    plain = next((row for row in result.measures.where("pass rate") if not row.groups), None)
    (whole,) = result.measures.where("suite score") or (None,)
    yield Words(f"{_name_of(result)}: ", "strong")
    for finding in _leading(result):
        yield Words(f"{finding.text}\n", ("strong", "bad"))
    if plain is None or plain.value is None or whole is None:
        yield Words(f"{wording.nothing_failed(rates)}\n", "doubt")
        return
    yield Words(wording.pass_words(plain), "strong")
    yield Words(wording.not_counted(plain), "quiet")
    yield f"\n{wording.suite_score_words(whole, rates)}\n"
    for words in (wording.why_apart(plain, whole, rates), wording.refusal_words(result.measures)):
        if words:
            yield Words(f"{words}\n", "doubt")
    if weakest := wording.weakest_words(result.measures.by("capability", "pass rate"), WORST):
        yield "Weakest capabilities: "
        yield Words(f"{weakest}\n", "bad")


def _leading(result: Result) -> list[Finding]:
    """Return the findings that decide how to read every number: they come before the numbers."""
    leading = [row for row in result.findings if row.disqualifies or row.kind == SWAPPED]
    return sorted(leading, key=lambda finding: -finding.weight)


def _unusable(result: Result) -> Iterator[Text]:
    """Yield the other findings, and failed self-checks of the model that say more."""
    kinds = {finding.kind for finding in result.findings}
    for finding in sorted(result.findings, key=lambda finding: -finding.weight):
        if finding.kind in TONES and (finding.kind == DEAD or finding not in _leading(result)):
            yield Text([Words(finding.text, ("strong", TONES.get(finding.kind, "")))])
    for name, detail in wording.failed_checks(result):
        if DEGENERATE in kinds and name == "not the same label for everything":
            continue
        yield Text([Words(f"! {name}: ", ("strong", "bad")), detail])


def worst_functionalities(rates: Sequence[Measure]) -> list[str]:
    """Return the names of those with the lowest pass rates, worst first; rates on few cases after the others."""
    failing = [row for row in rates if row.value is not None and row.value < 1]
    enough = lowest_first(failing)
    few = sorted((row for row in failing if row not in enough), key=lambda row: (row.value or 0.0, -row.n))
    return [row.groups["functionality"] for row in [*enough, *few][:WORST]]


def _table(measures: Measures, rates: Sequence[Measure]) -> Table:
    """Return capabilities and their functionalities, worst first, passed and total beside every rate."""
    extra = [count for count in _counts(rates) if count != "n"]
    over_templates = any(row.interval_method == OVER_TEMPLATES for row in measures)
    columns = [
        Column("", "left"),
        Column("type", "left", tone="quiet"),
        Column("passed"),
        Column("rate"),
        Column(f"95 % CI{' (new templates)' if over_templates else ''}"),
        *(Column(COUNTS[count]) for count in extra),
    ]

    def line(
        name: str, row: Measure, members: Sequence[Measure], tone: Tone = "", test_type: str = ""
    ) -> Row:
        passed = f"{sum(map(wording.passes_of, members)):,}/{sum(member.n for member in members):,}"
        cells: list[Cell] = [name, test_type, passed, Number(row), Words(_interval_of(row), "quiet")]
        return Row([*cells, *(Number(row, part=count) for count in extra)], tone)

    rows, unequal = [], False
    for block in sorted(measures.by("capability", "pass rate"), key=_worst_first):
        own = _members(rates, "capability", block)
        unequal |= len({row.n for row in own}) > 1
        rows.append(line(block.groups["capability"], block, own, "strong"))
        for row in sorted(own, key=_worst_first):
            rows.append(line(f"  {row.groups['functionality']}", row, [row], "", row.groups["test type"]))
    rows.append(Row())
    for row in measures.by("test type", "pass rate"):
        rows.append(line(f"all {row.groups['test type']}", row, _members(rates, "test type", row)))
    rows += [line("i.i.d. score", row, [row], "strong") for row in measures.where("iid score")]
    return Table(columns, rows, title=wording.OF_GROUPS if unequal else "")


def _members(rates: Sequence[Measure], group: str, mean: Measure) -> list[Measure]:
    return [row for row in rates if row.groups[group] == mean.groups[group]]


def _worst_first(row: Measure) -> tuple[bool, float, int]:
    return row.value is None, row.value or 0.0, -row.n


def _interval_of(row: Measure) -> str:
    if row.interval_method == OVER_TEMPLATES and row.interval is None:
        return too_few_templates(row.basis.templates or 0)
    return shown_interval(row)


def _counts(rows: Sequence[Measure]) -> list[Count]:
    """Return the counts shown next to rates: cases, and not applicable or unanswered ones if there are any."""
    return [count for count in COUNTS if count == "n" or any(getattr(row, count) for row in rows)]


def _failing(result: Result, rates: Sequence[Measure]) -> Iterator[Block]:
    """Yield failing cases of the worst functionalities, with the expected and the actual answer."""
    worst = worst_functionalities(rates)
    if worst and not result.cases:  # a result file has rates only
        return
    if not worst:
        passed = any(row.n for row in rates) and not any(row.errors for row in rates)
        yield Text([Words(wording.nothing_failed(rates), "good" if passed else "doubt")])
        return
    failing = result.failing()
    for number, name in enumerate(worst):
        row = next(row for row in rates if row.groups["functionality"] == name)
        cases = [case for case in failing if case.groups["functionality"] == name]
        title = [Words(name, "bad"), Words(f": {len(cases):,} of {row.n:,} fail")]
        title = [Words("Failing examples\n", "strong"), *title] if number == 0 else title
        yield CaseList(shown_cases(result, cases[: EXAMPLES if number == 0 else 1]), title)


# Several models


def _models(by_name: Mapping[str, Measures]) -> Table:
    """Return suite score and worst functionality of each model."""
    counts = _counts([row for measures in by_name.values() for row in measures.where("suite score")])
    rows = []
    for name, measures in by_name.items():
        (whole,) = measures.where("suite score")
        rates = {row.groups["functionality"]: row for row in measures.by("functionality", "pass rate")}
        worst = next(iter(worst_functionalities(list(rates.values()))), "")
        score, lowest = Number(whole, part="value and interval"), Number(rates.get(worst))
        rows.append(Row([name, score, worst, lowest, *(Number(whole, part=count) for count in counts)]))
    columns = [
        Column("model", "left"),
        Column("suite score"),
        Column("worst functionality", "left"),
        Column("pass rate"),
        *(Column(COUNTS[count]) for count in counts),
    ]
    return Table(columns, rows, "models")


def _heat_map(by_name: Mapping[str, Measures], group: str, plural: str) -> HeatMap:
    """Return the rates of a group for every model, functionalities in the blocks of their capabilities."""
    rates = [
        {row.groups[group]: row for row in measures.by(group, "pass rate")} for measures in by_name.values()
    ]
    groups = {name: row.groups for of_model in rates for name, row in of_model.items()}
    cells = {
        (i, j): of_model[name]
        for i, name in enumerate(groups)
        for j, of_model in enumerate(rates)
        if name in of_model
    }
    is_fine = group == "functionality"
    rows = [(name, own["capability"] if is_fine else "") for name, own in groups.items()]
    kinds = [own["test type"] for own in groups.values()] if is_fine else ()
    return HeatMap(rows, [(name, "") for name in by_name], cells, f"by {group}", plural, kinds=kinds)
