"""Results made by hand, and the commands as a user has them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from click.testing import Result as Done
from outcomes import result
from toy_suite import rows_of, write_answers, write_suite

from shoal import Result
from shoal.cli import main


@pytest.fixture(scope="session")
def shoal() -> Callable[..., Done]:
    return lambda *arguments: CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="session")
def make() -> Callable[..., Result]:
    """Return `outcomes.result`."""
    return result


ROWS = rows_of({"good": 20, "[bold]bad[/bold]": 20})


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_suite(tmp_path / "suite.jsonl", ROWS)


@pytest.fixture
def predicting(tmp_path: Path) -> Callable[..., str]:
    """The spec of a model that is right, but for the first so many cases of each functionality."""

    def made(name: str, good: int = 0, bad: int = 0) -> str:
        wrong = {"good": good, "[bold]bad[/bold]": bad}
        said = [row["case_id"] >= wrong[row["functionality"]] for row in ROWS]
        return write_answers(tmp_path / f"{name}.jsonl", ROWS, said)

    return made
