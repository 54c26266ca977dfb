"""What a page shows, gathered: what was asked, what was found, how far it reaches, and the cases behind it.

    results ──► Page ──► html.py, and Markdown, CSV, LaTeX, figures

A page says in this order what a reader wants to know: the question, the findings, what to be careful about, the models
side by side, what each protocol shows, the cases, and at the end, folded, how it all came to be.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from ..core.claims import ENOUGH_SEEDS
from ..core.errors import ModelError, some
from ..core.measures import FEW_CASES, quantity
from ..core.records import Finding, Measure, Result, verdicts_of
from ..core.views import Cell, Column, Dots, Number, Row, Section, Table, Words
from ..protocols import PROTOCOLS, find_protocol
from ..protocols.base import Compared, differing
from ..runs.plan import Job, Plan, model_name
from ..runs.scoring import compare_results, results_by_protocol
from ..runs.store import RunStore
from ..runs.viewing import explained_sections, result_sections
from ..training.stage import IN_NUMBERS
from .headlines import HEADLINE, called, headline_findings, headlines
from .naming import short_names

FIRST = 3
"""How many findings are on the first screen; of several protocols one each, if they are more."""
LIMITS = "limits"
"""The kind of a finding that says of how many checkpoints or seeds anything can be said."""
CAUTIONS = frozenset(
    [
        "assumed",
        "drawn",
        "errors",
        "incomplete",
        "leaning",
        "saturated",
        "skipped",
        "templated",
        "training",
        "undecided",
    ]
) | {LIMITS, "few templates", "not combined", "one pair", "too few"}
"""Kinds of findings that say how far the others reach: they stand below them, under "Read with care"."""
OF_ONE = frozenset(["dead", "degenerate"])
"""Kinds of findings that say of a model that its numbers mean little: the others' numbers are told all the same."""
NAMES = ("model", "recipe")
"""Groups whose values say by themselves what they are."""
MANY_JOBS = 12
"""Up to so many jobs that were asked as they are stand side by side, each with its headline; of more jobs, and of
trainings, the protocol says what they come to."""
ABOUT_JOBS = (
    "job",
    "model",
    "protocol",
    "profile",
    "settings that differ from it",
    "how answers were read",
    "answered on",
    "id",
)
ABOUT_CHECKS = ("job", "self-check", "", "detail")
UNIT_SCALE, MIDDLE = (0.0, 1.0), 0.5
NAMED = ("label map", "band", "never")
"""Facts about how a model's answers were read: they stand in the folded part for every model."""


@dataclass(frozen=True, slots=True)
class Part:
    """A heading and what stands below it."""

    title: str
    sections: Sequence[Section]
    job: str = ""
    """The job that it is about, where it is about one; its numbers lead to that job's cases."""


@dataclass(frozen=True, slots=True)
class Page:
    """All that a page shows."""

    parts: Sequence[Part]
    title: str = "shoal report"
    asked: Sequence[tuple[str, str]] = ()
    """Protocol, and what it asks."""
    about: Sequence[str] = ()
    """Of which models, on how many cases."""
    findings: Sequence[Finding] = ()
    """Those that matter most first."""
    warnings: Sequence[str] = ()
    overview: Sequence[Section] = ()
    """The models side by side."""
    facts: Sequence[Section] = ()
    """How it came to be: folded."""
    measures: Sequence[Measure] = ()
    """What the jobs say together, or, where they say nothing, one by one."""
    plan: str = ""
    """The plan as it was written."""
    results: Mapping[str, Result] = field(default_factory=dict)
    """What the cases are taken from, by the name of the job as the page calls it."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Models that are called otherwise where there is little room."""
    protocols: Sequence[str] = ()
    """Which protocol each finding is of, where there are several."""
    first: int = FIRST
    """How many findings are on the first screen; the others are folded."""

    @property
    def sections(self) -> list[Section]:
        """Everything in its order, for those who write no page."""
        return [*self.overview, *(section for part in self.parts for section in part.sections)]


