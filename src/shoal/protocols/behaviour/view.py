"""What to show of a behaviour audit: capabilities as blocks, the worst marked, with examples; models side by side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, Literal

from ...claims import FEW_TEMPLATES, OF_FEW_TEMPLATES, THESE_TEMPLATES
from ...records import Finding, Measure, Measures, Result
from ...views import (
    Block,
    CaseList,
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
from .iid import TRAINED_ON_TOO
from .score import DEAD, DEGENERATE, WORDS
from .settings import Settings, Train

WORST = 3
"""How many functionalities are marked."""
EXAMPLES = 2
ABOUT_ANSWERS = ("label map", "band", "never")
"""Facts of the suite score that stand above the table; the others stand below it."""
TONES: Mapping[str, Tone] = {
    DEAD: "bad",
    DEGENERATE: "bad",
    "untrained": "bad",
    "forgotten": "bad",
    "leaning": "doubt",
    "saturated": "doubt",
}
Count = Literal["n", "na", "errors"]
METHODS = (
    "intervals: Wilson, on as many independent cases as tell as much: cases of one template count together"
)


def view(
    settings: Settings | None,
    results: Sequence[Result],
    measures: Sequence[Measure],
    findings: Sequence[Finding],
) -> list[Section]:
    """Each result by itself; or, with measures, what several say together."""
    if not measures:
        return [_result(result) for result in results]
    if settings is not None and settings.train is not None:
        from .learning.view import learning_sections

        task = str(results[0].job.get("about", {}).get("task", "")) if results else ""
        return learning_sections(_about_plan(settings, results), task, measures, findings, results)
    return _side_by_side(settings, results, measures, findings)


# What was asked


def _about(settings: Settings | None, result: Result) -> str:
    """Suite, split, cases, profile, and every setting that is not as the profile has it."""
    scored_apart = result.measures.where("iid score") if result.cases else ()
    iid = sum(row.n + row.errors for row in scored_apart)
    cases = f"{len(result.cases) - iid:,} cases" + (f" and {iid:,} i.i.d. cases" if iid else "")
    given = result.job["settings"] if settings is None else {"suite": settings.suite, "split": settings.split}
    split = f", {given['split']} split" if given.get("split") else ""
    profile = given.get("profile", "") if settings is None else settings.profile
    return f"suite {given['suite']}{split}, {cases}{_repeated(result)}, profile {profile}{_unusual(settings)}"


def _repeated(result: Result) -> str:
    """What became of cases that are in the suite more than once: a pass rate counts each that was kept."""
    facts = result.job.get("about", {}).items()
    words = [
        f"{count:,} {name if count > 1 else name.replace('cases', 'case')}"
        for name, count in facts
        if name.startswith("repeated cases")
    ]
    return f" ({', '.join(words)})" if words else ""


def _about_plan(settings: Settings, results: Sequence[Result]) -> str:
    """The same of trainings, whose table says what was trained how and held out."""
    both = max((result.job.get("about", {}).get(TRAINED_ON_TOO, 0) for result in results), default=0)
    warning = f"; {both:,} {TRAINED_ON_TOO}" if both else ""
    split = f", {settings.split} split" if settings.split else ""
    unusual = _unusual(settings, ("hold_out", "train.on", "train.method"))
    return f"suite {settings.suite}{split}, profile {settings.profile}{unusual}{warning}"


def _unusual(settings: Settings | None, said_elsewhere: Sequence[str] = ()) -> str:
    """The settings that differ from the profile's, in words."""
    chosen = {} if settings is None else differing(settings)
    told = ("suite", "split", *said_elsewhere)
    words = [f"{name} {_plain(value)}" for name, value in _flat(chosen) if name not in told]
    return f", with {', '.join(words)}" if words else ""


