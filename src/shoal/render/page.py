"""The content of a report page, before it becomes HTML, Markdown, CSV or LaTeX.

    results ──► Page ──► writing.py

A page answers the reader's questions in this order: the verdict with two or three numbers, one chart, further
findings, caveats, the details of each protocol, the cases, and the provenance.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from ..comparing.pairs import Comparison, compare
from ..comparing.summary import comparison_summary
from ..comparing.view import comparison_sections
from ..core.claims import ENOUGH_SEEDS
from ..core.errors import ModelError, ShoalError, some
from ..core.measures import lowest_first, quantity, unit_word
from ..core.records import Finding, Measure, Result, verdicts_of
from ..core.views import Card, Cell, Column, Row, Section, Strip, Summary, Table, Words, strip_table
from ..protocols import PROTOCOLS, entry_of, find_protocol
from ..protocols.base import Compared, differing
from ..runs.plan import Job, Plan
from ..runs.scoring import compare_results, results_by_protocol
from ..runs.store import RunStore
from ..runs.viewing import explained_sections, plan_measures, result_sections
from .naming import job_id, job_names, short_names
from .tables import interval_text, is_defined, value_text

CAVEATS = frozenset(
    [
        "assumed",
        "drawn",
        "errors",
        "few templates",
        "incomplete",
        "leaning",
        "limits",
        "not combined",
        "one pair",
        "saturated",
        "skipped",
        "too few",
        "training",
        "undecided",
    ]
)
"""Kinds of findings that limit the others; the page lists them as caveats."""
MANY_JOBS = 12
"""Up to this many jobs without training have a part each; the protocol summarises more."""
SENTENCE_END = re.compile(r"(?<=[.!?]) (?=[A-Z])")
WEAKEST, CHARTED = 3, 20
"""The number of rows of a card and of a chart, at most."""


@dataclass(frozen=True, slots=True)
class Part:
    """A heading and the sections below it."""

    title: str
    sections: Sequence[Section]
    job: str = ""
    """The job it is about, if it is one; its numbers link to that job's cases."""


@dataclass(frozen=True, slots=True)
class Page:
    """The content of a page."""

    parts: Sequence[Part]
    title: str = "shoal report"
    about: str = ""
    """The number of models and cases."""
    models: Sequence[str] = ()
    questions: Sequence[str] = ()
    """The question of each protocol."""
    summary: Summary | None = None
    findings: Sequence[Finding] = ()
    """The most important first."""
    caveats: Sequence[str] = ()
    provenance: Sequence[Section] = ()
    measures: Sequence[Measure] = ()
    """The measures of the jobs together, or of each job."""
    plan: str = ""
    """The text of the plan."""
    results: Mapping[str, Result] = field(default_factory=dict)
    """The results behind the cases, by the name of the job on the page."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Short names of models."""

    @property
    def sections(self) -> list[Section]:
        """Return all sections, for other formats."""
        return [section for part in self.parts for section in part.sections]


def plan_page(plan: Plan, jobs: Sequence[Job], store: RunStore, text: str = "") -> Page:
    """Return the page of a plan: its jobs together by protocol, then each job without training."""
    by_protocol = results_by_protocol(plan, jobs, store)
    compared = compare_results(plan, by_protocol, store)
    results = [result for rows in by_protocol.values() for result in rows]
    names = {spec: name for name, spec in plan.models.items() if name != spec}
    titles = job_names(results, names)
    parts: list[Part] = []
    for protocol, settings in plan.tables.items():
        together = compared.get(protocol)
        if together is not None:
            view = find_protocol(protocol).view
            sections = view(settings, by_protocol[protocol], together.measures, together.findings)
            parts.append(Part(PROTOCOLS[protocol].title, sections))
        is_trained = any(map(_trains, by_protocol[protocol]))
        if together is None or (len(by_protocol[protocol]) <= MANY_JOBS and not is_trained):
            shown = [section for part in parts for section in part.sections]
            alone = [_part(result, titles) for result in by_protocol[protocol]]
            parts += [part for part in alone if any(section not in shown for section in part.sections)]
    missing = len(jobs) - len(results)
    caveats = [f"{missing} of {len(jobs)} jobs are not done."] if missing else []
    dates = {job.id: store.answered_on(job.id) for job in jobs}
    page = _page(parts, results, _findings(compared, by_protocol), caveats, names, dates)
    return replace(page, measures=plan_measures(by_protocol, compared), plan=text)


