"""Verdicts as JUnit XML, which every CI server reads: a test suite per block, a test case per thing that was judged.

What is finest (a functionality, a cell, a category) is a test case, inside the test suite that its second group names
(its capability). A rule that is not met is a `failure`; a model that gave no answer is an `error`; what does not
apply, or has no rule, is `skipped` and says why. Rules about means stand in test suites of their own. No times: same
verdicts, same bytes.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as Xml

from ..core.files import writing
from ..core.records import Measure, Result
from .cases import CASES, judgeable
from .gate import Verdict
from .wording import measure_text, sentence

NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, escaped or not."""


def write_junit(verdicts: Sequence[Verdict], result: Result, path: Path) -> None:
    """Write the XML, all at once."""
    with writing(path) as stream:
        stream.write(junit(verdicts, result))


def junit(verdicts: Sequence[Verdict], result: Result) -> str:
    """The XML of some verdicts and of every finest measure that they are silent about."""
    suites: dict[str, dict[str, tuple[Measure | None, list[Verdict]]]] = {}
    finest = _finest(result)
    names = {_name(row): row for row in finest}
    homes = {list(row.groups.values())[1] for row in finest if len(row.groups) > 1}
    spoken: dict[frozenset[tuple[str, str]], list[Verdict]] = {}
    for verdict in verdicts:
        name = _name(verdict.measure)
        if name in names:
            spoken.setdefault(name, []).append(verdict)
            continue
        home, title = _home(verdict, homes)
        suites.setdefault(home, {}).setdefault(title, (None, []))[1].append(verdict)
    for name, row in names.items():
        values = list(row.groups.values())
        home = values[1] if len(values) > 1 else row.name
        suites.setdefault(home, {})[values[0]] = (row, spoken.get(name, []))
    root = Xml.Element("testsuites", {"name": "shoal"})
    for home, cases in suites.items():
        suite = Xml.SubElement(root, "testsuite", {"name": clean(home)})
        for title, (rate, judged) in cases.items():
            _case(suite, home, title, rate, judged)
        _count(suite)
    _count(root)
    Xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _finest(result: Result) -> list[Measure]:
    """The measures over cases with the most groups."""
    rows = [row for row in judgeable(result.measures) if row.basis.mean_over == CASES]
    most = max((len(row.groups) for row in rows), default=0)
    return [row for row in rows if most and len(row.groups) == most]


def _name(row: Measure) -> frozenset[tuple[str, str]]:
    return frozenset(row.groups.items())


def _home(verdict: Verdict, homes: set[str]) -> tuple[str, str]:
    """The test suite and the name of a rule about a mean."""
    group, value = next(iter(verdict.measure.groups.items()), ("", ""))
    if not group:
        return "suite", verdict.name
    return (value, "all of it") if value in homes else (f"{group}s", value)


def _case(
    suite: Xml.Element, home: str, name: str, rate: Measure | None, verdicts: Sequence[Verdict]
) -> None:
    case = Xml.SubElement(suite, "testcase", {"classname": clean(home), "name": clean(name), "time": "0"})
    errors = [verdict for verdict in verdicts if verdict.status == "error"]
    failures = [verdict for verdict in verdicts if not verdict.is_met and verdict.status != "error"]
    judged = [verdict for verdict in verdicts if verdict.status != "passed over"]
    # One element a case: a CI server shows the first and drops the rest.
    if errors:
        _add_result(case, "error", errors)
    elif failures:
        _add_result(case, "failure", failures)
    elif not judged:
        why = (
            "no rule"
            if not verdicts and rate is not None and rate.value is not None
            else "no applicable case"
        )
        message = verdicts[0].reason if verdicts else why
        Xml.SubElement(case, "skipped", {"message": clean(message)})
    if not errors and not failures:
        shown = [sentence(verdict) for verdict in verdicts] or ([_rate(rate)] if rate is not None else [])
        Xml.SubElement(case, "system-out").text = clean("\n".join(shown))


def _add_result(case: Xml.Element, tag: str, verdicts: Sequence[Verdict]) -> None:
    sentences = [sentence(verdict) for verdict in verdicts]
    about = {"message": clean(sentences[0]), "type": verdicts[0].status}
    Xml.SubElement(case, tag, about).text = clean("\n".join(sentences))


def _count(parent: Xml.Element) -> None:
    """Tests, failures, errors and skipped, as the schema wants them."""
    parent.set("tests", str(sum(1 for _ in parent.iter("testcase"))))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        parent.set(name, str(sum(1 for _ in parent.iter(tag))))


def _rate(row: Measure) -> str:
    return f"{measure_text(row)}, n = {row.n:,}"


def clean(text: str) -> str:
    """Text without what XML cannot hold; escaping is the writer's."""
    return NOT_XML.sub("", text)
