"""A job of every protocol that takes a moment."""

from pathlib import Path
from typing import Any

import numpy as np

from shoal.protocols.bias import example

LEARNING = {"suite": "sentiment", "limit": 5, "iid": "sentiment", "iid_limit": 40}
SMALL: dict[str, tuple[str, dict[str, Any]]] = {
    "behaviour": ("tiny:sentiment", {"suite": "sentiment", "limit": 40}),
    "learning": ("tiny:sentiment", LEARNING | {"train": {"on": ["iid"], "iid_epochs": 1}}),
    "bias": ("vectors:VECTORS", {"diagnostic": "seat", "data": "example"}),
    "merge": ("tiny:nli", {"limit": 6, "sample": 6, "draws": 2}),
    "cood": ("tiny:sentiment", {"control": "majority", "test_per_label": 4, "validation_per_label": 0}),
    "ranking": ("tiny:sentiment", {"data": ("sentiment",)}),
}


def small_job(name: str, folder: Path) -> tuple[str, dict[str, Any]]:
    """A model and settings; word vectors are drawn at random, and written into the folder."""
    words = sorted({word for test in example.tests() for side in test.sets for word in side.words})
    rng = np.random.default_rng(0)
    rows = [f"{word} " + " ".join(f"{x:.3f}" for x in rng.normal(size=8)) for word in words]
    (folder / "vectors.txt").write_text("\n".join(rows) + "\n")
    model, settings = SMALL[name]
    return model.replace("VECTORS", str(folder / "vectors.txt")), settings