def results_page(results: Sequence[Result], dates: Mapping[str, str] | None = None) -> Page:
    """Return the page of some results; `dates` has the day of each job's answers, by job id."""
    titles = job_names(results)
    by_protocol: dict[str, list[Result]] = {}
    for result in results:
        by_protocol.setdefault(str(result.job["protocol"]), []).append(result)
    parts = [_part(result, titles) for result in results]
    page = _page(parts, results, _findings({}, by_protocol), dates=dates)
    return replace(page, measures=plan_measures({"": results}, {}))


def comparison_page(comparison: Comparison) -> Page:
    """Return the page of a comparison of two sides."""
    page = _page([], [*comparison.a, *comparison.b], [], comparison=comparison)
    a, b = (str(side[0].job["model"]) for side in (comparison.a, comparison.b))
    return replace(page, title=f"{b} against {a}", measures=comparison.measures)


def with_gate(page: Page, sections: Sequence[Section], verdict: str, *, is_met: bool) -> Page:
    """Return the page with the verdict of a gate first, and its rules as the first part."""
    summary = page.summary or Summary("")
    text = " ".join(filter(None, [summary.verdict and f"{summary.verdict}.", summary.text]))
    gated = replace(summary, verdict=verdict, tone="good" if is_met else "bad", text=text)
    return replace(page, summary=gated, parts=[Part("Gate", sections), *page.parts])


def with_explanations(page: Page, method: str) -> Page:
    """Return the page with attributions for the worst failures of each job."""
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


def _page(
    parts: Sequence[Part],
    results: Sequence[Result],
    findings: Sequence[Finding],
    caveats: Sequence[str] = (),
    given: Mapping[str, str] | None = None,
    dates: Mapping[str, str] | None = None,
    comparison: Comparison | None = None,
) -> Page:
    titles = job_names(results, given)
    by_name = {titles[job_id(result, i)]: result for i, result in enumerate(results)}
    protocols = list(dict.fromkeys(str(result.job["protocol"]) for result in results))
    models = list(dict.fromkeys(str(result.job["model"]) for result in results))
    of_plan = [finding for finding in findings if "seed" not in finding.groups]
    conclusions = _ordered([finding for finding in of_plan if finding.kind not in CAVEATS])
    limits = _ordered([finding for finding in of_plan if finding.kind in CAVEATS])
    comparison = comparison or _comparison(results)
    if comparison is not None:
        parts = [Part("Changes", comparison_sections(comparison)), *parts]
        a, b = (str(side[0].job["model"]) for side in (comparison.a, comparison.b))
        summary = comparison_summary(comparison, *((a, b) if a != b else ("A", "B")))
    else:
        joint = [part for part in parts if not part.job] or parts
        shown = [section.summary for part in joint for section in part.sections if section.summary]
        summary = shown[0] if len(shown) == 1 else _summary(by_name, conclusions)
        if len(shown) == 1:  # its conclusion is the first screen
            conclusions = [finding for finding in conclusions if finding.kind != "conclusion"]
    return Page(
        parts,
        title=_title([entry_of(name).title for name in protocols], models),
        about=_subtitle(models, results),
        models=models,
        questions=[entry_of(name).question for name in protocols],
        names=short_names(models, given),
        summary=summary,
        findings=[row for row in conclusions if row.text != f"{summary.verdict} {summary.text}".strip()],
        caveats=[*caveats, *_caveats(by_name, limits)],
        provenance=_provenance(by_name, dates or {}),
        results=by_name,
    )


