"""Scores over pre-training: Figure 2 of the paper for every score, the mean over runs with its band.

Moments are the epochs at which a model that is pre-trained here was asked (`pretrain.ask_after`), or the steps of the
checkpoints of a group (`[groups.NAME] models, steps, seeds`).
"""

from collections.abc import Iterator, Sequence

from ...core.records import Measure, Measures
from ...core.views import Curves
from ...core.views import Line as Curve
from .family import MOMENTS, OVER_RUNS, Family, Line, axes, by_groups, columns_of, moment, spread_measures

CHANCE = "chance accuracy"
PICTURES = (
    ("stereotype score",),
    ("language modelling score",),
    ("icat",),
    ("effect size",),
    ("cluster accuracy", CHANCE),
)
"""Scores that stand in one picture."""
SCORES = tuple(score for picture in PICTURES for score in picture)
MOST = 8
"""Lines of a picture; the file has them all."""


def over_training(family: Family) -> Iterator[Measure]:
    """Every score at every earlier moment over the runs that were asked then; the end is told by each diagnostic."""
    for name in SCORES:
        for slice_, n in family.slices(name):
            if moment(slice_):
                yield from spread_measures(name, family.values(name, slice_), n, {**family.groups, **slice_})


def blocks(family: Family, measures: Measures) -> list[Curves]:
    """A picture for each kind of score: one line per thing that is scored, all categories together."""
    curves = []
    for picture in PICTURES:
        lines = list(_lines(family, Measures(row for row in measures if row.groups.get("of") in picture)))
        if not lines:
            continue
        more = [f"… and {len(lines) - MOST} more lines: over_training.csv"] if len(lines) > MOST else []
        axis = "step" if any("step" in row.groups for row in measures) else "epoch"
        curves.append(Curves(axis, lines[:MOST], title=f"{picture[0]} over training", legend=more))
    return curves


def _lines(family: Family, rows: Measures) -> Iterator[Curve]:
    for about, points in _by_slice(rows.where("mean over checkpoints")):
        whole = about.get("test") or about.get("category") == "all"
        if whole and len(points) > 1:
            named = [(float(moment(row.groups) or family.last), row) for row in points]
            chance = about["of"] == CHANCE
            title = " ".join([*_title(about), *(["by chance"] if chance else [])])
            yield Curve(title, sorted(named, key=lambda point: point[0]), "quiet" if chance else "")


def _title(about: dict[str, str]) -> list[str]:
    """What a line is about, without what is the same in all."""
    words = [about.get("task", ""), about.get("test", ""), about.get("category", "")]
    return [word for word in words if word and word != "all"] or ["all"]


def _by_slice(rows: Sequence[Measure]) -> Iterator[tuple[dict[str, str], list[Measure]]]:
    """The means of one thing at all moments."""
    together: dict[tuple[tuple[str, str], ...], list[Measure]] = {}
    for row in rows:
        key = tuple((name, value) for name, value in row.groups.items() if name not in MOMENTS)
        together.setdefault(key, []).append(row)
    for key, points in together.items():
        yield dict(key), points


def file(family: Family, measures: Measures) -> list[Line]:
    """Every score at every moment, the end included; nothing where there is only the end."""
    if not any(moment(row.groups) for row in measures):
        return []
    rows = [row for row in measures if row.groups.get("of") in SCORES and row.name in OVER_RUNS]
    return [
        {
            "test": groups.get("test", groups["diagnostic"]), "task": groups.get("task", ""),
            "category": groups.get("category", ""), "size": family.recipe,
            "representation": family.representation, "score": groups["of"],
            **(axes(groups) if moment(groups) else _at_end(family, measures)), **columns_of(named, OVER_RUNS),
        }
        for groups, named in by_groups(rows)
    ]  # fmt: skip


def _at_end(family: Family, measures: Measures) -> Line:
    axis = next(axis for axis in MOMENTS if any(axis in row.groups for row in measures))
    return {name: f"{family.last:.0f}" if name == axis else "" for name in MOMENTS}
