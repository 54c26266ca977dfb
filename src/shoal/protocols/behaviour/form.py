"""A suite as data for the browser form, in which a domain expert reads, corrects and adds cases.

    suite ──► form_data ──► render/writing.py ──► NAME-edited.json ──► shoal import (data/suite.py)

The rows are the lines of the suite file as text: a row without changes leaves the form byte for byte.
"""

import re
from hashlib import sha256
from typing import Any

from ...core.records import Label
from .rules import needs_labels
from .suite import Suite
from .suite_files import suite_lines

RULES = {
    "MFT": "For each, the model must give the label shown.",
    "INV": "The variants must not change the model's prediction.",
    "DIR": "The variants may move the model's confidence one way only.",
}
"""The meaning of each test type, for somebody who does not know the terms."""
CHOICES = 50
"""More distinct labels are typed, not chosen."""


def form_data(suite: Suite) -> dict[str, Any]:
    """Return what the form needs of a suite: its labels, functionalities, and the lines of its file."""
    header, *rows = suite_lines(suite)
    name = re.sub(r"[^\w.-]+", "-", suite.name).strip("-.") or "suite"
    return {
        "name": suite.name,
        "file": f"{name}-edited.json",
        "digest": sha256("\n".join([header, *rows]).encode()).hexdigest()[:16],
        "labels": _choices(suite),
        "header": header,
        "rows": rows,
        "functionalities": _functionalities(suite),
    }


def _choices(suite: Suite) -> list[Label]:
    """Return the labels to choose from; none if answers are texts."""
    if suite.labels or any(case.meta.get("reading") for case in suite.cases):
        return list(suite.labels or ())
    used = {label for case in suite.cases for label in case.labels or ()}
    plain = sorted((label for label in used if not str(label).startswith("not_")), key=str)
    return plain if len(plain) <= CHOICES else []


def _functionalities(suite: Suite) -> list[dict[str, Any]]:
    first = {case.groups["functionality"]: case for case in reversed(suite.cases)}
    return [
        {
            "name": name,
            "capability": case.groups["capability"],
            "type": case.groups["test type"],
            "about": suite.descriptions.get(name, ""),
            "rule": RULES[case.groups["test type"]],
            "needs_label": needs_labels(case.meta["expect"]),
        }
        for name in suite.functionalities
        if (case := first.get(name))
    ]
