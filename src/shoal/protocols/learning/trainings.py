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

from ...core.case_table import by_group
from ...core.errors import DataError, some
from ...core.records import Case, Result, verdicts_of
from .iid import is_iid
from .settings import Config, Method, Settings, Teach

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Positions = NDArray[np.int64]
Row = tuple[str, str]
"""Configuration and method."""

METHODS = get_args(Method)
F1_TASKS = ("paraphrase",)
"""Tasks that look for one of two labels."""
TAUGHT = "suite"
"""The configuration of a row that was shown the suite without a training by shoal."""
STORED = "stored"
"""The method of a row of stored predictions."""
TEACHING = (*get_args(Teach), STORED)
"""The methods of rows that are not trained."""
STANDARD = "none"
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
        row = row_of(settings)
        (hold_out,) = settings.get("hold_out") or (STANDARD,)
        model, fold, seed = str(result.job["model"]), str(settings.get("fold") or ""), int(settings["seed"])
        training = Training(model, row, hold_out, fold, seed, result)
        earlier = trainings.setdefault((model, _rank(row), hold_out, fold, seed), training)
        if earlier.result.job.get("id") != result.job.get("id"):
            others = earlier.result.job["settings"]
            differ = [name for name in others if others[name] != settings.get(name)]
            raise DataError(
                f"two jobs for {' '.join(row)}, hold out {hold_out} {fold}".rstrip(),
                why=f"they differ in {some(differ)}" if differ else "their settings are the same",
                fix="compare them as two plans",
            )
    ordered = [trainings[key] for key in sorted(trainings)]
    every = []
    for training in ordered:
        seeds = {training.seed}
        train = training.result.job["settings"]["train"]
        if train.get("from_") == "model" and training.row[0] == "iid":
            # The untrained model is the baseline of every seed.
            seeds = {other.seed for other in ordered if other.model == training.model}
        every += [replace(training, seed=seed) for seed in sorted(seeds)]
    return every


def row_of(settings: Mapping[str, Any]) -> Row:
    """Return the row of a job from its settings."""
    if any(settings.get("predictions", {}).values()):
        return ("iid" if settings["predictions"]["iid"] else TAUGHT), STORED
    if settings.get("teach"):
        (how,) = settings["teach"]
        return ("iid" if how == "nothing" else TAUGHT), how
    (config,), (method,) = settings["train"]["on"], settings["train"]["method"]
    return config, method


def _rank(row: Row) -> tuple[int, int]:
    """Return the place in the paper's order."""
    return (*get_args(Config), TAUGHT).index(row[0]), (*METHODS, *TEACHING).index(row[1])


def asks_part(result: Result) -> bool:
    """Return whether a held-out model was tested on its fold only."""
    return bool(result.job["settings"].get("hold_out_asks", "all") != "all")


@dataclass(frozen=True, slots=True)
class Scenario:
    """The outcomes of one row with one thing held out, a column per complete seed."""

    row: Row
    hold_out: str
    seeds: tuple[int, ...]
    suite: Floats  # (suite cases, seeds): 1, 0, NaN
    failed: Flags  # (suite cases, seeds): no answer
    iid: Floats  # (i.i.d. cases, seeds); a mean over models where the settings say so
    functionalities: tuple[str, ...]
    """Those with outcomes: all, or those drawn to be held out."""
    folds: tuple[int, int]
    """How many folds of all seeds are done, of how many. With all done, the model on the whole suite is not."""

    @property
    def is_baseline(self) -> bool:
        return self.row[0] == "iid"

    @property
    def groups(self) -> dict[str, str]:
        return {"config": self.row[0], "method": self.row[1], "hold out": self.hold_out}


