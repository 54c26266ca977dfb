"""Conclusions that rest on fewer templates than tell of others: a finding that says so."""

from collections.abc import Mapping
from typing import Any

from ..claims import ENOUGH_TEMPLATES, THESE_TEMPLATES
from ..errors import some
from ..records import Finding

WEIGHT = 10.0


def on_few_templates(concluded: Mapping[str, Mapping[str, Any]]) -> list[Finding]:
    """One finding about all conclusions, by name with their facts, that are for these templates only.

    >>> on_few_templates({"negation": {THESE_TEMPLATES: 2}, "typos": {}})[0].text
    'Concluded from fewer than 3 templates, so for new fillings of these only: negation (2)'
    >>> on_few_templates({"typos": {}})
    []
    """
    few = {name: int(facts[THESE_TEMPLATES]) for name, facts in concluded.items() if THESE_TEMPLATES in facts}
    if not few:
        return []
    names = some([f"{name} ({number})" for name, number in few.items()], 3)
    text = (
        f"Concluded from fewer than {ENOUGH_TEMPLATES} templates, so for new fillings of these only: {names}"
    )
    return [Finding("few templates", text, (), WEIGHT, facts={"templates": few})]
