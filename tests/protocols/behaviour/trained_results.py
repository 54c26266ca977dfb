"""Results of behavioural-learning jobs made by hand: no model, outcomes as given."""

from collections.abc import Mapping, Sequence

from shoal import Case, Measures, Outcome, Result
from shoal.protocols.behaviour.iid import IID
from shoal.protocols.behaviour.settings import Settings, Train

Hits = Sequence[int | str | None]
"""1, 0, None (not applicable) or an error's text."""


def job(
    suite: Mapping[str, Hits],
    iid: Hits,
    config: str = "iid",
    method: str = "vanilla",
    hold_out: str = "none",
    fold: str = "",
    seed: int = 0,
    *,
    model: str = "tiny:m",
    clusters: Mapping[str, Sequence[str]] | None = None,
) -> Result:
    """One job. A functionality is named "capability.name.TYPE"; the i.i.d. outcomes come last."""
    cases, outcomes = [], []
    for name, hits in [*suite.items(), (IID, iid)]:
        parts = name.split(".") if name != IID else [IID, IID, "MFT"]
        groups = {"functionality": name, "capability": parts[0], "test type": parts[-1]}
        for at, hit in enumerate(hits):
            cluster = (clusters or {}).get(name, [""] * len(hits))[at]
            cases.append(Case(f"{name}/{at}", ((f"text {at}",),), None, groups, cluster))
            passed = None if hit is None or isinstance(hit, str) else bool(hit)
            outcomes.append(Outcome(cases[-1].id, passed, None, hit if isinstance(hit, str) else ""))
    settings = {
        "train": {"on": [config], "method": [method]},
        "hold_out": [hold_out],
        "fold": fold,
        "seed": seed,
    }
    name = "-".join([model, config, method, hold_out, fold, str(seed)])
    return Result({"id": name, "model": model, "settings": settings}, cases, outcomes, Measures([]))


def settings(
    *,
    on: Sequence[str] = ("iid",),
    method: Sequence[str] = ("vanilla",),
    hold_out: Sequence[str] = (),
    **others: object,
) -> Settings:
    """A plan's table; few draws unless asked for more."""
    train = Train(on=tuple(on), method=tuple(method))  # type: ignore[arg-type]
    quick: dict[str, object] = {"resamples": 200, "shuffles": 500}
    return Settings(train=train, hold_out=tuple(hold_out), **(quick | others))  # type: ignore[arg-type]
