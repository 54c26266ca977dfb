"""Settings of a ranking. Numbers are the paper's where it has one, else those of `docs/method/ranking.md`."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from operator import attrgetter
from typing import Annotated, Any, ClassVar

from ...core.errors import PlanError, nearest
from ...core.ranges import AtLeastOne, Count, Epochs, Rate, Seed, Share, WarmUp, Within
from ...explaining import find_explainer
from ...stats.ranking import Ties
from ...training.config import TrainConfig
from ..base import Profiled, changes, file_content


@dataclass(frozen=True, slots=True)
class Dose:
    """What one model of a family sees of the new domain, besides the data that it is trained on."""

    mixed: Mapping[str, Share] = field(default_factory=dict)
    """Share of the training examples, by name in `train.out`."""
    later: bool = False
    """Train on the old domain first, then on the mixture."""
    epochs: Epochs | None = None
    """Epochs on the mixture, if not `train.epochs`."""
    steps: Mapping[str, Count] = field(default_factory=dict)
    """Final batches of new data alone, by name in `train.out`."""

    @property
    def title(self) -> str:
        """Return the dose in words.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Train(TrainConfig):
    """A family of models, trained from the same weights with doses of the new domain (`[ranking.train]`).

    Defaults are the paper's Table 6: its warm-up is a tenth of the steps, except for HANS (`warm_up = 500`) and two of
    the PAWS models (`warm_up = 1200`).
    """

    on: str = "signals:MORPH:ambiguous"
    """Data of the old domain: a file or built-in data. Empty: the model keeps its head and sees the doses only."""
    out: Mapping[str, str] = field(default_factory=dict)
    """Data of the new domain for the doses: a name for each file."""
    doses: tuple[Dose, ...] = (Dose(),)
    """One model for each; {} is the model that sees nothing of the new domain."""
    learning_rate: Rate | None = None
    """Default: the paper's 1e-5; 5e-4 for `tiny:` models."""
    warm_up: WarmUp = 0.1
    weight_decay: Annotated[float, Within(0)] = 0.1

    def __post_init__(self) -> None:
        TrainConfig.__post_init__(self)
        if not self.doses:
            raise PlanError("train.doses is empty", fix="doses = [{}, {mixed = {L = 0.02}}], one per model")
        for dose in self.doses:
            self._check_dose(dose)
        titles = [dose.title for dose in self.doses]
        twice = next((title for title in titles if titles.count(title) > 1), None)
        if twice:
            raise PlanError(f"train.doses lists {twice} twice", fix="list each dose once")

    def _check_dose(self, dose: Dose) -> None:
        for name in (*dose.mixed, *dose.steps):
            if name not in self.out:
                raise PlanError(
                    f"train.doses: unknown data {name!r}",
                    why=f"train.out has {', '.join(self.out) or 'none'}",
                    fix=nearest(name, self.out) or f'out = {{{name} = "FILE"}}',
                )
        if not self.on and any(dose.mixed.values()):
            raise PlanError(
                f"train.doses: {dose.title} is mixed into nothing",
                why='train.on is "", so there is no data of the old domain',
                fix="steps = {…}, or train.on = FILE",
            )
        if sum(dose.mixed.values()) > 1:
            raise PlanError(
                f"train.doses: the shares of {dose.title} exceed 1", fix="shares that add up to 1 or less"
            )


def _training(settings: "Settings") -> Any:
    """Return what decides the training besides its data, which the stages name by content."""
    if settings.train is None:
        return None
    return {name: value for name, value in asdict(settings.train).items() if name not in ("on", "out")}


_explains = attrgetter("explainers")


@dataclass(frozen=True, slots=True)
class Settings(Profiled):
    """Settings of `[ranking]` in a plan, or of `--set` on the command line."""

    REMOVED: ClassVar[Mapping[str, str]] = {
        "steps": "samples = {gradients = 50}",
        "id": "name the column id, case_id or uid",
        "feature": "name the column feature",
    }

    data: tuple[str, ...] = changes("cases", ("sentiment",), resolve=file_content("data"))
    """Labelled examples of the new domain: files, or the built-in `sentiment`, `opinions` or `paraphrase`."""
    pool: str = changes("cases", "", resolve=file_content("pool"))
    """File of unlabelled examples, from which shoal draws the next to label."""
    text: tuple[str, ...] = changes("cases", (), advanced=True)
    """Column of the text, or the two columns of a pair. Default: found by name."""
    label: str = changes("cases", "", advanced=True)
    """Column of the label; a row without a label is unlabelled."""
    labels: tuple[str, ...] = changes("cases", ())
    """All labels. Needed only if the examples do not have every label."""
    classes: dict[str, tuple[str, ...]] | None = changes("cases", None, advanced=True)
    """Labels to merge, summing probabilities: {non-entailment = ["neutral", "contradiction"]}."""
    explainers: tuple[str, ...] = changes("cases", ())
    """Explainers for attribution factors: lime, shapley, gradients."""
    samples: dict[str, AtLeastOne] | None = changes("answers", None, when=_explains, advanced=True)
    """Copies per example (lime, shapley) or steps (gradients), by explainer."""
    train: Train | None = changes("answers", None, resolve=_training)
    """Train a family of models with doses of the new domain; by default models are used as they are."""
    factors: tuple[str, ...] = changes("scoring", ("ACC", "CONF", "CONF-GT", "RANDOM", "GUESS"))
    """Factors to rank by: see `shoal list factors`."""
    probe_sizes: tuple[AtLeastOne, ...] = changes("scoring", (5, 10, 20))
    """Number of examples per probe set (t). An empty list only orders the models."""
    probe_sets: AtLeastOne = changes("scoring", 500)
    """Number of probe sets (B), drawn with replacement, the same for all models and factors."""
    # Stored answers name "all examples" by 0.
    population: AtLeastOne | None = changes(
        "answers", None, when=_explains, resolve=lambda settings: settings.population or 0, advanced=True
    )
    """Number of examples to explain and to draw probe sets from. Default: all. Accuracy always uses all."""
    ties: Ties = changes("scoring", "half", advanced=True)
    """Count a tie on a probe set as one half, or as a failure."""
    label_next: Count = changes("scoring", 10)
    """Number of examples of the pool to label next."""
    seed: Seed = changes(
        "answers", 0, when=lambda settings: bool({"lime", "shapley"} & {*settings.explainers})
    )
    """Seed of every random step."""

    def __post_init__(self) -> None:
        for name in ("data", "factors", "probe_sizes", "labels", "explainers"):
            twice = [value for value in getattr(self, name) if getattr(self, name).count(value) > 1]
            if twice:
                raise PlanError(f"{name} lists {twice[0]!r} twice", fix="list it once")
        for name in self.explainers:
            find_explainer(name)
        for name in self.samples or {}:
            if name not in self.explainers:
                raise PlanError(
                    f"samples: {name!r} is not one of the explainers",
                    why=f"explainers are {', '.join(self.explainers) or 'none'}",
                    fix=nearest(name, self.explainers) or f'explainers = ["{name}"]',
                )