def _title(protocols: Sequence[str], models: Sequence[str]) -> str:
    if not models:
        return "shoal report"
    if len(models) == 2 and len(protocols) == 1:
        return f"{models[1]} against {models[0]}"
    return f"{some(protocols)} of {models[0] if len(models) == 1 else f'{len(models)} models'}"


def _subtitle(models: Sequence[str], results: Sequence[Result]) -> str:
    sizes = {len(result.cases) for result in results}
    jobs = f", {len(results):,} jobs" if len(results) > len(models) else ""
    count = f"{len(models)} model{'' if len(models) == 1 else 's'}{jobs}"
    if sizes == {0}:  # a result file has no cases
        return count
    if len(sizes) == 1:
        return f"{count} × {sizes.pop():,} cases"
    return f"{count}, {sum(len(result.cases) for result in results):,} answered cases"


def _trains(result: Result) -> bool:
    return "training" in result.job.get("identity", {})


def _part(result: Result, titles: Mapping[str, str]) -> Part:
    name = titles.get(job_id(result, 0), str(result.job["model"]))
    protocol = str(result.job["protocol"])
    title = f"{entry_of(protocol).title}: {name.removesuffix(f' ({protocol})')}"
    return Part(title, result_sections(result), name)


# Summary


def _comparison(results: Sequence[Result]) -> Comparison | None:
    """Compare two models of one protocol on the same cases; None for anything else."""
    if len(results) != 2 or any(map(_trains, results)):
        return None
    a, b = results
    if a.job["protocol"] != b.job["protocol"] or a.job["model"] == b.job["model"]:
        return None
    try:
        return compare([a], [b])
    except ShoalError:  # no common cases, or no measure that is a mean over cases
        return None


def _summary(results: Mapping[str, Result], conclusions: Sequence[Finding]) -> Summary:
    """Return the first conclusion, or the overall number; the headline measures as cards; and one chart."""
    verdict, _, text = SENTENCE_END.sub("\n", conclusions[0].text if conclusions else "", 1).partition("\n")
    alone = {name: result for name, result in results.items() if len(results) == 1 or not _trains(result)}
    headlines = {
        name: [row for row in result.measures if row.headline and is_defined(row)]
        for name, result in alone.items()
        if len(results) <= MANY_JOBS
    }
    first = next((rows[0] for rows in headlines.values() if rows), None)
    if len(headlines) == 1:
        (result,), (rows,) = results.values(), headlines.values()
        weak = _coarse(result)
        drawn: list[Strip] = [(next(iter(row.groups.values())), [row]) for row in weak]
        sentence = f"{_named(first).capitalize()}: {_with_unit(first)}" if first else ""
        return Summary(verdict or sentence, "", text, _cards(rows, weak), _chart(drawn))
    drawn = [
        (name, [rows[0]]) for name, rows in headlines.items() if rows and first and rows[0].name == first.name
    ]
    if not verdict and first and drawn and quantity(first).direction == "higher":
        best, (row,) = max(drawn, key=lambda item: item[1][0].value or 0.0)
        verdict = f"Highest {row.name}: {best}, {_with_unit(row)}"
    return Summary(verdict, text=text, chart=_chart(drawn))


def _with_unit(row: Measure) -> str:
    return f"{value_text(row)}{unit_word(row)}"


def _named(row: Measure) -> str:
    groups = [value for value in row.groups.values() if value != "all"]
    return f"{row.name} ({', '.join(groups)})" if groups else row.name


