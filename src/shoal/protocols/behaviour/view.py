"""What to show of a behaviour audit: capabilities as blocks, the worst marked, with examples; models side by side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, Literal

from ...core.claims import too_few_templates
from ...core.measures import RATE, lowest_first, shown, shown_interval
from ...core.records import OVER_TEMPLATES, Finding, Measure, Measures, Result
from ...core.views import (
    Block,
    CaseList,
    Cell,
    Column,
    HeatMap,
    Number,
    Row,
    Section,
    ShownCase,
    Table,
    Text,
    Tone,
    Words,
    shown_cases,
)
from ..base import differing
from ..degeneracy import DEGENERATE
from .score import DEAD, WORDS
from .settings import Settings

WORST = 3
"""How many capabilities the answer names, and of how many functionalities failing cases are shown."""
EXAMPLES = 2
OF_GROUPS = "Rates of capabilities and test types are means over functionalities."
"""Passed and total of a group do not give its rate if its functionalities differ in size."""
NOTES = 3
APART = 0.05
"""From this difference on, the output says why the suite score and the pass rate disagree."""
CAVEATS = ("never", "band", "bounds", "low mass", "truncated", "cut", "no confidences", "left out")
"""Facts of the suite score that could change a decision, the most important first."""
TONES: Mapping[str, Tone] = {
    DEAD: "bad",
    DEGENERATE: "bad",
    "untrained": "bad",
    "forgotten": "bad",
    "leaning": "doubt",
    "saturated": "doubt",
}
Count = Literal["n", "na", "errors"]


def view(
    settings: Settings | None,
    results: Sequence[Result],
    measures: Sequence[Measure],
    findings: Sequence[Finding],
) -> list[Section]:
    """Each result by itself; or, with measures, what several say together."""
    if not measures:
        return [section for result in results for section in (_result(result), _details(result))]
    return _side_by_side(settings, results, measures, findings)


# What was asked


def _about(settings: Settings | None, result: Result) -> str:
    """Return suite, split, and every setting that differs from the profile's."""
    scored_apart = result.measures.where("iid score") if result.cases else ()
    iid = sum(row.n + row.errors for row in scored_apart)
    cases = f", and {iid:,} i.i.d. cases" if iid else ""
    given = result.job["settings"] if settings is None else {"suite": settings.suite, "split": settings.split}
    split = f", {given['split']} split" if given.get("split") else ""
    profile = given.get("profile", "") if settings is None else settings.profile
    named = f", profile {profile}" if profile and profile != "recommended" else ""
    return f"suite {given['suite']}{split}{cases}{_repeated(result)}{named}{unusual_settings(settings)}"


def _repeated(result: Result) -> str:
    """What became of cases that are in the suite more than once: a pass rate counts each that was kept."""
    facts = result.job.get("about", {}).items()
    words = [
        f"{count:,} {name if count > 1 else name.replace('cases', 'case')}"
        for name, count in facts
        if name.startswith("repeated cases")
    ]
    return f" ({', '.join(words)})" if words else ""


def unusual_settings(settings: Settings | None, shown_elsewhere: Sequence[str] = ()) -> str:
    """Return the settings that differ from the profile's, in words."""
    chosen = {} if settings is None else differing(settings)
    known = ("suite", "split", *shown_elsewhere)
    words = [f"{name} {_plain(value)}" for name, value in _flat(chosen) if name not in known]
    return f", with {', '.join(words)}" if words else ""


