"""Suites described: what a file holds and what is wrong with it (`shoal check`), and what an import found."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..core.errors import some
from ..protocols.behaviour.hygiene import CHECKS, SEVERITIES, Finding, Hygiene, Severity
from ..protocols.behaviour.suite import Suite
from .printable import on_one_line, printable

ROWS: dict[Severity, int] = {"error": 5, "warning": 4, "note": 2}
"""How many findings of a kind are shown; the rest are counted."""
NAMES = 20
"""How many label names are shown."""
IDS = 3
"""How many case ids are shown with each."""
STYLES: dict[Severity, str] = {"error": "bold red", "warning": "yellow", "note": "cyan"}
MARKS: dict[Severity, str] = {"error": "✗", "warning": "!", "note": "·"}


def describe_suite(suite: Suite) -> dict[str, Any]:
    """What a suite holds, as plain data."""
    cases = Counter(case.groups["functionality"] for case in suite.cases)
    examples: Counter[str] = Counter()
    about: dict[str, tuple[str, str, str]] = {}
    for case in suite.cases:
        name = case.groups["functionality"]
        examples[name] += len(case.examples)
        about.setdefault(
            name, (case.groups["capability"], case.groups["test type"], case.meta["expect"].rule)
        )
    return {
        "suite": suite.name,
        "task": suite.task,
        "labels": suite.labels,
        "cases": len(suite.cases),
        "examples": sum(examples.values()),
        "functionalities": [
            {"functionality": name, "capability": about[name][0], "test type": about[name][1],
             "rule": about[name][2], "cases": cases[name], "examples": examples[name]}
            for name in suite.functionalities
        ],
    }  # fmt: skip


def print_suite(found: dict[str, Any], console: Console | None = None) -> None:
    """The description as a table."""
    console = console or Console(highlight=False)
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    for name, justify in (
        ("functionality", "left"),
        ("capability", "left"),
        ("type", "left"),
        ("rule", "left"),
    ):
        table.add_column(name, justify=justify, overflow="fold")  # type: ignore[arg-type]
    table.add_column("cases", justify="right")
    table.add_column("examples", justify="right")
    for row in found["functionalities"]:
        words = [
            Text(printable(str(row[key]))) for key in ("functionality", "capability", "test type", "rule")
        ]
        table.add_row(*words, f"{row['cases']:,}", f"{row['examples']:,}")
    console.print(table)
    labels = ", ".join(found["labels"] or ()) or "not named"
    size = f"{found['cases']:,} cases, {found['examples']:,} examples, {len(found['functionalities'])} functionalities"
    console.print(Text(printable(f"\n{found['suite']}: {size}; labels: {labels}")))


def print_findings(hygiene: Hygiene, console: Console | None = None) -> None:
    """What is wrong with a suite: a block per kind, errors first, each with where and what to do."""
    console = console or Console(highlight=False)
    console.print(_summary(hygiene))
    kinds: dict[str, list[Finding]] = {}
    for finding in hygiene.findings:
        kinds.setdefault(finding.kind, []).append(finding)
    for findings in kinds.values():
        _print_kind(findings, console)
    if any(len(findings) > ROWS[findings[0].severity] for findings in kinds.values()):
        console.print(Text("\nEvery finding: shoal check FILE --json", "dim"))


def _summary(hygiene: Hygiene) -> Text:
    if not hygiene.findings:
        return Text(f"\nhygiene: {len(CHECKS)} checks find nothing wrong", "green")
    counts = [(len(hygiene.of(severity)), severity) for severity in SEVERITIES]
    text = Text("\nhygiene: ", "bold")
    for at, (n, severity) in enumerate((n, severity) for n, severity in counts if n):
        text.append(", " if at else "")
        text.append(f"{n:,} {severity}{'s' if n > 1 else ''}", STYLES[severity])
    copies = hygiene.cases - hygiene.unique_cases
    if copies:
        text.append(f"\n  {hygiene.unique_cases:,} different cases of {hygiene.cases:,}", "dim")
    total = sum(hygiene.labels.values())
    shares = [f"{label} {100 * n / total:.0f} %" for label, n in hygiene.labels.items()]
    return text.append(printable(f"\n  labels asked for: {', '.join(shares)}") if shares else "", "dim")


def _print_kind(findings: Sequence[Finding], console: Console) -> None:
    """One kind: what to do, and where it is worst."""
    severity = findings[0].severity
    places = [finding for finding in findings if len(finding.where) == 1]
    many = f"  {len(places)} functionalities" if len(places) > 1 else ""
    heading = Text.assemble("\n", (f"{MARKS[severity]} {severity}  {findings[0].kind}", STYLES[severity]))
    console.print(heading.append(many, "dim"))
    shown = findings[: ROWS[severity]]
    rows = Table.grid(padding=(0, 2))
    rows.add_column(max_width=max(24, (console.width - 4) * 2 // 5), overflow="fold")
    rows.add_column(overflow="fold")
    for finding in shown:
        rows.add_row(_where(finding), Text(printable(finding.what)).append(_ids(finding), "dim"))
    if len(findings) > len(shown):
        rows.add_row(Text(f"… and {len(findings) - len(shown):,} more", "dim"), "")
    console.print(Padding(rows, (0, 0, 0, 2)))
    for fix in dict.fromkeys(finding.fix for finding in shown):
        console.print(Padding(Text(f"→ {fix}", "green"), (0, 0, 0, 2)))


def _where(finding: Finding) -> Text:
    if not finding.where:
        return Text("the whole suite", "bold")
    names = finding.where[:2]
    more = f"\n… and {len(finding.where) - 2} more" if len(finding.where) > 2 else ""
    return Text(printable("\n".join(names))).append(more, "dim")


def _ids(finding: Finding) -> str:
    """A few case ids, without the functionality where that stands beside them."""
    if not finding.cases or not finding.where:
        return ""
    short = [case.removeprefix(f"{finding.where[0]}/") for case in finding.cases[:IDS]]
    more = ", …" if finding.count > len(short) else ""
    return printable(f"  ({'cases' if len(short) > 1 else 'case'} {', '.join(short)}{more})")


def print_import(suite: Suite, lost: list[str], out: Path) -> None:
    """What an import found, and what it could not carry over."""
    console = Console(highlight=False, soft_wrap=True)
    types = Counter(case.groups["test type"] for case in suite.cases)
    examples = sum(len(case.examples) for case in suite.cases)
    kinds = ", ".join(f"{count:,} {name}" for name, count in types.items())
    clusters = len({case.cluster for case in suite.cases} - {""})
    console.print(
        Text(f"{on_one_line(str(out))}: {len(suite.cases):,} cases ({kinds}), {examples:,} examples")
    )
    capabilities = {case.groups["capability"] for case in suite.cases}
    console.print(Text(f"  {len(suite.functionalities)} functionalities in {len(capabilities)} capabilities"))
    if suite.labels:
        console.print(Text(f"  labels: {some(map(on_one_line, suite.labels), NAMES)}"))
    if clusters:
        console.print(Text(f"  {clusters:,} templates, kept as clusters for the intervals"))
    for what in lost:
        console.print(Text(f"  not carried over: {on_one_line(what)}", "yellow"))
