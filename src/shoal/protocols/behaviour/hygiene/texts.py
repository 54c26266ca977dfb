"""Functionalities that are too small, and texts that are empty, damaged, padded or too long."""

import re
from collections import Counter
from collections.abc import Callable

from ....core.measures import FEW_CASES
from ....stats.intervals import wilson
from ..build import half_half
from ..settings import SPLITS
from ..templated import few_templates
from .findings import FIXES, SEVERITIES, Finding, Severity, finding, tell, worst_first
from .material import Material

SPLITTABLE = 4
"""Fewer cases than this can leave a part of the double split empty (`docs/method/beluga.md` 1.12)."""
LONG = 2000
"""Characters; beyond it most encoders cut the text off."""


def check_size(material: Material) -> list[Finding]:
    """Functionalities with so few different cases that their pass rate says little."""
    findings = []
    for name, n in material.unique_cases.items():
        if n >= FEW_CASES:
            continue
        low, high = (100 * end for end in wilson(n / 2, n))
        different = "different " if n < len(material.by_name[name]) else ""
        plural = "s" if n > 1 else ""
        small = f"; a split gives {_split(n)}" if n < SPLITTABLE else ""
        kind, severity = "too few cases", SEVERITIES[1 if n < SPLITTABLE else 2]
        what = f"{n} {different}case{plural}: a pass rate of 50 % would mean {low:.0f} to {high:.0f} % (95 % Wilson)"
        findings.append(Finding(kind, severity, (name,), what + small, FIXES[kind], count=n))
    return sorted(findings, key=lambda row: (row.count, row.where))


def check_templates(material: Material) -> list[Finding]:
    """Functionalities whose cases look like fillings of a few templates, and whose suite does not say which."""
    kind, named = "templates without a cluster", []
    for name, cases in material.by_name.items():
        found = few_templates(cases)
        if found:
            named.append((name, *found))
    if not named:
        return []
    name, n, number = min(named, key=lambda row: (row[2] / row[1], row[0]))
    what = f"{n} cases look like {number} template{'s' if number > 1 else ''}, in {name!r}"
    more = f"; the like in {len(named) - 1} more functionalities" if len(named) > 1 else ""
    where = tuple(name for name, _, _ in named)
    return [Finding(kind, "note", where, what + more, FIXES[kind], count=len(named))]


def _split(n: int) -> str:
    parts = Counter(half_half(n))
    return ", ".join(f"{parts[part]} {part}" for part in SPLITS)


CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd\ud800-\udfff]")


TEXT_DEFECTS: dict[str, tuple[Severity, str, Callable[[str], object]]] = {
    "empty texts": ("warning", "a text with nothing in it", lambda text: not text.strip()),
    "control characters": (
        "warning",
        "a control character or one that was damaged on the way",
        lambda text: CONTROL.search(text),
    ),
    "white space at the edges": (
        "note",
        "a text that begins or ends in white space",
        lambda text: text != text.strip() != "",
    ),
    "very long texts": (
        "note",
        f"a text of more than {LONG:,} characters",
        lambda text: len(text) > LONG,
    ),
}
"""By kind: how bad it is, in words, and which texts have it."""


def check_texts(material: Material) -> list[Finding]:
    """Texts that are empty, damaged, padded or too long."""
    findings = []
    for kind, (severity, words, has) in TEXT_DEFECTS.items():
        of_kind = []
        for name, cases in material.by_name.items():
            bad = [case for case in cases if any(has(text) for texts in case.examples for text in texts)]
            if bad:
                what = tell(len(bad), len(cases), "holds", "hold") + f" {words}"
                of_kind.append(finding(kind, name, bad, len(cases), what, severity))
        findings += worst_first(of_kind)
    return findings
