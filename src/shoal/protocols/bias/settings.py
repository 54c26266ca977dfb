"""What an audit of bias can be told, and each profile where paper and code differ (`docs/method/bias.md` 5.8)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from ...core.ranges import (
    AtLeastOne,
    Count,
    Epochs,
    Level,
    Rate,
    Resamples,
    Seed,
    Share,
    Within,
)
from ...training.config import TrainConfig
from ..base import Profiled, changes, file_content

Representation = Literal["cls", "mean", "word_mean", "first_piece_no_specials"]
Profile = Literal["recommended", "paper", "reference"]

PROFILES: dict[str, dict[str, Any]] = {
    "recommended": {
        "tie": "reference", "aggregate": "micro", "pieces": "mean", "p_ties": "count", "permute": "words",
        "fillers": "in text",
    },
    "paper": {
        "tie": "strict", "aggregate": "micro", "pieces": "product", "p_ties": "strict", "permute": "texts",
        "fillers": "in text",
    },
    "reference": {
        "tie": "reference", "aggregate": "per_term", "pieces": "mean", "p_ties": "count", "permute": "texts",
        "fillers": "authors",
    },
}  # fmt: skip
"""`recommended` is ours, `paper` the formulas of the paper, `reference` the code of each diagnostic's authors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pretrain(TrainConfig):
    """What `pretrain.…` may say: make a small masked language model from nothing, another for every seed."""

    text: str
    """A file with a paragraph or a sentence per line, gzipped or not; or `example`."""
    epochs: Epochs = 10.0
    learning_rate: Rate = 1e-3
    warm_up: Share = 0.1
    width: AtLeastOne = 128
    layers: AtLeastOne = 2
    heads: AtLeastOne = 4
    vocabulary: AtLeastOne = 8_000
    block: AtLeastOne = 64
    """Tokens of text that are seen together."""
    ask_after: tuple[Count, ...] = ()
    """Epochs after which the model is asked too, besides the end: for curves over the training."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(TrainConfig):
    """What a table of `tasks` may say: fine-tune every checkpoint on this, and test it. The numbers are BERT's own."""

    name: str
    train: str
    """A table of texts, or pairs of texts, with labels; or, without `test`, a task that ships with shoal."""
    test: str = ""
    text: tuple[str, ...] = ()
    """The column of the text, or the two of a pair; told from the usual names if not given."""
    label: str = ""
    """The column of the label."""
    learning_rate: Rate | None = None
    """By default 2e-5, and 5e-4 for the very small `tiny:` models."""
    weight_decay: Annotated[float, Within(0)] = 0.01
    warm_up: Share = 0.1


def _data(settings: "Settings") -> Any:
    from .build import data_digest

    return data_digest(settings) if settings.diagnostic else ""


def _as_authors(settings: "Settings") -> bool:
    return "stereoset" in settings.diagnostic and settings.resolved("fillers") == "authors"


def _tasks(settings: "Settings") -> Any:
    from .finetune import content_of

    return [content_of(task) for task in settings.tasks]


@dataclass(frozen=True, slots=True)
class Settings(Profiled):
    """What `[bias]` in a plan, or `--set` on the command line, may say. Lists of diagnostics and representations
    multiply the jobs."""

    PROFILES: ClassVar[Mapping[str, Mapping[str, Any]]] = PROFILES

    diagnostic: tuple[str, ...] = changes("cases", ("crows",))
    """Which of the table `DIAGNOSTICS`: crows, stereoset, seat, clusters."""
    data: str = changes("cases", "", resolve=_data)
    """The diagnostic's file (for seat and clusters also a folder of tests), a folder that holds it, or `example`."""
    tests: tuple[str, ...] = changes("cases", ())
    """Only these tests of seat and clusters; empty is all."""
    limit: Count = changes("cases", 0)
    """Only a random sample of this many cases, the same for every model and seed; 0 is all."""
    representation: tuple[Representation, ...] = changes("answers", ("cls",))
    """The vector of a sentence in seat and clusters."""
    seed: Seed = changes("scoring", 0)
    """Of pre-training; also for sampled partitions, clusterings and resampled intervals."""
    pretrain: Pretrain | None = changes("answers", None)
    """Pre-train tiny:masked before asking; seeds then make checkpoints of one recipe."""
    tasks: tuple[Task, ...] = changes("cases", (), when=lambda settings: bool(settings.tasks), resolve=_tasks)
    """Tasks on which every checkpoint is fine-tuned and tested, beside its diagnostics."""
    profile: Profile = changes("scoring", "recommended")
    """Where paper and code differ: recommended, paper or reference."""
    tie: Literal["reference", "half", "strict"] | None = changes("scoring", None)
    """Equal scores. reference: in crows equal to 3 decimals is neutral, in stereoset equal counts as anti-stereotype;
    half: unrounded, counts one half; strict: unrounded, counts nothing."""
    aggregate: Literal["micro", "per_term"] | None = changes("scoring", None)
    """stereoset: over all clusters, or the mean over target terms as on the leaderboard."""
    crows_scoring: Literal["unmodified_tokens", "modified_tokens"] = changes(
        "answers", "unmodified_tokens", when=lambda settings: "crows" in settings.diagnostic
    )
    """Masked models: sum over the tokens the sentences share, or mean over those they do not (bias-bench)."""
    pieces: Literal["mean", "product"] | None = changes("scoring", None)
    """stereoset, intra-sentence, masked models: mean of the pieces' probabilities, or their product."""
    fillers: Literal["in text", "authors"] | None = changes("answers", None, when=_as_authors)
    """stereoset, intra-sentence, masked models. in text: a filler is encoded as it stands in its sentence, with the
    blank before it; authors: without, and of a context with several gaps all are filled alike, the first is read."""
    n_samples: AtLeastOne = changes("scoring", 100_000)
    """seat: partitions behind a p value; where there are no more than that, all of them."""
    p_method: Literal["permutation", "normal"] = changes("scoring", "permutation")
    """seat: count partitions, or compare with a normal distribution of their mean and SD."""
    p_ties: Literal["count", "strict"] | None = changes("scoring", None)
    """seat: whether partitions as large as the observed one count."""
    permute: Literal["words", "texts"] | None = changes("scoring", None)
    """seat: what changes sets in a partition. words: each with all its sentences; texts: sentence by sentence, as the
    authors do, which takes sentences about one word for independent ones and finds too much."""
    sd: Literal["n-1", "n"] = changes("scoring", "n-1")
    """seat: the standard deviation in the effect size."""
    level: Level = changes("scoring", 0.01)
    """seat: p below this is significant."""
    resamples: Resamples = changes("scoring", 2000)
    """stereoset: draws of target terms behind the interval of icat."""
    downstream: str = changes("scoring", "", resolve=file_content("downstream"))
    """A table with columns checkpoint, task and score (a fraction): fine-tuned scores that are there already.
    A checkpoint is named by its model spec, or by its seed where it was pre-trained here."""
    margin: Share = changes("scoring", 0.01)
    """Downstream scores are equivalent within this: the SD of a recipe's checkpoints, the difference of two recipes."""
