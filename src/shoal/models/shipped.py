"""`tiny:NAME`: small BERT-shaped models that ship with the package and need no download.

    tiny:sentiment   negative or positive
    tiny:paraphrase  different or duplicate, for two questions
    tiny:reading     finds the answer to a question in a passage

`python -m shoal.training.tiny` makes them anew.
"""

from pathlib import Path

from ..errors import ModelError, nearest
from . import ModelSpec
from .hf import HFModel
from .hf import load as load_folder

FOLDER = Path(__file__).with_name("tiny")


def load(spec: ModelSpec) -> HFModel:
    """The model of this name, read like any other Transformers folder."""
    known = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())
    if spec.name not in known:
        raise ModelError(
            f"tiny:{spec.name}: no such model",
            why=f"known: {', '.join(known)}",
            fix=nearest(spec.name, known),
        )
    return load_folder(ModelSpec("hf", str(FOLDER / spec.name), spec.options))
