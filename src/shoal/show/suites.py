"""Suites described: what a file holds (`shoal check`), and what an import found and left behind."""

from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..protocols.behaviour.suite import Suite, read_suite


def describe_suite(path: Path) -> dict[str, Any]:
    """What a suite file holds, as plain data."""
    suite = read_suite(path)
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
        words = [Text(str(row[key])) for key in ("functionality", "capability", "test type", "rule")]
        table.add_row(*words, f"{row['cases']:,}", f"{row['examples']:,}")
    console.print(table)
    labels = ", ".join(found["labels"] or ()) or "not named"
    console.print(
        Text(
            f"\n{found['suite']}: {found['cases']:,} cases, {found['examples']:,} examples, "
            f"{len(found['functionalities'])} functionalities; labels: {labels}"
        )
    )


def print_import(suite: Suite, lost: list[str], out: Path) -> None:
    """What an import found, and what it could not carry over."""
    console = Console(highlight=False)
    types = Counter(case.groups["test type"] for case in suite.cases)
    examples = sum(len(case.examples) for case in suite.cases)
    kinds = ", ".join(f"{count:,} {name}" for name, count in types.items())
    clusters = len({case.cluster for case in suite.cases} - {""})
    console.print(Text(f"{out}: {len(suite.cases):,} cases ({kinds}), {examples:,} examples"))
    capabilities = {case.groups["capability"] for case in suite.cases}
    console.print(Text(f"  {len(suite.functionalities)} functionalities in {len(capabilities)} capabilities"))
    if suite.labels:
        console.print(Text(f"  labels: {', '.join(suite.labels)}"))
    if clusters:
        console.print(Text(f"  {clusters:,} templates, kept as clusters for the intervals"))
    for what in lost:
        console.print(Text(f"  not carried over: {what}", "yellow"))
