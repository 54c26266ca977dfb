"""Verdicts as JUnit XML, which every CI server reads: a test suite per capability, a test case per functionality.

A rule that is not met is a `failure`; a model that gave no answer is an `error`; what does not apply, or has no rule,
is `skipped` and says why. Rules about means stand in test suites of their own. No times: same verdicts, same bytes.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as Xml

from ..files import writing
from ..records import Measure, Result
from .judge import Verdict, rates_of

NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, escaped or not."""


def write_junit(verdicts: Sequence[Verdict], result: Result, path: Path) -> None:
    """Write the XML, all at once."""
    with writing(path) as stream:
        stream.write(junit(verdicts, result))


def junit(verdicts: Sequence[Verdict], result: Result) -> str:
    """The XML of some verdicts and of every functionality that they are silent about."""
    suites: dict[str, list[tuple[str, Measure | None, list[Verdict]]]] = {}
    by_functionality: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        by_functionality.setdefault(verdict.measure.groups.get("functionality", ""), []).append(verdict)
    for verdict in by_functionality.pop("", []):
        groups = verdict.measure.groups
        home = groups.get("capability") or ("test types" if groups else "suite")
        name = "all of it" if "capability" in groups else verdict.name
        cases = suites.setdefault(home, [])
        match = next((one for one in cases if one[0] == name and one[1] is None), None)
        if match:
            match[2].append(verdict)
        else:
            cases.append((name, None, [verdict]))
    for row in rates_of(result.measures):
        if "functionality" in row.groups:
            own = by_functionality.get(row.groups["functionality"], [])
            suites.setdefault(row.groups["capability"], []).append((row.groups["functionality"], row, own))
    root = Xml.Element("testsuites", {"name": "shoal"})
    for home, cases in suites.items():
        suite = Xml.SubElement(root, "testsuite", {"name": clean(home)})
        for name, rate, own in cases:
            _case(suite, home, name, rate, own)
        _count(suite)
    _count(root)
    Xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _case(
    suite: Xml.Element, home: str, name: str, rate: Measure | None, verdicts: Sequence[Verdict]
) -> None:
    case = Xml.SubElement(suite, "testcase", {"classname": clean(home), "name": clean(name), "time": "0"})
    errors = [verdict for verdict in verdicts if verdict.status == "error"]
    failures = [verdict for verdict in verdicts if not verdict.is_met and verdict.status != "error"]
    judged = [verdict for verdict in verdicts if verdict.status != "passed over"]
    # One element a case: a CI server shows the first and drops the rest.
    if errors:
        _say(case, "error", errors)
    elif failures:
        _say(case, "failure", failures)
    elif not judged:
        why = "no rule" if not verdicts and rate is not None and rate.value is not None else ""
        said = why or (verdicts[0].reason if verdicts else rate.note if rate is not None else "")
        Xml.SubElement(case, "skipped", {"message": clean(said)})
    if not errors and not failures:
        shown = [sentence(verdict) for verdict in verdicts] or ([_rate(rate)] if rate is not None else [])
        Xml.SubElement(case, "system-out").text = clean("\n".join(shown))


def _say(case: Xml.Element, tag: str, verdicts: Sequence[Verdict]) -> None:
    said = [sentence(verdict) for verdict in verdicts]
    about = {"message": clean(said[0]), "type": verdicts[0].status}
    Xml.SubElement(case, tag, about).text = clean("\n".join(said))


def _count(parent: Xml.Element) -> None:
    """Tests, failures, errors and skipped, as the schema wants them."""
    parent.set("tests", str(sum(1 for _ in parent.iter("testcase"))))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        parent.set(name, str(sum(1 for _ in parent.iter(tag))))


def sentence(verdict: Verdict) -> str:
    """A verdict in a line: what was found, what was wanted."""
    rule, row = verdict.rule, verdict.measure
    wanted = (
        f"no worse than the baseline by {-100 * rule.limit:.1f} points"
        if rule.is_relative
        else f"at least {100 * rule.limit:.1f} %"
    )
    reason = f" ({verdict.reason})" if verdict.reason else ""
    if row.value is None or verdict.status == "error":
        return f"{verdict.name}: {verdict.status}, wanted {wanted}{reason}"
    return (
        f"{verdict.name}: {number(row)}, n = {row.n:,}; wanted {wanted}, judged on the {rule.judge}{reason}"
    )


def number(row: Measure) -> str:
    """A rate in per cent, or a difference in points, with its interval."""
    if row.value is None:
        return "undefined"
    sign, unit = ("+", " points") if row.name == "difference" else ("", " %")
    ends = (
        ""
        if row.interval is None
        else f" [{100 * row.interval[0]:{sign}.1f}, {100 * row.interval[1]:{sign}.1f}]"
    )
    return f"{100 * row.value:{sign}.1f}{unit}{ends}"


def _rate(row: Measure) -> str:
    return f"{number(row)}, n = {row.n:,}"


def clean(text: str) -> str:
    """Text without what XML cannot hold; escaping is the writer's."""
    return NOT_XML.sub("", text)
