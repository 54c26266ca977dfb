"""Results from outcomes, without a model."""

from collections.abc import Mapping, Sequence
from typing import Any

from shoal import Case, Measures, Outcome, Result
from shoal.protocols.behaviour.score import measure
from shoal.protocols.behaviour.settings import Settings
from shoal.protocols.learning.settings import Settings as LearningSettings

Hits = Sequence[int | str | None]
"""1, 0, None (not applicable) or the text of an error, case by case."""


def result(
    hits: Mapping[str, Hits], templates: int | Mapping[str, Sequence[str]] | None = None, **job: Any
) -> Result:
    """Return a result from outcomes by functionality; the capability is the first letter of the functionality.

    `templates` is the number of templates of each functionality, or the template of every case.
    """
    cases, outcomes = [], []
    for name, own in hits.items():
        kind = "INV" if "inv" in name else "MFT"
        groups = {"functionality": name, "capability": name[:1] or "-", "test type": kind}
        for at, hit in enumerate(own):
            cluster = f"{name} {at % templates}" if isinstance(templates, int) else ""
            cluster = templates[name][at] if isinstance(templates, Mapping) else cluster
            cases.append(Case(f"{name}/{at}", ((f"text {at}",),), None, groups, cluster))
            passed = None if hit is None or isinstance(hit, str) else bool(hit)
            outcomes.append(Outcome(cases[-1].id, passed, None, hit if isinstance(hit, str) else ""))
    kind_of_settings = LearningSettings if job.get("protocol") == "learning" else Settings
    settings = kind_of_settings(**job.get("settings", {}))
    about = {"protocol": "behaviour", "model": "m", "settings": {}, **job}
    return Result(about, cases, outcomes, Measures(measure(cases, outcomes)), settings=settings)
