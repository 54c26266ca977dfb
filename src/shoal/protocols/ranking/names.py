"""Short names of models in tables, just long enough to tell them apart."""

import re
from collections.abc import Sequence
from itertools import takewhile
from urllib.parse import parse_qsl

from ...core.records import Result

START = re.compile(r".*[-_.:/ ]")
END = re.compile(r"(?:[-_.:/ ]|(?<=[a-z])[A-Z]|^[A-Z.]).*")
"""Where a word ends: at punctuation, or before a capital letter."""


def contenders(results: Sequence[Result]) -> list[str]:
    """Return a name for each result: its spec, the dose if it was trained, the seed if necessary."""
    specs = [str(result.job["model"]) for result in results]
    doses = [
        "" if result.settings.train is None else result.settings.train.doses[0].title for result in results
    ]
    short = short_names(list(dict.fromkeys(specs)))
    one_base = len(short) == 1 and all(doses)
    names = [
        dose if one_base else ", ".join(filter(None, (short[spec], dose)))
        for spec, dose in zip(specs, doses, strict=True)
    ]
    if len(set(names)) == len(names):
        return names
    return [f"{name}, seed {result.settings.seed}" for name, result in zip(names, results, strict=True)]


def short_names(specs: Sequence[str]) -> dict[str, str]:
    """Return a name for each spec: its file, folder or function, or an option in which all differ.

    >>> list(short_names(["predictions:a/x.csv", "predictions:a/y.csv"]).values())
    ['x', 'y']
    >>> list(short_names(["predictions:a.csv?label=pred-bert", "predictions:a.csv?label=pred-xlnet"]).values())
    ['bert', 'xlnet']
    """
    by_file = [_last(spec.partition("?")[0]) for spec in specs]
    options = [dict(parse_qsl(spec.partition("?")[2])) for spec in specs]
    shared = [name for name in (options[0] if options else {}) if all(name in chosen for chosen in options)]
    candidates = [
        [_leaf(spec) for spec in specs],
        by_file,
        *([chosen[name] for chosen in options] for name in shared),
    ]
    names = next((names for names in candidates if len(set(names)) == len(specs)), list(specs))
    return dict(zip(specs, _without_shared(names), strict=True))


def _leaf(spec: str) -> str:
    """Return a function without its module, or the file or folder of anything else."""
    bare = spec.partition("?")[0]
    return bare.rpartition(":")[2] if bare.startswith("python:") else _last(bare)


def _last(spec: str) -> str:
    scheme, colon, rest = spec.partition(":")
    if scheme == "tiny":
        return spec
    return (rest if colon else scheme).rstrip("/").rpartition("/")[2]


def _without_shared(names: Sequence[str]) -> list[str]:
    """Return names without the words that all begin or end with, unless a name would lose all its letters."""
    before = START.match(_shared_start(names))
    after = END.search(_shared_start([name[::-1] for name in names])[::-1])
    first, last = len(before[0]) if before else 0, len(after[0]) if after else 0
    cut = [name[first : len(name) - last] for name in names]
    has_letters = len(names) > 1 and all(re.search(r"[^\W\d_]", name) for name in cut)
    return cut if has_letters else list(names)


def _shared_start(names: Sequence[str]) -> str:
    letters = takewhile(lambda column: len(set(column)) == 1, zip(*names, strict=False))
    return "".join(column[0] for column in letters)