def _cards(headlines: Sequence[Measure], weak: Sequence[Measure]) -> list[Card]:
    """Return a card per headline, and one with the lowest rates if their groups have names."""
    cards = []
    for row in headlines[:2]:
        lines = [f"95 % CI {interval}"] if (interval := interval_text(row)) else []
        cards.append(Card(_named(row).capitalize(), _with_unit(row), [*lines, f"n = {row.n:,}"]))
    names = [next(iter(row.groups.values())) for row in weak[:WEAKEST]]
    if len(weak) > 1 and not any(map(str.isdigit, names[0])):
        rows = [(name, _with_unit(row)) for name, row in zip(names, weak, strict=False)]
        cards.append(Card(f"Weakest {next(iter(weak[0].groups))}", rows=rows))
    return cards


def _coarse(result: Result) -> list[Measure]:
    """Return the rates by the first group that has a few values, the lowest first."""
    groups: dict[tuple[str, str], list[Measure]] = {}
    for row in result.measures:
        is_rate = row.basis.mean_over and is_defined(row) and quantity(row).direction == "higher"
        if is_rate and len(row.groups) == 1:
            groups.setdefault((row.name, next(iter(row.groups))), []).append(row)
    fitting = [rows for rows in groups.values() if 1 < len(rows) <= CHARTED]
    return lowest_first(max(fitting, key=len, default=[]))


def _chart(rows: Sequence[Strip]) -> Table | None:
    measures = [measure for _, values in rows for measure in values]
    if len(rows) < 2 or len(rows) > CHARTED or any(quantity(row).unit != "share" for row in measures):
        return None
    middle = 0.5 if quantity(measures[0]).ideal == 0.5 else None
    title = f"{measures[0].name.capitalize()}, in %"
    return strip_table(rows, (0.0, 1.0), middle, title=title, legend=["Bar: 95 % CI."])


# Findings and caveats


def _findings(compared: Mapping[str, Compared], by_protocol: Mapping[str, Sequence[Result]]) -> list[Finding]:
    """Return the findings of each protocol in turn: their weights are on different scales."""
    queues = []
    for protocol, results in by_protocol.items():
        together = compared[protocol].findings if protocol in compared else ()
        by_text = {finding.text: finding for finding in together}
        for result in results:
            if protocol in compared and _trains(result):
                continue
            for finding in (finding for finding in result.findings if finding not in together):
                # The same sentence about several models is about none of them in particular.
                model = {"model": str(result.job["model"]), **finding.groups}
                by_text[finding.text] = replace(finding, groups={} if finding.text in by_text else model)
        queues.append(_ordered(list(by_text.values())))
    return [finding for turn in zip_longest(*queues) for finding in turn if finding is not None]


def _ordered(findings: Sequence[Finding]) -> list[Finding]:
    """Sort by weight; the first of each kind comes before the others."""
    by_weight = sorted(findings, key=lambda finding: -finding.weight)
    first = {finding.kind: position for position, finding in reversed(list(enumerate(by_weight)))}
    order = sorted(range(len(by_weight)), key=lambda position: first[by_weight[position].kind] != position)
    return [by_weight[position] for position in order]


def subject(finding: Finding, only: str = "") -> str:
    """Return the subject of a finding, unless it is the only model of the page."""
    groups = {name: value for name, value in finding.groups.items() if value not in ("", "none", only)}
    row = " ".join(groups.pop(name) for name in ("config", "method") if name in groups)
    hold_out, fold = groups.pop("hold out", ""), groups.pop("fold", "")
    held = f"without {fold or hold_out}" if fold or hold_out not in ("", "seen") else ""
    rest = [value if name in ("model", "recipe") else f"{name} {value}" for name, value in groups.items()]
    name = " · ".join(filter(None, [row, held, *rest]))
    return "" if finding.text.startswith(name) else name


def _caveats(results: Mapping[str, Result], limits: Sequence[Finding]) -> Iterator[str]:
    """Yield what could change a decision, the most important first."""
    for name, result in results.items():
        yield from (f"{name}: self-check failed: {line}" for line in failed_checks([result]))
    errors = sum(verdicts_of(result.outcomes).count("e") for result in results.values())
    if errors:
        who, them = (" has", "it") if errors == 1 else ("s have", "them")
        yield f"{errors:,} case{who} no answer; no rate includes {them}."
    only = next(iter(results.values())).job["model"] if len(results) == 1 else ""
    for finding in limits:
        name = subject(finding, str(only))
        yield f"{name}: {finding.text}" if name else finding.text
    if not any(finding.kind == "limits" for finding in limits):
        yield from _seed_caveats(list(results.values()))


