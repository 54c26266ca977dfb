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
from ..comparing.rules import as_rules
from ..comparing.view import gate_verdict, verdict_as_json
from ..core.display import frame, html_of
from ..core.errors import PlanError, some
from ..core.records import Measures, Result
from ..models.python import GivenLabels
from ..protocols import PROTOCOLS
from ..protocols.scores import each_run
from .results import audit_all, known_results, labelled, labels_and_settings
from .store import RunStore

LISTED = 5
"""The most failed rules that a text lists."""


@dataclass(frozen=True, slots=True, repr=False)
class Gate:
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

    def _repr_html_(self) -> str:
        return html_of(self)


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
    results = _results(things, protocol, labels, settings, into, "shoal.compare")
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
    checked = as_rules(rules)
    if baseline is None and (relative := next((rule for rule in checked if rule.is_relative), None)):
        raise PlanError(f"{relative}: no baseline to compare with", fix="baseline=RESULT")
    things = [result] if baseline is None else [result, baseline]
    judged, *earlier = _results(things, protocol, labels, settings, into, "shoal.gate")
    return Gate(judged, judge(checked, judged, earlier[0] if earlier else None))


def _results(
    things: Sequence[Any],
    protocol: str,
    labels: GivenLabels | None,
    settings: Mapping[str, Any],
    into: Path | str,
    where: str,
) -> list[Result]:
    """Return the result of each thing; models are audited on the same cases."""
    known = known_results(things, RunStore(Path(into)))
    models = [thing for thing, result in zip(things, known, strict=True) if result is None]
    if not models and (settings or labels is not None):
        names = [*settings, *(["labels"] if labels is not None else [])]
        raise PlanError(
            f"{where}: {some(f'{name}=' for name in names)} is for models that are audited here",
            why="results, jobs and result files are scored already",
            fix="leave it out, or give the model instead of its result",
        )
    first = next((str(result.job.get("protocol")) for result in known if result is not None), "")
    protocol = protocol or first or next(iter(PROTOCOLS))
    labels, values = labels_and_settings(protocol, labels, settings)
    audited = iter(audit_all([labelled(model, labels) for model in models], protocol, values, where=where))
    return [next(audited) if result is None else result for result in known]
