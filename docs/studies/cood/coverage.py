"""Simulate the coverage of COOD's intervals through `compare`.

    python docs/studies/cood/coverage.py 400 > coverage.csv

The logit of a correct answer is the effect of its kind of cell plus the effects of seed and text. The text's effect
has the opposite sign in COOD, where misreading a text turns a wrong answer into a right one. The true value of an
interval is the mean over all seeds and texts.
"""

import csv
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace

import numpy as np

from shoal.core.records import Case, Measures, Outcome, Result
from shoal.protocols import cood
from shoal.protocols.cood.grid import CELLS, KINDS, ROLES, target

SEEDS, TEXTS = (2, 3, 5), (5, 20, 80)
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)


@dataclass(frozen=True)
class World:
    """A population with known rates."""

    rates: Mapping[str, float]
    """Logit by kind, for the median seed and text."""
    seeds: Mapping[str, float]
    """SD of the effect of a seed on the logit, by kind."""
    texts: float = 1.0

    def accuracy(self, kind: str) -> float:
        """Return the mean over all seeds and texts."""
        spread = np.hypot(self.seeds[kind], self.texts)
        return float(WEIGHTS @ _share(_logit(self.rates[kind]) + spread * NODES) / WEIGHTS.sum())

    def quantities(self) -> dict[str, float]:
        """Return the mean of every kind, the gap and the part beyond the shortcut."""
        means = {kind: self.accuracy(kind) for kind in KINDS}
        return means | {
            "gap": means["ID"] - means["COOD"],
            "beyond the shortcut": means["COOD"] - (1 - means["ID"]),
        }


NOTHING = dict.fromkeys(KINDS, 0.0)
WORLDS = {
    "seeds differ": World({"ID": 0.85, "COOD": 0.28, "OOD": 0.2}, {"ID": 0.1, "COOD": 0.5, "OOD": 0.3}),
    "seeds alike": World({"ID": 0.85, "COOD": 0.28, "OOD": 0.2}, NOTHING),
    "seeds decide": World({"ID": 0.85, "COOD": 0.4, "OOD": 0.3}, {"ID": 0.5, "COOD": 1.2, "OOD": 1.0}, 0.3),
    "near the edge": World({"ID": 0.97, "COOD": 0.03, "OOD": 0.03}, {"ID": 0.3, "COOD": 0.5, "OOD": 0.5}),
}


def _logit(share: float) -> float:
    return float(np.log(share / (1 - share)))


def _share(logit: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-logit))


def cases_of(texts: int) -> list[Case]:
    """Return cases for this number of test texts per class, each in its three cells."""
    return [
        Case(f"{cell}/{y}{number}", ((f"{y}{number} {cell}",),), (target(cell),),
             {"cell": cell, "kind": kind, "split": "test"}, f"{y}{number}", {"text": f"{y}{number}"})
        for cell, kind in CELLS.items() for y in [cell.partition("/")[0]] for number in range(texts)
    ]  # fmt: skip


def planted(
    world: World,
    cases: list[Case],
    seeds: list[int],
    setting: cood.Settings,
    rng: np.random.Generator,
    of_texts: np.ndarray,
) -> Iterator[Result]:
    """Return a result for each seed, on the same texts."""
    place = {text: number for number, text in enumerate(dict.fromkeys(case.meta["text"] for case in cases))}
    owners = np.array([place[case.meta["text"]] for case in cases])
    kinds = np.array([KINDS.index(case.groups["kind"]) for case in cases])
    logits = np.array([_logit(world.rates[kind]) for kind in KINDS])[kinds]
    logits = logits + world.texts * of_texts[owners] * np.where(kinds == KINDS.index("COOD"), -1, 1)
    spread = np.array([world.seeds[kind] for kind in KINDS])
    for seed in seeds:
        right = rng.random(len(cases)) < _share(logits + (spread * rng.normal(size=len(KINDS)))[kinds])
        outcomes = [Outcome(case.id, bool(passed)) for case, passed in zip(cases, right, strict=True)]
        settings = replace(setting, seed=seed)
        names = dict(zip(ROLES, ROLES, strict=True))
        about = {"roles": names, "words": names}
        job = {"protocol": "cood", "model": "hf:planted", "settings": asdict(settings), "about": about}
        yield Result(job, cases, outcomes, Measures(()), settings=settings)


def coverage(world: World, seeds: int, texts: int, times: int, start: int = 0) -> dict[str, float]:
    """Return how often each interval contains the true value, for two setups: K = 10 and K = 20."""
    truth, cases = world.quantities(), cases_of(texts)
    hits: dict[str, list[bool]] = {}
    rng = np.random.default_rng([start, seeds, texts])
    for number in range(times):
        of_texts = rng.normal(size=3 * texts)
        results = [
            result
            for k in (10, 20)
            for result in planted(
                world, cases, list(range(seeds)), cood.Settings(per_label=(k,)), rng, of_texts
            )
        ]
        compared = cood.compare(cood.Settings(seed=number), results)
        for row in compared.measures:
            name = row.groups.get("kind") or row.name
            if "cell" not in row.groups and name in truth and row.interval:
                low, high = row.interval
                hits.setdefault(name, []).append(low - 1e-9 <= truth[name] <= high + 1e-9)
    return {name: float(np.mean(held)) for name, held in hits.items()}


def main(times: int) -> None:
    """Print a line per world, number of seeds and number of texts."""
    writer = None
    for name, world in WORLDS.items():
        for seeds in SEEDS:
            for texts in TEXTS:
                shares = coverage(world, seeds, texts, times)
                row = {"world": name, "seeds": seeds, "texts per class": texts, "times": times}
                row |= {what: f"{share:.3f}" for what, share in shares.items()}
                if writer is None:
                    writer = csv.DictWriter(sys.stdout, list(row), lineterminator="\n")
                    writer.writeheader()
                writer.writerow(row)
                sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