def _seed_caveats(results: Sequence[Result]) -> Iterator[str]:
    trained = [result for result in results if _trains(result)]
    seeds = {str(result.job["settings"].get("seed", "")) for result in trained if "settings" in result.job}
    if trained and len(seeds) < ENOUGH_SEEDS:
        count = f"{len(seeds)} seed{'' if len(seeds) == 1 else 's'}"
        yield f"{count} per recipe: {ENOUGH_SEEDS} are needed for claims about the recipe."
    if len(trained) < len(results) and not any(result.job.get("group") for result in results):
        yield "One checkpoint per model: seed variance was not measured."


def failed_checks(results: Iterable[Result]) -> list[str]:
    """Return the self-checks that failed."""
    checks = [check for result in results for check in result.job.get("checks", ())]
    return [f"{check['name']}: {check['detail']}" for check in checks if check["ok"] is False]


# Provenance


JOB_COLUMNS = ("job", "model", "protocol", "profile", "other settings", "label mapping", "answered on", "id")
LABEL_FACTS = ("label map", "band", "never")
"""Facts about the mapping of a model's labels."""
CHECKED = {
    None: Words("not checked", "quiet"),
    True: Words("✓ passed", "good"),
    False: Words("✗ failed", "bad"),
}


def _provenance(results: Mapping[str, Result], dates: Mapping[str, str]) -> list[Section]:
    """Return the version, the jobs with their settings, and the self-checks."""
    if not results:
        return []
    versions = sorted({str(result.job["shoal"]) for result in results.values() if "shoal" in result.job})
    rows, checks = [], []
    for name, result in results.items():
        identity, profile = str(result.job.get("id", "")), str(getattr(result.settings, "profile", ""))
        cells: list[Cell] = [name, str(result.job["model"]), str(result.job["protocol"]), profile]
        others = differing(result.settings).items() if result.settings is not None else ()
        cells.append(", ".join(f"{name} = {_plain(value)}" for name, value in others))
        cells += [_label_mapping(result), dates.get(identity, "")]
        rows.append(Row([*cells, Words(identity, "quiet")]))
        checks += [
            Row([name, str(check["name"]), CHECKED[check["ok"]], str(check["detail"])])
            for check in result.job.get("checks", ())
        ]
    jobs = Table([Column(title, "left") for title in JOB_COLUMNS], rows)
    sections = [Section("Jobs and settings", f"shoal {', '.join(versions)}" if versions else "", [jobs])]
    if checks:
        columns = [Column("job", "left", once=True)]
        columns += [Column(title, "left") for title in ("self-check", "", "detail")]
        sections.append(Section("Self-checks", blocks=[Table(columns, checks)]))
    return sections


def _plain(value: Any) -> str:
    if is_dataclass(value) and not isinstance(value, type):
        parts = {name: part for name, part in asdict(value).items() if part not in (None, "")}
        return ", ".join(f"{name} {_plain(part)}" for name, part in parts.items())
    if isinstance(value, str):
        return value if "/" not in value else Path(value).name
    return " / ".join(map(_plain, value)) if isinstance(value, tuple | list) else str(value)


def _label_mapping(result: Result) -> str:
    facts = {name: fact for row in result.measures for name, fact in row.facts.items() if name in LABEL_FACTS}
    for name, fact in facts.items():
        if isinstance(fact, Mapping):
            facts[name] = ", ".join(f"{a} = {b}" for a, b in fact.items())
    return "; ".join(f"{name}: {fact}" for name, fact in facts.items())