def plan_page(plan: Plan, jobs: Sequence[Job], store: RunStore, text: str = "") -> Page:
    """A plan: its jobs together, protocol by protocol, then each that was not trained here."""
    by_protocol = results_by_protocol(plan, jobs, store)
    compared = compare_results(plan, by_protocol)
    results = [result for rows in by_protocol.values() for result in rows]
    given = {spec: name for name, spec in plan.models.items() if name != spec}
    names = job_names(results, given)
    parts: list[Part] = []
    for protocol, settings in plan.tables.items():
        together = compared.get(protocol)
        if together is not None:
            view = find_protocol(protocol).view
            sections = view(settings, by_protocol[protocol], together.measures, together.findings)
            parts.append(Part(PROTOCOLS[protocol].title, sections))
        if together is None or _stand_alone(by_protocol[protocol]):
            alone = [_part(result, names) for result in by_protocol[protocol]]
            shown = [section for part in parts for section in part.sections]
            parts += [part for part in alone if any(section not in shown for section in part.sections)]
    findings = _findings(compared, by_protocol)
    done = f"{len(results)} of {len(jobs)} jobs are done" if len(results) < len(jobs) else ""
    dates = {job.id: store.answered_on(job.id) for job in jobs}
    page = _page(parts, results, findings, [done] if done else [], given, dates)
    return replace(page, measures=_measures(compared, by_protocol), plan=text)


def results_page(results: Sequence[Result], dates: Mapping[str, str] | None = None) -> Page:
    """Some results, each by itself; with the days on which they were answered, by id, where these are known."""
    names = job_names(results)
    parts = [_part(result, names) for result in results]
    by_protocol: dict[str, list[Result]] = {}
    for result in results:
        by_protocol.setdefault(str(result.job["protocol"]), []).append(result)
    page = _page(parts, results, _findings({}, by_protocol), dates=dates)
    return replace(page, measures=_measures({}, {"": results}))


def with_explanations(page: Page, method: str) -> Page:
    """The page with the words behind the worst failures of each job that can still be asked; why not of the others."""
    parts = []
    for part in page.parts:
        result = page.results.get(part.job)
        if result is None:
            parts.append(part)
            continue
        try:
            why = explained_sections(result, method)
        except ModelError as problem:
            why = [Section("Why?", warnings=[str(problem)])]
        parts.append(replace(part, sections=[*part.sections, *why]))
    if not any(part.job in page.results for part in page.parts):
        raise ModelError(
            "no job of this page can be explained",
            why="models that were trained in the run are not kept",
            fix="leave out --explain; a [ranking] plan with explainers keeps its explanations itself",
        )
    return replace(page, parts=parts)


def _measures(compared: Mapping[str, Compared], by_protocol: Mapping[str, Sequence[Result]]) -> list[Measure]:
    measures = [row for together in compared.values() for row in together.measures]
    alone = [result for name, results in by_protocol.items() if name not in compared for result in results]
    for result in alone:
        more = {"job": str(result.job.get("id", ""))} if len(alone) > 1 else {}
        measures += [replace(row, groups={**row.groups, **more}) for row in result.measures]
    return measures


def sections_page(
    sections: Sequence[Section],
    results: Sequence[Result],
    title: str,
    measures: Sequence[Measure] = (),
    findings: Sequence[Finding] = (),
) -> Page:
    """Sections that were made already, such as a comparison's, with the cases of the results they are about."""
    page = _page([Part("The comparison", sections)], results, {})
    told = tuple(failed_checks(results))
    own = [line for section in sections for line in section.warnings if not line.endswith(told)]
    warnings = [*own, *page.warnings]
    said = [replace(finding, kind=HEADLINE) for finding in findings]
    return replace(page, title=title, findings=said, warnings=warnings, overview=(), measures=measures)


def failed_checks(results: Iterable[Result]) -> list[str]:
    """Self-checks that failed, as protocols and comparisons say it."""
    checks = [check for result in results for check in result.job.get("checks", ())]
    return [f"{check['name']}: {check['detail']}" for check in checks if check["ok"] is False]


