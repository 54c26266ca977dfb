"""How large a comparison must be to find a difference: by simulation, with the test that `compare` makes.

    results of A, and of B if there are any ──► Pilot ──► drawn larger or smaller, a difference planted ──► p of compare

A pilot says what a formula would have to assume: how unlike the cases are, how cases of one template go together, on
how many cases two models differ, how far the runs of a recipe vary. Templates are drawn with all their cases, as many
from each group as the size asks for. Then the difference is planted:

    one checkpoint a side   a cluster that the two answer differently favours B with such a chance that the mean is
                            right; where they differ on too few cases for that, more clusters change, all one way
    several seeds a side    a case passes as often as it did in the pilot's runs, drawn towards its group's mean by one
                            run; runs shift all cases alike, as far as they did in the pilot beyond chance; B's cases
                            are shifted until the mean is right

On how many clusters two models differ, and how far runs vary, the pilot only estimates. Each simulation draws them anew
from what it leaves open, as `stats.power` does: sizes named keep their promise over pilots.

All groups differ alike. Pure: nothing here asks a model or reads a file.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import special

from ..claims import ALPHA, POWER
from ..errors import DataError, PlanError, nearest
from ..records import Measure, Result
from ..stats.intervals import Interval, sd_interval, wilson
from ..stats.seeds import recipe_mean
from .inference import p_of
from .quantities import Quantity, comparable
from .rows import Choices
from .sides import Sides, sides_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SIMULATIONS = 400
MOST_CASES = 200_000
MOST_SEEDS = 40
SEEDS = (2, 3, 5, 10, 20, MOST_SEEDS)
SHUFFLES = 999


@dataclass(frozen=True, slots=True)
class Group:
    """The pilot's cases of one group that the score is a mean over: a matrix of cases × runs for each side."""

    name: str
    a: Floats
    b: Floats | None
    clusters: Integers
    """From 0, without gaps; cases are in the order of their clusters."""

    @property
    def number(self) -> int:
        """How many clusters there are."""
        return int(self.clusters[-1]) + 1


@dataclass(frozen=True, slots=True)
class Pilot:
    """What is known beforehand."""

    name: str
    """Of the score."""
    measure: str
    groups: Sequence[Group]
    weights: Sequence[float] = ()
    differing: float | None = None
    """The share of cases on which two models differ, where only one model is known."""
    tests: int = 1
    """Rows of the table that p is adjusted over."""

    @property
    def cases(self) -> int:
        """How many the pilot has."""
        return sum(len(group.a) for group in self.groups)

    @property
    def clusters(self) -> int:
        """How many templates, or cases that stand alone."""
        return sum(group.number for group in self.groups)

    @property
    def seeds(self) -> int:
        """Runs of a side; the fewer of the two."""
        first = self.groups[0]
        return min(int(side.shape[1]) for side in (first.a, first.b) if side is not None)


@dataclass(frozen=True, slots=True)
class Size:
    """One size, and how often the difference was found there."""

    cases: int
    clusters: int
    seeds: int
    found: int
    simulations: int

    @property
    def power(self) -> float:
        """The share of simulations that found it."""
        return self.found / self.simulations

    @property
    def interval(self) -> Interval:
        """How well the simulation knows that."""
        return wilson(self.found, self.simulations)


@dataclass(frozen=True, slots=True)
class Sizing:
    """The answer."""

    pilot: Pilot
    difference: float
    power: float
    level: float
    """Of the test, after adjustment."""
    tried: Sequence[Size]
    as_pilot: Size
    by_cases: Size | None
    """The smallest tried with the pilot's seeds that finds it often enough; None where none does."""
    by_seeds: Size | None = None
    """The same with the pilot's cases and more seeds; None without several seeds."""
    run_sd: float | None = None
    run_sd_interval: Interval | None = None

    @property
    def measures(self) -> list[Measure]:
        """Everything as measures, as `--json` shows them."""
        about = {"difference": self.difference, "power": self.power, "level": self.level}
        rows = [
            Measure(
                "power",
                size.power,
                size.cases,
                {"cases": str(size.cases), "clusters": str(size.clusters), "seeds": str(size.seeds)},
                size.interval,
                "wilson, of simulations",
                facts={"difference": self.difference, "level": self.level, "simulations": size.simulations},
            )
            for size in self.tried
        ]
        needed: list[tuple[str, int | None]] = [
            ("cases needed", self.by_cases.cases if self.by_cases else None),
            ("clusters needed", self.by_cases.clusters if self.by_cases else None),
        ]
        if self.pilot.seeds > 1:
            needed.append(("seeds needed", self.by_seeds.seeds if self.by_seeds else None))
        for name, number in needed:
            facts = about | ({} if number else {"why": "more than were tried"})
            value = None if number is None else float(number)
            rows.append(Measure(name, value, self.pilot.cases, facts=facts))
        return rows