def _flat(chosen: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield settings by name; of a table inside them those that differ from its defaults, as TABLE.NAME."""
    for name, value in chosen.items():
        if not is_dataclass(value) or isinstance(value, type):
            yield name, value
            continue
        usual = type(value)()
        for part in fields(value):
            if getattr(value, part.name) != getattr(usual, part.name):
                yield f"{name}.{part.name.removesuffix('_')}", getattr(value, part.name)


def _plain(value: Any) -> str:
    return " / ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _about_answers(measures: Measures) -> list[str]:
    """Return how the model's labels were mapped to the suite's."""
    facts = {name: fact for row in measures.where("suite score") for name, fact in row.facts.items()}
    return [WORDS[name](facts) for name in ("label map", "band", "never") if name in facts]


# One result


def _result(result: Result) -> Section:
    """Return the whole of a result: the answer, the table worst first, failing examples, at most three notes."""
    rates = result.measures.by("functionality", "pass rate")
    unusable = [*_findings(result.findings), *_failed_checks(result)]
    if any(finding.kind == DEAD for finding in result.findings):
        return Section([Words(_name_of(result), "strong")], blocks=unusable)
    notes = [f"! {text}" for text in _caveats(result.measures)]
    return Section(
        "",
        [*_answer(result, rates)],
        [*unusable, _table(result.measures, rates), *_failing(result, rates)],
        notes[:NOTES],
    )


def _details(result: Result) -> Section:
    """Return what only the full view shows: the other notes, and the suite score for new templates."""
    (whole,) = result.measures.where("suite score") or (None,)
    lines = [f"! {text}" for text in _caveats(result.measures)][NOTES:]
    if whole is not None and "templates" in whole.facts:
        facts = whole.facts
        number = f"{facts['templates']:,} templates, effective {facts['effective templates']:.1f}"
        ends = facts.get("interval over templates")
        between = (
            " – ".join(shown(end, RATE) for end in ends) if ends else too_few_templates(facts["templates"])
        )
        lines.append(
            f"For new templates: suite score {shown(whole.value, RATE)}, 95 % CI {between} ({number})."
        )
    lines.append(
        "95 % intervals: Wilson by case; for means over functionalities, on the effective sample size."
    )
    return Section(notes=lines, detail="full")


def _name_of(result: Result) -> str:
    return f"{result.job['model']} on {_about(result.settings, result)}"


def _answer(result: Result, rates: Sequence[Measure]) -> Iterator[Words | Number | str]:
    """Return how many cases pass, the suite score, why the two differ, and the weakest capabilities."""
    plain = next((row for row in result.measures.where("pass rate") if not row.groups), None)
    (whole,) = result.measures.where("suite score") or (None,)
    yield Words(f"{_name_of(result)}: ", "strong")
    if plain is None or plain.value is None or whole is None:
        yield Words(f"{_all_well(rates).text}\n", "doubt")
        return
    yield Words(f"{passes_of(plain):,} of {plain.n:,} cases pass ({shown(plain.value, RATE)} %)", "strong")
    yield Words(_beside(plain), "quiet")
    count = sum(row.value is not None for row in rates)
    interval = f", 95 % CI {shown_interval(whole)}" if whole.interval else ""
    averaged = f"{count} functionalit{'y' if count == 1 else 'ies'}"
    yield f"\nSuite score {shown(whole.value, RATE)} (mean over {averaged}){interval}\n"
    yield from _why_apart(plain, whole, rates)
    weakest = lowest_first(result.measures.by("capability", "pass rate"))[:WORST]
    if len(weakest) > 1 and (weakest[0].value or 0.0) < 1:
        yield "Weakest: "
        names = [f"{row.groups['capability']} {shown(row.value, RATE)} %" for row in weakest]
        yield Words(", ".join(names) + "\n", "bad")


def _beside(row: Measure) -> str:
    """Return the cases that are not in a rate."""
    parts = [f"{row.na:,} not applicable"] if row.na else []
    parts += [f"{row.errors:,} unanswered"] if row.errors else []
    return f", {', '.join(parts)}" if parts else ""


def _why_apart(plain: Measure, whole: Measure, rates: Sequence[Measure]) -> Iterator[Words]:
    """Name the functionality that pulls the suite score furthest away from the pass rate."""
    gap = (whole.value or 0.0) - (plain.value or 0.0)
    known = [row for row in rates if row.value is not None]
    if abs(gap) <= APART or len(known) < 2:
        return
    pull = {
        row.groups["functionality"]: (1 / len(known) - row.n / plain.n)
        * ((row.value or 0.0) - (plain.value or 0.0))
        for row in known
    }
    name = max(pull, key=lambda name: (pull[name] * (1 if gap > 0 else -1), name))
    row = next(row for row in known if row.groups["functionality"] == name)
    yield Words(
        f"They differ because the suite score counts each functionality once: {name} "
        f"({passes_of(row):,} of {row.n:,} pass) "
        f"weighs 1/{len(known)}, with {100 * row.n / plain.n:.1f} % of the cases.\n",
        "doubt",
    )


def passes_of(row: Measure) -> int:
    """Return how many cases pass."""
    return round((row.value or 0.0) * row.n)


def _findings(findings: Sequence[Finding]) -> Iterator[Text]:
    for finding in sorted(findings, key=lambda finding: -finding.weight):
        if finding.disqualifies or finding.kind in TONES:
            yield Text([Words(finding.text, ("strong", TONES.get(finding.kind, "")))])


def _failed_checks(result: Result) -> Iterator[Text]:
    for check in result.job.get("checks", ()):
        if check["ok"] is False:
            yield Text([Words(f"! {check['name']}: ", ("strong", "bad")), check["detail"]])


def _caveats(measures: Measures) -> Iterator[str]:
    """Return what could change a decision, the most important first."""
    for row in measures.where("suite score"):
        for name in ("not asked", *CAVEATS, "label map"):
            if name in row.facts:
                yield f"{WORDS[name](row.facts)}."


def worst_functionalities(rates: Sequence[Measure]) -> list[str]:
    """Return the names of those with the lowest pass rates, worst first; rates on few cases after the others."""
    failing = [row for row in rates if row.value is not None and row.value < 1]
    enough = lowest_first(failing)
    few = sorted((row for row in failing if row not in enough), key=lambda row: (row.value or 0.0, -row.n))
    return [row.groups["functionality"] for row in [*enough, *few][:WORST]]


def _table(measures: Measures, rates: Sequence[Measure]) -> Table:
    """Return capabilities and their functionalities, worst first, passed and total beside every rate."""
    extra = [count for count in _counts(rates) if count != "n"]
    columns = [
        Column("", "left"),
        Column("type", "left", tone="quiet"),
        Column("passed"),
        Column("rate"),
        Column(f"95 % CI{' (new templates)' if _over_templates(measures) else ''}"),
        *map(_count_column, extra),
    ]

    def line(name: str, test_type: str, row: Measure, members: Sequence[Measure], tone: Tone) -> Row:
        passed = f"{sum(map(passes_of, members)):,}/{sum(member.n for member in members):,}"
        cells: list[Cell] = [name, test_type, passed, Number(row), Words(_interval_of(row), "quiet")]
        return Row([*cells, *(Number(row, part=count) for count in extra)], tone)

    rows = []
    blocks = measures.by("capability", "pass rate")
    for block in sorted(blocks, key=_worst_first):
        own = [row for row in rates if row.groups["capability"] == block.groups["capability"]]
        rows.append(line(block.groups["capability"], "", block, own, "strong"))
        for row in sorted(own, key=_worst_first):
            rows.append(line(f"  {row.groups['functionality']}", row.groups["test type"], row, [row], ""))
    rows.append(Row())
    for row in measures.by("test type", "pass rate"):
        own = [rate for rate in rates if rate.groups["test type"] == row.groups["test type"]]
        rows.append(line(f"all {row.groups['test type']}", "", row, own, ""))
    rows += [line("i.i.d. score", "", row, [row], "strong") for row in measures.where("iid score")]
    unequal = any(
        len({row.n for row in rates if row.groups["capability"] == block.groups["capability"]}) > 1
        for block in blocks
    )
    return Table(columns, rows, legend=[OF_GROUPS] if unequal else [])


def _worst_first(row: Measure) -> tuple[bool, float, int]:
    return row.value is None, row.value or 0.0, -row.n


def _over_templates(measures: Measures) -> bool:
    return any(row.interval_method == OVER_TEMPLATES for row in measures)


def _interval_of(row: Measure) -> str:
    if row.interval_method == OVER_TEMPLATES and row.interval is None:
        return too_few_templates(row.facts["templates"])
    return shown_interval(row)


def _count_column(count: Count) -> Column:
    return Column("n/a" if count == "na" else count)


def _counts(rows: Sequence[Measure]) -> list[Count]:
    """Return which counts stand next to rates: cases, and those not applicable or unanswered if there are any."""
    counts: list[Count] = ["n"]
    counts += ["na"] if any(row.na for row in rows) else []
    return counts + (["errors"] if any(row.errors for row in rows) else [])


def _failing(result: Result, rates: Sequence[Measure]) -> Iterator[Block]:
    """Return failing cases of the worst functionalities, with what was expected and what the model answered."""
    worst = worst_functionalities(rates)
    if not any(row.value is not None and row.value < 1 for row in rates):
        yield Text([_all_well(rates)])
    banded = any("band" in row.facts for row in result.measures.where("suite score"))
    failing = result.failing() if worst else []
    for number, name in enumerate(worst):
        row = next(row for row in rates if row.groups["functionality"] == name)
        cases = [case for case in failing if case.groups["functionality"] == name]
        title = [Words(name, "bad"), Words(f": {len(cases):,} of {row.n:,} fail")]
        title = [Words("Failing examples\n", "strong"), *title] if number == 0 else title
        examples = shown_cases(result, cases[: EXAMPLES if number == 0 else 1])
        yield CaseList([_in_own_words(case) for case in examples] if banded else examples, title)


def _in_own_words(shown: ShownCase) -> ShownCase:
    """Return a case of a two-label model without its distance, which lies between three labels."""
    return shown if shown.outcome is None else replace(shown, outcome=replace(shown.outcome, value=None))


def _all_well(rates: Sequence[Measure]) -> Words:
    if not any(row.n for row in rates):
        return Words("No case applies: nothing was tested.", "doubt")
    if errors := sum(row.errors for row in rates):
        unanswered = "1 case is" if errors == 1 else f"{errors:,} cases are"
        return Words(f"Every applicable case passes; {unanswered} unanswered.", "doubt")
    return Words("Every applicable case passes.", "good")


# Several models


def _side_by_side(
    settings: Settings | None,
    results: Sequence[Result],
    measures: Sequence[Measure],
    findings: Sequence[Finding],
) -> list[Section]:
    """A row per model; in full also every capability of each."""
    rows_of: dict[str, list[Measure]] = {}
    for row in measures:
        rows_of.setdefault(_name(row), []).append(row)
    by_name = {name: Measures(rows) for name, rows in rows_of.items()}
    several_seeds = any("seed" in row.groups for row in measures)
    warnings = [
        f"{_name(finding)}: {finding.text}" for finding in sorted(findings, key=lambda told: -told.weight)
    ]
    warnings += [
        f"{result.job['model']}: {check['name']}: {check['detail']}"
        for result in results
        for check in result.job.get("checks", ())
        if check["ok"] is False
    ]
    what = "models and seeds" if several_seeds else "models"
    title = [Words("behaviour of ", "quiet"), Words(f"{len(by_name)} {what}", "strong")]
    about = _about(settings, results[0]) if results else ""
    answers = [f"{name}: {words}" for name, rows in by_name.items() for words in _about_answers(rows)]
    notes = [*answers, "Differences are not tested here: shoal compare MODEL MODEL."]
    return [
        Section(title, Words(about, "quiet"), [_models(by_name)], notes, warnings),
        Section(title, "", [_capabilities(by_name), _functionalities(by_name)], detail="full"),
    ]


def _name(row: Measure | Finding) -> str:
    """What a model is called here, with its seed where there are several."""
    return " seed ".join(row.groups[key] for key in ("model", "seed") if key in row.groups)


def _models(by_name: Mapping[str, Measures]) -> Table:
    """The suite score and the worst functionality of each."""
    counts = _counts([row for measures in by_name.values() for row in measures.where("suite score")])
    rows = []
    for name, measures in by_name.items():
        (whole,) = measures.where("suite score")
        rates = {row.groups["functionality"]: row for row in _by_functionality(measures)}
        worst = next(iter(worst_functionalities(list(rates.values()))), "")
        score, lowest = Number(whole, part="value and interval"), Number(rates.get(worst))
        rows.append(Row([name, score, worst, lowest, *(Number(whole, part=count) for count in counts)]))
    columns = [
        Column("model", "left"),
        Column("suite score"),
        Column("worst functionality", "left"),
        Column("pass rate"),
        *map(_count_column, counts),
    ]
    return Table(columns, rows, "models")


def _by_functionality(measures: Measures) -> list[Measure]:
    return [row for row in measures.where("pass rate") if "functionality" in row.groups]


def _capabilities(by_name: Mapping[str, Measures]) -> HeatMap:
    """Every capability of every model."""
    cells = {}
    names = list(dict.fromkeys(row.groups["capability"] for row in _by_capability(by_name)))
    for i, measures in enumerate(by_name.values()):
        (cells[i, 0],) = measures.where("suite score")
        rates = {row.groups["capability"]: row for row in _by_capability({"": measures})}
        cells |= {(i, j): rates[name] for j, name in enumerate(names, start=1) if name in rates}
    columns = [("suite score", ""), *((name, "") for name in names)]
    return HeatMap([(name, "") for name in by_name], columns, cells, "by capability", "capabilities")


def _functionalities(by_name: Mapping[str, Measures]) -> HeatMap:
    """Every functionality of every model, in the blocks of their capabilities."""
    rates = [
        {row.groups["functionality"]: row for row in _by_functionality(rows)} for rows in by_name.values()
    ]
    groups = {name: row.groups for by_functionality in rates for name, row in by_functionality.items()}
    cells = {
        (i, j): by_functionality[name]
        for i, name in enumerate(groups)
        for j, by_functionality in enumerate(rates)
        if name in by_functionality
    }
    return HeatMap(
        [(name, group["capability"]) for name, group in groups.items()],
        [(name, "") for name in by_name],
        cells,
        "by functionality",
        "functionalities",
        kinds=[group["test type"] for group in groups.values()],
    )


def _by_capability(by_name: Mapping[str, Measures]) -> list[Measure]:
    rates = [row for measures in by_name.values() for row in measures.where("pass rate")]
    return [row for row in rates if "capability" in row.groups and "functionality" not in row.groups]
