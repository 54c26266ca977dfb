"""What a COOD audit can be told; numbers are the paper's where it has one, else those of `docs/method/cood.md`."""

from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Annotated, Any, Literal

from ...core.errors import PlanError
from ...core.ranges import (
    AtLeastOne,
    BatchSize,
    Count,
    Rate,
    Resamples,
    Seed,
    Share,
    Threads,
    Within,
)
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


@dataclass(frozen=True, slots=True)
class Settings(Profiled):
    """What `[cood]` in a plan, or `--set` on the command line, may say. Lists multiply the jobs."""

    data: str = changes("cases", "opinions", resolve=file_content("data"))
    """Labelled texts: a file, or `opinions`, short reviews of our own with three labels."""
    test_data: str = changes("cases", "", resolve=file_content("test_data"))
    """A file of its own for the test and validation texts; empty: they are held out from `data`."""
    text: tuple[str, ...] = changes("cases", ())
    """The column of the text, or the two of a pair; told from the usual names if not given."""
    label: str = changes("cases", "")
    """The column of the label."""
    classes: dict[str, tuple[str | int | float, ...]] | None = changes("cases", None)
    """Labels put together: {negative = [1, 2], neutral = [3], positive = [4, 5]}; labels not named are left out."""
    roles: dict[str, str] | None = changes("cases", None, resolve=_roles)
    """Which class is fst, sec and neu; known for sentiment and NLI. The word for neu is never trained on."""
    rotate: bool = changes("cases", False)
    """Let each of the three classes be neu in turn."""
    per_label: tuple[AtLeastOne, ...] = changes("answers", (2000,))
    """K: how many texts of each class are trained on."""
    test_per_label: AtLeastOne = changes("cases", 1000)
    """M: how many texts of each class are tested, each with all three templates."""
    validation_per_label: Count = changes("cases", 250)
    """How many texts of each class choose the epoch, in the trained combinations only; 0: the last epoch is taken."""
    template: tuple[str, ...] = changes("cases", (f"It is {SLOT}",))
    """What is put behind each text, with one slot for the class's word."""
    names: dict[str, str] | tuple[dict[str, str], ...] = changes("cases", (), resolve=_words)
    """The word for each class: {positive = "great", neutral = "okay", negative = "terrible"}, or a list of such."""
    control: tuple[Control, ...] = changes("answers", ("none",))
    """Train on all nine cells, on texts or templates alone, or not at all; none: the probe itself."""
    reveal: tuple[Count, ...] = changes("answers", (0,))
    """How many items with the third word are trained on after all: so many neu/neu, and as many with other texts."""
    max_tokens: AtLeastOne = changes("cases", 100)
    """Longer texts (pairs: both together, the template not counted) are left out."""
    tokenizer: str = changes("cases", "", resolve=_tokenizer)
    """The model whose word pieces are counted; empty: words and punctuation marks."""
    single_segment: bool = changes("cases", False)
    """Join a pair and its template into one text, instead of the template behind the second."""
    epochs: Annotated[int, Within(1, 10_000)] = changes("answers", 10)
    """How long to train; the model is asked after each."""
    curve: bool = changes("answers", True)
    """No: asked at the end only, a sixth less work; the last epoch is then the one that counts."""
    learning_rate: Rate | None = changes("answers", None)
    """By default the paper's 1e-5, and 5e-4 for the very small `tiny:` models."""
    batch: BatchSize = changes("answers", 32)
    """Items per step."""
    batch_of: dict[str, BatchSize] | None = changes(
        "answers", None, when=lambda settings: bool(settings.batch_of)
    )
    """Items per step of the models whose name holds a word, where they are not `batch`: {large = 8}."""
    warm_up: Share = changes("answers", 0.06)
    """The share of steps over which the learning rate rises; then it falls to nothing."""
    head: Literal["own", "linear"] = changes("answers", "own")
    """own: the architecture's; linear: one layer on the first token's state, as the paper writes it."""
    trained: bool = changes("answers", False)
    """The model was trained on these items already, somewhere else: ask it as it is."""
    seed: Seed = changes("scoring", 0)
    """For the training texts, their order and the new head."""
    test_seed: Seed = changes("cases", 0)
    """For the test and validation texts: the same for every seed, so that seeds can be compared text by text."""
    threads: Threads = changes("answers", 1)
    """Processor threads for training and asking."""
    resamples: Resamples = changes("scoring", 2000)
    """Bootstrap resamples behind the intervals of means."""

    def __post_init__(self) -> None:
        if "" in (self.batch_of or {}):
            raise PlanError(
                f"batch_of = {self.batch_of}",
                why="a word of a model's name is expected before each number",
                fix="batch_of = {large = 8}",
            )


def combinations(settings: Settings) -> list[Settings]:
    """One for each combination of what stands in lists."""
    names = (settings.names,) if isinstance(settings.names, dict) else settings.names
    lists = (settings.control, settings.per_label, settings.template, names or (None,), settings.reveal)
    return [
        replace(
            settings,
            control=(control,),
            per_label=(per_label,),
            template=(template,),
            names=() if words is None else (words,),
            reveal=(reveal,),
        )
        for control, per_label, template, words, reveal in product(*lists)
    ]
