"""SEAT and WEAT: are X and Y associated with A and B to different degrees? (`docs/method/bias.md` 5.5)

Effect size and one-sided permutation p as in `stats/association.py`. What has no vector, such as a word that is not in
a file of word vectors, is left out and named; partitions then have the sizes that are left.
"""

import re
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.seat import AssociationTest, read_tests
from ...errors import ModelError, PlanError, some
from ...models.ask import Embedder
from ...models.fresh import Unmade
from ...models.vectors import WordVectors
from ...records import Answer, Case, Example, Measure, Outcome
from ...stats import association as stats
from ...stats.intervals import percentile_interval
from ...stats.multiplicity import holm
from ..base import Asks, Built
from . import example
from .asking import answers, that_fit
from .settings import Settings
from .shares import joined

Floats = NDArray[np.float64]

ASKS: Asks = "vectors"
FOLDER, FILES = "seat", ()
SETS = ("X", "Y", "A", "B")


def find_tests(path: Path | None, names: Sequence[str]) -> list[AssociationTest]:
    """The tests of a file or folder, or our own."""
    if path is not None:
        return read_tests(path, names)
    own = {test.name: test for test in example.tests()}
    unknown = [name for name in names if name not in own]
    if unknown:
        raise PlanError(
            f"no association test {unknown[0]!r} in the example", why=f"there are: {', '.join(own)}"
        )
    return [own[name] for name in names or own]


def make_cases(path: Path | None, tests: Sequence[str] = ()) -> list[Case]:
    """A case per test; its examples are (text, the word it is about) of X, Y, A and B, one after the other."""
    return [
        Case(
            test.name,
            tuple(pair for one in test.sets for pair in zip(one.examples, one.words, strict=True)),
            None,
            {"diagnostic": "seat", "test": test.name},
            "",
            {
                "sizes": [len(one.examples) for one in test.sets],
                "categories": [one.category for one in test.sets],
            },
        )
        for test in find_tests(path, tests)
    ]


# Asking


def ask(settings: Settings, model: Any, built: Built, examples: Sequence[Example]) -> list[Answer]:
    """A vector for each text, to seven digits; null where there is none."""
    if isinstance(model, Unmade):
        raise model.refuse()
    if not isinstance(model, Embedder):
        raise ModelError(f"{model!r} gives no vectors", fix="hf:MODEL, or vectors:FILE with word vectors")
    representation = settings.representation[0]
    return answers("vector", lambda part: vectors(model, part, representation), examples)


def vectors(model: Any, examples: Sequence[Example], representation: str) -> list[Any]:
    """What is kept for each example: {"vector": [...]}, {"vector": null} or why it failed."""
    if isinstance(model, WordVectors):
        texts = [word if representation == "word_mean" and word else text for text, word in examples]
        return [{**_kept(model.vector(text)), "representation": "word vector"} for text in texts]
    if not hasattr(model, "tokenizer"):
        return [_kept(row) for row in model.embed([(text,) for text, _ in examples], representation)]
    from ...models.words import represent

    def say(part: Sequence[Example]) -> list[Any]:
        return [_kept(vector) for vector in represent(model, part, representation)]

    return that_fit(model, examples, [(text,) for text, _ in examples], say)


def _kept(vector: Any) -> dict[str, Any]:
    if vector is None or not np.isfinite(vector).all():
        return {"vector": None}
    return {"vector": [float(f"{number:.7g}") for number in np.asarray(vector).tolist()]}


# Scoring


def score(
    settings: Settings, cases: Sequence[Case], said: Sequence[Sequence[Answer]]
) -> tuple[list[Outcome], list[Measure]]:
    """Effect size and p of every test, and p adjusted for all of them by Holm."""
    outcomes, measures, tested = [], [], []
    for case, rows in zip(cases, said, strict=True):
        effect, p = _test(settings, case, rows)
        tested.append(p)
        measures += [effect, p]
        error = f"{effect.errors} texts without a vector" if effect.value is None and effect.errors else ""
        significant = None if p.value is None else p.value < settings.level
        outcomes.append(Outcome(case.id, significant, effect.value, error))
    defined = [p for p in tested if p.value is not None]
    if len(defined) > 1:
        adjusted = holm([p.value for p in defined if p.value is not None])
        note = f"Holm over {len(defined)} tests"
        measures += [
            replace(p, name="adjusted p value", value=float(value), note=note)
            for p, value in zip(defined, adjusted, strict=True)
        ]
    return outcomes, measures


