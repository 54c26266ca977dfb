"""The jobs of a plan as rows: one per configuration and method, its folds joined.

`docs/method/beluga.md` 1.3 and 1.5.

    hold out        the pass rates of a functionality come from
    none            the model trained on i.i.d. data only: "standard"
    seen            the model trained on the whole suite
    functionality   the model trained on the suite without it
    capability      the model trained on the suite without its capability
    test type       the model trained on the suite without its test type

A plan may be half done: seeds that are complete are scored, others report how many folds are done.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from ...core.errors import DataError, some
from ...core.records import Case, Result
from .iid import is_iid
from .settings import Config, Settings

Floats = NDArray[np.float64]
Positions = NDArray[np.int64]
Row = tuple[str, str]
"""Configuration and method."""

METHODS = ("vanilla", "l2", "dropout", "lp", "lp-ft", "irm", "group-dro", "fish", "lora")
"""In the order of the paper's Table 3; ours come last."""
F1_TASKS = ("paraphrase",)
"""Tasks that look for one of two labels."""
STANDARD = "none"
NOT_ASKED = -1
HOLD_OUTS = ("seen", "functionality", "capability", "test type")


@dataclass(frozen=True, slots=True)
class Training:
    """One job: its row, fold and seed."""

    model: str
    row: Row
    hold_out: str
    fold: str
    seed: int
    result: Result


def read_trainings(results: Sequence[Result]) -> list[Training]:
    """Return the jobs in a fixed order."""
    trainings: dict[tuple[Any, ...], Training] = {}
    for result in results:
        settings = result.job["settings"]
        if not settings.get("train"):
            continue
        train = settings["train"]
        row = _only(train["on"]), _only(train["method"])
        hold_out = _only(settings.get("hold_out") or STANDARD)
        model, fold = str(result.job["model"]), str(settings.get("fold") or "")
        training = Training(model, row, hold_out, fold, int(settings["seed"]), result)
        key = (training.model, _rank(row), training.hold_out, training.fold, training.seed)
        _refuse_another(trainings.get(key), training)
        trainings[key] = training
    ordered = [trainings[key] for key in sorted(trainings)]
    return [copy for training in ordered for copy in _for_every_seed(training, ordered)]


def _for_every_seed(training: Training, others: Sequence[Training]) -> list[Training]:
    """Return the training, and the untrained model once for every seed: it is the baseline of all."""
    train = training.result.job["settings"]["train"]
    if train.get("from_") != "model" or training.row[0] != "iid":
        return [training]
    seeds = sorted({training.seed, *(other.seed for other in others if other.model == training.model)})
    return [replace(training, seed=seed) for seed in seeds]


def _only(value: str | Sequence[str]) -> str:
    """Return the setting of one job from a list of one."""
    return value if isinstance(value, str) else value[0]


def _rank(row: Row) -> tuple[int, int, Row]:
    """Return the place in the paper's order; unknown names come last."""
    places = []
    for name, known in zip(row, (get_args(Config), METHODS), strict=True):
        places.append(known.index(name) if name in known else len(known))
    return places[0], places[1], row


def _refuse_another(earlier: Training | None, another: Training) -> None:
    if earlier is None or earlier.result.job.get("id") == another.result.job.get("id"):
        return
    a, b = earlier.result.job["settings"], another.result.job["settings"]
    differ = [name for name in a if a[name] != b.get(name)]
    raise DataError(
        f"two jobs for {' '.join(another.row)}, hold out {another.hold_out} {another.fold}".rstrip(),
        why=f"they differ in {some(differ)}" if differ else "their settings are the same",
        fix="compare them as two plans",
    )


def asks_part(result: Result) -> bool:
    """Return whether a held-out model was tested on its fold only."""
    return bool(result.job["settings"].get("hold_out_asks", "all") != "all")


def _every_case(jobs: Sequence[Training]) -> Sequence[Case]:
    """Return the cases of a model that was tested on all; until there is one, those of all folds together."""
    whole = next((job.result.cases for job in jobs if not asks_part(job.result)), None)
    if whole is not None:
        return whole
    return list({case.id: case for job in jobs for case in job.result.cases}.values())


@dataclass(frozen=True, slots=True)
class Waiting:
    """How far something is that is not complete: folds that are done, of all; with all done, the full model is not."""

    done: int
    folds: int

    @property
    def facts(self) -> dict[str, Any]:
        """The same as facts of a measure without a value."""
        return {"folds done": self.done, "folds": self.folds}


@dataclass(frozen=True, slots=True)
class Scenario:
    """The outcomes of one row with one thing held out, a column per complete seed."""

    row: Row
    hold_out: str
    seeds: tuple[int, ...]
    suite: Floats  # (suite cases, seeds): 1, 0, NaN
    failed: NDArray[np.bool_]  # (suite cases, seeds): no answer
    iid: Floats  # (i.i.d. cases, seeds); a mean over models where the settings say so
    functionalities: tuple[str, ...]
    """Those with outcomes: all, or those drawn to be held out."""
    waiting: Mapping[int, Waiting]
    """Of seeds that are not complete: how far they are."""
    whole: Waiting
    """How far all seeds are together."""

    @property
    def is_baseline(self) -> bool:
        """Whether nothing of the suite was trained on."""
        return self.row[0] == "iid"

    @property
    def groups(self) -> dict[str, str]:
        """Which it is, as the groups of its measures."""
        return {"config": self.row[0], "method": self.row[1], "hold out": self.hold_out}


