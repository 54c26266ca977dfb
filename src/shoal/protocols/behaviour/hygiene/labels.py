"""Labels that contradict each other, that nothing asks for, and that nearly everything asks for."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import combinations

from ....core.records import Case, Example
from .asked import OTHER_LABEL, named, spoken_labels, wanted
from .findings import FIXES, MANY, Finding, worst_first
from .material import Material

LOPSIDED = 0.8
"""Share of one label from which the suite as a whole is lopsided."""


def check_conflicts(material: Material) -> list[Finding]:
    """The same example, asked to be answered in two ways that no model can satisfy at once."""
    asked: dict[Example, dict[tuple[str, str], Case]] = defaultdict(dict)
    """By example: each label and functionality that ask for it, with the first case."""
    for case in material.cases:
        for example, label in zip(case.examples, wanted(case, material.labels), strict=True):
            if label is not None:
                asked[example].setdefault((label, case.groups["functionality"]), case)
    pairs: dict[tuple[str, ...], dict[Example, tuple[str, Case, str, Case]]] = defaultdict(dict)
    for example, askers in asked.items():
        for pair, conflict in _conflicts(askers):
            pairs[pair].setdefault(example, conflict)
    return worst_first(_conflict(pair, conflicts) for pair, conflicts in pairs.items())


def _conflicts(
    asked: Mapping[tuple[str, str], Case],
) -> Iterator[tuple[tuple[str, ...], tuple[str, Case, str, Case]]]:
    """Every two that contradict each other; of very many, only the first functionality that asks for each label."""
    rows = sorted(asked.items(), key=lambda row: (row[0][1], row[0][0]))
    if len(rows) > MANY:
        firsts = {row[0][0]: row for row in reversed(rows)}
        rows = [row for row in rows if firsts[row[0][0]] is row][:MANY]
    for ((label, name), case), ((other, there), second) in combinations(rows, 2):
        if not compatible(label, other):
            yield tuple(dict.fromkeys([name, there])), (label, case, other, second)


def compatible(label: str, other: str) -> bool:
    """Whether one answer can be right for both.

    >>> [compatible(label, "not negative") for label in ("positive", "negative", "not positive")]
    [True, False, True]
    >>> compatible("not negative", "negative"), compatible("negative", "negative")
    (False, True)
    """
    unlike = [word.removeprefix("not ") for word in (label, other) if word.startswith("not ")]
    if not unlike:
        return label == other
    return len(unlike) == 2 or unlike[0] not in (label, other)


def _conflict(where: tuple[str, ...], conflicts: Mapping[Example, tuple[str, Case, str, Case]]) -> Finding:
    example, (label, case, other, second) = min(
        conflicts.items(), key=lambda row: (len(row[1][1].id), row[1][1].id, row[0])
    )
    several = f"{len(conflicts):,} examples are" if len(conflicts) > 1 else "1 example is"
    kind = "label conflict"
    what = f"{several} to be answered in two ways: {quoted(example)} is {label!r} and {other!r}"
    return Finding(
        kind, "error", where, what, FIXES[kind], tuple(dict.fromkeys([case.id, second.id])), len(conflicts)
    )


def quoted(example: Example, length: int = 60) -> str:
    """An example's texts for a message, the middle left out where they are long."""
    text = " ".join(" ¦ ".join(example).split())
    half = length // 2
    return f'"{text if len(text) <= length else f"{text[:half]} … {text[-half:]}"}"'


def check_labels(material: Material) -> list[Finding]:
    """Labels that nothing asks for, and one label that nearly everything asks for."""
    asked = material.label_counts
    if not asked:
        return []
    findings = []
    mentioned = {label.removeprefix("not ") for label, n in asked.items() if n}
    for expect in {case.meta["expect"] for case, *_ in material.by_name.values()}:
        mentioned |= {named(word, material.labels) for word in spoken_labels(expect)}
    unused = [label for label in material.labels if label not in {*mentioned, OTHER_LABEL}]
    if unused:
        kind = "labels never asked for"
        what = f"no case asks for {', '.join(map(repr, unused))}, of {len(material.labels)} labels"
        findings.append(Finding(kind, "warning", (), what, FIXES[kind], count=len(unused)))
    label, most = max(asked.items(), key=lambda row: (row[1], row[0]))
    total = sum(asked.values())
    if most / total >= LOPSIDED:
        kind = "one label dominates"
        what = f"{most:,} of {total:,} labelled examples ({100 * most / total:.1f} %) ask for {label!r}"
        findings.append(Finding(kind, "note", (), what, FIXES[kind], count=most, share=most / total))
    return findings