def make_pilot(
    a: Sequence[Result],
    b: Sequence[Result] = (),
    *,
    row: str = "",
    differing: float | None = None,
    adjust: bool = True,
) -> Pilot:
    """A pilot from results: one model, two, or several seeds of one or two recipes.

    `row` names another score than the headline; `adjust` says that it is one of all rows of a table.
    """
    if not all(result.outcomes for result in (*a, *b)):
        raise DataError(
            "a result without outcomes is no pilot: how each case went is not in it",
            fix="the model itself, or the job of a store",
        )
    quantities = [quantity for quantity in comparable(a[0], a[0].cases) if quantity.parts]
    quantity = _wanted(quantities, row)
    sides = sides_of(a, b or a, quantity.column)
    if quantity.few_templates(sides.clusters, sides.changes) is not None:
        sides = sides.case_by_case()
    if not all(np.isin(side[~np.isnan(side)], (0.0, 1.0)).all() for side in sides.hits):
        raise PlanError(
            f"{quantity.name}: its cases are no passes and failures",
            why="cases to come are drawn as passes and failures",
            fix="--row with a score that counts them",
        )
    if not b and len(a) == 1 and differing is None:
        raise PlanError(
            "one model does not say on how many cases two would differ",
            why="the more they differ, the more cases it takes to find the same difference",
            fix="a second model, such as the last release, or --differing 0.1",
        )
    if b and (len(a) > 1) != (len(b) > 1):
        raise PlanError(
            "one run against several", why="no test compares these", fix="several seeds on both sides"
        )
    groups = [_group(sides, name, members, bool(b)) for name, members in quantity.parts]
    known = [group for group in groups if group is not None]
    if not known or (quantity.weights and len(known) < len(groups)):
        raise DataError(f"{quantity.name}: no applicable case to draw from", fix="another pilot")
    return Pilot(
        quantity.name,
        quantity.measure.name,
        known,
        quantity.weights,
        None if b or len(a) > 1 else differing,
        len(quantities) if adjust else 1,
    )


def _wanted(quantities: Sequence[Quantity], row: str) -> Quantity:
    if not quantities:
        raise DataError(
            "there is nothing to compare",
            why="no measure of this result rests on cases",
            fix="a protocol whose measures are means over cases",
        )
    if not row:
        marked = [quantity for quantity in quantities if quantity.measure.facts.get("headline")]
        return (marked or list(quantities))[0]
    for quantity in quantities:
        if quantity.name == row:
            return quantity
    raise PlanError(
        f"no row {row!r}",
        fix=nearest(row, [quantity.name for quantity in quantities])
        or "a row of the table that compare shows",
    )


def _group(sides: Sides, name: str, members: Integers, both: bool) -> Group | None:
    """The common cases of one group, clusters side by side; None without any."""
    a, b = (side[members] for side in sides.common)
    known = ~np.isnan(np.hstack([a, b])).any(axis=1)
    if not known.any():
        return None
    owners = np.arange(len(members)) if sides.clusters is None else sides.clusters[members]
    _, owners = np.unique(owners[known], return_inverse=True)
    order = np.argsort(owners, kind="stable")
    return Group(name, a[known][order], b[known][order] if both else None, owners[order])


