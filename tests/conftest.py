"""Where the public data are, and small things that many tests make."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).parents[2] / "shared"


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of public data; tests that need it must run in CI, where it is present."""
    folder = Path(os.environ.get("SHOAL_DATA", SHARED / "data"))
    if not folder.exists():
        pytest.skip(f"public data are not at {folder}; set SHOAL_DATA")
    return folder


@pytest.fixture(scope="session")
def tables() -> Path:
    """The folder of published tables."""
    return Path(__file__).parent / "papers" / "tables"


@pytest.fixture(scope="session")
def worked(tables: Path) -> dict[str, Any]:
    """The worked examples by id."""
    examples = json.loads((tables / "worked_examples.json").read_text())["examples"]
    return {example["id"]: example for example in examples}
