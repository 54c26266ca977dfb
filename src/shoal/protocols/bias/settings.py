"""Settings of a bias audit, and the profiles for points where paper and code differ (`docs/method/bias.md` 5.8)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from ...core.files import digest
from ...core.ranges import AtLeastOne, Count, Epochs, Rate, Seed, WarmUp, Within
from ...training.config import TrainConfig
from ..base import Profiled, changes

Representation = Literal["cls", "mean", "word_mean", "first_piece_no_specials"]
Profile = Literal["recommended", "paper", "reference"]


@dataclass(frozen=True, slots=True)
class Conventions:
    """Definitions that depend on the profile and have no setting of their own."""

    strict_ties: bool = False
    """Count only strictly larger scores and sums. Otherwise equal scores count as in the code of each diagnostic."""
    multiply_pieces: bool = False
    """stereoset: a filler's probability is the product of its pieces' probabilities, not their mean."""
    fillers_alone: bool = False
    """stereoset: encode a filler without the space before it, and fill every gap of a context with it."""
    mean_over_terms: bool = False
    """stereoset: the mean over target terms, as on the leaderboard, instead of over all clusters."""
    move_words: bool = True
    """seat: a word changes sets with all its sentences. Sentence by sentence, the test rejects too often."""


CONVENTIONS: Mapping[str, Conventions] = {
    "recommended": Conventions(),
    "paper": Conventions(strict_ties=True, multiply_pieces=True, move_words=False),
    "reference": Conventions(fillers_alone=True, mean_over_terms=True, move_words=False),
}
"""`recommended` is ours, `paper` the formulas of the paper, `reference` the code of each diagnostic's authors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pretrain(TrainConfig):
    """Settings of `pretrain`: train a small masked language model from scratch, one for each seed."""

    text: str
    """A file with one paragraph or sentence per line (may be gzipped), or `example`."""
    epochs: Epochs = 10.0
    learning_rate: Rate = 1e-3
    warm_up: WarmUp = 0.1
    width: AtLeastOne = 128
    """Hidden size."""
    vocabulary: AtLeastOne = 8_000
    """Number of word pieces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(TrainConfig):
    """Settings of one table of `tasks`: fine-tune every checkpoint and test it. Defaults are those of BERT."""

    name: str
    """Name of the task in results."""
    train: str
    """Training file: labelled texts or pairs."""
    test: str = ""
    """Test file, in the same format."""
    learning_rate: Rate | None = None
    """Default: 2e-5; 5e-4 for `tiny:` models."""
    weight_decay: Annotated[float, Within(0)] = 0.01
    warm_up: WarmUp = 0.1


def _data(settings: "Settings") -> Any:
    from .build import find_data

    path = find_data(settings) if settings.diagnostic else None
    return digest(path) if path else settings.data


def _tasks(settings: "Settings") -> Any:
    from .training import task_content

    return [task_content(task) for task in settings.tasks]


@dataclass(frozen=True, slots=True)
class Settings(Profiled):
    """Settings of `[bias]` and `--set`. Lists of diagnostics and representations multiply the jobs."""

    diagnostic: tuple[str, ...] = changes("cases", ("crows",))
    """Diagnostics to run: crows, stereoset, seat, clusters, bbq, crows_choice, stereoset_choice."""
    data: str = changes("cases", "", resolve=_data)
    """The diagnostic's file or its folder, or `example`. seat and clusters also accept a folder of tests."""
    columns: tuple[str, ...] = changes("cases", (), when=lambda settings: bool(settings.columns))
    """Columns of the two sentences of crows in another language: ["sent_more_fr", "sent_less_fr"]."""
    tests: tuple[str, ...] = changes("cases", ())
    """Tests of seat and clusters to run. Default: all."""
    limit: Count = changes("cases", 0)
    """Use a random sample of this many cases, the same for all models and seeds; 0 is all."""
    representation: tuple[Representation, ...] = changes("answers", ("cls",))
    """How seat and clusters represent a sentence."""
    seed: Seed = changes("scoring", 0)
    """Seed of pre-training, partitions and resampling."""
    pretrain: Pretrain | None = changes("answers", None)
    """Pre-train tiny:masked first. Each seed then gives a checkpoint of one recipe."""
    tasks: tuple[Task, ...] = changes("cases", (), when=lambda settings: bool(settings.tasks), resolve=_tasks)
    """Downstream tasks on which every checkpoint is fine-tuned and tested."""
    profile: Profile = changes(
        "answers",
        "recommended",
        when=lambda settings: "stereoset" in settings.diagnostic and settings.conventions.fillers_alone,
    )
    """The definition to use where paper and code differ."""
    n_samples: AtLeastOne = changes("scoring", 100_000, advanced=True)
    """Number of random partitions for each p value of seat; all partitions if there are fewer."""

    @property
    def conventions(self) -> Conventions:
        return CONVENTIONS[self.profile]
