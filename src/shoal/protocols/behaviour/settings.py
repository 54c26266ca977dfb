"""What a behaviour audit can be told, and what each profile says where papers and code differ."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, get_args

from ...core.ranges import BatchSize, Count, Epochs, Rate, Seed, Share, Threads, Within
from ..base import Profiled, changes

SPLITS = ("train", "validation", "test")

Profile = Literal["recommended", "paper", "reference"]

PROFILES: dict[str, dict[str, Any]] = {
    "recommended": {
        "edits": "repaired",
        "duplicates": "keep",
        "split_by": "content",
        "tolerance": None,
        "slack": 1e-9,
        "directional": "checklist",
        "band": "inclusive",
    },
    "paper": {
        "edits": "beluga",
        "duplicates": "keep",
        "split_by": "id",
        "tolerance": 0.0,
        "slack": 1e-9,
        "directional": "paper",
        "band": "inclusive",
    },
    "reference": {
        "edits": "beluga",
        "duplicates": "keep",
        "split_by": "id",
        "tolerance": None,
        "slack": 0.0,
        "directional": "checklist",
        "band": "strict",
    },
}
"""`recommended` is ours, `paper` the text of the BELUGA paper, `reference` its code, quirks included."""


Config = Literal["iid", "iid>suite", "iid+suite", "iid>iid+suite"]
HoldOut = Literal["none", "seen", "functionality", "capability", "test type", "others"]

RANGES: dict[str, Within] = {
    name: get_args(kind)[1]
    for name, kind in (("learning_rate", Rate), ("batch", BatchSize), ("epochs", Epochs))
}
"""Of a training as a whole and of each method."""


@dataclass(frozen=True, slots=True)
class Train:
    """What `train.…` may say: on what to train before asking, and how. Lists multiply the jobs.

    Numbers left out are the paper's: the i.i.d. stage's own, the suite stage's as tuned for task, configuration and
    method (`hyper.py`).
    """

    on: tuple[Config, ...] = ("iid", "iid>suite")
    """i.i.d. data only; then the suite; both mixed from the start; i.i.d. data, then both mixed."""
    from_: Literal["base", "model"] = "base"
    """Start from the model's base weights under a fresh head; or from the model as it is, with its own head: then it
    stands where the i.i.d. stage would, and the iid row is the model untrained."""
    method: tuple[str, ...] = ("vanilla",)
    """How the stage with the suite is trained: vanilla, l2, dropout, lp, lp-ft, irm, group-dro, fish, lora. The i.i.d.
    stage is always plain."""
    learning_rate: Rate | None = None
    """Of every method but lp, which trains a head alone: train.options.lp.learning_rate."""
    batch: BatchSize | None = None
    epochs: Epochs | None = None
    iid_learning_rate: Rate | None = None
    iid_batch: BatchSize | None = None
    iid_epochs: Epochs | None = None
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Variants of a method, by its name: train.options.irm.scalar = true. Its learning_rate, batch and epochs can be
    given there too."""
    tune: bool = False
    """Find learning rate, batch and epochs of the stage with the suite by trying the paper's grid, once for each
    configuration and method, on the validation split; what is given here or in options is not tried."""
    select_on: Literal["paper", "G_val"] = "paper"
    """What the best of the grid is best at: the paper's sum over test types, or G on validation data, which sees the
    i.i.d. score too."""
    loss: Literal["softmax", "sigmoid"] | None = None
    """For labels, in the stage with the suite: the paper's cross-entropy, or the independent sigmoids of its code; else
    as the profile says."""
    invariance: Literal["paper", "stop_grad_original", "kl", "symmetric_kl", "js"] = "paper"
    """For INV cases: equation 5, or a variant that does not reward confidence."""
    direction: Literal["paper", "margin"] = "paper"
    """For DIR cases: equation 6, or a margin on log-odds, which has a gradient where a model is sure as well."""
    group_by_length: bool | None = None
    """Put texts of like length into a batch: less padding, and another mix in each. Else only the i.i.d. stage does,
    where there is nothing to mix; in the profiles paper and reference it does not either."""
    threads: Threads = 1
    """Processor threads of a job. Another number can change the last digits, so it stands here and not on the command
    line; --workers runs several jobs at a time."""


def _suite(settings: "Settings") -> Any:
    from .build import suite_digest
    from .iid import stamp

    return suite_digest(settings.suite, stamp(settings.suite))


def _split(settings: "Settings") -> Any:
    from .build import split_identity

    return split_identity(settings)


def _iid(settings: "Settings") -> Any:
    from .build import iid_digest

    return iid_digest(settings) if settings.has_iid else ""


def _ood(settings: "Settings") -> Any:
    from .iid import ood_digest

    return ood_digest(settings)


def _asks_ood(settings: "Settings") -> bool:
    return bool(settings.ood)


def _samples(settings: "Settings") -> bool:
    return bool(settings.limit) and settings.train is None


def _narrows(settings: "Settings") -> bool:
    return bool(settings.only)


def _asks_held_out(settings: "Settings") -> bool:
    return settings.hold_out_asks != "all"


def _held_out(settings: "Settings") -> Any:
    if settings.hold_out_asks == "all":
        return "all"
    return {"hold out": list(settings.hold_out), "fold": settings.fold}


