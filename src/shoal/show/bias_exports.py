"""Bias diagnostics over checkpoints as CSV (`docs/method/bias.md` 5.7): fractions, every digit, empty if undefined.

likelihood            a row per diagnostic, category and checkpoint: ss, lms, icat, ties
likelihood_summary    a row per diagnostic, category and score: mean, SD with its interval, floor, ratio, flags
item_disagreement     how many items have so many checkpoints against the majority
seat, seat_summary    effect sizes and p by test, representation and checkpoint; their spread, signs and significance
clusters              accuracy beside chance by pair of concepts, representation and checkpoint
downstream            fine-tuned scores, and whether they are equivalent

A `size` is a recipe, a `run` one of its checkpoints: the paper compares BERTs of two sizes.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from ..protocols.bias.family import LIKELIHOOD, Family, families
from ..protocols.bias.seat import partitions_of
from ..records import Measure, Result
from .exports import rows_as_csv

SCORES = {"stereotype score": "ss", "language modelling score": "lms", "icat": "icat"}
OVER_RUNS = {
    "mean over checkpoints": "mean",
    "sd over checkpoints": "sd",
    "lowest checkpoint": "min",
    "highest checkpoint": "max",
}
FLOOR = {"floor sd": "floor_sd", "over-dispersion ratio": "ratio"}
SIGNS = {
    "sign agreement": "sign_agreement",
    "significant share": "significant_share",
    "p value over checkpoints": "p_over_runs",
}

Row = dict[str, Any]


def bias_tables(results: Sequence[Result], compared: Sequence[Measure]) -> dict[str, str]:
    """The tables that there is something for, by name."""
    found = families(results)
    made = {
        "likelihood": _likelihood(found),
        "likelihood_summary": _likelihood_summary(compared),
        "item_disagreement": _disagreement(compared),
        "seat": _seat(found),
        "seat_summary": _seat_summary(compared),
        "clusters": _clusters(found),
        "downstream": _downstream(compared),
    }
    tables = {name: list(rows) for name, rows in made.items()}
    return {name: rows_as_csv(rows) for name, rows in tables.items() if rows}


# Checkpoint by checkpoint


def _likelihood(found: Sequence[Family]) -> Iterator[Row]:
    for family in found:
        if family.diagnostic not in LIKELIHOOD:
            continue
        for slice_, _ in family.slices("stereotype score"):
            scores = {column: family.values(name, slice_) for name, column in SCORES.items()}
            for at, (name, result) in enumerate(family.results.items()):
                yield {
                    "test": family.diagnostic, "task": slice_.get("task", ""), "category": slice_["category"],
                    "size": family.recipe, "run": name, "epoch": slice_.get("epoch", ""), "n": _n(result, slice_),
                    **{column: values[at] for column, values in scores.items()},
                    "n_tie": None if "epoch" in slice_ else _ties(result, slice_),
                }  # fmt: skip


def _n(result: Result, slice_: dict[str, str]) -> int | None:
    rows = result.measures.where("stereotype score", **slice_)
    return next((row.n for row in rows if ("epoch" in row.groups) == ("epoch" in slice_)), None)


def _ties(result: Result, slice_: dict[str, str]) -> int:
    """Items of a slice that prefer neither side."""
    scored = [outcome for outcome in result.outcomes if outcome.value is not None]
    undecided = {outcome.case_id for outcome in scored if outcome.passed is None or outcome.value == 0}
    return sum(
        case.id in undecided and all(value in ("all", case.groups.get(key)) for key, value in slice_.items())
        for case in result.cases
    )


def _seat(found: Sequence[Family]) -> Iterator[Row]:
    for family in found:
        for name, result in family.results.items() if family.diagnostic == "seat" else ():
            for effect in result.measures.where("effect size"):
                ps = result.measures.where("p value", **effect.groups)
                p = next(row for row in ps if row.groups == effect.groups)
                partitions, exact = partitions_of(p) or (None, None)
                yield {
                    "test": effect.groups["test"], "size": family.recipe, "run": name,
                    "representation": family.representation, "epoch": effect.groups.get("epoch", ""),
                    "d": effect.value, "p": p.value, "exact": exact, "n_perm": partitions,
                }  # fmt: skip


def _clusters(found: Sequence[Family]) -> Iterator[Row]:
    for family in found:
        for slice_, n in family.slices("cluster accuracy"):
            accuracies, chances = (
                family.values(name, slice_) for name in ("cluster accuracy", "chance accuracy")
            )
            for name, accuracy, chance in zip(family.names, accuracies, chances, strict=True):
                yield {
                    "test": slice_["test"], "category": slice_["category"], "size": family.recipe, "run": name,
                    "representation": family.representation, "epoch": slice_.get("epoch", ""), "n": n,
                    "accuracy": accuracy, "chance": chance,
                }  # fmt: skip


# Over checkpoints


def _likelihood_summary(compared: Sequence[Measure]) -> Iterator[Row]:
    rows = [row for row in compared if row.groups.get("of") in SCORES]
    for groups, own in _by_groups(rows):
        yield {
            "test": groups["diagnostic"], "task": groups.get("task", ""), "category": groups["category"],
            "size": groups["recipe"], "score": SCORES[groups["of"]], **_spread(own),
            **{column: _value(own, name) for name, column in FLOOR.items()},
            "flags": _flags(own.get("sd over checkpoints")),
        }  # fmt: skip


def _disagreement(compared: Sequence[Measure]) -> Iterator[Row]:
    for row in compared:
        if row.name == "share of items":
            yield {
                "test": row.groups["diagnostic"], "size": row.groups["recipe"],
                "runs_against_majority": row.groups["checkpoints against the majority"],
                "share": row.value, "items": row.n,
            }  # fmt: skip


def _seat_summary(compared: Sequence[Measure]) -> Iterator[Row]:
    rows = [
        row
        for row in compared
        if row.groups.get("diagnostic") == "seat" and "test" in row.groups and "checkpoint" not in row.groups
    ]
    for groups, own in _by_groups(rows, leave_out=("of",)):
        yield {
            "test": groups["test"], "size": groups["recipe"], "representation": groups["representation"],
            **_spread(own), **{column: _value(own, name) for name, column in SIGNS.items()},
        }  # fmt: skip


def _downstream(compared: Sequence[Measure]) -> Iterator[Row]:
    names = ("downstream score", None)
    rows = [row for row in compared if "diagnostic" not in row.groups and row.groups.get("of") in names]
    for groups, own in _by_groups([row for row in rows if "task" in row.groups], leave_out=("of",)):
        test = own.get("equivalence p value")
        low, high = (test.interval if test else None) or (None, None)
        yield {
            "task": groups["task"], "size": groups["recipe"], **_spread(own),
            "equivalence_p": test.value if test else None, "low_90": low, "high_90": high,
        }  # fmt: skip


def _by_groups(
    rows: Sequence[Measure], leave_out: Sequence[str] = ()
) -> Iterator[tuple[dict[str, str], dict[str, Measure]]]:
    """Measures about the same thing together, by name."""
    found: dict[tuple[tuple[str, str], ...], dict[str, Measure]] = {}
    for row in rows:
        key = tuple((name, value) for name, value in row.groups.items() if name not in leave_out)
        found.setdefault(key, {})[row.name] = row
    for key, own in found.items():
        yield dict(key), own


def _spread(own: dict[str, Measure]) -> Row:
    line = {column: _value(own, name) for name, column in OVER_RUNS.items()}
    sd = own.get("sd over checkpoints")
    low, high = (sd.interval if sd else None) or (None, None)
    before = {key: line.pop(key) for key in ("mean", "sd")}
    return {**before, "sd_low": low, "sd_high": high, **line}


def _value(own: dict[str, Measure], name: str) -> float | None:
    return own[name].value if name in own else None


def _flags(sd: Measure | None) -> str:
    """What stands behind the number of checkpoints in the note of an SD, and behind how many of them have none."""
    parts = sd.note.split("; ")[1:] if sd else []
    return "; ".join(part for part in parts if not part.startswith("undefined"))
