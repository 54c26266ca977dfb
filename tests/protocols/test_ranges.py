"""Settings have ranges: what is outside is refused with the range."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Annotated, Any, get_args, get_type_hints

import pytest
from pydantic import TypeAdapter, ValidationError

from shoal.core.errors import PlanError
from shoal.core.ranges import Within
from shoal.protocols import PROTOCOLS, find_protocol
from shoal.protocols.learning.settings import Settings
from shoal.runs.settings import make_settings

OUTSIDE = [
    ("tolerance", "5", "from 0 to 2"),
    ("tolerance", "nan", "from 0 to 2"),
    ("resamples", "0", "from 10 to 1,000,000"),
    ("seed", "-1", "from 0 to 4,294,967,295"),
    ("iid_limit", "-1", "of 0 or more"),
    ("train.learning_rate", "0", "above 0, at most 10,"),
    ("train.iid_epochs", "inf", "above 0, at most 10,000,"),
    ("train.threads", "0", "from 1 to 1,024"),
]


@pytest.mark.parametrize(("name", "value", "words"), OUTSIDE)
def test_a_setting_outside_its_range_is_refused_with_the_range(name, value, words):
    with pytest.raises(PlanError, match=f"--set: {name} = '{value}'\n  why: a number {words}"):
        make_settings(Settings, {name: value}, "--set")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_number_of_every_protocol_has_a_range(protocol):
    without = [name for name, hint in numbers_of(find_protocol(protocol).Settings) if not has_range(hint)]
    assert not without


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_default_lies_inside_its_range(protocol):
    kind = find_protocol(protocol).Settings
    usual = {field.name: field.default for field in fields(kind) if has_range(hints_of(kind)[field.name])}
    make_settings(kind, usual, "--set")


@pytest.mark.parametrize("value", [float("inf"), float("nan"), -1.0])
def test_a_number_without_an_upper_end_is_finite_all_the_same(value):
    with pytest.raises(ValidationError, match="a number of 0 or more is expected"):
        TypeAdapter(Annotated[float, Within(0)]).validate_python(value)
    assert TypeAdapter(Annotated[float, Within(0)]).validate_python(1e300) == 1e300


def hints_of(kind: type[Any]) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def numbers_of(kind: type[Any]) -> Iterator[tuple[str, Any]]:
    """Every number among the fields of settings, those of the tables inside them too."""
    for field in fields(kind):
        hint = hints_of(kind)[field.name]
        inner = [part for part in (hint, *get_args(hint)) if isinstance(part, type) and is_dataclass(part)]
        for table in inner:
            yield from ((f"{field.name}.{name}", found) for name, found in numbers_of(table))
        if not inner and is_number(hint):
            yield field.name, hint


def is_number(hint: Any) -> bool:
    if isinstance(hint, UnionType) and str in get_args(hint):
        return False  # a label, which may be called by a number
    return hint in (int, float) or any(is_number(part) for part in get_args(hint))


def has_range(hint: Any) -> bool:
    return isinstance(hint, Within) or any(has_range(part) for part in get_args(hint))
