"""Settings of `[learning]`: those of `[behaviour]`, the i.i.d. data, the trainings and what each leaves out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal

from ...core.ranges import Count, Epochs, Seed, Within
from ...training.config import TrainNumbers
from ..base import changes
from ..behaviour import settings as behaviour
from ..behaviour.build import split_identity
from .iid import iid_identity, test_identity

Config = Literal["iid", "iid>suite", "iid+suite", "iid>iid+suite"]
HoldOut = Literal["none", "seen", "functionality", "capability", "test type"]
Asked = Literal["all", "held out"]
Method = Literal["vanilla", "l2", "dropout", "lp", "lp-ft", "irm", "group-dro", "fish", "lora"]
"""In the order of the paper's Table 3; ours come last."""
Teach = Literal["nothing", "instructions", "demonstrations", "both"]


@dataclass(frozen=True, slots=True)
class Train(TrainNumbers):
    """The table `train`: which data to train on, in which order, and how. Lists multiply the jobs.

    Numbers that are not set are the authors': the i.i.d. stage has its own, the suite stage their fallback for task,
    configuration and method (`hyper.py`). learning_rate is that of every method but lp, which only trains a head:
    train.options.lp.learning_rate.
    """

    on: tuple[Config, ...] = ("iid", "iid>suite")
    """Data of the stages: `>` separates stages, `+` mixes data."""
    from_: Literal["base", "model"] = "base"
    """Start from base weights with a new head, or from the model and its head. "model" replaces the i.i.d. stage."""
    method: tuple[Method, ...] = ("vanilla",)
    """Method of the suite stage."""
    iid_epochs: Epochs | None = None
    """Epochs of the i.i.d. stage."""
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Options by method: train.options.irm.penalty = 3. Also learning_rate, batch and epochs."""
    tune: bool = False
    """Search the paper's grid of learning rate, batch and epochs on the validation split, per configuration and
    method. Numbers that the plan sets stay fixed."""


@dataclass(frozen=True, slots=True)
class IidPredictions:
    """The table `iid_predictions`: files with stored answers to `iid_test`, also used by held-out scenarios."""

    iid: str = ""
    """File with the answers of the model that was not trained on the suite."""
    seen: str = ""
    """File with the answers of the model that was trained on the whole suite."""


@dataclass(frozen=True, slots=True)
class Predictions(IidPredictions):
    """The table `predictions`: stored answers to the suite's test split, a file per scenario. Nothing is trained."""

    functionality: str = ""
    """File with the answers to each functionality, by the model trained on the suite without it."""
    capability: str = ""
    """File with the answers to each functionality, by the model trained without its capability."""
    test_type: str = ""
    """File with the answers to each functionality, by the model trained without its test type."""


def given(files: IidPredictions) -> dict[str, str]:
    """Return the files that are given, by key."""
    return {field.name: value for field in fields(files) if (value := getattr(files, field.name))}


def scenario_of(key: str) -> Any:
    """Return the scenario of a key of `[learning.predictions]`."""
    return "none" if key == "iid" else key.replace("_", " ")


def _split(settings: "Settings") -> Any:
    return split_identity(settings, settings.tested_split)


def _held_out(settings: "Settings") -> Any:
    if settings.hold_out_asks == "all":
        return "all"  # else jobs of one plan would be scored differently, and could not be compared
    part = {"hold out": list(settings.hold_out), "fold": settings.fold}
    return part | ({"iid": False} if settings.teach else {})


def _nothing(settings: "Settings") -> str:
    """Return the same for all: a job does not depend on the other tasks of its plan."""
    return ""


@dataclass(frozen=True, slots=True)
class Settings(behaviour.Settings):
    """Settings of `[learning]` in a plan."""

    split: str = changes("cases", "", resolve=_split)
    """Part of the suite to test on: test (default), validation, FILE (its test part) or FILE:validation."""
    seed: Seed = changes("cases", 0, when=lambda settings: False)
    """Seed of training, resampling and shuffles."""
    train: Train = changes("answers", Train())
    """Data, order and methods of the trainings."""
    iid: str = changes("cases", "", resolve=iid_identity)
    """i.i.d. training data: a file, or the built-in sentiment, paraphrase or reading."""
    iid_test: str = changes("cases", "", resolve=test_identity)
    """i.i.d. test file, if iid is a file. With train.from = "model" iid may be empty."""
    iid_halves: bool = changes("cases", False, advanced=True)
    """Halve iid_test as BELUGA does: one half for validation, the other for testing."""
    iid_labels: tuple[str, ...] = changes("cases", (), advanced=True)
    """Names in the suite of the labels of the data, which are sorted: negative, positive."""
    text: tuple[str, ...] = changes("cases", (), advanced=True)
    """Columns of the i.i.d. texts. Default: found by name."""
    label: str = changes("cases", "", advanced=True)
    """Column of the i.i.d. label. Default: found by name."""
    iid_limit: Count = changes("cases", 0)
    """Train on a random sample of this many i.i.d. rows; 0 is all."""
    hold_out: tuple[HoldOut, ...] = changes("answers", ())
    """Retrain without each functionality, capability or test type, and test on the held-out part."""
    hold_out_sample: Count = changes("answers", 0, advanced=True)
    """Hold out a random sample of this many functionalities; 0 is all."""
    hold_out_asks: Asked = changes(
        "cases",
        "all",
        when=lambda settings: settings.hold_out_asks != "all",
        resolve=_held_out,
        advanced=True,
    )
    """Test a held-out model on the whole suite, or only on the held-out part and the i.i.d. rows, which the table
    needs."""
    fold: str = changes("answers", "", advanced=True)
    """Hold out only this functionality, capability or test type."""
    teach: tuple[Teach, ...] = changes("answers", (), when=lambda settings: bool(settings.teach))
    """What the prompt teaches a prompted model, which shoal cannot train. "nothing" is the baseline."""
    predictions: Predictions = changes("answers", Predictions(), when=lambda settings: False, advanced=True)
    """Stored answers in place of trainings: files by scenario. The job's hash has their content."""
    iid_predictions: IidPredictions = changes(
        "answers", IidPredictions(), when=lambda settings: False, advanced=True
    )
    """Stored answers to iid_test, beside predictions."""
    s_iid_mode: Literal["full", "mean_over_heldout"] = changes("scoring", "full", advanced=True)
    """i.i.d. score in G: of the model trained on the full suite, or the mean over held-out models."""
    shuffles: Annotated[int, Within(10, 10_000_000)] = changes("scoring", 10_000, advanced=True)
    """Shuffles of the randomisation test of G."""
    tasks: dict[str, Any] | None = changes("scoring", None, resolve=_nothing)
    """Tables by task: [learning.tasks.NAME]. Settings above them hold for all."""
    model: str = changes("scoring", "", resolve=_nothing, advanced=True)
    """Model of a task."""
    task: str = changes("scoring", "", resolve=_nothing, advanced=True)
    """Name of a task."""

    @property
    def is_stored(self) -> bool:
        """Return whether the answers are stored predictions."""
        return self.predictions != Predictions()

    @property
    def trains(self) -> bool:
        """Return whether the jobs train models."""
        return not self.is_stored and not self.teach

    @property
    def scenarios(self) -> frozenset[str]:
        """Return what is held out in some job of the plan."""
        return frozenset([*self.hold_out, *map(scenario_of, given(self.predictions))])

    @property
    def tested_split(self) -> str:
        """Return the split that models are tested on."""
        return self.split or "test"
