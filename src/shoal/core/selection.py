"""Select cases by the names of their groups; `*` matches any characters.

    functionality=neg*         cases whose functionality begins with neg
    capability=negation        cases of one capability
    neg*                       cases with any group that begins with neg

Patterns for the same group are alternatives; patterns for different groups must all match. A name also matches itself
literally.
"""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
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
        group, name = _taken_apart(pattern, values)
        fitting = [value for value in _known(group, values) if value == name or fnmatchcase(value, name)]
        if not fitting:
            raise _nothing(pattern, group, name, values)
        allowed.setdefault(group, set()).update(fitting)
    return [
        position
        for position, case in enumerate(cases)
        if all(
            case.groups.get(group) in names if group else not names.isdisjoint(case.groups.values())
            for group, names in allowed.items()
        )
    ]


def _taken_apart(pattern: str, values: Mapping[str, Mapping[str, None]]) -> tuple[str, str]:
    """Return group and name; no group if the part before the sign is not one, because names may contain the sign."""
    head, equals, name = pattern.partition("=")
    group = head.strip().replace("_", " ")
    return (group, name.strip()) if equals and group in values else ("", pattern)


def _known(group: str, values: Mapping[str, Mapping[str, None]]) -> list[str]:
    if group:
        return list(values[group])
    return list(dict.fromkeys(value for names in values.values() for value in names))


def _nothing(pattern: str, group: str, name: str, values: Mapping[str, Mapping[str, None]]) -> DataError:
    known = _known(group, values)
    head, equals, _ = pattern.partition("=")
    if not group and equals:
        return UnknownGroup(
            f"no case is in {pattern!r}",
            why=f"{head!r} is not a group of these cases; groups are {some(values, 8)}",
            fix=nearest(head, values) or "one of those groups",
        )
    return DataError(
        f"no case is in {pattern!r}",
        why=f"there are {some(known, 8) or 'no groups'}",
        fix=nearest(name, known) or "one of those, or part of it with * for the rest",
    )
