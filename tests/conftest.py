"""Where the public data are, and small things that many tests make."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

HERE = Path(__file__).parent

# No test depends on the clock: a busy machine is slow, not wrong.
settings.register_profile("without a clock", parent=settings(), deadline=None)
settings.load_profile("without a clock")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Where the public data are, if they are here: `SHOAL_DATA`, or beside the repository."""
    return Path(os.environ.get("SHOAL_DATA") or HERE.parents[1] / "shared" / "data")


@pytest.fixture(scope="session")
def data(data_folder: Path) -> Path:
    """The folder of public data. Without it a test is skipped, except in CI: there it fails."""
    if not data_folder.is_dir():
        words = f"the public data are not at {data_folder}; set SHOAL_DATA to the folder that has them"
        if os.environ.get("CI", "").lower() not in ("", "0", "false"):
            pytest.fail(f"{words} (CI is set: nothing is skipped)", pytrace=False)
        pytest.skip(words)
    return data_folder


@pytest.fixture(scope="session")
def tables() -> Path:
    """The folder of published tables."""
    return HERE / "papers" / "tables"


@pytest.fixture(scope="session")
def worked(tables: Path) -> dict[str, Any]:
    """The worked examples by id."""
    examples = json.loads((tables / "worked_examples.json").read_text())["examples"]
    return {example["id"]: example for example in examples}
