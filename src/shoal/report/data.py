"""What a page shows, gathered: what was asked, what was found, how far it reaches, and the cases behind it.

    results ──► Page ──► html.py, and Markdown, CSV, LaTeX, figures

A page says in this order what a reader wants to know: the question, the findings, what to be careful about, the models
side by side, what each protocol shows, the cases, and at the end, folded, how it all came to be.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from pathlib import Path
from typing import Any

from ..claims import ENOUGH_SEEDS
from ..errors import ModelError, some
from ..measures import FEW_CASES, quantity, unit_word
from ..protocols import PROTOCOLS, find_protocol
from ..protocols.base import Compared, differing
from ..records import Finding, Measure, Result, verdicts_of
from ..runs.plan import Job, Plan, model_name
from ..runs.scoring import compare_jobs, results_of
from ..runs.store import RunStore
from ..runs.viewing import explained_sections, result_sections
from ..show.pieces import is_defined, value_text
from ..views import Cell, Column, Dots, Number, Row, Section, Table, Words

HEADLINE = "headline"
"""The kind of a finding that says no more than the number a protocol is about, of a job that has no other."""
NAMES = ("model", "recipe")
"""Groups whose values say by themselves what they are."""
MANY_JOBS = 12
"""Up to so many jobs that were asked as they are stand side by side, each with its headline; of more jobs, and of
trainings, the protocol says what they come to."""
ABOUT_JOBS = ("job", "protocol", "profile", "settings that differ from it", "how answers were read", "id")
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

    @property
    def sections(self) -> list[Section]:
        """Everything in its order, for those who write no page."""
        return [*self.overview, *(section for part in self.parts for section in part.sections)]


def plan_page(plan: Plan, jobs: Sequence[Job], store: RunStore, text: str = "") -> Page:
    """A plan: its jobs together, protocol by protocol, then each that was not trained here."""
    compared = compare_jobs(plan, jobs, store)
    by_protocol = {name: results_of(plan, jobs, store, name) for name in plan.tables}
    results = [result for rows in by_protocol.values() for result in rows]
    names = job_names(results)
    parts: list[Part] = []
    for protocol, settings in plan.tables.items():
        together = compared.get(protocol)
        if together is not None:
            view = find_protocol(protocol).view
            sections = view(settings, by_protocol[protocol], together.measures, together.findings)
            parts.append(Part(PROTOCOLS[protocol].title, sections))
        if together is None or not _trains(by_protocol[protocol]):
            parts += [_part(result, names) for result in by_protocol[protocol]]
    findings = _findings(compared, by_protocol)
    done = f"{len(results)} of {len(jobs)} jobs are done" if len(results) < len(jobs) else ""
    page = _page(parts, results, findings, [done] if done else [])
    return replace(page, measures=_measures(compared, by_protocol), plan=text)


def results_page(results: Sequence[Result]) -> Page:
    """Some results, each by itself."""
    names = job_names(results)
    parts = [_part(result, names) for result in results]
    findings = [_about(finding, result) for result in results for finding in result.findings]
    return replace(_page(parts, results, findings), measures=_measures({}, {"": results}))


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
    sections: Sequence[Section], results: Sequence[Result], title: str, measures: Sequence[Measure] = ()
) -> Page:
    """Sections that were made already, such as a comparison's, with the cases of the results they are about."""
    page = _page([Part("", sections)], results, [])
    findings = [finding for finding in page.findings if finding.kind != HEADLINE]
    return replace(page, title=title, findings=findings, measures=measures)


def _page(
    parts: Sequence[Part],
    results: Sequence[Result],
    findings: Sequence[Finding],
    warnings: Sequence[str] = (),
) -> Page:
    names = job_names(results)
    protocols = dict.fromkeys(str(result.job["protocol"]) for result in results)
    alone = results if len(results) <= MANY_JOBS and not _trains(results) else []
    findings = [
        *findings,
        *(_headline(result) for result in alone if _headlines(result) and not result.findings),
    ]
    models = list(dict.fromkeys(str(result.job["model"]) for result in results))
    return Page(
        parts,
        title=_title([PROTOCOLS[name].title for name in protocols], models),
        asked=[(PROTOCOLS[name].title, PROTOCOLS[name].question) for name in protocols],
        about=_asked_of(models, results),
        findings=_ordered(findings),
        warnings=[*warnings, *_warnings(results, names)],
        overview=_side_by_side(alone, names),
        facts=_how(results, names),
        results={names[str(result.job.get("id", i))]: result for i, result in enumerate(results)},
    )