def _page(
    parts: Sequence[Part],
    results: Sequence[Result],
    findings: Mapping[str, Sequence[Finding]],
    warnings: Sequence[str] = (),
    given: Mapping[str, str] | None = None,
    dates: Mapping[str, str] | None = None,
) -> Page:
    names = job_names(results, given)
    protocols = dict.fromkeys(str(result.job["protocol"]) for result in results)
    alone = [result for result in results if not _trains(result)]
    alone = alone if len(alone) <= MANY_JOBS else []
    told = _in_turn({name: _told(findings.get(name, ()), name, alone) for name in protocols})
    models = list(dict.fromkeys(str(result.job["model"]) for result in results))
    return Page(
        parts,
        title=_title([PROTOCOLS[name].title for name in protocols], models),
        names=short_names(models, given),
        asked=[(PROTOCOLS[name].title, PROTOCOLS[name].question) for name in protocols],
        about=_asked_of(models, results),
        findings=[finding for _, finding in told],
        protocols=[PROTOCOLS[name].title for name, _ in told] if len(protocols) > 1 else [],
        first=max(FIRST, len(protocols)),
        warnings=[*warnings, *_warnings(results, names, [finding for _, finding in told])],
        overview=_side_by_side(alone, names),
        facts=_how(results, names, dates or {}),
        results={names[str(result.job.get("id", i))]: result for i, result in enumerate(results)},
    )


def _title(protocols: Sequence[str], models: Sequence[str]) -> str:
    if not models:
        return "shoal report"
    return f"{some(protocols)} of {models[0] if len(models) == 1 else f'{len(models)} models'}"


def _stand_alone(results: Sequence[Result]) -> bool:
    """Whether each job is worth a part of its own: models that were asked as they are, and not too many."""
    return len(results) <= MANY_JOBS and not any(map(_trains, results))


def _trains(result: Result) -> bool:
    return "training" in result.job.get("identity", {})


def _part(result: Result, names: Mapping[str, str]) -> Part:
    name = names.get(str(result.job.get("id", "0")), str(result.job["model"]))
    protocol = str(result.job["protocol"])
    title = f"{PROTOCOLS[protocol].title}: {name.removesuffix(_of(protocol))}"
    return Part(title, result_sections(result), name)


def _of(protocol: str) -> str:
    """Behind the name of a model that several protocols ask."""
    return f" ({protocol})"


def job_names(results: Sequence[Result], given: Mapping[str, str] | None = None) -> dict[str, str]:
    """What to call each job: by its model; where that is not enough, by what tells its name from the others."""
    models = [(str(result.job["protocol"]), str(result.job["model"])) for result in results]
    short = short_names(list(dict.fromkeys(model for _, model in models)), given)
    several = len({protocol for protocol, _ in models}) > 1
    ids = [str(result.job.get("id", i)) for i, result in enumerate(results)]
    names = {}
    for identity, key in zip(ids, models, strict=True):
        alike = [other for other, model in zip(ids, models, strict=True) if model == key]
        if len(alike) == 1:
            name = short.get(key[1], key[1])
            names[identity] = f"{name}{_of(key[0])}" if several else name
        else:
            names[identity] = _told_apart(alike, f"{key[0]}-{model_name(key[1])}-")[identity]
    return names if len(set(names.values())) == len(names) else dict(zip(ids, ids, strict=True))


def _told_apart(ids: Sequence[str], common: str) -> dict[str, str]:
    """Names without what all have in common at the front, and without the hash where they differ before it."""
    longer = [identity.removeprefix(common) for identity in ids]
    short = [name.rpartition("-")[0] for name in longer]
    different = len(set(short)) == len(short) and all(short)
    return dict(zip(ids, short if different else longer, strict=True))


# What was asked, what was found


def _asked_of(models: Sequence[str], results: Sequence[Result]) -> list[str]:
    cases = sum(len(result.cases) for result in results)
    jobs = f", {len(results):,} jobs" if len(results) > len(models) else ""
    count = f"{len(models)} model{'s' if len(models) > 1 else ''}{jobs}"
    return [f"{count}, {cases:,} cases asked and scored", *models[:MANY_JOBS]]


def who(finding: Finding, only: str = "") -> str:
    """What a finding is about, where it does not say so itself, and where it is not the only model there is."""
    return " · ".join(
        value if name in NAMES else f"{name} {value}"
        for name, value in finding.groups.items()
        if value not in ("", "none", only)
    )


def _ordered(findings: Sequence[Finding]) -> list[Finding]:
    """By weight, the weightiest of each kind before all others: the first screen does not say one thing three times."""
    by_weight = sorted(findings, key=lambda finding: -finding.weight)
    first = {finding.kind: position for position, finding in reversed(list(enumerate(by_weight)))}
    return [
        finding
        for _, finding in sorted(enumerate(by_weight), key=lambda item: first[item[1].kind] != item[0])
    ]


