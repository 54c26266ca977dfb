"""Cases that are there again: copies, in two functionalities, on both sides of the split."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations

from ....core.records import Case
from ..build import content
from .findings import FIXES, MANY, Finding, finding, ids, tell, worst_first
from .material import Material


def check_duplicates(material: Material) -> list[Finding]:
    """Cases that are there again: inside a functionality, but for case and spacing, in two functionalities."""
    findings = []
    for name, cases in material.by_name.items():
        seen: set[object] = set()
        read: set[object] = set()
        again, alike = [], []
        for case in cases:
            plain = content(case)
            if case.examples in seen:
                again.append(case)
            elif plain in read:
                alike.append(case)
            seen.add(case.examples)
            read.add(plain)
        if again:
            what = tell(len(again), len(cases), "repeats another", "repeat another")
            what += f", leaving {len(cases) - len(again):,}"
            findings.append(finding("repeated cases", name, again, len(cases), what))
        if alike:
            what = tell(len(alike), len(cases), "differs", "differ")
            what += " from another in letter case or spacing only"
            findings.append(finding("nearly repeated cases", name, alike, len(cases), what, "note"))
    return worst_first(findings) + worst_first(_shared(material))


def _shared(material: Material) -> Iterator[Finding]:
    """Contents that stand in two functionalities; those that stand in very many are counted together."""
    kind = "cases in two functionalities"
    homes: dict[object, dict[str, Case]] = defaultdict(dict)
    for case in material.cases:
        homes[case.examples].setdefault(case.groups["functionality"], case)
    pairs: dict[tuple[str, str], list[Case]] = defaultdict(list)
    everywhere: list[Case] = []
    for owners in homes.values():
        if len(owners) > MANY:
            everywhere.append(next(iter(owners.values())))
            continue
        for name, other in combinations(owners, 2):
            pairs[name, other].append(owners[name])
    if everywhere:
        what = f"{len(everywhere):,} different cases stand in more than {MANY} functionalities each"
        yield Finding(kind, "note", (), what, FIXES[kind], ids(everywhere), len(everywhere))
    for pair, cases in pairs.items():
        smaller = min(material.unique_cases[name] for name in pair)
        what = f"{len(cases):,} different cases stand in both, of {smaller:,} in the smaller"
        share = len(cases) / smaller
        yield Finding(kind, "note", pair, what, FIXES[kind], ids(cases), len(cases), share)


def check_split(material: Material) -> list[Finding]:
    """Test cases that are letter by letter in the training part of a split by id (`docs/method/beluga.md` 1.2)."""
    kind = "test cases seen in training"
    copies = ("is a copy of a training case", "are copies of a training case", "test cases")
    places = worst_first(
        finding(kind, name, seen, tested, tell(len(seen), tested, *copies))
        for name, (tested, seen) in material.test_cases.items()
        if seen
    )
    if not places:
        return []
    tested = sum(n for n, _ in material.test_cases.values())
    seen = [case for _, cases in material.test_cases.values() for case in cases]
    what, share = tell(len(seen), tested, *copies), len(seen) / tested
    entirely = sum(row.share == 1 for row in places)
    what += f"; in {entirely} functionalities all are" if entirely > 1 else ""
    return [Finding(kind, places[0].severity, (), what, FIXES[kind], ids(seen), len(seen), share), *places]
