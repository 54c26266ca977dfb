"""Sections of a job or a plan: protocols decide the content, renderers the layout."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any

from ..core.errors import ModelError
from ..core.records import Case, Finding, Measure, Outcome, Result, as_json, finding_as_json
from ..core.selection import choose
from ..core.views import (
    CaseList,
    Cell,
    Section,
    Text,
    WeighedWords,
    Words,
    expected_words,
)
from ..models import load_model
from ..protocols import PROTOCOLS, find_protocol, find_view
from ..protocols.base import Compared, Listing, ListsCases
from .plan import Plan

EXPLAINED, EXAMPLES = 5, 2
"""Number of explained failures, and of texts of each."""
FAILURES = 20
"""Failing cases of a functionality that are shown."""
ALONE = 3
"""Jobs that no protocol compares and whose results are shown one by one."""


def result_sections(result: Result) -> list[Section]:
    view = find_view(result.job["protocol"])
    return view(result.settings, [result], (), result.findings)


def plan_sections(
    plan: Plan, results: Mapping[str, Sequence[Result]], compared: Mapping[str, Compared]
) -> list[Section]:
    sections: list[Section] = []
    for protocol, together in compared.items():
        sections += find_protocol(protocol).view(
            plan.tables[protocol], results[protocol], together.measures, together.findings
        )
    alone = [result for protocol, rows in results.items() if protocol not in compared for result in rows]
    sections += [section for result in alone[:ALONE] for section in result_sections(result)]
    if len(alone) > ALONE:
        sections.append(Section(text=f"{len(alone) - ALONE:,} more jobs: shoal show JOB"))
    return sections


def failing_sections(result: Result, only: Sequence[str] = (), *, every: bool = False) -> list[Section]:
    """Return the failing cases by their first group, the worst first, and the cases without an answer."""
    module = find_protocol(result.job["protocol"]) if result.job["protocol"] in PROTOCOLS else None
    listing = module.listing(result) if isinstance(module, ListsCases) else Listing()
    chosen = choose(result.cases, only) if only else range(len(result.cases))
    positions = [position for position in chosen if listing.counts(result.cases[position])]
    failing: dict[str, list[Case]] = {}
    for case in _listed(result, positions, listing.outcome):
        failing.setdefault(_first_group(case), []).append(case)
    totals = Counter(
        _first_group(result.cases[position])
        for position in positions
        if result.outcomes[position].passed is not None
    )
    blocks = []
    # Ties as in the table of the result: more cases first, then the order of the suite.
    for group in sorted(
        totals, key=lambda group: (-len(failing.get(group, ())) / totals[group], -totals[group])
    ):
        if not (cases := failing.get(group)):
            continue
        shown = cases if every else cases[:FAILURES]
        more = [f"{len(cases) - len(shown):,} more: --all"] if len(shown) < len(cases) else []
        title: Cell = [
            Words(group or "all cases", "strong"),
            f": {len(cases):,} of {totals[group]:,} {listing.words}",
        ]
        blocks.append(CaseList(listing.shown(result, shown), title, legend=more))
    errors = [result.outcomes[position] for position in positions if result.outcomes[position].error]
    lines = [
        Text([Words(f"{outcome.case_id}: ", "strong"), Words(outcome.error, "bad")]) for outcome in errors
    ]
    count, unanswered = sum(map(len, failing.values())), f", {len(errors):,} are errors" if errors else ""
    summary = f"{count:,} of {totals.total():,} cases {listing.words}{unanswered}"
    return [Section(text=Words(summary, "strong"), blocks=[*blocks, *lines])]


def _listed(result: Result, positions: Sequence[int], outcome: bool) -> list[Case]:
    """Return the cases with this outcome, the clearest first."""
    if not outcome:
        return result.failing_among(positions)
    passed = [
        (result.outcomes[place].value or 0.0, place) for place in positions if result.outcomes[place].passed
    ]
    return [result.cases[place] for _, place in sorted(passed, key=lambda pair: (-pair[0], pair[1]))]


def explained_sections(result: Result, method: str, only: Sequence[str] = ()) -> list[Section]:
    """Return the texts of the worst failures, with the weight of each word."""
    # Imported here: it takes half as long as everything else.
    from ..explaining import explain, find_explainer
    from ..explaining.view import weighed

    if "training" in result.job["identity"]:
        raise ModelError(
            f"{result.job['id']}: its model was trained in the run",
            why="the weights of a finished job are not kept",
            fix="save the model, and shoal explain hf:FOLDER TEXT",
        )
    find_explainer(method)
    every = result.failing(*only)
    failing = [case for case in every if not case.meta.get("reading")][:EXPLAINED]
    if not failing:
        why = "answers in words have no probability to explain" if every else "no case fails"
        return [Section("Why?", text=f"Nothing to explain: {why}.")]
    examples = [example for case in failing for example in case.examples[:EXAMPLES]]
    explained = iter(explain(load_model(str(result.job["model"])), examples, method))
    rows = []
    for case in failing:
        for number, example in enumerate(case.examples[:EXAMPLES]):
            row = next(explained)
            about = [Words(case.id, "strong"), Words(f"  expected {expected_words(case)}", "quiet")]
            rows.append(weighed(example, row, about if not number else "", with_answer=True))
    note = f"{method}: the words of the {len(failing)} worst failures."
    return [Section("Why?", blocks=[WeighedWords(rows)], notes=[note])]


def _first_group(case: Case) -> str:
    return next(iter(case.groups.values()), "")


def case_rows(result: Result, only: Sequence[str] = (), *, failing: bool = False) -> list[dict[str, Any]]:
    """Return the cases with their outcomes: failures first, worst before all, then errors, then the rest.

    With `failing`, only failures and errors. Rows have the model's answers if the result has them.
    """
    positions = choose(result.cases, only) if only else range(len(result.cases))
    ordered = sorted(positions, key=lambda position: _order(result.outcomes[position]))
    if failing:
        ordered = [position for position in ordered if _order(result.outcomes[position])[0] < PASSED]
    answers = result.columns.get("said")
    return [
        _case_row(result.cases[place], result.outcomes[place], None if answers is None else answers[place])
        for place in ordered
    ]


FAILED, NO_ANSWER, PASSED = range(3)


def _order(outcome: Outcome) -> tuple[int, float]:
    if outcome.passed is False:
        return FAILED, outcome.value or 0.0
    return NO_ANSWER if outcome.error else PASSED, 0.0


def as_object(
    jobs: Iterable[Mapping[str, Any]], measures: Iterable[Measure], findings: Iterable[Finding]
) -> dict[str, Any]:
    """Return the public JSON object of `--json`, which is also the file next to a page."""
    return {
        "jobs": [dict(job) for job in jobs],
        "measures": [as_json(row) for row in measures],
        "findings": [finding_as_json(finding) for finding in findings],
    }


VERDICTS = {True: "pass", False: "fail", None: "n/a"}


def _case_row(case: Case, outcome: Outcome, answers: Sequence[str] | None) -> dict[str, Any]:
    return {
        "case_id": case.id,
        **case.groups,
        "outcome": "error" if outcome.error else VERDICTS[outcome.passed],
        "value": outcome.value,
        "error": outcome.error,
        "labels": None if case.labels is None else list(case.labels),
        "examples": [list(example) for example in case.examples],
        **({"said": list(answers)} if answers is not None else {}),
    }


def case_lines(result: Result, job: str) -> Iterator[str]:
    """Yield every case as a line of JSON in the order of the suite: the job, then the fields of `case_rows`."""
    encode = json.JSONEncoder(ensure_ascii=False, default=str).encode
    answers = result.columns.get("said", repeat(None))
    for case, outcome, said in zip(result.cases, result.outcomes, answers, strict=False):
        yield encode({"job": job, **_case_row(case, outcome, said)}) + "\n"


def plan_measures(results: Mapping[str, Sequence[Result]], compared: Mapping[str, Compared]) -> list[Measure]:
    """Return the measures across the jobs of a plan; those of each job for protocols that compare nothing."""
    measures = [row for together in compared.values() for row in together.measures]
    alone = [result for name, rows in results.items() if name not in compared for result in rows]
    for result in alone:
        more = {"job": str(result.job.get("id", ""))} if len(alone) > 1 else {}
        measures += [replace(row, groups={**row.groups, **more}) for row in result.measures]
    return measures


def plan_findings(results: Mapping[str, Sequence[Result]], compared: Mapping[str, Compared]) -> list[Finding]:
    """Return the findings of a plan, most important first."""
    findings = [finding for together in compared.values() for finding in together.findings]
    alone = [result for name, rows in results.items() if name not in compared for result in rows]
    findings += [finding for result in alone for finding in result.findings]
    return sorted(findings, key=lambda finding: -finding.weight)
