"""`tiny:NAME`: small BERT models that ship with the package and need no download.

    tiny:sentiment   negative or positive
    tiny:paraphrase  different or duplicate, for two questions
    tiny:nli         entailment, neutral or contradiction, for a premise and a hypothesis
    tiny:reading     finds the answer to a question in a passage
    tiny:masked      a masked language model without weights: a plan pre-trains it
    tiny:classifier  a classifier without weights: a plan trains it

`python -m shoal.training.tiny` trains the ones that ship.
"""

from pathlib import Path

from ..core.errors import ModelError, nearest
from . import ModelSpec
from .fresh import Untrained
from .hf import PLAIN as OPTIONS
from .hf import HFModel, LastText, load_unprompted

__all__ = ["OPTIONS", "load"]

FOLDER = Path(__file__).with_name("tiny")
UNTRAINED = {
    "masked": '--set pretrain.text=example, or a file; in a plan, [bias] pretrain.text = "example"',
    "classifier": '[ranking.train] with on = "FILE" in the plan',
}
"""Models that a plan trains from nothing, and the setting that does it."""


def load(spec: ModelSpec) -> HFModel | LastText | Untrained:
    if spec.name in UNTRAINED:
        if spec.options:
            raise ModelError(
                f"tiny:{spec.name} takes no options: {', '.join(spec.options)}",
                why="the plan's training settings define it",
                fix=f"tiny:{spec.name}",
            )
        return Untrained(f"tiny:{spec.name}", UNTRAINED[spec.name])
    known = [*sorted(path.name for path in FOLDER.iterdir() if path.is_dir()), *UNTRAINED]
    if spec.name not in known:
        raise ModelError(
            f"tiny:{spec.name}: no such model",
            why=f"known: {', '.join(known)}",
            fix=nearest(spec.name, known) or f"tiny:{known[0]}",
        )
    return load_unprompted(ModelSpec("hf", str(FOLDER / spec.name), spec.options))