def plan_size(
    pilot: Pilot,
    difference: float,
    rng: Generator,
    power: float = POWER,
    simulations: int = SIMULATIONS,
    progress: Callable[[str], None] = lambda words: None,
) -> Sizing:
    """How many cases, and how many seeds where the pilot has several, find a difference with this power."""
    if not 0 < difference < 1:
        raise PlanError(
            f"a difference of {difference:g}", why="a share between 0 and 1", fix="--difference 0.05"
        )
    if not 0.5 <= power <= 0.99:
        raise PlanError(f"a power of {power:g}", why="between 0.5 and 0.99", fix="--power 0.8")
    world = _RunsWorld(pilot, difference) if pilot.seeds > 1 else _PairsWorld(pilot, difference)
    search = _Search(pilot, world, rng, ALPHA / pilot.tests, simulations, progress)
    as_pilot = search.at(1.0, pilot.seeds)
    by_cases = search.cases(power, pilot.seeds)
    by_seeds = search.seeds(power) if pilot.seeds > 1 else None
    sd = world.run_sd
    return Sizing(
        pilot,
        difference,
        power,
        ALPHA / pilot.tests,
        sorted(search.tried.values(), key=lambda size: (size.seeds, size.cases)),
        as_pilot,
        by_cases,
        by_seeds,
        sd,
        world.run_sd_interval,
    )


class _Search:
    """Sizes that were tried, each once."""

    def __init__(
        self,
        pilot: Pilot,
        world: "_PairsWorld | _RunsWorld",
        rng: Generator,
        level: float,
        simulations: int,
        progress: Callable[[str], None],
    ) -> None:
        self.pilot, self.world, self.rng, self.level = pilot, world, rng, level
        self.simulations, self.progress = simulations, progress
        # So many that p can be a tenth of the level of a large table.
        self.test = Choices(shuffles=max(SHUFFLES, math.ceil(10 / level)))
        self.tried: dict[tuple[int, int], Size] = {}

    def at(self, factor: float, seeds: int) -> Size:
        """How often the difference is found with so many times the pilot's clusters."""
        numbers = [max(2, round(factor * group.number)) for group in self.pilot.groups]
        key = sum(numbers), seeds
        if key not in self.tried:
            cases, found = 0, 0
            for _ in range(self.simulations):
                sides, parts = self.world.drawn(numbers, seeds, self.rng)
                p = p_of(parts, self.pilot.weights, sides, self.test)
                found += p is not None and p <= self.level
                cases += len(sides.hits[0])
            mean = round(cases / self.simulations)
            self.progress(f"{mean:,} cases, {seeds} seeds: {found / self.simulations:.0%}")
            self.tried[key] = Size(mean, sum(numbers), seeds, found, self.simulations)
        return self.tried[key]

    def cases(self, power: float, seeds: int) -> Size | None:
        """The smallest size with these seeds that reaches the power, within a tenth."""
        below, above = 0.0, 1.0
        while self.at(above, seeds).power < power:
            below, above = above, 2 * above
            if above * self.pilot.cases > MOST_CASES:
                return None
            if above >= 8 and self._is_flat(seeds, below, above):
                return None
        while above > 1.1 * below and above * min(group.number for group in self.pilot.groups) > 2:
            middle = self._between(below, above, seeds, power)
            if self.at(middle, seeds).power >= power:
                above = middle
            else:
                below = middle
        return self.at(above, seeds)

    def _is_flat(self, seeds: int, below: float, above: float) -> bool:
        """Whether more cases no longer help: with few seeds the runs decide."""
        gain = self.at(above, seeds).power - self.at(below / 2, seeds).power
        return seeds > 1 and gain < 2 / math.sqrt(self.simulations)

    def _between(self, below: float, above: float, seeds: int, power: float) -> float:
        """Where a straight line through both, on the scale where power is one, reaches it; never near an end."""
        if not below:
            return above / 2
        low, high = (_probit(self.at(factor, seeds)) for factor in (below, above))
        roots = math.sqrt(below), math.sqrt(above)
        share = (float(special.ndtri(power)) - low) / (high - low) if high > low else 0.5
        return (roots[0] + min(max(share, 0.25), 0.75) * (roots[1] - roots[0])) ** 2

    def seeds(self, power: float) -> Size | None:
        """The fewest seeds a side that reach the power with the pilot's cases."""
        below = 1
        for number in SEEDS:
            if self.at(1.0, number).power >= power:
                between = range(below + 1, number)
                return next(
                    (size for seeds in between if (size := self.at(1.0, seeds)).power >= power),
                    self.at(1.0, number),
                )
            below = number
        return None


def _probit(size: Size) -> float:
    return float(special.ndtri((size.found + 0.5) / (size.simulations + 1)))


# Worlds to draw from


