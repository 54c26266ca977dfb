"""What every protocol offers.

A protocol is a folder whose module has these names: no base class to inherit, nothing to register by import. mypy
checks that each fits.

    Settings ──► parts ──► build ──► recipe ──► ask ──► score ──► compare ──► view
    a table      its       cases     training   rows    one       across      what
    of a plan    jobs      kept      shared     kept    job       jobs        to show

What decides a job's cases, answers and measures is derived from the tags of its settings (`identity`), never written
by hand.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable

from ..core.errors import PlanError
from ..core.files import digest
from ..core.records import Answer, Case, Example, Finding, Measure, Outcome, Result
from ..core.views import Section

if TYPE_CHECKING:
    from ..training.stage import Progress, Recipe

Step = Literal["cases", "answers", "scoring"]
Asks = Literal["labels", "spans", "tokens", "vectors", "attributions"]
"""What a model is asked for. Files of predictions hold labels or spans; the rest is kept as the model says it."""


# Settings and what they decide


def changes(
    step: Step,
    default: Any = MISSING,
    *,
    when: Callable[[Any], bool] | None = None,
    resolve: Callable[[Any], Any] | None = None,
    advanced: bool = False,
) -> Any:
    """A setting, with the first step that it bears on.

    `when` tells of given settings whether it bears on that step at all; if not, it only bears on scoring. `resolve`
    gives what stands in the hash instead of the value: the content of a file, the words that a default means.
    `advanced` settings stand in the reference, not in the guide; plans may put them under `[PROTOCOL.advanced]`.
    """
    metadata = {"changes": step, "when": when, "resolve": resolve, "advanced": advanced}
    return field(default=default, metadata=metadata)


def file_content(name: str) -> Callable[[Any], Any]:
    """For `resolve`: a setting that names a file or folder counts by its content, another word as it is."""

    def content(settings: Any) -> Any:
        value = getattr(settings, name)
        return {"content": digest(Path(value))} if value and Path(value).exists() else value

    return content


@dataclass(frozen=True, slots=True)
class Profiled:
    """Settings whose unset values a profile decides."""

    VERSION: ClassVar[int] = 1
    """Raised when building or asking changes meaning, so that old answers are not taken for new ones."""
    PROFILES: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def resolved(self, name: str) -> Any:
        """A setting's value, the profile's where the user gave none."""
        given = getattr(self, name)
        return self.PROFILES[self.profile][name] if given is None else given  # type: ignore[attr-defined]


def identity(settings: Any, *steps: Step) -> dict[str, Any]:
    """Everything in the settings that decides these steps, resolved."""
    return {
        setting.name: _decisive(settings, setting)
        for setting in fields(settings)
        if step_of(settings, setting) in steps
    }


def step_of(settings: Any, setting: "Field[Any]") -> Step:
    """The first step that a field of given settings bears on."""
    if "changes" not in setting.metadata:
        raise AssertionError(
            f"{type(settings).__module__}.Settings.{setting.name} does not say what it changes"
        )
    step: Step = setting.metadata["changes"]
    when = setting.metadata["when"]
    return step if when is None or when(settings) else "scoring"


def _decisive(settings: Any, setting: "Field[Any]") -> Any:
    if setting.metadata["resolve"] is not None:
        return setting.metadata["resolve"](settings)
    value = getattr(settings, setting.name)
    if value is None:
        profile = getattr(settings, "profile", "")
        return getattr(settings, "PROFILES", {}).get(profile, {}).get(setting.name)
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def differing(settings: Any) -> dict[str, Any]:
    """The settings that are not as the profile has them: what a reader of the results must know."""
    usual = type(settings)()
    aside = {"seed", "profile"}
    return {
        setting.name: getattr(settings, setting.name)
        for setting in fields(settings)
        if setting.name not in aside and getattr(settings, setting.name) != getattr(usual, setting.name)
    }


# What is built


@dataclass(frozen=True, slots=True)
class Built:
    """Cases, with what asking and scoring need to know about them."""

    cases: Sequence[Case]
    """What will be asked and scored."""
    labels: tuple[str, ...] | None = None
    """The names of the answers, where the cases name them."""
    asks: Asks = "labels"
    measures: Sequence[Measure] = ()
    """What building has counted: a funnel of what was left out."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """Plain values about the whole: its name, what was left out."""
    chosen_from: Sequence[Case] = ()
    """What the cases were chosen from, where that is more: answers that are there already may be for all of it."""

    @property
    def whole(self) -> Sequence[Case]:
        """What the cases were chosen from."""
        return self.chosen_from or self.cases


@dataclass(frozen=True, slots=True)
class Scored:
    """What the answers of one job come to."""

    outcomes: Sequence[Outcome]
    measures: Sequence[Measure]
    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    findings: Sequence[Finding] = ()


@dataclass(frozen=True, slots=True)
class Compared:
    """What the jobs of a plan say together."""

    measures: Sequence[Measure] = ()
    findings: Sequence[Finding] = ()


class ProtocolModule(Protocol):
    """One of the ways to audit a model."""

    @property
    def Settings(self) -> type[Any]:  # noqa: N802 (a class)
        """What a plan's table may say; each field says whether it changes cases, answers or only scoring."""
        ...

    def parts(self, settings: Any) -> list[Any]:
        """The settings of the separate jobs that one table of a plan means."""
        ...

    def title(self, settings: Any) -> str:
        """What its cases are in a word or two, for their name and the job's."""
        ...

    def build(self, settings: Any, progress: "Progress") -> Built:
        """The cases, the same for every model that will be asked. Called by the store only, which keeps them.

        A build that takes long may have a third argument, `so_far`: a file, and what is kept there is there again
        after the build was stopped. The store lets nobody else write to it, and removes it when the cases are kept.
        """
        ...

    def recipe(self, settings: Any, model: str) -> "Recipe | None":
        """The training that comes before asking; None to ask the model as it is."""
        ...

    def ask(self, settings: Any, model: Any, built: Built, examples: Sequence[Example]) -> Sequence[Answer]:
        """What the model says of one batch of examples, in order: the only step that touches it.

        Of a model that has answered already, the batch is every example of the cases in order.
        """
        ...

    def score(self, settings: Any, built: Built, answers: Any) -> Scored:
        """Outcomes, measures and findings of one job; pure.

        `answers` are by mark, the last is the end of training: `Answers` where labels or spans were asked for, else
        the rows of each case (`models.answer_rows.answers_by_mark`).
        """
        ...

    def compare(self, settings: Any, results: Sequence[Result]) -> Compared:
        """What only shows across jobs; pure. `results` are those of the plan's jobs that are done so far."""
        ...

    def view(
        self,
        settings: Any,
        results: Sequence[Result],
        measures: Sequence[Measure],
        findings: Sequence[Finding],
    ) -> list[Section]:
        """What to show: of one result where `measures` is empty, else of what several say together."""
        ...


@dataclass(frozen=True, slots=True)
class Form:
    """A form of its own in which a protocol writes what it built."""

    what: str
    """What stands in the file, in a few words."""
    write: Callable[[Any, Built, Path], int]
    """Of these settings, what was built, to this file; gives how many there are of what it says."""


@runtime_checkable
class WritesForms(Protocol):
    """A protocol whose cases can be written for use elsewhere: `shoal export`."""

    FORMS: Mapping[str, Form]
    """The ending of a file to what is written there."""


def is_random(settings: Any, recipe: "Recipe | None") -> bool:
    """Whether the seed can change the answers: only then do a plan's seeds multiply its jobs."""
    seed = next((setting for setting in fields(settings) if setting.name == "seed"), None)
    samples = (
        seed is not None and seed.metadata.get("when") is not None and step_of(settings, seed) != "scoring"
    )
    return samples or bool(recipe and recipe.stages)


def only_part(module: ProtocolModule, settings: Any) -> Any:
    """The settings of the one job that they mean."""
    parts = module.parts(settings)
    if len(parts) > 1:
        raise PlanError(
            f"these settings mean {len(parts)} jobs", why="one can be tried at a time", fix="shoal run PLAN"
        )
    return parts[0]