def _in_turn(by_protocol: Mapping[str, Sequence[Finding]]) -> list[tuple[str, Finding]]:
    """The first of each protocol, then the second of each, and so on; their weights are not of one scale."""
    turns = zip_longest(*([(name, finding) for finding in rows] for name, rows in by_protocol.items()))
    return [item for turn in turns for item in turn if item is not None]


def _told(findings: Sequence[Finding], protocol: str, alone: Sequence[Result]) -> list[Finding]:
    """What a protocol found; where it drew no conclusion, what its numbers say. How far it all reaches comes last."""
    said = _ordered([finding for finding in findings if finding.kind not in CAUTIONS])
    results = [result for result in alone if result.job["protocol"] == protocol]
    if len(said) < FIRST and all(finding.kind in OF_ONE for finding in said):
        numbers = [row for result in results for row in headline_findings(result, alone=len(results) == 1)]
        said += _not_yet_said(numbers, said)
    return said + _ordered([finding for finding in findings if finding.kind in CAUTIONS])


def _not_yet_said(numbers: Sequence[Finding], said: Sequence[Finding]) -> list[Finding]:
    """Headlines whose number is in no finding; models of which nothing was said come first."""
    shown = [measure for finding in said for measure in finding.measures]
    known = {finding.groups.get("model", "") for finding in said}
    fresh = [finding for finding in numbers if finding.measures[0] not in shown]
    return sorted(fresh, key=lambda finding: finding.groups.get("model", "") in known)


def _findings(
    compared: Mapping[str, Compared], by_protocol: Mapping[str, Sequence[Result]]
) -> dict[str, list[Finding]]:
    """Of what the jobs of a protocol say together, and of each that was asked as it is."""
    findings: dict[str, list[Finding]] = {}
    for protocol, results in by_protocol.items():
        together = list(compared[protocol].findings) if protocol in compared else []
        alone = [result for result in results if protocol not in compared or not _trains(result)]
        said = {finding.text for finding in together}
        each = [
            _about(finding, result)
            for result in alone
            for finding in result.findings
            if finding.text not in said
        ]
        findings[protocol] = together + _said_once(each)
    return findings


def _said_once(findings: Sequence[Finding]) -> list[Finding]:
    """What is said of several jobs in the same words, once, and of none of them in particular."""
    times = Counter((finding.kind, finding.text) for finding in findings)
    first = {(finding.kind, finding.text): finding for finding in reversed(findings)}
    return [
        finding if times[key] == 1 else replace(finding, groups={}, measures=())
        for key, finding in reversed(first.items())
    ]


def _about(finding: Finding, result: Result) -> Finding:
    """A finding of one job, with the model that it is about."""
    groups = {"model": str(result.job["model"]), **finding.groups}
    return Finding(finding.kind, finding.text, finding.measures, finding.weight, groups, finding.facts)


def _warnings(
    results: Sequence[Result], names: Mapping[str, str], findings: Sequence[Finding]
) -> Iterator[str]:
    """Self-checks that failed, rates of few cases, models of one checkpoint; that unless a finding says it."""
    for i, result in enumerate(results):
        for check in result.job.get("checks", ()):
            if check["ok"] is False:
                name = names[str(result.job.get("id", i))]
                yield f"{name}: self-check, {check['name']}: {check['detail']}"
    few = {
        tuple(row.groups.items())
        for result in results
        for row in result.measures
        if row.facts.get("mean over") == "cases" and 0 < row.n < FEW_CASES
    }
    if few:
        rates = "1 rate rests" if len(few) == 1 else f"{len(few):,} rates rest"
        yield f"{rates} on fewer than {FEW_CASES} cases: read with the interval"
    errors = sum(verdicts_of(result.outcomes).count("e") for result in results)
    if errors:
        who = (
            "1 case has no answer and counts" if errors == 1 else f"{errors:,} cases have no answer and count"
        )
        yield f"{who} nowhere"
    if any(finding.kind == LIMITS for finding in findings):
        return
    trained = [result for result in results if _trains(result)]
    seeds = {str(result.job["settings"].get("seed", "")) for result in trained if "settings" in result.job}
    if trained and len(seeds) < ENOUGH_SEEDS:
        count = f"{len(seeds)} seeds" if len(seeds) > 1 else "one seed"
        yield f"{count} of each recipe: fewer than {ENOUGH_SEEDS} support no claim about the recipe"
    if len(trained) < len(results) and not any(result.job.get("group") for result in results):
        yield "one checkpoint of each model: nothing here speaks of another training of the same recipe"


