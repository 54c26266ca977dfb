"""What a ranking can be told; numbers are the paper's where it has one, else those of `docs/method/ranking.md`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ...errors import PlanError
from ...explaining import find_explainer
from ...files import digest
from ...stats.ranking import Ties
from ..base import Profiled, changes, file_content


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
    samples: int = changes("answers", 0, when=lambda settings: bool(settings.explainers))
    """Copies of each example that explainers ask, or steps of gradients; 0: each as it is usually run."""
    absent: Literal["", "mask", "drop"] = changes(
        "answers", "", when=lambda settings: bool(settings.explainers)
    )
    """What stands for an absent word: the model's mask, or nothing; empty: the mask where there is one."""
    scale: Literal["raw", "sum", "largest"] = changes("scoring", "raw")
    """Attributions as they are, or so that the sizes of an example add up to 1, or the largest of them is 1."""
    factors: tuple[str, ...] = changes(
        "scoring", ("ACC", "CONF", "CONF-GT", "RANDOM", "GUESS"), resolve=_code
    )
    """By what models are ranked; your own as "module:function=worse", if high values are worse, or "…=better"."""
    probe_sizes: tuple[int, ...] = changes("scoring", (5, 10, 20))
    """t: how many examples a probe set has; none: models are put in order, how well that works is not studied."""
    probe_sets: int = changes("scoring", 500)
    """B: how many probe sets are drawn, with replacement; the same for all models and factors."""
    population: int = changes("scoring", 0)
    """How many of the examples probe sets are drawn from; 0: all. Accuracy is always that on all."""
    accuracies: tuple[str, ...] = changes("scoring", ())
    """What models get right on the whole test set, where that is known: "MODEL=0.9" each; else what they do here."""
    ties: Ties = changes("scoring", "half")
    """What a tie of two models on a probe set counts: one half, a failure, or as a coin falls."""
    resamples: int = changes("scoring", 2000)
    """How often the population is drawn again for the comparison with ACC."""
    label_next: int = changes("scoring", 10)
    """How many examples of the pool to draw for labelling."""
    draw: Literal["disagreement", "uniform"] = changes("scoring", "disagreement")
    """How they are drawn: the likelier the more pairs of models disagree, or all alike."""
    seed: int = changes(
        "answers", 0, when=lambda settings: bool({"lime", "shapley"} & {*settings.explainers})
    )
    """For probe sets, resampling and what is drawn for labelling; and the copies that explainers ask."""

    def __post_init__(self) -> None:
        lowest = {
            "probe_sizes": 1,
            "probe_sets": 1,
            "population": 0,
            "resamples": 1,
            "label_next": 0,
            "samples": 0,
        }
        for name, least in lowest.items():
            given = getattr(self, name)
            wrong = [number for number in (given if isinstance(given, tuple) else (given,)) if number < least]
            if wrong:
                raise PlanError(
                    f"{name} = {wrong[0]}", why=f"it must be {least} or more", fix=f"{name} = {least}"
                )
        for name in ("data", "factors", "probe_sizes", "labels", "explainers"):
            twice = [value for value in getattr(self, name) if getattr(self, name).count(value) > 1]
            if twice:
                raise PlanError(f"{name} names {twice[0]!r} twice", fix="name it once")
        for name in self.explainers:
            find_explainer(name)
        given_accuracies(self)


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
