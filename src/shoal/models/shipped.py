"""`tiny:NAME`: small BERT-shaped models that ship with the package and need no download.

    tiny:sentiment   negative or positive
    tiny:paraphrase  different or duplicate, for two questions
    tiny:nli         entailment, neutral or contradiction, for a premise and a hypothesis
    tiny:reading     finds the answer to a question in a passage
    tiny:masked      a masked language model without weights: a plan says on which text it is pre-trained
    tiny:classifier  a classifier without weights: a plan says on which examples it is trained

`python -m shoal.training.tiny` makes them anew.
"""

from pathlib import Path

from ..core.errors import ModelError, nearest
from . import ModelSpec
from .fresh import Unmade
from .hf import PLAIN as OPTIONS
from .hf import HFModel, load_unprompted
from .last_text import LastText

__all__ = ["OPTIONS", "load"]

FOLDER = Path(__file__).with_name("tiny")
UNMADE = {
    "masked": '[bias] pretrain.text = "FILE" in the plan, or --set pretrain.text=FILE',
    "classifier": '[ranking.train] with on = "FILE" in the plan',
}
"""Models that are not shipped but made, and what a user has to say for it."""


def load(spec: ModelSpec) -> HFModel | LastText | Unmade:
    """The model of this name, read like any other Transformers folder."""
    if spec.name in UNMADE:
        _refuse_options(spec)
        return Unmade(f"tiny:{spec.name}", UNMADE[spec.name])
    known = [*sorted(path.name for path in FOLDER.iterdir() if path.is_dir()), *UNMADE]
    if spec.name not in known:
        raise ModelError(
            f"tiny:{spec.name}: no such model",
            why=f"known: {', '.join(known)}",
            fix=nearest(spec.name, known) or f"tiny:{known[0]}",
        )
    return load_unprompted(ModelSpec("hf", str(FOLDER / spec.name), spec.options))


def _refuse_options(spec: ModelSpec) -> None:
    """Of a model that a plan makes from nothing: nothing would come of them."""
    if spec.options:
        raise ModelError(
            f"tiny:{spec.name}: it takes no option, found {', '.join(spec.options)}",
            why="it is made by the training that a plan asks for",
            fix=f"tiny:{spec.name}",
        )
