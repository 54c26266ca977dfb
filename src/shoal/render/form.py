"""A suite as an offline form: read, add, relabel, comment on and delete cases in a browser.

    suite ──► form.html ──► a domain expert ──► NAME-edited.json ──► shoal import (`data/form.py`)

The page holds the rows of the suite file as text. A row without changes leaves it byte for byte.
"""

import json
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ..core.files import writing
from ..core.records import Label
from ..protocols.behaviour.rules import needs_labels
from ..protocols.behaviour.suite import Suite
from ..protocols.behaviour.suite_files import suite_lines

RULES = {
    "MFT": "The model must give the label of each case.",
    "INV": "The variants must not change the model's prediction.",
    "DIR": "The variants may move the model's confidence one way only.",
}
"""The meaning of each test type, for somebody who does not know the terms."""
CHOICES = 50
"""More distinct labels are typed, not chosen."""


def write_form(suite: Suite, path: Path) -> int:
    """Write the form of a suite; return the number of its cases."""
    with writing(path) as stream:
        stream.write(form_html(suite))
    return len(suite.cases)


def form_html(suite: Suite) -> str:
    """Return the form; the same suite gives the same bytes."""
    from jinja2 import Environment, PackageLoader

    environment = Environment(loader=PackageLoader("shoal.render"), autoescape=True, trim_blocks=True)
    script = environment.get_template("form.js").render()
    data = json.dumps(_form_data(suite), ensure_ascii=False).replace("<", "\\u003c")
    return environment.get_template("form.html").render(
        name=suite.name,
        data=Markup(data),
        script=Markup(script),
        hash=b64encode(sha256(script.encode()).digest()).decode(),
    )


def _form_data(suite: Suite) -> dict[str, Any]:
    header, *rows = suite_lines(suite)
    name = re.sub(r"[^\w.-]+", "-", suite.name).strip("-.") or "suite"
    return {
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