def _title(protocols: Sequence[str], models: Sequence[str]) -> str:
    if not models:
        return "shoal report"
    return f"{some(protocols)} of {models[0] if len(models) == 1 else f'{len(models)} models'}"


def _trains(results: Sequence[Result]) -> bool:
    return any("training" in result.job.get("identity", {}) for result in results)


def _part(result: Result, names: Mapping[str, str]) -> Part:
    name = names.get(str(result.job.get("id", "0")), str(result.job["model"]))
    title = PROTOCOLS[str(result.job["protocol"])].title
    return Part(f"{title}: {name}", result_sections(result), name)


def job_names(results: Sequence[Result]) -> dict[str, str]:
    """What to call each job: by its model; where that is not enough, by what tells its name from the others."""
    models = [(str(result.job["protocol"]), str(result.job["model"])) for result in results]
    several = len({protocol for protocol, _ in models}) > 1
    ids = [str(result.job.get("id", i)) for i, result in enumerate(results)]
    names = {}
    for identity, key in zip(ids, models, strict=True):
        alike = [other for other, model in zip(ids, models, strict=True) if model == key]
        if len(alike) == 1:
            names[identity] = f"{key[1]} ({key[0]})" if several else key[1]
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


def who(finding: Finding) -> str:
    """What a finding is about, where it does not say so itself."""
    return " · ".join(
        value if name in NAMES else f"{name} {value}" for name, value in finding.groups.items() if value
    )


def _ordered(findings: Sequence[Finding]) -> list[Finding]:
    """By weight, the weightiest of each kind before all others: the first screen does not say one thing three times."""
    by_weight = sorted(findings, key=lambda finding: -finding.weight)
    first = {finding.kind: position for position, finding in reversed(list(enumerate(by_weight)))}
    return [
        finding
        for _, finding in sorted(enumerate(by_weight), key=lambda item: first[item[1].kind] != item[0])
    ]


def _findings(compared: Mapping[str, Compared], by_protocol: Mapping[str, Sequence[Result]]) -> list[Finding]:
    """Of what the jobs say together; of a protocol that says nothing across jobs, of each."""
    findings = [finding for together in compared.values() for finding in together.findings]
    for protocol, results in by_protocol.items():
        if protocol not in compared:
            findings += [_about(finding, result) for result in results for finding in result.findings]
    return findings


def _about(finding: Finding, result: Result) -> Finding:
    """A finding of one job, with the model that it is about."""
    groups = {"model": str(result.job["model"]), **finding.groups}
    return Finding(finding.kind, finding.text, finding.measures, finding.weight, groups, finding.facts)


def _headlines(result: Result) -> list[Measure]:
    return [row for row in result.measures if row.facts.get("headline") and is_defined(row)]


def _headline(result: Result) -> Finding:
    """The number a protocol is about, and the lowest of the finest parts it is made of."""
    headlines = _headlines(result)
    texts = [f"The {_called(row)} is {value_text(row)}{unit_word(row)}." for row in headlines[:2]]
    lowest = _lowest(result)
    if lowest is not None:
        first = next(iter(lowest.groups.values()))
        texts.append(f"The lowest {lowest.name} is that of {first}: {value_text(lowest)}{unit_word(lowest)}.")
    rests_on = (*headlines[:2], *([lowest] if lowest else []))
    return Finding(HEADLINE, " ".join(texts), rests_on, -1.0, {"model": str(result.job["model"])})


def _called(row: Measure) -> str:
    groups = [value for value in row.groups.values() if value != "all"]
    return f"{row.name} ({', '.join(groups)})" if groups else row.name