class _PairsWorld:
    """Two checkpoints on the same cases, as unlike as the pilot's two or as `differing` says."""

    run_sd: float | None = None
    run_sd_interval: Interval | None = None

    def __init__(self, pilot: Pilot, difference: float) -> None:
        self.groups, self.differing = pilot.groups, pilot.differing
        self.differences = _by_group(pilot, difference)

    def drawn(self, numbers: Sequence[int], seeds: int, rng: Generator) -> "Drawn":
        """Both sides on as many clusters of each group as are asked for."""
        pieces = []
        for group, difference, number in zip(self.groups, self.differences, numbers, strict=True):
            net = _net(group)
            share = _share_that_differs(net, rng)
            plan = _planted(net, share, group, self.differing, difference)
            chosen = _chosen(net != 0, share, number, rng)
            rows, owners = _rows_of(group, chosen)
            favours = np.where(rng.random(number) < plan.share, plan.sign, -plan.sign)
            a, b = group.a[rows, 0], group.a[rows, 0] if group.b is None else group.b[rows, 0]
            swapped = (favours * net[chosen] < 0)[owners]
            a, b = np.where(swapped, b, a), np.where(swapped, a, b)
            changed = (rng.random(number) < plan.changed)[owners]
            better = (favours if group.b is None else np.full(number, plan.sign))[owners] > 0
            a, b = np.where(changed, ~better, a), np.where(changed, better, b)
            pieces.append((group.name, a[:, None], b[:, None], owners))
        return _put_together(pieces)


@dataclass(frozen=True, slots=True)
class _Plan:
    """How a difference is planted in one group."""

    sign: float
    share: float
    """Of the clusters that the two answer differently, those that favour the one that is to be better."""
    changed: float
    """The share of all clusters that is changed as a whole."""


def _share_that_differs(net: Floats, rng: Generator) -> float:
    """Of all clusters, as the pilot leaves it open: `stats.power`; 0 where none did, or one model is all there is."""
    differ = int((net != 0).sum())
    if differ in (0, len(net)):
        return float(differ > 0)
    return float(rng.beta(differ + 1.5, len(net) - differ + 0.5))


def _planted(net: Floats, share: float, group: Group, differing: float | None, difference: float) -> _Plan:
    sign, size = math.copysign(1.0, difference), abs(difference)
    if group.b is None:
        changed = max(differing or 0.0, size)
        return _Plan(sign, (1 + size / changed) / 2, changed)
    differ = 0.0
    if share:
        # Cases that differ among those drawn: of clusters that differ such a share, of the others the rest.
        moved, sizes, other = net != 0, np.bincount(group.clusters), 0.0
        if not moved.all():
            other = (1 - share) * float(sizes[~moved].mean())
        cases = share * float(sizes[moved].mean()) + other
        differ = min(1.0, share * float(np.abs(net[moved]).mean()) / cases)
    if size <= differ:
        return _Plan(sign, (1 + size / differ) / 2, 0.0)
    return _Plan(sign, 1.0, (size - differ) / (1 - differ))


def _chosen(differ: NDArray[np.bool_], share: float, number: int, rng: Generator) -> Integers:
    """Clusters drawn with replacement, such a share of them from those on which the models differ."""
    chosen = rng.integers(len(differ), size=number)
    if differ.any() and not differ.all():
        kinds = np.flatnonzero(~differ), np.flatnonzero(differ)
        drawn = [kind[rng.integers(len(kind), size=number)] for kind in kinds]
        chosen = np.where(rng.random(number) < share, drawn[1], drawn[0])
    return chosen


def _net(group: Group) -> Floats:
    """By cluster, how many cases more B passes than A."""
    change = np.zeros(len(group.a)) if group.b is None else group.b[:, 0] - group.a[:, 0]
    return np.bincount(group.clusters, change).astype(np.float64)