# Side by side


def _side_by_side(results: Sequence[Result], names: Mapping[str, str]) -> list[Section]:
    """Every model's headline with its interval, as a number and on one scale."""
    rows_of: dict[str, list[tuple[str, Measure]]] = {}
    for i, result in enumerate(results):
        for measure in headlines(result):
            rows_of.setdefault(called(measure), []).append((names[str(result.job.get("id", i))], measure))
    tables = [_headline_table(name, rows) for name, rows in rows_of.items() if len(rows) > 1]
    if not tables:
        return []
    notes = [
        "dot: the value; bar: its 95 % interval",
        "intervals that overlap are no test: shoal compare A B",
    ]
    return [Section("Side by side", blocks=tables, notes=notes)]


def _headline_table(title: str, rows: Sequence[tuple[str, Measure]]) -> Table:
    what = quantity(rows[0][1])
    columns = [Column("model", "left"), Column(rows[0][1].name), Column("95 % interval"), Column("n")]
    drawn = what.unit == "share" and all(0 <= (row.value or 0.0) <= 1 for _, row in rows)
    middle = MIDDLE if what.ideal == MIDDLE else None
    lines = []
    for name, row in rows:
        cells: list[Cell] = [name, Number(row, "strong"), Number(row, part="interval"), Number(row, part="n")]
        cells += [Dots([row], UNIT_SCALE, middle)] if drawn else []
        lines.append(Row(cells))
    columns += [Column("", "left", spare=True, scale=UNIT_SCALE)] if drawn else []
    return Table(columns, lines, title=title if what.direction != "higher" else f"{title}, higher is better")


# How it came to be


def _how(results: Sequence[Result], names: Mapping[str, str], dates: Mapping[str, str]) -> list[Section]:
    """Version, days, settings that differ, how labels were read, self-checks."""
    if not results:
        return []
    versions = sorted({str(result.job["shoal"]) for result in results if "shoal" in result.job})
    rows, checks = [], []
    for i, result in enumerate(results):
        name = names[str(result.job.get("id", i))]
        profile = getattr(result.settings, "profile", "")
        rows.append(
            Row(
                [
                    name,
                    str(result.job["model"]),
                    str(result.job["protocol"]),
                    str(profile),
                    _unusual(result),
                    _read_as(result),
                    dates.get(str(result.job.get("id", "")), ""),
                    _short(result),
                ]
            )
        )
        checks += [
            Row([name, str(check["name"]), _verdict(check), str(check["detail"])])
            for check in result.job.get("checks", ())
        ]
    settings = Table([Column(title, "left") for title in ABOUT_JOBS], rows)
    sections = [Section("Jobs and settings", f"shoal {', '.join(versions)}" if versions else "", [settings])]
    if checks:
        columns = [Column(title, "left", once=title == "job") for title in ABOUT_CHECKS]
        sections.append(Section("Self-check", "", [Table(columns, checks)]))
    return sections


def _verdict(check: Mapping[str, Any]) -> Words:
    if check["ok"] is None:  # nothing was checked in what a training was like
        return Words("" if check["name"] == IN_NUMBERS else "not known", "quiet")
    return Words("✓ passed", "good") if check["ok"] else Words("✗ failed", "bad")


def _short(result: Result) -> Words:
    return Words(str(result.job.get("id", "")), "quiet")


def _unusual(result: Result) -> str:
    if result.settings is None:
        return ""
    return ", ".join(f"{name} = {_plain(value)}" for name, value in differing(result.settings).items())


def _plain(value: Any) -> str:
    if is_dataclass(value) and not isinstance(value, type):
        return ", ".join(
            f"{name} {_plain(part)}" for name, part in asdict(value).items() if part not in (None, "")
        )
    if isinstance(value, str):
        return value if "/" not in value else Path(value).name
    return " / ".join(map(_plain, value)) if isinstance(value, tuple | list) else str(value)


def _read_as(result: Result) -> str:
    facts = {name: fact for row in result.measures for name, fact in row.facts.items() if name in NAMED}
    parts = []
    for name, fact in facts.items():
        told = ", ".join(f"{a} = {b}" for a, b in fact.items()) if isinstance(fact, Mapping) else str(fact)
        parts.append(f"{name}: {told}")
    return "; ".join(parts)