def _test(settings: Settings, case: Case, rows: Sequence[Answer]) -> tuple[Measure, Measure]:
    groups = {"diagnostic": "seat", "test": case.id, "representation": representation_of(settings, rows)}
    sets, missing, errors = split(case, rows)
    note = f"no vector for {some(missing)}: left out" if missing else ""
    empty = [name for name, members in zip(SETS, sets, strict=True) if not len(members[0])]
    n = sum(len(members[0]) for members in sets[:2])
    if empty:
        words = joined(note, f"nothing is left of {', '.join(empty)}")
        return (
            Measure("effect size", None, n, groups, na=len(missing), errors=errors, note=words),
            Measure("p value", None, n, groups, na=len(missing), errors=errors, note=words),
        )
    (x, x_words), (y, y_words), (a, _), (b, _) = sets
    s_x, s_y = stats.association(x, a, b), stats.association(y, a, b)
    ddof = 1 if settings.sd == "n-1" else 0
    d = stats.effect_size(s_x, s_y, ddof)
    if np.isnan(d):
        words = joined(note, "all targets are associated alike: the standard deviation is 0")
        return (
            Measure("effect size", None, n, groups, na=len(missing), errors=errors, note=words),
            Measure("p value", None, n, groups, na=len(missing), errors=errors, note=words),
        )
    rng = np.random.default_rng([settings.seed, zlib.crc32(case.id.encode())])
    p = stats.permutation_p(
        s_x, s_y, rng, settings.n_samples,
        strict=settings.resolved("p_ties") == "strict", method=settings.p_method,
    )  # fmt: skip
    drawn = stats.effect_size_replicates(s_x, s_y, rng, settings.resamples, (x_words, y_words), ddof)
    enough = min(len(set(x_words)), len(set(y_words))) > 1 and np.isfinite(drawn).any()
    interval = percentile_interval(drawn) if enough else None
    how = "words drawn again" if enough else ""
    sizes = f"{len(s_x)} against {len(s_y)}" if len(s_x) != len(s_y) else ""
    counted = f"{p.partitions:,} partitions, {'all there are' if p.exact else 'drawn at random'}"
    return (
        Measure("effect size", d, n, groups, interval, how, len(missing), errors, joined(note, sizes)),
        Measure("p value", p.p, n, groups, na=len(missing), errors=errors, note=joined(counted, note)),
    )


def partitions_of(p: Measure) -> tuple[int, bool] | None:
    """How many partitions are behind a p value, and whether they are all there are; None where none was drawn."""
    found = re.match(r"([\d,]+) partitions, (all there are|drawn at random)", p.note)
    return (int(found[1].replace(",", "")), found[2] == "all there are") if found else None


def representation_of(settings: Settings, rows: Sequence[Answer]) -> str:
    """What the vectors are: as the settings say, unless the model has only one kind."""
    own = next((row.data["representation"] for row in rows if row.data and "representation" in row.data), "")
    return own or settings.representation[0]


def split(case: Case, rows: Sequence[Answer]) -> tuple[list[tuple[Floats, list[str]]], list[str], int]:
    """The vectors of each set with the words they are about; what has none, by name; and how many are errors."""
    sets: list[tuple[Floats, list[str]]] = []
    missing: list[str] = []
    errors, start = 0, 0
    for size in case.meta["sizes"]:
        found, words = [], []
        for at in range(start, start + size):
            text, word = case.examples[at]
            vector = None if rows[at].error else rows[at].data["vector"]
            errors += bool(rows[at].error)
            if vector is None:
                missing.append(text if len(text) < 40 else text[:37] + "...")
                continue
            found.append(vector)
            words.append(word or text)
        sets.append((np.array(found, dtype=np.float64), words))
        start += size
    return sets, missing, errors