class _RunsWorld:
    """Two recipes, whose runs vary as the pilot's do."""

    def __init__(self, pilot: Pilot, difference: float) -> None:
        self.groups = pilot.groups
        self.variance, self.noise, self.degrees = _spread_of_runs(pilot)
        self.run_sd = self._beyond_noise(math.sqrt(self.variance))
        low, high = sd_interval(math.sqrt(self.variance), self.degrees + 1)
        self.run_sd_interval = self._beyond_noise(low), self._beyond_noise(high)
        self.first = [_chances(group.a) for group in pilot.groups]
        others = [_chances(group.a if group.b is None else group.b) for group in pilot.groups]
        wanted = _by_group(pilot, difference)
        means = np.array([chances.mean() for chances in self.first])
        for sign in (-1.0, 1.0):
            targets = means + sign * np.array(wanted)
            if ((targets > 0) & (targets < 1)).all():
                self.second = [
                    _shifted(chances, float(target)) for chances, target in zip(others, targets, strict=True)
                ]
                return
        raise PlanError(
            f"a difference of {difference:g} cannot be planted",
            why=f"the pilot passes between {means.min():.0%} and {means.max():.0%} of the groups' cases",
            fix="a smaller difference",
        )

    def _beyond_noise(self, sd: float) -> float:
        """What of a spread single outcomes do not explain."""
        return math.sqrt(max(0.0, sd**2 - self.noise))

    def drawn(self, numbers: Sequence[int], seeds: int, rng: Generator) -> "Drawn":
        """Both sides on as many clusters of each group as are asked for, with so many runs each."""
        variance = self.variance * self.degrees / rng.chisquare(self.degrees)
        shifts = rng.normal(0, self._beyond_noise(math.sqrt(variance)), (2, seeds))
        pieces = []
        for group, *sides, number in zip(self.groups, self.first, self.second, numbers, strict=True):
            rows, owners = _rows_of(group, rng.integers(group.number, size=number))
            a, b = (
                rng.random((len(rows), seeds)) < np.clip(chances[rows, None] + shift, 0, 1)
                for chances, shift in zip(sides, shifts, strict=True)
            )
            pieces.append((group.name, a, b, owners))
        return _put_together(pieces)


Drawn = tuple[Sides, list[tuple[str, Integers]]]


def _chances(outcomes: Floats) -> Floats:
    """How often each case passes: as in the pilot's runs, drawn towards the mean of its group by one run."""
    chances: Floats = (outcomes.sum(axis=1) + outcomes.mean()) / (outcomes.shape[1] + 1)
    return chances


def _shifted(chances: Floats, target: float) -> Floats:
    """The chances moved alike until their mean is the target, none beyond 0 and 1."""
    low, high = -1.0, 1.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if np.clip(chances + middle, 0, 1).mean() < target else (low, middle)
    return np.clip(chances + high, 0, 1)


def _spread_of_runs(pilot: Pilot) -> tuple[float, float, int]:
    """The variance over runs, what of it single outcomes explain, and its degrees of freedom; means over both sides."""
    clusters = [group.clusters for group in pilot.groups]
    variances, noises, degrees = [], [], 0
    for sides in (
        [group.a for group in pilot.groups],
        [group.b for group in pilot.groups if group.b is not None],
    ):
        if sides:
            seeds, runs = recipe_mean(sides, clusters).seeds, sides[0].shape[1]
            variances.append(runs * seeds.error**2)
            noises.append(runs * seeds.noise)
            degrees += runs - 1
    return math.fsum(variances) / len(variances), math.fsum(noises) / len(noises), degrees


def _rows_of(group: Group, chosen: Integers) -> tuple[Integers, Integers]:
    """The rows of the cases of these clusters, and which of the chosen each row belongs to."""
    sizes = np.bincount(group.clusters)
    starts = np.cumsum(sizes) - sizes
    owners = np.repeat(np.arange(len(chosen)), sizes[chosen])
    inside = np.arange(len(owners)) - np.repeat(np.cumsum(sizes[chosen]) - sizes[chosen], sizes[chosen])
    return starts[chosen][owners] + inside, owners


def _put_together(pieces: Sequence[tuple[str, NDArray[Any], NDArray[Any], Integers]]) -> Drawn:
    hits = [np.concatenate([piece[side] for piece in pieces]).astype(np.float64) for side in (1, 2)]
    parts, clusters, cases, before = [], [], 0, 0
    for name, outcomes, _, owners in pieces:
        parts.append((name, np.arange(cases, cases + len(outcomes))))
        clusters.append(owners + before)
        cases, before = cases + len(outcomes), before + int(owners[-1]) + 1
    every = np.concatenate(clusters)
    return Sides(hits, every if before < cases else None), parts


def _by_group(pilot: Pilot, difference: float) -> list[float]:
    """The difference in each group that makes one of the whole."""
    if not pilot.weights:
        return [difference] * len(pilot.groups)
    size = math.fsum(map(abs, pilot.weights))
    return [math.copysign(difference / size, weight) for weight in pilot.weights]
