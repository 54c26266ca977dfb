"""Across checkpoints: what is stable, what is not, and what may be concluded."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ...records import Measure, Result
from ...stats.paired import smallest_sign_flip_p
from .associations import associations, between_representations, separability
from .downstream import across_diagnostics, equivalence
from .family import LIKELIHOOD, WANTED, Family, families, several
from .settings import Settings
from .spread import spread


def compare_checkpoints(settings: Settings, results: Sequence[Result]) -> list[Measure]:
    """Everything that several checkpoints say together, a conclusion for each diagnostic last."""
    found = families(results)
    measures: list[Measure] = []
    for family in found:
        if family.diagnostic in LIKELIHOOD:
            measures += spread(family)
        elif family.diagnostic == "seat":
            measures += associations(family, settings.level)
        else:
            measures += separability(family)
    for recipe in dict.fromkeys(family.recipe for family in found):
        own = [family for family in found if family.recipe == recipe]
        measures += between_representations([family for family in own if family.diagnostic == "seat"])
        pair = [next((f for f in own if f.diagnostic == name), None) for name in LIKELIHOOD]
        if pair[0] is not None and pair[1] is not None:
            measures += across_diagnostics(pair[0], pair[1])
    if settings.downstream:
        measures += equivalence(Path(settings.downstream), _checkpoints(found), settings.margin)
    ends = [conclusion(family, measures) for family in found if len(family.results) > 1]
    return measures + ends + [limits(recipe, names) for recipe, names in _checkpoints(found).items()]


def _checkpoints(found: Sequence[Family]) -> dict[str, list[str]]:
    names: dict[str, dict[str, None]] = {}
    for family in found:
        names.setdefault(family.recipe, {}).update(dict.fromkeys(family.names))
    return {recipe: list(own) for recipe, own in names.items()}


# In words


def conclusion(family: Family, measures: Sequence[Measure]) -> Measure:
    """What may be said of the checkpoints of a recipe under one diagnostic."""
    own = [
        row for row in measures if all(row.groups.get(key) == value for key, value in family.groups.items())
    ]
    words = _WORDS[family.diagnostic](own, len(family.results))
    return Measure("conclusion", None, len(family.results), family.groups, note=" ".join(words))


def limits(recipe: str, names: Sequence[str]) -> Measure:
    """Of what anything may be said at all: a checkpoint, or a recipe."""
    runs = len(names)
    least = smallest_sign_flip_p(runs)
    if runs == 1:
        words = [
            f"One checkpoint, {names[0]}: what it says holds for this checkpoint only, not for its recipe."
        ]
    else:
        words = [f"{several(runs)} of one recipe: what they share may be said of the recipe, nothing else."]
        words += [f"They are too few for a claim about it: {WANTED} are the least."] if runs < WANTED else []
        words += (
            [f"No test over them can reach p = 0.01: the smallest possible is {least:.4g}."]
            if least > 0.01
            else []
        )
    return Measure("conclusion", None, runs, {"recipe": recipe}, note=" ".join(words))


def _likelihood(own: Sequence[Measure], runs: int) -> Iterator[str]:
    task = {"task": "all"} if any(row.groups.get("task") == "all" for row in own) else {}
    mean = _one(own, "mean over checkpoints", category="all", of="stereotype score", **task)
    sd = _one(own, "sd over checkpoints", category="all", of="stereotype score", **task)
    if mean is None or sd is None or mean.value is None or sd.value is None:
        yield "The stereotype score is undefined in too many checkpoints to compare them."
        return
    yield f"Over {several(runs)} the stereotype score is {_points(mean.value)} %, SD {_points(sd.value)} points."
    if mean.interval and runs >= WANTED:
        low, high = mean.interval
        side = "above" if low > 0.5 else "below" if high < 0.5 else ""
        beyond = f"lies {side} one half" if side else "cannot be told from one half"
        ends = f"95 % interval {_points(low)} to {_points(high)}"
        yield f"On these items the mean over new checkpoints of the recipe {beyond} ({ends})."
    rows = [
        row for row in own if row.name == "sd over checkpoints" and row.groups.get("of") == "stereotype score"
    ]
    rows = [row for row in rows if row.groups["category"] != "all" and row.groups.get("task", "all") == "all"]
    wide = [row.groups["category"] for row in rows if "SD above" in row.note]
    split = [row.groups["category"] for row in rows if "straddles" in row.note]
    if rows:
        listed = f" ({', '.join(wide)})" if wide else ""
        total = several(len(rows), "category", "categories")
        yield f"{len(wide)} of {total} spread by more than 2.5 points{listed}."
    if split:
        yield f"One checkpoint alone would see nothing or a clear preference, as luck has it: {', '.join(split)}."
    against = [row for row in own if row.name == "share of items"]
    agreed = next(
        (row.value for row in against if row.groups["checkpoints against the majority"] == "0"), None
    )
    if agreed is not None:
        yield f"All checkpoints agree on {100 * agreed:.0f} % of the items ({against[0].note})."
    ratio = _one(own, "over-dispersion ratio", category="all", of="stereotype score", **task)
    if ratio is not None and ratio.value is not None and runs > 2:
        yield (
            f"The scores spread {ratio.value:.1f} times as far as items that flip on their own would make them: "
            + ("checkpoints differ as a whole." if ratio.value > 2 else "that explains most of the spread.")
        )


def _association(own: Sequence[Measure], runs: int) -> Iterator[str]:
    signs, verdicts = _one(own, "tests with one sign"), _one(own, "tests with one verdict")
    if signs is None or verdicts is None or signs.value is None or verdicts.value is None:
        yield "No test is defined in all checkpoints."
        return
    one_sign, one_verdict = round(signs.value * signs.n), round(verdicts.value * verdicts.n)
    yield f"{one_sign} of {several(signs.n, 'test')} have the same sign in all {runs} checkpoints;"
    yield f"{one_verdict} are significant in all of them or in none."
    if one_sign < signs.n or one_verdict < verdicts.n:
        yield "Of the rest, what one checkpoint says does not carry over to the next."


def _clusters(own: Sequence[Measure], runs: int) -> Iterator[str]:
    pairs = {row.groups["category"] for row in own if row.name == "chance accuracy"}
    spreads = [
        row
        for row in own
        if row.name == "sd over checkpoints" and row.value is not None and "epoch" not in row.groups
    ]
    if not spreads:
        yield "No pair of concepts is defined in several checkpoints."
        return
    widest = max(spreads, key=lambda row: row.value or 0.0)
    yield (
        f"Over {several(runs)} the accuracy of {several(len(pairs), 'pair')} of concepts spreads by up to "
        f"{_points(widest.value or 0.0)} points ({widest.groups['category']})."
    )


_WORDS = {"crows": _likelihood, "stereoset": _likelihood, "seat": _association, "clusters": _clusters}


def _one(rows: Sequence[Measure], name: str, **groups: str) -> Measure | None:
    return next(
        (
            row
            for row in rows
            if row.name == name and all(row.groups.get(key) == value for key, value in groups.items())
        ),
        None,
    )


def _points(fraction: float) -> str:
    return f"{100 * fraction:.1f}"