def _lowest(result: Result) -> Measure | None:
    """Of the rates over cases that have the most groups, the lowest; None where there is but one, or no better way."""
    rates = [
        row
        for row in result.measures
        if row.facts.get("mean over") == "cases" and is_defined(row) and quantity(row).direction == "higher"
    ]
    finest = max((len(row.groups) for row in rates), default=0)
    rates = [row for row in rates if len(row.groups) == finest > 0]
    return min(rates, key=lambda row: (row.value or 0.0, -row.n)) if len(rates) > 1 else None


def _warnings(results: Sequence[Result], names: Mapping[str, str]) -> Iterator[str]:
    """Self-checks that failed, rates of few cases, models of one checkpoint."""
    for i, result in enumerate(results):
        for check in result.job.get("checks", ()):
            if check["ok"] is False:
                yield f"{names[str(result.job.get('id', i))]}: {check['name']}: {check['detail']}"
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
    if any(result.job.get("group") for result in results):
        return  # what checkpoints of a recipe may say, the protocol tells
    seeds = {str(result.job["settings"].get("seed", "")) for result in results if "settings" in result.job}
    if _trains(results) and len(seeds) < ENOUGH_SEEDS:
        count = f"{len(seeds)} seeds" if len(seeds) > 1 else "one seed"
        yield f"{count} of each recipe: fewer than {ENOUGH_SEEDS} support no claim about the recipe"
    elif results and not _trains(results):
        yield "one checkpoint of each model: nothing here speaks of another training of the same recipe"


# Side by side


def _side_by_side(results: Sequence[Result], names: Mapping[str, str]) -> list[Section]:
    """Every model's headline with its interval, as a number and on one scale."""
    rows_of: dict[str, list[tuple[str, Measure]]] = {}
    for i, result in enumerate(results):
        for measure in _headlines(result):
            called = _called(measure)
            rows_of.setdefault(called, []).append((names[str(result.job.get("id", i))], measure))
    tables = [_headline_table(called, rows) for called, rows in rows_of.items() if len(rows) > 1]
    if not tables:
        return []
    notes = [
        "dot: the value; bar: its 95 % interval",
        "intervals that overlap are no test: shoal compare A B",
    ]
    return [Section("Side by side", blocks=tables, notes=notes)]


def _headline_table(called: str, rows: Sequence[tuple[str, Measure]]) -> Table:
    what = quantity(rows[0][1])
    columns = [Column("model", "left"), Column(called), Column("95 % interval"), Column("n")]
    drawn = what.unit == "share" and all(0 <= (row.value or 0.0) <= 1 for _, row in rows)
    middle = MIDDLE if what.ideal == MIDDLE else None
    lines = []
    for name, row in rows:
        cells: list[Cell] = [name, Number(row, "strong"), Number(row, part="interval"), Number(row, part="n")]
        cells += [Dots([row], UNIT_SCALE, middle)] if drawn else []
        lines.append(Row(cells))
    columns += [Column("", "left", spare=True, scale=UNIT_SCALE)] if drawn else []
    return Table(
        columns, lines, title=called if what.direction != "higher" else f"{called}, higher is better"
    )


# How it came to be


def _how(results: Sequence[Result], names: Mapping[str, str]) -> list[Section]:
    """Version, settings that differ, how labels were read, self-checks."""
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
                    str(result.job["protocol"]),
                    str(profile),
                    _unusual(result),
                    _read_as(result),
                    _short(result),
                ]
            )
        )
        checks += [
            Row([name, str(check["name"]), _verdict(check["ok"]), str(check["detail"])])
            for check in result.job.get("checks", ())
        ]
    settings = Table([Column(title, "left") for title in ABOUT_JOBS], rows)
    sections = [Section("Jobs and settings", f"shoal {', '.join(versions)}" if versions else "", [settings])]
    if checks:
        columns = [Column(title, "left", once=title == "job") for title in ABOUT_CHECKS]
        sections.append(Section("Self-check", "", [Table(columns, checks)]))
    return sections


def _verdict(ok: bool | None) -> Words:
    if ok is None:
        return Words("not known", "quiet")
    return Words("✓ passed", "good") if ok else Words("✗ failed", "bad")


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
