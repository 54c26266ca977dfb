"""What a job or a plan shows: its protocol says what, the renderers say how."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..errors import ModelError
from ..explaining import explain
from ..explaining.view import text_blocks
from ..models import load_model
from ..protocols import find_protocol
from ..protocols.base import Compared
from ..records import Case, Finding, Measure, Measures, Result
from ..views import Block, CaseList, Number, Section, Text, Words, expected_words, shown_cases
from .plan import Job, Plan
from .scoring import brief_result, results_of
from .store import RunStore

EXPLAINED, EXAMPLES = 5, 2
"""How many failures are explained, and how many texts of each."""


def result_sections(result: Result) -> list[Section]:
    """One job, the way its protocol shows it."""
    module = find_protocol(result.job["protocol"])
    return module.view(result.settings, [result], (), result.findings)


def plan_sections(
    plan: Plan, jobs: Sequence[Job], store: RunStore, compared: Mapping[str, Compared]
) -> list[Section]:
    """What the jobs of a plan say together, protocol by protocol."""
    sections = []
    for protocol, together in compared.items():
        results = results_of(plan, jobs, store, protocol)
        sections += find_protocol(protocol).view(
            plan.tables[protocol], results, together.measures, together.findings
        )
    return sections


def report_parts(
    plan: Plan, jobs: Sequence[Job], store: RunStore, compared: Mapping[str, Compared]
) -> dict[str, list[Section]]:
    """A plan as a page shows it, heading by heading: its jobs together, then each that was not trained here."""
    parts: dict[str, list[Section]] = {}
    for protocol, settings in plan.tables.items():
        results = results_of(plan, jobs, store, protocol)
        if protocol in compared:
            together = compared[protocol]
            view = find_protocol(protocol).view
            parts[protocol] = view(settings, results, together.measures, together.findings)
        if protocol not in compared or not _trains(jobs, protocol):
            for result in results:
                parts.setdefault(str(result.job["model"]), []).extend(result_sections(result))
    return parts


def _trains(jobs: Sequence[Job], protocol: str) -> bool:
    return any("training" in job.identity for job in jobs if job.protocol == protocol)


def failing_sections(result: Result, name: str | None = None) -> list[Section]:
    """The cases that failed, by what their first group says, worst first; and those without an answer."""
    failing = result.failing(name)
    blocks = {group: CaseList((), Words(group, "strong")) for group in sorted(map(_first_group, failing))}
    for group in blocks:
        cases = [case for case in failing if _first_group(case) == group]
        blocks[group] = replace(blocks[group], cases=shown_cases(result, cases))
    errors = [outcome for outcome in result.outcomes if outcome.error]
    lines = [
        Text([Words(f"{outcome.case_id}: ", "strong"), Words(outcome.error, "bad")]) for outcome in errors
    ]
    summary = Text([Words(f"{len(failing):,} cases fail, {len(errors):,} are errors", "quiet")])
    return [Section(blocks=[*blocks.values(), *lines, summary])]


def explained_sections(result: Result, method: str, name: str | None = None) -> list[Section]:
    """Why the worst cases fail: their texts, coloured by what counted for the answer and against it."""
    if "training" in result.job["identity"]:
        raise ModelError(
            f"{result.job['id']}: its model was trained in the run",
            why="the weights of a finished job are not kept",
            fix="save the model, and shoal explain hf:FOLDER TEXT",
        )
    failing = [case for case in result.failing(name) if not case.meta.get("reading")][:EXPLAINED]
    examples = [example for case in failing for example in case.examples[:EXAMPLES]]
    explained = iter(explain(load_model(str(result.job["model"])), examples, method))
    blocks: list[Block] = []
    for case in failing:
        blocks.append(Text([Words(case.id, "strong"), Words(f"  expected {expected_words(case)}", "quiet")]))
        for example in case.examples[:EXAMPLES]:
            row = next(explained)
            blocks += text_blocks(example, row)
            output = Number(Measure("probability", row.output, 1), "quiet")
            blocks.append(Text([Words(f"→ {row.label} ", "quiet"), output, Words(" %", "quiet")]))
    note = (
        f"{method}: green words count for the answer, red ones against it; the {len(failing)} worst failures."
    )
    return [Section("Why?", blocks=blocks, notes=[note])] if failing else []


def _first_group(case: Case) -> str:
    return next(iter(case.groups.values()), "")


def case_rows(result: Result) -> list[dict[str, Any]]:
    """Every case with its outcome, passes included, and what the model said where that is known."""
    said = result.columns.get("said")
    verdicts = {True: "pass", False: "fail", None: "n/a"}
    return [
        {
            "case_id": case.id,
            **case.groups,
            "outcome": "error" if outcome.error else verdicts[outcome.passed],
            "value": outcome.value,
            "error": outcome.error,
            "labels": None if case.labels is None else list(case.labels),
            "examples": [list(example) for example in case.examples],
            **({"said": list(said[position])} if said is not None else {}),
        }
        for position, (case, outcome) in enumerate(zip(result.cases, result.outcomes, strict=True))
    ]


def plan_measures(jobs: Sequence[Job], store: RunStore, compared: Mapping[str, Compared]) -> Measures:
    """What a plan's jobs say together, or, where they say nothing, one by one."""
    measures = [row for together in compared.values() for row in together.measures]
    alone = [job for job in jobs if job.protocol not in compared and store.is_done(job.id)]
    for job in alone:
        more = {"job": job.id} if len(alone) > 1 else {}
        rows = brief_result(job, store).measures
        measures += [replace(row, groups={**row.groups, **more}) for row in rows]
    return Measures(measures)


def plan_findings(jobs: Sequence[Job], store: RunStore, compared: Mapping[str, Compared]) -> list[Finding]:
    """The findings of a plan, those that matter most first."""
    findings = [finding for together in compared.values() for finding in together.findings]
    for job in jobs:
        if job.protocol not in compared and store.is_done(job.id):
            findings += brief_result(job, store).findings
    return sorted(findings, key=lambda finding: -finding.weight)
