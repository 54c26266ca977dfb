"""Settings of COOD; defaults are the paper's where it states them, else those of `docs/method/cood.md`."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from ...core.ranges import AtLeastOne, Count, Seed, WarmUp, Within
from ...training.config import TrainConfig
from ..base import Profiled, changes, file_content

Control = Literal["none", "all cells", "text only", "template only", "majority"]

SLOT = "<LABEL>"


def _roles(settings: "Settings") -> Any:
    from .texts import roles_of

    return roles_of(settings)


def _words(settings: "Settings") -> Any:
    from .build import shape_of

    return asdict(shape_of(settings))


def _tokenizer(settings: "Settings") -> Any:
    from ...models import load_model

    return load_model(settings.tokenizer).fingerprint() if settings.tokenizer else ""


TRAINING = ("per_label", "validation_per_label", "train", "trained")
"""Settings that have no effect without a training."""


@dataclass(frozen=True, slots=True)
class Train(TrainConfig):
    """The table `train`: how the encoder is trained. The learning rate is 1e-5, and 5e-4 for `tiny:` models."""

    epochs: Annotated[int, Within(1, 10_000)] = 10
    """Training epochs; the model is queried after each."""
    warm_up: WarmUp = 0.06
    head: Literal["own", "linear"] = "own"
    """Head: the architecture's own, or the paper's linear layer on the first token."""


@dataclass(frozen=True, slots=True)
class Settings(Profiled):
    """Settings of `[cood]` in a plan, or of `--set` on the command line. Lists multiply the jobs."""

    data: str = changes("cases", "opinions", resolve=file_content("data"))
    """Labelled texts: a file, or `opinions`, built-in reviews with three labels."""
    text: tuple[str, ...] = changes("cases", (), advanced=True)
    """Column of the text, or the two columns of a pair. Default: found by name."""
    label: str = changes("cases", "", advanced=True)
    """Column of the label. Default: found by name."""
    classes: dict[str, tuple[str | int | float, ...]] | None = changes("cases", None, advanced=True)
    """Labels to merge: {negative = [1, 2], neutral = [3], positive = [4, 5]}; other labels are dropped."""
    roles: dict[str, str] | None = changes("cases", None, resolve=_roles, advanced=True)
    """Roles of the classes: fst, sec and neu, whose word training never shows. Sentiment and NLI have defaults."""
    per_label: tuple[AtLeastOne, ...] = changes("answers", (2000,))
    """Number of training texts per class (K)."""
    shots: tuple[Count, ...] = changes("answers", ())
    """For prompted models, instead of training: texts per class that the prompt demonstrates; 0 is none."""
    test_per_label: AtLeastOne = changes("cases", 1000)
    """Number of test texts per class (M). Each appears with all three statements."""
    validation_per_label: Count = changes("cases", 250)
    """Texts per class (ID cells) that select the epoch; 0 takes the last epoch."""
    template: tuple[str, ...] = changes("cases", (f"It is {SLOT}",))
    """The statement after each text; the word of a class replaces its slot."""
    names: dict[str, str] | tuple[dict[str, str], ...] = changes("cases", (), resolve=_words)
    """Word of each class in the statement: {positive = "great", neutral = "okay", negative = "terrible"}; or a list."""
    control: tuple[Control, ...] = changes("answers", ("none",))
    """Train a control on all nine cells, on texts or statements alone, or not at all; none is the test itself."""
    tokenizer: str = changes("cases", "", resolve=_tokenizer)
    """Model whose word pieces count as tokens. Default: words and punctuation marks."""
    train: Train = changes("answers", Train())
    """How the encoder is trained."""
    trained: bool = changes("answers", False, advanced=True)
    """Query the model without training it, because it was trained elsewhere on the exported texts."""
    seed: Seed = changes("answers", 0, when=lambda settings: any(settings.shots))
    """Seed of training texts or demonstrations, their order and the head."""

    @property
    def symbols(self) -> Mapping[str, str]:
        """Return the settings that every header names, with the paper's letter; K only where shoal trains."""
        return {} if self.trained or self.shots else {"per_label": "K"}
