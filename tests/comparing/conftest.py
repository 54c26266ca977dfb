"""Results made by hand, and the commands as a user has them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from click.testing import Result as Done
from outcomes import result

from shoal import Result
from shoal.cli import main


@pytest.fixture(scope="session")
def shoal() -> Callable[..., Done]:
    return lambda *arguments: CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="session")
def make() -> Callable[..., Result]:
    """Return `outcomes.result`."""
    return result


ROWS = [
    {
        "functionality": name,
        "capability": "c",
        "type": "MFT",
        "case_id": at,
        "examples": [{"text": f"{name} {at}"}],
        "labels": 1,
    }
    for name in ("good", "[bold]bad[/bold]")
    for at in range(20)
]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "suite.jsonl"
    header = {"suite": "toy", "label_names": ["negative", "positive"]}
    path.write_text("".join(json.dumps(row) + "\n" for row in [header, *ROWS]))
    return path


@pytest.fixture
def predicting(tmp_path: Path) -> Callable[..., str]:
    """The spec of a model that is right, but for the first so many cases of each functionality."""

    def made(name: str, **wrong: int) -> str:
        lines = []
        for row in ROWS:
            key = "bad" if "bad" in str(row["functionality"]) else "good"
            p = int(int(str(row["case_id"])) >= wrong.get(key, 0))
            said = {
                "functionality": row["functionality"],
                "case_id": row["case_id"],
                "pred": p,
                "conf": [1 - p, p],
            }
            lines.append(json.dumps(said) + "\n")
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(lines))
        return f"predictions:{path}"

    return made
