"""A small suite whose examples make many batches, and plans on it."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from shoal import Suite, case, write_suite

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans name callables of `models_for_tests`."""
    monkeypatch.syspath_prepend(HERE)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]))


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """A plan with one slow model on 160 long examples: 40 batches."""
    suite = Suite("long", labels=("no", "yes"))

    @suite.minimum(capability="c")
    def labelled():
        for number in range(120):
            yield case(f"{number:03d} {'fail ' if number % 40 == 0 else ''}" + "x" * 7990, label=number % 2)

    @suite.invariance(capability="d")
    def changed():
        for number in range(20):
            yield case(f"{number:03d} a" + "y" * 7990, f"{number:03d} b" + "y" * 7740)

    write_suite(suite, tmp_path / "long.jsonl")
    return write_plan(tmp_path, "slow")


@pytest.fixture
def plan_of(tmp_path: Path, plan: Path) -> Callable[..., Path]:
    """Plans with other models on the same suite."""
    return lambda *names: write_plan(tmp_path, *names)


def write_plan(folder: Path, *names: str) -> Path:
    models = ", ".join(f'"python:models_for_tests:{name}"' for name in names)
    path = folder / f"{names[0]}.toml"
    path.write_text(f'models = [{models}]\n[behaviour]\nsuite = "{folder / "long.jsonl"}"\nresamples = 50\n')
    return path


assert sys.platform != "win32", "locks are POSIX locks"