class Trainings:
    """All jobs of one model, on one list of cases."""

    def __init__(
        self, settings: Settings, jobs: Sequence[Training], planned: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        self.settings, self.jobs, self.planned = settings, jobs, planned or {}
        whole = next((job.result.cases for job in jobs if not asks_part(job.result)), None)
        if whole is None:  # until a model was tested on everything
            whole = list({case.id: case for job in jobs for case in job.result.cases}.values())
        self.cases: Sequence[Case] = whole
        is_row = np.array([is_iid(case) for case in self.cases], np.bool_)
        self.suite: Positions = np.flatnonzero(~is_row)
        self.iid: Positions = np.flatnonzero(is_row)
        self.functionalities = by_group([self.cases[at] for at in self.suite.tolist()], "functionality")
        """The places of each functionality's cases among those of the suite."""
        self.seeds = sorted({job.seed for job in jobs})
        ids = [case.id for case in self.cases]
        self.verdicts = [_verdicts(job.result, self.cases, ids) for job in jobs]
        self.index: dict[tuple[Row, str, int], dict[str, int]] = {}
        for number, job in enumerate(jobs):
            self.index.setdefault((job.row, job.hold_out, job.seed), {})[job.fold] = number

    def groups(self, functionality: str) -> dict[str, str]:
        return dict(self.cases[self.suite[self.functionalities[functionality][0]]].groups)

    @cached_property
    def has_last_label(self) -> Flags | None:
        """Whether an i.i.d. case has the last of two labels, in tasks with F1; None in others."""
        if self.jobs[0].result.job.get("about", {}).get("task") not in F1_TASKS:
            return None
        labels = [str((self.cases[position].labels or ("",))[0]) for position in self.iid.tolist()]
        names = self.cases[self.suite[0]].meta.get("labels") or sorted(set(labels))
        return np.array([label == str(names[-1]) for label in labels]) if len(names) == 2 else None

    def f1(self, scenario: Scenario, column: int) -> float | None:
        """Return the F1 of a run: of the last label in tasks that look for it, of the words of answers in words."""
        if self.has_last_label is not None:  # `docs/method/beluga.md` 1.5
            return f1_of(self.has_last_label, scenario.iid[:, column])
        number = self._folds(scenario.row, scenario.hold_out, scenario.seeds[column]).get("")
        measures = self.jobs[number].result.measures if number is not None else []
        return next((row.value for row in measures if row.name == "iid F1"), None)

    @property
    def rows(self) -> list[Row]:
        """Rows trained on the suite, done or planned, in the paper's order; without the baseline."""
        settings, train = self.settings, self.settings.train
        rows = {job.row for job in self.jobs if job.row[0] != "iid"}
        if settings.is_stored or settings.teach:
            taught = (STORED,) if settings.is_stored else settings.teach
            rows |= {(TAUGHT, how) for how in taught if how != "nothing"}
        else:
            rows |= {(config, method) for config in train.on if config != "iid" for method in train.method}
        return sorted(rows, key=_rank)

    @property
    def hold_outs(self) -> list[str]:
        """The scenarios that were or are to be; a plan of one fold trains on nothing else."""
        named = {*self.settings.scenarios, *(job.hold_out for job in self.jobs)}
        return [name for name in HOLD_OUTS if name in named or (name == "seen" and not self.settings.fold)]

    @property
    def iid_of_held_out(self) -> bool:
        """Whether the i.i.d. score inside G is the held-out models': a plan of one fold has no other model."""
        return self.settings.s_iid_mode == "mean_over_heldout" or "seen" not in self.hold_outs

    @property
    def baseline(self) -> Scenario | None:
        """The model trained on i.i.d. data only; None where there is none yet."""
        rows = {job.row for job in self.jobs if job.row[0] == "iid"}
        return self.scenario(min(rows), STANDARD) if rows else None

    def scenario(self, row: Row, hold_out: str) -> Scenario:
        """Return one row with one hold-out, its folds joined."""
        by_seed = {seed: self._folds(row, hold_out, seed) for seed in self.seeds}
        expected = self._expected(hold_out)
        complete = {
            seed: folds
            for seed, folds in by_seed.items()
            if len(folds) >= expected and self._iid_models(row, hold_out, seed)
        }
        suite = np.full((len(self.suite), len(complete)), np.nan)
        failed = np.zeros(suite.shape, dtype=bool)
        iid = np.full((len(self.iid), len(complete)), np.nan)
        names = list(self.functionalities) if complete else []
        for column, (seed, folds) in enumerate(complete.items()):
            models = self._models(row, hold_out, seed, folds)
            names = [name for name in names if name in models]
            for name, number in models.items():
                places = self.functionalities[name]
                suite[places, column], failed[places, column] = self._outcomes(number, self.suite[places])
            each = [self._outcomes(number, self.iid)[0] for number in self._iid_models(row, hold_out, seed)]
            with np.errstate(invalid="ignore"):  # rows without an outcome: 0/0
                iid[:, column] = np.nansum(each, axis=0) / (~np.isnan(each)).sum(axis=0)
        done = sum(map(len, by_seed.values())), expected * len(self.seeds)
        return Scenario(row, hold_out, tuple(complete), suite, failed, iid, tuple(names), done)

    def _folds(self, row: Row, hold_out: str, seed: int) -> dict[str, int]:
        """Return the job that held each fold out."""
        known, trained = self._values(hold_out), self.index.get((row, hold_out, seed), {})
        return {fold: number for fold, number in trained.items() if fold in known}

    def _values(self, hold_out: str) -> set[str]:
        """Return what the folds leave out; stored predictions have joined theirs."""
        if hold_out in (STANDARD, "seen") or self.settings.is_stored:
            return {""}
        return {self.groups(name)[hold_out] for name in self.functionalities}

    def _expected(self, hold_out: str) -> int:
        """Return how many folds make a scenario complete."""
        values = self._values(hold_out)
        if hold_out in self.planned:
            planned = set(self.planned[hold_out])
            # Until a model that is tested on everything is done, only the values of finished folds are known.
            return len(planned if all(asks_part(job.result) for job in self.jobs) else values & planned)
        sample = self.settings.hold_out_sample if hold_out == "functionality" else 0
        return min(sample, len(values)) or len(values)

    def _models(self, row: Row, hold_out: str, seed: int, folds: Mapping[str, int]) -> dict[str, int]:
        """Return the job that did not see each functionality; no entry for one that was not drawn."""
        full, planned = self._folds(row, "seen", seed).get(""), self.planned.get(hold_out)
        is_part = self.settings.fold or (hold_out == "functionality" and self.settings.hold_out_sample)
        models = {}
        for name in self.functionalities:
            fold = self.groups(name).get(hold_out, "") if "" not in folds else ""
            if fold in folds:
                models[name] = folds[fold]
            elif full is not None and planned is not None and fold not in planned and not is_part:
                # The training split has nothing of it, so that nothing is left out and no fold is planned.
                models[name] = full
        return models

    def _iid_models(self, row: Row, hold_out: str, seed: int) -> list[int]:
        """Return the jobs whose i.i.d. outcomes enter G; none while the one on the whole suite is not done."""
        by_folds = hold_out in (STANDARD, "seen") or self.iid_of_held_out
        return list(self._folds(row, hold_out if by_folds else "seen", seed).values())

    def _outcomes(self, number: int, positions: Positions) -> tuple[Floats, Flags]:
        letters = self.verdicts[number][positions]
        return np.where(letters == "1", 1.0, np.where(letters == "0", 0.0, np.nan)), letters == "e"


def _verdicts(result: Result, cases: Sequence[Case], ids: Sequence[str]) -> NDArray[np.str_]:
    """Return the verdict of a result on each of our cases; "-" for those that it was not tested on."""
    letters = np.array([*verdicts_of(result.outcomes), "-"])
    if result.cases is cases or (own := [case.id for case in result.cases]) == ids:
        return letters[:-1]
    place = {name: position for position, name in enumerate(own)}
    strange = place.keys() - set(ids) if asks_part(result) else place.keys() ^ set(ids)
    if strange:
        raise DataError(
            f"job {result.job.get('id', '')} was not asked the same cases as the others",
            why=f"it alone has or lacks {some(sorted(strange), 3)}",
            fix="run the plan again: its jobs share one list of cases",
        )
    return letters[[place.get(name, -1) for name in ids]]


def undefined(trainings: Trainings, scenarios: Sequence[Scenario]) -> Iterator[str]:
    """Yield functionalities without an applicable case in some row (`docs/method/beluga.md` 1.5, Φ)."""
    for name, places in trainings.functionalities.items():
        known = [scenario for scenario in scenarios if name in scenario.functionalities]
        if any(np.isnan(scenario.suite[places]).all(axis=0).any() for scenario in known):
            yield name


def f1_of(wanted: Flags, hits: Floats) -> float | None:
    """Return the F1 of a label from which rows have it and which are right; a mean over models counts in parts.

    >>> f1_of(np.array([True, True, False, False]), np.array([1.0, 0.0, 1.0, 0.0]))
    0.5
    """
    known = ~np.isnan(hits)
    right, missed = hits[known & wanted].sum(), (1 - hits[known & wanted]).sum()
    alarms = (1 - hits[known & ~wanted]).sum()
    total = 2 * right + missed + alarms
    return float(2 * right / total) if total else None
