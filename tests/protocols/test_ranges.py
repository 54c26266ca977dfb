"""Settings have ranges: what is outside is refused with the range."""

from dataclasses import fields
from typing import Annotated, Any, get_args, get_type_hints

import pytest
from pydantic import TypeAdapter, ValidationError

from shoal.errors import PlanError
from shoal.protocols.behaviour.settings import Settings, Train
from shoal.protocols.ranges import Within
from shoal.runs.settings import make_settings

OUTSIDE = [
    ("tolerance", "5", "from 0 to 2"),
    ("tolerance", "nan", "from 0 to 2"),
    ("tolerance", "inf", "from 0 to 2"),
    ("tolerance", "-1", "from 0 to 2"),
    ("slack", "-1e-9", "from 0 to 1"),
    ("resamples", "0", "from 10 to 1,000,000"),
    ("resamples", "1000000000000", "from 10 to 1,000,000"),
    ("shuffles", "-1", "from 10 to 10,000,000"),
    ("limit", "-5", "of 0 or more"),
    ("seed", "-1", "from 0 to 4,294,967,295"),
    ("seed", str(2**32), "from 0 to 4,294,967,295"),
    ("sample_seed", "-1", "from 0 to 4,294,967,295"),
    ("iid_limit", "-1", "of 0 or more"),
    ("hold_out_sample", "-1", "of 0 or more"),
    ("train.learning_rate", "0", "above 0, at most 10,"),
    ("train.iid_learning_rate", "-0.1", "above 0, at most 10,"),
    ("train.batch", "0", "from 1 to 100,000"),
    ("train.iid_batch", "0", "from 1 to 100,000"),
    ("train.epochs", "0", "above 0, at most 10,000,"),
    ("train.iid_epochs", "inf", "above 0, at most 10,000,"),
    ("train.threads", "0", "from 1 to 1,024"),
]


@pytest.mark.parametrize(("name", "value", "words"), OUTSIDE)
def test_a_setting_outside_its_range_is_refused_with_the_range(name, value, words):
    with pytest.raises(PlanError, match=f"--set: {name} = '{value}'\n  why: a number {words}"):
        make_settings(Settings, {name: value}, "--set")


def test_every_number_has_a_range_and_its_default_lies_inside():
    ranged = {name.removeprefix("train.") for name, _, _ in OUTSIDE}
    for kind in (Settings, Train):
        hints = get_type_hints(kind, include_extras=True)
        numbers = {field.name for field in fields(kind) if is_number(hints[field.name])}
        assert numbers <= ranged, numbers - ranged
    make_settings(
        Settings, {"limit": 0, "seed": 0, "tolerance": 0, "resamples": 10, "train.epochs": 0.5}, "--set"
    )


@pytest.mark.parametrize("value", [float("inf"), float("nan"), -1.0])
def test_a_number_without_an_upper_end_is_finite_all_the_same(value):
    with pytest.raises(ValidationError, match="a number of 0 or more is expected"):
        TypeAdapter(Annotated[float, Within(0)]).validate_python(value)
    assert TypeAdapter(Annotated[float, Within(0)]).validate_python(1e300) == 1e300


def is_number(hint: Any) -> bool:
    parts = (hint, *get_args(hint), *(inner for part in get_args(hint) for inner in get_args(part)))
    return int in parts or float in parts


def test_a_number_without_a_range_would_be_seen():
    assert is_number(int) and is_number(float | None) and is_number(Annotated[int, "x"] | None)
    assert not is_number(str) and not is_number(tuple[str, ...])
