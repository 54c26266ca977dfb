"""What a ranking can be told; numbers are the paper's where it has one, else those of `docs/method/ranking.md`."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from ...core.errors import PlanError, nearest
from ...core.files import digest
from ...explaining import find_explainer
from ...stats.ranking import Ties
from ..base import Profiled, changes, file_content
from ..ranges import AtLeastOne, BatchSize, Count, Epochs, Rate, Resamples, Seed, Share, Threads, Within


@dataclass(frozen=True, slots=True)
class Dose:
    """What one model of a family is shown of the new domain, beside the data that it is trained on."""

    mixed: Mapping[str, Share] = field(default_factory=dict)
    """Data by their name in `train.out`: the share of the training examples that they make up."""
    later: bool = False
    """Train on the data of the old domain alone first, then again on the mixture."""
    epochs: Epochs | None = None
    """How long the mixture is trained on, where that is longer or shorter than `train.epochs`."""
    steps: Mapping[str, Count] = field(default_factory=dict)
    """Data by their name in `train.out`: so many batches of nothing else, at the end."""

    @property
    def title(self) -> str:
        """In words.

        >>> Dose({"L": 0.02, "S": 0.01}).title, Dose(steps={"hans": 25}).title, Dose().title
        ('2% L 1% S', '25 steps hans', 'none')
        """
        words = [f"{100 * share:g}% {name}" for name, share in self.mixed.items() if share]
        if words and self.later:
            words.append("later")
        if words and self.epochs is not None:
            words.append(f"{self.epochs:g} epochs")
        words += [f"{count} steps {name}" for name, count in self.steps.items() if count]
        return " ".join(words) or "none"


@dataclass(frozen=True, slots=True)
class Train:
    """What `train.…` may say: a family of models, trained here from the same weights with doses of the new domain.

    Numbers are the paper's where it has them (Table 6): the rate rises over the first tenth, weights decay by .1.
    """

    on: str = "signals:MORPH:ambiguous"
    """Data of the old domain: a file, or data that ship with shoal."""
    out: Mapping[str, str] = field(default_factory=dict)
    """Data of the new domain, to be trained on in doses: a name for each file."""
    doses: tuple[Dose, ...] = (Dose(),)
    """A model each; {} is the one that sees nothing of the new domain."""
    rows: Count = 0
    """How many examples to train on, drawn at random; 0: all there are, or 3,000 where they are made."""
    epochs: Epochs = 3.0
    batch: BatchSize = 32
    learning_rate: Rate | None = None
    """By default the paper's 1e-5, and 5e-4 for the very small `tiny:` models."""
    warm_up: Share = 0.1
    """Share of the steps in which the rate rises; then it falls to nothing."""
    weight_decay: Annotated[float, Within(0)] = 0.1
    threads: Threads = 1
    """Processor threads of a job; another number can change the last digits."""

    def __post_init__(self) -> None:
        if not self.doses:
            raise PlanError("train.doses is empty", fix="doses = [{}, {mixed = {L = 0.02}}], a model each")
        for dose in self.doses:
            for name in (*dose.mixed, *dose.steps):
                if name not in self.out:
                    raise PlanError(
                        f"train.doses: no data are called {name!r}",
                        why=f"train.out has {', '.join(self.out) or 'none'}",
                        fix=nearest(name, self.out) or f'out = {{{name} = "FILE"}}',
                    )
            if sum(dose.mixed.values()) > 1:
                raise PlanError(
                    f"train.doses: {dose.title} is more than everything",
                    fix="shares that add up to 1 or less",
                )
            if (dose.later or dose.epochs is not None) and not any(dose.mixed.values()):
                raise PlanError(
                    "train.doses: later and epochs are about a mixture, and nothing is mixed in",
                    fix="mixed = {L = 0.02}, or leave them out",
                )
        titles = [dose.title for dose in self.doses]
        twice = next((title for title in titles if titles.count(title) > 1), None)
        if twice:
            raise PlanError(f"train.doses: {twice} is there twice", fix="name each dose once")


def _training(settings: "Settings") -> Any:
    """How models are trained, but for the data: the stages of the training tell these by their content."""
    if settings.train is None:
        return None
    return {name: value for name, value in asdict(settings.train).items() if name not in ("on", "out")}


def _population(settings: "Settings") -> Any:
    return settings.population or 0  # 0 is how stored answers name all examples


def _code(settings: "Settings") -> Any:
    from .factors import identity

    return [identity(factor) for factor in settings.factors]


def _contents(settings: "Settings") -> Any:
    return [{"content": digest(Path(name))} if Path(name).exists() else name for name in settings.data]