def _flat(chosen: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Settings by name; of the training those that differ from the usual, as train.NAME."""
    for name, value in chosen.items():
        if not is_dataclass(value):
            yield name, value
            continue
        usual = Train()
        for part in fields(value):
            if getattr(value, part.name) != getattr(usual, part.name):
                yield f"{name}.{part.name.removesuffix('_')}", getattr(value, part.name)


def _plain(value: Any) -> str:
    return " / ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _about_answers(measures: Measures) -> list[str]:
    """How the model's labels were read: what a reader must know before any number."""
    facts = {name: fact for row in measures.where("suite score") for name, fact in row.facts.items()}
    return [WORDS[name](facts) for name in ABOUT_ANSWERS if name in facts]


# One result


def _result(result: Result) -> Section:
    """The whole of a result, worth looking at."""
    rates = result.measures.by("functionality", "pass rate")
    worst = worst_functionalities(rates)
    about = "\n".join([_about(result.settings, result), *_about_answers(result.measures)])
    first: list[Block] = [*_findings(result.findings), *_failed_checks(result)]
    title = [Words("behaviour of ", "quiet"), Words(str(result.job["model"]), "strong")]
    if any(finding.kind == DEAD for finding in result.findings):
        return Section(title, Words(about, "quiet"), first)
    blocks = [*first, _table(result.measures, rates, worst), _failing(result, rates, worst)]
    return Section(title, Words(about, "quiet"), blocks, _footnotes(result.measures, rates))


def _findings(findings: Sequence[Finding]) -> Iterator[Text]:
    for finding in sorted(findings, key=lambda finding: -finding.weight):
        yield Text([Words(finding.text, ("strong", TONES.get(finding.kind, "")))])


def _failed_checks(result: Result) -> Iterator[Text]:
    for check in result.job.get("checks", ()):
        if check["ok"] is False:
            yield Text([Words(f"! {check['name']}: ", ("strong", "bad")), check["detail"]])


def worst_functionalities(rates: Sequence[Measure]) -> list[str]:
    """The names of those with the lowest pass rates, worst first; none that passes everything."""
    failing = [row for row in rates if row.value is not None and row.value < 1]
    ranked = sorted(failing, key=lambda row: (row.value or 0.0, -row.n))
    return [row.groups["functionality"] for row in ranked[:WORST]]


def _table(measures: Measures, rates: Sequence[Measure], worst: Sequence[str]) -> Table:
    counts = _counts(rates)
    columns = [
        Column("functionality", "left"),
        Column("type", "left", tone="quiet"),
        Column("pass rate"),
        Column("", "left", spare=True),
        Column("95 % interval"),
        *map(_count_column, counts),
    ]

    def line(name: str, test_type: str, row: Measure, tone: Tone) -> Row:
        mark = FEW_TEMPLATES if THESE_TEMPLATES in row.facts else ""
        rate = [Number(row), Number(row, part="bar"), Number(row, part="interval", mark=mark)]
        return Row([name, test_type, *rate, *(Number(row, part=count) for count in counts)], tone)

    rows = []
    for block in measures.by("capability", "pass rate"):
        rows.append(line(block.groups["capability"], "", block, "strong"))
        for row in rates:
            if row.groups["capability"] == block.groups["capability"]:
                name = row.groups["functionality"]
                mark = "▼" if name in worst else " "
                rows.append(
                    line(f"{mark} {name}", row.groups["test type"], row, "bad" if name in worst else "")
                )
        rows.append(Row())
    for row in measures.by("test type", "pass rate"):
        rows.append(line(f"all {row.groups['test type']}", "", row, "strong"))
    rows += [line("suite score", "", row, "strong") for row in measures.where("suite score")]
    rows += [line("i.i.d. score", "", row, "strong") for row in measures.where("iid score")]
    legend = [f"▼ the lowest pass rates, {WORST} at most"] if worst else []
    few = any(THESE_TEMPLATES in row.facts for row in measures)
    return Table(columns, rows, legend=[*legend, *([OF_FEW_TEMPLATES] if few else [])])


def _counts(rows: Sequence[Measure]) -> list[Count]:
    """What is counted beside rates: cases, and where there are any those that do not apply or were not answered."""
    counts: list[Count] = ["n"]
    counts += ["na"] if any(row.na for row in rows) else []
    return counts + (["errors"] if any(row.errors for row in rows) else [])


def _count_column(count: Count) -> Column:
    return Column("n/a" if count == "na" else count)


def _failing(result: Result, rates: Sequence[Measure], worst: Sequence[str]) -> Block:
    """The worst cases of the worst functionality, with what was expected and what the model said."""
    if not worst:
        return Text([_all_well(rates)])
    cases = result.failing(worst[0])
    fail = "1 case fails" if len(cases) == 1 else f"{len(cases):,} cases fail"
    title = [Words("Worst: ", "strong"), Words(worst[0], "bad"), Words(f", {fail}")]
    banded = any("band" in row.facts for row in result.measures.where("suite score"))
    shown = shown_cases(result, cases[:EXAMPLES])
    return CaseList([_in_own_words(case) for case in shown] if banded else shown, title)


def _in_own_words(shown: ShownCase) -> ShownCase:
    """A case of a model of two labels without its distance, which is one between three; what it said is its own."""
    return shown if shown.outcome is None else replace(shown, outcome=replace(shown.outcome, value=None))


def _all_well(rates: Sequence[Measure]) -> Words:
    if not any(row.n for row in rates):
        return Words("No case applies: nothing was tested.", "doubt")
    if errors := sum(row.errors for row in rates):
        return Words(f"Every applicable case passes but for {errors:,} without an answer.", "doubt")
    return Words("Every applicable case passes.", "good")


def _footnotes(measures: Measures, rates: Sequence[Measure]) -> list[str]:
    notes = [METHODS]
    for row in measures.where("suite score"):
        words = [
            word(row.facts) for name, word in WORDS.items() if name in row.facts and name not in ABOUT_ANSWERS
        ]
        notes += ["; ".join(words)] if words else []
    few = [row.groups["functionality"] for row in rates if "few cases" in row.facts]
    notes += [f"few cases, read with care: {', '.join(few)}"] if few else []
    return notes


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
    notes = ["intervals: Wilson, cases of one template count together", *answers]
    notes.append("differences between models are not tested here: shoal compare MODEL MODEL")
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