class Trainings:
    """All jobs of one model, on one list of cases."""

    def __init__(
        self,
        settings: Settings,
        jobs: Sequence[Training],
        planned: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.settings, self.jobs, self.planned = settings, jobs, planned or {}
        self.cases: Sequence[Case] = _every_case(jobs)
        self.ids = [case.id for case in self.cases]
        beside = np.array([is_iid(case) for case in self.cases], dtype=bool)
        self.suite: Positions = np.flatnonzero(~beside)
        self.iid: Positions = np.flatnonzero(beside)
        self.seeds = sorted({job.seed for job in jobs})
        self.orders = [self._order(job.result) for job in jobs]
        self.index: dict[tuple[Row, str, int], dict[str, int]] = {}
        for number, job in enumerate(jobs):
            self.index.setdefault((job.row, job.hold_out, job.seed), {})[job.fold] = number

    @cached_property
    def functionalities(self) -> dict[str, Positions]:
        """The places of each functionality's cases among those of the suite, in the suite's order."""
        places: dict[str, list[int]] = {}
        for place, position in enumerate(self.suite.tolist()):
            places.setdefault(self.cases[position].groups["functionality"], []).append(place)
        return {name: np.array(members) for name, members in places.items()}

    def groups(self, functionality: str) -> dict[str, str]:
        """Functionality, capability and test type."""
        return dict(self.cases[self.suite[self.functionalities[functionality][0]]].groups)

    @cached_property
    def told_by_f1(self) -> NDArray[np.bool_] | None:
        """Which i.i.d. cases have the last of two labels, in tasks with F1; None in others."""
        if self.jobs[0].result.job.get("about", {}).get("task") not in F1_TASKS:
            return None
        labels = [str((self.cases[position].labels or ("",))[0]) for position in self.iid.tolist()]
        names = self.cases[self.suite[0]].meta.get("labels") or sorted(set(labels))
        return np.array([label == str(names[-1]) for label in labels]) if len(names) == 2 else None

    def word_f1(self, scenario: Scenario, seed: int) -> float | None:
        """The mean F1 of the words of one model's answers to i.i.d. questions; None where answers are labels."""
        number = self._folds(scenario.row, scenario.hold_out, seed).get("")
        measures = self.jobs[number].result.measures if number is not None else []
        return next((row.value for row in measures if row.name == "iid F1"), None)

    @property
    def rows(self) -> list[Row]:
        """Rows trained on the suite, done or planned, in the paper's order; without the baseline."""
        train = self.settings.train
        planned = {(config, method) for config in train.on for method in train.method}
        rows = {job.row for job in self.jobs} | planned
        return sorted((row for row in rows if row[0] != "iid"), key=_rank)

    @property
    def hold_outs(self) -> list[str]:
        """The scenarios that were or are to be; a plan of one fold trains on nothing else."""
        named = {*self.settings.hold_out, *(job.hold_out for job in self.jobs)}
        return [name for name in HOLD_OUTS if name in named or (name == "seen" and not self.settings.fold)]

    @property
    def iid_of_held_out(self) -> bool:
        """Whether the i.i.d. score inside G is the held-out models': a plan of one fold has no other model."""
        return "seen" not in self.hold_outs

    @property
    def baseline(self) -> Scenario | None:
        """The model trained on i.i.d. data only; None where there is none yet."""
        rows = {job.row for job in self.jobs if job.row[0] == "iid"}
        return self.scenario(min(rows), STANDARD) if rows else None

    def scenario(self, row: Row, hold_out: str) -> Scenario:
        """Return one row with one hold-out, its folds joined."""
        folds = {seed: self._folds(row, hold_out, seed) for seed in self.seeds}
        expected = 1 if hold_out in (STANDARD, "seen") else self._expected(hold_out)
        waiting = {
            seed: Waiting(len(done), expected)
            for seed, done in folds.items()
            if len(done) < expected or self._lacks_full_model(row, hold_out, seed)
        }
        complete = [seed for seed in self.seeds if seed not in waiting]
        parts = [self._joined(row, hold_out, seed, folds[seed]) for seed in complete]
        names = [name for name in self.functionalities if parts and all(name in part.names for part in parts)]

        def columns(name: str, length: int) -> Any:
            return (
                np.column_stack([getattr(part, name) for part in parts]) if parts else np.zeros((length, 0))
            )

        return Scenario(
            row,
            hold_out,
            tuple(complete),
            columns("hits", len(self.suite)),
            columns("failed", len(self.suite)).astype(bool),
            columns("iid", len(self.iid)),
            tuple(names),
            waiting,
            Waiting(sum(map(len, folds.values())), expected * len(self.seeds)),
        )

    def _lacks_full_model(self, row: Row, hold_out: str, seed: int) -> bool:
        """Whether the i.i.d. score inside G is to be that of a model that is not trained yet."""
        needs_full = hold_out not in (STANDARD, "seen") and not self.iid_of_held_out
        return needs_full and self._full_model(row, seed) is None

    def _folds(self, row: Row, hold_out: str, seed: int) -> dict[str, int]:
        """Fold to the job that left it out."""
        known = {""} if hold_out in (STANDARD, "seen") else self._values(hold_out)
        trained = self.index.get((row, hold_out, seed), {})
        return {fold: number for fold, number in trained.items() if fold in known}

    def _values(self, hold_out: str) -> set[str]:
        return {self.groups(name)[hold_out] for name in self.functionalities}

    def _expected(self, hold_out: str) -> int:
        """How many folds make a scenario complete."""
        values = self._values(hold_out)
        if hold_out in self.planned:
            planned = set(self.planned[hold_out])
            # Until a model that is tested on everything is done, only the values of finished folds are known.
            return len(planned if all(asks_part(job.result) for job in self.jobs) else values & planned)
        sample = self.settings.hold_out_sample if hold_out == "functionality" else 0
        return min(sample, len(values)) or len(values)

    def _joined(self, row: Row, hold_out: str, seed: int, folds: Mapping[str, int]) -> "_Joined":
        """The outcomes of each withheld unit by the model that did not see it, and the i.i.d. outcomes for G."""
        hits, failed = np.full(len(self.suite), np.nan), np.zeros(len(self.suite), dtype=bool)
        names: set[str] = set()
        for name, places in self.functionalities.items():
            fold = self.groups(name).get(hold_out, "") if "" not in folds else ""
            if fold not in folds and not self._never_trained_on(fold, hold_out):
                continue
            number = folds.get(fold, self._full_model(row, seed))
            if number is not None:
                hits[places], failed[places] = self._outcomes(number, self.suite[places])
                names.add(name)
        by_folds = hold_out in (STANDARD, "seen") or self.iid_of_held_out
        full = self._full_model(row, seed)
        models = list(folds.values()) if by_folds else [full] if full is not None else []
        return _Joined(hits, failed, self._iid(models), names)

    def _never_trained_on(self, fold: str, hold_out: str) -> bool:
        """Whether the training split has nothing of this: then nothing is left out, and no fold is planned."""
        planned = self.planned.get(hold_out)
        is_part = self.settings.fold or (hold_out == "functionality" and self.settings.hold_out_sample)
        return planned is not None and fold not in planned and not is_part

    def _full_model(self, row: Row, seed: int) -> int | None:
        return self._folds(row, "seen", seed).get("")

    def _iid(self, models: Sequence[int]) -> Floats:
        """The i.i.d. outcomes, averaged over models; NaN where there is none."""
        if not models:
            return np.full(len(self.iid), np.nan)
        each = np.column_stack([self._outcomes(number, self.iid)[0] for number in models])
        counts = (~np.isnan(each)).sum(axis=1)
        total = np.nansum(each, axis=1)
        mean: Floats = np.divide(total, counts, out=np.full(len(total), np.nan), where=counts > 0)
        return mean

    def _outcomes(self, number: int, positions: Positions) -> tuple[Floats, NDArray[np.bool_]]:
        order = self.orders[number]
        outcomes = self.jobs[number].result.outcomes
        places = positions if order is None else order[positions]
        asked = [outcomes[place] if place != NOT_ASKED else None for place in places.tolist()]
        passed = [None if outcome is None else outcome.passed for outcome in asked]
        hits = np.array([np.nan if one is None else float(one) for one in passed])
        return hits, np.array([outcome is not None and bool(outcome.error) for outcome in asked], dtype=bool)

    def _order(self, result: Result) -> Positions | None:
        """Where this result has each of our cases; None where it has them in our order.

        A fold may have been asked what it left out and nothing else: the table reads no more of it.
        """
        if result.cases is self.cases or (ids := [case.id for case in result.cases]) == self.ids:
            return None
        place = {name: position for position, name in enumerate(ids)}
        strange = place.keys() - set(self.ids) if asks_part(result) else place.keys() ^ set(self.ids)
        if strange:
            raise DataError(
                f"job {result.job.get('id', '')} was not asked the same cases as the others",
                why=f"it alone has or lacks {some(sorted(strange), 3)}",
                fix="run the plan again: its jobs share one list of cases",
            )
        return np.array([place.get(name, NOT_ASKED) for name in self.ids])


@dataclass(frozen=True, slots=True)
class _Joined:
    """One seed of a scenario."""

    hits: Floats
    failed: NDArray[np.bool_]
    iid: Floats
    names: set[str]


def undefined(trainings: Trainings, scenarios: Sequence[Scenario]) -> Iterator[str]:
    """The functionalities without a pass rate in some row: no case applies (`docs/method/beluga.md` 1.5, Φ)."""
    for name, places in trainings.functionalities.items():
        for scenario in scenarios:
            if name in scenario.functionalities and np.isnan(scenario.suite[places]).all(axis=0).any():
                yield name
                break