@dataclass(frozen=True, slots=True)
class Settings(Profiled):
    """What `[ranking]` in a plan, or `--set` on the command line, may say."""

    data: tuple[str, ...] = changes("cases", ("sentiment",), resolve=_contents)
    """Labelled examples of the new domain: files, or `sentiment`, `opinions` or `paraphrase`, which ship with shoal."""
    pool: str = changes("cases", "", resolve=file_content("pool"))
    """A file of examples without labels; which of them to label next is told by where models disagree."""
    text: tuple[str, ...] = changes("cases", ())
    """The column of the text, or the two of a pair; told from the usual names if not given."""
    label: str = changes("cases", "")
    """The column of the label; a row without one is an example to be labelled."""
    id: str = changes("cases", "")
    """The column that names an example, for files of predictions; `case_id` or `id` if there is one, else the line."""
    labels: tuple[str, ...] = changes("cases", ())
    """Every label there is; needed where the examples do not have all of them."""
    classes: dict[str, tuple[str, ...]] | None = changes("cases", None)
    """Answers put together: {non-entailment = ["neutral", "contradiction"]}; their probabilities are added up."""
    feature: str = changes("cases", "")
    """The column that names the word which IRREG, VERB and ADJ are about: the word, or its number from 0."""
    explainers: tuple[str, ...] = changes("cases", ())
    """What says how much each word counts, for factors that need it: lime, shapley, gradients."""
    samples: Count = changes("answers", 0, when=lambda settings: bool(settings.explainers))
    """Copies of each example that lime and shapley ask; 0: each as it is usually run."""
    steps: Count = changes("answers", 0, when=lambda settings: "gradients" in settings.explainers)
    """Steps of gradients; 0: 300."""
    absent: Literal["", "mask", "drop"] = changes(
        "answers", "", when=lambda settings: bool(settings.explainers)
    )
    """What stands for an absent word: the model's mask, or nothing; empty: the mask where there is one."""
    train: Train | None = changes("answers", None, resolve=_training)
    """Train before asking: a family of models with doses of the new domain; empty asks each model as it is."""
    scale: Literal["raw", "sum", "largest"] = changes("scoring", "raw")
    """Attributions as they are, or so that the sizes of an example add up to 1, or the largest of them is 1."""
    factors: tuple[str, ...] = changes(
        "scoring", ("ACC", "CONF", "CONF-GT", "RANDOM", "GUESS"), resolve=_code
    )
    """By what models are ranked; your own as "module:function=worse", if high values are worse, or "…=better"."""
    combine: tuple[str, ...] = changes("scoring", ())
    """Factors to be put together with ACC, by a logistic regression that learns from pairs of other models."""
    probe_sizes: tuple[AtLeastOne, ...] = changes("scoring", (5, 10, 20))
    """t: how many examples a probe set has; none: models are put in order, how well that works is not studied."""
    probe_sets: AtLeastOne = changes("scoring", 500)
    """B: how many probe sets are drawn, with replacement; the same for all models and factors."""
    population: AtLeastOne | None = changes(
        "answers", None, when=lambda settings: bool(settings.explainers), resolve=_population
    )
    """How many examples probe sets are drawn from, and explained; by default all. Accuracy is always on all."""
    accuracies: tuple[str, ...] = changes("scoring", ())
    """What models get right on the whole test set, where that is known: "MODEL=0.9" each; else what they do here."""
    ties: Ties = changes("scoring", "half")
    """What a tie of two models on a probe set counts: one half, a failure, or as a coin falls."""
    resamples: Resamples = changes("scoring", 2000)
    """How often the population is drawn again for the comparison with ACC."""
    label_next: Count = changes("scoring", 10)
    """How many examples of the pool to draw for labelling."""
    draw: Literal["disagreement", "uniform"] = changes("scoring", "disagreement")
    """How they are drawn: the likelier the more pairs of models disagree, or all alike."""
    seed: Seed = changes(
        "answers", 0, when=lambda settings: bool({"lime", "shapley"} & {*settings.explainers})
    )
    """For probe sets, resampling and what is drawn for labelling; the copies that explainers ask; and the training."""

    def __post_init__(self) -> None:
        for name in ("data", "factors", "combine", "probe_sizes", "labels", "explainers"):
            twice = [value for value in getattr(self, name) if getattr(self, name).count(value) > 1]
            if twice:
                raise PlanError(f"{name} names {twice[0]!r} twice", fix="name it once")
        for name in self.explainers:
            find_explainer(name)
        if given_accuracies(self) and self.train is not None:
            raise PlanError(
                "accuracies and train: two sources for one value",
                why="what models that are trained here get right is measured on all of data",
                fix="leave accuracies out",
            )


def given_accuracies(settings: Settings) -> dict[str, float]:
    """Model to what it gets right on the whole test set."""
    rates = {}
    for written in settings.accuracies:
        name, equals, number = written.rpartition("=")
        try:
            rates[name] = float(number)
        except ValueError:
            rates[name] = -1.0
        if not equals or not 0 <= rates[name] <= 1:
            raise PlanError(
                f"accuracies: {written!r}", why="a share between 0 and 1 is expected", fix="MODEL=0.9"
            )
    return rates
