"""Small builds that several tests share."""

from typing import Any

import pytest

from shoal.protocols.base import Built
from shoal.protocols.merge import Settings, build


@pytest.fixture(scope="session")
def small() -> dict[str, Any]:
    """Settings under which our own problems are built in a moment."""
    return {"limit": 24, "sample": 8, "draws": 4}


@pytest.fixture(scope="session")
def built(small: dict[str, Any]) -> Built:
    return build(Settings(**small))
