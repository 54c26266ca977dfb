"""Small builds that several tests share."""

import sys
from pathlib import Path

import pytest

from shoal.protocols.merge import Settings, build

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def small():
    """Settings under which our own problems are built in a moment."""
    return {"limit": 24, "minimum": 8, "sample": 8, "draws": 4}


@pytest.fixture(scope="session")
def built(small):
    return build(Settings(**small))
