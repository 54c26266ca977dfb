"""`shoal.compare` and `shoal.gate`: the two decisions, from results, jobs, files or models.

results, names, models ──► results ──► comparing/ ──► Comparison, Gate
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..comparing.gate import Verdict, judge
from ..comparing.inference import Choices, Over
from ..comparing.pairs import Comparison
from ..comparing.pairs import compare as compare_results
from ..comparing.rules import read_rules
from ..comparing.view import gate_verdict, verdict_as_json
from ..core.display import frame
from ..core.errors import PlanError
from ..core.records import Measures, Result, ShownInNotebook
from ..models.python import GivenLabels
from ..protocols.scores import each_run
from .results import find_results

LISTED = 5
"""The most failed rules that a text lists."""


@dataclass(frozen=True, slots=True, repr=False)
class Gate(ShownInNotebook):
    """A result judged by rules."""

    result: Result
    verdicts: Sequence[Verdict]

    @property
    def met(self) -> bool:
        """Whether every rule is met."""
        return not self.failed

    @property
    def failed(self) -> list[Verdict]:
        """The verdicts that are not met: an unusable model first, then the worst; what could not be judged last."""
        missed = [verdict for verdict in self.verdicts if not verdict.is_met]
        return sorted(missed, key=lambda row: (row.judged is None and row.status != "error", row.room))

    @property
    def measures(self) -> Measures:
        """The judged measures, or their differences from the baseline."""
        return Measures(verdict.measure for verdict in self.verdicts)

    def to_pandas(self) -> Any:
        """Return a pandas table with a row per rule and group: status, limit, value, n, reason."""
        return frame(map(verdict_as_json, self.verdicts))

    def __repr__(self) -> str:
        lines = [f"<Gate: {gate_verdict(self.verdicts)[0]}>", *map(repr, self.failed[:LISTED])]
        more = len(self.failed) - LISTED
        lines += [f"… {more} more"] if more > 0 else []
        return "\n".join([*lines, "Look at: .met, .failed, .to_pandas()"])


def compare(
    a: Any,
    b: Any,
    *,
    protocol: str = "",
    labels: GivenLabels | None = None,
    over: Over = "cases",
    into: Path | str = "runs",
    **settings: Any,
) -> Comparison:
    """Compare two models on the same cases; every difference is B minus A.

    `a` and `b` are results, jobs of the store `into`, or models as in `audit`, which are audited here under the
    settings; a list holds several runs of one recipe.

    >>> import shoal
    >>> comparison = shoal.compare("predictions:example", "tiny:sentiment", suite="sentiment")
    >>> comparison.overall.lost, comparison.overall.gained
    (208, 271)
    """
    sides = [list(side) if isinstance(side, list | tuple) else [side] for side in (a, b)]
    things = [*sides[0], *sides[1]]
    results = find_results(things, protocol, settings, Path(into), labels=labels, where="shoal.compare")
    split = len(sides[0])
    runs_a, runs_b = (
        [run for result in side for run in each_run(result)] for side in (results[:split], results[split:])
    )
    return compare_results(runs_a, runs_b, Choices(over=over))


def gate(
    result: Any,
    rules: Path | str | Sequence[Mapping[str, Any]],
    baseline: Any = None,
    *,
    protocol: str = "",
    labels: GivenLabels | None = None,
    into: Path | str = "runs",
    **settings: Any,
) -> Gate:
    """Judge a result by rules: a TOML file, or a list of dictionaries with the same keys.

    `result` and `baseline` are results, result files, jobs of the store `into`, or models as in `audit`.

    >>> import shoal
    >>> result = shoal.audit("behaviour", "predictions:example", suite="sentiment")
    >>> shoal.gate(result, [{"at_least": 0.5}, {"capability": "negation", "at_least": 0.9}])
    <Gate: Gate not met: 1 of 2 rules failed>
    <✗ negation: 25.0 %, limit ≥ 90.0 %>
    Look at: .met, .failed, .to_pandas()
    """
    checked = read_rules(rules)
    if baseline is None and (relative := next((rule for rule in checked if rule.is_relative), None)):
        raise PlanError(f"{relative}: no baseline to compare with", fix="baseline=RESULT")
    things = [result] if baseline is None else [result, baseline]
    judged, *earlier = find_results(things, protocol, settings, Path(into), labels=labels, where="shoal.gate")
    return Gate(judged, judge(checked, judged, earlier[0] if earlier else None))