@dataclass(frozen=True, slots=True)
class Settings(Profiled):
    """What `[behaviour]` in a plan, or `--set` on the command line, may say."""

    PROFILES: ClassVar[Mapping[str, Mapping[str, Any]]] = PROFILES

    suite: str = changes("cases", "sentiment", resolve=_suite)
    """The name of a suite that ships with shoal, or a file: a suite file, a module (.py), or as in `list formats`."""
    split: str = changes("cases", "", resolve=_split)
    """Only this part of the suite: train, validation, test, FILE (its test part) or FILE:train. Empty: all of it."""
    limit: Count = changes("cases", 0)
    """Only a random sample of this many cases; 0 is all."""
    only: tuple[str, ...] = changes("cases", (), when=_narrows)
    """Only the cases of these groups: functionality=neg*, capability=negation. The rest is not asked."""
    seed: Seed = changes("cases", 0, when=_samples)
    """For the training, or the sample of a model that is asked as it is; also for resampled intervals."""
    profile: Profile = changes("scoring", "recommended")
    """Where papers and code differ: recommended, paper or reference."""
    edits: Literal["none", "beluga", "repaired"] | None = changes("cases", None)
    """Mend known defects of the released suites; by default as the profile says."""
    duplicates: Literal["keep", "drop"] | None = changes("cases", None)
    """Cases with the same examples and labels in one functionality: keep all, or the first; by default as the profile
    says, which is to keep them."""
    split_by: Literal["content", "id"] | None = changes("cases", None)
    """Keep cases that read the same on one side of the split, or go by their ids; by default as the profile says."""
    tolerance: Annotated[float, Within(0, 2)] | None = changes("scoring", None)
    """How far a probability may move in INV and DIR tests; by default as the suite and the profile say."""
    slack: Share | None = changes("scoring", None)
    """Added to every tolerance against rounding noise; by default 1e-9, and 0 in profile reference."""
    directional: Literal["checklist", "paper"] | None = changes("scoring", None)
    """Judge DIR tests by CheckList's rules, or by the paper's strict inequality."""
    band: Literal["inclusive", "strict"] | None = changes("scoring", None)
    """Edges of the neutral band that makes three classes of a two-class sentiment model."""
    unparsed: Literal["error", "fail"] = changes("scoring", "error")
    """What a model says that is none of the labels: no answer, counted as an error; or a failure."""
    resamples: Annotated[int, Within(10, 1_000_000)] = changes("scoring", 2000)
    """Draws of cases behind the intervals of G in behavioural learning; other intervals draw nothing."""

    # Behavioural learning

    train: Train | None = changes("answers", None)
    """Train before asking; empty asks the model as it is."""
    iid: str = changes("cases", "", resolve=_iid)
    """The i.i.d. data: sentiment or paraphrase for the package's own, or a file to train on."""
    iid_test: str = changes("cases", "")
    """The file of i.i.d. data to test on, where iid is a file; with train.from = "model" it may stand alone."""
    iid_halves: bool = changes("cases", False)
    """iid_test is a public validation set, halved as BELUGA does: one half to choose by, the other to test on."""
    iid_texts: tuple[str, ...] = changes("cases", ())
    """Names of the columns with the text or the two texts; guessed where not given."""
    iid_label: str = changes("cases", "")
    """Name of the column with the label; guessed where not given."""
    iid_labels: tuple[str, ...] = changes("cases", ())
    """What the data's labels, sorted, are called in the suite, where they go by other names: negative, positive."""
    iid_limit: Count = changes("cases", 0)
    """Only this many i.i.d. rows to train on, drawn at random; 0 is all."""
    ood: tuple[str, ...] = changes("cases", (), when=_asks_ood, resolve=_ood)
    """Further labelled data to ask beside the i.i.d. test data, never trained on: FILE or NAME=FILE, each a column."""
    hold_out: tuple[HoldOut, ...] = changes("answers", ())
    """Retrain without each functionality, capability or test type in turn, and test on what was left out. "others"
    leaves out all but one functionality in turn, and tests on all: the transfer matrix."""
    hold_out_sample: Count = changes("answers", 0)
    """Only so many functionalities, drawn at random, are left out; 0 is all."""
    hold_out_asks: Literal["all", "held out"] = changes(
        "cases", "all", when=_asks_held_out, resolve=_held_out
    )
    """What a model that left something out is asked: the whole suite; or what it left out and the i.i.d. rows, which
    is all that the table reads."""
    sample_seed: Seed = changes("cases", 0)
    """For that draw, and for the sample of `limit` where models are trained: the same for every method and seed."""
    fold: str = changes("answers", "")
    """Only this functionality, capability or test type is left out."""
    s_iid_mode: Literal["full", "mean_over_heldout"] = changes("scoring", "full")
    """The i.i.d. score inside G: of the model trained on the full suite, or the mean over the held-out ones."""
    shuffles: Annotated[int, Within(10, 10_000_000)] = changes("scoring", 10_000)
    """Shuffles of the randomisation test of G."""

    @property
    def has_iid(self) -> bool:
        """Whether there are i.i.d. rows to ask."""
        return bool(self.iid or self.iid_test)
