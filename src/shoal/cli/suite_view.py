"""Sections for `check SUITE` and `import`: the content of a suite, its hygiene findings, and some cases."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..core.errors import some
from ..core.records import Case
from ..core.views import (
    Block,
    CaseList,
    Cell,
    Column,
    Row,
    Section,
    ShownCase,
    Table,
    Text,
    Tone,
    Words,
    label_words,
)
from ..protocols.behaviour.expect import rule_words
from ..protocols.behaviour.hygiene import CHECKS, SEVERITIES, Finding, Hygiene, Severity
from ..protocols.behaviour.suite import Suite

FINDINGS: dict[Severity, int] = {"error": 5, "warning": 4, "note": 2}
"""The number of findings of a kind that are listed; the rest are counted."""
LABELS, IDS, PLACES = 20, 3, 2
"""The number of label names, case ids and functionalities that are listed."""
TONES: dict[Severity, Tone] = {"error": "bad", "warning": "doubt", "note": "first"}
MARKS: dict[Severity, str] = {"error": "✗", "warning": "!", "note": " "}


def describe_suite(suite: Suite) -> dict[str, Any]:
    """Return the content of a suite as plain data."""
    rows: dict[str, dict[str, Any]] = {}
    for case in suite.cases:
        name = case.groups["functionality"]
        if name not in rows:
            groups = {key: case.groups[key] for key in ("functionality", "capability", "test type")}
            rows[name] = groups | {"rule": case.meta["expect"].rule, "cases": 0, "examples": 0}
        rows[name]["cases"] += 1
        rows[name]["examples"] += len(case.examples)
    return {
        "suite": suite.name,
        "task": suite.task,
        "labels": suite.labels,
        "cases": len(suite.cases),
        "examples": sum(row["examples"] for row in rows.values()),
        "functionalities": [rows[name] for name in suite.functionalities],
    }


def suite_sections(description: dict[str, Any], hygiene: Hygiene) -> list[Section]:
    """Return a suite's size and functionalities, then its hygiene findings, errors first."""
    names = ("functionality", "capability", "test type", "rule")
    columns = [*(Column(name, "left") for name in names), Column("cases"), Column("examples")]
    rows = [
        Row([*(str(row[name]) for name in names), f"{row['cases']:,}", f"{row['examples']:,}"])
        for row in description["functionalities"]
    ]
    number = f"{len(rows)} functionalit{'y' if len(rows) == 1 else 'ies'}"
    size = f"{description['cases']:,} cases, {description['examples']:,} examples, {number}"
    labels = ", ".join(description["labels"] or ()) or "not named"
    text = f"{description['suite']}: {size}; labels: {labels}"
    answer: list[Words | str] = [f"{text}\n", *_hygiene_count(hygiene)]
    return [Section(text=answer, blocks=[Table(columns, rows)]), *_hygiene_sections(hygiene)]


def case_sections(suite: Suite, each: int) -> list[Section]:
    """Return cases of every functionality, drawn evenly from its first to its last."""
    by_name: dict[str, list[Case]] = {name: [] for name in suite.functionalities}
    for case in suite.cases if each else ():
        by_name[case.groups["functionality"]].append(case)
    blocks = []
    for name, cases in by_name.items():
        number = min(each, len(cases))
        shown = [cases[place * len(cases) // number] for place in range(number)]
        title: Cell = [Words(name, "strong"), Words(f": {number} of {len(cases):,} cases", "quiet")]
        blocks.append(CaseList([ShownCase(case, None, _expected(case, suite)) for case in shown], title))
    return [Section(blocks=blocks)] if each else []


def _expected(case: Case, suite: Suite) -> str:
    if not case.labels:
        return rule_words(case.meta["expect"])
    label = case.labels[0]
    return label_words(replace(case, meta={"labels": suite.labels}), label)


def _hygiene_count(hygiene: Hygiene) -> list[Words | str]:
    """Return the number of errors and warnings."""
    if not hygiene.findings:
        return [Words(f"Checks of the suite: {len(CHECKS)}, no problem.", "good")]
    pieces: list[Words | str] = []
    for severity in SEVERITIES:
        if n := len(hygiene.of(severity)):
            pieces += [", ", Words(f"{n:,} {severity}{'s' if n > 1 else ''}", TONES[severity])]
    return [Words("Checks of the suite: ", "strong"), *pieces[1:], " (below)."]


def _hygiene_sections(hygiene: Hygiene) -> list[Section]:
    if not hygiene.findings:
        return []
    kinds: dict[str, list[Finding]] = {}
    for finding in hygiene.findings:
        kinds.setdefault(finding.kind, []).append(finding)
    labels = sum(hygiene.labels.values())
    shares = [f"{label} {100 * n / labels:.0f} %" for label, n in hygiene.labels.items()]
    notes = [f"Expected labels: {', '.join(shares)}"] if shares else []
    if any(len(findings) > FINDINGS[findings[0].severity] for findings in kinds.values()):
        notes.append("Every finding: shoal check FILE --json")
    return [Section(blocks=[block for findings in kinds.values() for block in _kind(findings)], notes=notes)]


def _kind(findings: Sequence[Finding]) -> list[Block]:
    """Return the findings of one kind and their fixes."""
    severity = findings[0].severity
    listed = findings[: FINDINGS[severity]]
    rows = []
    for finding in listed:
        where = some(finding.where, PLACES) if finding.where else "the whole suite"
        rows.append(Row([where, [finding.what, Words(_ids(finding), "quiet")]]))
    if len(findings) > len(listed):
        rows.append(Row([Words(f"… and {len(findings) - len(listed):,} more", "quiet"), ""]))
    rows += [Row([Words("fix", "good"), fix]) for fix in dict.fromkeys(finding.fix for finding in listed)]
    heading = f"{MARKS[severity]} {severity}: {findings[0].kind}"
    table = Table([Column("", "left"), Column("", "left")], rows)
    return [Text([Words(heading, ("strong", TONES[severity]))]), table]


def _ids(finding: Finding) -> str:
    """Return a few case ids, without the functionality, which stands next to them."""
    if not finding.cases or not finding.where:
        return ""
    ids = [case.removeprefix(f"{finding.where[0]}/") for case in finding.cases[:IDS]]
    more = ", …" if finding.count > len(ids) else ""
    return f"  ({'cases' if len(ids) > 1 else 'case'} {', '.join(ids)}{more})"


def import_sections(suite: Suite, changes: Sequence[str], out: Path) -> list[Section]:
    """Return the size of an imported suite, and lines on what is not in it as it is in the file."""
    types = Counter(case.groups["test type"] for case in suite.cases)
    kinds = ", ".join(f"{count:,} {name}" for name, count in types.items())
    examples = sum(len(case.examples) for case in suite.cases)
    lines = [f"functionalities: {len(suite.functionalities)}"]
    lines += [f"labels: {some(suite.labels, LABELS)}"] if suite.labels else []
    numbers = sorted({str(label) for case in suite.cases for label in case.labels or ()})[:5]
    if suite.labels is None and numbers and not any(case.meta.get("reading") for case in suite.cases[:1]):
        lines.append(f"labels: the numbers {', '.join(numbers)}; to name them: --labels {numbers[0]}=NAME")
    pieces: list[Words | str] = [f"{out}: {len(suite.cases):,} cases ({kinds}), {examples:,} examples"]
    pieces += [f"\n  {line}" for line in lines]
    return [Section(text=[*pieces, *(Words(f"\n  {line}", "doubt") for line in changes)])]
