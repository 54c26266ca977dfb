"""Cases that look like fillings of a few templates, where the suite does not say so."""

from collections.abc import Iterator, Sequence

from ...core.measures import FEW_CASES
from ...core.records import Case, Finding
from ...data.templates import templates
from .wording import templated_words

LOOKED_AT = 200
"""Cases of a functionality that are looked at; more would tell the same."""
TEMPLATED, WEIGHT = "templated", 5.0
FEW = 1 / 3
"""Templates for each case, below which cases do not stand alone."""


def few_templates(cases: Sequence[Case]) -> tuple[int, int] | None:
    """How many cases look like how many templates; None where they stand alone, are few, or have clusters."""
    if len(cases) < FEW_CASES or any(case.cluster for case in cases):
        return None
    looked_at = cases[:: -(-len(cases) // LOOKED_AT)]
    number = len(set(templates([" | ".join(case.examples[0]) for case in looked_at])))
    return (len(looked_at), number) if number < FEW * len(looked_at) else None


def templated(cases: Sequence[Case]) -> Iterator[Finding]:
    """That most functionalities look like fillings of a few templates, and that the suite names none."""
    by_name: dict[str, list[Case]] = {}
    for case in cases:
        by_name.setdefault(case.groups["functionality"], []).append(case)
    looked_at = {name: few_templates(members) for name, members in by_name.items()}
    few = {name: counts for name, counts in looked_at.items() if counts}
    if 2 * len(few) <= len(by_name):
        return
    name = min(few, key=lambda name: (few[name][1] / few[name][0], name))
    n, number = few[name]
    facts = {"functionalities": len(few), "cases": n, "templates": number}
    yield Finding(TEMPLATED, templated_words(name, n, number), (), WEIGHT, {"functionality": name}, facts)
