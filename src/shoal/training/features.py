"""Features of a frozen encoder in a file, so that processes share them: numpy's .npz, names and vectors."""

import zipfile
from pathlib import Path

import numpy as np

from ..core.errors import DataError
from ..models.caches import Features


def save_features(table: Features, path: Path) -> None:
    """Write a table."""
    with path.open("wb") as stream:
        np.savez(
            stream,
            names=np.array(list(table.vectors), np.uint64),
            vectors=np.array(list(table.vectors.values()), np.float32),
        )


def load_features(path: Path) -> Features:
    """Read a table."""
    try:
        with np.load(path, allow_pickle=False) as found:
            return Features(found["names"].tolist(), found["vectors"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as problem:
        raise DataError(
            f"{path}: not a table of features", why=str(problem), fix="delete it: it is made again"
        ) from None
