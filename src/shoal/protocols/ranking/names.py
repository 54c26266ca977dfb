"""What to call models in tables: no longer than it takes to tell them apart."""

from collections.abc import Sequence
from urllib.parse import parse_qsl


def short_names(specs: Sequence[str]) -> dict[str, str]:
    """Spec to name: its file or folder, an option in which all differ, or the whole spec.

    >>> list(short_names(["predictions:a/x.csv", "predictions:a/y.csv"]).values())
    ['x.csv', 'y.csv']
    >>> list(short_names(["predictions:a.csv?label=bert", "predictions:a.csv?label=xlnet"]).values())
    ['bert', 'xlnet']
    """
    by_file = [_last(spec.partition("?")[0]) for spec in specs]
    options = [dict(parse_qsl(spec.partition("?")[2])) for spec in specs]
    shared = [name for name in (options[0] if options else {}) if all(name in given for given in options)]
    candidates = [by_file, *([given[name] for given in options] for name in shared)]
    names = next((names for names in candidates if len(set(names)) == len(specs)), list(specs))
    return dict(zip(specs, names, strict=True))


def _last(spec: str) -> str:
    scheme, colon, rest = spec.partition(":")
    if scheme == "tiny":
        return spec
    return (rest if colon else scheme).rstrip("/").rpartition("/")[2]
