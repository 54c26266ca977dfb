"""Select cases by the names of their groups; `*` matches any characters.

    functionality=neg*         cases whose functionality begins with neg
    capability=negation        cases of one capability
    neg*                       cases with any group that begins with neg

Patterns for the same group are alternatives; patterns for different groups must all match. A name also matches itself
literally.
"""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import chain
from typing import TYPE_CHECKING

from .errors import DataError, nearest, some

if TYPE_CHECKING:
    from .records import Case


class UnknownGroup(DataError):  # noqa: N818 (named for what is wrong)
    """A pattern names a group that no case has."""


def choose(cases: "Sequence[Case]", patterns: Sequence[str]) -> list[int]:
    """Return the positions of the matching cases; raise if a pattern matches none.

    >>> from shoal.core.records import Case
    >>> cases = [Case(name, (), groups={"cell": name}) for name in ("pos/pos", "pos/neg", "neg/neg")]
    >>> choose(cases, ["cell=pos/*"]), choose(cases, ["neg/neg", "pos/neg"])
    ([0, 1], [1, 2])
    """
    values: dict[str, dict[str, None]] = {}
    for case in cases:
        for group, value in case.groups.items():
            values.setdefault(group, {})[value] = None
    allowed: dict[str, set[str]] = {}
    for pattern in patterns:
        group, names = _matching(pattern, values)
        allowed.setdefault(group, set()).update(names)
    return [
        position
        for position, case in enumerate(cases)
        if all(
            case.groups.get(group) in names if group else not names.isdisjoint(case.groups.values())
            for group, names in allowed.items()
        )
    ]


def _matching(pattern: str, values: Mapping[str, Mapping[str, None]]) -> tuple[str, list[str]]:
    """Return the group of a pattern and the matching names; no group if the part before the sign is not one."""
    head, equals, name = pattern.partition("=")
    group, name = head.strip().replace("_", " "), name.strip()
    if not equals or group not in values:  # names may contain the sign
        group, name = "", pattern
    known = list(values[group] if group else dict.fromkeys(chain.from_iterable(values.values())))
    matching = [value for value in known if value == name or fnmatchcase(value, name)]
    if matching:
        return group, matching
    if equals and not group:
        raise UnknownGroup(
            f"no case is in {pattern!r}",
            why=f"{head!r} is not a group of these cases; groups are {some(values, 8)}",
            fix=nearest(head, values) or "one of those groups",
        )
    raise DataError(
        f"no case is in {pattern!r}",
        why=f"there are {some(known, 8) or 'no groups'}",
        fix=nearest(name, known) or "one of those, or part of it with * for the rest",
    )
