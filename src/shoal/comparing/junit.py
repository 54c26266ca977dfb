"""Verdicts as JUnit XML, which every CI server reads: a test case per thing that a rule judged.

A test suite holds the verdicts of one capability, or of one kind of group. An unmet rule is a `failure`, a model
without answers an `error`, a group without an applicable case `skipped`. No times: same verdicts, same bytes.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as Xml

from ..core.files import writing
from .gate import Verdict
from .wording import limit_text, sentence

NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, escaped or not."""
TAGS = {"met": "system-out", "passed over": "skipped", "error": "error"}
"""The element of each status; every other status is a failure."""


def write_junit(verdicts: Sequence[Verdict], path: Path) -> None:
    """Write the XML, all at once."""
    with writing(path) as stream:
        stream.write(junit(verdicts))


def junit(verdicts: Sequence[Verdict]) -> str:
    """Return the XML of some verdicts."""
    by_suite: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        # The capability of a functionality; for coarser groups their kind.
        groups = verdict.measure.groups
        suite_name = list(groups.values())[1] if len(groups) > 1 else next(iter(groups), "suite")
        by_suite.setdefault(suite_name, []).append(verdict)
    root = Xml.Element("testsuites", {"name": "shoal"})
    for name, members in by_suite.items():
        suite = Xml.SubElement(root, "testsuite", {"name": clean(name)})
        for verdict in members:
            title = clean(f"{verdict.name}: {limit_text(verdict)}")
            case = Xml.SubElement(suite, "testcase", {"classname": clean(name), "name": title, "time": "0"})
            tag, text = TAGS.get(verdict.status, "failure"), clean(sentence(verdict))
            about = {} if tag == "system-out" else {"message": text, "type": verdict.status}
            Xml.SubElement(case, tag, about).text = text
        _count(suite)
    _count(root)
    Xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _count(parent: Xml.Element) -> None:
    """Tests, failures, errors and skipped, as the schema wants them."""
    parent.set("tests", str(sum(1 for _ in parent.iter("testcase"))))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        parent.set(name, str(sum(1 for _ in parent.iter(tag))))


def clean(text: str) -> str:
    """Return text without what XML cannot hold; escaping is the writer's."""
    return NOT_XML.sub("", text)
